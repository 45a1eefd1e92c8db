"""ShareGPT in its two dialects: Hermes' and LLaMA-Factory's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from small_chats import PICTURE, START, asked, called, chat, returned, said, thought
from trailbook.chat import Message, Noted, Text, Tool, Usage
from trailbook.writers.sharegpt import write_sharegpt
from trailbook.writers.written import Options, Written

RUN = [
    asked("Fix it."),
    thought("Two at once.", "m1"),
    said("Looking.", "m1"),
    called("c1", "m1", arguments={"path": "ä.py", "n": 12345678901234567890}),
    called("c2", "m1", "read", raw="not {JSON"),
    returned("c2", '{"b":1, "a": [1.50]}', ok=False),
    returned("c1", "first"),
    said("Fixed.", "m2"),
]


def written(*events: Any, dialect: str = "hermes", **more: Any) -> tuple[dict[str, Any], Written]:
    made = write_sharegpt([chat(*events, **more)], Options("file.jsonl", sharegpt_dialect=dialect))
    return json.loads(made.data), made


def turns(*events: Any, dialect: str = "hermes", **more: Any) -> list[tuple[str, str]]:
    found = [(turn["from"], turn["value"]) for turn in written(*events, dialect=dialect, **more)[0]["conversations"]]
    return found[1:] if dialect == "hermes" else found


def test_hermes_has_thinking_calls_and_results_in_the_words() -> None:
    assert turns(*RUN) == [
        ("human", "Fix it."),
        (
            "gpt",
            "<think>\nTwo at once.\n</think>\nLooking.\n"
            '<tool_call>\n{"name": "run", "arguments": {"path": "ä.py", "n": 12345678901234567890}}\n</tool_call>\n'
            '<tool_call>\n{"name": "read", "arguments": {"_raw": "not {JSON"}}\n</tool_call>',
        ),
        # In the order of the calls, under their true names, though they came the other way round.
        (
            "tool",
            '<tool_response>\n{"tool_call_id": "c1", "name": "run", "content": "first"}\n</tool_response>\n'
            '<tool_response>\n{"tool_call_id": "c2", "name": "read", "content": {"b": 1, "a": [1.5]}}\n'
            "</tool_response>",
        ),
        ("gpt", "<think>\n</think>\nFixed."),
    ]


def test_hermes_record_says_when_with_which_model_and_whether_it_ended_well() -> None:
    record, made = written(*RUN, started=START, models=["large", "small"], completed=False, tools=[Tool("run", "Run.")])
    assert list(record) == ["conversations", "timestamp", "model", "completed"]
    assert (record["timestamp"], record["model"], record["completed"]) == ("2026-10-08T09:00:00.000Z", "small", False)
    system = record["conversations"][0]["value"]
    tools = json.loads(system.split("\n<tools>\n")[1].split("\n</tools>\n")[0])
    assert tools == [
        {"name": "run", "description": "Run.", "parameters": {"type": "object"}, "required": None},
        {"name": "read", "description": "", "parameters": {"type": "object"}, "required": None},
    ]
    assert list(written(asked(), said("x"))[0]) == ["conversations", "model"]
    assert made.not_carried == {}


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([asked("Q"), said("<think>\nin the words\n</think>\nA")], "<think>\nin the words\n</think>\nA"),
        ([asked("Q"), thought("T")], "<think>\nT\n</think>"),
        (
            [asked("Q"), said("<REASONING_SCRATCHPAD>T</REASONING_SCRATCHPAD>\nA")],
            "<think>T</think>\nA",
        ),
        (
            [asked("Q"), called("c"), returned("c", "")],
            '<think>\n</think>\n<tool_call>\n{"name": "run", "arguments": {"of": "c"}}\n</tool_call>',
        ),
    ],
)
def test_every_reply_of_hermes_thinks(events: list[Any], expected: str) -> None:
    assert turns(*events)[1] == ("gpt", expected)


def test_hermes_keeps_unanswered_prompts_and_context_where_they_stand() -> None:
    events = [asked("Q"), Noted(topic="system", text="S"), said("A"), asked("", injected="hook"), asked("R")]
    assert [turn for turn in turns(*events) if turn[0] == "human"] == [
        ("human", "Q"),
        ("human", "S"),
        ("human", ""),
        ("human", "R"),
    ]


def test_llamafactory_has_turns_for_calls_and_results() -> None:
    record, made = written(*RUN, dialect="llamafactory", system_prompt="Be brief.")
    assert list(record) == ["conversations", "system", "tools"]
    assert record["system"] == "Be brief."
    assert [tool["name"] for tool in json.loads(record["tools"])] == ["run", "read"]
    assert [(turn["from"], turn["value"]) for turn in record["conversations"]] == [
        ("human", "Fix it."),
        (
            "function_call",
            "<think>\nTwo at once.\n</think>\n\nLooking.\n<tool_call>\n"
            '[{"name": "run", "arguments": {"path": "ä.py", "n": 12345678901234567890}}, '
            '{"name": "read", "arguments": {"_raw": "not {JSON"}}]\n</tool_call>',
        ),
        ("observation", '["first", "{\\"b\\":1, \\"a\\": [1.50]}"]'),
        ("gpt", "Fixed."),
    ]
    assert json.loads(made.sidecars["file-llamafactory/dataset_info.json"]) == {
        "chats": {
            "file_name": "../file.jsonl",
            "formatting": "sharegpt",
            "columns": {"messages": "conversations", "system": "system", "tools": "tools"},
            "tags": {
                "role_tag": "from",
                "content_tag": "value",
                "user_tag": "human",
                "assistant_tag": "gpt",
                "observation_tag": "observation",
                "function_tag": "function_call",
                "system_tag": "system",
            },
        }
    }


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        # One call alone is its JSON alone, and its result its words alone.
        (
            [called("c"), returned("c", "r"), said("A")],
            [("function_call", '{"name": "run", "arguments": {"of": "c"}}'), ("observation", "r"), ("gpt", "A")],
        ),
        (
            [called("c"), returned("c", "r"), asked("No."), said("A")],
            [
                ("function_call", '{"name": "run", "arguments": {"of": "c"}}'),
                ("observation", "r\n\n[The person wrote then:]\nNo."),
                ("gpt", "A"),
            ],
        ),
        # Words that speak of the tag stand behind the calls: the first such block is what is taken for them.
        (
            [
                said("A <tool_call> is made.", "m"),
                called("c", "m", arguments={"x": "</tool_call>"}),
                returned("c", "r"),
            ],
            [
                (
                    "function_call",
                    '<tool_call>\n{"name": "run", "arguments": {"x": "\\u003c/tool_call>"}}\n</tool_call>\n'
                    "A <tool_call> is made.",
                )
            ],
        ),
    ],
)
def test_llamafactory_takes_calls_as_json(events: list[Any], expected: list[tuple[str, str]]) -> None:
    assert turns(asked("Q"), *events, dialect="llamafactory")[1:] == expected


def test_what_has_no_place_is_counted() -> None:
    events = [
        asked("Q", parts=[PICTURE]),
        called("c", "m"),
        returned("c", parts=[Text("r"), PICTURE]),
        returned(None, "o"),
        said("A"),
    ]
    more: dict[str, Any] = {
        "messages": {"m": Message(usage=Usage(1, 1))},
        "subagents": [chat(asked(), said("x"), id="sub")],
    }
    assert turns(*events)[0] == ("human", "Q\n[image: image/png, 13 bytes]")
    _, made = written(*events, **more)
    assert made.not_carried == {"subagent": 1, "token": 1, "orphan": 1}
    _, made = written(*events, asked("And?"), dialect="llamafactory", **more)
    assert made.not_carried == {"subagent": 1, "token": 1, "orphan": 1, "prompt": 1}
    alone = write_sharegpt([chat(asked("Hello?"))], Options(sharegpt_dialect="llamafactory"))
    assert (alone.data, alone.sidecars) == (b"", {})
