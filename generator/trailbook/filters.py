"""Which chats a person wants: pure functions over what was found, and over a chat once it is read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from pathlib import Path

from trailbook.chat import Chat
from trailbook.readers import Found, reader, readers

AUTOMATIC = frozenset({"routine", "task", "artifact", "client"})
"""Origins of chats that ran by themselves."""


@dataclass(slots=True, frozen=True)
class Wanted:
    """What a person asked for; an empty field asks for nothing."""

    since: int | None = None
    """Epoch milliseconds; a chat that went on after it is wanted."""
    until: int | None = None
    """Epoch milliseconds; a chat that was started before it is wanted."""
    agents: tuple[str, ...] = ()
    """The agent's own name, or its product's."""
    providers: tuple[str, ...] = ()
    """Engines or vendors of models."""
    sources: tuple[str, ...] = ()
    """Names of readers."""
    projects: tuple[str, ...] = ()
    """Working folders (those below them count), or their names."""
    automatic: bool = True
    """False leaves out what ran by itself (`AUTOMATIC`)."""


def left_out(found: Found, wanted: Wanted) -> str | None:
    """The option that leaves a chat out by what is known before it is read; None when it may be wanted."""
    if wanted.sources and _plain(found.reader) not in map(_plain, wanted.sources):
        return "--source"
    if not wanted.automatic and found.origin in AUTOMATIC:
        return "--no-automatic"
    if wanted.projects and found.cwd is not None and not _in_project(found.cwd, wanted.projects):
        return "--project"
    if wanted.agents and _products_only(wanted) and not _names(found.reader) & set(map(_plain, wanted.agents)):
        return "--agent"
    return _outside(found.started, found.updated, wanted)


def left_out_when_read(chat: Chat, wanted: Wanted) -> str | None:
    """The option that leaves a chat out by what stands in it; None when it is wanted."""
    names = _names(chat.source) | {_plain(chat.agent.name), _plain(chat.agent.product)}
    if wanted.agents and not names & set(map(_plain, wanted.agents)):
        return "--agent"
    if wanted.providers and not {*map(_plain, chat.providers)} & {*map(_plain, wanted.providers)}:
        return "--provider"
    if wanted.projects and (chat.cwd is None or not _in_project(chat.cwd, wanted.projects)):
        return "--project"
    if not wanted.automatic and chat.origin.kind in AUTOMATIC:
        return "--no-automatic"
    return None


def needs_reading(found: Found, wanted: Wanted) -> bool:
    """Whether only the whole chat can say that it is wanted."""
    return bool(
        wanted.providers or (wanted.agents and not _products_only(wanted)) or (wanted.projects and found.cwd is None)
    )


def day_start(text: str, zone: tzinfo) -> int:
    """`2026-10-08` or `2026-10-08T09:30` in `zone` as epoch milliseconds: the day's beginning. Raises ValueError."""
    return _milliseconds(_moment(text), zone)


def day_end(text: str, zone: tzinfo) -> int:
    """As `day_start`, for the last millisecond of a day given without a time. Raises ValueError."""
    moment = _moment(text)
    if len(text.strip()) > len("2026-10-08"):
        return _milliseconds(moment, zone)
    return _milliseconds(moment + timedelta(days=1), zone) - 1


def _moment(text: str) -> datetime:
    text = text.strip()
    if len(text) <= len("2026-10-08"):
        return datetime.combine(date.fromisoformat(text), time())
    return datetime.fromisoformat(text)


def _milliseconds(moment: datetime, zone: tzinfo) -> int:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=zone)
    return round(aware.timestamp() * 1000)


def _outside(started: int | None, updated: int | None, wanted: Wanted) -> str | None:
    first, last = started if started is not None else updated, updated if updated is not None else started
    if wanted.since is not None and (last is None or last < wanted.since):
        return "--from"
    if wanted.until is not None and (first is None or first > wanted.until):
        return "--to"
    return None


def _in_project(cwd: str, projects: Iterable[str]) -> bool:
    folder = _components(cwd)
    return any(_is_project(folder, project) for project in projects)


def _is_project(folder: list[str], project: str) -> bool:
    if not re.search(r"[/\\]", project) and project not in ("~", "."):
        return bool(folder) and folder[-1].casefold() == project.casefold()
    wanted = _components(str(Path(project).expanduser().absolute()) if not _is_windows(project) else project)
    return folder[: len(wanted)] == wanted


def _components(path: str) -> list[str]:
    """The parts of a path of any system."""
    return [part for part in re.split(r"[/\\]+" if _is_windows(path) else r"/+", path) if part]


def _is_windows(path: str) -> bool:
    return bool(re.match(r"[A-Za-z]:[/\\]|\\\\", path))


def _products_only(wanted: Wanted) -> bool:
    known = {name for source, _reader in readers() for name in _names(source)}
    return all(_plain(agent) in known for agent in wanted.agents)


def _names(source: str) -> set[str]:
    return {_plain(source), _plain(reader(source).PRODUCT)}


def _plain(name: str) -> str:
    """A name without regard to case, hyphens, underscores and spaces: `claude-code` is `Claude Code`."""
    return re.sub(r"[\s_-]+", "", name).casefold()
