"""ATIF as Harbor, Pier and the `atif` package read it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from consumers.asking import ask, calls_of, written
from trailbook.checking import count
from trailbook.ledger import Ledger
from trajectories import chats, read_again, write


def asked(requests: list[dict[str, Any]]) -> list[Any]:
    return ask("atif", "read_atif.py", requests)  # type: ignore[no-any-return]


@pytest.mark.parametrize("images", [False, True], ids=["marks", "images"])
@pytest.mark.parametrize("version", ["1.8", "1.7"])
def test_every_document_is_valid(version: str, images: bool, tmp_path: Path) -> None:
    files = written("atif", tmp_path, atif_version=version, images=images)
    answers = asked([{"kind": "problems", "path": str(path), "old": version == "1.7"} for path in files])
    assert {path.name: said for path, said in zip(files, answers, strict=True) if said} == {}


def test_every_line_of_a_batch_is_valid(tmp_path: Path) -> None:
    path = write([read_again(found) for found in chats()], "atif", tmp_path, atif_version="1.7")
    (said,) = asked([{"kind": "lines", "path": str(path), "old": True}])
    assert len(said) == len(chats())
    assert [each for each in said if each] == []


def test_harbor_makes_a_conversation_with_every_call_of_every_document(tmp_path: Path) -> None:
    files = written("atif", tmp_path)
    answers = asked([{"kind": "conversation", "path": str(path)} for path in files])
    for (path, found), turns in zip(files.items(), answers, strict=True):
        told = [(call["name"], call["arguments"]) for call in _calls_in(turns)]
        assert told == calls_of(read_again(found)), path.name


def test_harbor_adds_up_the_tokens_of_the_log(tmp_path: Path) -> None:
    files = written("atif", tmp_path)
    answers = asked([{"kind": "usage", "path": str(path)} for path in files])
    for (path, found), models in zip(files.items(), answers, strict=True):
        own, below = count(found).ledger, list(_below(count(found).ledger))
        told = {key: sum(each[key] or 0 for each in models.values()) for key in KEYS}
        document = json.loads(path.read_text())
        if not _names_models(document):
            continue  # Harbor counts by model, and leaves out what is of none.
        aside = list(_in_no_step(document))
        for key, (field, name) in KEYS.items():
            logged = sum(getattr(ledger.usage, field) or 0 for ledger in (own, *below) if ledger.usage)
            # What a branch cost that was left is in no step: Harbor cannot know of it.
            assert told[key] + sum(each.get(name, 0) for each in aside) == logged, path.name


KEYS = {
    "n_input_tokens": ("prompt_tokens", "prompt_tokens"),
    "n_output_tokens": ("output_tokens", "completion_tokens"),
    "n_cache_tokens": ("cached_tokens", "cached_tokens"),
}


def _names_models(document: dict[str, Any]) -> bool:
    counted = [step for step in document["steps"] if "metrics" in step]
    return "model_name" in document["agent"] or all("model_name" in step for step in counted)


def _in_no_step(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield document["final_metrics"].get("extra", {}).get("in_no_step", {})
    for child in document.get("subagent_trajectories", []):
        yield from _in_no_step(child)


def _calls_in(turns: list[dict[str, str]]) -> Iterator[dict[str, Any]]:
    for turn in turns:
        blocks = re.findall(r"<tool_call>\n(\{.*\})\n</tool_call>", turn["value"])
        yield from (json.loads(block) for block in blocks if turn["from"] == "gpt")


def _below(ledger: Ledger) -> Iterator[Ledger]:
    for subagent in ledger.subagents:
        yield subagent
        yield from _below(subagent)
