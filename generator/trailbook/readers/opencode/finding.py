"""Recognising OpenCode's logs: its database, its older folder of files, the documents that it exports."""

from __future__ import annotations

from pathlib import Path

from trailbook.readers import Found, Passed
from trailbook.readers.databases import MAGIC, is_database
from trailbook.readers.opencode import database, exports, storage
from trailbook.readers.opencode.sessions import Session


def find(path: Path, head: bytes) -> list[Found] | Passed | None:
    """The sessions of a file, or why it is none.

    Raises Unreadable for a document that is cut and for a damaged database, OSError.
    """
    if head.startswith(MAGIC) or path.name.endswith(("-wal", "-shm")):
        return database.find(path, head)
    return storage.find(path, head) or exports.find(path, head)


def load(found: Found) -> Session:
    """The records of a session that was found. Raises Unreadable, OSError."""
    if is_database(found.path):
        return database.load(found)
    return storage.load(found) if storage.root_of(found.path) else exports.load(found)
