"""A file that was written of a log, and one thing in it changed behind the writer's back: the check finds it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import EXAMPLES
from trailbook.checking import compare_counted, count
from trailbook.comparison import Comparison
from trailbook.stores import survey
from trajectories import read_again, write

LOG = EXAMPLES / "claude_code" / "projects" / "-home-sam-orchard" / "4b7d9a10-52c3-4e8f-9a61-0c5d7e2f1a01.jsonl"
"""Two calls of one message, a picture in a result, thinking, a subagent, tokens by message."""

Change = Callable[[Any], None]


def compared(format_name: str, folder: Path, change: Change, **how: Any) -> Comparison:
    """The log and the file that is written of it, after a change."""
    (found,) = survey([LOG]).chats
    path = write([read_again(found)], format_name, folder, **how)
    assert path is not None
    value = json.loads(path.read_text())
    before = json.dumps(value)
    change(value)
    assert json.dumps(value) != before
    path.write_text(json.dumps(value) + "\n")
    (again,) = survey([path]).chats
    return compare_counted(count(found), count(again))


def swap(one: Any, other: Any, key: Any) -> None:
    assert one[key] != other[key]
    one[key], other[key] = other[key], one[key]


# --- where things stand in each format


def atif_parallel(value: Any) -> Any:
    return next(step for step in value["steps"] if len(step.get("tool_calls", [])) > 1)


def openai_parallel(value: Any) -> Any:
    return next(message for message in value["messages"] if len(message.get("tool_calls", [])) > 1)


def openai_results(value: Any) -> list[Any]:
    ids = [call["id"] for call in openai_parallel(value)["tool_calls"]]
    return [message for message in value["messages"] if message.get("tool_call_id") in ids]


def sharegpt_parallel(value: Any) -> int:
    turns = value["conversations"]
    return next(
        at for at, turn in enumerate(turns) if turn["from"] == "gpt" and turn["value"].count("<tool_call>\n") > 1
    )


def sharegpt_edit(which: int, pattern: str, new: str) -> Change:
    """Change the first match in the turn of parallel calls (0) or of their results (1)."""

    def change(value: Any) -> None:
        turn = value["conversations"][sharegpt_parallel(value) + which]
        turn["value"] = re.sub(pattern, new, turn["value"], count=1, flags=re.DOTALL)

    return change


def records(value: Any, role: str) -> list[Any]:
    return [record for record in value if record["role"] == role]


def calls_of_records(value: Any) -> list[Any]:
    return [record for record in value if "tool_calls" in record]


def put(items: Any, key: Any, new: Any) -> None:
    items[key] = new


def cut(arguments: str) -> str:
    parsed = json.loads(arguments)
    key = next(key for key, item in parsed.items() if isinstance(item, str) and len(item) > 2)
    return json.dumps(parsed | {key: parsed[key][:-2]})


CALL = r"<tool_call>\n[^\n]*\n</tool_call>\n?"
MUTATIONS: dict[str, dict[str, Change]] = {
    "swap two results": {
        "atif": lambda value: swap(*atif_parallel(value)["observation"]["results"][:2], "content"),
        "openai": lambda value: swap(*openai_results(value)[:2], "content"),
        "sharegpt": sharegpt_edit(1, r'(?<="content": )(.*?)(?=\}\n)(.*?"content": )(.*?)(?=\}\n)', r"\3\2\1"),
        "trajectory-v1": lambda value: swap(*records(value, "tool")[:2], "content"),
    },
    "hang two results on each other's calls": {
        "atif": lambda value: swap(*atif_parallel(value)["observation"]["results"][:2], "source_call_id"),
        "openai": lambda value: swap(*openai_results(value)[:2], "tool_call_id"),
        "trajectory-v1": lambda value: swap(*records(value, "tool")[:2], "tool_call_id"),
    },
    "drop a call": {
        "atif": lambda value: atif_parallel(value)["tool_calls"].pop(),
        "openai": lambda value: openai_parallel(value)["tool_calls"].pop(),
        "sharegpt": sharegpt_edit(0, CALL, ""),
        "trajectory-v1": lambda value: value.remove(calls_of_records(value)[1]),
    },
    "drop a result": {
        "atif": lambda value: atif_parallel(value)["observation"]["results"].pop(),
        "openai": lambda value: value["messages"].remove(openai_results(value)[0]),
        "sharegpt": sharegpt_edit(1, r"<tool_response>.*?</tool_response>\n?", ""),
        "trajectory-v1": lambda value: value.remove(records(value, "tool")[0]),
    },
    "cut an argument": {
        "atif": lambda value: put(
            atif_parallel(value)["tool_calls"][0],
            "arguments",
            json.loads(cut(json.dumps(atif_parallel(value)["tool_calls"][0]["arguments"]))),
        ),
        "openai": lambda value: put(
            openai_parallel(value)["tool_calls"][0]["function"],
            "arguments",
            cut(openai_parallel(value)["tool_calls"][0]["function"]["arguments"]),
        ),
        "sharegpt": sharegpt_edit(0, r'..(?="\}\}\n</tool_call>)', ""),
        "trajectory-v1": lambda value: put(
            calls_of_records(value)[0]["tool_calls"][0],
            "args",
            cut(calls_of_records(value)[0]["tool_calls"][0]["args"]),
        ),
    },
    "rename a tool": {
        "atif": lambda value: put(atif_parallel(value)["tool_calls"][0], "function_name", "Open"),
        "openai": lambda value: put(openai_parallel(value)["tool_calls"][0]["function"], "name", "Open"),
        "sharegpt": sharegpt_edit(0, r'(?<="name": ")\w+', "Open"),
        "trajectory-v1": lambda value: put(calls_of_records(value)[0]["tool_calls"][0], "name", "Open"),
    },
    "double a token count": {
        "atif": lambda value: put(
            atif_parallel(value)["metrics"],
            "completion_tokens",
            2 * atif_parallel(value)["metrics"]["completion_tokens"],
        ),
    },
    "double a total": {
        "atif": lambda value: put(
            value["final_metrics"], "total_prompt_tokens", 2 * value["final_metrics"]["total_prompt_tokens"]
        ),
    },
    "call a failure a success": {
        "atif": lambda value: put(
            next(
                result["extra"]
                for step in value["steps"]
                for result in step.get("observation", {}).get("results", [])
                if result.get("extra", {}).get("is_error")
            ),
            "is_error",
            False,
        ),
        "trajectory-v1": lambda value: put(
            next(record for record in records(value, "tool") if record.get("ok") is False), "ok", True
        ),
    },
    "drop a thought": {
        "atif": lambda value: next(step for step in value["steps"] if "reasoning_content" in step).pop(
            "reasoning_content"
        ),
        "sharegpt": lambda value: put(
            thinking := next(
                turn
                for turn in value["conversations"][1:]
                if "<think>\n</think>" not in turn["value"] and turn["from"] == "gpt"
            ),
            "value",
            re.sub(r"<think>.*?</think>", "<think>\n</think>", thinking["value"], flags=re.DOTALL),
        ),
        "trajectory-v1": lambda value: value.remove(records(value, "reasoning")[0]),
    },
    "drop an answer": {
        "atif": lambda value: put(
            [step for step in value["steps"] if step["source"] == "agent" and step["message"]][-1], "message", ""
        ),
        "openai": lambda value: put(
            next(each for each in value["messages"] if each["role"] == "assistant" and each["content"]), "content", None
        ),
        "sharegpt": lambda value: value["conversations"].pop(),
        "trajectory-v1": lambda value: value.remove(
            [record for record in records(value, "assistant") if record["content"]][-1]
        ),
    },
    "drop a subagent": {
        "atif": lambda value: value.pop("subagent_trajectories"),
    },
    "drop a call of a subagent": {
        "atif": lambda value: next(
            step for step in value["subagent_trajectories"][0]["steps"] if "tool_calls" in step
        ).pop("tool_calls"),
    },
}
WITH_IMAGES: dict[str, Change] = {
    "atif": lambda value: put(
        next(
            result
            for step in value["steps"]
            for result in step.get("observation", {}).get("results", [])
            if isinstance(result["content"], list)
        ),
        "content",
        "Here:",
    ),
    "openai": lambda value: value["messages"].remove(
        next(
            message
            for message in value["messages"]
            if message["role"] == "user" and isinstance(message["content"], list)
        )
    ),
    "trajectory-v1": lambda value: put(
        picture := next(record for record in records(value, "tool") if "data:image" in record["content"]),
        "content",
        re.sub(r"data:image\S+", "", picture["content"]),
    ),
}


@pytest.mark.parametrize(("what", "format_name"), [(what, name) for what, each in MUTATIONS.items() for name in each])
def test_the_check_finds_the_change(what: str, format_name: str, tmp_path: Path) -> None:
    assert not compared(format_name, tmp_path, MUTATIONS[what][format_name]).complete


@pytest.mark.parametrize("format_name", WITH_IMAGES)
def test_the_check_finds_a_picture_that_is_gone(format_name: str, tmp_path: Path) -> None:
    comparison = compared(format_name, tmp_path, WITH_IMAGES[format_name], images=True)
    assert "image" in {loss.kind for loss in comparison.losses}


def test_the_check_finds_a_picture_on_another_result(tmp_path: Path) -> None:
    def move(value: Any) -> None:
        results = [result for step in value["steps"] for result in step.get("observation", {}).get("results", [])]
        owner = next(result for result in results if isinstance(result["content"], list))
        other = next(result for result in results if isinstance(result["content"], str) and result["content"])
        picture = next(part for part in owner["content"] if part["type"] == "image")
        owner["content"].remove(picture)
        other["content"] = [{"type": "text", "text": other["content"]}, picture]

    comparison = compared("atif", tmp_path, move, images=True)
    assert [loss.kind for loss in comparison.losses] == ["image"]


def test_the_check_finds_doubled_tokens_beside_a_trajectory(tmp_path: Path) -> None:
    (found,) = survey([LOG]).chats
    path = write([read_again(found)], "trajectory-v1", tmp_path)
    assert path is not None
    beside = path.with_name("written.meta.json")
    about = json.loads(beside.read_text())
    counted = next(message for message in about["messages"] if "usage" in message)
    counted["usage"]["output_tokens"] *= 2
    beside.write_text(json.dumps(about) + "\n")
    (again,) = survey([path]).chats
    assert "token" in {loss.kind for loss in compare_counted(count(found), count(again)).losses}
