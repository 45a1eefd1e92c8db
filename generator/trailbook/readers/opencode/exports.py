"""The document of `opencode export`: `{info, messages: [{info, parts}]}` (harnesses.md E)."""

from __future__ import annotations

import re
from pathlib import Path

from trailbook.readers import Found, Passed, Unreadable
from trailbook.readers.lines import Problems
from trailbook.readers.opencode.sessions import LoggedMessage, LoggedPart, Session, time_of, title_of
from trailbook.readers.pieces import Piece, parse, place_of
from trailbook.readers.values import Fields, fields, items, string

_BOM = b"\xef\xbb\xbf"
_START = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"info"\s*:\s*\{')
_OF_A_SESSION = (b'"directory"', b'"projectID"', b'"sessionID"')


def find(path: Path, head: bytes) -> list[Found] | Passed | None:
    """The session of a document. Raises Unreadable for one that is cut or damaged, OSError."""
    start = _START.match(head)
    if not start and not (head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{" and b'"info"' in head):
        return None
    piece = _piece(path)
    try:
        value = fields(parse(path, piece, Problems()))
    except Unreadable:
        # Piped exports are cut now and then (anomalyco/opencode#14948, #29330).
        if start and any(mark in head for mark in _OF_A_SESSION):
            raise
        return None
    if not _is_session(value):
        return None
    return [_found(path, piece, value)] if items(value.get("messages")) else Passed("a session without a message")


def load(found: Found) -> Session:
    """The session that was found. Raises Unreadable when the file has changed since, OSError."""
    piece = _piece(found.path)
    if piece.digest != found.fingerprint:
        raise Unreadable(f"{found.path.name} has changed since it was listed: list it again.")
    problems = Problems()
    value = fields(parse(found.path, piece, problems))
    session = Session(found.id, fields(value.get("info")), problems, in_store=False)
    for number, message in enumerate(items(value.get("messages")), 1):
        place = place_of(found.path, piece, number)
        if not isinstance(message, dict):
            problems.count("unknown-record", "A message that is no object was passed over.", place, lost=True)
            continue
        logged = LoggedMessage(place, fields(message.get("info")))
        for part in items(message.get("parts")):
            if isinstance(part, dict):
                logged.parts.append(LoggedPart(place, part))
            else:
                problems.count("unknown-record", "A part that is no object was passed over.", place, lost=True)
        session.messages.append(logged)
    return session


def _piece(path: Path) -> Piece:
    return Piece(1, path.read_bytes().removeprefix(_BOM), False)


def _is_session(value: Fields) -> bool:
    info, messages = value.get("info"), value.get("messages")
    if not isinstance(info, dict) or not isinstance(messages, list):
        return False
    if not messages:
        return string(info.get("id")) is not None and "directory" in info
    return any("info" in fields(message) and "parts" in fields(message) for message in messages)


def _found(path: Path, piece: Piece, value: Fields) -> Found:
    info = fields(value.get("info"))
    return Found(
        reader="opencode",
        id=string(info.get("id")) or f"{path.stem}-{piece.digest[:8]}",
        path=path,
        inputs=(path,),
        fingerprint=piece.digest,
        title=title_of(info) or _first_words(value),
        started=time_of(info, "created"),
        updated=time_of(info, "updated") or path.stat().st_mtime_ns // 1_000_000,
        cwd=string(info.get("directory")),
        origin="subagent" if string(info.get("parentID")) else "chat",
        size=len(piece.data),
    )


def _first_words(value: Fields) -> str | None:
    for message in map(fields, items(value.get("messages"))):
        if fields(message.get("info")).get("role") == "user":
            for part in map(fields, items(message.get("parts"))):
                words = string(part.get("text")) if part.get("synthetic") is not True else None
                if part.get("type") == "text" and words and words.strip():
                    return words.strip().split("\n")[0]
    return None
