"""Calls in Codex's rollouts and what came back: how each went, what it changed, what only events know."""

from __future__ import annotations

from typing import Any

import pytest

from codex_logs import (
    GIF,
    GIF_URL,
    answer,
    call,
    event,
    item,
    of,
    output,
    picture,
    read,
    reports,
    results,
    user,
)
from trailbook.chat import (
    Called,
    FileChange,
    FilesChanged,
    Image,
    Place,
    Returned,
    Text,
    text_of,
)


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
