"""Sessions outside the database: what `hermes sessions export` writes, and the snapshot of one session.

An export has one session a line: the columns of its row, with `messages` beside them. A lineage export has several
sessions in a line, as `segments`. A snapshot is one JSON document, which names a session's columns in words of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from io import BytesIO
from pathlib import Path

from trailbook.chat import JSON, Place
from trailbook.readers import Unreadable
from trailbook.readers.hermes.contents import is_summary, words_of
from trailbook.readers.hermes.facts import Facts, first_line
from trailbook.readers.lines import Problems, read_stream
from trailbook.readers.pieces import Piece, parse, pieces
from trailbook.readers.values import Fields, fields, items, moment_of_seconds, string

_COLUMNS = {"source", "started_at", "model_config", "parent_session_id", "end_reason"}
_OF_SNAPSHOT = {"session_start", "last_updated", "platform", "base_url"}
_SNAPSHOT_NAMES = {"session_start": "started_at", "last_updated": "ended_at", "platform": "source"}
_OF_MESSAGE = {"active", "observed", "tool_calls", "tool_call_id", "timestamp"}


@dataclass(slots=True, frozen=True)
class _Session:
    about: Fields
    messages: list[JSON]


@dataclass(slots=True, frozen=True)
class _Spot:
    """Where a session stands in a file."""

    piece: Piece
    order: int
    """Which of the sessions in the piece it is, from 0."""
    about: Fields
    facts: Facts


@dataclass(slots=True, frozen=True)
class _Index:
    spots: dict[str, _Spot]
    repeated: dict[str, int]
    """How many further lines there are for a session."""
    damaged: list[Piece]
    """Lines of which no session could be read."""


def sessions_in(path: Path) -> dict[str, Fields]:
    """Every session of a file by its id, without its messages. Raises Unreadable for a cut document, OSError."""
    return {session: spot.about for session, spot in _index(path).spots.items()}


def facts_in(path: Path) -> dict[str, Facts]:
    """What a list says of each session. Raises Unreadable, OSError."""
    return {session: spot.facts for session, spot in _index(path).spots.items()}


def damaged_in(path: Path) -> list[Piece]:
    """The lines of which no session could be read. Raises Unreadable, OSError."""
    return _index(path).damaged


def session_in(path: Path, session: str, problems: Problems) -> tuple[Fields, list[Fields]]:
    """One session and its messages; what is wrong with its line goes to `problems`. Raises Unreadable, OSError."""
    index = _index(path)
    spot = index.spots[session]
    place = Place(path.name, spot.piece.number)
    for _ in range(index.repeated.get(session, 0)):
        problems.count("repeated-record", "A session stands in the file more than once; the longest was read.", place)
    found = list(_sessions_of(path, spot.piece, problems))[spot.order]
    rows = [fields(message) for message in found.messages]
    if not all(rows):
        problems.add("no-record", "A message is no JSON object; it was passed over.", place, lost=True)
    return found.about, _in_order([row for row in rows if row])


def refuse(path: Path, piece: Piece) -> None:
    """Raise Unreadable, which says what is wrong with a line of which no session could be read."""
    parse(path, piece, Problems())
    raise Unreadable(f"Line {piece.number} of {path.name} holds no session of Hermes.")


def _index(path: Path) -> _Index:
    status = path.stat()
    return _indexed(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=2)
def _indexed(path: Path, _size: int, _changed: int) -> _Index:
    index = _Index({}, {}, [])
    for piece in pieces(path, arrays=False):
        found = list(_sessions_of(path, piece, Problems()))
        for order, session in enumerate(found):
            _note(index, piece, order, session)
        if not found:
            index.damaged.append(piece)
    return index


def _note(index: _Index, piece: Piece, order: int, session: _Session) -> None:
    name = string(session.about.get("id")) or ""
    known = index.spots.get(name)
    if known is not None:
        index.repeated[name] = index.repeated.get(name, 0) + 1
        if known.facts.messages > len(session.messages):
            return
    about = {key: value for key, value in session.about.items() if key not in ("system_prompt", "tools")}
    index.spots[name] = _Spot(piece, order, about, _facts(piece, session))


def _facts(piece: Piece, session: _Session) -> Facts:
    rows = [fields(message) for message in session.messages]
    times = [time for row in rows if (time := moment_of_seconds(row.get("timestamp"))) is not None]
    asked = (words_of(row.get("content")) for row in rows if row.get("role") == "user")
    words = next((text for text in asked if text.strip() and not is_summary(text)), None)
    return Facts(piece.digest, len(rows), len(piece.data), max(times, default=None), first_line(words))


def _in_order(rows: list[Fields]) -> list[Fields]:
    """Messages in the order of their numbers, where all have one: times say nothing of it."""
    numbered = [(number, row) for row in rows if isinstance(number := row.get("id"), int)]
    return [row for _, row in sorted(numbered, key=lambda pair: pair[0])] if len(numbered) == len(rows) else rows


# --- which values are sessions


def _sessions_of(path: Path, piece: Piece, problems: Problems) -> Iterator[_Session]:
    """The sessions in a line or a document. Raises Unreadable for a document that is cut."""
    if not piece.lines:
        yield from _sessions(parse(path, piece, problems))
        return
    own = Problems()
    for record in read_stream(BytesIO(piece.data), own, name=path.name):
        yield from _sessions(record.value)
    for diagnostic in own.found:
        problems.found.append(replace(diagnostic, place=Place(path.name, piece.number)))


def _sessions(value: JSON) -> Iterator[_Session]:
    if isinstance(value, list):
        if value and all(map(_is_message, value)) and (name := string(fields(value[0]).get("session_id"))):
            yield _Session({"id": name}, value)
        return
    session = fields(value)
    messages = session.get("messages")
    if not isinstance(messages, list):
        return
    for segment in items(session.get("segments")):
        yield from _sessions(segment)
    if not items(session.get("segments")):
        about = _about(session, messages)
        if about is not None and string(about.get("id")):
            yield _Session(about, messages)


def _about(session: Fields, messages: list[JSON]) -> Fields | None:
    """What is said of a session in the words of the database; None for a value that is no session of Hermes."""
    inner = session.get("session")
    if isinstance(inner, dict):
        return inner if not _COLUMNS.isdisjoint(inner) and all(map(_is_message, messages)) else None
    own = {key: value for key, value in session.items() if key not in ("messages", "segments")}
    if "id" in session and len(_COLUMNS & session.keys()) >= 2:
        return own
    if "session_id" in session and len(_OF_SNAPSHOT & session.keys()) >= 2:
        named = {_SNAPSHOT_NAMES.get(key, key): value for key, value in own.items()}
        return {**named, "id": session["session_id"]}
    return None


def _is_message(value: JSON) -> bool:
    message = fields(value)
    return isinstance(message.get("role"), str) and not _OF_MESSAGE.isdisjoint(message)
