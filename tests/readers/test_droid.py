"""Droid's sessions: messages with blocks of text, thinking, pictures, calls and results."""

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
from trailbook.chat import Asked, Called, Chat, Image, Place, Returned, Said, Thought, text_of
from trailbook.checking import compare_counted, count
from trailbook.formats import FORMATS, TRAJECTORIES, Output, Sheet
from trailbook.ledger import keep_nothing
from trailbook.readers import HEAD_BYTES, Found, Passed, Unreadable, droid
from trailbook.stores import survey

SEEDS = EXAMPLES / "droid" / "sessions" / "-home-sam-seedbank" / "3c9f2a64-7d18-4b05-9e2f-6a1c8d40b7e1.jsonl"
START = {"type": "session_start", "id": "s1", "title": "New Session", "version": 2, "cwd": "/home/sam/seedbank"}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="


def find(path: Path) -> Any:
    with path.open("rb") as stream:
        return droid.find(path, stream.read(HEAD_BYTES))


def read_file(path: Path) -> Chat:
    (found,) = find(path)
    return droid.read(found, UTC)


def message(role: object, *blocks: object, **more: object) -> dict[str, object]:
    return {"type": "message", "message": {"role": role, "content": list(blocks)}, **more}


def said(text: object) -> dict[str, object]:
    return {"type": "text", "text": text}


def use(identity: object, name: object = "Read", arguments: object = None) -> dict[str, object]:
    return {"type": "tool_use", "id": identity, "name": name, "input": {} if arguments is None else arguments}


def result(identity: object, content: object = "fine", **more: object) -> dict[str, object]:
    return {"type": "tool_result", "tool_use_id": identity, "content": content, **more}


def write(folder: Path, *records: dict[str, object] | bytes) -> Path:
    file = folder / "log.jsonl"
    lines = [each if isinstance(each, bytes) else json.dumps(each).encode() + b"\n" for each in (START, *records)]
    file.write_bytes(b"".join(lines))
    return file


def read(folder: Path, *records: dict[str, object] | bytes) -> Chat:
    return read_file(write(folder, *records))


def of(chat: Chat, kind: type) -> Any:
    return [event for event in chat.events if isinstance(event, kind)]


def reports(chat: Chat) -> list[tuple[str, str, int]]:
    return [(each.kind, each.text, each.count) for each in chat.diagnostics]


# --- whole sessions


def test_a_whole_session() -> None:
    chat = read_file(SEEDS)
    assert [type(event).__name__ for event in chat.events] == [
        *("Asked", "Thought", "Said", "Called", "Called", "Returned", "Returned", "Called", "Returned"),
        *("Called", "Returned", "Said", "Called", "Returned", "Said", "Asked", "Called", "Returned", "Said"),
    ]
    assert [(event.id, event.name) for event in of(chat, Called)] == [
        ("toolu_read1", "Read"),
        ("toolu_grep1", "Grep"),
        ("toolu_edit1", "Edit"),
        ("toolu_exec1", "Execute"),
        ("toolu_exec2", "Execute"),
        ("toolu_create1", "Create"),
    ]
    assert [(event.call, event.ok, event.linked) for event in of(chat, Returned)] == [
        ("toolu_grep1", True, "id"),
        ("toolu_read1", True, "id"),
        ("toolu_edit1", True, "id"),
        ("toolu_exec1", False, "id"),
        ("toolu_exec2", True, "id"),
        ("toolu_create1", True, "id"),
    ]
    assert of(chat, Called)[3].arguments == {
        "command": "python -m pytest -q tests/test_calendar.py",
        "timeout": 60,
    }
    assert of(chat, Thought)[0].signature == "EqQBCkYIBxgCKkDroidSeedbankOne"
    assert (chat.title, chat.cwd) == ("Sowing dates that slip into the wrong week", "/home/sam/seedbank")
    assert chat.events[-1].place == Place("3c9f2a64-7d18-4b05-9e2f-6a1c8d40b7e1.jsonl", 16)
    # The log has neither times nor models nor tokens.
    assert (chat.started, chat.ended, chat.models, chat.usage) == (None, None, [], None)
    assert chat.diagnostics == []


def test_the_list_says_what_the_session_is_called() -> None:
    (found,) = find(SEEDS)
    assert (found.id, found.title) == (
        "3c9f2a64-7d18-4b05-9e2f-6a1c8d40b7e1",
        "Sowing dates that slip into the wrong week",
    )
    assert (found.cwd, found.inputs, found.started) == ("/home/sam/seedbank", (SEEDS,), None)


def test_the_ledger_of_a_whole_session() -> None:
    (found,) = find(SEEDS)
    ledger = droid.count(found, lambda place: place.number == 9)
    counts = {kind: len(ledger.of(kind)) for kind in ("prompt", "answer", "thought", "call", "result")}
    assert counts == {"prompt": 2, "answer": 4, "thought": 1, "call": 6, "result": 6}
    assert [entry.text for entry in ledger.entries if entry.text] == [
        "Error: E   ModuleNotFoundError: No module named 'crops'\n1 error in 0.08s\n[Process exited with code 2]"
    ]


# --- messages


def test_a_time_is_read_where_a_record_has_one(tmp_path: Path) -> None:
    chat = read(tmp_path, message("user", said("hello"), timestamp="2026-11-01T08:00:00.250Z"))
    # 2026-11-01T08:00:00Z is 1793520000 seconds.
    assert (chat.events[0].at, chat.started, chat.ended) == (1_793_520_000_250,) * 3


def test_content_may_be_a_bare_text(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        {"type": "message", "message": {"role": "user", "content": "hello"}},
        {"type": "message", "message": {"role": "assistant", "content": "hi"}},
    )
    assert [(type(event), event.text) for event in of(chat, (Asked, Said))] == [(Asked, "hello"), (Said, "hi")]  # type: ignore[arg-type]


def test_what_came_back_stands_before_what_was_written_with_it(tmp_path: Path) -> None:
    chat = read(tmp_path, message("assistant", use("c")), message("user", said("stop"), result("c", "read")))
    assert [type(event) for event in chat.events] == [Called, Returned, Asked]


def test_pictures_of_prompts_and_results_are_kept(tmp_path: Path) -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    damaged = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "no base64"}}
    address = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    chat = read(
        tmp_path,
        message("user", said("look"), picture, damaged, address),
        message("assistant", use("c")),
        message("user", result("c", [said("a chart"), picture])),
    )
    (asked,), (returned,) = of(chat, Asked), of(chat, Returned)
    assert [(part.media_type, part.size, part.problem, part.reference) for part in asked.parts] == [
        ("image/png", 68, None, None),
        ("image/png", None, "its base64 data is damaged", None),
        (None, None, None, "https://example.com/a.png"),
    ]
    assert [type(part) for part in returned.parts][1] is Image
    assert text_of(returned.parts) == "a chart"
    ledger = droid.count(find(tmp_path / "log.jsonl")[0], keep_nothing)
    assert [(entry.kind, entry.id, entry.images) for entry in ledger.entries] == [
        ("prompt", None, 3),
        *[("image", None, 0)] * 3,
        ("call", "c", 0),
        ("result", "c", 1),
        ("image", "c", 0),
    ]


# --- calls and results


@pytest.mark.parametrize(
    ("block", "words", "ok"),
    [
        (result("c", "fine", is_error=False), "fine", True),
        (result("c", "it failed", is_error=True), "it failed", False),
        (result("c", "no status"), "no status", None),
        (result("c", "odd status", is_error="no"), "odd status", None),
        (result("c", [said("one"), said("two")]), "one\ntwo", None),
        (result("c", {"lines": 2}), '{"lines":2}', None),
        (result("c", None), "", None),
    ],
)
def test_results_are_linked_by_id(tmp_path: Path, block: dict[str, object], words: str, ok: bool | None) -> None:
    chat = read(tmp_path, message("assistant", use("c")), message("user", block))
    (returned,) = of(chat, Returned)
    assert (returned.call, text_of(returned.parts), returned.ok, returned.linked) == ("c", words, ok, "id")
    assert chat.diagnostics == []


def test_calls_that_share_an_id_are_told_apart_and_orphans_shown(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        message("assistant", use("c"), use("c"), use(None)),
        message("user", result("c", "first"), result("c", "second"), result("c", "third"), result("other", "lost")),
    )
    assert [event.id for event in of(chat, Called)] == ["c", "c__2", "line-2"]
    assert [(event.call, text_of(event.parts), event.linked) for event in of(chat, Returned)] == [
        ("c", "first", "id"),
        ("c__2", "second", "id"),
        (None, "third", None),
        (None, "lost", None),
    ]
    assert reports(chat) == [("orphan-result", "A result answers no call; it is shown by itself.", 2)]


@pytest.mark.parametrize(
    ("written", "arguments", "raw"),
    [
        ({"command": "ls", "n": 12345678901234567890}, {"command": "ls", "n": 12345678901234567890}, None),
        ('{"command": "ls"}', {"command": "ls"}, None),
        ("not JSON", {}, "not JSON"),
        ([1], {}, "[1]"),
    ],
)
def test_arguments_are_an_object_or_kept_as_they_are(
    tmp_path: Path, written: object, arguments: dict[str, object], raw: str | None
) -> None:
    (event,) = of(read(tmp_path, message("assistant", use("c", "Read", written))), Called)
    assert (event.arguments, event.raw) == (arguments, raw)


# --- nothing is dropped in silence


def test_what_is_not_known_is_named(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        message("user", said("hello"), {"type": "document", "source": {}}, 7),
        {"type": "todo_state", "todos": []},
        {"type": "todo_state", "todos": []},
        {"kind": "?"},
        b"[1]\n",
        message("system", said("be kind")),
        {"type": "message", "message": {"role": "user"}},
        message("assistant", {"type": "redacted_thinking", "data": "x"}, said(5), use("c", None)),
        START,
    )
    assert reports(chat) == [
        ("unknown-record", "Blocks of the type “document” are not known here: they were passed over.", 1),
        ("unknown-record", "Blocks of no known type are not known here: they were passed over.", 1),
        ("unknown-record", "Records of the type “todo_state” are not known here: they were passed over.", 2),
        ("unknown-record", "Records of no known type are not known here: they were passed over.", 2),
        ("unknown-record", "Messages without content, or of a role that is not known here, were passed over.", 2),
        ("unknown-record", "Blocks of the type “redacted_thinking” are not known here: they were passed over.", 1),
        ("unknown-record", "Blocks of the type “text” are not known here: they were passed over.", 1),
        ("missing-name", "A call does not say of which tool; it is called unknown_tool.", 1),
        ("repeated-record", "A record is there again as it was; it counts once.", 1),
    ]
    assert [event.name for event in of(chat, Called)] == ["unknown_tool"]


def test_a_second_session_in_the_file_is_said(tmp_path: Path) -> None:
    chat = read(tmp_path, message("user", said("hello")), {**START, "id": "s2", "cwd": "/home/sam/other"})
    assert chat.cwd == "/home/sam/seedbank"
    assert reports(chat) == [("second-header", "The session has a second first record; the first one counts.", 1)]


def test_a_record_that_is_there_again_with_its_id_counts_once(tmp_path: Path) -> None:
    again = message("user", said("again"), id="m1")
    plain = message("user", said("same words"))
    chat = read(tmp_path, again, again, plain, plain)
    assert [event.text for event in of(chat, Asked)] == ["again", "same words", "same words"]
    assert [(each.kind, each.place) for each in chat.diagnostics] == [("repeated-record", Place("log.jsonl", 3))]


def test_damaged_places_are_reported_and_all_else_is_read(tmp_path: Path) -> None:
    one, two = (json.dumps(message("user", said(text))).encode() for text in ("one", "two"))
    chat = read(
        tmp_path,
        b"\xef\xbb\xbf" + one + b"\r\n",
        two + json.dumps(message("assistant", said("three"))).encode() + b"\n",
        message("assistant", said("nul \0 and \ud800")),
        json.dumps(message("user", said("this one is cut"))).encode()[:60],
    )
    texts = [event.text for event in chat.events if isinstance(event, (Asked, Said))]
    assert texts == ["one", "two", "three", "nul \0 and \ufffd"]
    assert [(each.kind, each.place and each.place.number) for each in chat.diagnostics] == [
        ("crlf", 2),
        ("byte-order-mark", 2),
        ("glued-line", 3),
        ("lone-surrogate", 4),
        ("damaged-line", 5),
    ]


# --- what is a session and what is not


def test_a_session_without_a_title_is_called_by_what_was_asked(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    start = {key: value for key, value in START.items() if key != "title"}
    lines = [start, message("user", said("\nWhat grows here?\nAnd when?"))]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert find(file)[0].title == "What grows here?"


@pytest.mark.parametrize(
    "lines",
    [
        [message("user", said("no first record"))],
        [{"type": "session", "id": "s", "cwd": "/"}, message("user", said("another agent's"))],
        [{"type": "session_start"}, message("user", said("no id"))],
        [{"type": "session_start", "id": "s"}, message("user", said("only an id"))],
        [["session_start"]],
    ],
)
def test_what_is_no_session_is_not_taken_for_one(tmp_path: Path, lines: list[object]) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert find(file) is None


def test_no_other_agents_example_is_taken_for_one() -> None:
    files = [path for path in EXAMPLES.rglob("*") if path.is_file() and "droid" not in path.parts]
    assert files
    assert [path for path in files if find(path) is not None] == []


def test_a_session_of_which_nothing_is_known_is_refused_with_a_sentence(tmp_path: Path) -> None:
    (skipped,) = survey([write(tmp_path, {"type": "turn"}, {"type": "pulse"}, {"beat": 1})]).skipped
    assert (skipped.verdict, skipped.why) == (
        "unreadable",
        "it is a session of Droid, but none of its records is known: no type, pulse, turn",
    )


def test_a_session_in_which_nothing_was_said_is_passed_over(tmp_path: Path) -> None:
    assert find(write(tmp_path)) == Passed("a session of Droid in which nothing was said")


def test_a_session_that_lost_its_messages_since_it_was_listed_is_refused(tmp_path: Path) -> None:
    (found,) = find(write(tmp_path, message("user", said("hello"))))
    write(tmp_path)
    with pytest.raises(Unreadable, match=r"^log\.jsonl has no message of Droid that is known here\.$"):
        droid.read(found, UTC)


def test_a_long_first_message_is_read(tmp_path: Path) -> None:
    chat = read(tmp_path, message("user", said("x" * HEAD_BYTES)), message("assistant", said("short")))
    assert [event.text for event in of(chat, Said)] == ["short"]


def test_where_sessions_lie_and_nothing_is_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert droid.PLACES.logs() == [tmp_path / ".factory" / "sessions"]
    assert droid.PLACES.stores() == [tmp_path / ".factory"]


# --- any lines

WORDS = st.sampled_from(["", " ", "a", "b\n", "c", "1"])
VALUE = WORDS | st.none() | st.booleans() | st.integers(-3, 3) | st.lists(WORDS, max_size=2)
SOURCE = st.fixed_dictionaries(
    {}, optional={"type": st.sampled_from(["base64", "url"]), "media_type": VALUE, "data": VALUE | st.just(PIXEL)}
)
INNER = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "image"]) | VALUE}, optional={"text": VALUE, "source": SOURCE | VALUE}
)
BLOCK = INNER | st.fixed_dictionaries(
    {"type": st.sampled_from(["thinking", "tool_use", "tool_result"])},
    optional={
        "thinking": VALUE,
        "signature": VALUE,
        "id": VALUE,
        "name": VALUE,
        "input": VALUE | st.fixed_dictionaries({"a": VALUE}),
        "tool_use_id": VALUE,
        "is_error": VALUE,
        "content": VALUE | st.lists(INNER | VALUE, max_size=2),
    },
)
RECORD = st.fixed_dictionaries(
    {"type": st.just("message") | VALUE},
    optional={
        "id": VALUE,
        "timestamp": VALUE | st.just("2026-11-01T08:00:00"),
        "message": VALUE
        | st.fixed_dictionaries(
            {"role": st.sampled_from(["user", "assistant"]) | VALUE},
            optional={"content": VALUE | st.lists(BLOCK | VALUE, max_size=4)},
        ),
    },
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


@given(st.lists(RECORD, max_size=6))
@settings(max_examples=60, deadline=None)
def test_values_of_any_type_are_taken_as_they_come_and_none_is_lost(
    tmp_path_factory: pytest.TempPathFactory, records: Sequence[dict[str, object]]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (found,) = find(write(folder, message("user", said("Begin.")), *records))
    chat, ledger = droid.read(found, UTC), droid.count(found, keep_nothing)
    assert [event.id for event in of(chat, Called)] == [entry.id for entry in ledger.of("call")]
    assert [(event.call, event.ok) for event in of(chat, Returned)] == [
        (entry.id, entry.ok) for entry in ledger.of("result")
    ]
    assert len(of(chat, Asked)) == len(ledger.of("prompt"))
    assert len(of(chat, Said)) == len(ledger.of("answer"))
    assert losses(found, chat, folder / "written") == []


LINES = SEEDS.read_bytes().splitlines(keepends=True)


def words_in(chat: Chat) -> list[str]:
    """What each event says, in order; calls by their ids."""
    return [
        event.id if isinstance(event, Called) else text_of(event.parts) if isinstance(event, Returned) else event.text
        for event in chat.events
        if isinstance(event, (Asked, Thought, Said, Called, Returned))
    ]


@given(st.integers(1, len(LINES) - 1), st.data())
@settings(max_examples=60, deadline=None)
def test_a_cut_line_costs_no_other(tmp_path_factory: pytest.TempPathFactory, at: int, data: st.DataObject) -> None:
    end = data.draw(st.integers(2, len(LINES[at]) - 2))
    folder = tmp_path_factory.mktemp("cut")
    file = folder / "log.jsonl"
    file.write_bytes(b"".join(LINES[:at] + LINES[at + 1 :]))
    whole = read_file(file)
    file.write_bytes(b"".join([*LINES[:at], LINES[at][:end] + b"\n", *LINES[at + 1 :]]))
    chat = read_file(file)
    assert words_in(chat) == words_in(whole)
    # A whole block in what is left of the line is no record.
    damaged = [each for each in chat.diagnostics if each.kind not in ("orphan-result", "unknown-record")]
    assert {(each.kind, each.place and each.place.number, each.lost) for each in damaged} == {
        ("damaged-line", at + 1, True)
    }


@given(st.permutations(LINES))
@settings(max_examples=60, deadline=None)
def test_lines_in_any_order_are_all_read(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]) -> None:
    file = tmp_path_factory.mktemp("any") / "log.jsonl"
    file.write_bytes(b"".join(lines))
    assert sorted(words_in(read_file(file))) == sorted(words_in(read_file(SEEDS)))
