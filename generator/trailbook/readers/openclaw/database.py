"""The database in which OpenClaw keeps an agent's sessions (since 2026.7): its rows hold the same entries."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any

from trailbook.chat import JSON, Place
from trailbook.readers import compressed
from trailbook.readers.databases import State, columns_of, opened, state_of
from trailbook.readers.lines import Problems, Record, read_stream

_EVENTS = "transcript_events"
_TRACE = "trajectory_runtime_events"
_TABLES = ("session_windows", "sessions", "session_entries")
"""Where the sessions stand by their ids, by the age of the database's schema."""
_OF_SESSIONS = ("session_id", "session_key", "spawned_by", "display_name", "updated_at")
_OF_NODES = ("session_key", "spawned_by", "label")


@dataclass(slots=True, frozen=True)
class Row:
    """One session of a database."""

    id: str
    key: str | None = None
    spawned_by: str | None = None
    label: str | None = None
    updated: int | None = None
    events: int = 0
    size: int = 0
    last: int = 0


def has_sessions(path: Path) -> bool | None:
    """Whether a database is one of OpenClaw's with transcripts in it; None for a database of another kind.

    Before 2026.7.2 it is there without them, and the sessions are in files. Raises Unreadable, OSError.
    """
    with opened(path) as connection:
        if {"session_id", "seq"} <= columns_of(connection, _EVENTS):
            return True
        known = any(columns_of(connection, table) for table in (_TRACE, "session_nodes", "schema_meta"))
        return False if known or path.name == "openclaw-agent.sqlite" else None


def rows(path: Path) -> list[Row]:
    """The sessions of a database that have entries. Raises Unreadable, OSError."""
    return list(_rows(path, state_of(path)))


def records(path: Path, session: str, problems: Problems) -> Iterator[Record]:
    """The records of a session, in order. Raises Unreadable, OSError."""
    return _records(path, _EVENTS, session, problems)


def trace(path: Path, session: str) -> Iterator[Record]:
    """The records of a session's runtime trace, where the database has one. Raises Unreadable, OSError."""
    return _records(path, _TRACE, session, Problems())


@lru_cache(maxsize=16)
def _rows(path: Path, _state: State) -> tuple[Row, ...]:
    with opened(path) as connection:
        described = _described(connection)
        size = " + ".join(f"coalesce(length({column}), 0)" for column in _columns(connection, _EVENTS)) or "0"
        found = connection.execute(
            f"SELECT session_id, count(*), sum({size}), max(seq) FROM {_EVENTS} GROUP BY session_id ORDER BY session_id"
        )
        return tuple(
            replace(described.get(session, Row(session)), events=count, size=size or 0, last=last or 0)
            for session, count, size, last in found
            if isinstance(session, str)
        )


def _described(connection: sqlite3.Connection) -> dict[str, Row]:
    """What the database says of its sessions beside their entries, whatever the age of its schema."""
    nodes = {key: (spawner, label) for key, spawner, label in _select(connection, "session_nodes", _OF_NODES)}
    found: dict[str, Row] = {}
    for table in _TABLES:
        for session, key, spawner, label, updated in _select(connection, table, _OF_SESSIONS):
            above = nodes.get(key, (None, None))
            row = Row(
                session, _word(key), _word(spawner) or _word(above[0]), _word(label) or _word(above[1]), _time(updated)
            )
            found.setdefault(session, row)
    return found


def _select(connection: sqlite3.Connection, table: str, names: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Some columns of a table, None for those that it has not; no rows where it lacks the first of them."""
    known = columns_of(connection, table)
    if names[0] not in known:
        return []
    columns = ", ".join(name if name in known else "NULL" for name in names)
    return list(connection.execute(f"SELECT {columns} FROM {table}"))


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _time(value: Any) -> int | None:
    return value if isinstance(value, int) else None


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    known = columns_of(connection, table)
    return [name for name in ("event_json", "event_zstd") if name in known]


def _records(path: Path, table: str, session: str, problems: Problems) -> Iterator[Record]:
    name = f"{path.name}:{session}"
    with opened(path) as connection:
        columns = _columns(connection, table)
        if not columns:
            return
        connection.text_factory = bytes
        query = f"SELECT {', '.join(columns)} FROM {table} WHERE session_id = ? ORDER BY seq"
        for number, cells in enumerate(connection.execute(query, (session,)), 1):
            place = Place(name, number, "row")
            for value in _values(path, dict(zip(columns, cells, strict=True)), place, problems):
                yield Record(place, value)


def _values(path: Path, cells: dict[str, Any], place: Place, problems: Problems) -> Iterator[JSON]:
    data, packed = cells.get("event_json"), cells.get("event_zstd")
    if not isinstance(data, bytes) and isinstance(packed, bytes):
        data = compressed.decompress(packed, path)[0]
    if not isinstance(data, bytes):
        problems.count("damaged-row", "Rows without an entry were passed over.", place, lost=True)
        return
    found = Problems()
    for record in read_stream(BytesIO(data.replace(b"\n", b" ")), found, name=place.file):
        yield record.value
    for problem in found.found:
        problems.add(problem.kind, problem.text, place, lost=problem.lost)
