"""Hermes's stores: found by content, read without a trace, and damaged ones told apart from those of others."""

from __future__ import annotations

import json
import random
import sqlite3
import sys
from contextlib import closing
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import EXAMPLES
from hermes_logs import (
    DATA,
    START,
    Session,
    call,
    database,
    export,
    find,
    found_in,
    model,
    of,
    read_all,
    result,
    session,
    stored,
    summary,
    user,
)
from trailbook.chat import Asked, Called, Returned, Said
from trailbook.formats import FORMATS, Output, Sheet
from trailbook.ledger import keep_nothing
from trailbook.readers import HEAD_BYTES, Found, Passed, Unreadable, hermes
from trailbook.readers.hermes import places
from trailbook.stores import survey

EXAMPLE = EXAMPLES / "hermes" / "sessions.jsonl"


def example() -> list[Session]:
    return [json.loads(line) for line in EXAMPLE.read_text(encoding="utf-8").splitlines()]


def every_byte(folder: Path) -> dict[str, tuple[bytes, int]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


# --- nothing is left in a store


@pytest.mark.parametrize("pending", [False, True], ids=["closed", "in use"])
def test_a_store_is_byte_for_byte_as_it_was(tmp_path: Path, *, pending: bool) -> None:
    home = tmp_path / ".hermes"
    main = database(home / "state.db", example(), pending=pending)
    (home / "sessions").mkdir()
    (home / "sessions" / "session_20261005_184210_3fb2c7.json").write_text(
        json.dumps({"session_id": "20261005_184210_3fb2c7", "platform": "cli", "session_start": "x", "messages": []})
    )
    before = every_byte(home)
    assert ("state.db-wal" in before) is pending
    home.chmod(0o500)
    try:
        result_ = survey([home])
        assert len(read_all(main)) == len(result_.chats) == 3
    finally:
        home.chmod(0o700)
    assert every_byte(home) == before
    assert [skipped.why for skipped in result_.skipped if skipped.path.name.startswith("state.db-")] == (
        ["it belongs to Hermes's database"] * 2 if pending else []
    )


def test_what_is_still_in_the_write_ahead_log_is_read(tmp_path: Path) -> None:
    main = database(tmp_path / "state.db", example(), pending=True)
    assert main.stat().st_size < 8_192 < main.with_name("state.db-wal").stat().st_size
    closed = database(tmp_path / "closed" / "state.db", example())
    assert list(read_all(main).values()) == list(read_all(closed).values())


@pytest.mark.parametrize("format_name", ["atif", "trajectory-v1", "openai", "sharegpt", "markdown", "report"])
def test_a_chat_gives_the_same_bytes_from_the_database_and_from_an_export(tmp_path: Path, format_name: str) -> None:
    stores = database(tmp_path / "state.db", example()), export(tmp_path / "sessions.jsonl", example())
    written: list[dict[str, list[bytes]]] = []
    for store in stores:
        chats = read_all(store)
        pieces = {
            name: FORMATS[format_name].bundle([chat], Sheet(Output(images=True), "written"))
            for name, chat in chats.items()
        }
        written.append({name: [piece.data for piece in made] for name, made in pieces.items()})
    assert len(written[0]) == 3
    assert written[0] == written[1]


def test_of_a_database_and_an_export_of_it_the_database_is_read(tmp_path: Path) -> None:
    main = database(tmp_path / "state.db", example())
    other = export(tmp_path / "a-copy.jsonl", example())
    found = survey([tmp_path])
    assert {chat.path for chat in found.chats} == {main}
    assert [(skipped.path, skipped.verdict) for skipped in found.skipped] == [(other, "copy")]


# --- what a list says


def test_what_a_list_says_of_each_chat(tmp_path: Path) -> None:
    for store in (database(tmp_path / "state.db", example()), EXAMPLE):
        chats = {found.id: found for found in found_in(store)}
        chat = chats["20261005_184210_3fb2c7"]
        assert (chat.title, chat.cwd, chat.origin) == (
            "Watering plan at the clock change",
            "/home/mara/allotment",
            "chat",
        )
        assert (chat.started, chat.updated) == (1791225730000, 1791227414000)
        pump = chats["20261006_080210_5e7f90"]
        assert (pump.title, pump.origin) == (
            "Is the pump log growing again? Empty it if it is over a gigabyte.",
            "channel",
        )
        assert all(found.size > 500 for found in chats.values())


def test_a_list_says_which_chats_are_archived(tmp_path: Path) -> None:
    sessions = stored(session("s", user("one"), archived=1), session("t", user("two"), archived=0))
    for store in (database(tmp_path / "state.db", sessions), export(tmp_path / "sessions.jsonl", sessions)):
        assert {found.id: found.remark for found in found_in(store)} == {"s": "archived", "t": None}


def test_a_session_without_messages_is_no_chat(tmp_path: Path) -> None:
    sessions = stored(session("s"), session("t", user("two"), parent_session_id="s", source="subagent"), session("u"))
    for store in (database(tmp_path / "state.db", sessions), export(tmp_path / "sessions.jsonl", sessions)):
        assert [found.id for found in found_in(store)] == ["s"]
    for store in (
        database(tmp_path / "b.db", stored(session("s"))),
        export(tmp_path / "b.jsonl", stored(session("s"))),
    ):
        assert find(store) == Passed("no session in it has a message")
    assert find(database(tmp_path / "c.db", [])) == Passed("no session in it has a message")


def test_the_title_of_a_prompt_with_a_picture_is_its_words(tmp_path: Path) -> None:
    shown = [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,"}},
        {"type": "text", "text": 'a "b"\nc'},
    ]
    sessions = stored(session("s", user(shown)), session("t", user(summary("before"))))
    titles = {found.id: found.title for found in found_in(database(tmp_path / "state.db", sessions))}
    assert titles == {"s": 'a "b"', "t": None}


CHANGES: dict[str, str] = {
    "a message more": "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', 'x', 1)",
    "one taken back": "UPDATE messages SET active = 0 WHERE id = 2",
    "one put in the archive": "UPDATE messages SET compacted = 1 WHERE id = 1",
    "other words": "UPDATE messages SET content = 'other words' WHERE id = 1",
    "a title": "UPDATE sessions SET title = 'T' WHERE id = 'a'",
    "a subagent's work": "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('c', 'user', 'x', 1)",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_shows_in_the_fingerprint_of_its_chat_alone(tmp_path: Path, change: str) -> None:
    sessions = stored(
        session("a", user("one"), model("1")),
        session("b", user("two")),
        session("c", user("three"), source="subagent", parent_session_id="a"),
    )
    main = database(tmp_path / "state.db", sessions)
    before = {found.id: found.fingerprint for found in found_in(main)}
    with closing(sqlite3.connect(main)) as connection:
        connection.execute(CHANGES[change])
        connection.commit()
    after = {found.id: found.fingerprint for found in found_in(main)}
    assert before["a"] != after["a"]
    assert before["b"] == after["b"]


def test_a_chat_of_another_database_is_said_to_have_changed(tmp_path: Path) -> None:
    main = database(tmp_path / "state.db", stored(session("a", user("one"))))
    (found,) = found_in(main)
    main.unlink()
    database(main, stored(session("b", user("one"))))
    with pytest.raises(Unreadable, match="has changed since it was listed"):
        hermes.read(found, UTC)


# --- databases of others, and damaged ones


@pytest.mark.parametrize(
    "schema",
    [
        "CREATE TABLE notes (id INTEGER)",
        "CREATE TABLE sessions (id TEXT); CREATE TABLE messages (id TEXT, session_id TEXT, role TEXT, parts TEXT)",
        "CREATE VIEW sessions AS SELECT 1 AS id, 2 AS source, 3 AS started_at; CREATE VIEW messages AS SELECT 1 AS id, "
        "2 AS session_id, 3 AS role, 4 AS content, 5 AS tool_calls, 6 AS tool_call_id, 7 AS timestamp",
    ],
)
def test_databases_of_others_are_left_alone(tmp_path: Path, schema: str) -> None:
    path = tmp_path / "state.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(schema)
    assert find(path) is None
    path.with_name("state.db-wal").write_bytes(b"x")
    assert find(path.with_name("state.db-wal")) is None


def test_a_cut_database_is_said_to_be_damaged(tmp_path: Path) -> None:
    whole = database(tmp_path / "whole.db", example()).read_bytes()
    path = tmp_path / "state.db"
    told = set()
    for size in range(100, len(whole), 4_096):
        path.write_bytes(whole[:size])
        try:
            for found in found_in(path):
                hermes.read(found, UTC)
        except Unreadable as error:
            told.add(str(error).partition(" could")[0])
    assert told == {str(path)}


def test_a_database_from_before_half_of_the_columns_existed(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE sessions (id TEXT, source TEXT, started_at REAL);"
            "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, tool_calls TEXT,"
            " tool_call_id TEXT, timestamp REAL);"
            f"INSERT INTO sessions VALUES ('s', 'cli', {START});"
            f"INSERT INTO messages VALUES (1, 's', 'user', 'go', NULL, NULL, {START});"
        )
    (chat,) = read_all(path).values()
    assert [event.text for event in of(chat, Asked)] == ["go"]


def test_the_system_prompt_of_newer_versions_lies_in_a_table_of_its_own(tmp_path: Path) -> None:
    main = database(tmp_path / "state.db", stored(session("s", user("go"))))
    with closing(sqlite3.connect(main)) as connection:
        connection.executescript(
            "ALTER TABLE sessions ADD COLUMN system_prompt_hash TEXT; UPDATE sessions SET system_prompt_hash = 'h';"
            "CREATE TABLE system_prompts (hash TEXT, prompt TEXT);"
            "INSERT INTO system_prompts VALUES ('h', 'Be brief.');"
            "CREATE TABLE session_model_usage (session_id TEXT, model TEXT, task TEXT, first_seen REAL);"
            "INSERT INTO session_model_usage VALUES ('s', 'model-y', '', 2), ('s', 'model-t', 'title', 3);"
        )
    (chat,) = read_all(main).values()
    assert (chat.system_prompt, chat.models) == ("Be brief.", ["model-x", "model-y"])


def test_bytes_that_are_no_text_are_read_all_the_same(tmp_path: Path) -> None:
    main = database(tmp_path / "state.db", stored(session("s", user("go"), model("x"))))
    with closing(sqlite3.connect(main)) as connection:
        connection.execute("UPDATE messages SET content = CAST(x'C3286F6B' AS TEXT) WHERE id = 1")
        connection.execute("UPDATE messages SET content = x'FF6F6B', timestamp = 'soon' WHERE id = 2")
        connection.commit()
    (chat,) = read_all(main).values()
    assert [(event.text, event.at) for event in chat.events] == [("\ufffd(ok", 1_791_225_740_000), ("\ufffdok", None)]


# --- exports


def lines() -> list[bytes]:
    return EXAMPLE.read_bytes().splitlines(keepends=True)


def told(found: list[Found]) -> tuple[dict[str, list[str]], int]:
    """The words of every chat that can be read, and how many cannot."""
    chats: dict[str, list[str]] = {}
    refused = 0
    for one in found:
        try:
            chat = hermes.read(one, UTC)
        except Unreadable:
            refused += 1
        else:
            chats[one.id] = [event.text for event in chat.events if isinstance(event, Asked | Said)]
    return chats, refused


def test_a_cut_last_line_loses_its_session_alone_and_is_reported(tmp_path: Path) -> None:
    whole, _ = told(found_in(EXAMPLE))
    path = tmp_path / "sessions.jsonl"
    data = EXAMPLE.read_bytes()
    start = len(data) - len(lines()[-1])
    for cut in range(start + 5, len(data) - 2, 997):
        path.write_bytes(data[:cut])
        found = found_in(path)
        (damaged,) = [one for one in found if one.fingerprint.startswith("damaged")]
        with pytest.raises(Unreadable, match=rf"^Line {len(lines())} of sessions\.jsonl is cut off: it ends at byte"):
            hermes.read(damaged, UTC)
        with pytest.raises(Unreadable):
            hermes.count(damaged, keep_nothing)
        kept, refused = told(found)
        assert refused == 1
        for name in ("20261006_080210_5e7f90", "20261005_191120_77aa12"):
            assert kept[name] == whole[name]


@given(st.lists(st.sampled_from(range(len(lines()))), min_size=1, max_size=8), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_lines_in_any_order_and_twice_are_the_same_sessions(
    tmp_path: Path, picked: list[int], chance: random.Random
) -> None:
    every = lines()
    path = tmp_path / "any.jsonl"
    order = [*range(len(every)), *picked]
    chance.shuffle(order)
    path.write_bytes(b"".join(every[number] for number in order))
    assert told(found_in(path)) == (told(found_in(EXAMPLE))[0], 0)


@given(st.binary(max_size=12), st.integers(min_value=0, max_value=len(lines()) - 1), st.booleans())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_line_is_reported_and_harms_no_other(
    tmp_path: Path, damage: bytes, number: int, instead: bool
) -> None:
    every = lines()
    line = every[number]
    at = len(damage) * 97 % len(line)
    broken = damage if instead else line[:at] + b"\x01}" + damage + line[at:]
    path = tmp_path / "any.jsonl"
    path.write_bytes(b"".join([*every[:number], broken.replace(b"\n", b" ") + b"\n", *every[number + 1 :]]))
    ids = [json.loads(one)["id"] for one in every[:number] + every[number + 1 :]]
    found = found_in(path)
    chats, refused = told(found)
    read_again = {place.file for one in found if one.id in chats for place in _places(one)}
    assert set(ids) <= read_again
    alone = json.loads(line)["id"]
    lost = [report for one in found if one.id in chats for report in hermes.read(one, UTC).diagnostics if report.lost]
    assert refused or lost or alone in read_again or not broken.strip(b" \t\r\n\0\xef\xbb\xbf")


def _places(found: Found) -> list[Any]:
    chat = hermes.read(found, UTC)
    events = [*chat.events, *(event for subagent in chat.subagents for event in subagent.events)]
    return [event.place for event in events if event.place]


def test_two_sessions_on_one_line_are_both_read(tmp_path: Path) -> None:
    one, other = stored(session("a", user("one")), session("b", user("two")))
    path = export(tmp_path / "sessions.jsonl", [one, other])
    path.write_text(
        path.read_text().replace("\n", "") + "\n" + json.dumps(session("c", user("x"), end_reason="x")) + "\n"
    )
    chats = {found.id: hermes.read(found, UTC) for found in found_in(path)}
    assert sorted(chats) == ["a", "b", "c"]
    assert [report.kind for report in chats["a"].diagnostics] == ["glued-line"]


def test_of_a_session_exported_twice_the_longer_one_is_read(tmp_path: Path) -> None:
    short, long = session("a", user("one")), session("a", user("one"), model("1"))
    path = tmp_path / "sessions.jsonl"
    for sessions in ([short, long], [long, short]):
        (chat,) = read_all(export(path, stored(*sessions))).values()
        assert [type(event).__name__ for event in chat.events] == ["Asked", "Said"]
        assert [report.kind for report in chat.diagnostics] == ["repeated-record"]


def test_a_cut_document_is_refused_with_the_byte_where_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    for source in (DATA / "session_20261012_091500_a1b2c3.json", DATA / "33-hermes-idless-and-sentinel.json"):
        data = source.read_bytes().rstrip()
        for at in range(100, len(data), 211):
            path.write_bytes(data[:at])
            end = len(path.read_bytes().rstrip())
            with pytest.raises(Unreadable, match=rf"^session\.json is cut off: it ends at byte {end:,},"):
                find(path)


@pytest.mark.parametrize(
    "value",
    [
        {"messages": [{"role": "user", "content": "x"}]},
        {"id": "s", "messages": [{"role": "user", "content": "x"}], "started_at": 1},
        {"session": {"id": "s"}, "messages": [{"role": "user"}]},
        {"session_id": "s", "events": []},
        {"model_config": {}, "source": "x", "id": 5, "messages": []},
        [{"session_id": "s", "role": "user"}],
        [],
        "started_at",
    ],
)
def test_what_others_wrote_is_left_alone(tmp_path: Path, value: Any) -> None:
    for end in ("", "\n{}\n"):
        path = tmp_path / "other.json"
        path.write_text(json.dumps(value) + end)
        assert find(path) is None


def test_no_example_of_another_agent_is_taken() -> None:
    for path in sorted(EXAMPLES.rglob("*")):
        if path.is_file() and "hermes" not in path.parts:
            assert find(path) is None, path


def test_rows_alone_are_a_session(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    (one,) = stored(session("s", user("go"), model("", {"name": "f", "arguments": "{}"}), result("x", "r", tool="f")))
    rows = [one["messages"][0], one["messages"][2], one["messages"][1]]
    path.write_text(json.dumps(rows))
    (chat,) = read_all(path).values()
    assert [type(event).__name__ for event in chat.events] == ["Asked", "Called", "Returned"]
    assert chat.id == "s"


# --- values of any type


VALUE = (
    st.none()
    | st.booleans()
    | st.integers(min_value=-5, max_value=2**40)
    | st.floats(allow_nan=False)
    | st.text(max_size=4)
    | st.sampled_from(["a", "\0json:[", "\0json:[1, {}]", '[{"id": "c"}]', "{}", '{"exit_code": "x"}', summary("s")])
    | st.lists(
        st.none() | st.text(max_size=2) | st.dictionaries(st.sampled_from(["type", "text"]), st.text()), max_size=2
    )
    | st.dictionaries(st.sampled_from(["content", "id", "function", "name"]), st.text(max_size=2), max_size=2)
)
COLUMNS = [
    *("content", "tool_call_id", "tool_calls", "tool_name", "effect_disposition", "timestamp", "finish_reason"),
    *("reasoning", "reasoning_content", "reasoning_details", "codex_reasoning_items", "codex_message_items"),
    *("observed", "active", "compacted", "api_content", "id", "role"),
]
MESSAGE = st.builds(
    lambda role, columns: {"role": role, "timestamp": START, **columns},
    st.sampled_from(["user", "assistant", "tool", "system", "session_meta", "other"]),
    st.dictionaries(st.sampled_from(COLUMNS), VALUE, max_size=4),
)
SESSION_COLUMNS = [
    *("model", "model_config", "system_prompt", "parent_session_id", "started_at", "ended_at", "end_reason", "title"),
    *("input_tokens", "output_tokens", "cache_read_tokens", "estimated_cost_usd", "actual_cost_usd", "cost_status"),
    *("source", "tools", "cwd", "billing_provider", "chat_id"),
]
SESSION = st.builds(
    lambda name, columns, messages: {**session(name, *messages), "end_reason": None, **columns},
    st.sampled_from(["a", "b", "c"]),
    st.dictionaries(st.sampled_from(SESSION_COLUMNS), VALUE, max_size=4),
    st.lists(MESSAGE, max_size=5),
)


@given(st.lists(SESSION, min_size=1, max_size=3))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_values_of_any_type_are_taken_as_they_come(tmp_path: Path, sessions: list[Session]) -> None:
    path = tmp_path / "any.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in [*sessions, session("z", user("go"), end_reason="x")]))
    assert [event.text for event in of(read_all(path)["z"], Asked)] == ["go"]


@given(st.lists(SESSION, min_size=1, max_size=3))
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_so_are_those_of_a_database(tmp_path_factory: pytest.TempPathFactory, sessions: list[Session]) -> None:
    path = tmp_path_factory.mktemp("any") / "state.db"
    by_id = {one["id"]: one for one in sessions}
    for one in by_id.values():
        for key, value in one.items():
            one[key] = json.dumps(value) if isinstance(value, dict | list) and key != "messages" else value
        one["source"] = str(one["source"])
        for message in one["messages"]:
            message["session_id"] = one["id"]
            message.pop("id", None)
            message["role"], message["timestamp"] = str(message["role"]), message["timestamp"] or 0
            for key, value in message.items():
                text = json.dumps(value) if isinstance(value, dict | list) else value
                message[key] = (1 if text is None else text) if key in ("active", "compacted") else text
    chats = read_all(database(path, [*by_id.values(), *stored(session("z", {**user("go"), "id": 1_000}))]))
    assert [event.text for event in of(chats["z"], Asked)] == ["go"]


def test_a_long_chat_is_read_in_one_go(tmp_path: Path) -> None:
    """Thousands of messages, compressed many times: what grows with the square of them would not end here."""
    sessions, parent = [], None
    for number in range(30):
        messages = [user(summary(str(number)))] if number else []
        for step in range(200):
            name = f"c{number}-{step}"
            messages += [model("", call(name, n=step)), result(name, "x" * 50)]
        sessions.append(session(f"s{number:02}", *messages, parent_session_id=parent, end_reason="compression"))
        parent = f"s{number:02}"
    (chat,) = read_all(database(tmp_path / "state.db", stored(*sessions))).values()
    assert len(of(chat, Called)) == len(of(chat, Returned)) == 6_000


# --- places


def test_where_hermes_keeps_its_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("HERMES_HOME", raising=False)
    (tmp_path / ".hermes" / "profiles" / "work").mkdir(parents=True)
    usual = tmp_path / ".hermes"
    homes = [usual, usual / "profiles" / "work"]
    assert places.PLACES.stores() == homes
    assert places.PLACES.logs() == [home / name for home in homes for name in ("state.db", "sessions")]
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "elsewhere"))
    assert places.PLACES.stores() == [tmp_path / "elsewhere", *homes]
    monkeypatch.delenv("HERMES_HOME")
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "Local"))
    assert places.PLACES.stores() == [tmp_path / "Local" / "hermes"]


def test_what_lies_beside_a_database_of_hermes_is_accounted_for(tmp_path: Path) -> None:
    database(tmp_path / "state.db", stored(session("s", user("go"))))
    side = tmp_path / "state.db-shm"
    side.write_bytes(b"\0" * 100)
    assert find(side) == Passed("it belongs to Hermes's database", tmp_path / "state.db")
    assert hermes.find(tmp_path / "gone.db-wal", b"x" * HEAD_BYTES) is None
