"""Puts words into the strings of logs, field by field, whatever the format: JSON, JSON lines, TOML, SQLite, text.

A field is where strings of one kind stand, such as `*.jsonl assistant.message.content[tool_use].name`. Strings that
spell JSON are fields within a field. Equal strings become equal words, so that what belongs together stays together.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

Change = Callable[[str, str], str]
"""Given a field and a string that stands there: what is to stand there."""

_KINDS = ("type", "kind", "role", "event", "record_type", "from", "source")
_SQLITE = b"SQLite format 3\0"


def plant(log: Path, planted: Path, change: Change) -> None:
    """Copy a file or a folder with logs, with every string changed."""
    if log.is_dir():
        for path in sorted(log.iterdir()):
            plant(path, planted / path.name, change)
        return
    planted.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(log, planted)
    data = log.read_bytes()
    name = f"*{log.suffix}" if log.suffix == ".jsonl" else log.name
    if data.startswith(_SQLITE):
        _plant_database(planted, change)
    elif (changed := _changed(data, log.suffix, name, change)) is not None:
        planted.write_bytes(changed)


def fields_of(log: Path) -> dict[str, set[str]]:
    """Every field of a file or a folder with logs, and the strings that stand there."""
    fields: dict[str, set[str]] = {}

    def note(field: str, value: str) -> str:
        fields.setdefault(field, set()).add(value)
        return value

    if log.is_dir():
        for path in sorted(log.iterdir()):
            for field, values in fields_of(path).items():
                fields.setdefault(field, set()).update(values)
        return fields
    data = log.read_bytes()
    name = f"*{log.suffix}" if log.suffix == ".jsonl" else log.name
    if data.startswith(_SQLITE):
        with closing(sqlite3.connect(f"file:{log}?immutable=1", uri=True)) as database:
            for field, _where, value in _cells(database):
                _walk(value, field, note)
    else:
        _changed(data, log.suffix, name, note)
    return fields


# --- files


def _changed(data: bytes, ending: str, name: str, change: Change) -> bytes | None:
    if ending == ".toml":
        return _toml(_walk(tomllib.loads(data.decode("utf-8")), name, change)).encode("utf-8", "replace")
    if ending == ".txt":
        return change(f"{name} text", data.decode("utf-8")).encode("utf-8", "replace")
    try:
        documents = [json.loads(data)]
    except ValueError:
        try:
            documents = [json.loads(line) for line in data.splitlines() if line.strip()]
        except (ValueError, UnicodeDecodeError):
            return None
        return b"".join(json.dumps(_walk(each, _labelled(name, each), change)).encode() + b"\n" for each in documents)
    return json.dumps(_walk(documents[0], name, change), indent=2).encode()


def _toml(table: dict[str, Any], above: str = "") -> str:
    """A table as TOML. Half of a surrogate pair cannot stand in it."""
    lines = [f"{json.dumps(key)} = {_toml_value(value)}" for key, value in table.items() if not isinstance(value, dict)]
    for key, value in table.items():
        if isinstance(value, dict):
            path = f"{above}{json.dumps(key)}"
            lines.append(f"[{path}]\n{_toml(value, path + '.')}")
    return "\n".join(lines) + "\n"


def _toml_value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml_value, value))}]"
    if isinstance(value, str):
        return json.dumps(_whole(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)


def _plant_database(path: Path, change: Change) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA ignore_check_constraints = on")
        for field, (table, column, row), value in list(_cells(database)):
            words = _whole(_walk(value, field, change))
            if words != value:
                statement = f'UPDATE OR IGNORE "{table}" SET "{column}" = ? WHERE rowid = ?'
                database.execute(statement, (words, row))
        database.commit()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _cells(database: sqlite3.Connection) -> Iterator[tuple[str, tuple[str, str, int], str]]:
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        columns = [row[1] for row in database.execute(f'PRAGMA table_info("{table}")')]
        for column in columns:
            for row, value in database.execute(f'SELECT rowid, "{column}" FROM "{table}"'):
                if isinstance(value, str):
                    yield f"{table}.{column}", (table, column, row), value


def _whole(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


# --- values


def _walk(value: Any, field: str, change: Change) -> Any:
    if isinstance(value, dict):
        return {key: _walk(each, f"{field}.{key}", change) for key, each in value.items()}
    if isinstance(value, list):
        return [_walk(each, _labelled(f"{field}[]", each), change) for each in value]
    if not isinstance(value, str):
        return value
    inside = _spelled(value)
    if inside is not None:
        return json.dumps(_walk(inside, _labelled(f"{field}→", inside), change))
    return change(field, value)


def _spelled(text: str) -> Any:
    if text[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


def _labelled(field: str, value: Any) -> str:
    """The field with the kind of the record that stands there."""
    if not isinstance(value, dict):
        return field
    kinds = [value[name] for name in _KINDS if isinstance(value.get(name), str) and value[name].isprintable()]
    return f"{field} {'/'.join(kind[:30] for kind in kinds[:2])}"
