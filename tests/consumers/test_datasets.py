"""Files of many chats, loaded as tables by `datasets`: the newest, and the older one that LLaMA-Factory asks for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from consumers.asking import ask
from trajectories import chats, read_again, write

FILES: dict[str, dict[str, Any]] = {
    "openai": {},
    "openai images": {"images": True},
    "sharegpt": {},
    "sharegpt llamafactory": {"sharegpt_dialect": "llamafactory"},
    "atif": {},
}


def test_every_chat_is_a_row_with_all_that_was_written(tmp_path: Path) -> None:
    paths = {name: _batch(name, tmp_path) for name in FILES}
    tables = ask("datasets", "read_datasets.py", {"paths": list(map(str, paths.values())), "cache": str(tmp_path)})
    for (name, path), table in zip(paths.items(), tables, strict=True):
        records = [json.loads(line) for line in path.read_bytes().splitlines()]
        assert len(records) > len(chats()) / 2
        assert [_bare(row) for row in table] == [_bare(record) for record in records], name


@pytest.mark.parametrize("name", ["openai", "sharegpt", "sharegpt llamafactory"])
def test_an_older_one_has_the_same_messages(name: str, tmp_path: Path) -> None:
    path = _batch(name, tmp_path)
    (table,) = ask("llamafactory", "read_datasets.py", {"paths": [str(path)], "cache": str(tmp_path)})
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    key = "messages" if name == "openai" else "conversations"
    assert [_bare(row[key]) for row in table] == [_bare(record[key]) for record in records]


def _batch(name: str, folder: Path) -> Path:
    format_name = name.partition(" ")[0]
    path = write([read_again(found) for found in chats()], format_name, folder / name.replace(" ", "-"), **FILES[name])
    assert path is not None
    return path


def _bare(value: Any) -> Any:
    """A value without what is null: in a table every row has every column. It reads fractions a little off."""
    if isinstance(value, float):
        return round(value, 12)
    if isinstance(value, dict):
        return {key: _bare(item) for key, item in value.items() if item is not None}
    return [_bare(item) for item in value] if isinstance(value, list) else value
