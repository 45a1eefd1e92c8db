"""Cursor's captures: rows of blocks, without times, and mostly without ids and results."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import EXAMPLES
from trailbook.chat import Asked, Called, Chat, Returned, Said, Thought, text_of
from trailbook.checking import compare_counted, count
from trailbook.formats import FORMATS, TRAJECTORIES, Output, Sheet
from trailbook.ledger import Ledger, keep_nothing
from trailbook.readers import HEAD_BYTES, Found, Unreadable, cursor
from trailbook.stores import survey

IMPORTER = EXAMPLES / "cursor" / "4e1d7c52-90ab-4f3e-8c61-2b7d5f0a9e34.jsonl"
CARDS = EXAMPLES / "cursor" / "cards-capture.jsonl"

Row = dict[str, Any]


def find(path: Path) -> Any:
    with path.open("rb") as stream:
        return cursor.find(path, stream.read(HEAD_BYTES))


def read_file(path: Path) -> Chat:
    (found,) = find(path)
    return cursor.read(found, UTC)


def write(folder: Path, *rows: object) -> Path:
    file = folder / "capture.jsonl"
    file.write_bytes(b"".join(row if isinstance(row, bytes) else json.dumps(row).encode() + b"\n" for row in rows))
    return file


def read(folder: Path, *rows: object) -> Chat:
    return read_file(write(folder, *rows))


def ledger_of(path: Path) -> Ledger:
    (found,) = find(path)
    return cursor.count(found, keep_nothing)


def of(chat: Chat, kind: type) -> Any:
    return [event for event in chat.events if isinstance(event, kind)]


def user(*blocks: object, **more: object) -> Row:
    return {"role": "user", "message": {"content": list(blocks)}, **more}


def assistant(*blocks: object, **more: object) -> Row:
    return {"role": "assistant", "message": {"content": list(blocks), **more}}


def text(words: object) -> Row:
    return {"type": "text", "text": words}


def call(identity: object = None, name: object = "shell", **more: object) -> Row:
    return {"type": "tool_use", "id": identity, "name": name, "input": {"command": "ls"}, **more}


def result(identity: object, content: object, **more: object) -> Row:
    return {"type": "tool_result", "tool_use_id": identity, "content": content, **more}


# --- whole captures


def test_a_capture_without_ids_and_results_has_none_in_the_chat() -> None:
    chat = read_file(IMPORTER)
    assert chat.id == "4e1d7c52-90ab-4f3e-8c61-2b7d5f0a9e34"
    assert [event.text for event in of(chat, Asked)] == [
        "The library card importer skips rows with an umlaut. Find out why.",
        "Thanks. Does a file in Latin-1 still work?",
    ]
    assert [(event.id, event.name) for event in of(chat, Called)] == [
        ("line-2", "read_file"),
        ("line-2__2", "grep"),
        ("line-3", "search_replace"),
        ("line-3__2", "run_terminal_cmd"),
    ]
    assert of(chat, Returned) == []
    assert {event.at for event in chat.events} == {None}
    assert (chat.started, chat.ended, chat.completed, chat.models, chat.diagnostics) == (None, None, None, [], [])


def test_a_capture_with_ids_has_each_result_at_its_call() -> None:
    chat = read_file(CARDS)
    assert [type(event).__name__ for event in chat.events] == [
        *("Asked", "Thought", "Said", "Called", "Called", "Returned", "Returned", "Said"),
    ]
    assert [(event.call, text_of(event.parts), event.ok, event.linked) for event in of(chat, Returned)] == [
        ("call_open", "closed-days.txt: no such file", False, "id"),
        ("call_count", "41", True, "id"),
    ]
    assert (chat.models, [each.model for each in chat.messages.values()]) == (["composer-2"], ["composer-2"] * 2)
    assert [event.place.number for event in chat.events if event.place] == [1, 2, 2, 2, 2, 3, 3, 4]


def test_what_a_list_says_of_a_capture() -> None:
    (importer,), (cards,) = find(IMPORTER), find(CARDS)
    assert importer.title == "The library card importer skips rows with an umlaut. Find out why."
    assert (cards.id[:14], len(cards.id)) == ("cards-capture-", 22)
    assert cards.size == len(CARDS.read_bytes())


def test_a_growing_capture_is_the_same_chat(tmp_path: Path) -> None:
    rows = [user(text("Go")), assistant(text("Yes."))]
    (before,) = find(write(tmp_path, *rows))
    (after,) = find(write(tmp_path, *rows, user(text("More"))))
    assert before.id == after.id
    assert before.fingerprint != after.fingerprint


# --- rows


@pytest.mark.parametrize(
    ("content", "asked", "around"),
    [
        ("plain", "plain", None),
        ("<user_query>\nfix it\n</user_query>", "fix it", None),
        (
            "<open_files>a.py</open_files>\n<user_query>\nfix it\n</user_query>\n",
            "fix it",
            "<open_files>a.py</open_files>",
        ),
        ("<user_query>what is <b></user_query> for?</user_query>", "what is <b></user_query> for?", None),
        ("what does <user_query> mean?", "what does <user_query> mean?", None),
        ("<user_query></user_query>", None, None),
    ],
)
def test_the_person_s_words_are_taken_out_of_their_wrapper(
    tmp_path: Path, content: str, asked: str | None, around: str | None
) -> None:
    path = write(tmp_path, assistant(text("Hello.")), {"role": "user", "message": {"content": content}})
    prompts = [(event.text, event.injected) for event in of(read_file(path), Asked)]
    expected = [(asked, None)] if asked else []
    assert prompts == expected + ([(around, "context")] if around else [])
    assert [entry.injected for entry in ledger_of(path).of("prompt")] == [bool(word) for _, word in prompts]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("done", "done"),
        ([text("one"), text("two")], "one\ntwo"),
        (["bare", text("two")], "bare\ntwo"),
        ({"rows": 2}, '{"rows":2}'),
        (None, ""),
        (7, "7"),
    ],
)
def test_the_words_of_a_result(tmp_path: Path, content: object, words: str) -> None:
    chat = read(tmp_path, assistant(call("c1")), user(result("c1", content)))
    assert [text_of(event.parts) for event in of(chat, Returned)] == [words]


@pytest.mark.parametrize(("is_error", "ok"), [(True, False), (False, True), (None, None), ("yes", None), (1, None)])
def test_whether_a_call_went_well_is_what_the_row_says(tmp_path: Path, is_error: object, ok: bool | None) -> None:
    path = write(tmp_path, assistant(call("c1")), user(result("c1", "x", is_error=is_error)))
    assert [event.ok for event in of(read_file(path), Returned)] == [ok]
    assert [entry.ok for entry in ledger_of(path).of("result")] == [ok]


def test_results_are_linked_by_id_or_else_in_order_and_one_too_many_is_an_orphan(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        assistant(call("c1"), call("c1"), call(), call()),
        user(result(None, "third"), result("c1", "first"), result("", "fourth"), result("c1", "second")),
        user(result("c1", "too many"), result("c9", "of nothing"), result(None, "of none")),
    )
    chat = read_file(path)
    assert [(event.call, text_of(event.parts), event.linked) for event in of(chat, Returned)] == [
        ("line-1", "third", "order"),
        ("c1", "first", "id"),
        ("line-1__2", "fourth", "order"),
        ("c1__2", "second", "id"),
        (None, "too many", None),
        (None, "of nothing", None),
        (None, "of none", None),
    ]
    assert [(each.kind, each.count) for each in chat.diagnostics] == [("orphan-result", 3)]
    assert [entry.id for entry in ledger_of(path).of("result")] == [event.call for event in of(chat, Returned)]


def test_words_after_a_call_are_the_model_s_next_message(tmp_path: Path) -> None:
    chat = read(tmp_path, user(text("Go")), assistant(text("First."), call("c1"), text("Then.")))
    said = [event.message for event in chat.events[1:]]
    assert said[0] == said[1] != said[2]


def test_rows_and_blocks_that_are_not_known_are_named(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        b"{not json\n",
        {"role": "system", "message": {"content": "transport"}},
        user(text("Go"), {"type": "image", "source": {}}, "bare"),
        assistant({"type": "hologram"}, {"type": "hologram"}, text(7), call("c1")),
        user(result("c1", [{"type": "image"}])),
        {"note": 1},
        [],
    )
    assert [(each.kind, each.text, each.count, each.lost) for each in chat.diagnostics] == [
        ("damaged-line", "A line is damaged at byte 2; what could not be read there was passed over.", 1, True),
        ("unknown-record", "Rows of the role “system” are not known here: they were passed over.", 1, True),
        ("unknown-record", "Blocks of the type “image” are not known here: they were passed over.", 2, True),
        ("unknown-record", "Blocks of the type no known kind are not known here: they were passed over.", 1, True),
        ("unknown-record", "Blocks of the type “hologram” are not known here: they were passed over.", 2, True),
        ("unknown-record", "Blocks of the type “text” are not known here: they were passed over.", 1, True),
        ("unknown-record", "Rows of no role are not known here: they were passed over.", 2, True),
    ]


@pytest.mark.parametrize(
    "row",
    [
        {"type": "user", "message": {"role": "user", "content": "hi"}},
        {"type": "message", "role": "user", "message": {"content": "hi"}},
        {"role": "user", "content": "hi", "message": "no object"},
        {"messages": [{"role": "user", "content": "hi"}]},
    ],
)
def test_another_format_is_not_taken_for_a_capture(tmp_path: Path, row: Row) -> None:
    assert find(write(tmp_path, row)) is None


def test_a_capture_of_which_no_row_is_known_is_refused(tmp_path: Path) -> None:
    rows = [{"role": role, "message": {"content": "x"}} for role in ("narrator", "system")]
    with pytest.raises(
        Unreadable,
        match=r"^capture\.jsonl looks like a capture of Cursor, but none of its rows is known: narrator, system\.$",
    ):
        find(write(tmp_path, *rows))


def test_a_first_row_that_is_longer_than_what_is_looked_at(tmp_path: Path) -> None:
    chat = read(tmp_path, user(text("long " * 20_000)), assistant(text("Yes.")))
    assert [type(event).__name__ for event in chat.events] == ["Asked", "Said"]


@pytest.mark.parametrize(
    "name",
    [
        "chats/0cc175b9c0f1b6a831c399e269772661/4e1d7c52-90ab-4f3e-8c61-2b7d5f0a9e34/store.db",
        "Cursor/User/globalStorage/state.vscdb",
    ],
)
def test_cursor_s_own_databases_are_refused_with_a_sentence_and_left_as_they_are(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE blobs (id TEXT, data BLOB)")
        connection.commit()
    before = path.read_bytes()
    found = survey([tmp_path])
    assert found.chats == []
    assert [(skipped.verdict, skipped.why) for skipped in found.skipped] == [
        (
            "unreadable",
            "it is a database of Cursor, whose layout is not known here: its chats are not read. "
            "A transcript that was captured as JSON lines can be read",
        )
    ]
    assert ([file.name for file in path.parent.iterdir()], path.read_bytes()) == ([path.name], before)


# --- whatever stands in a row

VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)
WORDS = st.sampled_from(["a", "b  ", "\n", "<user_query>c</user_query>", "x <user_query> d</user_query> "])
BLOCK = (
    st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "thinking", "tool_use", "tool_result", "image"]) | VALUE},
        optional={
            "text": WORDS | VALUE,
            "thinking": WORDS | VALUE,
            "id": WORDS | VALUE,
            "name": WORDS | VALUE,
            "input": st.dictionaries(WORDS, VALUE, max_size=2) | VALUE,
            "tool_use_id": WORDS | VALUE,
            "content": st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": WORDS | VALUE}), max_size=2)
            | VALUE,
            "is_error": VALUE,
        },
    )
    | VALUE
)
ROW = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system"]) | VALUE},
    optional={
        "message": st.fixed_dictionaries({"content": st.lists(BLOCK, max_size=4) | WORDS | VALUE, "model": VALUE})
        | VALUE,
        "id": VALUE,
    },
)


def assert_counted_alike(chat: Chat, ledger: Ledger) -> None:
    assert [event.id for event in of(chat, Called)] == [entry.id for entry in ledger.of("call")]
    assert [(event.call, event.ok) for event in of(chat, Returned)] == [
        (entry.id, entry.ok) for entry in ledger.of("result")
    ]
    assert [event.injected is not None for event in of(chat, Asked)] == [
        entry.injected for entry in ledger.of("prompt")
    ]
    assert len(of(chat, Said)) == len(ledger.of("answer"))
    assert len(of(chat, Thought)) == len(ledger.of("thought"))


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


@given(st.lists(ROW | VALUE, max_size=6))
@settings(max_examples=80, deadline=None)
def test_values_of_any_type_are_taken_as_they_come_and_none_is_lost(
    tmp_path_factory: pytest.TempPathFactory, rows: Sequence[object]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (found,) = find(write(folder, user(text("Begin.")), *rows))
    chat = cursor.read(found, UTC)
    assert_counted_alike(chat, cursor.count(found, keep_nothing))
    assert losses(found, chat, folder / "written") == []


LINES = CARDS.read_bytes().splitlines(keepends=True)


def words_in(chat: Chat) -> list[str]:
    """What each event says, in order; calls and results without what pairs them."""
    return [
        json.dumps(event.arguments)
        if isinstance(event, Called)
        else text_of(event.parts)
        if isinstance(event, Returned)
        else event.text
        for event in chat.events
        if isinstance(event, (Asked, Thought, Said, Called, Returned))
    ]


@given(st.integers(0, len(LINES) - 1), st.data())
@settings(max_examples=60, deadline=None)
def test_a_cut_line_costs_no_other(tmp_path_factory: pytest.TempPathFactory, at: int, data: st.DataObject) -> None:
    end = data.draw(st.integers(2, len(LINES[at]) - 2))
    others = [each for number, each in enumerate(LINES) if number != at]
    folder = tmp_path_factory.mktemp("cut")
    whole, chat = read(folder, *others), read(folder, *LINES[:at], LINES[at][:end] + b"\n", *LINES[at + 1 :])
    assert words_in(chat) == words_in(whole)
    assert ("damaged-line", at + 1, True) in [
        (each.kind, each.place and each.place.number, each.lost) for each in chat.diagnostics
    ]


@given(st.permutations(LINES), st.integers(0, len(LINES) - 1))
@settings(max_examples=60, deadline=None)
def test_lines_in_any_order_and_twice_are_all_read(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], twice: int
) -> None:
    folder = tmp_path_factory.mktemp("any")
    chat = read(folder, *lines, lines[twice])
    assert sorted(words_in(chat)) == sorted(words_in(read_file(CARDS)))
    assert ("repeated-record", len(LINES) + 1) in [
        (each.kind, each.place and each.place.number) for each in chat.diagnostics
    ]


def test_rows_without_an_id_that_say_the_same_are_all_there(tmp_path: Path) -> None:
    path = write(tmp_path, user(text("Again")), assistant(text("Yes.")), user(text("Again")), assistant(text("Yes.")))
    assert words_in(read_file(path)) == ["Again", "Yes.", "Again", "Yes."]
    assert [entry.kind for entry in ledger_of(path).entries] == ["prompt", "answer"] * 2
