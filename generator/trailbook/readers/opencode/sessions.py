"""A session as OpenCode keeps it, wherever: what is said of it, and its messages with their parts, not yet understood.

A message is `info` (role, time, model, tokens, cost) and an ordered list of parts; a part has a `type` and is all that
was said, thought or called (the types of OpenCode's own SDK, version 1.18).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from trailbook.chat import Place
from trailbook.readers.lines import Problems
from trailbook.readers.values import Fields, fields, moment_of_milliseconds, string

_DEEPEST = 16
"""How many sessions may stand above one another as subagents; below that each is a chat of its own."""
_NO_TITLE = re.compile(r"New session - \d{4}-\d\d-\d\dT[\d:.]+Z")
"""What a session is called before it has a title."""


@dataclass(slots=True)
class LoggedPart:
    place: Place
    values: Fields


@dataclass(slots=True)
class LoggedMessage:
    place: Place
    info: Fields
    parts: list[LoggedPart] = field(default_factory=list)


@dataclass(slots=True)
class Session:
    """One session with those that it started."""

    id: str
    info: Fields
    problems: Problems
    """What was wrong with its records."""
    messages: list[LoggedMessage] = field(default_factory=list)
    children: list[Session] = field(default_factory=list)
    in_store: bool = True
    """False for an exported document, which OpenCode itself need not have."""


def title_of(info: Fields) -> str | None:
    """A session's title; None where it has only its first name, which is a date."""
    title = string(info.get("title"))
    return None if title is None or _NO_TITLE.fullmatch(title) else title


def time_of(info: Fields, name: str) -> int | None:
    """One of the times of a session, a message or a part, epoch milliseconds."""
    return moment_of_milliseconds(fields(info.get("time")).get(name))


def children_in(named: Mapping[str, str | None]) -> dict[str | None, list[str]]:
    """The sessions that each session started; under None those that none here started.

    `named` has for each session its parent as the log names it. A session whose parents go in a circle, or that lies
    too deep, counts as started by none, so that every session is below one of those.
    """
    children: dict[str | None, list[str]] = {}
    for session, parent in named.items():
        children.setdefault(parent if parent in named and _has_root(session, named) else None, []).append(session)
    return children


def family_of(session: str, children: Mapping[str | None, list[str]]) -> list[str]:
    """A session and all below it."""
    family = [session]
    for member in family:
        family.extend(children.get(member, ()))
    return family


def _has_root(session: str, named: Mapping[str, str | None]) -> bool:
    above: str | None = session
    for _ in range(_DEEPEST):
        above = named.get(above) if above is not None else None
        if above is None or above not in named:
            return True
    return False
