"""Recognising sessions by the record that they start with, and what a list of chats says of one."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path

from trailbook.readers import HEAD_BYTES, Found, Passed, Unreadable
from trailbook.readers.droid.records import is_start, message_in, titled
from trailbook.readers.lines import records_of_head
from trailbook.readers.values import Fields, blocks, fields, moment, string


def find(path: Path, head: bytes) -> list[Found] | Passed | None:
    """The one chat of a session. Raises Unreadable for one of whose records none is known, OSError."""
    if b'"session_start"' not in head:
        return None
    records = records_of_head(head)
    start = next((record for record in records if is_start(record)), None)
    if start is None:
        return None
    if len(head) < HEAD_BYTES and not any(map(message_in, records)):
        others = sorted({_named(record) for record in records if not is_start(record)})
        if not others:
            return Passed("a session of Droid in which nothing was said")
        named = ", ".join(others[:5]) + (", …" if len(others) > 5 else "")
        raise Unreadable(f"{path.name} is a session of Droid, but none of its records is known: {named}.")
    return [_found(path, start, records)]


def _named(record: Fields) -> str:
    return string(record.get("type")) or "no type"


def _found(path: Path, start: Fields, records: tuple[Fields, ...]) -> Found:
    status = path.stat()
    times = (moment(record.get("timestamp"), UTC)[0] for record in records)
    return Found(
        reader="droid",
        id=str(start["id"]),
        path=path,
        inputs=(path,),
        fingerprint=f"{status.st_size}-{status.st_mtime_ns}",
        title=titled(start) or next(filter(None, map(_asked, records)), None),
        started=next((time for time in times if time is not None), None),
        updated=status.st_mtime_ns // 1_000_000,
        cwd=string(start.get("cwd")),
        size=status.st_size,
    )


def _asked(record: Fields) -> str | None:
    message = message_in(record) or {}
    if message.get("role") != "user":
        return None
    content = map(fields, blocks(message["content"]))
    texts = (string(block.get("text")) for block in content if block.get("type") == "text")
    words = "\n".join(text for text in texts if text).strip()
    return words.split("\n")[0] or None
