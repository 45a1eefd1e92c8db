"""`export --format` and `build --format`: what is written, what lies beside it, and the line that accounts for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import EXAMPLES
from trailbook.cli import run
from trailbook.failures import NOTHING, WORK_LOST
from trailbook.writers import atif

LOG = EXAMPLES / "claude_code" / "projects" / "-home-sam-orchard" / "4b7d9a10-52c3-4e8f-9a61-0c5d7e2f1a01.jsonl"
NAME = "Claude Code – Fix the price format – "


def exported(folder: Path, *options: str, log: Path = LOG) -> int:
    return run(["export", str(log), "--out", str(folder), "--yes", "--no-redact", "--tz", "UTC", *options])


def below(folder: Path) -> list[str]:
    """The files of a folder, without the day on which they were saved."""
    return sorted(
        str(path.relative_to(folder)).partition(" – 20")[0] + "…" + path.suffix for path in folder.rglob("*.*")
    )


# The log: 9 calls and 9 results of its own and 2 of its subagent, 2 pictures, 2 thoughts, 2 pieces on a branch that was
# left; 142,968 tokens, and 31,697 of its subagent.
LINES = {
    ("openai",): "9 of 9 calls, 9 of 9 results; "
    "not carried: 2 thoughts, 2 images, 9 outcomes, 142,968 tokens, 1 subagent, ",
    ("openai", "--images"): "9 of 9 calls, 9 of 9 results; "
    "not carried: 2 thoughts, 9 outcomes, 142,968 tokens, 1 subagent, ",
    ("sharegpt",): "9 of 9 calls, 9 of 9 results; not carried: 2 images, 9 outcomes, 142,968 tokens, 1 subagent, ",
    ("sharegpt", "--sharegpt-dialect", "llamafactory"): "9 of 9 calls, 9 of 9 results; "
    "not carried: 2 images, 9 outcomes, 142,968 tokens, 1 subagent, ",
    ("atif",): "11 of 11 calls, 11 of 11 results, 174,665 tokens; not carried: 2 images, ",
    ("atif", "--images"): "11 of 11 calls, 11 of 11 results, 174,665 tokens; not carried: ",
    ("atif", "--atif-version", "1.7"): "11 of 11 calls, 11 of 11 results, 174,665 tokens; not carried: 2 images, ",
    ("trajectory-v1",): "9 of 9 calls, 9 of 9 results, 142,968 tokens; not carried: 2 images, 1 subagent, ",
    ("trajectory-v1", "--images"): "9 of 9 calls, 9 of 9 results, 142,968 tokens; not carried: 1 image, 1 subagent, ",
}


@pytest.mark.parametrize("options", LINES, ids=" ".join)
def test_an_export_says_what_is_in_it(
    options: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exported(tmp_path, "--format", *options) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if " calls, " in line]
    assert line.startswith(NAME)
    assert line.partition(": ")[2] == LINES[options] + "2 pieces beside the active path"


def test_versions_and_dialects_are_what_was_asked_for(tmp_path: Path) -> None:
    exported(tmp_path, "--format", "atif", "--atif-version", "1.7")
    exported(tmp_path, "--format", "sharegpt", "--sharegpt-dialect", "llamafactory")
    (document,) = tmp_path.glob("*.json")
    assert json.loads(document.read_text())["schema_version"] == "ATIF-v1.7"
    (lines,) = tmp_path.glob("*.jsonl")
    assert {turn["from"] for turn in json.loads(lines.read_text())["conversations"]} == {
        "human",
        "gpt",
        "function_call",
        "observation",
    }


def test_what_lies_beside_is_named_after_its_file_and_replaces_nothing(tmp_path: Path) -> None:
    for _ in range(2):
        assert exported(tmp_path, "--format", "atif", "--images") == 0
        assert exported(tmp_path, "--format", "trajectory-v1") == 0
        assert exported(tmp_path, "--format", "sharegpt", "--sharegpt-dialect", "llamafactory") == 0
    files = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    stems = {path.name.removesuffix(".meta.json") for path in files if path.name.endswith(".meta.json")}
    assert len(stems) == 2
    assert {f"{stem}.jsonl" for stem in stems} < {path.name for path in files}
    for folder in (path for path in tmp_path.iterdir() if path.is_dir()):
        owner = folder.name.removesuffix("-images").removesuffix("-llamafactory")
        assert (tmp_path / f"{owner}.json").is_file() or (tmp_path / f"{owner}.jsonl").is_file()
    for document in tmp_path.glob("*.json"):
        if not document.name.endswith(".meta.json"):
            assert f'"path": "{document.stem}-images/' in document.read_text()


def test_a_build_writes_every_format_and_counts_it_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    formats = [option for name in ("openai", "sharegpt", "atif", "trajectory-v1") for option in ("--format", name)]
    status = run(["build", str(EXAMPLES / "conch"), "--out", str(tmp_path / "site"), "--yes", "--images", *formats])
    assert status == 0
    assert "were counted again: nothing of the logs is lost." in capsys.readouterr().out
    names = [path.name for path in (tmp_path / "site" / "trajectories").iterdir() if path.is_file()]
    stems = {name.partition(".")[0] for name in names}
    reports = {path.stem for path in (tmp_path / "site" / "reports").glob("*.html")}
    assert stems <= reports
    for ending in (
        ".openai.jsonl",
        ".sharegpt.jsonl",
        ".atif.json",
        ".trajectory-v1.jsonl",
        ".trajectory-v1.meta.json",
    ):
        assert {f"{stem}{ending}" for stem in stems} <= set(names)


def test_a_writer_that_loses_a_call_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = atif._agent_step

    def lossy(*arguments: Any) -> Any:
        step = whole(*arguments)
        if step and len(step.get("tool_calls", [])) > 1:
            step["tool_calls"].pop()
            step["observation"]["results"].pop()
        return step

    monkeypatch.setattr(atif, "_agent_step", lossy)
    assert exported(tmp_path, "--format", "atif") == WORK_LOST
    said = capsys.readouterr().err
    assert "lost or changed: 3 calls, 3 results" in said
    assert "is missing." in said


def test_a_chat_that_a_format_has_no_place_for_is_no_empty_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "asked.jsonl"
    log.write_text(json.dumps({"messages": [{"role": "user", "content": "Anybody there?"}]}) + "\n")
    (tmp_path / "out").mkdir()
    assert exported(tmp_path / "out", "--format", "openai", log=log) == NOTHING
    assert list((tmp_path / "out").iterdir()) == []
    assert "with no reply in it" in capsys.readouterr().err


def test_a_chat_that_a_writer_forgets_in_a_batch_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = atif.conversations_of
    seen: list[str] = []

    def forgetful(chat: Any, *arguments: Any) -> Any:
        seen.append(chat.id)
        return iter(()) if len(seen) == 1 else whole(chat, *arguments)

    monkeypatch.setattr(atif, "conversations_of", forgetful)
    assert exported(tmp_path, "--format", "atif", log=EXAMPLES / "conch") == WORK_LOST
