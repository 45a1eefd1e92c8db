"""Which files are chats of gptme, which belong to one, and what a list can say of a chat without reading it whole."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from datetime import tzinfo
from functools import lru_cache
from io import BytesIO
from itertools import islice
from pathlib import Path

from trailbook.chat import JSON, Place
from trailbook.readers import HEAD_BYTES, Found, Passed
from trailbook.readers.gptme.clock import zone_of_prompt
from trailbook.readers.gptme.folder import (
    ABOUT,
    EVENTS,
    FULL_LOG,
    LOG,
    SETTINGS,
    files_of,
    parent_of,
    settings_of,
    subagents_of,
)
from trailbook.readers.gptme.log_lines import Line, line_of
from trailbook.readers.gptme.naming import id_of, title_of
from trailbook.readers.lines import Problems, read_stream
from trailbook.readers.values import Fields, fields, moment, string
from trailbook.zones import zone_of

_SIDECARS = {
    SETTINGS: "the settings of a chat, read with it",
    ABOUT: "it tells which chat started a subagent, and is read with that",
    "model_selection_trace.json": "it tells why gptme chose a model, no chat",
    "conv-checkpoints.jsonl": "marks in a chat, no chat of its own",
    "context-savings.jsonl": "a count of what was shortened, no chat",
    "lesson-emissions.jsonl": "it tells which lessons were given, no chat",
    ".lock": "a lock of gptme's",
}
_SIDE_FOLDERS = {
    "branches": "a branch of a chat, read with it",
    "views": "a shortened view of a chat that has its whole log",
    "files": "a copy of an attached file, read with its chat",
    "attachments": "a file that was attached to a chat",
    "tool-outputs": "a long output of a tool, kept beside a chat",
}
_FOREIGN = frozenset(("type", "messages", "uuid", "sessionId", "parts", "tool_calls", "conversations", "payload"))
_FAR = 64 * HEAD_BYTES
"""How far into a file its first prompt is looked for: gptme's own prompt stands before it."""
_NEAR = 200
_FIRST = 3
"""How many records of a file are looked at for what it is: the first may be damaged."""
_DEEPEST = 16


def find(path: Path, head: bytes) -> list[Found] | Passed | None:
    """The chat of a log, or why a file is none of its own, or None for a file of another kind. Raises OSError."""
    beside = _beside(path)
    if beside is not None:
        return beside
    records = _first_records(path, head)
    if path.name == EVENTS and any(_is_event(record) for record in records):
        return Passed("gptme's record for recovery, without the log of its chat")
    if not any(_is_message(record, path) for record in records):
        return None
    parent = parent_of(path) if path.name == LOG else None
    if parent is not None:
        return Passed("a subagent's part of another chat, read with it", parent)
    lines = _first_lines(path)
    if not any(line.role != "system" for line in lines) and path.stat().st_size < _FAR:
        return Passed("it has gptme's own prompt in it, and no messages")
    return [_found(path, lines)]


def inputs_of(log: Path, above: tuple[Path, ...] = ()) -> list[Path]:
    """Every file that a chat is read from, those of its subagents too."""
    files = files_of(log).all()
    for child in subagents_of(log) if log.name == LOG else ():
        if child != log and child not in above and len(above) < _DEEPEST:
            files += inputs_of(child, (*above, log))
    return list(dict.fromkeys(files))


# --- what belongs to a chat


def _beside(path: Path) -> Passed | None:
    """A file of a chat's folder that is no log of its own."""
    if path.name in (FULL_LOG, EVENTS) or path.name in _SIDECARS:
        log = path.parent / LOG
        if not _is_log(log):
            return None
        return Passed(_SIDECARS.get(path.name, "a part of a chat, read with it"), log)
    for folder in list(path.parents)[:3]:
        why = _SIDE_FOLDERS.get(folder.name)
        if why is not None and _is_log(folder.parent / LOG):
            return Passed(why, folder.parent / LOG)
    return None


def _is_log(path: Path) -> bool:
    try:
        return path.is_file() and not path.is_symlink() and _looks_like_log(path, path.stat().st_mtime_ns)
    except OSError:
        return False


@lru_cache(maxsize=64)
def _looks_like_log(path: Path, _changed: int) -> bool:
    with path.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
    return any(_is_message(record, path) for record in _first_records(path, head))


def _first_records(path: Path, head: bytes) -> list[Fields]:
    """The first objects in a file; the first line is read whole where it is longer than a head (gptme's own prompt)."""
    if len(head) == HEAD_BYTES and b"\n" not in head:
        if b'"role"' not in head[:_NEAR]:
            return []
        with path.open("rb") as stream:
            head = stream.readline(_FAR)
    return list(islice(_records(head, whole=len(head) < HEAD_BYTES), _FIRST))


def _is_message(record: Fields, path: Path) -> bool:
    """Whether a record is a message of gptme; other agents' messages have more than a role and a text, or no time."""
    if line_of(record, Place("", 1)) is None or not _FOREIGN.isdisjoint(record):
        return False
    return string(record.get("timestamp")) is not None or path.name in (LOG, FULL_LOG)


def _is_event(record: Fields) -> bool:
    return {"seq", "ts", "type", "payload"} <= record.keys()


# --- what a list says of a chat


def _found(path: Path, lines: list[Line]) -> Found:
    files = files_of(path)
    settings = settings_of(files, Problems())
    zone = zone_of_prompt(lines, _zone_here(os.environ.get("TZ")))
    title = title_of(settings, path.parent.name, lines)
    inputs = inputs_of(path)
    facts = [(os.path.relpath(file, path.parent), file.stat()) for file in inputs]
    marks = [f"{name} {fact.st_size} {fact.st_mtime_ns}" for name, fact in facts]
    times = (moment(line.timestamp, zone)[0] for line in lines)
    workspace = string(settings.get("workspace"))
    return Found(
        reader="gptme",
        id=id_of(path),
        path=path,
        inputs=tuple(inputs),
        fingerprint=hashlib.sha256("\n".join(marks).encode("utf-8", "surrogateescape")).hexdigest(),
        title=title,
        started=next((time for time in times if time is not None), None),
        updated=_last_time(path, zone) or facts[0][1].st_mtime_ns // 1_000_000,
        cwd=workspace if workspace and not workspace.startswith("@") else None,
        origin="subagent" if files.about is not None else "chat",
        size=sum(fact.st_size for _, fact in facts),
    )


@lru_cache(maxsize=4)
def _zone_here(_name: str | None) -> tzinfo:
    return zone_of(None)


def _first_lines(path: Path) -> list[Line]:
    """The messages up to the first that a person wrote, where that is near."""
    lines = []
    with path.open("rb") as stream:
        while stream.tell() < _FAR and (data := stream.readline(_FAR)):
            for record in read_stream(BytesIO(data), Problems(), name=path.name):
                line = line_of(record.value, record.place)
                if line is not None:
                    lines.append(line)
            if lines and lines[-1].role == "user":
                break
    return lines


def _last_time(path: Path, zone: tzinfo) -> int | None:
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - HEAD_BYTES))
        tail = stream.read().split(b"\n")
    for data in reversed(tail):
        for record in _records(data, whole=True):
            time, _ = moment(record.get("timestamp"), zone)
            if time is not None:
                return time
    return None


def _records(data: bytes, *, whole: bool) -> Iterator[Fields]:
    """The objects in a part of a file; unless it goes to the end, what follows its last line end is left out."""
    part = data if whole else data[: data.rfind(b"\n") + 1] or data
    for raw in part.split(b"\n"):
        if raw.lstrip(b" \t\xef\xbb\xbf\x00").startswith(b"{"):
            for record in read_stream(BytesIO(raw), Problems(), name=""):
                value: JSON = record.value
                if isinstance(value, dict):
                    yield fields(value)
