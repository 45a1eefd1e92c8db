"""Recognising captures of Cursor's chats by their rows, and its databases, of which the layout is not known."""

from __future__ import annotations

import re
from hashlib import blake2b
from pathlib import Path

from trailbook import json_text
from trailbook.readers import HEAD_BYTES, Found, Passed, Unreadable
from trailbook.readers.cursor.rows import ROLES, is_known, looks_like_row, query_in
from trailbook.readers.databases import MAGIC
from trailbook.readers.lines import records_of_head
from trailbook.readers.values import Fields, blocks, fields, string

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_MD5 = re.compile(r"[0-9a-f]{32}")
_START = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*\{\s*(?:"id"\s*:\s*"[^"\\]{0,200}"\s*,\s*)?'
    rb'"role"\s*:\s*"(?:user|assistant)"\s*,\s*"message"\s*:\s*\{'
)
"""How a first row starts that is longer than what is looked at."""


def find(path: Path, head: bytes) -> list[Found] | Passed | None:
    """The one chat of a capture.

    Raises Unreadable for a database of Cursor's and for a capture of whose rows none is known, OSError.
    """
    if head.startswith(MAGIC):
        _refuse_database(path)
        return None
    if b'"role"' not in head or b'"message"' not in head:
        return None
    rows = records_of_head(head)
    if not rows:
        return [_found(path, [], head)] if len(head) >= HEAD_BYTES and _START.match(head) else None
    known = [row for row in rows if is_known(row)]
    if known:
        return [_found(path, known, json_text.canonical(known[0]))]
    roles = sorted({str(row.get("role")) for row in rows} - set(ROLES))
    if roles and len(head) < HEAD_BYTES and all(map(looks_like_row, rows)):
        named = ", ".join(roles[:5]) + (", …" if len(roles) > 5 else "")
        raise Unreadable(f"{path.name} looks like a capture of Cursor, but none of its rows is known: {named}.")
    return None


def _refuse_database(path: Path) -> None:
    """Say of one of Cursor's databases that it is not read."""
    chat, project = path.parent, path.parent.parent
    of_a_chat = path.name == "store.db" and _UUID.fullmatch(chat.name) and _MD5.fullmatch(project.name)
    if of_a_chat or (path.name == "state.vscdb" and "Cursor" in path.parts):
        raise Unreadable(
            f"{path.name} is a database of Cursor, whose layout is not known here: its chats are not read. "
            "A transcript that was captured as JSON lines can be read."
        )


def _found(path: Path, rows: list[Fields], first: bytes) -> Found:
    status = path.stat()
    return Found(
        reader="cursor",
        id=path.stem if _UUID.fullmatch(path.stem) else f"{path.stem}-{blake2b(first, digest_size=4).hexdigest()}",
        path=path,
        inputs=(path,),
        fingerprint=f"{status.st_size}-{status.st_mtime_ns}",
        title=next((words for row in rows if row["role"] == "user" and (words := _words(row))), None),
        updated=status.st_mtime_ns // 1_000_000,
        size=status.st_size,
    )


def _words(row: Fields) -> str | None:
    content = map(fields, blocks(fields(row["message"]).get("content")))
    texts = (string(block.get("text")) for block in content if block.get("type") == "text")
    words = "\n".join(query_in(text)[0] for text in texts if text).strip()
    return words.split("\n")[0] or None
