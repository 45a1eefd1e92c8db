"""Logs as one run of bytes, so that a fuzzer can change them: some files with their paths, databases as their rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path, PurePosixPath
from typing import Any

_FILE = b"\x1e"
"""Begins a file: its path up to the line's end, then what is in it."""
_DATABASE = b"#database\n"
_SQLITE = b"SQLite format 3\0"
MOST_FILES = 12


def pack(folder: Path, paths: Iterable[Path]) -> bytes:
    """Some files of a folder."""
    return b"".join(
        _FILE + path.relative_to(folder).as_posix().encode() + b"\n" + _packed(path) for path in sorted(paths)
    )


def unpack(data: bytes, folder: Path) -> list[Path]:
    """Write the files; what is no path below the folder is left out. Gives the files in the order of their paths."""
    written = []
    for part in data.split(_FILE)[1 : MOST_FILES + 1]:
        name, _, content = part.partition(b"\n")
        path = PurePosixPath(name.decode("utf-8", "replace").replace("\0", ""))
        if path.is_absolute() or ".." in path.parts or not path.parts or len(name) > 200:
            continue
        with suppress(OSError):
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if content.startswith(_DATABASE):
                _make_database(target, content.removeprefix(_DATABASE))
            else:
                target.write_bytes(content)
            written.append(target)
    return sorted(set(written))


def _packed(path: Path) -> bytes:
    data = path.read_bytes()
    if not data.startswith(_SQLITE):
        return data
    lines: list[Any] = []
    with closing(sqlite3.connect(path)) as database:
        tables = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
        for name, statement in tables:
            lines.append(statement)
            rows = database.execute(f'SELECT * FROM "{name}"')
            columns = [column[0] for column in rows.description]
            lines += [{"table": name, "row": dict(zip(columns, map(_value, row), strict=True))} for row in rows]
    return _DATABASE + b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def _make_database(path: Path, text: bytes) -> None:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("PRAGMA synchronous = OFF")
        for line in text.split(b"\n")[:400]:
            with suppress(ValueError, sqlite3.Error, sqlite3.Warning, RecursionError, OverflowError):
                _execute(database, json.loads(line))
        database.commit()


def _execute(database: sqlite3.Connection, line: Any) -> None:
    if isinstance(line, str) and line.upper().startswith("CREATE TABLE"):
        database.execute(line)
    elif isinstance(line, dict) and isinstance(line.get("row"), dict):
        names = ", ".join('"' + name.replace('"', "") + '"' for name in line["row"])
        values = [_cell(value) for value in line["row"].values()]
        marks = ", ".join("?" * len(values))
        table = str(line.get("table")).replace('"', "")
        database.execute(f'INSERT OR REPLACE INTO "{table}" ({names}) VALUES ({marks})', values)


def _value(value: Any) -> Any:
    return {"hex": value.hex()} if isinstance(value, bytes) else value


def _cell(value: Any) -> Any:
    if isinstance(value, dict) and isinstance(value.get("hex"), str):
        return bytes.fromhex(value["hex"])
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return value if isinstance(value, int | float | None) else json.dumps(value)
