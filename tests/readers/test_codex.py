"""Codex's rollouts: what was asked, thought, said and done in a thread, each thing once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codex_logs import (
    CHILD,
    GIF,
    GIF_URL,
    SAMPLE,
    answer,
    answers,
    at,
    begin,
    call,
    end,
    event,
    found_in,
    injected,
    item,
    meta,
    notes,
    of,
    output,
    own,
    picture,
    prompts,
    read,
    read_file,
    reports,
    results,
    spawned,
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
    FileChange,
    FilesChanged,
    Image,
    Place,
    Returned,
    Said,
    Text,
    Thought,
    Tool,
    Usage,
    text_of,
    with_subagents,
)
from trailbook.ledger import keep_nothing
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


# --- calls and what came back


@pytest.mark.parametrize(
    ("words", "ok", "status", "not_run", "duration"),
    [
        ("Chunk ID: 1\nWall time: 2.5 seconds\nProcess exited with code 1\nOutput:\nx", False, 1, None, 2500),
        ("Exit code: 0\nWall time: 0.1 seconds\nTotal output lines: 2\nOutput:\nx", True, 0, None, 100),
        ("Process exited with code -9", False, -9, None, None),
        ("Wall time: 10.0 seconds\nProcess running with session ID 7\nOutput:\n", None, None, None, 10000),
        ("Wall time: 1.0 seconds\nOutput:\nProcess exited with code 3\n", None, None, None, 1000),
        ("the manual says\nExit code: 3", None, None, None, None),
        ('{"output":"x","metadata":{"exit_code":2,"duration_seconds":1.5}}', False, 2, None, 1500),
        ('{"output":"x","metadata":{"exit_code":-1}}', False, -1, None, None),
        ('{"metadata":{"exit_code":2}}', None, None, None, None),
        ("{not json", None, None, None, None),
        ("failed to parse function arguments: EOF while parsing an object", False, None, None, None),
        ("apply_patch verification failed: no such line", False, None, None, None),
        ("aborted by user after 3.1s", False, None, "stopped", None),
        ("Wall time: 3.1 seconds\naborted by user", False, None, "stopped", None),
        ("aborted", False, None, "stopped", None),
        ("exec command rejected by user", False, None, "declined", None),
        ("patch rejected by user", False, None, "declined", None),
        ("user rejected MCP tool call", False, None, "declined", None),
        ("patch rejected: writing outside of the project", False, None, "refused", None),
        ({"content": "no such tool", "success": False}, False, None, None, None),
        ({"content": "fine", "success": True}, None, None, None, None),
    ],
)
def test_how_a_call_went(
    tmp_path: Any, words: Any, ok: bool | None, status: int | None, not_run: str | None, duration: int | None
) -> None:
    (returned,) = of(read(tmp_path, user("go"), call(), output("c1", words)), Returned)
    assert (returned.ok, returned.exit_status, returned.not_run, returned.duration) == (ok, status, not_run, duration)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("a", [Text("a")]),
        ("", []),
        (None, []),
        ({"content": "old"}, [Text("old")]),
        ({"a": 1}, [Text('{"a":1}')]),
        (7, [Text("7")]),
        ([{"type": "input_text", "text": "a"}, {"type": "odd"}], [Text("a"), Text('{"type":"odd"}')]),
    ],
)
def test_outputs_of_every_shape(tmp_path: Any, words: Any, parts: Any) -> None:
    (returned,) = of(read(tmp_path, user("go"), call(), output("c1", words)), Returned)
    assert returned.parts == parts


def test_a_picture_in_an_output_is_a_picture(tmp_path: Any) -> None:
    words = [
        {"type": "input_text", "text": "here"},
        picture(),
        picture("https://pics.invalid/a.png"),
        picture("data:x"),
    ]
    (returned,) = of(read(tmp_path, user("go"), call(name="view_image"), output("c1", words)), Returned)
    images = [part for part in returned.parts if isinstance(part, Image)]
    assert [(image.data, image.reference) for image in images[:2]] == [
        (GIF, None),
        (None, "https://pics.invalid/a.png"),
    ]
    assert images[2].problem is not None


@pytest.mark.parametrize(
    ("arguments", "kept", "raw"),
    [
        ('{"cmd":"ls"}', {"cmd": "ls"}, None),
        ({"cmd": "ls"}, {"cmd": "ls"}, None),
        ('{"id": 42', {}, '{"id": 42'),
        ("[1]", {}, "[1]"),
        (None, {}, None),
        (7, {}, "7"),
    ],
)
def test_arguments_of_every_shape(tmp_path: Any, arguments: Any, kept: Any, raw: str | None) -> None:
    (called,) = of(read(tmp_path, user("go"), call(arguments=arguments)), Called)
    assert (called.arguments, called.raw) == (kept, raw)


def test_names_carry_their_namespace(tmp_path: Any) -> None:
    chat = read(
        tmp_path,
        user("go"),
        item("function_call", name="close_issue", namespace="mcp__tracker__", arguments="{}", call_id="a"),
        item("function_call", name="spawn_agent", namespace="multi_agent_v1", arguments="{}", call_id="b"),
        item("function_call", arguments="{}", call_id="c"),
    )
    assert [event.name for event in of(chat, Called)] == [
        *("mcp__tracker__close_issue", "multi_agent_v1.spawn_agent", "unknown")
    ]


def test_ids_that_come_again_are_told_apart_and_orphans_are_kept(tmp_path: Any) -> None:
    chat = read(
        tmp_path, user("go"), call(), call(), output("c1", "a"), output("c1", "b"), output("c1", "c"), output("z")
    )
    assert [event.id for event in of(chat, Called)] == ["c1", "c1__2"]
    assert results(chat) == [("c1", "a"), ("c1__2", "b"), (None, "c"), (None, "done")]
    assert reports(chat) == {"orphan-result": 2}


def test_calls_without_an_id_are_named_by_their_line(tmp_path: Any) -> None:
    shell = {"type": "exec", "command": ["git", "diff"]}
    search = {"type": "search", "query": "pears"}
    chat = read(
        tmp_path,
        user("go"),
        item("local_shell_call", call_id=None, status="completed", action=shell),
        item("web_search_call", status="completed", action=search),
        item("web_search_call", id="ws_9", status="failed", action={"type": "open_page", "url": "https://a.invalid"}),
        event("web_search_end", call_id="ws_9", query="", action=None),
        event("web_search_end", call_id="ws_1", query="pears", action=search),
        event("web_search_end", call_id="ws_2", query="plums"),
    )
    assert [(event.id, event.name, event.arguments, event.ran) for event in of(chat, Called)] == [
        ("line-3", "local_shell", shell, None),
        ("ws_1", "web_search", search, True),
        ("ws_9", "web_search", {"type": "open_page", "url": "https://a.invalid"}, None),
        ("ws_2", "web_search", {"type": "search", "query": "plums"}, True),
    ]


def test_a_search_for_tools_and_a_drawn_picture(tmp_path: Any) -> None:
    drawn = {"id": "ig_1", "status": "completed", "revised_prompt": "a pear", "result": GIF_URL.partition(",")[2]}
    chat = read(
        tmp_path,
        user("go"),
        item("tool_search_call", call_id="s1", arguments={"query": "files"}, status="completed"),
        item("tool_search_output", call_id="s1", tools=[{"name": "read_file"}]),
        item("image_generation_call", **drawn),
        event("image_generation_end", call_id="ig_1", result="…"),
    )
    assert [(event.name, event.arguments) for event in of(chat, Called)] == [
        ("tool_search", {"query": "files"}),
        ("image_generation", {"prompt": "a pear"}),
    ]
    assert results(chat) == [("s1", '[{"name":"read_file"}]'), ("ig_1", "")]
    assert [part.data for part in of(chat, Returned)[1].parts] == [GIF]


def test_a_patch_shows_what_changed_in_each_file(tmp_path: Any) -> None:
    changes = {
        "/srv/a.py": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a\n+b\n", "move_path": None},
        "/srv/b.py": {"type": "add", "content": "x\ny\n"},
        "/srv/c.py": {"type": "delete", "content": "z"},
        "/srv/d.py": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-d\n+e\n", "move_path": "/srv/e.py"},
        "/srv/f.py": {"type": "update"},
    }
    text = "*** Begin Patch\n*** Add File: b.py\n+x\n+y\n*** End Patch"
    chat = read(
        tmp_path,
        user("go"),
        item("custom_tool_call", call_id="p1", name="apply_patch", input=text, status="completed"),
        event("patch_apply_end", call_id="p1", success=True, stdout="Success.", stderr="", changes=changes),
        item("custom_tool_call_output", call_id="p1", output="Success."),
    )
    (called,), (returned,), (changed,) = of(chat, Called), of(chat, Returned), of(chat, FilesChanged)
    assert (called.arguments, returned.ok, changed.id, changed.call) == ({"input": text}, True, None, "p1")
    patches = [
        "--- /srv/a.py\n+++ /srv/a.py\n@@ -1 +1 @@\n-a\n+b",
        "--- /dev/null\n+++ /srv/b.py\n@@ -0,0 +1,2 @@\n+x\n+y",
        "--- /srv/c.py\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-z",
        "--- /srv/d.py\n+++ /srv/e.py\n@@ -1 +1 @@\n-d\n+e",
    ]
    assert changed.files == [
        FileChange("/srv/a.py", "changed", patches[0]),
        FileChange("/srv/b.py", "created", patches[1]),
        FileChange("/srv/c.py", "deleted", patches[2]),
        FileChange("/srv/d.py", "deleted"),
        FileChange("/srv/e.py", "created", patches[3]),
        FileChange("/srv/f.py", "changed"),
    ]
    assert returned.patch == "\n".join(patches)


def test_a_patch_that_was_not_applied_changed_nothing(tmp_path: Any) -> None:
    changes = {"/srv/a.py": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a\n+b\n"}}
    for outcome in ({"success": False}, {"success": False, "status": "declined"}):
        chat = read(
            tmp_path,
            user("go"),
            item("custom_tool_call", call_id="p1", name="apply_patch", input="x"),
            event("patch_apply_end", call_id="p1", changes=changes, **outcome),
            item("custom_tool_call_output", call_id="p1", output="no"),
        )
        (returned,) = of(chat, Returned)
        assert (of(chat, FilesChanged), returned.ok, returned.patch) == ([], False, None)
        assert returned.not_run == ("declined" if "status" in outcome else None)


def test_what_an_event_knows_of_a_call_belongs_to_its_result_wherever_it_stands(tmp_path: Any) -> None:
    ended = event("exec_command_end", call_id="c1", exit_code=2, duration={"secs": 1, "nanos": 500_000_000})
    for log in ([call(), ended, output()], [call(), output(), ended], [ended, call(), output()]):
        (returned,) = of(read(tmp_path, user("go"), *log), Returned)
        assert (returned.ok, returned.exit_status, returned.duration) == (False, 2, 1500)


def test_work_that_stands_only_in_events_is_read_where_it_stands(tmp_path: Any) -> None:
    invocation = {"server": "tracker", "tool": "find", "arguments": {"q": "x"}}
    shot = {"type": "image", "data": GIF_URL.partition(",")[2], "mimeType": "image/gif"}
    chat = read(
        tmp_path,
        user("go"),
        event("exec_command_end", call_id="e1", command=["bash", "-lc", "ls"], stdout="a\n", stderr="b\n", exit_code=0),
        call("c2"),
        event("exec_command_end", call_id="c2", command=["ls"], aggregated_output="late", exit_code=1),
        event("mcp_tool_call_end", call_id="m1", invocation=invocation, result={"Ok": {"content": [shot]}}),
        event("mcp_tool_call_end", call_id="m2", invocation=invocation, result={"Err": "gone"}),
        event(
            "mcp_tool_call_end", call_id="m3", invocation=invocation, result={"Ok": {"content": [], "isError": True}}
        ),
        event("patch_apply_end", call_id="p1", success=True, changes={"/a": {"type": "delete"}}),
        answer("Done."),
    )
    assert [(event.id, event.name) for event in of(chat, Called)] == [
        ("e1", "exec_command"),
        ("c2", "exec_command"),
        *[(name, "mcp__tracker__find") for name in ("m1", "m2", "m3")],
        ("p1", "apply_patch"),
    ]
    assert [(event.call, event.ok, event.place) for event in of(chat, Returned)] == [
        ("e1", True, Place(f"rollout-2026-10-08T09-30-00-{chat.id}.jsonl", 3)),
        ("c2", False, Place(f"rollout-2026-10-08T09-30-00-{chat.id}.jsonl", 5)),
        ("m1", True, Place(f"rollout-2026-10-08T09-30-00-{chat.id}.jsonl", 6)),
        ("m2", False, Place(f"rollout-2026-10-08T09-30-00-{chat.id}.jsonl", 7)),
        ("m3", False, Place(f"rollout-2026-10-08T09-30-00-{chat.id}.jsonl", 8)),
        ("p1", True, Place(f"rollout-2026-10-08T09-30-00-{chat.id}.jsonl", 9)),
    ]
    assert [text_of(event.parts) for event in of(chat, Returned)][:4] == ["a\nb", "late", "", "gone"]
    assert [part.data for part in of(chat, Returned)[2].parts] == [GIF]


# --- tokens


def test_running_totals_are_worth_what_they_add(tmp_path: Any) -> None:
    chat = read(
        tmp_path,
        user("go"),
        answer("a"),
        tokens(100, 10, 60),
        tokens(100, 10, 60),
        event("token_count", info=None, rate_limits={}),
        call(),
        output(),
        tokens(250, 30, 160),
        answer("b"),
        tokens(400, 45, 250),
    )
    assert [message.usage for message in chat.messages.values()] == [
        Usage(100, 10, 60, None, None, 0),
        Usage(150, 20, 100, None, None, 0),
        Usage(150, 15, 90, None, None, 0),
    ]
    assert usage_of(chat) == Usage(400, 45, 250, None, None, 0)


def test_totals_that_drop_start_anew(tmp_path: Any) -> None:
    chat = read(
        tmp_path, user("go"), answer("a"), tokens(900, 90), answer("b"), tokens(40, 4), answer("c"), tokens(50, 5)
    )
    assert usage_of(chat) == Usage(950, 95, 0, None, None, 0)


def test_a_part_that_drops_alone_is_no_new_start(tmp_path: Any) -> None:
    chat = read(tmp_path, user("go"), answer("a"), tokens(900, 90, 500), answer("b"), tokens(950, 95, 400))
    assert usage_of(chat) == Usage(950, 95, 500, None, None, 0)


def test_without_totals_the_last_response_counts(tmp_path: Any) -> None:
    last = {"input_tokens": 7, "output_tokens": 3, "cache_write_input_tokens": 2}
    chat = read(tmp_path, user("go"), answer("a"), event("token_count", info={"last_token_usage": last}))
    assert usage_of(chat) == Usage(7, 3, None, 2, None, None)


def test_tokens_that_are_recorded_by_response_are_not_counted_again(tmp_path: Any) -> None:
    def record(response: str, prompt: int, thread: str | None = None) -> dict[str, Any]:
        usage = {"input_tokens": prompt, "output_tokens": 1}
        return {"type": "token_usage_record", "payload": {"response_id": response, "usage": usage, "thread_id": thread}}

    chat = read(
        tmp_path,
        *(begin("t1"), user("go"), answer("a"), tokens(100, 10), end("t1")),
        *(begin("t2"), user("on"), answer("b"), record("r1", 20), record("r1", 20), tokens(120, 11), end("t2")),
        *(begin("t3"), user("on"), answer("c"), record("r2", 5), record("r3", 9, CHILD), end("t3")),
    )
    assert usage_of(chat) == Usage(125, 12, 0, None, None, 0)


def test_tokens_of_a_response_that_left_nothing_else_are_counted(tmp_path: Any) -> None:
    chat = read(tmp_path, user("go"), answer("a"), tokens(100, 10), tokens(130, 12))
    assert usage_of(chat) == Usage(130, 12, 0, None, None, 0)


# --- turns


def test_a_turn_that_failed_says_why(tmp_path: Any) -> None:
    chat = read(
        tmp_path, begin(), user("go"), event("error", message="You've hit your usage limit."), end("t1", duration_ms=40)
    )
    assert [(event.id, event.outcome, event.problem, event.duration) for event in of(chat, Answered)] == [
        ("t1", "error", "You've hit your usage limit.", 40)
    ]
    assert chat.completed is False


def test_whether_a_chat_was_completed_is_what_its_last_turn_says(tmp_path: Any) -> None:
    done = [begin("t1"), user("go"), answer("a"), end("t1")]
    assert read(tmp_path, *done).completed is True
    assert read(tmp_path, *done, begin("t2"), user("on")).completed is None
    assert read(tmp_path, *done, user("on")).completed is None
    assert read(tmp_path, *done, begin("t2"), event("turn_aborted", reason="interrupted")).completed is False


def test_each_turn_has_its_own_model(tmp_path: Any) -> None:
    def context(model: str) -> dict[str, Any]:
        return {"type": "turn_context", "payload": {"model": model}}

    chat = read(
        tmp_path,
        *(begin(), context("model-x"), user("go"), answer("a"), end()),
        *(begin(), context("model-y"), user("on"), answer("b"), end()),
    )
    assert chat.models == ["model-x", "model-y"]
    assert [message.model for message in chat.messages.values()] == ["model-x", "model-y"]
    assert [event.model for event in of(chat, Answered)] == ["model-x", "model-y"]


def test_turns_that_were_taken_back_stay_as_a_branch(tmp_path: Any) -> None:
    chat = read(
        tmp_path,
        *(user("one"), answer("a"), user("two"), answer("b"), user("three"), call(), output()),
        event("thread_rolled_back", num_turns=2),
        *(user("four"), answer("d"), user("five"), answer("e")),
        event("thread_rolled_back", num_turns=1),
        event("thread_rolled_back", num_turns=0),
        user("six"),
    )
    assert (prompts(chat), answers(chat)) == (["one", "four", "six"], ["a", "d"])
    assert {
        branch: [event.text for event in of(chat, Asked) if event.branch == branch] for branch in chat.branches
    } == {"rolled-back-9": ["two", "three"], "rolled-back-14": ["five"]}
    assert [branch.left_at and branch.left_at.number for branch in chat.branches.values()] == [9, 14]


def test_more_turns_taken_back_than_there_are_is_all_of_them(tmp_path: Any) -> None:
    chat = read(tmp_path, user("one"), answer("a"), event("thread_rolled_back", num_turns=99), user("two"))
    assert prompts(chat) == ["two"]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["line-first", "event-first"])
def test_a_compaction_is_one_and_its_history_is_no_new_turn(tmp_path: Any, order: tuple[int, int]) -> None:
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "one"}]}]
    both = [
        {"type": "compacted", "payload": {"message": "So far: one.", "replacement_history": history}},
        event("context_compacted"),
    ]
    chat = read(tmp_path, user("one"), answer("a"), both[order[0]], both[order[1]], item("compaction"), user("two"))
    assert [event.summary for event in of(chat, Compacted)] == ["So far: one."]
    assert prompts(chat) == ["one", "two"]


def test_a_review_and_notices_are_noted(tmp_path: Any) -> None:
    chat = read(
        tmp_path,
        user("/review"),
        event("entered_review_mode", target={}, user_facing_hint="current changes"),
        event("exited_review_mode", review_output={"overall_explanation": "Looks right.", "findings": []}),
        event("warning", message="Long threads cost more."),
        event("thread_name_updated", thread_name="Review of fmt"),
    )
    assert notes(chat) == [
        ("review", "Review of current changes", None),
        ("review", "Looks right.", None),
        ("warning", "Long threads cost more.", None),
    ]
    assert chat.title == "Review of fmt"


def test_tools_that_the_log_declares(tmp_path: Any) -> None:
    schema = {"type": "object", "properties": {"id": {"type": "integer"}}}
    declared = [{"name": "close", "description": "Closes.", "inputSchema": schema}, {"description": "nameless"}, 7]
    chat = read(tmp_path, meta(dynamic_tools=declared, base_instructions={"text": "Be brief."}), user("go"))
    assert chat.tools == [Tool("close", "Closes.", schema)]
    assert chat.system_prompt == "Be brief."


# --- forks and spawned threads


def parent_history(moment: float) -> list[dict[str, Any]]:
    """What a fork's file replays, restamped to one moment."""
    history = [
        meta("0199d100-0000-7000-8000-0000000000aa"),
        begin("p1"),
        event("user_message", message="parent question", images=[]),
        answer("parent answer"),
        event("agent_message", message="parent answer"),
        call("p1"),
        output("p1"),
        tokens(89_990, 10),
        end("p1"),
    ]
    return [{**line, "timestamp": at(moment)} for line in history]


def later(moment: float, *lines: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**line, "timestamp": at(moment + number)} for number, line in enumerate(lines)]


OWN_WORK = (answer("child answer"), event("agent_message", message="child answer"), tokens(91_490, 10))
ASKED = event("user_message", message="child task: check docs", images=[])
AT_ONCE = 0.002


@pytest.mark.parametrize(
    "turn",
    [
        [{**begin("c1"), "timestamp": at(AT_ONCE)}, *later(2, ASKED)],
        [{**begin("c1"), "timestamp": at(AT_ONCE)}, {**ASKED, "timestamp": at(AT_ONCE)}],
        [{**begin("c1"), "timestamp": at(AT_ONCE)}, {**user("child task: check docs"), "timestamp": at(AT_ONCE)}],
        later(1, begin("c1"), ASKED),
        later(1, user("child task: check docs")),
    ],
    ids=["begun-at-once", "asked-at-once", "item-at-once", "a-second-later", "without-a-mark"],
)
@pytest.mark.parametrize("shape", ["spawned", "forked", "without-the-parent-s-line"])
def test_a_replayed_parent_is_never_counted_again(tmp_path: Any, turn: Any, shape: str) -> None:
    first = {**(meta(CHILD, forked_from_id="p") if shape == "forked" else spawned()), "timestamp": at(0)}
    history = parent_history(0.001)[1 if shape == "without-the-parent-s-line" else 0 :]
    chat = read(tmp_path, first, *history, *turn, *later(9, *OWN_WORK))
    assert (chat.id, chat.title) == (CHILD, "child task: check docs")
    assert (prompts(chat), answers(chat)) == (["child task: check docs"], ["child answer"])
    assert usage_of(chat) == Usage(1_500, 0, 0, None, None, 0)
    assert [event.text for event in of(chat, Asked) if event.inherited] == ["parent question"]
    assert [event.id for event in of(chat, Called)] == ["p1"]
    assert all(event.inherited for event in of(chat, Called))


def test_a_fork_by_a_person_is_a_chat_of_its_own(tmp_path: Any) -> None:
    first = {**meta(CHILD, forked_from_id="p"), "timestamp": at(0)}
    chat = read(tmp_path, first, *parent_history(0.001), *later(60, begin("c1"), user("another way"), answer("so")))
    assert (chat.origin.kind, chat.parent, chat.forked) == ("chat", "p", True)
    assert chat.reopen == ["codex", "resume", CHILD]


def test_a_fork_that_nobody_went_on_with_is_all_inherited(tmp_path: Any) -> None:
    first = {**meta(CHILD, forked_from_id="p"), "timestamp": at(0)}
    chat = read(tmp_path, first, *parent_history(0.001))
    assert (own(chat), usage_of(chat), chat.title) == ([], None, "parent question")


def test_tokens_of_a_first_response_without_words_are_the_fork_s_own(tmp_path: Any) -> None:
    first = {**spawned(), "timestamp": at(0)}
    chat = read(tmp_path, first, *parent_history(0.001)[:-1], *later(5, begin("c1"), tokens(90_000, 12), ASKED))
    assert usage_of(chat) == Usage(10, 2, 0, None, None, 0)


def test_a_spawned_thread_without_a_replay_is_all_its_own(tmp_path: Any) -> None:
    first = {**spawned(), "timestamp": at(0)}
    start = [{**line, "timestamp": at(0.001)} for line in (begin("c1"), user("child task: check docs"))]
    chat = read(tmp_path, first, *start, *later(4, *OWN_WORK))
    assert prompts(chat) == ["child task: check docs"]
    assert usage_of(chat) == Usage(91_490, 10, 0, None, None, 0)


def test_a_first_line_that_comes_again_is_no_fork(tmp_path: Any) -> None:
    chat = read(tmp_path, meta(), user("one"), answer("a"), meta(), user("two"), answer("b"))
    assert prompts(chat) == ["one", "two"]


def test_another_thread_s_first_line_behind_words_is_no_replay(tmp_path: Any) -> None:
    chat = read(tmp_path, meta(), user("one"), answer("a"), meta(CHILD), user("two"), answer("b"))
    assert (chat.id, prompts(chat)) == ("0199d100-0000-7000-8000-0000000000aa", ["one", "two"])


def test_every_handler_takes_an_empty_record(tmp_path: Any) -> None:
    log = [{"type": kind, "payload": {"type": name} if name else {}} for kind, name in HANDLERS if kind != "state"]
    chat = read(tmp_path, user("go"), *log, {"record_type": "state"})
    assert prompts(chat)[0] == "go"
