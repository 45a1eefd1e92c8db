"""trajectory-v1 as agent-trajectory reads it, and its own view of the ATIF that is written of the same chat."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from conftest import skip_unless_required
from consumers.asking import ask, written

SCHEMA = json.loads((Path(__file__).parent.parent / "data" / "trajectory-v1.schema.json").read_text())

Records = list[dict[str, Any]]


def asked(kind: str, chats: list[Any]) -> list[Any]:
    if shutil.which("node") is None:
        skip_unless_required("consumers", "Node is not installed")
    return ask("agent_trajectory", "read_trajectory_v1.py", {"kind": kind, "chats": chats})  # type: ignore[no-any-return]


@pytest.mark.parametrize("images", [False, True], ids=["marks", "images"])
def test_every_chat_is_valid(images: bool, tmp_path: Path) -> None:
    chats = {path: json.loads(path.read_text()) for path in written("trajectory-v1", tmp_path, images=images)}
    validator = jsonschema.Draft202012Validator(SCHEMA)
    assert [path.name for path, records in chats.items() if not validator.is_valid(records)] == []
    # A chat in which one side says nothing is a part of one to its reader.
    requests = [{"records": records, "partial": not _both(records)} for records in chats.values()]
    said = asked("validate", requests)
    assert {path.name: problem for path, problem in zip(chats, said, strict=True) if problem} == {}
    assert sum(request["partial"] for request in requests) < len(requests) / 4


def test_two_writers_agree_through_another_reader(tmp_path: Path) -> None:
    """Its adapter reads our ATIF 1.7 and comes to the records that are written here of the same chat."""
    ours = {path.stem: json.loads(path.read_text()) for path in written("trajectory-v1", tmp_path / "records")}
    documents = written("atif", tmp_path / "documents", atif_version="1.7")
    converted = asked("convert", [path.read_text() for path in documents])
    theirs = {path.stem: records for path, records in zip(documents, converted, strict=True)}
    assert ours.keys() == theirs.keys()
    # It refuses some documents in which the model says nothing, and no other.
    assert [name for name in theirs if theirs[name] is None and _replied(ours[name])] == []
    for name, records in ours.items():
        if theirs[name] is None:
            continue
        # What no person wrote is an observation here, and there a user's or left out as noise.
        aside = {record["content"] for record in records if record["role"] in ("observation", "system")}
        assert _plain(records, aside) == _plain(theirs[name], aside), name


def _both(records: Records) -> bool:
    return {"user", "assistant"} <= {record["role"] for record in records}


def _replied(records: Records) -> bool:
    return any(record["role"] in ("assistant", "reasoning") for record in records)


def _plain(records: Records, aside: set[str]) -> Records:
    """Records without times and what the other writer has no place for; arguments as JavaScript has them."""
    plain = []
    for record in records:
        if record["role"] == "meta" or (
            record["role"] in ("user", "observation", "system") and record["content"] in aside
        ):
            continue
        kept = {key: value for key, value in record.items() if key not in ("timestamp", "ok")}
        if "tool_calls" in kept:
            kept["tool_calls"] = [
                {**call, "args": json.loads(call["args"], parse_int=float)} for call in kept["tool_calls"]
            ]
        plain.append(kept)
    return plain
