"""A trajectory written here is read as the chat that it was written of: written again, it has the same bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import EXAMPLES
from trailbook.readers import Found
from trailbook.stores import survey
from trajectories import read_again, write

WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "atif": ("atif", {}),
    "atif images": ("atif", {"images": True}),
    "trajectory-v1": ("trajectory-v1", {}),
    "trajectory-v1 images": ("trajectory-v1", {"images": True}),
    "openai": ("openai", {}),
    "sharegpt": ("sharegpt", {}),
    "sharegpt llamafactory": ("sharegpt", {"sharegpt_dialect": "llamafactory"}),
}

EXAMPLE_CHATS = survey([EXAMPLES]).chats


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("found", EXAMPLE_CHATS, ids=lambda found: f"{found.reader}-{found.id[:16]}")
def test_what_is_written_again_has_the_same_bytes(found: Found, way: str, tmp_path: Path) -> None:
    format_name, how = WAYS[way]
    first, second = tmp_path / "first", tmp_path / "second"
    path = write([read_again(found)], format_name, first, **how)
    if path is None:
        pytest.skip("the format has no place for the chat")
    (again,) = survey([first]).chats
    write([read_again(again)], format_name, second, **how)
    assert _files(second).keys() == _files(first).keys()
    for name, data in _files(first).items():
        if name.suffix == ".png":
            assert _files(second)[name] == data
        else:
            assert _files(second)[name].decode() == _without_what_was_left_out(data.decode())


def _files(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _without_what_was_left_out(text: str) -> str:
    """A file without its account of what is not in it: who reads the file has nothing of that."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    if not isinstance(value, dict) or ("subagents" not in value and "not_carried" not in value.get("extra", {})):
        return text
    value.pop("subagents", None)
    extra = value.get("extra", {})
    extra.pop("not_carried", None)
    if "extra" in value and not extra:
        value.pop("extra")
    indent = 2 if text.startswith("{\n") else None
    return json.dumps(value, ensure_ascii=False, indent=indent, separators=None if indent else (",", ":")) + "\n"
