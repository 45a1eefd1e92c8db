"""Codex's rollouts: what was asked, thought, said and done in a thread, each thing once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codex_logs import (
    GIF,
    GIF_URL,
    SAMPLE,
    answer,
    answers,
    begin,
    end,
    event,
    found_in,
    injected,
    item,
    notes,
    of,
    own,
    picture,
    prompts,
    read,
    read_file,
    reports,
    results,
    tokens,
    turn_item,
    usage_of,
    user,
)
from conftest import EXAMPLES, SHARED
from trailbook.chat import (
    Answered,
    Asked,
    Called,
    Compacted,
    FilesChanged,
    Image,
    Returned,
    Said,
    Thought,
    Usage,
    with_subagents,
)
from trailbook.readers import Unreadable, codex
from trailbook.readers.codex.thread import HANDLERS

MAIN = SAMPLE / "sessions/2026/10/12/rollout-2026-10-12T09-20-00-0199d000-aaaa-7000-8000-000000000001.jsonl"
OLD = SAMPLE / "sessions/2025/05/07/rollout-2025-05-07T17-24-21-5973b6c0-94b8-487b-a530-2aeb6098ae0e.jsonl"
EXPECTED = json.loads((SAMPLE / "expected.json").read_text())


# --- threads with nearly everything


def test_a_whole_thread() -> None:
    chat = read_file(MAIN)
    assert (chat.id, chat.source, chat.title) == ("0199d000-aaaa-7000-8000-000000000001", "codex", "Fix rounding")
    assert (chat.agent.name, chat.agent.version, chat.agent.product) == ("Codex", "0.144.1", "Codex")
    assert (chat.cwd, chat.git_branch, chat.system_prompt) == (
        "/home/user/orchard",
        "main",
        "You are Codex (synthetic).",
    )
    assert (chat.started, chat.ended) == (1791796800000, 1791796853689)
    assert chat.models == ["gpt-5.3-codex", "gpt-5.3-codex-mini"]
    assert chat.providers == ["openai"]
    assert chat.reopen == ["codex", "resume", "0199d000-aaaa-7000-8000-000000000001"]
    assert (chat.origin.kind, chat.parent, chat.completed) == ("chat", None, True)
    assert prompts(chat) == ["Fix the rounding bug; the screenshot shows the output.", "Thanks, commit it."]
    assert [word for word, _ in injected(chat)] == ["context", "interruption"]
    assert [note[0] for note in notes(chat)] == ["system"]
    assert [event.text for event in of(chat, Thought)] == ["**Inspecting** the module and tests"]
    assert of(chat, Thought)[0].encrypted == "gAAAAASYNTHETIC"
    assert answers(chat) == ["Fixed: fmt() now always prints two decimals.", "Committed."]
    assert [(event.id, event.name) for event in of(chat, Called)] == [
        ("call_p1", "exec_command"),
        ("call_p2", "exec_command"),
        ("call_p3", "apply_patch"),
        ("call_p4", "local_shell"),
        ("call_p5", "view_image"),
        ("ws_1", "web_search"),
        ("call_p6", "mcp__tracker__close_issue"),
        ("call_p7", "spawn_agent"),
        ("call_p8", "exec_command"),
        ("call_p9", "exec_command"),
    ]
    assert [
        (event.call, event.ok, event.exit_status, event.not_run, event.duration) for event in of(chat, Returned)
    ] == [
        ("call_p2", False, 1, None, 2000),
        ("call_p1", True, 0, None, None),
        ("call_p3", True, 0, None, 100),
        ("call_p4", True, 0, None, None),
        ("call_p5", None, None, None, None),
        ("call_p6", False, None, None, None),
        ("call_p7", None, None, None, None),
        ("call_p8", False, None, "stopped", None),
        ("call_p9", True, 0, None, None),
    ]
    assert [(event.id, event.outcome, event.duration) for event in of(chat, Answered)] == [
        ("turn-1", "success", 61000),
        ("turn-2", "interrupted", None),
        ("turn-3", "success", None),
    ]
    assert of(chat, Compacted)[0].summary == "Summary: fmt() fixed in price.py."
    assert reports(chat) == {}


def test_a_whole_thread_s_numbers() -> None:
    chat = read_file(MAIN)
    usage = usage_of(chat)
    assert usage == Usage(21_100, 610, 15_600, None, None, 192)
    assert (usage.prompt_tokens, usage.output_tokens) == (
        EXPECTED["input_tokens_true"],
        EXPECTED["output_tokens_true"],
    )
    assert len(of(chat, Called)) == EXPECTED["calls_main"]
    assert len(of(chat, Returned)) == EXPECTED["results_main"]
    assert len(of(chat, Said)) == EXPECTED["assistant_messages"]
    images = [part for event in of(chat, Asked) + of(chat, Returned) for part in event.parts if isinstance(part, Image)]
    assert [(image.media_type, image.size) for image in images] == [("image/png", 70)] * EXPECTED["images"]
    left = [event.id for event in of(chat, Answered) if event.branch]
    assert left == EXPECTED["rolled_back_turns"]
    spent = {key: message.usage for key, message in chat.messages.items() if message.usage}
    assert [usage.output_tokens for usage in spent.values()] == [240, 310, 60]


def test_a_subagent_is_a_chat_below_the_call_that_spawned_it() -> None:
    (subagent,) = read_file(MAIN).subagents
    assert (subagent.id, subagent.started_by) == ("0199d000-bbbb-7000-8000-000000000002", "call_p7")
    assert (subagent.title, subagent.origin.kind, subagent.forked) == ("list callers of fmt", "subagent", False)
    assert prompts(subagent) == ["list callers of fmt"]
    assert [event.id for event in own(subagent) if isinstance(event, Called)] == ["call_s1"]
    assert [event.id for event in of(subagent, Called) if event.inherited] == [
        *("call_p1", "call_p2", "call_p3", "call_p4", "call_p5", "ws_1", "call_p6")
    ]
    usage = usage_of(subagent)
    assert usage == Usage(2_100, 40, 900, None, None, 0)
    assert usage.output_tokens == EXPECTED["subagent_own_output_tokens"]
    assert subagent.models == ["gpt-5.3-codex-mini"]
    assert subagent.reopen == []


def test_the_bare_format_of_2025() -> None:
    chat = read_file(OLD)
    assert (chat.id, chat.title) == ("5973b6c0-94b8-487b-a530-2aeb6098ae0e", "hi")
    assert chat.started == 1746638661123
    assert [(event.id, event.name, event.arguments) for event in of(chat, Called)] == [
        ("call_o1", "shell", {"command": ["ls"]})
    ]
    assert [(event.exit_status, event.duration) for event in of(chat, Returned)] == [(0, 0)]
    assert (prompts(chat), answers(chat)) == (["hi"], ["One file: a.py"])
    assert (chat.models, usage_of(chat), reports(chat)) == ([], None, {})


def test_the_ledger_of_a_whole_thread() -> None:
    ledger = codex.count(found_in(MAIN), lambda place: place.number == 10)
    counts = {kind: len(ledger.of(kind)) for kind in ("call", "result", "image", "answer", "thought")}
    assert counts == {"call": 9, "result": 8, "image": 2, "answer": 2, "thought": 1}
    assert [entry.kind for entry in ledger.aside] == ["prompt", "call", "result", "prompt"]
    assert [entry.text for entry in ledger.entries if entry.text] == ['{"cmd":"sed -n 1,20p price.py"}']
    assert [(below.chat, below.started_by) for below in ledger.subagents] == [
        ("0199d000-bbbb-7000-8000-000000000002", "call_p7")
    ]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("codex/**/rollout-*")), ids=lambda path: path.stem[-12:])
def test_examples_are_counted_as_they_are_read(path: Any) -> None:
    if not isinstance(found := codex.find(path, path.read_bytes()[:65_536]), list):
        pytest.skip("a subagent's file")
    assert found
    for chat in with_subagents(read_file(path)):
        assert not [report for report in chat.diagnostics if report.lost]


@pytest.mark.parametrize("path", sorted((SHARED / "cases").glob("*-codex-*")), ids=lambda path: path.stem)
def test_logs_that_broke_other_tools_are_counted_as_they_are_read(path: Any) -> None:
    read_file(path)


# --- what is said twice is read once


def test_a_message_that_is_written_twice_is_read_once_and_a_real_repeat_twice(tmp_path: Any) -> None:
    ask, reply = "count the files", "There are 7."
    exchange = [
        user(ask),
        event("user_message", message=ask, images=[]),
        event("agent_message", message=reply),
        answer(reply),
    ]
    chat = read(tmp_path, user("<environment_context>\n</environment_context>"), *exchange, *exchange)
    assert [(type(event).__name__, event.text) for event in own(chat)[1:]] == [
        ("Asked", ask),
        ("Said", reply),
        ("Asked", ask),
        ("Said", reply),
    ]
    assert injected(chat) == [("context", "<environment_context>\n</environment_context>")]


def test_a_log_of_items_alone_is_read(tmp_path: Any) -> None:
    chat = read(
        tmp_path,
        item("message", role="developer", content=[{"type": "input_text", "text": "<permissions instructions>…"}]),
        user("# AGENTS.md instructions for /srv/demo\n\n<INSTRUCTIONS>\nbe nice\n</INSTRUCTIONS>"),
        user("what is 3+3"),
        answer("6"),
        tokens(490, 10),
    )
    assert (prompts(chat), answers(chat), chat.title) == (["what is 3+3"], ["6"], "what is 3+3")
    assert [word for word, _ in injected(chat)] == ["instructions"]
    assert usage_of(chat) == Usage(490, 10, 0, None, None, 0)


def test_a_log_of_events_alone_is_read(tmp_path: Any) -> None:
    chat = read(
        tmp_path,
        event("user_message", message="what is 3+3", images=[GIF_URL], local_images=["/srv/a.png"]),
        event("agent_reasoning", text="Six."),
        event("agent_reasoning_raw_content", text="3+3=6"),
        event("agent_message", message="6"),
    )
    assert (prompts(chat), answers(chat)) == (["what is 3+3"], ["6"])
    assert [event.text for event in of(chat, Thought)] == ["Six.", "3+3=6"]
    images = [part for event in of(chat, Asked) for part in event.parts]
    assert [(image.data, image.reference) for image in images] == [(GIF, None), (None, "/srv/a.png")]


def test_items_of_turns_in_newer_words(tmp_path: Any) -> None:
    chat = read(
        tmp_path,
        turn_item("UserMessage", content=[{"type": "text", "text": "rename the flag"}]),
        turn_item("Reasoning", summary_text=["First look.", "Then rename."], raw_content=[]),
        turn_item("AgentMessage", phase="commentary", content=[{"type": "Text", "text": "Looking first."}]),
        turn_item("AgentMessage", phase="final_answer", content=[{"type": "Text", "text": "Renamed."}]),
        turn_item("Plan", text="1. rename"),
    )
    assert (prompts(chat), answers(chat)) == (["rename the flag"], ["Looking first.", "Renamed."])
    assert [event.text for event in of(chat, Thought)] == ["First look.", "Then rename."]
    assert notes(chat) == [("plan", "1. rename", None)]
    assert (chat.title, reports(chat)) == ("rename the flag", {})


def test_work_in_items_of_turns_is_read_where_nothing_else_has_it(tmp_path: Any) -> None:
    invocation = {"server": "tracker", "tool": "close_issue", "arguments": {"id": 42}}
    chat = read(
        tmp_path,
        user("go"),
        turn_item("CommandExecution", id="x1", command="ls", aggregatedOutput="a.py\n", exitCode=0, durationMs=12),
        turn_item("FileChange", id="x2", changes=[{"path": "a.py", "kind": "update", "diff": "@@ -1 +1 @@\n-a\n+b"}]),
        turn_item("McpToolCall", id="x3", **invocation, result={"content": [{"type": "text", "text": "closed"}]}),
        turn_item("WebSearch", id="x4", query="pears", action={"type": "search", "query": "pears"}),
    )
    assert [(event.id, event.name) for event in of(chat, Called)] == [
        ("x1", "exec_command"),
        ("x2", "apply_patch"),
        ("x3", "mcp__tracker__close_issue"),
        ("x4", "web_search"),
    ]
    assert results(chat) == [("x1", "a.py\n"), ("x3", "closed")]
    assert [(event.exit_status, event.duration) for event in of(chat, Returned)] == [(0, 12), (None, None)]
    assert [change.path for event in of(chat, FilesChanged) for change in event.files] == ["a.py"]


def test_an_unknown_item_is_named(tmp_path: Any) -> None:
    chat = read(tmp_path, user("go"), turn_item("Telepathy", content=[]), item("telegram"), event("drum_roll"))
    assert [(report.text, report.lost) for report in chat.diagnostics] == [
        ('Items of the type "Telepathy" are not known here: they were passed over.', True),
        ('Items of the type "telegram" are not known here: they were passed over.', True),
        ('Records of the type "drum_roll" are not known here: they were passed over.', False),
    ]
    assert [report.place and report.place.number for report in chat.diagnostics] == [3, 4, 5]


def test_a_log_of_which_nothing_is_known_is_no_empty_chat(tmp_path: Any) -> None:
    with pytest.raises(Unreadable, match=r'holds nothing that was asked or done\. Items of the type "Telepathy"'):
        read(tmp_path, turn_item("Telepathy"))


def test_an_event_repeats_only_an_item_of_its_own_turn(tmp_path: Any) -> None:
    first = [begin("t1"), event("user_message", message="go on"), event("agent_message", message="Done."), end("t1")]
    second = [begin("t2"), user("go on"), answer("Done."), end("t2")]
    chat = read(tmp_path, *first, *second)
    assert (prompts(chat), answers(chat)) == (["go on", "go on"], ["Done.", "Done."])


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (answer("Here it is.\n<proposed_plan>\n1. x\n</proposed_plan>"), event("agent_message", message="Here it is.")),
        (answer("a\n\nb"), event("agent_message", message="a\nb")),
        (user("one", "two"), event("user_message", message="onetwo")),
        (user("<image name=[Image #1]>", picture(), "</image>", "see"), event("user_message", message="see")),
        (user(picture()), event("user_message", message="", images=[GIF_URL])),
        (
            user("<environment_context>x</environment_context>"),
            event("user_message", message="<environment_context>x</environment_context>", kind="environment_context"),
        ),
    ],
    ids=["plan", "blank-lines", "blocks", "picture", "only-a-picture", "context"],
)
def test_an_event_in_slightly_other_words_is_the_same(tmp_path: Any, written: Any, told: Any) -> None:
    chat = read(tmp_path, written, told)
    assert len(chat.events) == 1


def test_tags_around_a_picture_are_its_name(tmp_path: Any) -> None:
    chat = read(tmp_path, user("<image name=[Image #1]>", picture(), "</image>", "see </image>"))
    assert prompts(chat) == ["see </image>"]
    assert [(part.name, part.data) for event in of(chat, Asked) for part in event.parts] == [("Image #1", GIF)]


def test_what_the_harness_puts_into_a_prompt_stands_apart(tmp_path: Any) -> None:
    chat = read(
        tmp_path,
        user("# AGENTS.md instructions for /srv\n\nx", "<environment_context>\n</environment_context>", "go"),
        user("<skill> is a tag: what is it for?"),
        user("<turn_aborted>\nstopped\n</turn_aborted>"),
        user("<subagent_notification>\n{}\n</subagent_notification>"),
    )
    assert [word for word, _ in injected(chat)] == ["instructions", "context", "interruption", "subagent"]
    assert prompts(chat) == ["go", "<skill> is a tag: what is it for?"]


def test_a_title_leaves_out_what_an_editor_wrote(tmp_path: Any) -> None:
    chat = read(
        tmp_path, user("# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nfix it")
    )
    assert chat.title == "fix it"
    assert prompts(chat)[0].startswith("# Context from my IDE setup:")


def test_a_command_that_the_person_ran_is_no_call(tmp_path: Any) -> None:
    told = "<user_shell_command>\n<command>\nls -a\n</command>\n<result>\na.py\n</result>\n</user_shell_command>"
    ran = event(
        "exec_command_end",
        call_id="u1",
        source="user_shell",
        command=["bash", "-lc", "ls -a"],
        aggregated_output="a.py",
        exit_code=0,
    )
    chat = read(tmp_path, begin(), user(told), ran)
    assert (of(chat, Called), injected(chat), notes(chat)) == ([], [("command", told)], [])
    chat = read(tmp_path, user("go"), ran)
    assert (of(chat, Called), notes(chat)) == ([], [("command", "!ls -a", "a.py")])


def test_what_another_agent_wrote_is_no_person_s_prompt(tmp_path: Any) -> None:
    message = {"author": "/root", "recipient": "/root/scout", "content": "Look at fmt."}
    chat = read(
        tmp_path,
        {"type": "inter_agent_communication", "payload": message},
        item("agent_message", author="/root", content=[{"type": "input_text", "text": "Look at fmt."}]),
        answer("Looked."),
    )
    assert injected(chat) == [("agent", "Look at fmt.")]
    assert (of(chat, Asked)[0].by, chat.title) == ("/root", "Look at fmt.")


def test_every_handler_takes_an_empty_record(tmp_path: Any) -> None:
    log = [{"type": kind, "payload": {"type": name} if name else {}} for kind, name in HANDLERS if kind != "state"]
    chat = read(tmp_path, user("go"), *log, {"record_type": "state"})
    assert prompts(chat)[0] == "go"
