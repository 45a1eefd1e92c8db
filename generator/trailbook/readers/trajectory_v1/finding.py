"""Which files are trajectory-v1, and what a list of chats says of one."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC
from pathlib import Path

from trailbook.chat import JSON
from trailbook.readers import Found, Passed
from trailbook.readers.files import is_own
from trailbook.readers.pieces import listed, pieces
from trailbook.readers.trajectory_v1.beside import ENDING, about_chat, path_beside
from trailbook.readers.values import Fields, fields, items, moment, string

_ROLES = frozenset({"meta", "system", "observation", "user", "reasoning", "assistant", "tool"})
_OWN_ROLES = frozenset({"meta", "observation", "reasoning"})
"""Roles that no other list of messages has."""

_START = re.compile(rb'(?:\xef\xbb\xbf)?\s*\[\s*\{\s*"role"\s*:\s*(?:\[\s*)?"meta"')


def find(path: Path, head: bytes) -> list[Found] | Passed | None:
    """The trajectories of a file, or None when it holds none. Raises Unreadable for a cut one, OSError."""
    if path.name.endswith(ENDING) and head.startswith(b'{"chat":'):
        return _passed(path)
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"[" or b'"role"' not in head:
        return None
    found = listed(path, "trajectory_v1", arrays=False, certain=_START.match(head) is not None, describe=_describe)
    if found is None or not is_own(path_beside(path)):
        return found
    lines = {piece.digest: piece.number for piece in pieces(path, arrays=False)}
    return [_with_beside(chat, lines[chat.fingerprint]) for chat in found]


def _with_beside(found: Found, line: int) -> Found:
    """A chat with what the file beside says of it."""
    beside = path_beside(found.path)
    about, status = about_chat(found.path, line), beside.stat()
    return replace(
        found,
        id=string(about.get("chat")) or found.id,
        title=string(about.get("title")) or found.title,
        inputs=(found.path, beside),
        fingerprint=f"{found.fingerprint}:{status.st_size}-{status.st_mtime_ns}",
    )


def _passed(path: Path) -> Passed | None:
    """A file that lies beside a trajectory is read with it."""
    stem = path.name.removesuffix(ENDING)
    owner = next((file for ending in ("jsonl", "json") if (file := path.with_name(f"{stem}.{ending}")).is_file()), None)
    return Passed("what its trajectory-v1 file has no place for", owner) if owner else None


def is_trajectory(value: JSON) -> bool:
    """Whether a value is a list of such records: each has a role of the format, and one shows that it is."""
    records = items(value)
    roles = [scalar(fields(record).get("role")) for record in records]
    return all(isinstance(role, str) and role in _ROLES for role in roles) and any(map(_is_typical, records))


def _is_typical(value: JSON) -> bool:
    record = fields(value)
    calls = [fields(call) for call in items(record.get("tool_calls"))]
    return (
        scalar(record.get("role")) in _OWN_ROLES
        or isinstance(scalar(record.get("timestamp")), str)
        or any("args" in call for call in calls)
    )


def _describe(value: JSON, found: Found) -> Found | None:
    if not is_trajectory(value):
        return None
    records = [fields(record) for record in items(value)]
    meta = next((record for record in records if scalar(record.get("role")) == "meta"), {})
    times = [time for record in records if (time := moment(scalar(record.get("timestamp")), UTC)[0]) is not None]
    return replace(
        found,
        title=_first_words(records),
        started=min(times, default=None),
        updated=max(times, default=found.updated),
        cwd=string(scalar(meta.get("cwd"))),
    )


def _first_words(records: list[Fields]) -> str | None:
    for record in records:
        content = scalar(record.get("content"))
        if scalar(record.get("role")) == "user" and isinstance(content, str) and content.strip():
            return content.strip().split("\n")[0][:200]
    return None


def scalar(value: JSON) -> JSON:
    """A value, or the one value of a list: R writes a single value so where it is not told otherwise."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value
