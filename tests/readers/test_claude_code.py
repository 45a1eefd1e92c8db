"""Claude Code's sessions: what a person asked, what the model did, and where it went another way."""

from __future__ import annotations

import base64
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from claude_code_logs import (
    GIF,
    GIF_TEXT,
    SAMPLE,
    SESSION,
    assert_counted_alike,
    call,
    chained,
    find,
    found_in,
    injected,
    model,
    notes,
    of,
    picture,
    prompts,
    queued,
    read,
    read_file,
    record,
    reports,
    result,
    text,
    user,
)
from conftest import EXAMPLES, SHARED
from trailbook.chat import (
    Answered,
    Asked,
    Called,
    Compacted,
    File,
    FileChange,
    FilesChanged,
    Image,
    Place,
    Returned,
    Said,
    Usage,
    text_of,
)
from trailbook.ledger import keep_nothing
from trailbook.readers import claude_code
from trailbook.timeline import make_timeline

# --- a session with nearly everything


def test_a_whole_session() -> None:
    chat = read_file(SAMPLE / f"{SESSION}.jsonl")
    assert (chat.id, chat.source, chat.title) == (SESSION, "claude_code", "Fix price rounding")
    assert (chat.agent.product, chat.agent.version, chat.models) == ("Claude Code", "2.1.230", ["claude-opus-4-8"])
    assert (chat.cwd, chat.git_branch) == ("/home/user/orchard", "main")
    assert (chat.started, chat.ended) == (1791795602014, 1791795640280)
    assert chat.reopen == ["claude", "--resume", SESSION]
    assert [event.id for event in of(chat, Called)] == [
        *("toolu_01R", "toolu_01B", "toolu_01T", "toolu_01E", "toolu_01I", "toolu_01G", "toolu_01X", "toolu_01Z")
    ]
    assert [(event.call, event.ok, event.not_run, event.exit_status) for event in of(chat, Returned)] == [
        ("toolu_01R", True, None, None),
        ("toolu_01B", False, None, 1),
        ("toolu_01T", True, None, None),
        ("toolu_01E", True, None, None),
        ("toolu_01I", True, None, None),
        ("toolu_01G", True, None, None),
        ("toolu_01X", False, "declined", None),
    ]
    assert prompts(chat) == [
        "Fix the rounding bug in price.py, see [Image #1]",
        "also keep thousands separators",
        "leave build alone, just finish",
        "finish up",
        "run the full suite",
    ]
    assert ("reminder", "The user opened cart.py in the IDE.") in injected(chat)
    assert len(chat.messages) == 8
    assert make_timeline(chat).totals.usage == Usage(103_548, 880, 98_200, 5_300, 0)
    assert [type(event).__name__ for event in chat.events if event.branch] == ["Asked", "Said"]
    assert [(branch.left_at and branch.left_at.number) for branch in chat.branches.values()] == [33]
    assert of(chat, Compacted)[0].tokens_before == 155_000
    assert of(chat, Compacted)[0].summary.endswith("Summary: fmt() fixed.")
    images = [part for event in of(chat, Asked) + of(chat, Returned) for part in event.parts if isinstance(part, Image)]
    assert [(image.media_type, image.size) for image in images] == [("image/png", 70), ("image/png", 70)]
    assert chat.completed is None, "the last call was never answered"
    assert reports(chat)["damaged-line"] == 1
    assert reports(chat)["repeated-record"] == 1


def test_a_subagent_is_a_chat_below_the_call_that_started_it() -> None:
    (subagent,) = read_file(SAMPLE / f"{SESSION}.jsonl").subagents
    assert (subagent.id, subagent.started_by, subagent.title) == ("a1b2c3d", "toolu_01T", "find callers")
    assert (subagent.agent.name, subagent.origin.kind) == ("Explore", "subagent")
    assert [event.id for event in of(subagent, Called)] == ["toolu_s1"]
    assert make_timeline(subagent).totals.usage == Usage(4_192, 61, 2_000, 2_180, 0)
    assert subagent.events[0].place == Place(f"{SESSION}/subagents/agent-a1b2c3d.jsonl", 1)


def test_the_ledger_of_a_whole_session() -> None:
    found = found_in(SAMPLE / f"{SESSION}.jsonl")
    ledger = claude_code.count(found, keep_nothing)
    counts = {kind: len(ledger.of(kind)) for kind in ("call", "result", "image", "answer", "thought")}
    assert counts == {"call": 8, "result": 7, "image": 2, "answer": 3, "thought": 1}
    assert sum(not entry.injected for entry in ledger.of("prompt")) == 5
    assert [entry.kind for entry in ledger.aside] == ["prompt", "answer"]
    assert ledger.usage == Usage(103_548, 880, 98_200, 5_300, 0)
    assert [len(subagent.of("call")) for subagent in ledger.subagents] == [1]
    kept = claude_code.count(found, lambda place: place.number == 11)
    assert [entry.text for entry in kept.entries if entry.text] == ['{"command":"pytest -q","description":"Run tests"}']


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("claude_code/projects/*/*.jsonl")), ids=lambda path: path.stem)
def test_examples_are_counted_as_they_are_read(path: Path) -> None:
    chat = read_file(path)
    assert_counted_alike(chat, claude_code.count(found_in(path), keep_nothing))
    assert not [report for report in chat.diagnostics if report.lost]


def test_the_sample_is_counted_as_it_is_read() -> None:
    found = found_in(SAMPLE / f"{SESSION}.jsonl")
    assert_counted_alike(claude_code.read(found, UTC), claude_code.count(found, keep_nothing))


@pytest.mark.parametrize("path", sorted((SHARED / "cases").glob("*.jsonl")), ids=lambda path: path.stem)
def test_logs_that_broke_other_tools_are_counted_as_they_are_read(path: Path) -> None:
    if not isinstance(find(path), list):
        pytest.skip("another agent's log")
    assert_counted_alike(read_file(path), claude_code.count(found_in(path), keep_nothing))


# --- messages of the model


def test_a_message_split_over_lines_is_counted_once_with_its_last_output(tmp_path: Path) -> None:
    tokens = {"input_tokens": 4, "cache_creation_input_tokens": 1200, "cache_read_input_tokens": 5000}
    chat = read(
        tmp_path,
        user("explain"),
        model({"type": "thinking", "thinking": "hm", "signature": "c2ln"}, tokens={**tokens, "output_tokens": 1}),
        model(text("Part one."), tokens={**tokens, "output_tokens": 3}),
        model(call(file_path="/a"), tokens={**tokens, "output_tokens": 427}, stop="tool_use"),
    )
    assert list(chat.messages) == ["msg_1"]
    assert chat.messages["msg_1"].usage == Usage(6204, 427, 5000, 1200, None)
    assert chat.messages["msg_1"].stop_reason == "tool_use"
    assert [(type(event).__name__, event.message) for event in chat.events[1:]] == [
        ("Thought", "msg_1"),
        ("Said", "msg_1"),
        ("Called", "msg_1"),
    ]


def test_equal_usage_on_two_lines_is_one_usage(tmp_path: Path) -> None:
    tokens = {
        "input_tokens": 4,
        "cache_creation_input_tokens": 15178,
        "cache_read_input_tokens": 0,
        "output_tokens": 61,
    }
    chat = read(tmp_path, user("list"), model(text("Looking."), tokens=tokens), model(call(), tokens=tokens))
    usage = make_timeline(chat).totals.usage
    assert usage is not None
    assert (usage.prompt_tokens or 0) + (usage.output_tokens or 0) == 15243
    assert [event.text for event in of(chat, Said)] == ["Looking."]
    assert [event.name for event in of(chat, Called)] == ["Bash"]


def test_usage_and_model_are_of_one_line_also_where_the_model_changed(tmp_path: Path) -> None:
    first = model(text("a"), tokens={"input_tokens": 900, "output_tokens": 5})
    second = model(text("b"), tokens={"input_tokens": 7, "output_tokens": 5, "service_tier": "standard"})
    second["message"]["model"] = "model-y"
    chat = read(tmp_path, user("go"), first, second)
    assert chat.messages["msg_1"].model == "model-y"
    assert chat.messages["msg_1"].usage == Usage(7, 5)
    assert chat.messages["msg_1"].extra == {"service_tier": "standard"}


def test_tokens_written_for_an_hour_stand_apart(tmp_path: Path) -> None:
    written = {"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 70}
    tokens = {"input_tokens": 1, "output_tokens": 2, "cache_creation_input_tokens": 100, "cache_creation": written}
    chat = read(tmp_path, user("go"), model(text("a"), tokens=tokens))
    assert chat.messages["msg_1"].usage == Usage(101, 2, None, 100, 70)


def test_a_message_without_content_keeps_its_tokens(tmp_path: Path) -> None:
    chat = read(tmp_path, user("go"), model(), model(text("a"), key="msg_2"))
    usage = make_timeline(chat).totals.usage
    assert usage is not None
    assert usage.output_tokens == 4
    assert notes(chat) == [("notice", "An answer without content.", None)]


def test_a_message_whose_first_line_is_empty_says_what_its_second_line_says(tmp_path: Path) -> None:
    chat = read(tmp_path, user("go"), model(text("")), model(text("a")))
    assert [type(event).__name__ for event in chat.events] == ["Asked", "Said"]


def test_the_price_that_old_versions_wrote_is_the_message_s(tmp_path: Path) -> None:
    chat = read(tmp_path, user("go"), model(text("a"), costUSD=0.25), model(call(), costUSD=0.25))
    cost = chat.messages["msg_1"].cost
    assert cost is not None
    assert cost.usd == 0.25


def test_a_failure_of_the_api_is_no_answer(tmp_path: Path) -> None:
    failure = model(text("API Error: 529 Overloaded."), key="x", isApiErrorMessage=True, tokens={"output_tokens": 0})
    failure["message"]["model"] = "<synthetic>"
    chat = read(tmp_path, user("go"), failure)
    assert [(event.outcome, event.problem) for event in of(chat, Answered)] == [("error", "API Error: 529 Overloaded.")]
    assert of(chat, Said) == []
    assert (chat.messages, chat.models, chat.completed) == ({}, [], False)


def test_a_turn_s_end_is_a_success_where_its_last_message_says_so(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        user("go"),
        model(text("a"), stop="end_turn"),
        record("system", subtype="turn_duration", durationMs=42000),
        user("on"),
        model(call(), key="msg_2", stop="tool_use"),
        record("system", subtype="turn_duration", durationMs=7),
    )
    assert [(event.outcome, event.duration) for event in of(chat, Answered)] == [("success", 42000), (None, 7)]


def test_arguments_that_are_no_object_are_kept_as_they_stand(tmp_path: Path) -> None:
    bent = {**call("t1"), "input": '{"command": "ls'}
    chat = read(tmp_path, user("go"), model(bent, {**call("t2"), "input": [1, 2]}, {**call("t3"), "input": None}))
    assert [(event.arguments, event.raw) for event in of(chat, Called)] == [
        ({}, '{"command": "ls'),
        ({}, "[1,2]"),
        ({}, None),
    ]


def test_a_search_by_the_model_s_own_server_is_a_call_with_its_result(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        user("go"),
        model(
            {"type": "server_tool_use", "id": "w1", "name": "web_search", "input": {"query": "pears"}},
            {"type": "web_search_tool_result", "tool_use_id": "w1", "content": [{"type": "web_search_result", "n": 1}]},
            {"type": "fallback", "from": "model-x"},
        ),
    )
    assert [(event.name, event.arguments) for event in of(chat, Called)] == [("web_search", {"query": "pears"})]
    assert [text_of(event.parts) for event in of(chat, Returned)] == ['{"type":"web_search_result","n":1}']
    assert [note[0] for note in notes(chat)] == ["model"]


# --- results


def test_parallel_results_hang_on_their_own_calls_in_any_order(tmp_path: Path) -> None:
    log = chained(
        [user("run three"), model(call("a"), call("b"), call("c"))]
        + [result(name, f"out {name}", parentUuid="u2") for name in ("a", "c", "b")]
    )
    chat = read(tmp_path, *log, model(text("all done"), key="msg_2"))
    assert [(event.call, text_of(event.parts)) for event in of(chat, Returned)] == [
        ("a", "out a"),
        ("c", "out c"),
        ("b", "out b"),
    ]
    assert chat.branches == {}
    assert prompts(chat) == ["run three"]


def test_a_result_without_a_call_is_an_orphan(tmp_path: Path) -> None:
    chat = read(tmp_path, user("go"), result("gone", "left over"))
    (orphan,) = of(chat, Returned)
    assert (orphan.call, orphan.linked, text_of(orphan.parts)) == (None, None, "left over")
    assert reports(chat) == {"orphan-result": 1}


@pytest.mark.parametrize(
    ("words", "error", "not_run", "status"),
    [
        ("Exit code 2\nno such file", True, None, 2),
        ("Error: Exit code 127\nnot found", True, None, 127),
        ("Exit code 2 is what the manual says", False, None, None),
        ("The user doesn't want to proceed with this tool use. The user said:\nnot now", True, "declined", None),
        ("The user doesn't want to take this action right now.", True, "declined", None),
        ("Permission for this tool use was denied.", True, "refused", None),
        ("Permission to use Bash with command rm has been denied.", True, "refused", None),
        ("[Request interrupted by user for tool use]", True, "stopped", None),
        ("<tool_use_error>Cancelled: parallel tool call failed</tool_use_error>", True, "stopped", None),
        ("The user doesn't want to proceed with this tool use", None, None, None),
    ],
)
def test_how_a_call_went(
    tmp_path: Path, words: str, error: bool | None, not_run: str | None, status: int | None
) -> None:
    chat = read(tmp_path, user("go"), model(call()), result("t1", words, error=error))
    (returned,) = of(chat, Returned)
    assert (returned.ok, returned.not_run, returned.exit_status) == (error is not True, not_run, status)


def test_an_edit_shows_the_log_s_own_hunks(tmp_path: Path) -> None:
    hunks = [
        {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 2, "lines": ["-a", "+b", "+c"]},
        {"oldStart": 9, "oldLines": 1, "newStart": 10, "newLines": 0, "lines": ["-z"]},
    ]
    edited = {"filePath": "/srv/a.py", "structuredPatch": hunks, "originalFile": "a\n" * 99}
    created = {"type": "create", "filePath": "/srv/b.py", "content": "x", "structuredPatch": []}
    seen = {"type": "text", "file": {"filePath": "/srv/c.py", "content": "x"}}
    chat = read(
        tmp_path,
        user("go"),
        model(call("t1", "Edit"), call("t2", "Write"), call("t3", "Read")),
        result("t1", "ok", edited),
        result("t2", "ok", created),
        result("t3", "ok", seen),
    )
    patch = "--- /srv/a.py\n+++ /srv/a.py\n@@ -1,1 +1,2 @@\n-a\n+b\n+c\n@@ -9,1 +10,0 @@\n-z\n"
    assert [event.patch for event in of(chat, Returned)] == [patch, None, None]
    assert [(event.id, event.call, event.files) for event in of(chat, FilesChanged)] == [
        (None, "t1", [FileChange("/srv/a.py", "changed", patch)]),
        (None, "t2", [FileChange("/srv/b.py", "created", None)]),
    ]


def test_a_result_says_how_long_it_took(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        user("go"),
        model(call("t1"), call("t2")),
        result("t1", "a", {"durationMs": 1820}),
        result("t2", "b", {"totalDurationMs": 8123, "totalTokens": 4210, "usage": {"output_tokens": 61}}),
    )
    assert [event.duration for event in of(chat, Returned)] == [1820, 8123]
    usage = make_timeline(chat).totals.usage
    assert usage is not None
    assert usage.output_tokens == 2, "what a subagent used is the subagent's"


def test_blocks_of_a_result_are_kept_in_order(tmp_path: Path) -> None:
    blocks = [text("one"), picture(), "two", {"type": "tool_reference", "tool_name": "x"}]
    chat = read(tmp_path, user("go"), model(call()), result("t1", blocks))
    parts = of(chat, Returned)[0].parts
    assert text_of(parts) == 'one\ntwo\n{"type":"tool_reference","tool_name":"x"}'
    assert [type(part).__name__ for part in parts] == ["Text", "Image", "Text", "Text"]


def test_a_picture_beside_a_result_came_with_it(tmp_path: Path) -> None:
    shown = result("t1", "see")
    shown["message"]["content"].append(picture())
    chat = read(tmp_path, user("go"), model(call()), result("t0", "x"), shown)
    assert [len(event.parts) for event in of(chat, Returned)] == [1, 2]
    assert prompts(chat) == ["go"]


# --- who says what in the user role


def test_a_local_command_is_a_note_with_its_output(tmp_path: Path) -> None:
    printed = "\u001b[1mContext Usage\u001b[22m\n12k/200k \u001b[31m(6%)\u001b[0m"
    chat = read(
        tmp_path,
        user("<local-command-caveat>Caveat: …</local-command-caveat>", isMeta=True),
        user(
            "<command-name>/context</command-name>\n<command-message>context</command-message>\n<command-args></command-args>"
        ),
        user(f"<local-command-stdout>{printed}</local-command-stdout>"),
        user("thanks"),
        model(text("np")),
    )
    assert notes(chat) == [("command", "/context", printed)]
    assert prompts(chat) == ["thanks"]


def test_a_command_that_prompts_the_model_is_a_prompt(tmp_path: Path) -> None:
    typed = "<command-message>review is running…</command-message>\n<command-name>/review</command-name>"
    typed += "\n<command-args>x.py</command-args>"
    chat = read(tmp_path, user(typed), user([text("Review x.py closely.")], isMeta=True), model(text("Fine.")))
    (asked,) = [event for event in of(chat, Asked) if event.injected is None]
    assert (asked.text, asked.command) == ("/review x.py", "/review x.py")
    assert injected(chat) == [("context", "Review x.py closely.")]


def test_a_command_that_nothing_followed_opened_no_turn(tmp_path: Path) -> None:
    clear = "<command-name>/clear</command-name>"
    chat = read(tmp_path, user(clear), user("hello"), model(text("hi")), user(clear))
    assert notes(chat) == [("command", "/clear", None), ("command", "/clear", None)]
    assert prompts(chat) == ["hello"]


def test_newer_local_commands_stand_in_system_records(tmp_path: Path) -> None:
    said = "<command-name>/cost</command-name><command-args></command-args>"
    chat = read(
        tmp_path,
        record("system", subtype="local_command", content=said),
        record("system", subtype="local_command", content="<local-command-stdout>$1</local-command-stdout>"),
        user("go"),
    )
    assert notes(chat) == [("command", "/cost", "$1")]


def test_a_shell_command_of_the_person_is_a_note(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        user("<bash-input>git status</bash-input>"),
        user("<bash-stdout> M a.py</bash-stdout><bash-stderr>warning: b</bash-stderr>"),
        user("go"),
    )
    assert notes(chat) == [("command", "! git status", " M a.py\nwarning: b")]
    assert prompts(chat) == ["go"]


@pytest.mark.parametrize(
    ("content", "asked", "put_in"),
    [
        ("finish <system-reminder>opened a.py</system-reminder>", ["finish"], [("reminder", "opened a.py")]),
        (
            "<system-reminder>x</system-reminder>\n\ngo\n<system-reminder>y</system-reminder>",
            ["go"],
            [("reminder", "x"), ("reminder", "y")],
        ),
        ([text("<ide_opened_file>a.py</ide_opened_file>"), text("go")], ["go"], [("context", "a.py")]),
        ("<system-reminder>only this</system-reminder>", [], [("reminder", "only this")]),
        ("what does <system-reminder> do?", ["what does <system-reminder> do?"], []),
        ("<b>bold</b> is HTML", ["<b>bold</b> is HTML"], []),
        (
            "<task-notification>done</task-notification>",
            [],
            [("notification", "<task-notification>done</task-notification>")],
        ),
        ("[Request interrupted by user]", [], [("interrupt", "[Request interrupted by user]")]),
        ("[Request interrupted by user] is what it said", ["[Request interrupted by user] is what it said"], []),
        ("", [], []),
        ("   ", [], []),
    ],
)
def test_what_a_person_wrote_and_what_was_put_between(
    tmp_path: Path, content: Any, asked: list[str], put_in: list[tuple[str, str]]
) -> None:
    chat = read(tmp_path, user(content), model(text("ok")))
    assert prompts(chat) == asked
    assert injected(chat) == put_in
    assert len({event.id for event in of(chat, Asked)}) == len(asked) + len(put_in)


def test_what_the_person_stopped_was_interrupted(tmp_path: Path) -> None:
    chat = read(tmp_path, user("go"), model(call()), user([text("[Request interrupted by user for tool use]")]))
    assert [event.outcome for event in of(chat, Answered)] == ["interrupted"]
    assert chat.completed is False


def test_text_of_the_program_is_no_prompt(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        user("go"),
        user("body of a skill", isMeta=True),
        user("a task ended", origin={"kind": "task-notification"}),
        user("typed", origin={"kind": "human"}),
        record("attachment", attachment={"type": "hook_additional_context", "content": ["be brief"]}),
        user("shown to the person only", isVisibleInTranscriptOnly=True),
    )
    assert prompts(chat) == ["go", "typed"]
    assert injected(chat) == [("context", "body of a skill"), ("notification", "a task ended"), ("hook", "be brief")]
    assert notes(chat) == [("notice", "shown to the person only", None)]


def test_what_was_typed_while_the_agent_worked_is_a_prompt_once(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        user("start"),
        record("queue-operation", operation="enqueue", content="also fix the docs"),
        model(call()),
        record("queue-operation", operation="remove"),
        result("t1", ""),
        queued("also fix the docs", commandMode="prompt", origin={"kind": "human"}),
        queued("<task-notification>x</task-notification>", commandMode="task-notification"),
        model(text("Docs fixed too."), key="msg_2"),
        record("brand-new-type-2027", payload={"a": 1}),
        record("brand-new-type-2027", payload={"a": 2}),
    )
    assert prompts(chat) == ["start", "also fix the docs"]
    assert [event.queued for event in of(chat, Asked) if event.injected is None] == [False, True]
    assert injected(chat) == [("notification", "<task-notification>x</task-notification>")]
    assert reports(chat) == {"unknown-record": 2}


def test_what_was_queued_and_sent_as_a_line_of_its_own_is_one_prompt(tmp_path: Path) -> None:
    enqueue = record("queue-operation", operation="enqueue", content="and then b")
    chat = read(tmp_path, user("a"), enqueue, model(text("x")), user("and then b"), model(text("y"), key="msg_2"))
    assert [(event.text, event.queued) for event in of(chat, Asked)] == [("a", False), ("and then b", True)]
    assert notes(chat) == []


def test_what_was_queued_and_never_sent_is_a_note(tmp_path: Path) -> None:
    enqueue = record("queue-operation", operation="enqueue", content="never mind")
    chat = read(tmp_path, user("a"), enqueue, record("queue-operation", operation="popAll"), model(text("x")))
    assert prompts(chat) == ["a"]
    assert notes(chat) == [("queued", "never mind", None)]


def test_a_queued_prompt_may_have_a_picture(tmp_path: Path) -> None:
    chat = read(tmp_path, user("a"), queued([text("like this"), picture()], commandMode="prompt"))
    assert [part.data for part in of(chat, Asked)[1].parts] == [GIF]


# --- pictures and files


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"type": "base64", "media_type": "image/gif", "data": GIF_TEXT}, ("image/gif", GIF, None, None)),
        (
            {"type": "base64", "media_type": "image/png", "data": base64.b64encode(b"\xff\xd8\xff\xe0jpeg").decode()},
            ("image/jpeg", b"\xff\xd8\xff\xe0jpeg", None, None),
        ),
        (
            {"type": "base64", "media_type": "image/png", "data": "REDACTED/REDACTED/iVBORw0KGgoAAAANSUhE"},
            ("image/png", None, None, "its base64 data is damaged"),
        ),
        (
            {"type": "base64", "media_type": 'image/png" onerror="x', "data": GIF_TEXT + '" onload="x'},
            (None, None, None, "its base64 data is damaged"),
        ),
        ({"type": "base64", "media_type": 'image/png" onerror="x', "data": GIF_TEXT}, ("image/gif", GIF, None, None)),
        (
            {"type": "base64", "media_type": "text/html", "data": "PGI+"},
            (None, None, None, "it is of no known picture type"),
        ),
        ({"type": "url", "url": "https://example.invalid/a.png"}, (None, None, "https://example.invalid/a.png", None)),
        ({"type": "url", "url": f"data:image/gif;base64,{GIF_TEXT}"}, ("image/gif", GIF, None, None)),
        ({"type": "file", "file_id": "file_demo"}, (None, None, "file_demo", None)),
        ({}, (None, None, None, "the log has no data for it")),
        ("x", (None, None, None, "the log has no data for it")),
    ],
)
def test_a_picture_or_why_there_is_none(tmp_path: Path, source: Any, expected: tuple[Any, ...]) -> None:
    chat = read(tmp_path, user([{"type": "image", "source": source}]), model(text("I see")))
    (asked,) = of(chat, Asked)
    (image,) = asked.parts
    assert (image.media_type, image.data, image.reference, image.problem) == expected
    assert asked.text == ""
    assert len(make_timeline(chat).turns) == 1, "a picture alone is a prompt too"


def test_documents_keep_their_words_or_their_size(tmp_path: Path) -> None:
    pdf = {
        "type": "document",
        "title": "a.pdf",
        "source": {"type": "base64", "media_type": "application/pdf", "data": "QUJDRA=="},
    }
    words = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "né"}}
    chat = read(tmp_path, user([text("read"), pdf, words]))
    assert of(chat, Asked)[0].parts == [
        File("a.pdf", "application/pdf", 4, None, None),
        File(None, "text/plain", 3, None, "né"),
    ]


# --- branches


def test_two_prompts_with_one_parent_are_a_branch(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        user("start", uuid="a", parentUuid=None),
        model(text("ready"), uuid="b", parentUuid="a"),
        user("in Rust", uuid="c", parentUuid="b"),
        model(call("t1"), key="msg_2", uuid="d", parentUuid="c"),
        result("t1", "rust", uuid="e", parentUuid="d"),
        user("in Go", uuid="f", parentUuid="b"),
        model(text("go"), key="msg_3", uuid="g", parentUuid="f"),
        user("in C", uuid="h", parentUuid="b"),
        model(text("c"), key="msg_4", uuid="i", parentUuid="h"),
    )
    assert prompts(chat) == ["start", "in C"]
    assert list(chat.branches) == ["c", "f"]
    assert [event.branch for event in chat.events] == [None, None, "c", "c", "c", "f", "f", None, None]
    usage = make_timeline(chat).totals.usage
    assert usage is not None
    assert usage.output_tokens == 8, "what a branch used was used"


def test_a_branch_goes_on_over_a_compaction(tmp_path: Path) -> None:
    boundary = record("system", subtype="compact_boundary", uuid="d", parentUuid=None, logicalParentUuid="c")
    chat = read(
        tmp_path,
        user("start", uuid="a", parentUuid=None),
        model(text("ready"), uuid="b", parentUuid="a"),
        user("long way", uuid="c", parentUuid="b"),
        boundary,
        model(text("still there"), key="msg_2", uuid="e", parentUuid="d"),
        user("short way", uuid="f", parentUuid="b"),
    )
    assert [event.branch for event in chat.events] == [None, None, "c", "c", "c", None]


def test_stubs_beside_the_path_are_no_branches(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        user("start", uuid="a", parentUuid=None),
        user("skill", isMeta=True, uuid="b", parentUuid="a"),
        user("<local-command-stdout>x</local-command-stdout>", uuid="c", parentUuid="a"),
        queued("mid-turn", uuid="d", parentUuid="a"),
        user("second", uuid="e", parentUuid="a"),
        user("first of another start", uuid="f", parentUuid=None),
    )
    assert chat.branches == {}


def test_records_that_are_their_own_ancestors_end_somewhere(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        user("a", uuid="a", parentUuid="b"),
        user("b", uuid="b", parentUuid="a"),
        user("c", uuid="c", parentUuid="a"),
        user("d", uuid="d", parentUuid="d"),
    )
    assert len(of(chat, Asked)) == 4


# --- everything else in a log


def test_titles_by_who_gave_them(tmp_path: Path) -> None:
    said = [user("go"), model(text("hm"))]
    summary = record("summary", summary="of this chat", leafUuid="u2")
    foreign = record("summary", summary="of another chat", leafUuid="elsewhere")
    ai, own = record("ai-title", aiTitle="by the agent"), record("custom-title", customTitle="by the person")
    table = [
        ([foreign], None),
        ([summary, foreign], "of this chat"),
        ([ai, summary], "by the agent"),
        ([own, ai, {**ai, "aiTitle": "by the agent, later"}], "by the person"),
    ]
    for number, (records, title) in enumerate(table):
        folder = tmp_path / str(number)
        assert read(folder, *said, *records).title == title
        assert found_in(folder / "s.jsonl").title == (title or "go")


def test_a_compaction_keeps_its_summary_whole(tmp_path: Path) -> None:
    details = {"trigger": "auto", "preTokens": 155000, "postTokens": 9000}
    chat = read(
        tmp_path,
        user("go"),
        record("system", subtype="compact_boundary", compactMetadata=details, parentUuid=None, logicalParentUuid="u1"),
        user("Summary: all of it.", isCompactSummary=True),
        user("finish"),
    )
    (compacted,) = of(chat, Compacted)
    assert (compacted.summary, compacted.trigger) == ("Summary: all of it.", "auto")
    assert (compacted.tokens_before, compacted.tokens_after) == (155000, 9000)
    assert prompts(chat) == ["go", "finish"]


def test_notices_hooks_and_attachments_are_noted_and_empty_ones_counted(tmp_path: Path) -> None:
    file = {"type": "file", "filename": "a.py", "content": {"type": "text", "file": {"content": "print(1)"}}}
    hook = {"type": "hook_blocking_error", "hookName": "Stop", "blockingError": "no tests", "toolUseID": "t1"}
    chat = read(
        tmp_path,
        user("go"),
        record("system", subtype="informational", content="Update installed"),
        record("system", subtype="api_error", retryAttempt=2),
        record("system", subtype="stop_hook_summary", hookErrors=[]),
        record("system", subtype="stop_hook_summary", hookErrors=["lint"]),
        record("attachment", attachment=file),
        record("attachment", attachment=hook),
        record("attachment", attachment={"type": "todo_reminder", "content": []}),
        record("progress", data={"type": "hook_progress"}),
        record("progress", data={"type": "bash_progress"}),
        record("pr-link", prUrl="https://example.invalid/1"),
    )
    assert notes(chat) == [
        ("notice", "Update installed", None),
        ("notice", "api error", '{"retryAttempt":2}'),
        ("hook", "stop hook summary", '{"hookErrors":["lint"]}'),
        ("attachment", "a.py", "print(1)"),
        ("hook", "Stop", "no tests"),
        ("pull request", "https://example.invalid/1", None),
    ]
    assert [report.count for report in chat.diagnostics] == [1, 1, 2]
    assert not any(report.lost for report in chat.diagnostics)
