"""Hermes's sessions: what was asked and done, whichever store they lie in."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from conftest import EXAMPLES, SHARED
from hermes_logs import (
    DATA,
    PNG,
    START,
    Session,
    assert_counted_alike,
    call,
    database,
    export,
    find,
    found_in,
    model,
    of,
    read,
    read_all,
    result,
    session,
    stored,
    summary,
    user,
)
from trailbook.chat import (
    Asked,
    Called,
    Compacted,
    Cost,
    FileChange,
    FilesChanged,
    Image,
    Noted,
    Place,
    Returned,
    Said,
    Thought,
    Usage,
    text_of,
)
from trailbook.ledger import keep_nothing
from trailbook.readers import Passed, hermes
from trailbook.timeline import make_timeline

PARENT, CHILD, AFTER = "20261012_091500_a1b2c3", "20261012_091640_d4e5f6", "20261012_093000_0a1b2c"
EXPECTED = json.loads((DATA / "expected.json").read_text())
TAKEN_BACK = [
    {"id": 7, "role": "user", "content": "Actually rewrite the whole module in Rust.", "timestamp": 1791796550.0},
    {"id": 8, "role": "assistant", "content": "Starting a Rust rewrite.", "timestamp": 1791796552.0},
]


def sample() -> list[Session]:
    """The sessions of the sample as the database has them: two messages more than an export."""
    sessions = [json.loads(line) for line in (DATA / "sessions.jsonl").read_text().splitlines()]
    for one in sessions:
        if one["id"] == PARENT:
            one["messages"] += [{**message, "session_id": PARENT, "active": 0} for message in TAKEN_BACK]
    return sessions


# --- a chat with nearly everything


def test_a_whole_chat_from_the_database(tmp_path: Path) -> None:
    chats = read_all(database(tmp_path / "state.db", sample()))
    assert list(chats) == [EXPECTED["parent"]], "one chat: a subagent and what goes on after a compression are parts"
    chat = chats[PARENT]
    assert_is_the_sample(chat)
    assert [(event.text, event.branch) for event in of(chat, Asked) + of(chat, Said) if event.branch] == [
        ("Actually rewrite the whole module in Rust.", "row-7"),
        ("Starting a Rust rewrite.", "row-7"),
    ]
    assert chat.branches["row-7"].left_at == Place(PARENT, 6, "row")


def assert_is_the_sample(chat: Any) -> None:
    own = [event for event in chat.events if event.branch is None]
    compacted = next(index for index, event in enumerate(own) if isinstance(event, Compacted))
    before, after = own[:compacted], own[compacted:]
    calls = [event for event in before if isinstance(event, Called)]
    results = [event for event in before if isinstance(event, Returned)]
    assert (len(calls), len(results)) == (EXPECTED["parent_tool_calls"], EXPECTED["parent_tool_results"])
    assert sum(isinstance(event, Called) for event in after) == EXPECTED["continuation_tool_calls"]
    assert [event.id for event in calls if event.raw is not None] == EXPECTED["non_json_argument_calls"]
    assert [event.call for event in results if event.not_run == "declined"] == EXPECTED["denied_calls"]
    assert [event.call for event in results[:2]] == EXPECTED["out_of_order_results"]
    asked = [event for event in own if isinstance(event, Asked)]
    assert sum(isinstance(part, Image) for event in asked for part in event.parts) == EXPECTED["images"]
    assert [event.text for event in asked] == [
        "Fix the failing price test, the screenshot shows it.",
        "Just fix fmt().",
        "Commit it.",
    ]
    (child,) = chat.subagents
    assert (child.id, child.started_by, child.cost) == (EXPECTED["delegate_child"], "call_C", EXPECTED["child_cost"])
    assert len(of(child, Called)) == EXPECTED["child_tool_calls"]
    tokens = EXPECTED["tokens_parent"]
    assert chat.usage == Usage(
        prompt_tokens=tokens["input"] + tokens["cache_read"] + tokens["cache_write"],
        output_tokens=tokens["output"],
        cached_tokens=tokens["cache_read"],
        cache_write_tokens=tokens["cache_write"],
        reasoning_tokens=tokens["reasoning"],
    )
    estimate = Cost(tokens["cost_usd_estimated"], "metered", None, "Hermes (pricing_table)")
    assert chat.cost == estimate
    thoughts = ["Look at the test and the code together.", "tests pass now"]
    assert [event.text for event in own if isinstance(event, Thought)] == thoughts
    assert of(chat, Compacted)[0].summary == "[CONTEXT COMPACTION] summary of earlier turns: fmt() fixed."
    assert [event.ok for event in results] == [False, None, None, True, False]
    assert results[0].exit_status == 1
    diff = "--- a/price.py\n+++ b/price.py\n@@ -1 +1 @@\n-return str(x)\n+return f'{x:.2f}'\n"
    assert of(chat, FilesChanged)[0].files == [FileChange("price.py", "changed", diff)]
    assert results[3].patch == diff
    assert (chat.cwd, chat.completed, chat.providers) == ("/home/user/orchard", True, ["anthropic"])
    assert chat.system_prompt == "You are Hermes, a synthetic test persona."
    assert (chat.started, chat.ended) == (1791796500000, 1791797410000)
    assert chat.reopen == ["hermes", "--resume", PARENT]


def test_an_export_has_the_same_chat_but_what_was_taken_back(tmp_path: Path) -> None:
    (exported,) = read_all(DATA / "sessions.jsonl").values()
    assert_is_the_sample(exported)
    without = [{**one, "messages": [m for m in one["messages"] if m["active"]]} for one in sample()]
    (chat,) = read_all(database(tmp_path / "state.db", without)).values()
    assert chat == exported, "every event, every place, every figure"
    (from_lineage,) = read_all(lineage_export(tmp_path / "lineage.jsonl")).values()
    assert from_lineage.events == exported.events
    assert from_lineage.id == PARENT


def lineage_export(path: Path) -> Path:
    """What `--lineage logical` writes: the last session's columns, and all sessions as segments."""
    by_id = {one["id"]: one for one in map(json.loads, (DATA / "sessions.jsonl").read_text().splitlines())}
    segments = [by_id[PARENT], by_id[AFTER]]
    messages = [message for segment in segments for message in segment["messages"]]
    whole = {**by_id[AFTER], "segments": segments, "lineage_session_ids": [PARENT, AFTER], "messages": messages}
    path.write_text(json.dumps(whole) + "\n" + json.dumps(by_id[CHILD]) + "\n")
    return path


def test_a_snapshot_has_the_tools_and_thoughts_under_another_tag() -> None:
    (chat,) = read_all(DATA / f"session_{PARENT}.json").values()
    assert [event.id for event in of(chat, Called)] == ["call_A", "call_B", "call_C", "call_D", "call_E"]
    assert [event.text for event in of(chat, Thought)] == ["Look at the test and the code together.", "tests pass now"]
    assert of(chat, Said)[-1].text == "Done: fmt() now keeps two decimals."
    assert [(tool.name, tool.description) for tool in chat.tools] == [("terminal", "Run a shell command")]
    assert chat.tools[0].parameters["required"] == ["command"]
    assert (chat.usage, chat.cost, chat.naive_times) == (None, None, True)
    assert (chat.started, chat.ended) == (1791796500000, 1791796580000)


def test_a_snapshot_beside_its_database_gives_the_chat_its_tools(tmp_path: Path) -> None:
    main = database(tmp_path / "state.db", sample())
    snapshot = tmp_path / "sessions" / f"session_{PARENT}.json"
    snapshot.parent.mkdir()
    (alone,) = found_in(main)
    shutil.copyfile(DATA / snapshot.name, snapshot)
    (found,) = found_in(main)
    assert found.inputs == (main, snapshot)
    assert found.fingerprint != alone.fingerprint
    assert [tool.name for tool in hermes.read(found, UTC).tools] == ["terminal"]
    assert find(snapshot) == Passed("a snapshot of a session that is in the database", main)
    other = snapshot.with_name("session_20250101_000000_ffffff.json")
    other.write_text(snapshot.read_text().replace(PARENT, "20250101_000000_ffffff"))
    assert [chat.id for chat in found_in(other)] == ["20250101_000000_ffffff"], "the database has it no longer"


def test_what_hermes_itself_wrote_is_read() -> None:
    file = SHARED / "samples" / "hermes" / "state.db"
    if not file.is_file():
        pytest.skip("the samples are not here")
    (chat,) = read_all(file).values()
    (exported,) = read_all(file.with_name("sessions_export.jsonl")).values()
    assert (len(of(chat, Called)), len(of(chat, Returned)), len(chat.branches)) == (6, 6, 1)
    assert [event for event in chat.events if event.branch is None] == exported.events
    for name in ("trajectory_samples.jsonl", "failed_trajectories.jsonl", "batch_0.jsonl"):
        assert find(file.with_name(name)) is None, "ShareGPT's reader takes these, whoever wrote them"


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        (
            "trace.jsonl",
            '{"parentUuid": null, "isSidechain": false, "version": "hermes-agent", "type": "user", "message": {}}\n',
            "a trace that Hermes wrote",
        ),
        (
            "s-session.md",
            '---\nsession_id: "s"\ntitle: null\nexporter: "hermes sessions export (md/qmd) v1"\n---\n\n# s\n',
            "a session that Hermes exported as Markdown",
        ),
        (
            "manifest.jsonl",
            '{"exported_at": 1796072221.02, "format": "md", "lineage_session_ids": ["s"], "session_id": "s"}\n',
            "the list of what Hermes exported",
        ),
    ],
)
def test_exports_that_have_lost_too_much_are_passed_over_with_a_reason(
    tmp_path: Path, name: str, content: str, why: str
) -> None:
    (tmp_path / name).write_text(content)
    passed = find(tmp_path / name)
    assert isinstance(passed, Passed)
    assert passed.why.startswith(why)


# --- messages


def test_calls_without_ids_are_answered_in_order_and_marked_content_is_no_text() -> None:
    """Rows whose calls are JSON text without ids, and content that is marked by a NUL (letta-ai/trajectory#9)."""
    (chat,) = read_all(DATA / "33-hermes-idless-and-sentinel.json").values()
    (asked,) = of(chat, Asked)
    assert asked.text == "look"
    assert [part.media_type for part in asked.parts] == ["image/png"]
    assert [(event.id, event.arguments) for event in of(chat, Called)] == [
        ("row-2-1", {"command": "ls"}),
        ("row-2-2", {"command": "pwd"}),
    ]
    assert [(event.call, event.linked, text_of(event.parts)) for event in of(chat, Returned)] == [
        ("row-2-1", "order", "a"),
        ("row-2-2", "order", "/w"),
    ]
    assert [event.at for event in chat.events] == [
        *(1777629601500, 1777629602000, 1777629602000, 1777629603000, 1777629604000)
    ]
    assert chat.started == 1777629600250
    assert "\0" not in str(chat.events)


def test_results_find_their_calls(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        session(
            "s",
            user("go"),
            model("", call("call_1|fc_1", n=1), call("call_2", n=2)),
            result("call_2|fc_2", "two"),
            result("call_1", "one"),
            model("", call("call_1", n=3)),
            result("call_1", "three"),
            model("", {"name": "look", "arguments": {"n": 4}}, {"name": "hear", "arguments": '{"n": 5}'}),
            result("adopted", "heard", tool="hear"),
            result(None, "looked", tool="look"),
            result("call_9", "nobody's"),
        ),
    )
    assert [event.id for event in of(chat, Called)] == ["call_1", "call_2", "call_1__2", "row-7-1", "row-7-2"]
    assert [(event.call, event.linked, text_of(event.parts)) for event in of(chat, Returned)] == [
        ("call_2", "id", "two"),
        ("call_1", "id", "one"),
        ("call_1__2", "id", "three"),
        ("row-7-2", "order", "heard"),
        ("row-7-1", "order", "looked"),
        (None, None, "nobody's"),
    ]
    assert [report.kind for report in chat.diagnostics] == ["orphan-result"]


def test_messages_stand_in_the_order_of_their_numbers_whatever_their_times(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        session("s", model("second", id=2, timestamp=START), user("first", id=1, timestamp=START + 500)),
    )
    assert [event.text for event in chat.events] == ["first", "second"]


THOUGHTS: dict[str, tuple[dict[str, Any], list[tuple[str, str | None]], list[str]]] = {
    "in its own column": ({"reasoning": "why", "content": "so"}, [("why", None)], ["so"]),
    "said twice": ({"reasoning": "why", "content": "<think>why</think>\nso"}, [("why", None)], ["so"]),
    "two of them": ({"reasoning": "why", "content": "<think>more</think>so"}, [("why", None), ("more", None)], ["so"]),
    "blank": ({"reasoning": " ", "reasoning_content": " ", "content": "so"}, [], ["so"]),
    "in its second column": ({"reasoning_content": "why", "content": "so"}, [("why", None)], ["so"]),
    "in details": ({"reasoning_details": [{"type": "thinking", "thinking": "why"}]}, [("why", None)], []),
    "sealed": ({"reasoning_details": [{"type": "reasoning.encrypted", "data": "c2Vh"}]}, [("", "c2Vh")], []),
    "of the responses api": (
        {"codex_reasoning_items": [{"summary": [{"text": "a"}, {"text": "b"}], "encrypted_content": "c2Vh"}]},
        [("a\n\nb", "c2Vh")],
        [],
    ),
    "never closed": ({"content": "<think>why"}, [], ["<think>why"]),
    "talked about": ({"content": "use <think>tags</think>"}, [], ["use <think>tags</think>"]),
    "the reply in items only": (
        {"content": "", "codex_message_items": [{"content": [{"type": "output_text", "text": "so"}]}]},
        [],
        ["so"],
    ),
}


@pytest.mark.parametrize("name", THOUGHTS)
def test_thoughts_and_words_of_a_reply(tmp_path: Path, name: str) -> None:
    columns, thoughts, words = THOUGHTS[name]
    chat = read(tmp_path, session("s", user("go"), {**model(None), **columns}))
    assert [(event.text, event.encrypted) for event in of(chat, Thought)] == thoughts
    assert [event.text for event in of(chat, Said)] == words


OUTCOMES: dict[str, tuple[str, Any, str | None, tuple[bool | None, str | None, int | None]]] = {
    "a command that went well": ("terminal", {"output": "x", "exit_code": 0, "error": None}, None, (True, None, 0)),
    "one that did not": ("terminal", {"output": "x", "exit_code": 2, "error": None}, None, (False, None, 2)),
    "an error": ("read_file", {"error": "File not found: a.py"}, None, (False, None, None)),
    "an error in words": ("web_search", "Error executing tool 'web_search': timed out", "unknown", (False, None, None)),
    "a tool that says so": ("patch", {"success": False, "error": "no match"}, None, (False, None, None)),
    "words": ("read_file", "1|x = 1", None, (None, None, None)),
    "denied by a word of its own": ("terminal", "Error: user denied this command", "denied", (False, "declined", None)),
    "denied by the person": (
        "terminal",
        {"output": "", "exit_code": -1, "error": "BLOCKED: Action denied by user.", "status": "blocked"},
        None,
        (False, "declined", None),
    ),
    "nobody answered": (
        "terminal",
        {"exit_code": -1, "error": "BLOCKED: Action timed out without user response.", "status": "blocked"},
        None,
        (False, "expired", None),
    ),
    "a rule stopped it": (
        "terminal",
        {"exit_code": -1, "error": "BLOCKED (hardline): deletes the disk.", "status": "blocked"},
        "none",
        (False, "refused", None),
    ),
    "interrupted before it ran": (
        "terminal",
        "[Tool execution cancelled — terminal was skipped due to user interrupt]",
        "none",
        (False, "stopped", None),
    ),
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_what_came_of_a_call(tmp_path: Path, name: str) -> None:
    tool, content, disposition, expected = OUTCOMES[name]
    answered = result("c", content, tool=tool, effect_disposition=disposition)
    chat = read(tmp_path, session("s", user("go"), model("", call("c", tool)), answered))
    (returned,) = of(chat, Returned)
    assert (returned.ok, returned.not_run, returned.exit_status) == expected
    assert of(chat, FilesChanged) == []


def test_a_step_says_what_was_printed_and_not_how_it_was_wrapped(tmp_path: Path) -> None:
    outputs: list[tuple[str, dict[str, Any]]] = [
        ("pytest -q", {"output": "E assert\n1 failed, 5 passed in 0.41s", "exit_code": 1, "error": None}),
        ("make", {"output": "no rule", "exit_code": 2, "error": None}),
        ("rm x", {"output": "", "exit_code": 1, "error": None}),
        ("ls", {"error": "no such tool"}),
    ]
    messages = [
        message
        for number, (command, output) in enumerate(outputs)
        for message in (model("", call(f"c{number}", command=command)), result(f"c{number}", output))
    ]
    steps = make_timeline(read(tmp_path, session("s", user("go"), *messages))).steps
    assert [step.detail for step in steps if step.kind == "tool"] == [
        "1 failed",
        "Failed: no rule",
        "Exit code 1",
        "Failed: no such tool",
    ]


def test_files_that_a_patch_and_a_write_changed(tmp_path: Path) -> None:
    listed = {"files_modified": ["a.py"], "files_created": ["b.py"], "files_deleted": ["c.py"]}
    chat = read(
        tmp_path,
        session(
            "s",
            user("go"),
            model("", call("c1", "patch", mode="patch", patch="*** Begin"), call("c2", "write_file", path="n.md")),
            result("c1", {"success": True, "diff": "--- a.py\n", **listed}, tool="patch"),
            result("c2", {"bytes_written": 3}, tool="write_file"),
        ),
    )
    assert [event.files for event in of(chat, FilesChanged)] == [
        [FileChange("a.py"), FileChange("b.py", "created"), FileChange("c.py", "deleted")],
        [FileChange("n.md")],
    ]


def test_who_wrote_what_the_user_role_says(tmp_path: Path) -> None:
    notice = '[IMPORTANT: Background process 7 matched "done"\nOutput:\nok]'
    skill = '[IMPORTANT: The user has invoked the "review" skill, indicating they want it.]\n\nlook at a.py [x]'
    chat = read(
        tmp_path,
        session(
            "s",
            user("go", api_content="<memory-context>likes tea</memory-context>\n\ngo"),
            user("[ASYNC DELEGATION COMPLETE — d1]\nAll found."),
            user(notice),
            user("Anna: lunch?", observed=1),
            user("[Note: model was just switched from a to b.]\n\nand now [this]"),
            user(skill),
            {"role": "system", "content": "Be brief."},
            {"role": "session_meta", "content": None},
            {"role": "narrator", "content": "Meanwhile"},
        ),
    )
    assert [(event.text, event.injected) for event in of(chat, Asked)] == [
        ("go", None),
        ("<memory-context>likes tea</memory-context>", "context"),
        ("[ASYNC DELEGATION COMPLETE — d1]\nAll found.", "notice"),
        (notice, "notice"),
        ("Anna: lunch?", "observed"),
        ("[Note: model was just switched from a to b.]\n\nand now [this]", None),
        (skill, None),
    ]
    assert of(chat, Asked)[-1].command == "/review"
    assert [(event.topic, event.text) for event in of(chat, Noted)] == [
        ("system", "Be brief."),
        ("narrator", "Meanwhile"),
    ]
    assert [report.kind for report in chat.diagnostics] == ["unknown-record"]


def test_pictures_of_results_and_other_parts(tmp_path: Path) -> None:
    shown = [{"type": "text", "text": "shot"}, {"type": "image_url", "image_url": {"url": PNG}}]
    other = [
        {"type": "input_image", "image_url": "https://example.com/a.png"},
        {"type": "input_audio"},
        {"type": "new"},
    ]
    chat = read(
        tmp_path,
        session("s", user(other), model("", call("c", "browser_vision")), result("c", shown, "browser_vision")),
    )
    (asked,) = of(chat, Asked)
    assert (asked.text, [type(part).__name__ for part in asked.parts]) == ('{"type":"new"}', ["Image", "File"])
    assert asked.parts[0].reference == "https://example.com/a.png"
    (returned,) = of(chat, Returned)
    assert text_of(returned.parts) == "shot"
    assert [part.size for part in returned.parts if isinstance(part, Image)] == [70]


# --- tokens and money


COSTS: dict[str, tuple[dict[str, Any], Cost | None]] = {
    "unknown": ({"estimated_cost_usd": 0.0}, None),
    "free by its estimate": ({"estimated_cost_usd": 0.0, "cost_status": "estimated"}, Cost(0.0, "metered", None, "…")),
    "estimated": ({"estimated_cost_usd": 0.5, "cost_status": "estimated"}, Cost(0.5, "metered", None, "…")),
    "billed": ({"estimated_cost_usd": 0.5, "actual_cost_usd": 0.4, "cost_status": "actual"}, Cost(0.4, "metered")),
    "in a plan": ({"estimated_cost_usd": 0.0, "cost_status": "included"}, Cost(None, "plan")),
}


@pytest.mark.parametrize("name", COSTS)
def test_what_a_session_cost(tmp_path: Path, name: str) -> None:
    columns, expected = COSTS[name]
    chat = read(tmp_path, session("s", user("go"), **columns))
    estimated = chat.cost is not None and chat.cost.estimated_from is not None
    assert (replace(chat.cost, estimated_from="…") if chat.cost and estimated else chat.cost) == expected
    assert chat.usage is None, "columns of zeros say nothing"


def test_tokens_of_all_sessions_of_a_chat_are_its_tokens_once(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        session("a", user("one"), model("1"), input_tokens=10, output_tokens=5, end_reason="compression"),
        session("b", user(summary("s")), user("two"), parent_session_id="a"),
        session("c", user("three"), parent_session_id="b", input_tokens=1, cache_read_tokens=7, reasoning_tokens=2),
    )
    assert chat.usage == Usage(10, 5, 0, 0, None, 0), "the third is a chat below it, with tokens of its own"
    assert [subagent.usage for subagent in chat.subagents] == [Usage(8, 0, 7, 0, None, 2)]
    assert make_timeline(chat).totals.usage == chat.usage


# --- lineage


def test_a_compressed_chat_is_one_chat_and_tells_kept_messages_once(tmp_path: Path) -> None:
    first = [user("one"), model("1"), user("two"), model("2"), user("three"), model("3")]
    again = [dict(first[0]), dict(first[1]), model(summary("S")), dict(first[4]), dict(first[5])]
    for late, message in enumerate(again):
        message["timestamp"] = START + 1_000 + late / 100
    chat = read(
        tmp_path,
        session("a", *first, title="Counting", end_reason="compression"),
        session("b", *again, user("four"), model("4"), title="Counting #2", parent_session_id="a"),
    )
    words = [event.text for event in chat.events if isinstance(event, Asked | Said)]
    assert words == ["one", "1", "two", "2", "three", "3", "four", "4"]
    assert [type(event).__name__ for event in chat.events[6:8]] == ["Compacted", "Asked"]
    assert chat.title == "Counting"
    assert [(report.kind, report.count, report.lost) for report in chat.diagnostics] == [("kept-message", 4, False)]


def test_a_summary_that_was_put_into_a_kept_message(tmp_path: Path) -> None:
    merged = (
        "[PRIOR CONTEXT — for reference only; not a new message]\nthree\n\n"
        f"[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]\n\n{summary('S')}"
    )
    chat = read(
        tmp_path,
        session("a", user("one"), model("1"), user("three"), model("3"), end_reason="compression"),
        session("b", user(merged), model("3"), user("four"), parent_session_id="a"),
    )
    assert [event.text for event in of(chat, Asked)] == ["one", "three", "four"]
    assert [event.summary for event in of(chat, Compacted)] == [summary("S")]
    alone = tmp_path / "alone"
    chat = read(alone, session("b", user(merged), model("3"), user("four")))
    assert [event.text for event in of(chat, Asked)] == ["three", "four"], "here it is the only copy"


def test_a_chat_that_was_compressed_in_place_again_and_again(tmp_path: Path) -> None:
    def kept(*messages: Any, at: float) -> list[Any]:
        return [{**message, "timestamp": at + late / 1e6} for late, message in enumerate(messages)]

    old, live = {"active": 0, "compacted": 1}, {"active": 1, "compacted": 0}
    one, first, two, second = user("hi", timestamp=START), model("1"), user("hi", timestamp=START + 5), model("2")
    three, third, four, fourth = user("three"), model("3"), user("hi"), model("4")
    rows = [
        *({**message, **old} for message in (one, first, two, second)),
        *({**message, **old} for message in kept(one, first, user(summary("A")), two, second, at=START + 100)),
        *({**message, **old} for message in (three, third)),
        *({**message, **live} for message in kept(one, first, user(summary("B")), three, third, at=START + 200)),
        *({**message, **live} for message in (four, fourth)),
    ]
    chat = read(tmp_path, session("s", *rows))
    words = [event.text for event in chat.events if isinstance(event, Asked | Said)]
    assert words == ["hi", "1", "hi", "2", "three", "3", "hi", "4"]
    assert [event.summary for event in of(chat, Compacted)] == [summary("A"), summary("B")]


def test_what_a_person_says_twice_is_no_copy(tmp_path: Path) -> None:
    old, at = {"active": 0, "compacted": 1}, START + 100
    rows = [
        *(
            {**message, **old}
            for message in (user("hi", timestamp=START), model("1"), user("hi", timestamp=START + 50))
        ),
        user(summary("A"), timestamp=at, **old),
        *({**message, **old} for message in (model("2"), user("go"), model("3"))),
        user(summary("B"), timestamp=at + 900),
        model("3", timestamp=at + 900),
        user("go"),
    ]
    chat = read(tmp_path, session("s", *rows))
    assert [event.text for event in of(chat, Asked)] == ["hi", "hi", "go", "go"]
    assert [event.text for event in of(chat, Said)] == ["1", "2", "3"]


def test_a_compression_without_a_summary_is_still_a_compression(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        session("a", user("one"), model("1"), end_reason="compression"),
        session("b", user("two"), parent_session_id="a"),
    )
    assert [type(event).__name__ for event in chat.events] == ["Asked", "Said", "Compacted", "Asked"]
    assert of(chat, Compacted)[0].summary is None


def branched(**columns: Any) -> list[Session]:
    shared = [user("one"), model("", call("c", n=1)), result("c", "r"), model("1")]
    copies = [{**message, "timestamp": START + 300} for message in map(dict, shared)]
    return stored(
        session("a", *shared, user("two"), model("2"), input_tokens=100, output_tokens=10),
        session("b", *copies, user("other"), model("3"), at=START + 300, parent_session_id="a", **columns),
    )


@pytest.mark.parametrize("store", [database, export])
def test_a_branch_is_a_chat_of_its_own_whose_beginning_is_its_parents(tmp_path: Path, store: Any) -> None:
    marked = branched(model_config='{"_branched_from": "a"}', input_tokens=7, output_tokens=3)
    chats = read_all(store(tmp_path / "store", marked))
    assert sorted(chats) == ["a", "b"]
    chat = chats["b"]
    assert (chat.parent, chat.forked) == ("a", True)
    assert [event.inherited for event in chat.events] == [True, True, True, True, False, False]
    assert chat.usage == Usage(7, 3, *((0, 0, None, 0) if store is database else (None, None, None, None)))
    assert not any(event.inherited for event in chats["a"].events)


def test_a_branch_of_a_chat_that_is_not_here_says_so(tmp_path: Path) -> None:
    (chat,) = read_all(database(tmp_path / "state.db", branched(model_config='{"_branched_from": "a"}')[1:])).values()
    assert (chat.parent, chat.forked) == ("a", True)
    assert [report.kind for report in chat.diagnostics] == ["missing-parent"]


RELATIONS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a mark that names the parent": ({}, {"model_config": '{"_delegate_from": "a"}'}, "subagent"),
    "an inherited mark names another": (
        {"end_reason": "compression"},
        {"model_config": '{"_branched_from": "z"}'},
        "continuation",
    ),
    "a mark is more than how the parent ended": (
        {"end_reason": "compression"},
        {"model_config": '{"_branched_from": "a"}'},
        "branch",
    ),
    "a subagent of a compressed session": ({"end_reason": "compression"}, {"source": "subagent"}, "subagent"),
    "an old branch without a mark": ({"end_reason": "branched", "ended_at": START}, {}, "branch"),
    "a fresh start": ({"end_reason": "session_reset"}, {"model_config": '{"_reset_from": "a"}'}, "reset"),
    "no mark at all": ({"end_reason": "cli_close"}, {}, "subagent"),
    "marks that cannot be read": ({"end_reason": "compression"}, {"model_config": "{"}, "continuation"),
}


@pytest.mark.parametrize("name", RELATIONS)
def test_what_a_session_is_to_its_parent(tmp_path: Path, name: str) -> None:
    above, below, relation = RELATIONS[name]
    parent, child = session("a", user("one"), **above), session("b", user("two"), parent_session_id="a", **below)
    chats = read_all(database(tmp_path / "state.db", stored(parent, child)))
    alone = {"continuation": ["a"], "subagent": ["a"], "branch": ["a", "b"], "reset": ["a", "b"]}
    assert sorted(chats) == alone[relation]
    assert [subagent.id for subagent in chats["a"].subagents] == (["b"] if relation == "subagent" else [])
    if "b" in chats:
        assert (chats["b"].parent, chats["b"].forked) == ("a", relation == "branch")


def test_of_two_sessions_that_go_on_one_is_the_chat_and_the_other_a_branch(tmp_path: Path) -> None:
    chats = read_all(
        database(
            tmp_path / "state.db",
            stored(
                session("a", user("one"), end_reason="compression"),
                session("late", user("late"), parent_session_id="a", at=START + 9),
                session("early", user("early"), parent_session_id="a", at=START + 1),
            ),
        )
    )
    assert [event.text for event in of(chats["a"], Asked)] == ["one", "late"]
    assert (chats["early"].parent, chats["early"].forked) == ("a", True)


def test_each_subagent_hangs_on_the_call_that_gave_it_its_task(tmp_path: Path) -> None:
    delegated = {"source": "subagent", "parent_session_id": "a"}
    tasks = [{"goal": "north"}, {"goal": "south "}]
    chat = read(
        tmp_path,
        session(
            "a",
            user("go"),
            model("", call("c1", "delegate_task", goal="south"), call("c2", "delegate_task", tasks=tasks)),
        ),
        session("x", user("south"), **delegated),
        session("y", user("south"), **delegated),
        session("z", user("north"), **delegated),
        session("w", user("west"), **delegated),
        session("v", user("deeper"), source="subagent", parent_session_id="z"),
    )
    assert [(subagent.id, subagent.started_by) for subagent in chat.subagents] == [
        ("x", "c1"),
        ("y", "c2"),
        ("z", "c2"),
        ("w", None),
    ]
    assert [subagent.id for subagent in chat.subagents[2].subagents] == ["v"]
    assert [report.kind for report in chat.subagents[3].diagnostics] == ["unjoined-subagent"]
    assert chat.subagents[0].origin.kind == "subagent"


def test_sessions_that_name_each_other_in_a_circle_are_read_once(tmp_path: Path) -> None:
    ended = {"end_reason": "compression"}
    chats = read_all(
        database(
            tmp_path / "state.db",
            stored(
                session("a", user("one"), parent_session_id="c", **ended),
                session("b", user("two"), parent_session_id="a", **ended),
                session("c", user("three"), parent_session_id="b", **ended),
                session("d", user("four"), parent_session_id="d", source="subagent"),
            ),
        )
    )
    asked = Counter(event.text for chat in chats.values() for event in of(chat, Asked))
    assert asked == Counter(["one", "two", "three", "four"])


def test_a_very_deep_nest_of_subagents_loses_none(tmp_path: Path) -> None:
    nest = [
        session(f"s{n}", user(f"task {n}"), source="subagent", parent_session_id=f"s{n - 1}" if n else None)
        for n in range(100)
    ]
    chats = read_all(database(tmp_path / "state.db", stored(*nest)))

    def asked(chat: Any) -> int:
        return len(of(chat, Asked)) + sum(map(asked, chat.subagents))

    assert sum(map(asked, chats.values())) == 100


@pytest.mark.parametrize(
    ("columns", "kind", "name"),
    [
        ({}, "chat", None),
        ({"source": "tui"}, "chat", None),
        ({"source": "cron"}, "routine", "cron"),
        ({"source": "telegram", "chat_id": "7", "display_name": "Pump watch"}, "channel", "Pump watch"),
        ({"source": "api_server"}, "client", "api_server"),
        ({"source": "subagent", "model_config": '{"_delegate_from": "gone"}'}, "subagent", None),
    ],
)
def test_how_a_chat_came_to_be(tmp_path: Path, columns: dict[str, Any], kind: str, name: str | None) -> None:
    chat = read(tmp_path, session("s", user("go"), **columns))
    assert (chat.origin.kind, chat.origin.name) == (kind, name)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("hermes/*.jsonl")), ids=lambda path: path.name)
def test_examples_are_read_whole(path: Path) -> None:
    chats = read_all(path)
    assert list(chats) == ["20261006_080210_5e7f90", "20261005_191120_77aa12", "20261005_184210_3fb2c7"]
    for chat in chats.values():
        assert not [report for report in chat.diagnostics if report.lost]
        assert_counted_alike(chat, hermes.count(next(f for f in found_in(path) if f.id == chat.id), keep_nothing))
