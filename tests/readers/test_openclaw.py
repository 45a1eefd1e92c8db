"""OpenClaw's sessions, and Pi's and OMP's, which have the same entries: what was asked, thought, said and done."""

from __future__ import annotations

import json
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import EXAMPLES, SHARED
from openclaw_logs import (
    DATA,
    PIXEL,
    SAMPLE,
    Entry,
    call,
    count,
    entry,
    found_in,
    header,
    message,
    of,
    read,
    read_entries,
    result,
    said,
    usage,
    user,
    write,
)
from trailbook.chat import (
    Answered,
    Asked,
    Called,
    Chat,
    Compacted,
    Cost,
    Image,
    Noted,
    Returned,
    Said,
    Text,
    Thought,
    Usage,
    text_of,
)
from trailbook.ledger import digest_of_text
from trailbook.readers import Unreadable, openclaw
from trailbook.readers.openclaw.agents import PRODUCTS
from trailbook.timeline import make_timeline

EXPECTED = json.loads((DATA / "expected.json").read_text())
IDS = [json.loads(line)["id"] for line in SAMPLE.read_text().splitlines()]
EXAMPLE = next((EXAMPLES / "openclaw/agents/main/sessions").glob("0199a4c1*1.jsonl"))


# --- a session with nearly everything


def lines_of(chat: Chat, *, branch: bool) -> list[str]:
    places = {event.place.number for event in chat.events if event.place and (event.branch is not None) is branch}
    return [IDS[number - 1] for number in sorted(places)]


def test_the_sample_is_read_as_expected() -> None:
    chat = read(SAMPLE)
    assert lines_of(chat, branch=False) == EXPECTED["active_path"]
    assert lines_of(chat, branch=True) == EXPECTED["off_path"]
    assert len(lines_of(chat, branch=False)) + len(lines_of(chat, branch=True)) == EXPECTED["entries"]
    assert len(of(chat, Called)) == EXPECTED["tool_calls"]
    assert len([event for event in of(chat, Returned) if event.call]) == EXPECTED["tool_results"]
    images = [part for event in of(chat, Asked) + of(chat, Returned) for part in event.parts if isinstance(part, Image)]
    assert len(images) == EXPECTED["images"]
    costs = [message.cost.usd for message in chat.messages.values() if message.cost and message.cost.usd]
    assert sum(costs) == pytest.approx(EXPECTED["cost_total_all_branches"])
    assert [subagent.id for subagent in chat.subagents] == EXPECTED["child_sessions"]
    mirrors = [event for event in of(chat, Noted) if event.topic == "delivery"]
    assert [IDS[event.place.number - 1] for event in mirrors] == EXPECTED["delivery_mirror_rows"]
    errors = [event for event in of(chat, Answered) if event.outcome == "error"]
    assert [IDS[event.place.number - 1] for event in errors] == EXPECTED["error_rows"]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared samples are not here")
@pytest.mark.parametrize(
    "store", ["sessions/019f92c8-d694-7ac3-9144-e3b22add01f3.jsonl", "agent/openclaw-agent.sqlite"]
)
def test_the_shared_sample_is_the_one_here(store: str) -> None:
    shared, own = read(SHARED / "samples/openclaw/agents/main" / store), read(SAMPLE)
    assert [type(event) for event in shared.events] == [type(event) for event in own.events]
    assert shared.messages == own.messages


def test_tokens_and_money_of_the_sample() -> None:
    totals = make_timeline(read(SAMPLE)).totals
    # input + cacheRead + cacheWrite over all seven messages: 5,250 + 44,100 + 500; the abandoned one was paid for too.
    assert totals.usage == Usage(49_850, 390, 44_100, 500)
    assert totals.usd == pytest.approx(0.06115)


def test_the_first_message_of_the_sample() -> None:
    chat = read(SAMPLE)
    asked = of(chat, Asked)[0]
    assert (asked.text, [part.media_type for part in asked.parts]) == ("Why is this chart wrong?", ["image/png"])
    thought = of(chat, Thought)[0]
    assert (thought.text, thought.signature, thought.message) == ("Compare data and script.", "sig_synth", "e0000004")
    assert [(event.id, event.name, event.arguments) for event in of(chat, Called)[:2]] == [
        ("call_1", "read", {"path": "data.csv"}),
        ("call_2", "exec", {"command": "python chart.py --dry"}),
    ]
    failed = next(event for event in of(chat, Returned) if event.call == "call_2")
    assert (text_of(failed.parts), failed.ok, failed.exit_status) == ("Traceback: KeyError 'qty'", False, 1)
    assert chat.messages["e0000004"].extra == {"api": "anthropic-messages", "responseId": "msg_synth1"}
    assert (chat.models, chat.providers) == (["claude-opus-4-8"], ["anthropic"])


def test_what_the_model_was_given_stands_in_the_runtime_trace() -> None:
    chat = read(SAMPLE)
    assert (chat.system_prompt, chat.agent.version) == ("You are OpenClaw (synthetic).", "2026.6.5")
    assert [tool.name for tool in chat.tools] == ["edit", "exec", "read", "sessions_spawn"]


def test_a_subagent_hangs_on_the_call_that_spawned_it() -> None:
    (child,) = read(SAMPLE).subagents
    assert (child.started_by, child.origin.kind) == ("call_4", "subagent")
    assert [event.text for event in of(child, Asked)] == ["Run the chart tests"]
    assert make_timeline(child).totals.usage == Usage(4_640, 38, 2_000, 2_000)


def test_the_ledger_counts_what_the_sample_holds() -> None:
    ledger = count(SAMPLE)
    counted = {
        kind: len(ledger.of(kind)) for kind in ("prompt", "answer", "thought", "call", "result", "image", "system")
    }
    # Prompts: two of the person, a branch's summary and an extension's note. Answers: the mirror repeats the last one.
    assert counted == {"prompt": 4, "answer": 2, "thought": 1, "call": 4, "result": 4, "image": 2, "system": 1}
    assert [entry.kind for entry in ledger.aside] == ["answer", "prompt"]
    assert ledger.usage == Usage(49_850, 390, 44_100, 500)
    assert [len(subagent.of("call")) for subagent in ledger.subagents] == [1]


# --- the tree


def branches(chat: Chat) -> list[tuple[str, str | None]]:
    return [(event.text, event.branch) for event in chat.events if isinstance(event, Asked | Said)]


TREES: dict[str, tuple[list[Entry], list[tuple[str, str | None]]]] = {
    "the last entry is on the active path": (
        [user(1, "a"), said(2, "b"), user(3, "c"), said(4, "d"), user(5, "e", parent=2), said(6, "f")],
        [("a", None), ("b", None), ("c", "e3"), ("d", "e3"), ("e", None), ("f", None)],
    ),
    "the first prompt was asked anew": (
        [user(1, "a"), said(2, "b"), user(3, "c", parent=0), said(4, "d")],
        [("a", "e1"), ("b", "e1"), ("c", None), ("d", None)],
    ),
    "a branch that was left twice": (
        [user(1, "a"), user(2, "b"), said(3, "c"), user(4, "d", parent=2), user(5, "e", parent=1)],
        [("a", None), ("b", "e2"), ("c", "e3"), ("d", "e2"), ("e", None)],
    ),
    "what hangs beside without a word is no branch": (
        [
            user(1, "a"),
            said(2, "b", call("c1")),
            entry(3, "custom", customType="counter"),
            message(4, "custom", "by an extension", 2),
            result(5, "c1", "done", 2),
            said(6, "c", parent=2),
        ],
        [("a", None), ("b", None), ("by an extension", None), ("c", None)],
    ),
    "an entry whose parent is lost follows the one before it": (
        [user(1, "a"), said(2, "b"), user(4, "c"), said(5, "d")],
        [("a", None), ("b", None), ("c", None), ("d", None)],
    ),
    "entries without ids, as in the first version": (
        [{**user(number, text), "id": None} for number, text in ((1, "a"), (2, "b"))],
        [("a", None), ("b", None)],
    ),
    "an entry that is its own parent": (
        [user(1, "a", parent=1), said(2, "b")],
        [("a", None), ("b", None)],
    ),
    "entries that are each other's parent": (
        [user(1, "a", parent=2), said(2, "b")],
        [("a", None), ("b", None)],
    ),
}


@pytest.mark.parametrize("case", TREES)
def test_the_tree(case: str, tmp_path: Path) -> None:
    entries, expected = TREES[case]
    chat = read_entries(tmp_path, *entries)
    assert branches(chat) == expected
    assert set(chat.branches) == {branch for _, branch in expected if branch}
    ledger = count(tmp_path / "s-1.jsonl")
    assert len(ledger.of("prompt") + ledger.of("answer")) == sum(branch is None for _, branch in expected)


def test_where_a_branch_was_left(tmp_path: Path) -> None:
    entries, _ = TREES["the last entry is on the active path"]
    place = read_entries(tmp_path, *entries).branches["e3"].left_at
    assert place is not None
    assert place.number == 6  # the line of "e", which went another way


# --- messages


def test_a_result_answers_its_call_whatever_stands_behind_the_bar(tmp_path: Path) -> None:
    """openclaw/openclaw#24649."""
    chat = read_entries(
        tmp_path,
        user(1, "go"),
        said(2, call("call_A1|fc_0abc", command="ls"), call("call_B2", command="pwd"), stop="toolUse"),
        result(3, "call_A1", "f"),
        result(4, "call_B2|fc_0def", "/w"),
        result(5, "call_GONE", "orphan", isError=True),
    )
    assert [(event.call, text_of(event.parts), event.linked) for event in of(chat, Returned)] == [
        ("call_A1", "f", "id"),
        ("call_B2", "/w", "id"),
        (None, "orphan", None),
    ]
    assert [problem.kind for problem in chat.diagnostics] == ["orphan-result"]


def test_calls_that_share_an_id_or_have_none(tmp_path: Path) -> None:
    chat = read_entries(
        tmp_path, said(1, call("c"), call("c"), call(None), stop="toolUse"), result(2, "c", "1"), result(3, "c", "2")
    )
    assert [event.id for event in of(chat, Called)] == ["c", "c__2", "e1:2"]
    assert [event.call for event in of(chat, Returned)] == ["c", "c__2"]


ARGUMENTS: list[tuple[Entry, dict[str, Any], str | None]] = [
    ({"arguments": {"a": 1}}, {"a": 1}, None),
    ({"input": {"a": 1}}, {"a": 1}, None),
    ({"parameters": {"a": 1}}, {"a": 1}, None),
    ({"arguments": '{"a": '}, {}, '{"a": '),
    ({"arguments": [1]}, {}, "[1]"),
    ({}, {}, None),
]


@pytest.mark.parametrize(("given_as", "arguments", "raw"), ARGUMENTS)
def test_arguments(given_as: Entry, arguments: dict[str, Any], raw: str | None, tmp_path: Path) -> None:
    chat = read_entries(tmp_path, said(1, {"type": "toolUse", "id": "c", "name": "t", **given_as}))
    (called,) = of(chat, Called)
    assert (called.arguments, called.raw) == (arguments, raw)


ENDS = [
    ("stop", "success", True),
    ("error", "error", False),
    ("aborted", "interrupted", False),
]


@pytest.mark.parametrize(("stop", "outcome", "completed"), ENDS)
def test_how_a_turn_ended(stop: str, outcome: str, completed: bool, tmp_path: Path) -> None:
    chat = read_entries(tmp_path, user(1, "go"), said(2, stop=stop, errorMessage="529 overloaded"))
    assert [(event.outcome, event.problem) for event in of(chat, Answered)] == [(outcome, "529 overloaded")]
    assert chat.completed is completed


def test_an_answer_without_content_keeps_its_tokens(tmp_path: Path) -> None:
    chat = read_entries(tmp_path, user(1, "go"), said(2, stop="length", **usage(7, 3)))
    assert [event.text for event in of(chat, Noted)] == ["An answer without content."]
    assert make_timeline(chat).turns[0].usage == Usage(7, 3)


def test_a_thought_of_which_the_log_has_no_words(tmp_path: Path) -> None:
    hidden = {"type": "thinking", "thinking": "", "thinkingSignature": "blob", "redacted": True}
    (thought,) = of(read_entries(tmp_path, said(1, hidden, "Hello.")), Thought)
    assert (thought.text, thought.signature, thought.encrypted) == ("", None, "blob")


MIRROR = {"provider": "openclaw", "model": "delivery-mirror", **usage(0, 0)}


def test_what_was_delivered_is_said_once(tmp_path: Path) -> None:
    chat = read_entries(
        tmp_path, user(1, "a"), said(2, "Same."), said(3, "Same.", **MIRROR), user(4, "b"), said(5, "Same.", **MIRROR)
    )
    # The second one repeats nothing of its own turn: something else than the model sent it.
    assert [(event.text, event.place.number) for event in of(chat, Said)] == [("Same.", 3), ("Same.", 6)]
    assert [event.topic for event in of(chat, Noted)] == ["delivery"]
    assert chat.models == ["claude-opus-4-8"]
    assert [entry.place.number for entry in count(tmp_path / "s-1.jsonl").of("answer")] == [3, 6]


USAGES: list[tuple[Entry, Usage | None]] = [
    ({"input": 3, "output": 2, "cacheRead": 10, "cacheWrite": 5}, Usage(18, 2, 10, 5)),
    ({"input": 3, "output": 2, "totalTokens": 5}, Usage(3, 2)),
    ({"input": 3, "output": 2, "cacheRead": 0, "cacheWrite": 9, "cacheWrite1h": 4}, Usage(12, 2, 0, 9, 4)),
    ({"input": 3, "output": 2, "cacheWrite": 9, "cttl": {"ephemeral1h": 9}}, Usage(12, 2, None, 9, 9)),
    ({"input": 3, "output": 2, "reasoningTokens": 1}, Usage(3, 2, reasoning_tokens=1)),
    ({"output": 2, "cacheRead": 8}, Usage(None, 2, 8)),
    ({"input": "3", "output": -2}, None),
    ({}, None),
]


@pytest.mark.parametrize(("logged", "expected"), USAGES)
def test_tokens(logged: Entry, expected: Usage | None, tmp_path: Path) -> None:
    chat = read_entries(tmp_path, user(1, "go"), said(2, "ok", usage=logged))
    assert chat.messages["e2"].usage == expected
    assert count(tmp_path / "s-1.jsonl").usage == expected


COSTS: list[tuple[Any, Cost | None]] = [(0.25, Cost(0.25)), (0, None), (-1, None), ("0.25", None), (None, None)]


@pytest.mark.parametrize(("total", "expected"), COSTS)
def test_a_cost_of_nothing_is_not_known(total: Any, expected: Cost | None, tmp_path: Path) -> None:
    chat = read_entries(tmp_path, said(1, "ok", usage={"input": 1, "output": 1, "cost": {"total": total}}))
    assert chat.messages["e1"].cost == expected


# --- what stands in the person's place


INJECTED: dict[str, tuple[Entry, str, str | None]] = {
    "an extension's message": (
        entry(1, "custom_message", customType="todos", content="Three left."),
        "Three left.",
        "todos",
    ),
    "the same as a message": (message(1, "custom", "Three left.", customType="todos"), "Three left.", "todos"),
    "as it was called before": (message(1, "hookMessage", "Three left."), "Three left.", None),
    "a branch's summary": (entry(1, "branch_summary", summary="Went wrong.", fromId="x"), "Went wrong.", None),
    "put there by the agent": (message(1, "user", "Go on.", synthetic=True), "Go on.", None),
    "a command of the person's": (
        message(1, "bashExecution", None, command="make", output="boom\n", exitCode=2),
        "Ran `make`\n```\nboom\n\n```\n\nCommand exited with code 2",
        None,
    ),
    "one that printed nothing and was stopped": (
        message(1, "bashExecution", None, command="sleep 9", cancelled=True),
        "Ran `sleep 9`\n(no output)\n\n(command cancelled)",
        None,
    ),
    "Python of the person's": (
        message(1, "pythonExecution", None, code="1 + 1", output="2"),
        "Ran Python:\n```python\n1 + 1\n```\nOutput:\n```\n2\n```",
        None,
    ),
    "files that the person named": (
        message(1, "fileMention", None, files=[{"path": "a.md", "content": "A"}, {"path": "b.md"}]),
        '<file path="a.md">\nA\n</file>\n<file path="b.md">\n</file>',
        None,
    ),
}


@pytest.mark.parametrize("case", INJECTED)
def test_what_is_put_in_the_persons_place_opens_no_turn(case: str, tmp_path: Path) -> None:
    logged, text, by = INJECTED[case]
    chat = read_entries(tmp_path, logged, user(2, "Hello"))
    first, _ = of(chat, Asked)
    assert (first.text, first.by, first.injected is not None) == (text, by, True)
    assert len(make_timeline(chat).turns) == 1
    assert [entry.injected for entry in count(tmp_path / "s-1.jsonl").of("prompt")] == [True, False]
    prompts = {entry.digest for entry in count(tmp_path / "s-1.jsonl").of("prompt")}
    assert digest_of_text(text) in prompts


def test_a_command_that_was_kept_from_the_model_is_a_note(tmp_path: Path) -> None:
    kept = message(1, "bashExecution", None, command="env", output="A=1", excludeFromContext=True)
    chat = read_entries(tmp_path, kept, user(2, "Hello"))
    assert [(event.topic, event.text, event.detail) for event in of(chat, Noted)] == [("command", "!!env", "A=1")]
    assert len(count(tmp_path / "s-1.jsonl").of("prompt")) == 1


NOTES: dict[str, tuple[Entry, str, str]] = {
    "a switch of the model": (entry(1, "model_change", provider="p", modelId="m"), "model", "Model: p/m"),
    "the same in OMP": (entry(1, "model_change", model="p/m"), "model", "Model: p/m"),
    "how hard it thinks": (entry(1, "thinking_level_change", thinkingLevel="high"), "thinking level", "Thinking: high"),
    "an extension's state": (entry(1, "custom", customType="heartbeat", data={"ok": True}), "extension", "heartbeat"),
    "a label": (entry(1, "label", targetId="e0", label="here"), "label", "Label: here"),
    "a mode": (entry(1, "mode_change", mode="plan"), "mode", "Mode: plan"),
    "text of the harness": (message(1, "developer", "Be brief."), "system", "Be brief."),
    "an entry of a later version": (entry(1, "hologram", size=3), "hologram", '{"size":3}'),
    "a role of a later version": (message(1, "oracle", "Beware."), "oracle", "Beware."),
}


OMP = ("the same in OMP", "a mode")
"""What only OMP writes."""


@pytest.mark.parametrize("case", NOTES)
def test_notes(case: str, tmp_path: Path) -> None:
    logged, topic, text = NOTES[case]
    chat = read_entries(tmp_path, logged, user(2, "Hello"), agent="omp" if case in OMP else "openclaw")
    assert [(event.topic, event.text) for event in of(chat, Noted)] == [(topic, text)]
    unknown = [problem.kind for problem in chat.diagnostics]
    assert unknown == (["unknown-record"] if "later version" in case else [])


def test_compaction_and_a_fresh_start(tmp_path: Path) -> None:
    chat = read_entries(
        tmp_path,
        user(1, "Hello"),
        entry(2, "compaction", summary="Greeted.", tokensBefore=152_000, tokensAfter=900),
        entry(3, "reset"),
    )
    assert [
        (event.summary, event.trigger, event.tokens_before, event.tokens_after) for event in of(chat, Compacted)
    ] == [
        ("Greeted.", None, 152_000, 900),
        (None, "reset", None, None),
    ]
    assert [entry.kind for entry in count(tmp_path / "s-1.jsonl").entries] == ["prompt", "system"]


def test_the_title_is_the_last_name_that_was_given(tmp_path: Path) -> None:
    chat = read_entries(
        tmp_path, entry(1, "session_info", name="First"), user(2, "Hello"), entry(3, "session_info", name="Last")
    )
    assert chat.title == "Last"


def test_a_use_of_a_model_beside_the_chat_is_paid_for(tmp_path: Path) -> None:
    aside = entry(2, "model_usage", purpose="title", provider="p", model="small", usage={"input": 5, "output": 1})
    chat = read_entries(tmp_path, user(1, "Hello"), aside, agent="omp")
    assert [(event.topic, event.text) for event in of(chat, Noted)] == [("model use", "title")]
    assert make_timeline(chat).totals.usage == count(tmp_path / "s-1.jsonl", "omp").usage == Usage(5, 1)


def test_what_else_is_known_of_a_result(tmp_path: Path) -> None:
    chat = read_entries(
        tmp_path,
        said(1, call("a"), call("b"), call("c"), stop="toolUse"),
        result(2, "a", "x", details={"exitCode": 0, "durationMs": 1_740}),
        result(3, "b", "boom\n\nCommand exited with code 3", isError=True),
        result(4, "c", "y"),
        entry(5, "custom", customType="tool_execution", toolCallId="c", exitCode=4, durationMs=9),
    )
    assert [(event.exit_status, event.duration) for event in of(chat, Returned)] == [(0, 1_740), (3, None), (4, 9)]
    assert of(chat, Noted) == []


PATCHES = [
    ({"patch": "@@ -1 +1 @@\n-a\n+b"}, "@@ -1 +1 @@\n-a\n+b"),
    ({"diff": " 7 a\n-8 b\n+8 c\n+9 d\n 9 e"}, "@@ -7,3 +7,4 @@\n a\n-b\n+c\n+d\n e"),
    ({"diff": "+ 1 new\n   ...\n 30 x\n-31 y"}, "@@ -1,0 +1,1 @@\n+new\n@@ -30,2 +31,1 @@\n x\n-y"),
    ({"diff": "-row\n+line"}, None),
    ({"diff": 3}, None),
]


@pytest.mark.parametrize(("details", "patch"), PATCHES)
def test_the_diff_of_an_edit_has_the_files_line_numbers(details: Entry, patch: str | None, tmp_path: Path) -> None:
    chat = read_entries(tmp_path, said(1, call("c", "edit")), result(2, "c", "ok", details=details))
    assert of(chat, Returned)[0].patch == patch


IMAGES: list[tuple[Entry, Image]] = [
    ({"data": "<redacted:1kb>", "mimeType": "image/png"}, Image("image/png", problem="it was left out of the export")),
    ({"data": "blob:sha256:ab", "mimeType": "image/png"}, Image("image/png", reference="blob:sha256:ab")),
    ({"data": "%%%", "mimeType": 'x" onload="'}, Image(problem="its base64 data is damaged")),
    ({"mimeType": "image/png"}, Image("image/png", problem="the log has no data for it")),
]


@pytest.mark.parametrize(("block", "image"), IMAGES)
def test_pictures_that_are_not_there(block: Entry, image: Image, tmp_path: Path) -> None:
    chat = read_entries(tmp_path, message(1, "user", [{"type": "image", **block}]))
    assert of(chat, Asked)[0].parts == [image]
    assert [entry.digest for entry in count(tmp_path / "s-1.jsonl").of("image")] == [b""]


# --- what stands in the examples


def test_the_example_as_a_person_reads_it() -> None:
    timeline = make_timeline(read(EXAMPLE))
    titles = [step.title for step in timeline.steps if step.kind == "tool"]
    assert titles == [
        "Ran the tests",
        "Read order.py",
        "Edited order.py",
        "Ran the tests",
        "Handed off: Check in the price list which other kinds are sold in trays, and report their names.",
    ]
    assert timeline.title == "Trays billed twice"
    edit = next(step for step in timeline.steps if step.title == "Edited order.py")
    assert edit.diff is not None
    assert edit.diff.startswith("@@ -1,4 +1,4 @@\n def total(order):")
    assert [step.text for step in timeline.steps if step.kind == "problem"] == ["529 overloaded_error: Overloaded"]


@pytest.mark.parametrize(("agent", "title"), [("pi", "First changelog"), ("omp", "Scripts with the old price list")])
def test_the_examples_of_the_others(agent: str, title: str) -> None:
    file = next((EXAMPLES / agent / "sessions").glob("*/2026*.jsonl"))
    chat = read(file, agent)
    assert (chat.title, chat.agent.product) == (title, PRODUCTS[agent])
    assert [name for name in PRODUCTS if found_in(file, name)] == [agent]


def test_omp_lays_subagents_into_a_folder() -> None:
    chat = read(next((EXAMPLES / "omp/sessions").glob("*/2026*.jsonl")), "omp")
    (child,) = chat.subagents
    assert (child.started_by, child.system_prompt) == (
        "toolu_05A",
        "You explore a repository and report what you find.",
    )
    assert [event.arguments for event in of(child, Called)] == [{"pattern": "prices/2025.csv", "path": "."}]


# --- damage


def test_a_file_without_any_entry_is_refused_when_it_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "s-1.jsonl", header(), user(1, "Hello"))
    listed = found_in(path)
    assert isinstance(listed, list)
    path.write_bytes(b"\xff\xfe nothing")
    with pytest.raises(Unreadable, match="holds no session"):
        openclaw.read(listed[0], UTC)


LINES = SAMPLE.read_bytes().splitlines(keepends=True)


def spoken(chat: Chat) -> list[tuple[int, str]]:
    return [
        (event.place.number, event.text if isinstance(event, Asked | Said) else str(event.arguments))
        for event in chat.events
        if isinstance(event, Asked | Said | Called) and event.place is not None
    ]


WHOLE = spoken(read(SAMPLE))


@given(number=st.integers(1, len(LINES) - 1), length=st.integers(1, 10_000))
def test_a_line_that_is_cut_loses_no_other(number: int, length: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("cut")
    cut = LINES[number][: min(length, len(LINES[number]) - 2)] + b"\n"
    path = folder / SAMPLE.name
    path.write_bytes(b"".join([*LINES[:number], cut, *LINES[number + 1 :]]))
    chat = read(path)
    kept = [each for each in WHOLE if each[0] != number + 1]
    assert [each for each in spoken(chat) if each in kept] == kept
    places = {problem.place.number for problem in chat.diagnostics if problem.kind == "damaged-line" and problem.place}
    assert places == {number + 1}


@given(numbers=st.sets(st.integers(1, len(LINES) - 1)))
def test_lines_that_stand_twice_are_read_once(numbers: set[int], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("twice") / SAMPLE.name
    path.write_bytes(b"".join(line * (2 if number in numbers else 1) for number, line in enumerate(LINES)))
    chat = read(path)
    assert [text for _, text in spoken(chat)] == [text for _, text in WHOLE]
    assert sum(problem.count for problem in chat.diagnostics if problem.kind == "repeated-record") == len(numbers)
    assert count(path).usage == Usage(49_850, 390, 44_100, 500)


@given(order=st.permutations(LINES[1:]))
def test_shuffled_lines_are_all_read(order: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("shuffled") / SAMPLE.name
    path.write_bytes(b"".join([LINES[0], *order]))
    chat = read(path)
    words = sorted(text for _, text in spoken(chat))
    assert [text for text in words if text != "chart.py now reads the quantity column; tests pass."] == sorted(
        text for _, text in WHOLE if text != "chart.py now reads the quantity column; tests pass."
    )
    assert make_timeline(chat).totals.usage == count(path).usage == Usage(49_850, 390, 44_100, 500)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**20) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=5), each, max_size=3),
    max_leaves=5,
)
FULL = [
    *(json.loads(line) for line in LINES),
    *(logged for logged, *_ in INJECTED.values()),
    *(logged for logged, *_ in NOTES.values()),
]


@given(number=st.integers(0, len(FULL) - 1), value=ANYTHING, data=st.data())
def test_any_value_in_any_field_is_read(
    number: int, value: Any, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    changed = json.loads(json.dumps(FULL[number]))
    at: Any = changed
    while True:
        key = data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        if not isinstance(at[key], dict | list) or not at[key] or data.draw(st.booleans()):
            break
        at = at[key]
    at[key] = value
    path = write(tmp_path_factory.mktemp("any") / "s-1.jsonl", header(), *FULL[1:number], changed, *FULL[number + 1 :])
    chat = read(path, "omp")
    make_timeline(chat)
    count(path, "omp")
    assert any(isinstance(event, Said) for event in chat.events)


def test_pictures_and_words_of_one_result_stand_together(tmp_path: Path) -> None:
    content = [{"type": "text", "text": "Here."}, {"type": "image", "data": PIXEL, "mimeType": "image/jpeg"}]
    chat = read_entries(tmp_path, said(1, call("c")), message(2, "toolResult", content, toolCallId="c", isError=False))
    words, picture = of(chat, Returned)[0].parts
    assert words == Text("Here.")
    assert (picture.media_type, picture.size) == ("image/png", 70)  # by its bytes, not by what the log calls it
