"""OpenCode's sessions: from its database, its older folder of files, and what it exports."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import EXAMPLES
from opencode_logs import (
    Document,
    database,
    done,
    export,
    failed,
    find,
    insert,
    message,
    read_file,
    reply,
    session,
    storage,
    text,
    tokens,
    tool,
    user,
)
from trailbook import cli
from trailbook.accounting import account
from trailbook.chat import (
    Answered,
    Asked,
    Called,
    Chat,
    Compacted,
    Cost,
    File,
    FileChange,
    FilesChanged,
    Image,
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
from trailbook.ledger import Ledger, keep_nothing
from trailbook.readers import Found, Passed, Unreadable, opencode
from trailbook.stores import survey
from trailbook.timeline import make_timeline
from trailbook.turns import divide

DATABASE = EXAMPLES / "opencode" / "opencode.db"
CHART = EXAMPLES / "opencode" / "chart-session.json"
TRUNCATED = Path(__file__).parent.parent / "data" / "opencode" / "truncated.json"
ALARM, SOWING = "ses_6b1f30a71ffeT8vHs4PzXd5Gb1", "ses_6acd05c2effeK6mJw9BvQf3Hx7"


def read(folder: Path, *messages: object, **info: object) -> Chat:
    return read_file(export(folder / "export.json", session(*messages, **info)))


def ledger_of(path: Path, number: int = 0) -> Ledger:
    return opencode.count(find(path)[number], keep_nothing)


def of(chat: Chat, kind: type) -> Any:
    return [event for event in chat.events if isinstance(event, kind)]


def reports(chat: Chat) -> list[tuple[str, str, bool]]:
    return [(each.kind, each.text, each.lost) for each in chat.diagnostics]


def words_in(chat: Chat) -> list[tuple[str, object]]:
    """What each event says, without where it stands."""
    said = {Called: "id", Returned: "call", Compacted: "summary", Answered: "outcome", FilesChanged: "files"}
    return [(type(event).__name__, getattr(event, said.get(type(event), "text"))) for event in chat.events]


# --- the database


def test_a_session_of_the_database() -> None:
    chat = read_file(DATABASE)
    assert (chat.id, chat.title, chat.cwd) == (ALARM, "Ring the frost alarm at zero", "/home/mira/greenhouse")
    assert (chat.agent.product, chat.agent.version, chat.models) == ("OpenCode", "1.18.33", ["sonnet-5"])
    assert chat.reopen == ["opencode", "--session", ALARM]
    assert [type(event).__name__ for event in chat.events] == [
        *("Asked", "Asked", "Asked", "Thought", "Said", "Called", "Returned", "Called", "Returned"),
        *("Called", "Returned", "FilesChanged", "Called", "Returned", "FilesChanged", "Called", "Returned"),
        *("FilesChanged", "Thought", "Called", "Returned", "Said", "Answered", "Asked", "Called"),
    ]
    assert [(event.call, event.ok, event.exit_status, event.not_run) for event in of(chat, Returned)] == [
        ("toolu_01frostTask", True, None, None),
        ("toolu_02frostRead", False, None, None),
        ("toolu_03frostEdit", True, None, None),
        ("toolu_04frostWrite", True, None, None),
        ("toolu_05frostTest", False, 1, None),
        ("toolu_06frostRemove", False, None, "declined"),
    ]
    # The last edit was still running: it has no result, and how the chat ended is not known.
    assert (of(chat, Called)[-1].id, chat.completed) == ("toolu_07frostLast", None)
    # 2026-10-09T09:00:00 and 09:01:24 UTC.
    assert (chat.started, chat.ended) == (1_791_536_400_000, 1_791_536_484_000)
    assert chat.diagnostics == []


def test_what_opencode_read_in_for_the_person_is_no_prompt_of_theirs() -> None:
    asked = of(read_file(DATABASE), Asked)
    assert [(event.injected, event.text[:30]) for event in asked] == [
        (None, "The frost alarm stays silent a"),
        ("context", "Called the Read tool with the "),
        ("context", "<path>/home/mira/greenhouse/al"),
        (None, "Yes, change it."),
    ]
    assert asked[0].parts == [
        File(name="alarm.py", media_type="text/plain", reference="file:///home/mira/greenhouse/alarm.py")
    ]


def test_tokens_take_in_cache_and_reasoning_and_what_is_all_zero_is_not_known() -> None:
    chat = read_file(DATABASE)
    # input 1,840 + read 0 + written 5,200; output 96 + reasoning 40.
    first, *_, last = chat.messages.values()
    assert first.usage == Usage(7_040, 136, 0, 5_200, reasoning_tokens=40)
    assert (first.cost, first.stop_reason, first.provider) == (Cost(usd=0.0273), "tool-calls", "anthropic")
    assert (last.usage, last.cost) == (None, None)
    # 1,840+5,200 + 210+5,200+1,900 + 160+7,100+640 + 90+7,740+300 = 30,380; 96+40 + 120 + 88+24 + 110 = 478.
    assert ledger_of(DATABASE).usage == Usage(30_380, 478, 20_040, 8_040, reasoning_tokens=64)
    accounted = account(chat, divide(chat.events)[1])
    assert (accounted.usage, accounted.usd) == (ledger_of(DATABASE).usage, 0.056415)


def test_a_session_that_a_call_started_stands_below_it() -> None:
    chat = read_file(DATABASE)
    (subagent,) = chat.subagents
    assert (subagent.started_by, subagent.agent.name, subagent.origin.kind) == (
        "toolu_01frostTask",
        "explore",
        "subagent",
    )
    assert [event.name for event in of(subagent, Called)] == ["grep"]
    (ledger,) = ledger_of(DATABASE).subagents
    # 620+48 and 180+600+22.
    assert (ledger.started_by, ledger.usage) == ("toolu_01frostTask", Usage(1_400, 70, 600, 0, reasoning_tokens=0))
    assert [found.id for found in find(DATABASE)] == [ALARM, SOWING]


def test_files_that_calls_changed_and_those_that_only_the_step_names() -> None:
    changes = [(event.call, event.id, event.files) for event in of(read_file(DATABASE), FilesChanged)]
    home = "/home/mira/greenhouse"
    edited = changes[0][2][0]
    assert (changes[0][0], edited.path, edited.kind) == ("toolu_03frostEdit", f"{home}/alarm.py", "changed")
    assert "-    return min(night) < FROST\n+    return min(night) <= FROST\n" in edited.patch
    assert changes[1:] == [
        ("toolu_04frostWrite", None, [FileChange(f"{home}/test_alarm.py", "created")]),
        (None, "prt_9a4c03061mB5cYdHj8fGz", [FileChange(f"{home}/.pytest_cache/v/cache/lastfailed")]),
    ]


def test_a_place_is_the_row_that_a_person_can_look_up() -> None:
    called = of(read_file(DATABASE), Called)[0]
    with closing(sqlite3.connect(f"file:{DATABASE}?mode=ro&immutable=1", uri=True)) as connection:
        (data,) = connection.execute("SELECT data FROM part WHERE rowid = ?", (called.place.number,)).fetchone()
    assert (called.place.file, json.loads(data)["callID"]) == ("opencode.db:part", "toolu_01frostTask")


def test_what_was_taken_back_is_a_branch_and_was_paid_for() -> None:
    chat = read_file(DATABASE, 1)
    assert [(type(event).__name__, event.branch) for event in chat.events[-4:]] == [
        ("Compacted", None),
        ("Asked", "reverted"),
        ("Said", "reverted"),
        ("Answered", "reverted"),
    ]
    ledger = ledger_of(DATABASE, 1)
    assert [entry.kind for entry in ledger.aside] == ["prompt", "answer"]
    # 2,400+9,000 + 9,800 + 700 and 180 + 140 + 60.
    assert ledger.usage == Usage(21_900, 380, 9_000, 0, reasoning_tokens=0)
    assert account(chat, divide(chat.events)[1]).usage == ledger.usage


def test_a_command_is_asked_and_a_summary_is_no_answer() -> None:
    chat = read_file(DATABASE, 1)
    asked, summary = of(chat, Asked)[0], of(chat, Compacted)[0]
    assert (asked.command, asked.text, asked.injected) == (
        "/review",
        "Review the sowing plan in plan.md and name what is missing.",
        None,
    )
    assert (summary.trigger, summary.summary) == (
        "manual",
        "The sowing plan was reviewed: bed 2 has neither a crop nor a week.",
    )
    assert [event.text for event in of(chat, Said)] == [
        "Bed 2 has neither a crop nor a week.",
        "Bed 2: lettuce in week 12.",
    ]


def test_reading_leaves_no_trace_in_a_store_whose_writes_are_pending(tmp_path: Path) -> None:
    path = database(tmp_path / "opencode.db")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        insert(writer, session(user(text("Is it frozen?"))))
        writer.commit()
        before = {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in tmp_path.iterdir()}
        assert {file.name for file in before} == {"opencode.db", "opencode.db-wal", "opencode.db-shm"}
        survey_ = survey([tmp_path])
        (found,) = survey_.chats
        assert [event.text for event in of(opencode.read(found, UTC), Asked)] == ["Is it frozen?"]
        assert {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in tmp_path.iterdir()} == before
    assert found.inputs == (path, tmp_path / "opencode.db-wal")
    assert [(skipped.path.name, skipped.verdict) for skipped in survey_.skipped] == [
        ("opencode.db-shm", "passed over"),
    ]


def test_a_fingerprint_changes_with_its_session_and_no_other(tmp_path: Path) -> None:
    first, child = session(user(text("One"))), session(user(text("Below")), name="ses_3", parentID="ses_1")
    path = database(tmp_path / "opencode.db", first, session(user(text("Two")), name="ses_2"), child)
    before = {found.id: found.fingerprint for found in find(path)}
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE part SET data = '{}', time_updated = 2000 WHERE session_id = 'ses_3'")
        connection.commit()
    after = {found.id: found.fingerprint for found in find(path)}
    assert before.keys() == after.keys() == {"ses_1", "ses_2"}
    assert [name for name in before if before[name] != after[name]] == ["ses_1"]


def test_sessions_in_a_circle_or_deep_below_one_another_are_all_there(tmp_path: Path) -> None:
    circle = [
        session(user(text(name)), name=name, parentID=above) for name, above in [("ses_a", "ses_b"), ("ses_b", "ses_a")]
    ]
    chain = [session(user(text(f"{n}")), name=f"ses_{n}", parentID=f"ses_{n - 1}") for n in range(40)]
    path = database(tmp_path / "opencode.db", *circle, *chain)

    def names(chat: Chat) -> list[str]:
        return [chat.id, *(name for subagent in chat.subagents for name in names(subagent))]

    read_all = [name for number in range(len(find(path))) for name in names(read_file(path, number))]
    assert sorted(read_all) == sorted(["ses_a", "ses_b", *(f"ses_{n}" for n in range(40))])


def test_rows_of_a_layout_to_come_are_named(tmp_path: Path) -> None:
    path = database(tmp_path / "opencode.db", session(user(text("Old"))), session(name="ses_2"))
    with closing(sqlite3.connect(path)) as connection:
        for name, owner in (("n1", "ses_1"), ("n2", "ses_2"), ("n3", "ses_2")):
            connection.execute("INSERT INTO session_message VALUES (?, ?, 'user', 1, 1, 1, '{}')", (name, owner))
        connection.commit()
    assert reports(read_file(path)) == [
        (
            "unknown-record",
            "1 rows of the table “session_message” of opencode.db are not known here: they were passed over.",
            True,
        )
    ]
    with pytest.raises(Unreadable, match=r"^The session ses_2 in opencode\.db has nothing that is known here\. 2 rows"):
        read_file(path, 1)


@pytest.mark.parametrize("cell", ["{", "[1]", "7", "", b"\xff\x00", None, 5])
def test_a_damaged_row_is_reported_and_costs_no_other(tmp_path: Path, cell: object) -> None:
    path = database(tmp_path / "opencode.db", session(user(text("Asked")), reply(text("Lost"), text("Kept"))))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE other AS SELECT * FROM part")
        connection.execute("DROP TABLE part")
        connection.execute("ALTER TABLE other RENAME TO part")
        connection.execute("UPDATE part SET data = ? WHERE data LIKE '%Lost%'", (cell,))
        connection.commit()
    chat = read_file(path)
    assert [event.text for event in of(chat, Said)] == ["Kept"]
    assert [(each.kind, each.lost, each.place) for each in chat.diagnostics if each.kind == "damaged-row"] == [
        ("damaged-row", True, Place("opencode.db:part", 2, "row"))
    ]


@pytest.mark.parametrize(
    "statement",
    ["CREATE TABLE session (id, directory)", "CREATE TABLE messages (id, session_id)", "CREATE TABLE blobs (id, data)"],
)
def test_another_program_s_database_is_not_taken_for_one(tmp_path: Path, statement: str) -> None:
    with closing(sqlite3.connect(tmp_path / "state.db")) as connection:
        connection.execute(statement)
        connection.commit()
    assert find(tmp_path / "state.db") is None


def test_a_database_without_a_message_is_passed_over(tmp_path: Path) -> None:
    answer = find(database(tmp_path / "opencode.db", session()))
    assert answer == Passed("a database of OpenCode without a message in it")


def test_a_damaged_database_is_refused(tmp_path: Path) -> None:
    path = database(tmp_path / "opencode.db", session(user(text("Asked"))))
    path.write_bytes(path.read_bytes()[:5_000])
    assert str(find(path)).startswith(f"{path} could not be read as a database (")
    # Whose a damaged database of another name is, nobody can say.
    assert find(path.rename(tmp_path / "state.db")) is None


# --- three stores of the same session


FAMILY = (
    session(
        user(
            text("Water the beds"), {"type": "file", "mime": "image/png", "filename": "a.png", "url": "file:///a.png"}
        ),
        reply(
            tool("c1", done("<task>", metadata={"sessionId": "ses_2"}), "task"),
            tool("c2", failed("no such file"), "read"),
            text("Done."),
            at=1_500,
            tokens=tokens(10, 5, 1, 2, 3),
            finish="stop",
        ),
    ),
    session(user(text("Find the tap")), reply(text("It is outside.")), name="ses_2", parentID="ses_1"),
)


def test_the_same_session_is_the_same_chat_in_every_store(tmp_path: Path) -> None:
    exported = read_file(export(tmp_path / "export.json", FAMILY[0]))
    in_database = read_file(database(tmp_path / "opencode.db", *FAMILY))
    in_files = read_file(storage(tmp_path / "storage", *FAMILY))
    assert words_in(exported) == words_in(in_database) == words_in(in_files)
    assert exported.messages == in_database.messages == in_files.messages
    assert [words_in(each) for each in in_files.subagents] == [words_in(each) for each in in_database.subagents]
    assert [each.started_by for each in in_files.subagents] == ["c1"]
    # An export has one session only, and says what is not in it.
    assert exported.subagents == []
    assert reports(exported) == [
        (
            "missing-subagent",
            "A call started the session ses_2, which is not in this log: its work is not in this chat.",
            False,
        )
    ]
    assert (exported.reopen, in_files.reopen) == ([], ["opencode", "--session", "ses_1"])


def test_every_file_of_the_older_folder_is_accounted_for(tmp_path: Path) -> None:
    storage(tmp_path / "storage", *FAMILY)
    (tmp_path / "storage" / "todo").mkdir()
    (tmp_path / "storage" / "todo" / "ses_1.json").write_text('{"todos": []}')
    found = survey([tmp_path])
    assert [(chat.id, len(chat.inputs)) for chat in found.chats] == [("ses_1", 13)]  # 2 sessions, 4 messages, 7 parts
    assert [(skipped.path.name, skipped.why) for skipped in found.skipped] == [
        ("ses_1.json", "what OpenCode keeps beside its sessions, no chat")
    ]


def test_of_the_same_session_twice_the_database_is_read(tmp_path: Path) -> None:
    storage(tmp_path / "storage", *FAMILY)
    export(tmp_path / "export.json", FAMILY[0])
    database(tmp_path / "opencode.db", *FAMILY)
    found = survey([tmp_path])
    assert [chat.path.name for chat in found.chats] == ["opencode.db"]
    assert [skipped.verdict for skipped in found.skipped if skipped.path.name == "export.json"] == ["copy"]


def test_a_damaged_file_of_the_older_folder_costs_no_other(tmp_path: Path) -> None:
    path = storage(tmp_path / "storage", session(user(text("Asked")), reply(text("Lost"), text("Kept"))))
    (tmp_path / "storage" / "part" / "msg_102" / "prt_10201.json").write_text('{"type": "te')
    chat = read_file(path)
    assert [event.text for event in of(chat, Said)] == ["Kept"]
    assert reports(chat) == [("damaged-file", "prt_10201.json holds no JSON object; it was passed over.", True)]


# --- exports


def test_an_export_with_pictures_and_an_aborted_turn() -> None:
    chat = read_file(CHART)
    (picture,) = of(chat, Asked)[0].parts
    assert isinstance(picture, Image)
    assert (picture.media_type, picture.name, picture.data and picture.data[:4]) == (
        "image/png",
        "chart.png",
        b"\x89PNG",
    )
    results = {event.call: event for event in of(chat, Returned)}
    assert [type(part).__name__ for part in results["call_chart_1"].parts] == ["Text", "Image"]
    # `invalid` is what OpenCode calls in place of a tool that is not there.
    assert [(call, result.ok) for call, result in results.items()] == [
        ("call_chart_1", True),
        ("call_chart_2", False),
        ("call_chart_3", True),
    ]
    (answered,) = of(chat, Answered)
    assert (answered.outcome, answered.problem, chat.completed) == ("interrupted", "Aborted", False)
    # "New session - 2026-10-11T08:00:00.000Z" is what a session is called that has no title.
    assert (chat.title, find(CHART)[0].title) == (None, "What is wrong with this chart?")


def test_a_cut_export_is_refused_with_the_byte_where_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    sentence = "is cut off: it ends at byte 1,800, in the middle of a value"
    assert find(TRUNCATED) == f"truncated.json {sentence}."
    status = cli.run(["build", str(TRUNCATED), "--out", str(tmp_path / "site"), "--yes"])
    written = capfd.readouterr()
    assert (status, (tmp_path / "site" / "index.html").exists()) == (1, False)
    assert sentence in " ".join((written.out + written.err).split())


@pytest.mark.parametrize(
    "value",
    [
        {"messages": [{"role": "user", "content": "hi"}]},
        {"info": {}, "messages": []},
        {"info": [], "messages": [{"info": {}, "parts": []}]},
        {"info": {"id": "x"}, "messages": [{"role": "user"}]},
        {"info": {"title": "A book"}, "chapters": []},
        [1],
    ],
)
def test_another_document_is_not_taken_for_an_export(tmp_path: Path, value: object) -> None:
    assert find(export(tmp_path / "other.json", value)) is None


def test_a_session_of_which_nothing_is_known_is_refused(tmp_path: Path) -> None:
    path = export(tmp_path / "export.json", session(message("oracle", text("a")), reply({"type": "hologram"})))
    with pytest.raises(
        Unreadable,
        match=r"^The session ses_1 in export\.json has nothing that is known here\. "
        r"Messages of the role “oracle” are not known here: .* Parts of the type “hologram” are not known here",
    ):
        read_file(path)


# --- calls and what came back

REJECTED = "The user rejected permission to use this specific tool call"
RULE = "The user has specified a rule which prevents you from using this specific tool call. Here are some"

STATES: list[tuple[object, tuple[str, bool | None, str | None] | None]] = [
    (done("a\n"), ("a\n", True, None)),
    (done(""), ("", True, None)),
    (done({"rows": 2}), ('{"rows":2}', True, None)),
    (done("b", metadata={"exit": 0}), ("b", True, None)),
    (done("b", metadata={"exit": 3}), ("b", False, None)),
    (done("b", metadata={"exit": None}), ("b", True, None)),
    (done("b", metadata={"exit": True}), ("b", True, None)),
    (failed("no such file"), ("no such file", False, None)),
    (failed({"message": "timed out"}), ("timed out", False, None)),
    (failed({"code": 7}), ('{"code":7}', False, None)),
    (failed(f"{REJECTED}."), (f"{REJECTED}.", False, "declined")),
    (failed(f"{REJECTED} with this feedback: keep it"), (f"{REJECTED} with this feedback: keep it", False, "declined")),
    (failed(RULE), (RULE, False, "refused")),
    (done(RULE), (RULE, True, None)),
    ({"status": "running", "input": {"command": "ls"}, "time": {"start": 2_000}}, None),
    ({"status": "pending", "input": {}, "raw": '{"command": "l'}, None),
    ({"status": "later", "output": "c"}, ("c", None, None)),
    ("no object", None),
]


@pytest.mark.parametrize(("state", "result"), STATES)
def test_what_came_back_of_a_call(
    tmp_path: Path, state: object, result: tuple[str, bool | None, str | None] | None
) -> None:
    path = export(tmp_path / "export.json", session(user(text("Go")), reply(tool("c1", state))))
    found = [(text_of(event.parts), event.ok, event.not_run) for event in of(read_file(path), Returned)]
    assert found == ([] if result is None else [result])
    counted = [(entry.id, entry.ok, entry.not_run) for entry in ledger_of(path).of("result")]
    assert counted == ([] if result is None else [("c1", result[1], result[2] is not None)])


def test_a_call_has_the_time_of_its_start_and_its_result_that_of_its_end(tmp_path: Path) -> None:
    called, returned = read(tmp_path, reply(tool("c1", done("a", 2_000, 2_750)))).events
    assert (called.at, returned.at) == (2_000, 2_750)
    assert isinstance(returned, Returned)
    assert returned.duration == 750


def test_a_call_that_was_still_being_written_keeps_its_raw_arguments(tmp_path: Path) -> None:
    pending = {"status": "pending", "input": {}, "raw": '{"command": "l'}
    (called,) = of(read(tmp_path, reply(tool("c1", pending))), Called)
    assert (called.arguments, called.raw) == ({}, '{"command": "l')


def test_calls_with_the_same_id_or_none_are_told_apart(tmp_path: Path) -> None:
    path = export(
        tmp_path / "export.json",
        session(reply(tool("c1", done("one")), tool("c1", done("two")), tool(None, done("three")), tool("", {}))),
    )
    chat = read_file(path)
    assert [event.id for event in of(chat, Called)] == ["c1", "c1__2", "message-1", "message-1__2"]
    assert [(event.call, text_of(event.parts)) for event in of(chat, Returned)] == [
        ("c1", "one"),
        ("c1__2", "two"),
        ("message-1", "three"),
    ]
    assert [entry.id for entry in ledger_of(path).of("call")] == ["c1", "c1__2", "message-1", "message-1__2"]


def test_a_status_that_is_not_known_is_named(tmp_path: Path) -> None:
    chat = read(tmp_path, user(text("Go")), reply(tool("c1", {"status": "later"})))
    assert reports(chat) == [
        (
            "unknown-record",
            "Calls with the status “later” are not known here: whether one came back is not.",
            True,
        )
    ]


# --- messages


def test_words_after_a_call_are_the_model_s_next_message(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        user(text("Go")),
        reply({"type": "reasoning", "text": "Hm."}, tool("c1", done("x")), text("Done."), tokens=tokens(3, 1)),
    )
    assert [(type(event).__name__, event.message) for event in chat.events[1:]] == [
        ("Thought", "msg_102"),
        ("Called", "msg_102"),
        ("Returned", None),
        ("Said", "msg_102:2"),
    ]
    assert [message.usage for message in chat.messages.values()] == [Usage(3, 1, 0, 0, reasoning_tokens=0), None]


def finish(**more: object) -> Document:
    return {"type": "step-finish", "reason": "tool-calls", **more}


@pytest.mark.parametrize(
    ("own", "steps", "usage"),
    [
        (tokens(10, 5, 2, 20, 30), [], Usage(60, 7, 20, 30, reasoning_tokens=2)),
        (tokens(10, 5), [tokens(10, 5)], Usage(10, 5, 0, 0, reasoning_tokens=0)),
        # Of several steps a message states the last: what each took counts.
        (tokens(4, 1), [tokens(10, 5), tokens(4, 1)], Usage(14, 6, 0, 0, reasoning_tokens=0)),
        (tokens(0, 0), [tokens(10, 5)], Usage(10, 5, 0, 0, reasoning_tokens=0)),
        (tokens(0, 0), [], None),
        (None, [], None),
        ({"input": "many", "output": -1, "cache": 7}, [], None),
        ({"input": None, "output": 5}, [], Usage(None, 5)),
        ({"input": 5, "cache": {"read": 2}}, [], Usage(7, None, 2)),
    ],
)
def test_tokens_of_a_message(tmp_path: Path, own: object, steps: list[Document], usage: Usage | None) -> None:
    ends = [finish(tokens=each) for each in steps]
    parts = [part for end in ends for part in ({"type": "step-start"}, text("Words."), end)] or [text("Words.")]
    path = export(tmp_path / "export.json", session(user(text("Go")), reply(*parts, tokens=own)))
    chat = read_file(path)
    assert account(chat, divide(chat.events)[1]).usage == usage
    assert ledger_of(path).usage == usage


@pytest.mark.parametrize(("cost", "usd"), [(0.5, 0.5), (0, None), (None, None), ("1", None), (-1, None), (True, None)])
def test_a_cost_of_nothing_is_not_known(tmp_path: Path, cost: object, usd: float | None) -> None:
    chat = read(tmp_path, reply(text("Words."), cost=cost, tokens=tokens(1, 1)))
    (told,) = chat.messages.values()
    assert told.cost == (None if usd is None else Cost(usd=usd))


def test_steps_of_one_message_are_messages_of_the_model(tmp_path: Path) -> None:
    first, second = (finish(tokens=tokens(n, n), cost=n) for n in (2, 3))
    chat = read(
        tmp_path,
        reply({"type": "step-start"}, tool("c1", done("x")), first, {"type": "step-start"}, text("Done."), second),
    )
    assert [(key, told.usage and told.usage.prompt_tokens, told.cost) for key, told in chat.messages.items()] == [
        ("msg_101", 2, Cost(usd=2.0)),
        ("msg_101:2", 3, Cost(usd=3.0)),
    ]


def test_a_prompt_is_one_with_its_blocks_and_pictures(tmp_path: Path) -> None:
    picture = {"type": "file", "mime": "image/png", "filename": "a.png", "url": "data:image/png;base64,!!"}
    chat = read(tmp_path, user(text("First"), picture, text("Second"), {"type": "agent", "name": "plan"}))
    asked, noted = chat.events
    assert isinstance(asked, Asked)
    assert (asked.text, [part.problem for part in asked.parts if isinstance(part, Image)]) == (
        "First\nSecond",
        ["its base64 data is damaged"],
    )
    assert isinstance(noted, Noted)
    assert (noted.topic, noted.text) == ("agent", "@plan")


@pytest.mark.parametrize(
    ("mime", "url", "expected"),
    [
        (
            "image/png",
            "https://example.org/a.png",
            Image(media_type="image/png", reference="https://example.org/a.png"),
        ),
        ("application/pdf", "data:application/pdf;base64,AAAA", File(media_type="application/pdf")),
        ('image/png" onload="x', "file:///a.png", File(reference="file:///a.png")),
        (7, None, File()),
    ],
)
def test_files_of_every_kind(tmp_path: Path, mime: object, url: object, expected: object) -> None:
    chat = read(tmp_path, user(text("Look"), {"type": "file", "mime": mime, "url": url}))
    assert of(chat, Asked)[0].parts == [expected]


def test_what_is_not_the_person_s_is_told_apart(tmp_path: Path) -> None:
    system = {"system": "Answer in Welsh."}
    chat = read(
        tmp_path,
        user(text("Hello"), text("put in", synthetic=True), text("shown only", ignored=True), **system),
        reply(text("Shwmae"), text("put in too", synthetic=True)),
        user(text("Again"), **system),
    )
    assert [
        (type(event).__name__, getattr(event, "topic", getattr(event, "injected", None))) for event in chat.events
    ] == [
        ("Noted", "system"),
        ("Asked", None),
        ("Asked", "context"),
        ("Noted", "notice"),
        ("Said", None),
        ("Noted", "system"),
        ("Asked", None),
    ]


@pytest.mark.parametrize(
    ("info", "outcome", "problem"),
    [
        ({"finish": "stop"}, "success", None),
        ({"finish": "tool-calls"}, None, None),
        ({"finish": "length"}, None, None),
        ({"error": {"name": "APIError", "data": {"message": "model is gone"}}}, "error", "model is gone"),
        ({"error": {"name": "MessageOutputLengthError", "data": {}}}, "error", "MessageOutputLengthError"),
        ({"error": {"name": "MessageAbortedError", "data": {"message": "Aborted"}}}, "interrupted", "Aborted"),
        ({"error": "odd"}, None, None),
        ({}, None, None),
    ],
)
def test_how_a_turn_ended(tmp_path: Path, info: Document, outcome: str | None, problem: str | None) -> None:
    chat = read(tmp_path, user(text("Go")), reply(text("Words."), **info, time={"created": 1_500, "completed": 4_000}))
    ends = [(event.outcome, event.problem, event.at) for event in of(chat, Answered)]
    assert ends == ([] if outcome is None else [(outcome, problem, 4_000)])
    assert chat.completed == (None if outcome is None else outcome == "success")


def test_a_compaction_without_a_summary_is_said(tmp_path: Path) -> None:
    chat = read(tmp_path, user(text("Go")), user({"type": "compaction", "auto": True}))
    assert [event.text for event in of(chat, Noted)] == ["A compaction was begun; the log has no summary."]


def test_a_repeated_request_and_unknown_parts_are_told(tmp_path: Path) -> None:
    retry = {"type": "retry", "attempt": 1, "error": {"name": "APIError", "data": {"message": "overloaded"}}}
    chat = read(
        tmp_path,
        reply({**retry, "time": {"created": 1_700}}, {"type": "snapshot", "snapshot": "5db7"}, {"type": "aura"}, 7),
        reply({"type": "aura"}, {"type": None}),
        9,
    )
    assert [(event.topic, event.text, event.at) for event in of(chat, Noted)] == [("retry", "overloaded", 1_700)]
    assert [(each.text, each.count) for each in chat.diagnostics] == [
        ("A part that is no object was passed over.", 1),
        ("A message that is no object was passed over.", 1),
        ("Parts of the type “aura” are not known here: they were passed over.", 2),
        ("Parts of the type null are not known here: they were passed over.", 1),
    ]
    assert all(each.kind == "unknown-record" and each.lost for each in chat.diagnostics)


# --- forks, and what was taken back


def test_a_fork_counts_nothing_of_what_it_copied(tmp_path: Path) -> None:
    copied = [user(text("Old"), at=100), reply(text("Done."), at=200, tokens=tokens(50, 5), cost=1)]
    own = [user(text("New"), at=600), reply(text("Yes."), at=700, tokens=tokens(70, 7), cost=2)]
    path = export(tmp_path / "export.json", session(*copied, *own))  # the session began at 500
    chat, ledger = read_file(path), ledger_of(path)
    assert [(event.text, event.inherited) for event in chat.events if isinstance(event, (Asked, Said))] == [
        ("Old", True),
        ("Done.", True),
        ("New", False),
        ("Yes.", False),
    ]
    accounted = account(chat, divide(chat.events)[1])
    assert (accounted.usage, accounted.usd) == (Usage(70, 7, 0, 0, reasoning_tokens=0), 2.0)
    assert ledger.usage == accounted.usage
    assert [entry.kind for entry in ledger.entries] == [entry.kind for entry in ledger.aside] == ["prompt", "answer"]


@pytest.mark.parametrize(
    ("revert", "kept"),
    [
        ({"messageID": "msg_102"}, ["One"]),
        ({"messageID": "msg_102", "partID": "prt_10202"}, ["One", "first"]),
        ({"messageID": "msg_103", "partID": "prt_10301"}, ["One", "first", "second"]),
        ({"messageID": "gone"}, ["One", "first", "second", "Two", "third"]),
        ({"messageID": 7}, ["One", "first", "second", "Two", "third"]),
    ],
)
def test_what_was_taken_back_begins_at_its_message_or_part(tmp_path: Path, revert: Document, kept: list[str]) -> None:
    messages = [user(text("One")), reply(text("first"), text("second")), user(text("Two")), reply(text("third"))]
    path = export(tmp_path / "export.json", session(*messages, revert=revert))
    chat, ledger = read_file(path), ledger_of(path)
    assert [event.text for event in chat.events if isinstance(event, (Asked, Said)) and event.branch is None] == kept
    assert (len(ledger.entries), len(ledger.aside)) == (len(kept), 5 - len(kept))


# --- whatever stands in a record

VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)
WORDS = st.sampled_from(["a", "b  ", "[image: image/png]", "\n"])
MIME = st.sampled_from(["image/png", "text/plain"])
PICTURES = st.sampled_from(["data:image/png;base64,iVBORw0KGgo=", "data:text/plain;base64,AAAA", "file:///a.png"])
STATE = st.fixed_dictionaries(
    {"status": st.sampled_from(["completed", "error", "running", "pending", "odd"]) | VALUE},
    optional={
        "input": st.dictionaries(WORDS, VALUE, max_size=2) | VALUE,
        "raw": WORDS | VALUE,
        "output": WORDS | VALUE,
        "error": WORDS | st.sampled_from([REJECTED, RULE]) | st.fixed_dictionaries({"message": VALUE}) | VALUE,
        "time": st.fixed_dictionaries({"start": VALUE, "end": VALUE}) | VALUE,
        "attachments": st.lists(
            st.fixed_dictionaries({"mime": st.sampled_from(["image/png", "text/plain"]) | VALUE, "url": VALUE}),
            max_size=2,
        )
        | VALUE,
        "metadata": st.fixed_dictionaries({"exit": VALUE, "sessionId": WORDS | VALUE, "diff": VALUE}) | VALUE,
    },
)
KINDS = st.sampled_from(
    [
        *("text", "reasoning", "tool", "file", "patch", "retry", "agent", "snapshot", "step-start", "step-finish"),
        *("subtask", "compaction", "aura"),
    ]
)
PART = st.fixed_dictionaries(
    {"type": KINDS | VALUE},
    optional={
        "id": WORDS | VALUE,
        "text": WORDS | VALUE,
        "synthetic": st.booleans() | VALUE,
        "ignored": st.booleans() | VALUE,
        "callID": WORDS | VALUE,
        "tool": WORDS | st.just("invalid") | VALUE,
        "state": STATE | VALUE,
        "mime": MIME | VALUE,
        "url": PICTURES | VALUE,
        "source": VALUE,
        "tokens": st.just({"input": 3, "output": 2, "cache": {"read": 1, "write": 0}}) | VALUE,
        "cost": VALUE,
        "files": st.lists(WORDS | VALUE, max_size=2) | VALUE,
        "prompt": WORDS | VALUE,
        "command": VALUE,
        "auto": VALUE,
        "error": VALUE,
        "name": VALUE,
        "metadata": VALUE,
        "time": st.fixed_dictionaries({"start": VALUE, "end": VALUE}) | VALUE,
    },
)
INFO = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant"]) | VALUE},
    optional={
        "id": WORDS | VALUE,
        "time": st.fixed_dictionaries({"created": st.integers(400, 600) | VALUE}) | VALUE,
        "modelID": WORDS | VALUE,
        "providerID": VALUE,
        "tokens": st.just({"input": 4, "output": 1, "reasoning": 1}) | VALUE,
        "cost": st.floats() | VALUE,
        "finish": st.just("stop") | VALUE,
        "summary": st.booleans() | VALUE,
        "system": WORDS | VALUE,
        "error": st.fixed_dictionaries({"name": VALUE, "data": VALUE}) | VALUE,
    },
)
MESSAGE = st.fixed_dictionaries({"info": INFO | VALUE, "parts": st.lists(PART | VALUE, max_size=4) | VALUE}) | VALUE
REVERT = st.fixed_dictionaries({"messageID": WORDS | VALUE, "partID": WORDS | VALUE}) | VALUE


def assert_counted_alike(chat: Chat, ledger: Ledger) -> None:
    own = [event for event in chat.events if event.branch is None and not event.inherited]
    assert [event.id for event in own if isinstance(event, Called)] == [entry.id for entry in ledger.of("call")]
    assert [(event.call, event.ok) for event in own if isinstance(event, Returned)] == [
        (entry.id, entry.ok) for entry in ledger.of("result")
    ]
    assert sum(isinstance(event, Asked) for event in own) == len(ledger.of("prompt"))
    assert sum(isinstance(event, Said) and bool(event.text.strip()) for event in own) == len(ledger.of("answer"))
    assert sum(isinstance(event, Thought) and bool(event.text.strip()) for event in own) == len(ledger.of("thought"))
    assert account(chat, divide(chat.events)[1]).usage == ledger.usage


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


@given(st.lists(MESSAGE, max_size=5), REVERT, VALUE)
@settings(max_examples=70, deadline=None)
def test_values_of_any_type_are_taken_as_they_come_and_none_is_lost(
    tmp_path_factory: pytest.TempPathFactory, messages: list[object], revert: object, other: object
) -> None:
    folder = tmp_path_factory.mktemp("any")
    begun = user(text("Begin."), at=600)
    begun["info"]["id"] = "begin"
    info = {
        "id": "ses_1",
        "directory": other,
        "title": other,
        "time": {"created": 500, "updated": other},
        "revert": revert,
    }
    (found,) = find(export(folder / "export.json", {"info": info, "messages": [begun, *messages]}))
    chat = opencode.read(found, UTC)
    assert_counted_alike(chat, opencode.count(found, keep_nothing))
    assert losses(found, chat, folder / "written") == []


@given(st.integers(min_value=0, max_value=len(CHART.read_bytes().rstrip()) - 1))
@settings(max_examples=80, deadline=None)
def test_an_export_that_is_cut_anywhere_is_no_chat(tmp_path_factory: pytest.TempPathFactory, at: int) -> None:
    file = tmp_path_factory.mktemp("cut") / "export.json"
    data = CHART.read_bytes()[:at]
    file.write_bytes(data)
    answer = find(file)
    if b'"directory"' in data:
        assert answer == f"export.json is cut off: it ends at byte {len(data.rstrip()):,}, in the middle of a value."
    else:
        assert isinstance(answer, str) or answer is None


@given(
    st.lists(st.tuples(WORDS | st.none() | st.integers(-9, 9), INFO | PART | VALUE | st.binary(max_size=4)), max_size=4)
)
@settings(max_examples=50, deadline=None)
def test_cells_of_any_type_are_taken_as_they_come(
    tmp_path_factory: pytest.TempPathFactory, cells: list[tuple[object, object]]
) -> None:
    path = database(tmp_path_factory.mktemp("any") / "opencode.db", session(user(text("Begin."))))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        for table, rest in (("message", ("session_id",)), ("part", ("message_id", "session_id"))):
            connection.execute(f"CREATE TABLE loose AS SELECT * FROM {table}")
            connection.execute(f"DROP TABLE {table}")
            connection.execute(f"ALTER TABLE loose RENAME TO {table}")
            for name, value in cells:
                data = value if isinstance(value, bytes) else json.dumps(value)
                owners = {"session_id": "ses_1", "message_id": name}
                columns = ", ".join(("id", "data", *rest))
                marks = ", ".join("?" * (2 + len(rest)))
                row = (name, data, *(owners[column] for column in rest))
                connection.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks})", row)
        connection.commit()
    (found,) = find(path)
    assert_counted_alike(opencode.read(found, UTC), opencode.count(found, keep_nothing))


def test_a_timeline_says_what_the_calls_did() -> None:
    steps = make_timeline(read_file(DATABASE)).steps
    assert [(step.title, step.detail) for step in steps if step.kind == "tool"] == [
        ("Handed off: Find who calls must_ring", "explore"),
        ("Couldn’t read test_alarm.py", "Failed: File not found: /home/mira/greenhouse/tests/test_alarm.py"),
        ("Edited alarm.py", "+1 −1"),
        ("Wrote test_alarm.py", "+5 −0"),
        ("Ran the tests", "1 failed"),
        ("Didn’t remove the old test", "You said no"),
        ("Editing test_silence.py", "greenhouse/test_silence.py"),
    ]
    assert "Couldn’t use plot" in [step.title for step in make_timeline(read_file(CHART)).steps]
