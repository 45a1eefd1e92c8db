"""Hermes's database: its sessions and their messages as the tables have them (harnesses.md A2)."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from trailbook import json_text
from trailbook.chat import JSON
from trailbook.readers.databases import State, columns_of, opened, state_of
from trailbook.readers.hermes.contents import is_summary
from trailbook.readers.hermes.facts import Facts, first_line
from trailbook.readers.values import Fields, moment_of_seconds, string

_SESSION = {"id", "source", "started_at"}
_MESSAGE = {"id", "session_id", "role", "content", "tool_calls", "tool_call_id", "timestamp"}
_TEXTS = ("content", "tool_calls", "reasoning", "reasoning_content", "reasoning_details", "api_content")
_BEGINNING = 2_000
"""Bytes of a prompt that are looked at for a title: with a picture in it, a message has millions."""
_FIRST_TEXT = re.compile(r'"text": ?"((?:[^"\\]|\\.)*+)"')


def holds_sessions(path: Path) -> bool:
    """Whether a database is one of Hermes's. Raises Unreadable, OSError."""
    return _holds_sessions(path, state_of(path))


def sessions_in(path: Path) -> dict[str, Fields]:
    """Every session by its id, without its system prompt. Raises Unreadable, OSError."""
    return _sessions_in(path, state_of(path))


def session_in(path: Path, session: str) -> tuple[Fields, list[Fields]]:
    """One session, and its messages in the order in which they were stored: clocks run backwards.

    Raises Unreadable, OSError.
    """
    with opened(path) as connection:
        about = next(_rows(connection, "SELECT * FROM sessions WHERE id = ?", session), {})
        rows = list(_rows(connection, "SELECT * FROM messages WHERE session_id = ? ORDER BY id", session))
        prompt = about.get("system_prompt_hash")
        if about.get("system_prompt") is None and prompt and "hash" in columns_of(connection, "system_prompts"):
            stored = _rows(connection, "SELECT prompt FROM system_prompts WHERE hash = ?", str(prompt))
            about["system_prompt"] = next(stored, {}).get("prompt")
        about["models"] = _models(connection, session)
    return about, rows


def facts_in(path: Path) -> dict[str, Facts]:
    """What a list says of each session. Raises Unreadable, OSError."""
    with opened(path) as connection:
        columns = columns_of(connection, "messages")
        # As blobs: for SQLite, a text ends at the NUL that marks content of several parts.
        lengths = " + ".join(f"total(length(CAST({name} AS BLOB)))" for name in _TEXTS if name in columns)
        flags = [f"total({name} * id)" for name in ("active", "compacted") if name in columns]
        marks = ", ".join(["count(*)", "min(id)", "max(id)", *flags])
        query = f"SELECT session_id, max(timestamp), {lengths}, {marks} FROM messages GROUP BY session_id"
        counted = {str(row[0]): row[1:] for row in connection.execute(query)}
        words = _first_words(connection)
    found: dict[str, Facts] = {}
    for session, about in sessions_in(path).items():
        last, size, messages, *_ = counted.get(session, (None, 0.0, 0))
        mark = f"{counted.get(session)} {json_text.canonical(about).decode()}"
        found[session] = Facts(mark, messages, int(size), moment_of_seconds(_value(last)), words.get(session))
    return found


@lru_cache(maxsize=16)
def _holds_sessions(path: Path, _state: State) -> bool:
    with opened(path) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        if not {"sessions", "messages"} <= tables:
            return False
        return columns_of(connection, "sessions") >= _SESSION and columns_of(connection, "messages") >= _MESSAGE


@lru_cache(maxsize=4)
def _sessions_in(path: Path, _state: State) -> dict[str, Fields]:
    with opened(path) as connection:
        columns = sorted(columns_of(connection, "sessions") - {"system_prompt"})
        names = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
        return {str(row["id"]): row for row in _rows(connection, f"SELECT {names} FROM sessions") if row["id"]}


def _models(connection: sqlite3.Connection, session: str) -> list[JSON]:
    """The models that worked on the chat itself (not on its title or its summary), in the order of their first use."""
    if not {"session_id", "model", "task", "first_seen"} <= columns_of(connection, "session_model_usage"):
        return []
    query = "SELECT model FROM session_model_usage WHERE session_id = ? AND task = '' ORDER BY first_seen, rowid"
    return [row["model"] for row in _rows(connection, query, session)]


def _first_words(connection: sqlite3.Connection) -> dict[str, str]:
    query = (
        f"SELECT session_id, substr(CAST(content AS BLOB), 1, {_BEGINNING}) FROM messages"
        " WHERE id IN (SELECT min(id) FROM messages WHERE role = 'user' GROUP BY session_id)"
    )
    return {str(session): words for session, text in connection.execute(query) if (words := _words(_value(text)))}


def _words(text: JSON) -> str | None:
    found = string(text)
    if found and found.startswith("\0"):
        part = _FIRST_TEXT.search(found)
        found = string(json_text.parse(f'"{part.group(1)}"'.encode())) if part else None
    return None if found is None or is_summary(found) else first_line(found)


def _rows(connection: sqlite3.Connection, query: str, *values: str) -> Iterator[Fields]:
    answer = connection.execute(query, values)
    names = [str(column[0]) for column in answer.description]
    for row in answer:
        yield {name: _value(value) for name, value in zip(names, row, strict=True)}


def _value(value: object) -> JSON:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str | int | float) else None
