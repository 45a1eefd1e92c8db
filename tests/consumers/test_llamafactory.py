"""What LLaMA-Factory makes of its dialect of ShareGPT and of OpenAI chats. It drops an example it does not like."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from consumers.asking import ask, calls_of, written
from trailbook.readers import Found
from trailbook.writers.tool_names import valid_name
from trajectories import chats, read_again, write

FORMATS: dict[str, dict[str, str]] = {"sharegpt": {"sharegpt_dialect": "llamafactory"}, "openai": {}}


def asked(paths: list[Path], format_name: str, cache: Path) -> list[list[dict[str, Any]]]:
    """The examples of each file. Its own dialect has a folder beside it that says what it is."""
    requests = [
        {"path": str(path)} if format_name == "openai" else {"info": str(path.with_name(f"{path.stem}-llamafactory"))}
        for path in paths
    ]
    requests = [request | {"cache": str(cache)} for request in requests]
    return ask("llamafactory", "read_llamafactory.py", requests)  # type: ignore[no-any-return]


@pytest.mark.parametrize("format_name", FORMATS)
def test_no_example_comes_out_empty_and_each_has_its_calls(format_name: str, tmp_path: Path) -> None:
    files = written(format_name, tmp_path / "files", **FORMATS[format_name])
    for (path, found), examples in zip(files.items(), asked(list(files), format_name, tmp_path), strict=True):
        (example,) = examples
        assert example["_prompt"], path.name
        assert len(example["_response"]) == 1, path.name
        told = [call for turn in example["calls"] for call in re.findall(r"<tool_call>\n(.*)\n</tool_call>", turn)]
        assert [_call(json.loads(call)) for call in told] == _logged(found, format_name), path.name
        assert all(json.dumps(name, ensure_ascii=False) in example["tools"] for name, _ in _logged(found, format_name))


@pytest.mark.parametrize("format_name", FORMATS)
def test_a_file_of_all_chats_loses_none(format_name: str, tmp_path: Path) -> None:
    all_chats = [read_again(found) for found in chats()]
    path = write(all_chats, format_name, tmp_path, "all", **FORMATS[format_name])
    assert path is not None
    (examples,) = asked([path], format_name, tmp_path)
    assert len(examples) == path.read_bytes().count(b"\n") > len(all_chats) / 2
    assert [example for example in examples if not example["_prompt"]] == []


def _call(call: dict[str, Any]) -> tuple[str, Any]:
    arguments = call["arguments"]
    return call["name"], json.loads(arguments) if isinstance(arguments, str) else arguments


def _logged(found: Found, format_name: str) -> list[tuple[str, Any]]:
    calls = calls_of(read_again(found))
    return [(valid_name(name) if format_name == "openai" else name, arguments) for name, arguments in calls]
