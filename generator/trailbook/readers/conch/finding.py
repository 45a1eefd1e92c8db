"""Recognising Conch's logs, cheaply: by their first events."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

from trailbook import json_text
from trailbook.readers import Found, Passed
from trailbook.readers.conch.home import (
    CONVERSATIONS,
    INDEX,
    agent_id,
    agents_file,
    agents_of,
    index_file,
    index_of,
    moment,
    names_in,
    origin_of,
    settings_file,
)
from trailbook.readers.lines import records_of_head
from trailbook.readers.values import Fields, string

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_START = re.compile(rb'\s*\{"conversationId":"([\w-]{1,128})","seq":\d+,"at":(\d+)(?:\.\d+)?,"type":"[a-z.-]+"')
"""How a first line starts that is longer than what is looked at."""
_USED = ("title", "origin", "agentId", "createdAt", "engine")
"""What of a chat's record in the index the chat is made of; the rest changes whenever it is looked at."""
_SIDECARS = {
    INDEX: (b'"createdAt"', "the index of Conch's chats, read with each of them"),
    "agents.json": (b'"defaultId"', "the list of Conch's agents, read with each chat"),
    "settings.json": (b'"profile"', "the settings of Conch, no chat"),
}


def find(path: Path, head: bytes) -> list[Found] | Passed | None:
    """The one chat of a log, or why a file of Conch's is none."""
    head = head.removeprefix(b"\xef\xbb\xbf")
    passed = _sidecar(path, head)
    if passed is not None:
        return passed
    events = _events(head)
    if not events:
        return None
    if path.suffix == ".tmp":
        return Passed("a copy that Conch had not finished writing")
    return [_found(path, events)]


def _sidecar(path: Path, head: bytes) -> Passed | None:
    mark, why = _SIDECARS.get(path.name, (b"", ""))
    if path.name.startswith("index.broken-"):
        mark, why = b'"createdAt"', "a damaged copy of the index, kept by Conch"
    if not mark or mark not in head:
        return None
    at_home = path.parent.name in (CONVERSATIONS, "agents") or (path.parent / CONVERSATIONS).is_dir()
    return Passed(why) if at_home else None


def _events(head: bytes) -> list[Fields]:
    """The whole events at the beginning of a file."""
    if b'"conversationId"' not in head:
        return []
    events = [record for record in records_of_head(head) if _is_event(record)]
    start = _START.match(head) if b"\n" not in head and not events else None
    if start:
        events = [{"conversationId": start.group(1).decode(), "at": int(start.group(2))}]
    return events


def _is_event(value: Fields) -> bool:
    named = isinstance(value.get("conversationId"), str) and isinstance(value.get("type"), str)
    return named and ("seq" in value or "at" in value)


def _found(path: Path, events: list[Fields]) -> Found:
    named = string(events[0].get("conversationId")) or ""
    chat = named if _ID.fullmatch(named) else path.stem
    record, agents = index_of(path).records.get(chat), agents_of(path)
    known = {key: record.get(key) for key in _USED} if record is not None else None
    name = agents.names.get(agent_id(record, agents, None) or "")
    stat = path.stat()
    marks = json_text.canonical([stat.st_size, stat.st_mtime_ns, known, name])
    beside = [index_file(path), agents_file(path)]
    return Found(
        reader="conch",
        id=chat,
        path=path,
        inputs=(path, *(file for file in beside if file is not None and file.is_file())),
        fingerprint=sha256(marks).hexdigest(),
        title=string(known and known["title"]) or _title(events),
        started=next((at for event in events if (at := moment(event.get("at"))) is not None), None),
        updated=(moment(record.get("updatedAt")) if record is not None else None) or stat.st_mtime_ns // 1_000_000,
        origin=origin_of(record).kind,
        size=stat.st_size,
        names=names_in(settings_file(path)),
    )


def _title(events: list[Fields]) -> str | None:
    """The title by the first events: the last one given, else what was asked first."""
    given = [title for event in events if event.get("type") == "title" and (title := string(event.get("title")))]
    asked = [text for event in events if event.get("type") == "user.message" and (text := string(event.get("text")))]
    return " ".join((given[-1:] or asked[:1] or [""])[0].split()) or None
