"""ShareGPT conversations as input, in three dialects."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import EXAMPLES, SHARED
from trailbook.chat import Asked, Called, Returned, Said, Thought, text_of
from trailbook.readers import Unreadable
from trajectories import count, found, read

FOLDER = EXAMPLES / "sharegpt"


def test_the_hermes_dialect_has_thinking_calls_and_results_in_its_words() -> None:
    chat = read("sharegpt", FOLDER / "hermes.jsonl")
    assert [type(event) for event in chat.events] == [Asked, Thought, Said, Called, Called, Returned, Returned, Said]
    assert [event.text for event in chat.events if isinstance(event, (Thought, Said))] == [
        "Count and run in one go.",
        "Counting and running.",
        "Twelve, and all pass. In the log a call looks like this:\n<tool_call>\nnot a call\n</tool_call>\nas you see.",
    ]
    assert [(event.id, event.arguments) for event in chat.events if isinstance(event, Called)] == [
        ("call_A", {"command": "ls tests | wc -l"}),
        ("call_B", {"command": "pytest -q"}),
    ]
    assert [
        (event.call, event.linked, text_of(event.parts)) for event in chat.events if isinstance(event, Returned)
    ] == [
        ("call_A", "order", "12\n"),
        ("call_B", "order", '{"exit_code":0,"output":"12 passed"}'),
    ]
    # The system turn is generated for training: it holds the tools, and no prompt of the session's.
    assert (chat.system_prompt, [tool.name for tool in chat.tools]) == (None, ["terminal"])
    assert (chat.models, chat.completed) == (["demo-large-2"], True)


def test_the_llamafactory_dialect_has_turns_for_calls_and_results() -> None:
    chat = read("sharegpt", FOLDER / "llamafactory.json")
    calls = [event for event in chat.events if isinstance(event, Called)]
    assert [call.arguments for call in calls] == [{"city": "Lisbon"}, {"city": "Oslo"}]
    assert [(event.call, text_of(event.parts)) for event in chat.events if isinstance(event, Returned)] == [
        (calls[0].id, "24 degrees"),
        (calls[1].id, "3 degrees"),
    ]
    assert (chat.system_prompt, [tool.name for tool in chat.tools]) == ("Answer in one sentence.", ["weather"])


def test_the_plain_dialect_has_prompts_and_answers_only() -> None:
    chat = read("sharegpt", FOLDER / "plain.jsonl")
    assert [event.text for event in chat.events if isinstance(event, (Asked, Said))] == [
        "Name a tree that keeps its needles.",
        "The Scots pine.",
        "And one that drops them?",
        "The larch.",
    ]


@pytest.mark.parametrize(
    ("value", "thought", "words", "calls"),
    [
        ("<think>\n</think>", "", "", []),
        ("<think>why</think>\nso", "why", "so", []),
        ("<think>never closed", "", "<think>never closed", []),
        ('<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>', "", "", ["f"]),
        ('say <tool_call>{"name": "f"}</tool_call> on', "", "say  on", ["f"]),
        ("a </tool_call> b <tool_call>", "", "a </tool_call> b <tool_call>", []),
        (
            'x\n<tool_call>\n{"name": "f", "arguments": {"t": "</tool_call>"}}\n</tool_call>'
            '\n<tool_call>\n{"name": "g", "arguments": {}}\n</tool_call>',
            "",
            "x",
            ["f", "g"],
        ),
    ],
)
def test_tags_are_blocks_only_where_they_hold_a_call(
    tmp_path: Path, value: str, thought: str, words: str, calls: list[str]
) -> None:
    file = tmp_path / "one.json"
    file.write_text(json.dumps({"conversations": [{"from": "gpt", "value": value}]}))
    chat, ledger = read("sharegpt", file), count("sharegpt", file)
    assert "".join(event.text for event in chat.events if isinstance(event, Thought)) == thought
    assert "".join(event.text for event in chat.events if isinstance(event, Said)) == words
    assert [event.name for event in chat.events if isinstance(event, Called)] == calls
    assert [entry.name for entry in ledger.of("call")] == calls
    assert (len(ledger.of("thought")), len(ledger.of("answer"))) == (bool(thought), bool(words))


def test_what_hermes_itself_wrote_is_read() -> None:
    file = SHARED / "samples" / "hermes" / "trajectory_samples.jsonl"
    if not file.is_file():
        pytest.skip("the samples are not here")
    chat = read("sharegpt", file)
    assert [event.name for event in chat.events if isinstance(event, Called)] == [
        "read_file",
        "terminal",
        "delegate_task",
        "patch",
        "terminal",
    ]
    assert sum(isinstance(event, Returned) for event in chat.events) == 5
    assert [event.text for event in chat.events if isinstance(event, Asked)] == [
        "Fix the failing price test, the screenshot shows it.",
        "Just fix fmt().",
    ]


def test_what_a_batch_runner_says_of_a_conversation_stands_in_its_metadata(tmp_path: Path) -> None:
    """Hermes's runs of many prompts; what is saved of a single one has the same beside the conversation."""
    about = {"batch_num": 0, "timestamp": "2026-10-12T09:20:00.5", "model": "demo-large-2"}
    turns = [{"from": "human", "value": "Hello"}, {"from": "gpt", "value": "<think>\n</think>\nHi"}]
    record = {"prompt_index": 3, "conversations": turns, "metadata": about, "completed": False, "partial": True}
    file = tmp_path / "batch_0.jsonl"
    file.write_text(json.dumps(record) + "\n" + json.dumps(record) + "\n")
    chat = read("sharegpt", file)
    assert (chat.models, chat.started, chat.naive_times) == (["demo-large-2"], 1_791_796_800_500, True)
    assert (chat.completed, [event.text for event in chat.events if isinstance(event, Said)]) == (False, ["Hi"])


def test_conversations_that_gzip_packed_one_by_one_are_read(tmp_path: Path) -> None:
    lines = (FOLDER / "plain.jsonl").read_bytes().splitlines(keepends=True) * 2
    packed = b"".join(map(gzip.compress, lines))
    file = tmp_path / "packed.jsonl.gz"
    file.write_bytes(packed)
    assert len(found("sharegpt", file)) == len(lines)
    words = [event.text for event in read("sharegpt", file).events if isinstance(event, (Asked, Said))]
    assert words == [
        "Name a tree that keeps its needles.",
        "The Scots pine.",
        "And one that drops them?",
        "The larch.",
    ]
    assert len(count("sharegpt", file).entries) == 4
    file.write_bytes(packed[:-20])
    assert len(found("sharegpt", file)) == len(lines)
    file.write_bytes(packed[:12] + b"\xff" * 40)
    with pytest.raises(Unreadable, match=r"^packed\.jsonl\.gz is damaged"):
        found("sharegpt", file)
    file.write_bytes(gzip.compress(b"a letter"))
    assert found("sharegpt", file) == []


def test_a_small_file_that_unpacks_to_a_huge_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trailbook.readers.pieces._LARGEST", 1_000_000)
    file = tmp_path / "bomb.jsonl.gz"
    file.write_bytes(gzip.compress((FOLDER / "hermes.jsonl").read_bytes() + b" " * 2_000_000))
    with pytest.raises(Unreadable, match="is larger than 1,000,000 bytes when it is unpacked"):
        found("sharegpt", file)


def test_a_cut_document_is_refused_with_the_byte_where_it_ends(tmp_path: Path) -> None:
    data = (FOLDER / "llamafactory.json").read_bytes()
    file = tmp_path / "cut.json"
    for at in range(60, len(data.rstrip()), 7):
        file.write_bytes(data[:at])
        with pytest.raises(Unreadable, match=rf"^cut\.json is cut off: it ends at byte {len(data[:at].rstrip()):,},"):
            found("sharegpt", file)


TURN = st.fixed_dictionaries(
    {
        "from": st.sampled_from(["system", "human", "gpt", "tool", "function_call", "observation", "narrator"]),
        "value": st.none()
        | st.integers()
        | st.text(max_size=6)
        | st.lists(st.none() | st.text(max_size=2), max_size=2)
        | st.sampled_from(
            [
                '<tool_call>\n{"name": 1, "arguments": "x"}\n</tool_call>',
                '<tool_response>\n{"content": [null]}\n</tool_response>',
                '<tool_response>\n{"tool_call_id": "a", "content": {}}\n</tool_response>',
                "<tool_call>\n[]\n</tool_call>",
                '[{"name": "f"}, 3]',
                '{"name": null}',
                "null",
            ]
        ),
    }
)


@given(st.lists(TURN, min_size=1, max_size=8))
@settings(max_examples=200, deadline=None)
def test_values_of_any_type_are_taken_as_they_come(
    tmp_path_factory: pytest.TempPathFactory, turns: list[dict[str, object]]
) -> None:
    file = tmp_path_factory.mktemp("any") / "any.json"
    file.write_text(json.dumps({"conversations": turns}))
    chat, ledger = read("sharegpt", file), count("sharegpt", file)
    assert sum(isinstance(event, Called) for event in chat.events) == len(ledger.of("call"))
    assert sum(isinstance(event, Returned) for event in chat.events) == len(ledger.of("result"))
    assert sum(isinstance(event, Asked) for event in chat.events) == len(ledger.of("prompt"))
