"""Byte for byte what Hermes Agent's own converter makes, wherever that is right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from consumers.asking import ask, written
from trailbook.chat import Chat
from trailbook.messages import AnyMessage, AssistantMessage, UnlinkedResult, make_messages
from trailbook.writers.tools import tools_of
from trailbook.writers.written import words_of
from trajectories import read, read_again, write

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "terminal",
            "description": "Run a command – any command.",
            "parameters": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
        },
    },
    {"type": "function", "function": {"name": "read_file", "parameters": {"type": "object", "properties": {}}}},
]


def call(id_: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(id_: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": content}


RUN = [
    {"role": "user", "content": "How many tests are there, and what does “naïve” mean here? 🌱"},
    {
        "role": "assistant",
        "reasoning": "Two things at once.\n\nSo two calls.",
        "content": "Looking.  ",
        "tool_calls": [
            call("call_1", "terminal", '{"command": "ls tests | wc -l", "timeout": 1.5, "tags": ["a", {"b": null}]}'),
            call("call_2", "read_file", '{"path": "Übersicht.md", "big": 12345678901234567890}'),
        ],
    },
    result("call_1", '{"exit": 0, "output": "12\\n",  "é": [1, 2.50, true]}'),
    result("call_2", "[not JSON, though it begins so"),
    {"role": "assistant", "content": None, "tool_calls": [call("call_3", "terminal", '{"command": ""}')]},
    result("call_3", ""),
    {
        "role": "assistant",
        "content": "<REASONING_SCRATCHPAD>Nearly there.</REASONING_SCRATCHPAD>\nOne more.",
        "tool_calls": [call("call_4", "terminal", "{}")],
    },
    result("call_4", "  [1, 2]  "),
    {"role": "assistant", "reasoning": "Done.", "content": "\nTwelve tests.\n\n- naïve: not sorted\n"},
    {"role": "user", "content": "Thanks.\n"},
    {"role": "assistant", "content": "<think>inside the words</think>\nAny time."},
]


def conversations(path: Path) -> list[dict[str, str]]:
    return json.loads(path.read_text("utf-8"))["conversations"]  # type: ignore[no-any-return]


def ours(messages: list[dict[str, Any]], folder: Path) -> list[dict[str, str]]:
    log = folder / "log.json"
    log.write_text(json.dumps({"messages": messages, "tools": TOOLS}))
    path = write([read("openai", log)], "sharegpt", folder)
    assert path is not None
    return conversations(path)


def theirs(*chats: list[dict[str, Any]]) -> list[list[dict[str, str]]]:
    return ask("hermes", "read_hermes.py", [{"messages": chat, "tools": TOOLS} for chat in chats])  # type: ignore[no-any-return]


def test_a_run_in_order_is_the_same_byte_for_byte(tmp_path: Path) -> None:
    (converted,) = theirs(RUN)
    assert len(converted) == 11
    assert ours(RUN, tmp_path) == converted


def test_results_out_of_order_differ_in_the_order_and_the_name_that_hermes_mistakes(tmp_path: Path) -> None:
    (converted,) = theirs([*RUN[:2], RUN[3], RUN[2], *RUN[4:]])
    in_order = ours([*RUN[:2], RUN[3], RUN[2], *RUN[4:]], tmp_path)
    assert [turn for turn, other in zip(in_order, converted, strict=True) if turn != other] == [in_order[3]]
    assert in_order == theirs(RUN)[0]
    assert '"tool_call_id": "call_2", "name": "terminal"' in converted[3]["value"]


def test_arguments_that_are_no_json_are_kept_where_hermes_loses_them(tmp_path: Path) -> None:
    broken = [*RUN[:4], {**RUN[4], "tool_calls": [call("call_3", "terminal", '{"command": "cut')]}, *RUN[5:]]
    (converted,) = theirs(broken)
    different = [(turn, other) for turn, other in zip(ours(broken, tmp_path), converted, strict=True) if turn != other]
    assert [(turn["value"], other["value"]) for turn, other in different] == [
        (
            '<think>\n</think>\n<tool_call>\n{"name": "terminal", "arguments": '
            '{"_raw": "{\\"command\\": \\"cut"}}\n</tool_call>',
            '<think>\n</think>\n<tool_call>\n{"name": "terminal", "arguments": {}}\n</tool_call>',
        )
    ]


def test_every_chat_is_written_as_hermes_would_write_its_messages(tmp_path: Path) -> None:
    files = written("sharegpt", tmp_path)
    chats = [read_again(found) for found in files.values()]
    # Hermes takes its first message for the question, and puts the words of the others as they are.
    asked = [
        {"messages": [{"role": "user", "content": "?"}, *_messages(chat)], "tools": _tools(chat)} for chat in chats
    ]
    for path, converted in zip(files, ask("hermes", "read_hermes.py", asked), strict=True):
        system, _, *turns = converted
        assert conversations(path) == [system, *turns], path.name


def _messages(chat: Chat) -> list[dict[str, Any]]:
    return [each for message in make_messages(chat).messages for each in _message(message)]


def _message(message: AnyMessage) -> list[dict[str, Any]]:
    if isinstance(message, UnlinkedResult):
        return []
    if not isinstance(message, AssistantMessage):
        return [{"role": "user", "content": words_of(message.text, message.parts)}]
    words = words_of(message.text, message.parts)
    if not (words.strip() or message.thinking.strip() or message.calls):
        return []
    reply: dict[str, Any] = {"role": "assistant", "content": words, "reasoning": message.thinking}
    if message.calls:
        reply["tool_calls"] = [call(each.id, each.name, json.dumps(each.arguments)) for each in message.calls]
    return [reply, *(result(each.id, words_of("", each.result.parts)) for each in message.calls)]


def _tools(chat: Chat) -> list[dict[str, Any]]:
    calls = [call for message in make_messages(chat).messages for call in getattr(message, "calls", [])]
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description or "",
                "parameters": tool.parameters or {"type": "object"},
            },
        }
        for tool in tools_of(chat, calls)
    ]
