"""Small sessions of OpenCode for tests: as an export, as rows of its database, as files of its older folder."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC
from pathlib import Path
from typing import Any

from trailbook.chat import Chat
from trailbook.readers import HEAD_BYTES, Found, Unreadable, opencode

Document = dict[str, Any]

SCHEMA = """
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL,
    directory text NOT NULL, title text NOT NULL, version text NOT NULL, revert text, agent text,
    time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
    time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE session_message (id text PRIMARY KEY, session_id text NOT NULL, type text NOT NULL, seq integer NOT NULL,
    time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX part_session_idx ON part (session_id);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
"""
"""The columns of version 1.18 that are read, and the table that is there for later versions."""


def find(path: Path) -> Any:
    """What the reader says of a file; the sentence where it refuses it."""
    with path.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
    try:
        return opencode.find(path, head)
    except Unreadable as refused:
        return str(refused)


def read_file(path: Path, number: int = 0) -> Chat:
    found: list[Found] = find(path)
    return opencode.read(found[number], UTC)


# --- records


def text(words: object, **more: object) -> Document:
    return {"type": "text", "text": words, **more}


def tool(call: object, state: object, name: object = "bash", **more: object) -> Document:
    return {"type": "tool", "callID": call, "tool": name, "state": state, **more}


def done(output: object, start: int = 2_000, end: int = 2_500, **more: object) -> Document:
    state = {"status": "completed", "input": {"command": "ls"}, "output": output}
    return {**state, "time": {"start": start, "end": end}, **more}


def failed(error: object, **more: object) -> Document:
    return {
        "status": "error",
        "input": {"command": "ls"},
        "error": error,
        "time": {"start": 2_000, "end": 2_500},
        **more,
    }


def tokens(fresh: int, output: int, reasoning: int = 0, read: int = 0, write: int = 0) -> Document:
    return {"input": fresh, "output": output, "reasoning": reasoning, "cache": {"read": read, "write": write}}


def message(role: object, *parts: object, at: int = 1_000, **info: object) -> Document:
    return {"info": {"role": role, "time": {"created": at}, **info}, "parts": list(parts)}


def user(*parts: object, at: int = 1_000, **info: object) -> Document:
    return message("user", *parts, at=at, **info)


def reply(*parts: object, at: int = 1_500, **info: object) -> Document:
    return message("assistant", *parts, at=at, **{"modelID": "m-1", "providerID": "acme", **info})


def session(*messages: object, name: str = "ses_1", **info: object) -> Document:
    """An exported session, every message and part of which has an id."""
    about = {"id": name, "directory": "/home/mira/greenhouse", "title": "Frost", "version": "1.18.33"}
    document = {"info": {**about, "time": {"created": 500, "updated": 9_000}, **info}, "messages": list(messages)}
    for number, each in enumerate(document["messages"], 1):
        if isinstance(each, dict) and isinstance(each["info"], dict):
            each["info"].setdefault("id", f"msg_{name[4:]}{number:02}")
            for order, part in enumerate(each["parts"], 1):
                if isinstance(part, dict):
                    part.setdefault("id", f"prt_{name[4:]}{number:02}{order:02}")
    return document


# --- stores


def export(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document, indent=2))
    return path


def database(path: Path, *documents: Document) -> Path:
    """Sessions as rows, spelled as OpenCode spells them: what a row has in columns is not in its `data`."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        connection.executescript(SCHEMA)
        for document in documents:
            insert(connection, document)
        connection.commit()
    return path


def insert(connection: sqlite3.Connection, document: Document) -> None:
    info = document["info"]
    revert = json.dumps(info["revert"]) if "revert" in info else None
    times = (info["time"]["created"], info["time"]["updated"])
    row = (info["id"], "prj_1", info.get("parentID"), "slug", info["directory"], info["title"], info["version"])
    connection.execute(f"INSERT INTO session VALUES ({','.join('?' * 11)})", (*row, revert, info.get("agent"), *times))
    for each in document["messages"]:
        own = each["info"]
        at = own["time"]["created"]
        data = json.dumps({key: value for key, value in own.items() if key not in ("id", "sessionID")})
        connection.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", (own["id"], info["id"], at, at, data))
        for part in each["parts"]:
            kept = {key: value for key, value in part.items() if key not in ("id", "sessionID", "messageID")}
            cells = (part["id"], own["id"], info["id"], at, at, json.dumps(kept))
            connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", cells)


def storage(root: Path, *documents: Document) -> Path:
    """Sessions as files; returns that of the first session."""
    for document in documents:
        info = document["info"]
        _file(root / "session" / "prj_1" / f"{info['id']}.json", {**info, "projectID": "prj_1"})
        (root / "message").mkdir(exist_ok=True)
        for each in document["messages"]:
            own = each["info"]
            _file(root / "message" / info["id"] / f"{own['id']}.json", {**own, "sessionID": info["id"]})
            for part in each["parts"]:
                about = {"messageID": own["id"], "sessionID": info["id"]}
                _file(root / "part" / own["id"] / f"{part['id']}.json", {**part, **about})
    return root / "session" / "prj_1" / f"{documents[0]['info']['id']}.json"


def _file(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
