"""SQLite databases that belong to somebody else: read so that nothing beside them is made, changed or locked.

SQLite leaves a `-wal` and a `-shm` beside a database that it opens, even to read. So one without pending writes is
opened as immutable, which touches nothing; one with pending writes is copied with them into a private folder.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import lru_cache
from multiprocessing.util import Finalize
from pathlib import Path
from urllib.parse import quote

from trailbook.readers import Unreadable
from trailbook.readers.files import is_own, open_own

MAGIC = b"SQLite format 3\0"

_BESIDE = ("-wal", "-shm", "-journal")
_PENDING = ("-wal", "-journal")
_TRIES = 3

State = tuple[tuple[str, int, int], ...]
"""Name, size and time of change of a database's files."""


def is_database(path: Path) -> bool:
    """Whether a file is an SQLite database. Raises OSError."""
    with open_own(path) as stream:
        return stream.read(len(MAGIC)) == MAGIC


def owner_of(path: Path) -> Path | None:
    """The database that a file belongs to which SQLite lays beside it while it is in use; None for any other file."""
    ending = next((ending for ending in _BESIDE if path.name.endswith(ending)), "")
    owner = path.with_name(path.name.removesuffix(ending)) if ending and path.name != ending else path
    return owner if owner != path and is_own(owner) and is_database(owner) else None


def state_of(path: Path) -> State:
    """What tells whether a database or its pending writes changed. Raises OSError."""
    found = [path, *(side for ending in _PENDING if is_own(side := _beside(path, ending)))]
    return tuple((file.name, stat.st_size, stat.st_mtime_ns) for file in found for stat in (file.stat(),))


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A database to read from. Raises Unreadable for one that is damaged or that is being changed, OSError."""
    pending = any(name != path.name and size for name, size, _ in state_of(path))
    try:
        if pending:
            address = f"file:{quote(str(_copied(path, state_of(path))))}"
        else:
            address = f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1"
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.text_factory = _text
            yield connection
    except sqlite3.Error as error:
        raise Unreadable(f"{path} could not be read as a database ({error}).") from None


def columns_of(connection: sqlite3.Connection, table: str) -> set[str]:
    """The names of a table's columns; none where there is no such table."""
    return {str(row[0]) for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))}


@lru_cache(maxsize=4)
def _copied(path: Path, _state: State) -> Path:
    """A copy of a database with its pending writes, made once as it stands; gone when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="trailbook-"))  # for this user's eyes only
    Finalize(None, shutil.rmtree, args=(folder, True), exitpriority=1)
    for _ in range(_TRIES):
        before = state_of(path)
        for name, _size, _changed in before:
            shutil.copyfile(path.with_name(name), folder / name)
        if state_of(path) == before:
            return folder / path.name
    raise Unreadable(f"{path} is being written to at this moment: try again.")


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
