"""OpenAI chat files as input."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import EXAMPLES, SHARED
from trailbook.chat import Asked, Called, Image, Returned, Said, text_of
from trailbook.readers import Unreadable
from trajectories import NAMES, count, found, read

PARCELS = EXAMPLES / "openai" / "parcels.jsonl"


def test_every_message_becomes_its_events() -> None:
    chat = read("openai", PARCELS)
    assert [type(event) for event in chat.events] == (
        [Asked, Said, Called, Called, Returned, Returned, Called, Returned, Said, Asked, Said]
    )
    assert [(event.call, text_of(event.parts)) for event in chat.events if isinstance(event, Returned)] == [
        ("call_read", "{name}\n{street}\n{street}\n{city}\n"),
        ("call_test", "1 failed: expected 3 lines, got 4"),
        ("call_edit", "Error: the command is not complete."),
    ]
    assert chat.system_prompt == "You are a careful coding agent."
    assert [tool.name for tool in chat.tools] == ["read_file", "run"]


def test_arguments_that_are_no_json_are_kept_as_they_are() -> None:
    calls = [event for event in read("openai", PARCELS).events if isinstance(event, Called)]
    assert calls[0].arguments == {"path": "labels/template.txt"}
    assert (calls[2].arguments, calls[2].raw) == ({}, '{"command": "sed -i 3d labels/template.txt')


def test_a_picture_in_a_prompt_is_a_picture() -> None:
    asked = [event for event in read("openai", PARCELS).events if isinstance(event, Asked)][1]
    assert asked.text == "Here is what it prints."
    assert [part.media_type for part in asked.parts if isinstance(part, Image)] == ["image/png"]


def test_calls_of_the_old_shape_are_answered_in_order() -> None:
    chat = read("openai", PARCELS, 1)
    called = next(event for event in chat.events if isinstance(event, Called))
    returned = next(event for event in chat.events if isinstance(event, Returned))
    assert (called.name, called.arguments) == ("late", {"days": 2})
    assert (returned.call, returned.linked) == (called.id, "order")
    assert text_of(returned.parts) == '["P-17", "P-20"]'


@pytest.mark.parametrize("shape", ["lines", "array", "document"])
def test_chats_come_in_lines_in_an_array_or_alone(tmp_path: Path, shape: str) -> None:
    chats = [json.loads(line) for line in PARCELS.read_text().splitlines()]
    file = tmp_path / "chats.json"
    if shape == "lines":
        file.write_text("\n".join(map(json.dumps, chats)))
    else:
        file.write_text(json.dumps(chats if shape == "array" else chats[0], indent=1))
    first = ["The parcel labels print the street twice. Find out why and fix it."]
    assert [chat.title for chat in found("openai", file)] == first + ["Which parcels are late?"] * (shape != "document")


@pytest.mark.parametrize(
    "value",
    [
        {"session_id": "s", "messages": [{"role": "user", "content": "x"}]},
        {"messages": [{"role": "user", "content": "x", "timestamp": 1.5}]},
        {"messages": [{"role": "human", "content": "x"}]},
        {"messages": []},
        {"info": {}, "messages": [{"info": {"role": "user"}, "parts": []}]},
        [{"role": "user", "content": "x"}],
    ],
)
def test_a_session_of_an_agent_is_not_taken_for_a_chat(tmp_path: Path, value: object) -> None:
    (tmp_path / "other.json").write_text(json.dumps(value))
    assert found("openai", tmp_path / "other.json") == []


def test_no_log_of_an_agent_is_taken_for_a_trajectory() -> None:
    samples = SHARED / "samples"
    if not samples.is_dir():
        pytest.skip("the samples are not here")
    agents = ("claude-code", "codex", "conch", "gptme", "openclaw")
    files = [file for agent in agents for file in (samples / agent).rglob("*") if file.is_file()]
    files += [file for file in (SHARED / "cases").rglob("*") if file.is_file()]
    assert len(files) > 40
    assert [(file.name, name) for file in files for name in NAMES if found(name, file)] == []


@given(st.lists(st.sampled_from(["keep", "cut", "double"]), min_size=2, max_size=6), st.randoms())
@settings(max_examples=60, deadline=None)
def test_cut_and_doubled_lines_lose_no_other(
    tmp_path_factory: pytest.TempPathFactory, fates: list[str], rng: random.Random
) -> None:
    lines, whole, damaged = [], [], 0
    for number, fate in enumerate(["keep", *fates]):
        line = json.dumps({"messages": [{"role": "user", "content": f"prompt {number}"}]})
        if fate == "cut":
            lines.append(line[: rng.randint(1, len(line) - 1)])
            damaged += 1
        else:
            lines += [line] * (1 + (fate == "double"))
            whole += [f"prompt {number}"] * (1 + (fate == "double"))
    file = tmp_path_factory.mktemp("lines") / "chats.jsonl"
    file.write_text("\n".join(lines) + "\n")
    read_prompts, refused = [], 0
    for number in range(len(found("openai", file))):
        try:
            read_prompts += [event.text for event in read("openai", file, number).events if isinstance(event, Asked)]
        except Unreadable:
            refused += 1
    assert (read_prompts, refused) == (whole, damaged)


def test_a_tool_of_the_custom_kind_takes_a_text(tmp_path: Path) -> None:
    file = tmp_path / "custom.json"
    call = {"id": "c1", "type": "custom", "custom": {"name": "apply_patch", "input": "*** Begin Patch"}}
    answer = {"role": "tool", "tool_call_id": "c1", "content": "Done"}
    file.write_text(json.dumps({"messages": [{"role": "assistant", "content": None, "tool_calls": [call]}, answer]}))
    event = read("openai", file).events[0]
    assert isinstance(event, Called)
    assert (event.name, event.arguments, event.raw) == ("apply_patch", {}, "*** Begin Patch")
    assert [entry.name for entry in count("openai", file).of("call")] == ["apply_patch"]


MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant", "tool", "function"])},
    optional={
        "content": st.none() | st.text(max_size=5) | st.lists(st.none() | st.text(max_size=4), max_size=2),
        "tool_calls": st.none() | st.lists(st.none() | st.fixed_dictionaries({"id": st.none() | st.text(max_size=3)})),
        "tool_call_id": st.none() | st.integers() | st.text(max_size=3),
        "function_call": st.none() | st.text(max_size=3) | st.dictionaries(st.just("name"), st.none()),
        "reasoning_content": st.none() | st.integers() | st.text(max_size=3),
    },
)


@given(st.lists(MESSAGE, min_size=1, max_size=8))
@settings(max_examples=150, deadline=None)
def test_values_of_any_type_are_taken_as_they_come(
    tmp_path_factory: pytest.TempPathFactory, messages: list[dict[str, object]]
) -> None:
    file = tmp_path_factory.mktemp("any") / "any.json"
    file.write_text(json.dumps({"messages": messages}))
    chat, ledger = read("openai", file), count("openai", file)
    assert sum(isinstance(event, Called) for event in chat.events) == len(ledger.of("call"))
    assert sum(isinstance(event, Returned) for event in chat.events) == len(ledger.of("result"))
    assert sum(isinstance(event, Asked) for event in chat.events) == len(ledger.of("prompt"))
