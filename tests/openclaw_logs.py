"""Sessions of OpenClaw, Pi and OMP for tests: entries, files, databases of three ages, and reading them."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC
from pathlib import Path
from typing import Any

from trailbook.chat import Chat, Event
from trailbook.ledger import Ledger, keep_nothing
from trailbook.readers import Found, Passed, reader

DATA = Path(__file__).parent / "data" / "openclaw"
SAMPLE = DATA / "agents" / "main" / "sessions" / "019f92c8-d694-7ac3-9144-e3b22add01f3.jsonl"
CHILD = SAMPLE.with_name("019f92c9-0000-7ac3-9144-e3b22add01f4.jsonl")

Entry = dict[str, Any]

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def header(session: str = "s-1", **more: Any) -> Entry:
    return {"type": "session", "version": 3, "id": session, "timestamp": at(0), "cwd": "/w", **more}


def at(second: int) -> str:
    return f"2026-10-12T09:{second // 60:02d}:{second % 60:02d}.000Z"


def entry(number: int, kind: str, parent: int | None = -1, **more: Any) -> Entry:
    """The entry number `number`, a child of the one before it unless `parent` says otherwise."""
    above = number - 1 if parent == -1 else parent
    return {
        "type": kind,
        "id": f"e{number}",
        "parentId": f"e{above}" if above else None,
        "timestamp": at(number),
        **more,
    }


def message(number: int, role: str, content: Any, parent: int | None = -1, **more: Any) -> Entry:
    return entry(number, "message", parent, message={"role": role, "content": content, **more})


def user(number: int, text: str, parent: int | None = -1) -> Entry:
    return message(number, "user", text, parent)


def said(number: int, *blocks: Any, parent: int | None = -1, stop: str = "stop", **more: Any) -> Entry:
    told = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    more = {"provider": "anthropic", "model": "claude-opus-4-8", **more}
    return message(number, "assistant", told, parent, stopReason=stop, **more)


def call(identity: str | None, name: str = "bash", **arguments: Any) -> Entry:
    return {"type": "toolCall", "id": identity, "name": name, "arguments": arguments}


def result(number: int, of: str, text: str, parent: int | None = -1, **more: Any) -> Entry:
    content = [{"type": "text", "text": text}]
    return message(number, "toolResult", content, parent, **{"toolCallId": of, "isError": False, **more})


def usage(*counts: int, cost: float | None = None) -> Entry:
    names = ("input", "output", "cacheRead", "cacheWrite")
    told: Entry = dict(zip(names, counts, strict=False))
    return {"usage": told if cost is None else {**told, "cost": {"total": cost}}}


def write(path: Path, *entries: Entry) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(json.dumps(each).encode() + b"\n" for each in entries))
    return path


def found_in(path: Path, agent: str = "openclaw") -> list[Found] | Passed | None:
    return reader(agent).find(path, path.read_bytes()[:65_536])


def found(path: Path, agent: str = "openclaw", number: int = 0) -> Found:
    listed = found_in(path, agent)
    assert isinstance(listed, list), listed
    return listed[number]


def read(path: Path, agent: str = "openclaw", number: int = 0) -> Chat:
    return reader(agent).read(found(path, agent, number), UTC)


def count(path: Path, agent: str = "openclaw", number: int = 0) -> Ledger:
    return reader(agent).count(found(path, agent, number), keep_nothing)


def read_entries(folder: Path, *entries: Entry, agent: str = "openclaw") -> Chat:
    return read(write(folder / "s-1.jsonl", header(), *entries), agent)


def of(chat: Chat, kind: type[Event]) -> list[Any]:
    return [event for event in chat.events if isinstance(event, kind)]


# --- databases

_SESSIONS = {
    "first": (
        "CREATE TABLE sessions (session_id TEXT PRIMARY KEY, session_key TEXT, updated_at INTEGER, spawned_by TEXT)",
        "CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER, "
        "PRIMARY KEY (session_id, seq))",
    ),
    "later": (
        "CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, current_session_id TEXT, entry_json TEXT, "
        "spawned_by TEXT, label TEXT)",
        "CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT, previous_session_id TEXT, "
        "reason TEXT, updated_at INTEGER, spawned_by TEXT, display_name TEXT)",
        "CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER, "
        "event_zstd BLOB, PRIMARY KEY (session_id, seq))",
    ),
}
_TRACE = "CREATE TABLE trajectory_runtime_events (session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER)"


def database(path: Path, folder: Path, schema: str = "first", *, packed: bool = False, wal: bool = False) -> Path:
    """A database with what a folder of session files has; `packed` compresses the entries' texts.

    With `wal` the last rows are still to be written into it: they stand in the file beside it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    index = json.loads((folder / "sessions.json").read_text())
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL" if wal else "PRAGMA journal_mode = DELETE")
    for statement in (*_SESSIONS[schema], _TRACE):
        connection.execute(statement)
    for key, value in index.items():
        session, row = value["sessionId"], (value["sessionId"], key, value["updatedAt"], value.get("spawnedBy"))
        if schema == "first":
            connection.execute("INSERT INTO sessions VALUES (?, ?, ?, ?)", row)
        else:
            columns = "(session_id, session_key, updated_at)"
            connection.execute(f"INSERT INTO session_windows {columns} VALUES (?, ?, ?)", row[:3])
            node = (key, session, "{}", value.get("spawnedBy"), value.get("label"))
            connection.execute("INSERT INTO session_nodes VALUES (?, ?, ?, ?, ?)", node)
        for table, file in (
            ("transcript_events", f"{session}.jsonl"),
            (_TRACE.split()[2], f"{session}.trajectory.jsonl"),
        ):
            if (folder / file).is_file():
                _insert(connection, table, session, (folder / file).read_text().splitlines(), packed=packed)
    connection.commit()
    if wal:
        _keep_pending(connection, path)
    connection.close()
    return path


def _insert(connection: sqlite3.Connection, table: str, session: str, lines: list[str], *, packed: bool) -> None:
    for seq, line in enumerate(lines):
        if packed and table == "transcript_events" and seq % 2:
            import zstandard

            row = (session, seq, None, 0, zstandard.ZstdCompressor().compress(line.encode()))
            connection.execute(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?)", row)
        else:
            columns = "(session_id, seq, event_json, created_at)"
            connection.execute(f"INSERT INTO {table} {columns} VALUES (?, ?, ?, 0)", (session, seq, line))


def _keep_pending(connection: sqlite3.Connection, path: Path) -> None:
    """Leave the database as an agent that is still running does: closing it would write the pending rows into it."""
    files = {file: file.read_bytes() for file in (path, path.with_name(path.name + "-wal"))}
    connection.close()
    for file, content in files.items():
        file.write_bytes(content)
    path.with_name(path.name + "-shm").unlink(missing_ok=True)


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its bytes: what must be the same after reading."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}
