"""OpenAI chats, as fine-tuning reads them."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from small_chats import PICTURE, asked, called, chat, returned, said, thought
from trailbook.chat import Called, Compacted, File, Image, Message, Noted, Text, Tool, Usage
from trailbook.writers.openai import write_openai
from trailbook.writers.tool_names import true_name, valid_name
from trailbook.writers.written import Options, Written
from trajectories import count, read

URL = "data:image/png;base64," + base64.b64encode(PICTURE.data or b"").decode()


def written(*events: Any, images: bool = False, **more: Any) -> tuple[dict[str, Any], Written]:
    made = write_openai([chat(*events, **more)], Options(images=images))
    return json.loads(made.data), made


def messages(*events: Any, **how: Any) -> list[dict[str, Any]]:
    return written(*events, **how)[0]["messages"]  # type: ignore[no-any-return]


def test_a_turn_is_written_field_by_field() -> None:
    record, made = written(
        asked("Fix it."),
        thought("Two at once.", "m1"),
        said("Looking.", "m1"),
        called("c1", "m1", arguments={"path": "ä.py", "big": 12345678901234567890, "x": 1.5}),
        called("c2", "m1", "mcp__docs.search", raw="not {JSON"),
        returned("c2", "second", ok=False),
        returned("c1", "first"),
        said("Fixed.", "m2"),
        system_prompt="Be brief.",
        tools=[Tool("run", "Run it.", {"type": "object", "properties": {}}), Tool("unused")],
        messages={"m1": Message(usage=Usage(10, 1)), "m2": Message(usage=Usage(20, 2))},
    )
    assert list(record) == ["messages", "tools", "parallel_tool_calls"]
    assert record["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Fix it."},
        {
            "role": "assistant",
            "content": "Looking.",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "run", "arguments": '{"path":"ä.py","big":12345678901234567890,"x":1.5}'},
                },
                {
                    "id": "c2",
                    "type": "function",
                    "function": {"name": "mcp__docs_x2E_search", "arguments": '{"_raw":"not {JSON"}'},
                },
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "first"},
        {"role": "tool", "tool_call_id": "c2", "content": "second"},
        {"role": "assistant", "content": "Fixed."},
    ]
    assert record["tools"] == [
        {
            "type": "function",
            "function": {"name": "run", "description": "Run it.", "parameters": {"type": "object", "properties": {}}},
        },
        {"type": "function", "function": {"name": "unused", "parameters": {"type": "object"}}},
        {
            "type": "function",
            "function": {"name": "mcp__docs_x2E_search", "parameters": {"type": "object"}},
        },
    ]
    assert record["parallel_tool_calls"] is True
    assert made.not_carried == {"thought": 1, "token": 2}


def test_words_are_null_where_there_are_only_calls_and_no_tools_are_listed_without_any() -> None:
    record, _ = written(asked("Go."), called("c1"), returned("c1", "1"), said("Done."))
    assert record["messages"][1]["content"] is None
    assert record["parallel_tool_calls"] is False
    assert list(written(asked("Hi."), said("Hello."))[0]) == ["messages"]


@pytest.mark.parametrize(
    ("events", "expected", "left_out"),
    [
        # Prompts that follow one another are one, and so are replies.
        ([asked("One."), asked("Two."), said("A.")], ["One.\n\nTwo.", "A."], {}),
        ([asked("One."), said("A.", "m1"), said("B.", "m2")], ["One.", "A.\n\nB."], {}),
        # What nobody answered, and what nobody asked, is left out.
        ([asked("One."), said("A."), asked("Two.")], ["One.", "A."], {"prompt": 1}),
        (
            [said("Hi."), called("c"), returned("c"), asked("One."), said("A.")],
            ["One.", "A."],
            {"answer": 1, "call": 1, "result": 1},
        ),
        ([asked("One."), thought("T."), asked("Two."), said("A.")], ["One.\n\nTwo.", "A."], {"thought": 1}),
        # A prompt after results stands in the last of them.
        (
            [asked("One."), called("c"), returned("c", "r"), asked("No, two."), said("A.")],
            ["One.", None, "r\n\n[The person wrote then:]\nNo, two.", "A."],
            {},
        ),
        (
            [asked("One."), called("c"), returned("c", "r"), asked("Opened a.py", injected="context"), said("A.")],
            ["One.", None, "r\n\n[Context then:]\nOpened a.py", "A."],
            {},
        ),
        ([asked("One."), Noted(topic="system", text="Sys."), said("A.")], ["One.\n\nSys.", "A."], {}),
        ([asked("One."), Compacted(summary="So far."), said("A.")], ["One.\n\nSo far.", "A."], {}),
        ([asked("One."), returned(None, "lost"), said("A.")], ["One.", "A."], {"orphan": 1}),
        # Nobody replied to the results of the last calls.
        ([asked("One."), called("c"), returned("c", "r")], ["One.", None], {"result": 1}),
    ],
)
def test_turns_alternate_and_what_is_in_none_is_counted(
    events: list[Any], expected: list[str | None], left_out: dict[str, int]
) -> None:
    record, made = written(*events)
    assert [message["content"] for message in record["messages"]] == expected
    assert made.not_carried == left_out


def test_a_chat_without_a_reply_has_no_line() -> None:
    made = write_openai([chat(asked("Hello?")), chat(asked("Hi."), said("Hello."))], Options())
    assert [len(json.loads(line)["messages"]) for line in made.data.split(b"\n") if line] == [2]
    assert made.not_carried == {"prompt": 1}


def test_pictures_stand_in_user_messages_only() -> None:
    run = [
        asked("See:", parts=[PICTURE, File("a.txt", "text/plain", 3, None, "abc")]),
        called("c1"),
        returned("c1", parts=[Text("Shot:"), PICTURE]),
        said("Seen."),
    ]
    assert messages(*run, images=True) == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "See:\n[file: a.txt, text/plain, 3 bytes; the next 1 line]\nabc"},
                {"type": "image_url", "image_url": {"url": URL}},
            ],
        },
        messages(*run)[1],
        {"role": "tool", "tool_call_id": "c1", "content": "Shot:"},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": URL}}]},
        {"role": "assistant", "content": "Seen."},
    ]
    plain, made = written(*run)
    assert [message["content"] for message in plain["messages"]] == [
        "See:\n[image: image/png, 13 bytes]\n[file: a.txt, text/plain, 3 bytes; the next 1 line]\nabc",
        None,
        "Shot:\n[image: image/png, 13 bytes]",
        "Seen.",
    ]
    assert made.not_carried == {"image": 2}
    # A type that no reader takes, and a picture without bytes, are marks always.
    drawn = [Image("image/svg+xml", b"<svg/>", None, 6), Image(reference="shot.png", problem="gone")]
    said_of_it, made = written(asked("See:", parts=drawn), said("No."), images=True)
    assert said_of_it["messages"][0]["content"] == "See:\n[image: image/svg+xml, 6 bytes]\n[image]"
    assert made.not_carried == {"image": 2}


def test_subagents_are_counted() -> None:
    below = chat(asked("Find."), said("Found."), id="sub", started_by="c1")
    _, made = written(asked("Go."), called("c1"), returned("c1", "r"), said("Done."), subagents=[below])
    assert made.not_carried == {"subagent": 1}


def test_lone_surrogates_do_not_stop_the_writer() -> None:
    assert messages(asked("bad \ud83d end"), said("ok"))[0]["content"] == "bad \ufffd end"


# --- names of tools


@pytest.mark.parametrize(
    ("name", "valid"),
    [
        ("read_file", "read_file"),
        ("mcp__gmail__search-messages", "mcp__gmail__search-messages"),
        ("mcp.docs/search:v2", "mcp_x2E_docs_x2F_search_x3A_v2"),
        ("größe", "gr_xF6__xDF_e"),
        ("a_x2E_b", "a_x5F_x2E_b"),
        ("", "_x_"),
    ],
)
def test_a_name_is_changed_only_where_it_must_be_and_back(name: str, valid: str) -> None:
    assert valid_name(name) == valid
    assert true_name(valid) == name


@given(st.text(max_size=12) | st.text("_xX2EF5.é", max_size=12))
@settings(max_examples=100, deadline=None)
def test_no_two_names_become_one(name: str) -> None:
    valid = valid_name(name)
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", valid)
    assert len(valid) == 64 or true_name(valid) == name


def test_a_name_that_is_too_long_is_cut_and_stands_whole_in_its_description() -> None:
    long, other = "mcp." + "deep/" * 20 + "a", "mcp." + "deep/" * 20 + "b"
    assert valid_name(long) != valid_name(other)
    assert len(valid_name(long)) <= 64
    record, _ = written(asked("Go."), called("c1", name=long), returned("c1"), said("Done."))
    (tool,) = record["tools"]
    assert (tool["function"]["name"], tool["function"]["description"]) == (valid_name(long), long)
    assert record["messages"][1]["tool_calls"][0]["function"]["name"] == valid_name(long)


@pytest.mark.parametrize(
    "name", ["a\nb" + "!" * 30, " padded." + " " * 60, '"quoted".' + "*" * 30, "\t\n" * 30, "x" * 70]
)
@pytest.mark.parametrize("description", [None, '"Says"\nmore'])
def test_a_name_that_was_cut_is_read_back_whole(name: str, description: str | None, tmp_path: Path) -> None:
    tools = [Tool(name, description)]
    _, made = written(asked("Go."), called("c1", name=name), returned("c1"), said("Done."), tools=tools)
    path = tmp_path / "cut.jsonl"
    path.write_bytes(made.data)
    chat = read("openai", path)
    assert [event.name for event in chat.events if isinstance(event, Called)] == [name]
    assert [(tool.name, tool.description) for tool in chat.tools] == [(name, description)]
    assert [entry.name for entry in count("openai", path).of("call")] == [name]
