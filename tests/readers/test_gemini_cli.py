"""Gemini CLI's sessions: a document or lines, messages that replace others, calls with their results, subagents."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import EXAMPLES
from trailbook.chat import (
    Asked,
    Called,
    Chat,
    Compacted,
    Image,
    Message,
    Noted,
    Place,
    Returned,
    Said,
    Thought,
    Usage,
    text_of,
)
from trailbook.checking import compare_counted, count
from trailbook.formats import FORMATS, TRAJECTORIES, Output, Sheet
from trailbook.ledger import keep_nothing
from trailbook.readers import HEAD_BYTES, Found, Passed, Unreadable, gemini_cli
from trailbook.stores import survey

CHATS = EXAMPLES / "gemini_cli" / "tmp" / "bakery" / "chats"
WATER = CHATS / "session-2026-11-05T06-00-b17e4d02.jsonl"
CRUST = CHATS / "session-2026-08-19T16-20-4ac09e73.json"
HEADER = {"sessionId": "abcd1234-s", "projectHash": "h", "startTime": "2026-11-05T06:00:00.000Z", "kind": "main"}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="

Record = dict[str, object]


def find(path: Path) -> Any:
    with path.open("rb") as stream:
        return gemini_cli.find(path, stream.read(HEAD_BYTES))


def read_file(path: Path) -> Chat:
    (found,) = find(path)
    return gemini_cli.read(found, UTC)


def user(identity: object, content: object, **more: object) -> Record:
    return {"id": identity, "type": "user", "content": content, **more}


def gemini(identity: object, content: object = "", **more: object) -> Record:
    return {"id": identity, "type": "gemini", "content": content, **more}


def call(identity: object, result: object = None, status: object = "success", **more: object) -> Record:
    return {"id": identity, "name": "read_file", "args": {}, "status": status, "result": result, **more}


def response(identity: object, value: object, **more: object) -> Record:
    return {"functionResponse": {"id": identity, "name": "read_file", "response": value, **more}}


def write(folder: Path, *records: object, name: str = "log.jsonl", header: Record | None = None) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        each if isinstance(each, bytes) else json.dumps(each).encode() + b"\n" for each in (header or HEADER, *records)
    ]
    file.write_bytes(b"".join(lines))
    return file


def write_document(folder: Path, *messages: object, indent: int | None = 2, **more: object) -> Path:
    file = folder / "log.json"
    file.write_text(json.dumps({**HEADER, **more, "messages": messages}, indent=indent))
    return file


def read(folder: Path, *records: object) -> Chat:
    return read_file(write(folder, *records))


def of(chat: Chat, kind: type) -> Any:
    return [event for event in chat.events if isinstance(event, kind)]


def reports(chat: Chat) -> list[tuple[str, str, int]]:
    return [(each.kind, each.text, each.count) for each in chat.diagnostics]


def words_in(chat: Chat) -> list[str]:
    """What each event says, in order; calls by their ids."""
    return [
        event.id if isinstance(event, Called) else text_of(event.parts) if isinstance(event, Returned) else event.text
        for event in chat.events
        if isinstance(event, (Asked, Thought, Said, Noted, Called, Returned))
    ]


# --- whole sessions


def test_a_whole_session_of_lines() -> None:
    chat = read_file(WATER)
    assert [type(event).__name__ for event in chat.events] == [
        *("Noted", "Asked", "Thought", "Said", "Called", "Returned", "Called", "Returned"),
        *("Said", "Called", "Returned", "Called", "Returned", "Thought", "Called", "Returned", "Said"),
        *("Asked", "Said", "Asked", "Called", "Returned", "Noted"),
    ]
    assert [(event.call, event.ok, event.linked) for event in of(chat, Returned)] == [
        ("read_file-1", True, "id"),
        ("codebase_investigator-1", True, "id"),
        ("replace-1", True, "id"),
        ("run_shell_command-1", False, "id"),
        ("run_shell_command-2", True, "id"),
        ("replace-2", False, "id"),
    ]
    assert text_of(of(chat, Returned)[0].parts).startswith("HYDRATION = 0.72\n")
    assert text_of(of(chat, Returned)[5].parts) == (
        '{"error":"[Operation Cancelled] Reason: User did not allow tool call"}'
    )
    assert of(chat, Thought)[0].text == "Finding the formula — The water depends on the flour; I read the file first."
    assert (chat.title, chat.models) == ("Make labels and recipe agree on the water", ["gemini-3-pro-preview"])
    # 2026-11-05T06:00:00Z is 1793858400 seconds; the last message is of 06:02:41.533.
    assert (chat.started, chat.ended) == (1_793_858_400_000, 1_793_858_561_533)
    assert chat.diagnostics == []


def test_what_was_rewound_is_a_branch() -> None:
    chat = read_file(WATER)
    left = [event for event in chat.events if event.branch is not None]
    assert [(type(event), event.text) for event in left if isinstance(event, (Asked, Said))] == [
        (Asked, "Print the labels on two pages."),
        (Said, "On A4 or on letter paper?"),
    ]
    assert {event.branch for event in left} == {"rewind-1"}
    assert chat.branches["rewind-1"].left_at == Place(WATER.name, 18)


def test_tokens_are_counted_once_a_message_and_thoughts_are_output() -> None:
    chat = read_file(WATER)
    # The message stands in the log three times; its tokens stand in the last one.
    assert chat.messages["g1"] == Message("gemini-3-pro-preview", usage=Usage(8200, 64 + 41, 0, reasoning_tokens=41))
    ledger = gemini_cli.count(find(WATER)[0], keep_nothing)
    assert ledger.usage == Usage(
        prompt_tokens=8200 + 9100 + 9400 + 9700 + 9900 + 10100 + 10150,
        output_tokens=64 + 52 + 31 + 38 + 47 + 9 + 40 + 41 + 22,
        cached_tokens=0 + 8000 + 9000 + 9200 + 9500 + 9700 + 9700,
        reasoning_tokens=41 + 22,
    )


def test_a_subagent_is_read_with_the_call_that_started_it() -> None:
    (subagent,) = read_file(WATER).subagents
    assert (subagent.id, subagent.started_by) == ("6f0d1c88-2b47-4e15-a9d3-77b1e5c40f2a", "codebase_investigator-1")
    assert [type(event) for event in subagent.events] == [Asked, Called, Returned, Said]
    assert subagent.events[0].place == Place(
        "b17e4d02-5a6c-4f38-8e91-d3c2a0f96b45/6f0d1c88-2b47-4e15-a9d3-77b1e5c40f2a.jsonl", 2
    )
    (found,) = find(WATER)
    file = CHATS / "b17e4d02-5a6c-4f38-8e91-d3c2a0f96b45" / "6f0d1c88-2b47-4e15-a9d3-77b1e5c40f2a.jsonl"
    assert found.inputs == (WATER, file)
    assert find(file) == Passed("a subagent's session, read with the chat that started it", WATER)
    (ledger,) = gemini_cli.count(found, keep_nothing).subagents
    assert (ledger.chat, ledger.started_by) == (subagent.id, "codebase_investigator-1")
    assert [entry.kind for entry in ledger.entries] == ["prompt", "call", "result", "answer"]


def test_a_whole_document() -> None:
    chat = read_file(CRUST)
    assert [type(event) for event in chat.events] == [Asked, Thought, Called, Returned, Said]
    asked, returned = chat.events[0], chat.events[3]
    assert isinstance(asked, Asked)
    assert isinstance(returned, Returned)
    assert [type(part) for part in asked.parts] == [Image]
    assert text_of(returned.parts) == "Binary content of type image/png was processed."
    assert [part.media_type for part in returned.parts if isinstance(part, Image)] == ["image/png"]
    assert asked.place == Place(CRUST.name, 1, "message")
    (found,) = find(CRUST)
    assert (found.id, found.title, found.started) == (
        "4ac09e73-61d8-4b2f-9f57-0e8b3d5a1c96",
        "What colour is this crust?",
        1_787_156_400_000,
    )


def test_the_ledger_of_a_whole_session() -> None:
    ledger = gemini_cli.count(find(WATER)[0], lambda place: place.number == 17)
    counts = {kind: len(ledger.of(kind)) for kind in ("prompt", "answer", "thought", "call", "result")}
    assert counts == {"prompt": 2, "answer": 3, "thought": 2, "call": 6, "result": 6}
    assert [(entry.kind, entry.text) for entry in ledger.aside] == [
        ("prompt", None),
        ("answer", "On A4 or on letter paper?"),
    ]


# --- records that change what stands before them


def test_a_message_that_is_there_again_replaces_the_earlier_one(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        gemini("g", "I look.", toolCalls=[]),
        user("u", "Behind it"),
        gemini("g", "I looked.", toolCalls=[call("c", [response("c", {"output": "fine"})])]),
    )
    assert words_in(chat) == ["I looked.", "c", "fine", "Behind it"]
    assert (chat.events[0].place, chat.diagnostics) == (Place("log.jsonl", 4), [])


def test_a_rewind_to_what_is_not_there_takes_all_back(tmp_path: Path) -> None:
    chat = read(
        tmp_path, user("u1", "one"), {"$rewindTo": "nowhere"}, user("u1", "two"), {"$rewindTo": 5}, user("u1", "three")
    )
    assert [(event.text, event.branch) for event in of(chat, Asked)] == [
        ("one", "rewind-1"),
        ("two", "rewind-2"),
        ("three", None),
    ]


def test_a_history_that_was_shortened_keeps_what_happened(tmp_path: Path) -> None:
    kept = user("u2", "kept")
    snapshot = [user("s", "What was done so far: …"), gemini("a", "Understood."), kept]
    chat = read(tmp_path, user("u1", "old"), kept, {"$set": {"messages": snapshot}}, user("u3", "new"))
    assert [(type(event), getattr(event, "text", None)) for event in chat.events] == [
        (Asked, "old"),
        (Asked, "kept"),
        (Compacted, None),
        (Asked, "What was done so far: …"),
        (Said, "Understood."),
        (Asked, "new"),
    ]
    assert [event.injected for event in of(chat, Asked)] == [None, None, "compaction", None]
    assert chat.diagnostics == []


def test_a_snapshot_of_all_there_is_changes_nothing_but_what_it_has_otherwise(tmp_path: Path) -> None:
    answered = gemini("g", toolCalls=[call("c", [response("c", {"output": "a long output"})])])
    masked = gemini("g", toolCalls=[call("c", [response("c", {"output": "[masked]"})])])
    chat = read(tmp_path, user("u", "go"), answered, {"$set": {"messages": [user("u", "go"), masked]}})
    assert words_in(chat) == ["go", "c", "[masked]"]
    text = "Messages that were written again with the whole history are shown as they are there."
    assert reports(chat) == [("replaced-message", text, 1)]
    assert chat.diagnostics[0].lost


def test_a_resumed_session_goes_on_in_a_further_file(tmp_path: Path) -> None:
    first = write(tmp_path, user("u1", "one"), gemini("g1", "uno"), name="session-2026-11-05T06-00-abcd1234.json")
    first.write_text(json.dumps({**HEADER, "messages": [user("u1", "one"), gemini("g1", "uno")]}))
    second = write(tmp_path, user("u1", "one"), user("u2", "two"), name="session-2026-11-06T06-00-abcd1234.jsonl")
    other = {**HEADER, "sessionId": "abcd1234-other"}
    write(tmp_path, user("u1", "another"), name="session-2026-11-07T06-00-abcd1234.jsonl", header=other)
    assert find(first) == Passed("the beginning of a session that goes on in another file", second)
    (found,) = find(second)
    assert found.inputs == (first, second)
    chat = gemini_cli.read(found, UTC)
    assert words_in(chat) == ["one", "uno", "two"]
    assert len(gemini_cli.count(found, keep_nothing).of("prompt")) == 2
    assert sorted(chat.id for chat in survey([tmp_path]).chats) == ["abcd1234-other", "abcd1234-s"]


def test_a_copy_of_a_session_elsewhere_is_the_same_chat(tmp_path: Path) -> None:
    shutil.copytree(CHATS, tmp_path / "a")
    shutil.copytree(CHATS, tmp_path / "b")
    result = survey([tmp_path])
    assert len(result.chats) == 2
    assert {skipped.verdict for skipped in result.skipped if skipped.path.suffix == ".json"} == {"copy"}


# --- contents


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"output": "fine"}, "fine"),
        ({"output": {"a": 1}}, '{"a":1}'),
        ({"output": None}, ""),
        ({"error": "no such file"}, '{"error":"no such file"}'),
        ({}, ""),
        ("bare", "bare"),
        ([1, 2], "[1,2]"),
    ],
)
def test_what_a_tool_answered(tmp_path: Path, value: object, words: str) -> None:
    chat = read(tmp_path, gemini("g", toolCalls=[call("c", [response("c", value)])]))
    (returned,) = of(chat, Returned)
    assert (text_of(returned.parts), returned.ok) == (words, True)


@pytest.mark.parametrize(
    ("status", "result", "results"),
    [
        ("success", None, [True]),
        ("error", [], [False]),
        ("cancelled", None, [False]),
        ("executing", None, []),
        ("awaiting_approval", [], []),
        (7, None, []),
        ("executing", "so far", [None]),
    ],
)
def test_a_call_without_an_end_has_no_result(
    tmp_path: Path, status: object, result: object, results: list[bool | None]
) -> None:
    chat = read(tmp_path, gemini("g", toolCalls=[call("c", result, status)]))
    assert [event.ok for event in of(chat, Returned)] == results


def test_of_several_responses_in_a_result_the_calls_own_counts(tmp_path: Path) -> None:
    both = [response("a", {"output": "of a"}), response("b", {"output": "of b"}), {"text": "beside"}]
    chat = read(tmp_path, gemini("g", toolCalls=[call("a", both), call("b", both)]))
    assert words_in(chat) == ["a", "of a\nbeside", "b", "of b\nbeside"]


def test_what_the_parts_repeat_is_there_once(tmp_path: Path) -> None:
    content = [
        {"text": "**Look** first", "thought": True},
        {"text": "I look."},
        {"functionCall": {"id": "c", "name": "read_file", "args": {}}, "thoughtSignature": "x"},
        {"functionCall": {"id": "d", "name": "glob", "args": {"pattern": "*"}}},
    ]
    chat = read(
        tmp_path,
        gemini(
            "g",
            content,
            thoughts=[{"subject": "Look", "description": "first"}],
            toolCalls=[call("c", [response("c", {"output": "fine"})])],
        ),
        user("r", [response("c", {"output": "fine"}), response("d", {"output": "a.py"}), response("e", {})]),
    )
    assert words_in(chat) == ["Look — first", "I look.", "c", "fine", "d", "a.py", ""]
    assert [(event.call, event.linked) for event in of(chat, Returned)] == [("c", "id"), ("d", "id"), (None, None)]
    assert reports(chat) == [("orphan-result", "A result answers no call; it is shown by itself.", 1)]


def test_thoughts_that_stand_in_the_parts_only_are_read_there(tmp_path: Path) -> None:
    chat = read(tmp_path, gemini("g", [{"text": "hm", "thought": True}, {"text": "so"}], thoughts=[]))
    assert [(type(event), event.text) for event in chat.events if isinstance(event, (Thought, Said))] == [
        (Thought, "hm"),
        (Said, "so"),
    ]


def test_pictures_and_files_of_a_prompt(tmp_path: Path) -> None:
    content = [
        "Look at ",
        {"text": "these."},
        {"inlineData": {"mimeType": "image/png", "data": PIXEL}},
        {"inlineData": {"mimeType": "application/pdf", "data": "JVBERg=="}},
        {"fileData": {"mimeType": "image/jpeg", "fileUri": "gs://bakery/oven.jpg"}},
        {"inlineData": {"mimeType": "image/png", "data": "not base64"}},
    ]
    (asked,) = of(read(tmp_path, user("u", content)), Asked)
    assert asked.text == "Look at these."
    assert [(type(part).__name__, part.media_type, part.size, part.reference) for part in asked.parts] == [
        ("Image", "image/png", 68, None),
        ("File", "application/pdf", 4, None),
        ("Image", "image/jpeg", None, "gs://bakery/oven.jpg"),
        ("Image", "image/png", None, None),
    ]


@pytest.mark.parametrize(
    ("text", "injected"),
    [
        ("<session_context>\nToday is Thursday.", "context"),
        ("<hook_context>be brief</hook_context>", "hook"),
        ("What is <hook_context>?", None),
        ("/compress", None),
    ],
)
def test_what_no_person_wrote_is_said(tmp_path: Path, text: str, injected: str | None) -> None:
    assert [event.injected for event in of(read(tmp_path, user("u", text)), Asked)] == [injected]


def test_notices_are_shown_as_such(tmp_path: Path) -> None:
    kinds = ("info", "error", "warning")
    chat = read(tmp_path, user("u", "go"), *({"id": kind, "type": kind, "content": f"an {kind}"} for kind in kinds))
    assert [(event.topic, event.text) for event in of(chat, Noted)] == [(kind, f"an {kind}") for kind in kinds]


@pytest.mark.parametrize(
    ("tokens", "usage"),
    [
        (
            {"input": 10, "output": 3, "cached": 4, "thoughts": 2, "tool": 5, "total": 20},
            Usage(15, 5, 4, None, None, 2),
        ),
        ({"input": 10, "output": 3}, Usage(10, 3)),
        ({"output": 3, "thoughts": 0}, Usage(None, 3, None, None, None, 0)),
        ({"total": 20}, None),
        ({"input": "10", "output": -3}, None),
        (None, None),
    ],
)
def test_tokens(tmp_path: Path, tokens: object, usage: Usage | None) -> None:
    file = write(tmp_path, gemini("g", "hi", tokens=tokens))
    assert read_file(file).messages["g"].usage == usage
    assert gemini_cli.count(find(file)[0], keep_nothing).usage == usage


# --- subagents


def test_subagents_of_subagents_and_such_that_no_call_names(tmp_path: Path) -> None:
    write(tmp_path, gemini("g", toolCalls=[call("c1", agentId="one")]), name="session-x-abcd1234.jsonl")
    for name, agent in (("one", "two"), ("two", ""), ("ring", "ring"), ("x", "y"), ("y", "x")):
        header = {**HEADER, "sessionId": name, "kind": "subagent"}
        started = gemini("g", toolCalls=[call("c2", agentId=agent)])
        write(tmp_path, started, name=f"abcd1234-s/{name}.jsonl", header=header)
    empty = {**HEADER, "sessionId": "empty", "kind": "subagent"}
    write(tmp_path, name="abcd1234-s/empty.jsonl", header=empty)
    (found,) = find(tmp_path / "session-x-abcd1234.jsonl")
    chat = gemini_cli.read(found, UTC)
    assert [(each.id, each.started_by) for each in chat.subagents] == [
        ("one", "c1"),
        ("ring", None),
        ("y", None),
    ]
    assert [(each.id, each.started_by) for each in chat.subagents[0].subagents] == [("two", "c2")]
    assert [(each.id, each.started_by) for each in chat.subagents[2].subagents] == [("x", "c2")]
    assert [each.kind for each in chat.diagnostics] == ["unreadable-subagent"]
    ledger = gemini_cli.count(found, keep_nothing)
    assert [(each.chat, each.started_by) for each in ledger.subagents] == [
        ("one", "c1"),
        ("ring", None),
        ("y", None),
    ]


def test_a_subagent_without_its_chat_is_a_chat(tmp_path: Path) -> None:
    header = {**HEADER, "sessionId": "lost", "kind": "subagent"}
    (found,) = find(write(tmp_path, user("u", "Find it."), name="abcd1234-s/lost.jsonl", header=header))
    assert (found.id, found.origin) == ("lost", "subagent")


# --- nothing is dropped in silence


def test_what_is_not_known_is_named(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        user("u", ["go", {"executableCode": {"code": "1"}}, 7]),
        {"id": "t", "type": "telemetry", "content": "?"},
        {"id": "t2", "type": "telemetry", "content": "?"},
        {"note": "no type"},
        b"[1]\n",
        gemini("g", thoughts=["as text", {"mood": "good"}], toolCalls=[{"id": "c", "args": "not JSON"}, 5]),
        {**HEADER, "sessionId": "another"},
    )
    assert reports(chat) == [
        ("unknown-record", "Records that are no messages of a session were passed over.", 2),
        ("second-header", "The log has a header of another session; the first one counts.", 1),
        ("unknown-part", "Parts that are executableCode are not known here: they were passed over.", 1),
        ("unknown-part", "Parts that are nothing are not known here: they were passed over.", 1),
        ("unknown-record", "Messages of the type “telemetry” are not known here: they were passed over.", 2),
        ("unknown-part", "A thought has neither a subject nor a description; it was passed over.", 1),
        ("missing-name", "A call does not say of which tool; it is called unknown_tool.", 2),
    ]
    assert [(event.id, event.raw) for event in of(chat, Called)] == [("c", "not JSON"), ("message-7", None)]


def test_damaged_places_are_reported_and_all_else_is_read(tmp_path: Path) -> None:
    one, two, cut = (json.dumps(user(text, text)).encode() for text in ("one", "two", "this one is cut"))
    chat = read(tmp_path, one + b"\r\n", two + json.dumps(gemini("g", "three \0 \ud800")).encode() + b"\n", cut[:30])
    assert words_in(chat) == ["one", "two", "three \0 \ufffd"]
    assert [(each.kind, each.place and each.place.number) for each in chat.diagnostics] == [
        ("crlf", 2),
        ("lone-surrogate", 3),
        ("glued-line", 3),
        ("damaged-line", 4),
    ]


# --- what is a session and what is not


@pytest.mark.parametrize("indent", [2, None])
def test_a_document_on_one_line_is_as_one_on_many(tmp_path: Path, indent: int | None) -> None:
    file = write_document(tmp_path, user("u", "one"), gemini("g", "uno"), indent=indent)
    (found,) = find(file)
    assert (found.id, found.title, found.started) == ("abcd1234-s", "one", 1_793_858_400_000)
    assert [event.place for event in gemini_cli.read(found, UTC).events] == [
        Place("log.json", 1, "message"),
        Place("log.json", 2, "message"),
    ]


def test_a_cut_document_is_refused_with_the_byte_where_it_ends(tmp_path: Path) -> None:
    file = write_document(tmp_path, user("u", "one"), gemini("g", "two"))
    whole = file.read_bytes()
    file.write_bytes(whole[: whole.index(b"two") + 2])
    (found,) = find(file)
    with pytest.raises(Unreadable, match=rf"^log\.json is cut off: it ends at byte {file.stat().st_size}, in the"):
        gemini_cli.read(found, UTC)
    file.write_bytes(whole[: whole.index(b"startTime")])
    (skipped,) = survey([file]).skipped
    assert skipped.verdict == "unreadable"
    assert skipped.why == f"it is cut off: it ends at byte {file.stat().st_size}, in the middle of a value"


@pytest.mark.parametrize("before", ['"messages":', '"startTime":'])
def test_a_document_that_is_nested_too_deep_is_refused(tmp_path: Path, before: str) -> None:
    file = tmp_path / "log.json"
    file.write_text('{"sessionId":"s","projectHash":"h",' + before + "[" * 20_000 + "]" * 20_000 + ',"messages":[]}')
    (skipped,) = survey([file]).skipped
    assert skipped.why == "it is nested deeper than 1,024 levels: it cannot be read"


def test_lines_without_their_header_are_a_session_all_the_same(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text(json.dumps(user("u", "one")) + "\n" + json.dumps(gemini("g", "uno")) + "\n")
    (found,) = find(file)
    assert (found.id, gemini_cli.read(found, UTC).id) == ("log", "log")


@pytest.mark.parametrize(
    "value",
    [
        {"sessionId": "s", "messages": [{"type": "user"}]},
        {"sessionId": "s", "projectHash": "h"},
        {"projectHash": "h", "messages": [{"type": "gemini", "id": "g"}]},
        [{"sessionId": "s", "projectHash": "h", "type": "user"}],
        {"id": "x", "type": "gemini"},
        {"id": 4, "type": "gemini", "content": "?"},
        "projectHash gemini id",
    ],
)
@pytest.mark.parametrize("name", ["log.json", "log.jsonl"])
def test_what_is_no_session_is_not_taken_for_one(tmp_path: Path, value: object, name: str) -> None:
    file = tmp_path / name
    file.write_text(json.dumps(value))
    found = find(file)
    assert not isinstance(found, list) or found == []


def test_no_other_agents_example_is_taken_for_one() -> None:
    files = [path for path in EXAMPLES.rglob("*") if path.is_file() and "gemini_cli" not in path.parts]
    assert files
    assert [path for path in files if find(path) is not None] == []


def test_a_session_of_which_nothing_is_known_is_refused_with_a_sentence(tmp_path: Path) -> None:
    unknown = ({"id": "1", "type": "pulse"}, {"id": "2", "type": "beat"})
    for file in (write(tmp_path, *unknown), write_document(tmp_path, *unknown)):
        (skipped,) = survey([file]).skipped
        assert (skipped.verdict, skipped.why) == (
            "unreadable",
            "it is a session of Gemini CLI, but none of its messages is known: beat, pulse",
        )


def test_a_session_in_which_nothing_was_said_is_passed_over(tmp_path: Path) -> None:
    for file in (write(tmp_path, {"$set": {"lastUpdated": "now"}}), write_document(tmp_path)):
        assert find(file) == Passed("a session of Gemini CLI in which nothing was said")


def test_a_session_that_lost_its_messages_since_it_was_listed_is_refused(tmp_path: Path) -> None:
    (found,) = find(write(tmp_path, user("u", "hello")))
    write(tmp_path)
    with pytest.raises(Unreadable, match=r"^log\.jsonl has no message of Gemini CLI that is known here\.$"):
        gemini_cli.read(found, UTC)


def test_a_long_first_message_is_read(tmp_path: Path) -> None:
    long = user("u", "x" * HEAD_BYTES)
    for file in (write(tmp_path, long, gemini("g", "short")), write_document(tmp_path, long, gemini("g", "short"))):
        assert [event.text for event in of(read_file(file), Said)] == ["short"]


def test_where_sessions_lie_and_nothing_is_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert gemini_cli.PLACES.logs() == [tmp_path / ".gemini" / "tmp"]
    assert gemini_cli.PLACES.stores() == [tmp_path / ".gemini"]


# --- any records

WORDS = st.sampled_from(["", " ", "a", "b\n", "c", "1"])
VALUE = WORDS | st.none() | st.booleans() | st.integers(-3, 3) | st.lists(WORDS, max_size=2)
IDENTITY = st.sampled_from(["a", "b", "c"]) | VALUE
DATA = st.fixed_dictionaries(
    {}, optional={"mimeType": st.sampled_from(["image/png", "text/csv"]) | VALUE, "data": VALUE | st.just(PIXEL)}
)
RESPONSE = st.fixed_dictionaries(
    {},
    optional={
        "id": IDENTITY,
        "response": VALUE | st.fixed_dictionaries({}, optional={"output": VALUE, "error": VALUE}),
    },
)
PART = st.fixed_dictionaries(
    {},
    optional={
        "text": VALUE,
        "thought": VALUE,
        "inlineData": VALUE | DATA,
        "fileData": VALUE | DATA,
        "functionResponse": VALUE | RESPONSE,
    },
)
CONTENT = VALUE | PART | st.lists(PART | VALUE, max_size=3)
CALL = st.fixed_dictionaries(
    {},
    optional={
        "id": IDENTITY,
        "name": VALUE,
        "args": VALUE | st.fixed_dictionaries({"a": VALUE}),
        "status": st.sampled_from(["success", "error", "cancelled", "executing"]) | VALUE,
        "result": CONTENT,
        "timestamp": VALUE,
        "agentId": VALUE,
    },
)
MESSAGE = st.fixed_dictionaries(
    {"type": st.sampled_from(["user", "gemini", "gemini", "info", "other"]) | VALUE},
    optional={
        "id": IDENTITY,
        "timestamp": VALUE | st.just("2026-11-05T06:00:00"),
        "content": CONTENT,
        "thoughts": VALUE
        | st.lists(VALUE | st.fixed_dictionaries({}, optional={"subject": VALUE, "description": VALUE})),
        "toolCalls": VALUE | st.lists(CALL | VALUE, max_size=2),
        "tokens": VALUE
        | st.fixed_dictionaries(
            {}, optional={"input": VALUE, "output": VALUE, "cached": VALUE, "thoughts": VALUE, "tool": VALUE}
        ),
        "model": VALUE,
    },
)
RECORD = (
    MESSAGE
    | MESSAGE
    | st.fixed_dictionaries({"$rewindTo": IDENTITY})
    | st.fixed_dictionaries(
        {"$set": VALUE | st.fixed_dictionaries({"messages": VALUE | st.lists(MESSAGE, max_size=3)})}
    )
)


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


def assert_counted_alike(found: Found, chat: Chat) -> None:
    ledger = gemini_cli.count(found, keep_nothing)
    for entries, aside in ((ledger.entries, False), (ledger.aside, True)):
        events = [event for event in chat.events if (event.branch is not None) == aside]
        assert [(event.id) for event in events if isinstance(event, Called)] == [
            entry.id for entry in entries if entry.kind == "call"
        ]
        assert [(event.call, event.ok) for event in events if isinstance(event, Returned)] == [
            (entry.id, entry.ok) for entry in entries if entry.kind == "result"
        ]
        assert [event.injected is not None for event in events if isinstance(event, Asked)] == [
            entry.injected for entry in entries if entry.kind == "prompt"
        ]


@given(st.lists(RECORD, max_size=6))
@settings(max_examples=60, deadline=None)
def test_values_of_any_type_are_taken_as_they_come_and_none_is_lost(
    tmp_path_factory: pytest.TempPathFactory, records: Sequence[Record]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (found,) = find(write(folder, *records, user("last", "The end.")))
    chat = gemini_cli.read(found, UTC)
    assert_counted_alike(found, chat)
    assert losses(found, chat, folder / "written") == []


LINES = WATER.read_bytes().splitlines(keepends=True)
NUMBERS = [number for number, line in enumerate(LINES) if number and b"$" not in line[:4]]


@given(st.sampled_from(NUMBERS), st.data())
@settings(max_examples=60, deadline=None)
def test_a_cut_line_costs_no_other(tmp_path_factory: pytest.TempPathFactory, at: int, data: st.DataObject) -> None:
    end = data.draw(st.integers(2, len(LINES[at]) - 2))
    folder = tmp_path_factory.mktemp("cut")
    whole = read(folder, *LINES[1:at], *LINES[at + 1 :])
    chat = read(folder, *LINES[1:at], LINES[at][:end] + b"\n", *LINES[at + 1 :])
    expected = words_in(whole)
    assert [words for words in words_in(chat) if words in expected] == expected
    damaged = {
        (each.kind, each.place and each.place.number) for each in chat.diagnostics if each.kind == "damaged-line"
    }
    assert damaged == {("damaged-line", at + 1)}


@given(st.permutations(LINES), st.integers(0, len(LINES) - 1))
@settings(max_examples=60, deadline=None)
def test_lines_in_any_order_and_twice_never_fail(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], twice: int
) -> None:
    file = tmp_path_factory.mktemp("any") / "log.jsonl"
    file.write_bytes(b"".join([*lines, lines[twice]]))
    (found,) = find(file)
    chat = gemini_cli.read(found, UTC)
    assert_counted_alike(found, chat)
    # Whatever is taken back, each message's last words are there.
    assert {
        "The labels say less water than the recipe for the same flour. Which one is right? Please make them agree."
    } <= {*words_in(chat)}


DOCUMENT = CRUST.read_bytes().rstrip()


@given(st.integers(2, len(DOCUMENT) - 1))
@settings(max_examples=60, deadline=None)
def test_a_document_that_is_cut_anywhere_is_no_chat(tmp_path_factory: pytest.TempPathFactory, end: int) -> None:
    file = tmp_path_factory.mktemp("cut") / "log.json"
    file.write_bytes(DOCUMENT[:end])
    for found in survey([file]).chats:
        with pytest.raises(Unreadable, match=r"^log\.json is (cut off|damaged)"):
            gemini_cli.read(found, UTC)
        with pytest.raises(Unreadable):
            gemini_cli.count(found, keep_nothing)
