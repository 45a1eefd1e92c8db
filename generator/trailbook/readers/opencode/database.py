"""The database in which OpenCode keeps its sessions: tables `session`, `message` and `part`, the last two with JSON."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from trailbook import json_text
from trailbook.chat import JSON, Place
from trailbook.readers import Found, Passed, Unreadable
from trailbook.readers.databases import MAGIC, State, columns_of, is_database, opened, state_of
from trailbook.readers.files import is_own
from trailbook.readers.lines import Problems, parse_document
from trailbook.readers.opencode.sessions import (
    LoggedMessage,
    LoggedPart,
    Session,
    children_in,
    family_of,
    time_of,
    title_of,
)
from trailbook.readers.values import Fields, string

_NEEDED = {
    "session": {"id", "directory", "title"},
    "message": {"id", "session_id", "data"},
    "part": {"id", "message_id", "session_id", "data"},
}
_NEWER = "session_message"
"""A table that is there, empty, in version 1.18: what will stand in it is not known."""
_COLUMNS = {
    "parent_id": "parentID",
    "directory": "directory",
    "title": "title",
    "version": "version",
    "agent": "agent",
}
"""Columns of `session` with what they are called in an export."""


@dataclass(slots=True, frozen=True)
class _Row:
    """One session of a database, and what changes when it does."""

    info: Fields
    messages: int
    size: int
    marks: tuple[Any, ...]


@dataclass(slots=True, frozen=True)
class _Sessions:
    rows: dict[str, _Row]
    children: dict[str | None, list[str]]
    """The sessions that each session started; under None those that none started."""


def find(path: Path, head: bytes) -> list[Found] | Passed | None:
    """The sessions of a database that no other session started. Raises Unreadable, OSError."""
    if path.name.endswith(("-wal", "-shm")):
        base = path.with_name(path.name[:-4])
        beside = is_own(base) and is_database(base) and _is_known(base)
        return Passed("a part of OpenCode's database, read with it", base) if beside else None
    if not head.startswith(MAGIC) or not _is_known(path):
        return None
    sessions = _sessions(path, state_of(path))
    found = []
    for name in sessions.children.get(None, ()):
        family = [sessions.rows[member] for member in family_of(name, sessions.children)]
        if any(row.messages for row in family):
            found.append(_found(path, name, family))
    return found or Passed("a database of OpenCode without a message in it")


def load(found: Found) -> Session:
    """The session that was found, with those that it started. Raises Unreadable, OSError."""
    sessions = _sessions(found.path, state_of(found.path))
    if found.id not in sessions.rows:
        raise Unreadable(f"{found.path.name} no longer has the session {found.id}: list it again.")
    with opened(found.path) as connection:
        return _load(found.path, connection, found.id, sessions)


def _load(path: Path, connection: sqlite3.Connection, name: str, sessions: _Sessions) -> Session:
    session = Session(name, sessions.rows[name].info, Problems())
    session.messages = _messages(path, connection, session)
    _report_newer(path, connection, session)
    session.children = [_load(path, connection, child, sessions) for child in sessions.children.get(name, ())]
    return session


def _messages(path: Path, connection: sqlite3.Connection, session: Session) -> list[LoggedMessage]:
    created = "time_created, " if "time_created" in columns_of(connection, "message") else ""
    query = f"SELECT rowid, id, data FROM message WHERE session_id = ? ORDER BY {created}id"
    messages: dict[Any, LoggedMessage] = {}
    for number, name, data in connection.execute(query, (session.id,)):
        place = Place(f"{path.name}:message", number, "row")
        messages[name] = LoggedMessage(place, _object(name, data, place, session.problems))
    query = "SELECT rowid, message_id, id, data FROM part WHERE session_id = ? ORDER BY id"
    for number, message, name, data in connection.execute(query, (session.id,)):
        place = Place(f"{path.name}:part", number, "row")
        if message not in messages:
            text = "Parts of messages that are not there were passed over."
            session.problems.count("orphan-part", text, place, lost=True)
        elif values := _object(name, data, place, session.problems):
            messages[message].parts.append(LoggedPart(place, values))
    return list(messages.values())


def _report_newer(path: Path, connection: sqlite3.Connection, session: Session) -> None:
    if not columns_of(connection, _NEWER):
        return
    count = connection.execute(f"SELECT count(*) FROM {_NEWER} WHERE session_id = ?", (session.id,)).fetchone()[0]
    if count:
        text = f"{count:,} rows of the table “{_NEWER}” of {path.name} are not known here: they were passed over."
        session.problems.add("unknown-record", text, lost=True)


def _object(name: Any, data: Any, place: Place, problems: Problems) -> Fields:
    """The object in a cell with the id of its row, as an export has it; empty for a damaged cell, which is reported."""
    value: JSON = None
    if isinstance(data, str | bytes):
        cell = data.encode("utf-8", "replace") if isinstance(data, str) else data
        with suppress(ValueError):
            value = parse_document(cell, place, problems)
    if not isinstance(value, dict):
        problems.add("damaged-row", "A row whose data is no JSON object was passed over.", place, lost=True)
        return {}
    return value | {"id": name} if isinstance(name, str) else value


def _is_known(path: Path) -> bool:
    """Whether a database has OpenCode's tables. Raises Unreadable for one that is damaged and has OpenCode's name."""
    try:
        with opened(path) as connection:
            return all(needed <= columns_of(connection, table) for table, needed in _NEEDED.items())
    except Unreadable:
        if path.name.startswith("opencode"):
            raise
        return False


@lru_cache(maxsize=4)
def _sessions(path: Path, _state: State) -> _Sessions:
    with opened(path) as connection:
        marks = [_marks(connection, table) for table in ("message", "part")]
        newer = _marks(connection, _NEWER) if "session_id" in columns_of(connection, _NEWER) else {}
        rows: dict[str, _Row] = {}
        for name, info in _infos(connection):
            counted = [of[name] for of in (*marks, newer) if name in of]
            messages = sum(of[name][0] for of in (marks[0], newer) if name in of)
            rows[name] = _Row(info, messages, sum(size for _count, size, *_times in counted), tuple(counted))
    return _Sessions(rows, children_in({name: string(row.info.get("parentID")) for name, row in rows.items()}))


def _marks(connection: sqlite3.Connection, table: str) -> dict[str, tuple[int, ...]]:
    """By session: how many rows a table has of it, how many characters these have, and what shows that one changed."""
    changed = "time_updated" if "time_updated" in columns_of(connection, table) else "rowid"
    marks = f"count(*), total(length(data)), max(CAST({changed} AS INTEGER)), total({changed} % 1000000)"
    found = connection.execute(f"SELECT session_id, {marks} FROM {table} GROUP BY session_id")
    return {name: tuple(int(mark or 0) for mark in marks) for name, *marks in found}


def _infos(connection: sqlite3.Connection) -> list[tuple[str, Fields]]:
    """What each session's row says, under the names of an export, in order of their beginning."""
    known = columns_of(connection, "session")
    names = ["id", *_COLUMNS, "revert", "time_created", "time_updated"]
    columns = ", ".join(name if name in known else "NULL" for name in names)
    order = "time_created, id" if "time_created" in known else "id"
    found: list[tuple[str, Fields]] = []
    for cells in connection.execute(f"SELECT {columns} FROM session ORDER BY {order}"):
        row = dict(zip(names, cells, strict=True))
        info: Fields = {exported: row[name] for name, exported in _COLUMNS.items()}
        info["time"] = {"created": row["time_created"], "updated": row["time_updated"]}
        info["revert"] = _revert(row["revert"])
        if isinstance(row["id"], str):
            found.append((row["id"], info | {"id": row["id"]}))
    return found


def _revert(cell: Any) -> JSON:
    try:
        return json_text.parse(cell.encode("utf-8", "replace")) if isinstance(cell, str) else None
    except ValueError:
        return None


def _found(path: Path, name: str, family: list[_Row]) -> Found:
    info = family[0].info
    pending = path.with_name(path.name + "-wal")
    marks = [(row.marks, row.info) for row in family]
    return Found(
        reader="opencode",
        id=name,
        path=path,
        inputs=(path, pending) if is_own(pending) else (path,),
        fingerprint=sha256(repr(marks).encode("utf-8", "replace")).hexdigest(),
        title=title_of(info),
        started=time_of(info, "created"),
        updated=time_of(info, "updated"),
        cwd=string(info.get("directory")),
        origin="subagent" if string(info.get("parentID")) else "chat",
        size=sum(row.size for row in family),
        preference=2,
    )
