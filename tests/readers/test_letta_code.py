"""Letta Code's transcripts: a row is something said, thought or gone wrong, or a call with its result."""

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
from trailbook.chat import Asked, Called, Chat, Noted, Place, Returned, Said, Thought, text_of
from trailbook.checking import compare_counted, count
from trailbook.formats import FORMATS, TRAJECTORIES, Output, Sheet
from trailbook.ledger import keep_nothing
from trailbook.readers import HEAD_BYTES, Found, Unreadable, letta_code
from trailbook.stores import survey

HARVEST = EXAMPLES / "letta_code" / "transcripts" / "agent-5d1e0b7a" / "conv-91c3" / "transcript.jsonl"
AT = "2026-09-21T17:05:00.000Z"


def find(path: Path) -> Any:
    with path.open("rb") as stream:
        return letta_code.find(path, stream.read(HEAD_BYTES))


def read_file(path: Path) -> Chat:
    (found,) = find(path)
    return letta_code.read(found, UTC)


def line(**fields: object) -> bytes:
    return json.dumps(fields).encode() + b"\n"


def row(kind: object, text: object = None, **fields: object) -> dict[str, object]:
    return {"kind": kind, "captured_at": AT, **({} if text is None else {"text": text}), **fields}


def call(**fields: object) -> dict[str, object]:
    return row("tool_call", **{"name": "Bash", "argsText": "{}", **fields})


def write(folder: Path, *rows: dict[str, object] | bytes) -> Path:
    file = folder / "log.jsonl"
    file.write_bytes(b"".join(each if isinstance(each, bytes) else line(**each) for each in rows))
    return file


def read(folder: Path, *rows: dict[str, object] | bytes) -> Chat:
    return read_file(write(folder, *rows))


def of(chat: Chat, kind: type) -> Any:
    return [event for event in chat.events if isinstance(event, kind)]


def reports(chat: Chat) -> list[tuple[str, str, int]]:
    return [(each.kind, each.text, each.count) for each in chat.diagnostics]


# --- whole transcripts


def test_a_whole_transcript() -> None:
    chat = read_file(HARVEST)
    assert [type(event).__name__ for event in chat.events] == [
        *("Asked", "Thought", "Said", "Called", "Returned", "Called", "Returned", "Called", "Returned"),
        *("Noted", "Said", "Asked", "Called", "Returned", "Said", "Called"),
    ]
    assert [(event.id, event.name) for event in of(chat, Called)] == [
        ("call-read-1", "Read"),
        ("call-edit-1", "Edit"),
        ("call-bash-1", "Bash"),
        ("call-bash-2", "Bash"),
        ("call-bash-3", "Bash"),
    ]
    assert [(event.call, event.ok) for event in of(chat, Returned)] == [
        ("call-read-1", True),
        ("call-edit-1", True),
        ("call-bash-1", False),
        ("call-bash-2", True),
    ]
    assert [(event.topic, event.text) for event in of(chat, Noted)] == [
        ("error", "The stream was interrupted; trying again.")
    ]
    assert [event.message for event in of(chat, Thought) + of(chat, Said)] == [
        *("message-1", "message-1", "message-2", "message-3")
    ]
    assert (chat.id, chat.agent.product) == ("agent-5d1e0b7a/conv-91c3", "Letta Code")
    # 2026-09-21T17:05:00Z and 17:06:22Z.
    assert (chat.started, chat.ended) == (1_790_010_300_000, 1_790_010_382_000)
    assert chat.events[-1].place == Place("transcript.jsonl", 12)
    assert (chat.diagnostics, chat.naive_times) == ([], False)


def test_the_list_says_what_was_asked_and_when() -> None:
    (found,) = find(HARVEST)
    assert found.title == "The harvest report counts crates twice when a truck comes back. Can you look?"
    assert (found.id, found.started, found.inputs) == ("agent-5d1e0b7a/conv-91c3", 1_790_010_300_000, (HARVEST,))


def test_the_ledger_of_a_whole_transcript() -> None:
    (found,) = find(HARVEST)
    ledger = letta_code.count(found, lambda place: place.number == 6)
    counts = {kind: len(ledger.of(kind)) for kind in ("prompt", "answer", "thought", "call", "result")}
    assert counts == {"prompt": 2, "answer": 3, "thought": 1, "call": 5, "result": 4}
    assert [(entry.id, entry.ok) for entry in ledger.of("result")][2] == ("call-bash-1", False)
    assert [entry.text for entry in ledger.entries if entry.text] == [
        '{"command":"pytest -q tests/test_harvest.py"}',
        "E   AttributeError: 'Load' object has no attribute 'trip'\n1 failed, 6 passed in 0.31s",
    ]


# --- calls


@pytest.mark.parametrize(
    ("fields", "words", "ok"),
    [
        ({"resultText": "fine", "resultOk": True}, "fine", True),
        ({"resultText": "it failed", "resultOk": False}, "it failed", False),
        ({"resultText": "no status"}, "no status", None),
        ({"resultText": ""}, "", None),
        ({"resultOk": True}, "", True),
        ({"resultText": {"a": 1}, "resultOk": "yes"}, '{"a":1}', None),
    ],
)
def test_a_row_with_anything_of_a_result_has_one(
    tmp_path: Path, fields: dict[str, object], words: str, ok: bool | None
) -> None:
    chat = read(tmp_path, call(source_line_id="c", **fields))
    (result,) = of(chat, Returned)
    assert (result.call, text_of(result.parts), result.ok, result.linked) == ("c", words, ok, "id")


@pytest.mark.parametrize("fields", [{}, {"resultText": None, "resultOk": None}])
def test_a_row_that_was_never_finished_is_a_call_only(tmp_path: Path, fields: dict[str, object]) -> None:
    chat = read(tmp_path, call(source_line_id="c", **fields))
    assert [type(event) for event in chat.events] == [Called]


@pytest.mark.parametrize(
    ("written", "arguments", "raw"),
    [
        ('{"command": "ls", "n": 12345678901234567890}', {"command": "ls", "n": 12345678901234567890}, None),
        ('{"command": "l', {}, '{"command": "l'),
        ("[1]", {}, "[1]"),
        ("", {}, None),
        (None, {}, None),
        ({"a": 1}, {"a": 1}, None),
    ],
)
def test_arguments_are_an_object_or_kept_as_they_are(
    tmp_path: Path, written: object, arguments: dict[str, object], raw: str | None
) -> None:
    (event,) = of(read(tmp_path, call(argsText=written)), Called)
    assert (event.arguments, event.raw) == (arguments, raw)


def test_old_rows_without_ids_are_told_apart_by_their_lines(tmp_path: Path) -> None:
    two = line(**call(resultText="b"))[:-1] + line(**call(resultText="c"))
    chat = read(tmp_path, call(resultText="a"), two, call(source_line_id="x"), call(source_line_id="x", argsText="[]"))
    assert [event.id for event in of(chat, Called)] == ["line-1", "line-2", "line-2__2", "x", "x__2"]
    assert [(event.call, text_of(event.parts)) for event in of(chat, Returned)] == [
        ("line-1", "a"),
        ("line-2", "b"),
        ("line-2__2", "c"),
    ]


# --- nothing is dropped in silence


def test_what_is_not_known_is_named(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        row("user", "hello"),
        row("status", "working"),
        row("status", "still working"),
        row(None, "?"),
        b"[1]\n",
        row("assistant", ""),
        row("reasoning", ["a", 1]),
        row("tool_call"),
        row("error", "temporary"),
    )
    assert reports(chat) == [
        ("unknown-record", 'Rows of the kind "status" are not known.', 2),
        ("unknown-record", "Rows of the kind null are not known.", 1),
        ("unknown-record", "A line is no row of a transcript; it was passed over.", 1),
        ("empty-record", "A row has no words; it was passed over.", 1),
        ("unexpected-value", "The field text is no text; it is spelled as JSON.", 1),
        ("missing-name", "A call does not say of which tool; it is called unknown_tool.", 1),
    ]
    assert [event.text for event in of(chat, Thought)] == ['["a",1]']
    assert [event.name for event in of(chat, Called)] == ["unknown_tool"]
    assert [event.text for event in of(chat, Noted)] == ["temporary"]


def test_a_row_that_is_there_twice_counts_once(tmp_path: Path) -> None:
    asked = row("user", "again", source_line_id="l1")
    chat = read(
        tmp_path, asked, asked, row("user", "again", source_line_id="l2"), row("user", "old"), row("user", "old")
    )
    assert [event.text for event in of(chat, Asked)] == ["again", "again", "old", "old"]
    assert [(each.kind, each.place) for each in chat.diagnostics] == [("repeated-record", Place("log.jsonl", 2))]


def test_damaged_places_are_reported_and_all_else_is_read(tmp_path: Path) -> None:
    glued = line(**row("user", "two")).rstrip() + line(**row("assistant", "three"))
    chat = read(
        tmp_path,
        b"\xef\xbb\xbf" + line(**row("user", "one")).replace(b"\n", b"\r\n"),
        glued,
        line(**row("assistant", "nul \0 and \ud800")),
        line(**row("user", "this one is cut"))[:50],
    )
    assert [event.text for event in chat.events if isinstance(event, (Asked, Said))] == [
        *("one", "two", "three", "nul \0 and \ufffd")
    ]
    assert [(each.kind, each.place and each.place.number) for each in chat.diagnostics] == [
        ("crlf", 1),
        ("byte-order-mark", 1),
        ("glued-line", 2),
        ("lone-surrogate", 3),
        ("damaged-line", 4),
    ]


# --- what is a transcript and what is not


def test_transcripts_elsewhere_are_told_apart_by_their_first_rows(tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    one, other = (row("user", "same", captured_at=f"2026-09-21T17:05:0{second}.000Z") for second in (1, 2))
    ids = [find(write(tmp_path, one))[0].id, find(write(tmp_path / "copy", one, other))[0].id]
    assert ids[0] == ids[1]
    assert ids[0].startswith("log-")
    assert find(write(tmp_path, other))[0].id != ids[0]


def test_a_first_row_that_is_longer_than_what_is_looked_at_is_found(tmp_path: Path) -> None:
    ids = set()
    for start in "ab":
        chat = read(tmp_path, row("user", start + "x" * HEAD_BYTES), row("assistant", "short"))
        assert [event.text for event in of(chat, Said)] == ["short"]
        ids.add(chat.id)
    assert len(ids) == 2


@pytest.mark.parametrize(
    "rows",
    [
        [{"kind": "user", "text": "another program's"}],
        [{"kind": ["user"], "captured_at": AT}],
        [{"type": "user", "captured_at": AT}],
        [{"kind": "Pod", "apiVersion": "v1"}],
        [b"not JSON\n"],
    ],
)
def test_what_is_no_transcript_is_not_taken_for_one(tmp_path: Path, rows: list[dict[str, object] | bytes]) -> None:
    assert find(write(tmp_path, *rows)) is None


def test_no_other_agents_example_is_taken_for_one() -> None:
    files = [path for path in EXAMPLES.rglob("*") if path.is_file() and "letta_code" not in path.parts]
    assert files
    assert [path for path in files if find(path) is not None] == []


def test_a_transcript_of_which_nothing_is_known_is_refused_with_a_sentence(tmp_path: Path) -> None:
    (skipped,) = survey([write(tmp_path, row("status", "working"), row("pulse"))]).skipped
    assert (skipped.verdict, skipped.why) == (
        "unreadable",
        "it looks like a transcript of Letta Code, but none of its rows is known: pulse, status",
    )


def test_a_transcript_that_lost_its_rows_since_it_was_listed_is_refused(tmp_path: Path) -> None:
    (found,) = find(write(tmp_path, row("user", "hello")))
    write(tmp_path, row("status", "working"))
    with pytest.raises(Unreadable, match=r"^log\.jsonl has no row of Letta Code that is known\.$"):
        letta_code.read(found, UTC)


def test_where_transcripts_lie_and_nothing_is_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert letta_code.PLACES.logs() == [tmp_path / ".letta" / "transcripts"]
    assert letta_code.PLACES.stores() == [tmp_path / ".letta"]


# --- any lines


WORDS = st.sampled_from(["", " ", "a", "b\n", "c", "x", "1"])
VALUE = WORDS | st.none() | st.booleans() | st.integers(-3, 3) | st.lists(WORDS, max_size=2)
ROW = st.fixed_dictionaries(
    {"kind": st.sampled_from(["user", "assistant", "reasoning", "tool_call", "error", "status"]) | VALUE},
    optional={
        "text": VALUE,
        "captured_at": st.sampled_from([AT, "2026-09-21T17:05:00", "9999-12-31T23:59:59-12:00"]) | VALUE,
        "source_line_id": VALUE,
        "source_message_id": VALUE,
        "name": VALUE,
        "argsText": VALUE | st.sampled_from(['{"a": 1}', "{}", '{"a":']),
        "resultText": VALUE,
        "resultOk": VALUE,
    },
)


def assert_counted_alike(found: Found, chat: Chat) -> None:
    ledger = letta_code.count(found, keep_nothing)
    assert [event.id for event in of(chat, Called)] == [entry.id for entry in ledger.of("call")]
    assert [(event.call, event.ok) for event in of(chat, Returned)] == [
        (entry.id, entry.ok) for entry in ledger.of("result")
    ]
    assert len(of(chat, Asked)) == len(ledger.of("prompt"))
    assert sum(bool(event.text.strip()) for event in of(chat, Said)) == len(ledger.of("answer"))
    assert sum(bool(event.text.strip()) for event in of(chat, Thought)) == len(ledger.of("thought"))


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


@given(st.lists(ROW, max_size=7))
@settings(max_examples=100, deadline=None)
def test_values_of_any_type_are_taken_as_they_come_and_none_is_lost(
    tmp_path_factory: pytest.TempPathFactory, rows: Sequence[dict[str, object]]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (found,) = find(write(folder, row("user", "Begin."), *rows))
    chat = letta_code.read(found, UTC)
    assert_counted_alike(found, chat)
    assert losses(found, chat, folder / "written") == []


LINES = HARVEST.read_bytes().splitlines(keepends=True)


def words_in(chat: Chat) -> list[str]:
    """What each event says, in order; calls by their ids."""
    return [
        event.id if isinstance(event, Called) else text_of(event.parts) if isinstance(event, Returned) else event.text
        for event in chat.events
        if isinstance(event, (Asked, Thought, Said, Noted, Called, Returned))
    ]


@given(st.integers(0, len(LINES) - 1), st.data())
@settings(max_examples=60, deadline=None)
def test_a_cut_line_costs_no_other(tmp_path_factory: pytest.TempPathFactory, at: int, data: st.DataObject) -> None:
    end = data.draw(st.integers(2, len(LINES[at]) - 2))
    others = [each for number, each in enumerate(LINES) if number != at]
    folder = tmp_path_factory.mktemp("cut")
    whole, chat = read(folder, *others), read(folder, *LINES[:at], LINES[at][:end] + b"\n", *LINES[at + 1 :])
    assert words_in(chat) == words_in(whole)
    assert [(each.kind, each.place and each.place.number, each.lost) for each in chat.diagnostics] == [
        ("damaged-line", at + 1, True)
    ]


@given(st.permutations(LINES), st.integers(0, len(LINES) - 1))
@settings(max_examples=60, deadline=None)
def test_lines_in_any_order_and_twice_are_all_read(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], twice: int
) -> None:
    folder = tmp_path_factory.mktemp("any")
    chat = read(folder, *lines, lines[twice])
    assert sorted(words_in(chat)) == sorted(words_in(read_file(HARVEST)))
    assert [(each.kind, each.place) for each in chat.diagnostics] == [
        ("repeated-record", Place("log.jsonl", len(LINES) + 1))
    ]
