"""Which files hold the events of an OpenHands conversation, and what a list of chats says of one."""

from __future__ import annotations

import re
from datetime import UTC
from pathlib import Path

from trailbook.chat import JSON
from trailbook.readers import HEAD_BYTES, Found, Passed, Unreadable
from trailbook.readers.lines import Problems
from trailbook.readers.openhands.documents import OWN_FIELDS, document, events_in, is_known, kind_of
from trailbook.readers.pieces import Piece, parse
from trailbook.readers.values import Fields, blocks, fields, moment, string

_KIND = re.compile(rb'"kind"\s*:\s*"[A-Z][A-Za-z]+(?:Event|Observation)"')
_KNOWN = re.compile(rb'"kind"\s*:\s*"(?:' + "|".join(OWN_FIELDS).encode() + rb')"')
_NAME = re.compile(r"[A-Z][A-Za-z]+(?:Event|Observation)")


def find(path: Path, head: bytes) -> list[Found] | Passed | None:
    """The conversation of a file, or None when it holds none.

    Raises Unreadable for a cut document and for one that has the shape but no event of a known kind, OSError.
    """
    if not _may_be(head):
        return None
    piece = document(path)
    try:
        events = events_in(parse(path, piece, Problems()))
    except Unreadable:
        if _KNOWN.search(head):
            raise
        return None
    if not any(map(is_known, events)):
        _refuse_unknown(path, events)
        return None
    return [_found(path, piece, [event for event in events if isinstance(event, dict)])]


def _may_be(head: bytes) -> bool:
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if not (start == b"[" or (start == b"{" and b'"items"' in head)):
        return False
    # The kind may be an event's last field, and the first event long.
    long = len(head) >= HEAD_BYTES and b'"source"' in head and b'"timestamp"' in head
    return long or _KIND.search(head) is not None


def _refuse_unknown(path: Path, events: list[JSON]) -> None:
    """Say of a document that has the shape that none of its events is of a known kind."""
    values = [fields(event) for event in events]
    if values and all(_NAME.fullmatch(kind_of(event)) and string(event.get("timestamp")) for event in values):
        kinds = sorted({kind_of(event) for event in values})
        named = ", ".join(kinds[:5]) + (", …" if len(kinds) > 5 else "")
        raise Unreadable(f"{path.name} looks like an OpenHands conversation, but none of its events is known: {named}.")


def _found(path: Path, piece: Piece, events: list[Fields]) -> Found:
    times = [time for event in events if (time := moment(event.get("timestamp"), UTC)[0]) is not None]
    return Found(
        reader="openhands",
        id=f"{path.stem}-{piece.digest[:8]}",
        path=path,
        inputs=(path,),
        fingerprint=piece.digest,
        title=_first_words(events),
        started=min(times, default=None),
        updated=max(times, default=path.stat().st_mtime_ns // 1_000_000),
        size=len(piece.data),
    )


def _first_words(events: list[Fields]) -> str | None:
    for event in events:
        if kind_of(event) == "MessageEvent" and event.get("source") == "user":
            content = blocks(fields(event.get("llm_message")).get("content"))
            texts = [text for block in content if isinstance(text := fields(block).get("text"), str)]
            words = "".join(texts).strip()
            if words:
                return words.split("\n")[0]
    return None
