"""Recognising sessions by their first events, and what a list of chats says of one."""

from __future__ import annotations

from datetime import UTC
from hashlib import blake2b
from pathlib import Path

from trailbook import json_text
from trailbook.readers import HEAD_BYTES, Found, Passed, Unreadable
from trailbook.readers.copilot_cli.events import is_known, looks_like_event, type_of
from trailbook.readers.copilot_cli.prompts import injected_in
from trailbook.readers.lines import records_of_head
from trailbook.readers.values import Fields, fields, moment, string

_FOLDER = "session-state"


def find(path: Path, head: bytes) -> list[Found] | Passed | None:
    """The one chat of a session. Raises Unreadable for one of whose events none is known, OSError."""
    if b'"data"' not in head or b'"type"' not in head:
        return None
    events = records_of_head(head)
    known = [event for event in events if is_known(event) and "." in type_of(event)]
    if known and _is_of_copilot(known):
        return [_found(path, known)]
    ours = path.name == "events.jsonl" and _FOLDER in path.parts
    if ours and events and len(head) < HEAD_BYTES and all(map(looks_like_event, events)):
        kinds = sorted(set(map(type_of, events)))
        named = ", ".join(kinds[:5]) + (", …" if len(kinds) > 5 else "")
        raise Unreadable(f"{path.name} looks like a session of Copilot CLI, but none of its events is known: {named}.")
    return None


def _is_of_copilot(known: list[Fields]) -> bool:
    """Whether one of the events holds what only this format has; types of such names are not rare."""
    marks = {
        "session.start": "sessionId",
        "user.message": "content",
        "assistant.message": "content",
        "hook.start": "hookType",
        "tool.execution_complete": "toolCallId",
    }
    return any(string(fields(event["data"]).get(marks.get(type_of(event), ""))) is not None for event in known)


def _found(path: Path, known: list[Fields]) -> Found:
    status = path.stat()
    start: Fields = next((fields(event["data"]) for event in known if type_of(event) == "session.start"), {})
    times = (moment(event.get("timestamp"), UTC)[0] for event in known)
    return Found(
        reader="copilot_cli",
        id=string(start.get("sessionId")) or _identity(path, known[0]),
        path=path,
        inputs=(path,),
        fingerprint=f"{status.st_size}-{status.st_mtime_ns}",
        title=next((words for event in known if (words := _asked(event))), None),
        started=next((time for time in times if time is not None), None),
        updated=status.st_mtime_ns // 1_000_000,
        cwd=string(fields(start.get("context")).get("cwd")),
        size=status.st_size,
    )


def _identity(path: Path, first: Fields) -> str:
    """A session's id where no event says it: its folder's name in the agent's store, else the file's and its start."""
    if path.name == "events.jsonl" and path.parent.parent.name == _FOLDER:
        return path.parent.name
    return f"{path.stem}-{blake2b(json_text.canonical(first), digest_size=4).hexdigest()}"


def _asked(event: Fields) -> str | None:
    data = fields(event["data"])
    if type_of(event) == "user.message" and injected_in(data) is None:
        words = string(data.get("content"))
    elif type_of(event) == "hook.start":
        words = string(fields(data.get("input")).get("prompt"))
    else:
        return None
    return (words or "").strip().split("\n")[0] or None
