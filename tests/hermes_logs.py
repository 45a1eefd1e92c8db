"""Hermes's stores for tests: the same sessions as a database, as an export, and as the snapshot of one of them."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import UTC
from itertools import count as numbers
from pathlib import Path
from typing import Any

from claude_code_logs import counted, pieces
from trailbook.chat import Asked, Chat, Image, Noted, Said, Usage
from trailbook.ledger import Ledger, digest_of_text, keep_nothing
from trailbook.readers import HEAD_BYTES, Found, Passed, hermes

DATA = Path(__file__).parent / "data" / "hermes"
START = 1_791_225_730.0
PNG = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

Session = dict[str, Any]
Message = dict[str, Any]

_SESSION_COLUMNS = """
    id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, session_key TEXT, chat_id TEXT, thread_id TEXT,
    display_name TEXT, model TEXT, model_config TEXT, system_prompt TEXT, parent_session_id TEXT, started_at REAL,
    ended_at REAL, end_reason TEXT, message_count INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0,
    output_tokens INTEGER DEFAULT 0, cache_read_tokens INTEGER DEFAULT 0, cache_write_tokens INTEGER DEFAULT 0,
    reasoning_tokens INTEGER DEFAULT 0, cwd TEXT, git_branch TEXT, billing_provider TEXT, estimated_cost_usd REAL,
    actual_cost_usd REAL, cost_status TEXT, cost_source TEXT, title TEXT,
    archived INTEGER NOT NULL DEFAULT 0
"""
_MESSAGE_COLUMNS = """
    id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT, tool_call_id TEXT,
    tool_calls TEXT, tool_name TEXT, effect_disposition TEXT, timestamp REAL NOT NULL, finish_reason TEXT,
    reasoning TEXT, reasoning_content TEXT, reasoning_details TEXT, codex_reasoning_items TEXT,
    codex_message_items TEXT, observed INTEGER DEFAULT 0, active INTEGER NOT NULL DEFAULT 1,
    compacted INTEGER NOT NULL DEFAULT 0, api_content TEXT
"""
_KEPT_AS_JSON = ("tool_calls", "reasoning_details", "codex_reasoning_items", "codex_message_items")


# --- sessions and messages


def session(name: str, *messages: Message, at: float = START, **columns: Any) -> Session:
    return {"id": name, "source": "cli", "model": "model-x", "started_at": at, **columns, "messages": list(messages)}


def stored(*sessions: Session) -> list[Session]:
    """The sessions with numbers and times for all their messages, in the order in which they stand here."""
    number = numbers(1)
    for one in sessions:
        for message in one["messages"]:
            message.setdefault("id", next(number))
            message.setdefault("session_id", one["id"])
            message.setdefault("timestamp", START + 10 * message["id"])
    return list(sessions)


def user(content: Any, **columns: Any) -> Message:
    return {"role": "user", "content": content, **columns}


def model(content: Any, *calls: Any, **columns: Any) -> Message:
    stop = "tool_calls" if calls else "stop"
    return {
        "role": "assistant",
        "content": content,
        "tool_calls": list(calls) or None,
        "finish_reason": stop,
        **columns,
    }


def call(name: str, tool: str = "terminal", **arguments: Any) -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}


def result(name: str | None, content: Any, tool: str | None = "terminal", **columns: Any) -> Message:
    words = json.dumps(content) if isinstance(content, dict) else content
    return {"role": "tool", "tool_call_id": name, "tool_name": tool, "content": words, **columns}


def summary(words: str) -> str:
    return f"[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted.\n{words}"


# --- the stores


def database(path: Path, sessions: Iterable[Session], *, pending: bool = False) -> Path:
    """Write a database as Hermes does; with `pending`, as it is while Hermes runs: everything still in the `-wal`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        if pending:
            connection.execute("PRAGMA wal_autocheckpoint=0")
        connection.execute(f"CREATE TABLE sessions ({_SESSION_COLUMNS})")
        connection.execute(f"CREATE TABLE messages ({_MESSAGE_COLUMNS})")
        connection.execute("CREATE TABLE schema_version (version INTEGER NOT NULL)")
        for one in sessions:
            _insert(connection, "sessions", {key: value for key, value in one.items() if key != "messages"})
            for message in one["messages"]:
                _insert(connection, "messages", {key: _column(key, value) for key, value in message.items()})
        connection.commit()
        if pending:
            copies = {name: path.with_name(path.name + name).read_bytes() for name in ("", "-wal", "-shm")}
    if pending:
        for name, data in copies.items():
            path.with_name(path.name + name).write_bytes(data)
    return path


def _insert(connection: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    known = {name for (name,) in connection.execute(f"SELECT name FROM pragma_table_info('{table}')")}
    kept = {key: value for key, value in row.items() if key in known}
    marks = ", ".join("?" * len(kept))
    connection.execute(f"INSERT INTO {table} ({', '.join(kept)}) VALUES ({marks})", list(kept.values()))


def _column(name: str, value: Any) -> Any:
    if name == "content" and isinstance(value, list | dict):
        return "\0json:" + json.dumps(value)
    return json.dumps(value) if name in _KEPT_AS_JSON and isinstance(value, list | dict) else value


def export(path: Path, sessions: Iterable[Session]) -> Path:
    """Write what `hermes sessions export` would: a session a line, without the messages that are not active."""
    lines = []
    for one in sessions:
        active = [message for message in one["messages"] if message.get("active", 1)]
        lines.append(json.dumps({"model_config": None, **one, "messages": active}, ensure_ascii=False))
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


# --- reading them


def find(path: Path) -> list[Found] | Passed | None:
    with path.open("rb") as stream:
        return hermes.find(path, stream.read(HEAD_BYTES))


def found_in(path: Path) -> list[Found]:
    found = find(path)
    assert isinstance(found, list), found
    return found


def read_all(path: Path) -> dict[str, Chat]:
    """Every chat of a store by its id, each counted as well."""
    chats: dict[str, Chat] = {}
    for found in found_in(path):
        chat = chats[found.id] = hermes.read(found, UTC)
        assert chat.id == found.id
        assert_counted_alike(chat, hermes.count(found, keep_nothing))
    return chats


def read(path: Path, *sessions: Session) -> Chat:
    """The one chat that some sessions make, read from a database."""
    (chat,) = read_all(database(path / "state.db", stored(*sessions))).values()
    return chat


def assert_counted_alike(chat: Chat, ledger: Ledger) -> None:
    """What the reader tells of a chat is what the counter, which makes no events, finds in it."""
    for aside, entries in ((False, ledger.entries), (True, ledger.aside)):
        told = Counter(_told(chat, aside=aside))
        assert told == Counter(_bare(entry) for entry in counted([e for e in entries if e.kind != "system"]))
    assert (chat.usage or Usage()) == (ledger.usage or Usage())
    assert [subagent.id for subagent in chat.subagents] == [subagent.chat for subagent in ledger.subagents]
    for subagent, below in zip(chat.subagents, ledger.subagents, strict=True):
        assert_counted_alike(subagent, below)


def _told(chat: Chat, *, aside: bool) -> Iterator[tuple[Any, ...]]:
    for event in chat.events:
        if bool(event.branch or event.inherited) is aside:
            yield from (_bare(piece) for piece in pieces(event))
            if isinstance(event, Asked | Said) and event.parts and not event.text.strip() and not _pictures(event):
                kind = "prompt" if isinstance(event, Asked) else "answer"
                put_in = isinstance(event, Asked) and event.injected is not None
                yield (kind, None if put_in else event.place, digest_of_text(""), None, None, None, put_in, 0)
            if isinstance(event, Noted) and event.topic == "system":
                yield ("prompt", None, digest_of_text(event.text), None, None, None, True, 0)


def _pictures(event: Asked | Said) -> bool:
    return any(isinstance(part, Image) for part in event.parts)


def _bare(piece: tuple[Any, ...]) -> tuple[Any, ...]:
    """A piece without the message that it is of: the ledger names it as it likes."""
    return piece[:6] + piece[7:]


def of(chat: Chat, kind: type[Any]) -> list[Any]:
    return [event for event in chat.events if isinstance(event, kind)]
