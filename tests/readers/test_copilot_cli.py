"""Copilot CLI's sessions: events of what was asked, said, called and came back, subagents' among them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import EXAMPLES
from trailbook.chat import (
    Answered,
    Asked,
    Called,
    Chat,
    Compacted,
    Noted,
    Place,
    Returned,
    Said,
    Thought,
    Usage,
    text_of,
    with_subagents,
)
from trailbook.checking import compare_counted, count
from trailbook.formats import FORMATS, TRAJECTORIES, Output, Sheet
from trailbook.ledger import Ledger, keep_nothing
from trailbook.readers import HEAD_BYTES, Found, Unreadable, copilot_cli
from trailbook.stores import survey

FERRY = EXAMPLES / "copilot_cli" / "session-state" / "8d2b6f10-4c3e-4a97-b5d8-19e7f0a3c264" / "events.jsonl"
AT = "2026-11-03T14:00:00.000Z"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="

Record = dict[str, object]


def find(path: Path) -> Any:
    with path.open("rb") as stream:
        return copilot_cli.find(path, stream.read(HEAD_BYTES))


def read_file(path: Path) -> Chat:
    (found,) = find(path)
    return copilot_cli.read(found, UTC)


def event(kind: object, data: object, **more: object) -> Record:
    return {"type": kind, "timestamp": AT, "data": data, **more}


def start(**data: object) -> Record:
    return event("session.start", {"sessionId": "s1", **data})


def asked(content: object, **data: object) -> Record:
    return event("user.message", {"content": content, **data})


def hook(prompt: object) -> Record:
    return event("hook.start", {"hookType": "userPromptSubmitted", "input": {"prompt": prompt}})


def answer(content: object = "", *calls: object, more: Record | None = None, **data: object) -> Record:
    requests = [
        each if isinstance(each, dict) else {"toolCallId": each, "name": "bash", "arguments": {}} for each in calls
    ]
    return event("assistant.message", {"content": content, "toolRequests": requests, **data}, **(more or {}))


def done(call: object, content: object = "fine", more: Record | None = None, **data: object) -> Record:
    complete = {"toolCallId": call, "success": True, "result": {"content": content}, **data}
    return event("tool.execution_complete", complete, **(more or {}))


def write(folder: Path, *records: object, name: str = "log.jsonl") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(
        b"".join(each if isinstance(each, bytes) else json.dumps(each).encode() + b"\n" for each in records)
    )
    return file


def read(folder: Path, *records: object) -> Chat:
    return read_file(write(folder, start(), *records))


def of(chat: Chat, kind: type) -> Any:
    return [each for each in chat.events if isinstance(each, kind)]


def reports(chat: Chat) -> list[tuple[str, str, int]]:
    return [(each.kind, each.text, each.count) for each in chat.diagnostics]


def words_in(chat: Chat) -> list[str]:
    """What each event says, in order; calls by their ids."""
    return [
        each.id if isinstance(each, Called) else text_of(each.parts) if isinstance(each, Returned) else each.text
        for each in chat.events
        if isinstance(each, (Asked, Thought, Said, Noted, Called, Returned))
    ]


# --- a whole session


def test_a_whole_session() -> None:
    chat = read_file(FERRY)
    assert [type(each).__name__ for each in chat.events] == [
        *("Asked", "Thought", "Said", "Called", "Called", "Returned", "Returned"),
        *("Called", "Returned", "Called", "Returned", "Said", "Asked", "Noted", "Said"),
    ]
    assert [(each.id, each.name) for each in of(chat, Called)] == [
        ("call_view1", "view"),
        ("call_task1", "task"),
        ("call_edit1", "edit"),
        ("call_bash1", "bash"),
    ]
    assert [(each.call, each.ok, each.linked) for each in of(chat, Returned)] == [
        ("call_view1", True, "id"),
        ("call_task1", True, "id"),
        ("call_edit1", True, "id"),
        ("call_bash1", False, "id"),
    ]
    assert text_of(of(chat, Returned)[3].parts) == "npx: command not found"
    assert (chat.cwd, chat.git_branch, chat.agent.version) == ("/home/sam/ferry", "new-pier", "1.0.102")
    assert chat.models == ["claude-sonnet-4.5"]
    # 2026-11-03T14:00:00Z is 1793714400 seconds; what was last said is of 14:01:41.737.
    assert (chat.started, chat.ended) == (1_793_714_400_000, 1_793_714_501_737)
    assert chat.events[0].place == Place("events.jsonl", 4)
    assert chat.diagnostics == []


def test_a_prompt_that_a_hook_was_handed_too_is_there_once() -> None:
    assert [each.text for each in of(read_file(FERRY), Asked)] == [
        "The map on the ferry page shows the old pier. Update it to the new one and check the links.",
        "And the timetable?",
    ]


def test_the_tokens_are_those_of_the_shutdown() -> None:
    usage = Usage(61200 + 9400, 433 + 88, 48900 + 4200, 8100 + 0)
    assert read_file(FERRY).usage == usage
    assert copilot_cli.count(find(FERRY)[0], keep_nothing).usage == usage


def test_a_subagents_events_are_its_own_chat() -> None:
    (subagent,) = read_file(FERRY).subagents
    assert (subagent.title, subagent.started_by, subagent.models) == ("Explore", "call_task1", ["claude-haiku-4.5"])
    assert words_in(subagent) == [
        "call_bash_s1",
        "index.html\nnew-pier.svg\nold-pier.svg\ntimetable.html\n<exited with exit code 0>",
        "One link has no file: prices.html.",
    ]
    (ledger,) = copilot_cli.count(find(FERRY)[0], keep_nothing).subagents
    assert (ledger.chat, ledger.started_by) == (subagent.id, "call_task1")
    assert [(entry.kind, entry.id) for entry in ledger.entries] == [
        ("call", "call_bash_s1"),
        ("result", "call_bash_s1"),
        ("answer", None),
    ]


def test_the_list_says_what_was_asked_and_when() -> None:
    (found,) = find(FERRY)
    assert (found.id, found.cwd, found.started) == (
        "8d2b6f10-4c3e-4a97-b5d8-19e7f0a3c264",
        "/home/sam/ferry",
        1_793_714_400_000,
    )
    assert found.title == "The map on the ferry page shows the old pier. Update it to the new one and check the links."


def test_the_ledger_of_a_whole_session() -> None:
    ledger = copilot_cli.count(find(FERRY)[0], lambda place: place.number == 4)
    counts = {kind: len(ledger.of(kind)) for kind in ("prompt", "answer", "thought", "call", "result")}
    assert counts == {"prompt": 2, "answer": 3, "thought": 1, "call": 4, "result": 4}
    assert [entry.text for entry in ledger.entries if entry.text] == [
        "The map on the ferry page shows the old pier. Update it to the new one and check the links."
    ]


# --- what was asked


@pytest.mark.parametrize(
    ("records", "prompts"),
    [
        ([hook("one")], ["one"]),
        ([asked("one")], ["one"]),
        ([hook("one"), asked("one")], ["one"]),
        ([asked("one\n"), hook("one")], ["one\n"]),
        ([hook("one"), asked("one"), hook("one"), asked("one")], ["one", "one"]),
        ([hook("one"), asked("one"), hook("one")], ["one", "one"]),
        ([hook("one"), asked("two")], ["one", "two"]),
        ([hook(""), hook(None), hook(["one"])], []),
    ],
)
def test_each_prompt_is_there_once_and_a_real_repeat_stays(
    tmp_path: Path, records: list[Record], prompts: list[str]
) -> None:
    chat = read(tmp_path, *records)
    assert [each.text for each in of(chat, Asked)] == prompts
    ledger = copilot_cli.count(find(tmp_path / "log.jsonl")[0], keep_nothing)
    assert len(ledger.of("prompt")) == len(prompts)


@pytest.mark.parametrize(
    ("data", "injected", "queued"),
    [
        ({}, None, False),
        ({"source": "user"}, None, False),
        ({"source": "skill-pdf"}, "skill", False),
        ({"source": "agent-7"}, "agent", False),
        ({"source": "system"}, "system", False),
        ({"isAutopilotContinuation": True}, "autopilot", False),
        ({"delivery": "idle"}, None, False),
        ({"delivery": "steering"}, None, True),
        ({"delivery": "queued"}, None, True),
    ],
)
def test_who_wrote_a_prompt_and_when(
    tmp_path: Path, data: dict[str, object], injected: str | None, queued: bool
) -> None:
    (prompt,) = of(read(tmp_path, asked("go", **data)), Asked)
    assert (prompt.injected, prompt.queued) == (injected, queued)


def test_what_a_person_attached(tmp_path: Path) -> None:
    asset = event("session.binary_asset", {"assetId": "sha256:1", "data": PIXEL, "mimeType": "image/png"})
    attachments = [
        {"type": "file", "path": "/home/sam/a.md", "displayName": "a.md"},
        {"type": "directory", "path": "/home/sam/src", "displayName": "src"},
        {"type": "selection", "filePath": "/home/sam/b.py", "displayName": "b.py", "text": "x = 1"},
        {"type": "blob", "data": PIXEL, "mimeType": "image/png", "displayName": "chart.png"},
        {"type": "file", "assetId": "sha256:1", "mimeType": "image/png", "path": "/p.png", "displayName": "p.png"},
        {"type": "file", "assetId": "sha256:2", "mimeType": "image/png", "displayName": "gone.png"},
        {"type": "blob", "data": "JVBERg==", "mimeType": "application/pdf", "displayName": "c.pdf"},
        {"type": "github_file", "url": "https://example.com"},
        7,
    ]
    chat = read(tmp_path, asked("look", attachments=attachments), asset)
    (prompt,) = of(chat, Asked)
    assert [(type(part).__name__, part.name, part.reference, part.size) for part in prompt.parts] == [
        ("File", "a.md", "/home/sam/a.md", None),
        ("File", "src", "/home/sam/src", None),
        ("File", "b.py", "/home/sam/b.py", None),
        ("Image", "chart.png", None, 68),
        ("Image", "p.png", None, 68),
        ("Image", "gone.png", "sha256:2", None),
        ("File", "c.pdf", None, None),
    ]
    assert prompt.parts[2].text == "x = 1"
    assert reports(chat) == [
        ("unknown-part", "Attachments of the type “github_file” are not known here: they were passed over.", 1),
        ("unknown-part", "Attachments of no known type are not known here: they were passed over.", 1),
    ]


# --- what was said, called and came back


def test_the_pieces_of_one_response_are_one_message(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        answer("one", apiCallId="a", messageId="m1", reasoningText="hm", reasoningOpaque="sig", model="gpt-5"),
        answer("two", "c", apiCallId="a", messageId="m2", encryptedContent="zzz"),
        answer("three", messageId="m3", more={"id": "e3"}),
        answer("four", more={"id": "e4"}),
        answer("five"),
    )
    keys = [(type(each).__name__, each.message) for each in chat.events if isinstance(each, (Thought, Said, Called))]
    assert keys == [
        ("Thought", "a"),
        ("Said", "a"),
        ("Thought", "a"),
        ("Said", "a"),
        ("Called", "a"),
        ("Said", "m3"),
        ("Said", "e4"),
        ("Said", "line-6"),
    ]
    assert [(each.text, each.signature, each.encrypted) for each in of(chat, Thought)] == [
        ("hm", "sig", None),
        ("", None, "zzz"),
    ]
    assert {key: (each.model, each.named) for key, each in chat.messages.items()} == {
        "a": ("gpt-5", True),
        "m3": (None, True),
        "e4": (None, False),
        "line-6": (None, False),
    }


def test_a_result_names_the_model_where_the_message_does_not(tmp_path: Path) -> None:
    chat = read(tmp_path, answer("", "c", messageId="m"), done("c", model="gpt-5"))
    assert (chat.messages["m"].model, chat.models) == ("gpt-5", ["gpt-5"])


@pytest.mark.parametrize(
    ("data", "words", "ok"),
    [
        ({}, "fine", True),
        ({"success": None}, "fine", None),
        ({"success": "yes"}, "fine", None),
        ({"success": False, "result": None, "error": {"code": "failed", "message": "it broke"}}, "it broke", False),
        ({"success": False, "error": {"message": "it broke"}}, "fine\nit broke", False),
        ({"success": False, "error": {"message": "fine"}}, "fine", False),
        ({"success": False, "result": None, "error": "broken"}, "broken", False),
        ({"success": False, "result": None, "error": {"code": 5}}, '{"code":5}', False),
        ({"result": {"content": {"a": 1}}}, '{"a":1}', True),
        ({"result": "bare"}, "bare", True),
        ({"result": None}, "", True),
    ],
)
def test_what_came_back(tmp_path: Path, data: dict[str, object], words: str, ok: bool | None) -> None:
    (returned,) = of(read(tmp_path, answer("", "c"), done("c", **data)), Returned)
    assert (returned.call, text_of(returned.parts), returned.ok) == ("c", words, ok)


def test_pictures_of_results_are_kept(tmp_path: Path) -> None:
    asset = event("session.binary_asset", {"assetId": "sha256:1", "data": PIXEL, "mimeType": "image/png"})
    binaries = [
        {"type": "image", "data": PIXEL, "mimeType": "image/png"},
        {"type": "image", "assetId": "sha256:1", "mimeType": "image/png", "byteLength": 68},
        {"type": "resource", "assetId": "sha256:9", "mimeType": "application/pdf", "byteLength": 900},
        {"type": "hologram", "data": PIXEL},
    ]
    chat = read(
        tmp_path, asset, answer("", "c"), done("c", result={"content": "a chart", "binaryResultsForLlm": binaries})
    )
    (returned,) = of(chat, Returned)
    assert [(type(part).__name__, getattr(part, "size", None)) for part in returned.parts] == [
        ("Text", None),
        ("Image", 68),
        ("Image", 68),
        ("File", 900),
    ]
    assert reports(chat) == [
        ("unknown-part", "Results of the type “hologram” are not known here: they were passed over.", 1)
    ]


def test_calls_that_share_an_id_are_told_apart_and_orphans_shown(tmp_path: Path) -> None:
    chat = read(tmp_path, answer("", "c", "c", {"arguments": "not JSON"}), *map(done, ["c", "c", "c", "other"]))
    assert [(each.id, each.name, each.raw) for each in of(chat, Called)] == [
        ("c", "bash", None),
        ("c__2", "bash", None),
        ("line-2", "unknown_tool", "not JSON"),
    ]
    assert [(each.call, each.linked) for each in of(chat, Returned)] == [
        ("c", "id"),
        ("c__2", "id"),
        (None, None),
        (None, None),
    ]
    assert [(each.kind, each.count) for each in chat.diagnostics] == [("missing-name", 1), ("orphan-result", 2)]


def test_that_a_call_began_is_a_call_only_where_no_message_asked_for_it(tmp_path: Path) -> None:
    began = [
        event("tool.execution_start", {"toolCallId": call, "toolName": "bash", "arguments": {"command": call}})
        for call in ("c", "d")
    ]
    chat = read(tmp_path, answer("", "c"), *began, done("c"), done("d"))
    assert [(each.id, each.arguments) for each in of(chat, Called)] == [("c", {}), ("d", {"command": "d"})]
    assert [each.call for each in of(chat, Returned)] == ["c", "d"]


# --- subagents


def test_subagents_by_their_id_and_by_the_call_that_started_them(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        answer("", "t1", "t2"),
        event("subagent.started", {"toolCallId": "t1", "agentDisplayName": "One"}, agentId="one"),
        answer("of one", "t3", more={"agentId": "one"}),
        event("subagent.started", {"toolCallId": "t3", "agentDisplayName": "Inner"}, agentId="one"),
        answer("of inner", parentToolCallId="t3"),
        event("subagent.started", {"toolCallId": "t2", "agentDisplayName": "Two"}),
        answer("of two", parentToolCallId="t2"),
        answer("of nobody", more={"agentId": "stray"}),
        done("t3", "inner is done"),
    )
    (found,) = find(tmp_path / "log.jsonl")
    ledger = copilot_cli.count(found, keep_nothing)
    assert [(each.id, each.title, each.started_by) for each in chat.subagents] == [
        ("s1/t1", "One", "t1"),
        ("s1/t2", "Two", "t2"),
        ("s1/stray", None, None),
    ]
    assert [(each.chat, each.started_by) for each in ledger.subagents] == [
        ("s1/t1", "t1"),
        ("s1/t2", "t2"),
        ("s1/stray", None),
    ]
    # A result goes where its call is.
    assert words_in(chat.subagents[0]) == ["of one", "t3", "inner is done"]
    assert [(each.id, words_in(each)) for each in chat.subagents[0].subagents] == [("s1/t3", ["of inner"])]
    assert [(each.chat, each.started_by) for each in ledger.subagents[0].subagents] == [("s1/t3", "t3")]


# --- the session


def test_notices_shortenings_and_interruptions(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        event("system.message", {"content": "Be brief.", "role": "system"}),
        event("system.message", {"content": "Be brief.", "role": "system"}),
        event("system.message", {"content": "Be kind.", "role": "developer"}),
        event("session.model_change", {"newModel": "gpt-5"}),
        event("session.error", {"message": "Out of credits"}),
        event("hook.end", {"hookType": "preToolUse", "output": {"decision": "allow"}}),
        event("hook.end", {"hookType": "postToolUse", "success": True}),
        event("session.info", {"message": ""}),
        event(
            "session.compaction_complete",
            {"success": True, "summaryContent": "So far: …", "preCompactionTokens": 900, "trigger": "manual"},
        ),
        event("session.compaction_complete", {"success": False, "error": "No answer."}),
        event("abort", {"reason": "user_initiated"}),
        event("session.shutdown", {"shutdownType": "error", "errorReason": "It crashed."}),
    )
    assert chat.system_prompt == "Be brief."
    assert [(each.topic, each.text, each.detail) for each in of(chat, Noted)] == [
        ("system", "Be kind.", None),
        ("model", "gpt-5", None),
        ("error", "Out of credits", None),
        ("hook", "preToolUse", '{"decision":"allow"}'),
        ("error", "The context could not be shortened. No answer.", None),
        ("error", "It crashed.", None),
    ]
    assert [(each.summary, each.tokens_before, each.tokens_after, each.trigger) for each in of(chat, Compacted)] == [
        ("So far: …", 900, None, "manual")
    ]
    assert [(each.outcome, each.problem) for each in of(chat, Answered)] == [("interrupted", "user_initiated")]
    assert chat.usage is None
    assert reports(chat) == [
        ("empty-record", "An event of the type “session.info” says nothing; it was passed over.", 1)
    ]


def shutdown(*usages: dict[str, object]) -> Record:
    metrics = {f"model-{number}": {"usage": usage} for number, usage in enumerate(usages)}
    return event("session.shutdown", {"modelMetrics": metrics})


@pytest.mark.parametrize(
    ("records", "usage"),
    [
        ([], None),
        ([shutdown()], None),
        ([event("session.shutdown", {"modelMetrics": {"m": {"usage": {"inputTokens": "9"}}}})], None),
        ([shutdown({"inputTokens": 9, "outputTokens": 2})], Usage(9, 2)),
        ([shutdown({"inputTokens": 9, "cacheReadTokens": 6, "cacheWriteTokens": 3})], Usage(9, None, 6, 3)),
        # What was read from the cache cannot be more than all.
        ([shutdown({"inputTokens": 9, "cacheReadTokens": 60})], Usage(69, None, 60)),
        (
            [shutdown({"inputTokens": 9, "outputTokens": 2}, {"outputTokens": 5, "reasoningTokens": 4})],
            Usage(9, 7, reasoning_tokens=4),
        ),
        # Totals that only grow, and totals that do not.
        (
            [shutdown({"inputTokens": 9, "outputTokens": 2}), shutdown({"inputTokens": 12, "outputTokens": 3})],
            Usage(12, 3),
        ),
        (
            [shutdown({"inputTokens": 9, "outputTokens": 2}), shutdown({"inputTokens": 4, "outputTokens": 3})],
            Usage(13, 5),
        ),
    ],
)
def test_tokens(tmp_path: Path, records: list[Record], usage: Usage | None) -> None:
    chat = read(tmp_path, asked("go"), *records)
    assert chat.usage == usage
    assert copilot_cli.count(find(tmp_path / "log.jsonl")[0], keep_nothing).usage == usage
    assert [each.kind for each in chat.diagnostics] == (["several-totals"] if len(records) > 1 else [])


# --- nothing is dropped in silence


def test_what_is_not_known_is_named(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        asked(""),
        event("future.event", {"value": 1}),
        event("future.event", {"value": 2}),
        {"type": 5},
        b"[1]\n",
        event("user.message", "no object"),
        event("assistant.message", {"toolRequests": [7]}),
    )
    assert reports(chat) == [
        ("unknown-record", "Events of the type “future.event” are not known here: they were passed over.", 2),
        ("unknown-record", "Events of no type are not known here: they were passed over.", 2),
        ("unknown-record", "Events of the type “user.message” are not known here: they were passed over.", 1),
        ("empty-record", "A prompt has nothing in it; it was passed over.", 1),
        ("unknown-part", "Something among the calls of a message is none; it was passed over.", 1),
    ]


def test_an_event_that_is_there_again_with_its_id_counts_once(tmp_path: Path) -> None:
    again = {**asked("again"), "id": "e1"}
    chat = read(tmp_path, again, again, {**again, "id": "e2"}, asked("plain"), asked("plain"))
    assert [each.text for each in of(chat, Asked)] == ["again", "again", "plain", "plain"]
    assert [(each.kind, each.place) for each in chat.diagnostics] == [("repeated-record", Place("log.jsonl", 3))]


def test_damaged_places_are_reported_and_all_else_is_read(tmp_path: Path) -> None:
    one, two, three = (json.dumps(asked(text)).encode() for text in ("one", "two", "this one is cut"))
    chat = read(
        tmp_path,
        b"\xef\xbb\xbf" + one + b"\r\n",
        two + json.dumps(answer("three \0 \ud800")).encode() + b"\n",
        three[:40],
    )
    assert words_in(chat) == ["one", "two", "three \0 \ufffd"]
    assert [(each.kind, each.place and each.place.number) for each in chat.diagnostics] == [
        ("crlf", 2),
        ("byte-order-mark", 2),
        ("lone-surrogate", 3),
        ("glued-line", 3),
        ("damaged-line", 4),
    ]


# --- what is a session and what is not


def test_a_session_without_its_first_event_is_known_by_its_folder(tmp_path: Path) -> None:
    (found,) = find(write(tmp_path, asked("hello"), name="session-state/abc/events.jsonl"))
    assert (found.id, copilot_cli.read(found, UTC).id) == ("abc", "abc")
    one, other = (find(write(tmp_path, asked(text), name=f"{text}/log.jsonl"))[0].id for text in ("a", "b"))
    assert one != other


@pytest.mark.parametrize(
    "records",
    [
        [{"type": "user.message", "content": "no data"}],
        [{"type": "user.message", "data": {"text": "of another program"}}],
        [{"type": "abort", "data": {"reason": "x"}}],
        [{"type": "message_append", "data": {}, "id": "1", "timestamp": AT}],
        [{"type": "thing.happened", "data": {}, "id": "1", "timestamp": AT}],
        [b'not JSON, though "type" and "data"\n'],
    ],
)
def test_what_is_no_session_is_not_taken_for_one(tmp_path: Path, records: list[object]) -> None:
    assert find(write(tmp_path, *records, name="events.jsonl")) is None


def test_no_other_agents_example_is_taken_for_one() -> None:
    files = [path for path in EXAMPLES.rglob("*") if path.is_file() and "copilot_cli" not in path.parts]
    assert files
    assert [path for path in files if find(path) is not None] == []


def test_a_session_of_which_nothing_is_known_is_refused_with_a_sentence(tmp_path: Path) -> None:
    unknown = [{**event(kind, {}), "id": kind} for kind in ("heart.beat", "breath.taken")]
    (skipped,) = survey([write(tmp_path, *unknown, name="session-state/abc/events.jsonl")]).skipped
    assert (skipped.verdict, skipped.why) == (
        "unreadable",
        "it looks like a session of Copilot CLI, but none of its events is known: breath.taken, heart.beat",
    )


def test_a_session_that_lost_its_events_since_it_was_listed_is_refused(tmp_path: Path) -> None:
    (found,) = find(write(tmp_path, start()))
    write(tmp_path, event("heart.beat", {}))
    with pytest.raises(Unreadable, match=r"^log\.jsonl has no event of Copilot CLI that is known here\.$"):
        copilot_cli.read(found, UTC)


def test_where_sessions_lie_and_nothing_is_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert copilot_cli.PLACES.logs() == [tmp_path / ".copilot" / "session-state"]
    assert copilot_cli.PLACES.stores() == [tmp_path / ".copilot"]


# --- any events

WORDS = st.sampled_from(["", " ", "a", "b\n", "c", "1"])
VALUE = WORDS | st.none() | st.booleans() | st.integers(-3, 3) | st.lists(WORDS, max_size=2)
NAMED = st.sampled_from(["a", "b", "c"]) | VALUE
BINARY = st.fixed_dictionaries(
    {"type": st.sampled_from(["image", "resource", "blob", "file", "selection", "directory"]) | VALUE},
    optional={
        "data": VALUE | st.just(PIXEL),
        "mimeType": st.sampled_from(["image/png", "text/csv"]) | VALUE,
        "assetId": NAMED,
        "text": VALUE,
    },
)
REQUEST = st.fixed_dictionaries({}, optional={"toolCallId": NAMED, "name": VALUE, "arguments": VALUE})
DATA = st.fixed_dictionaries(
    {},
    optional={
        "content": VALUE,
        "attachments": VALUE | st.lists(BINARY | VALUE, max_size=2),
        "source": VALUE,
        "hookType": st.just("userPromptSubmitted") | VALUE,
        "input": VALUE | st.fixed_dictionaries({"prompt": VALUE}),
        "reasoningText": VALUE,
        "messageId": NAMED,
        "toolRequests": VALUE | st.lists(REQUEST | VALUE, max_size=3),
        "toolCallId": NAMED,
        "toolName": VALUE,
        "parentToolCallId": st.sampled_from(["a", "b", "c"]) | st.none(),
        "success": VALUE,
        "error": VALUE | st.fixed_dictionaries({"message": VALUE}),
        "result": VALUE
        | st.fixed_dictionaries(
            {"content": VALUE}, optional={"binaryResultsForLlm": VALUE | st.lists(BINARY | VALUE, max_size=2)}
        ),
        "model": VALUE,
        "summaryContent": VALUE,
        "message": VALUE,
        "modelMetrics": VALUE
        | st.fixed_dictionaries({"m": VALUE | st.fixed_dictionaries({"usage": VALUE | st.just({"inputTokens": 4})})}),
    },
)
KINDS = (
    *("user.message", "hook.start", "hook.end", "assistant.message", "tool.execution_start", "system.message"),
    *("tool.execution_complete", "tool.execution_complete", "subagent.started", "session.shutdown", "abort"),
    *("session.compaction_complete", "session.start", "session.info", "assistant.message"),
)
EVENT = st.fixed_dictionaries(
    {"type": st.sampled_from(KINDS) | VALUE, "data": DATA | DATA | VALUE},
    optional={"id": NAMED, "timestamp": VALUE | st.just(AT), "agentId": st.sampled_from(["a", "x"]) | VALUE},
)


def assert_counted_alike(chat: Chat, ledger: Ledger) -> None:
    assert [each.id for each in of(chat, Called)] == [entry.id for entry in ledger.of("call")]
    assert [(each.call, each.ok) for each in of(chat, Returned)] == [
        (entry.id, entry.ok) for entry in ledger.of("result")
    ]
    assert [each.injected is not None for each in of(chat, Asked)] == [entry.injected for entry in ledger.of("prompt")]
    assert len(of(chat, Said)) == len(ledger.of("answer"))
    subagents = {each.id: each for each in chat.subagents}
    for counted in ledger.subagents:
        assert subagents[counted.chat or ""].started_by == counted.started_by
        assert_counted_alike(subagents.pop(counted.chat or ""), counted)
    # Notices and thoughts without words are no entries.
    assert all(isinstance(each, (Noted, Thought, Answered)) for left in subagents.values() for each in left.events)


def losses(found: Found, chat: Chat, folder: Path) -> list[str]:
    """What is lost of a chat in each trajectory that is written of it."""
    log, lost = count(found), []
    for name in TRAJECTORIES:
        (folder / name).mkdir(parents=True)
        for piece in FORMATS[name].bundle([chat], Sheet(Output(), "written")):
            (folder / name / piece.name).write_bytes(piece.data)
        lost += [
            loss.text for again in survey([folder / name]).chats for loss in compare_counted(log, count(again)).losses
        ]
    return lost


@given(st.lists(EVENT, max_size=6))
@settings(max_examples=60, deadline=None)
def test_values_of_any_type_are_taken_as_they_come_and_none_is_lost(
    tmp_path_factory: pytest.TempPathFactory, records: Sequence[Record]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (found,) = find(write(folder, start(), asked("Begin."), *records))
    chat = copilot_cli.read(found, UTC)
    assert_counted_alike(chat, copilot_cli.count(found, keep_nothing))
    assert losses(found, chat, folder / "written") == []


LINES = FERRY.read_bytes().splitlines(keepends=True)


def all_words_in(chat: Chat) -> list[str]:
    return sorted(words for each in with_subagents(chat) for words in words_in(each))


@given(st.integers(1, len(LINES) - 1), st.data())
@settings(max_examples=60, deadline=None)
def test_a_cut_line_costs_no_other(tmp_path_factory: pytest.TempPathFactory, at: int, data: st.DataObject) -> None:
    end = data.draw(st.integers(2, len(LINES[at]) - 2))
    folder = tmp_path_factory.mktemp("cut")
    whole = read_file(write(folder, *LINES[:at], *LINES[at + 1 :]))
    chat = read_file(write(folder, *LINES[:at], LINES[at][:end] + b"\n", *LINES[at + 1 :]))
    assert all_words_in(chat) == all_words_in(whole)
    damaged = {
        (each.kind, each.place and each.place.number) for each in chat.diagnostics if each.kind == "damaged-line"
    }
    assert damaged == {("damaged-line", at + 1)}


@given(st.permutations(LINES), st.integers(0, len(LINES) - 1))
@settings(max_examples=60, deadline=None)
def test_lines_in_any_order_and_twice_are_all_read(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], twice: int
) -> None:
    folder = tmp_path_factory.mktemp("any")
    chat = read_file(write(folder, *lines, lines[twice]))
    assert all_words_in(chat) == all_words_in(read_file(FERRY))
    assert [each.place for each in chat.diagnostics if each.kind == "repeated-record"] == [
        Place("log.jsonl", len(LINES) + 1)
    ]
    assert_counted_alike(chat, copilot_cli.count(find(folder / "log.jsonl")[0], keep_nothing))
