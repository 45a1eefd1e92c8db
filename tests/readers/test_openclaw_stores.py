"""Where OpenClaw, Pi and OMP keep sessions: files, archives, databases of several ages, bundles; and what is none."""

from __future__ import annotations

import json
import random
import re
import shutil
import sqlite3
import sys
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import pytest

from conftest import EXAMPLES
from openclaw_logs import (
    CHILD,
    DATA,
    SAMPLE,
    Entry,
    bytes_of,
    call,
    count,
    database,
    found,
    found_in,
    header,
    of,
    read,
    result,
    said,
    usage,
    user,
    write,
)
from trailbook.chat import Asked, Chat, Usage, with_subagents
from trailbook.formats import FORMATS, TRAJECTORIES, Output, Sheet
from trailbook.readers import Passed, Unreadable, reader
from trailbook.stores import survey
from trailbook.timeline import make_timeline

SESSIONS = SAMPLE.parent
HELLO = (user(1, "Hello"), said(2, "Hello.", **usage(3, 2)))


def ids(folder: Path) -> list[str]:
    return sorted(chat.id for chat in survey([folder]).chats)


def skipped(folder: Path) -> dict[str, str]:
    return {item.path.name: item.why for item in survey([folder]).skipped}


# --- what is a chat and what is not


def test_what_lies_beside_a_session_is_no_chat(tmp_path: Path) -> None:
    """openclaw/openclaw#70680, #71960."""
    write(tmp_path / "demo.jsonl", header("demo"), *HELLO)
    trace = {"traceSchema": "openclaw-trajectory", "schemaVersion": 1, "type": "session.started", "sessionId": "demo"}
    write(tmp_path / "demo.trajectory.jsonl", trace)
    write(tmp_path / "demo.trajectory-path.json", {"sessionId": "demo", "path": "demo.trajectory.jsonl"})
    write(tmp_path / "sessions.json", {"agent:main:main": {"sessionId": "demo"}})
    write(tmp_path / "old.jsonl.reset.2026-05-01T08-00-00.000Z", header("old"))
    (chat,) = survey([tmp_path]).chats
    assert (chat.id, len(of(read(chat.path), Asked))) == ("demo", 1)
    assert skipped(tmp_path) == {
        "demo.trajectory-path.json": "it says where the runtime trace of a session lies",
        "old.jsonl.reset.2026-05-01T08-00-00.000Z": "an archive of a session (reset), with nothing in it",
        "sessions.json": "the index of OpenClaw's sessions, read with them",
    }
    assert chat.inputs == (tmp_path / "demo.jsonl", tmp_path / "demo.trajectory.jsonl")


ARCHIVES = [
    # What lies beside the archive `s-1.jsonl.<why>.<when>`, and the ids of the chats that are found.
    ("reset", False, ["s-1"]),
    ("deleted", False, ["s-1"]),
    ("reset", True, ["s-1", "s-1.reset.2026-05-01T08-00-00.000Z"]),
    ("deleted", True, ["s-1", "s-1.deleted.2026-05-01T08-00-00.000Z"]),
    ("bak", True, ["s-1"]),
]


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "compressed"])
@pytest.mark.parametrize(("why", "live", "expected"), ARCHIVES)
def test_archives_are_read_and_listed_as_such(
    why: str, live: bool, expected: list[str], packed: bool, tmp_path: Path
) -> None:
    archive = write(tmp_path / f"s-1.jsonl.{why}.2026-05-01T08-00-00.000Z", header(), *HELLO)
    if packed:
        zstandard = pytest.importorskip("zstandard")
        data = archive.read_bytes()
        archive.unlink()
        archive = archive.with_name(archive.name + ".zst")
        archive.write_bytes(zstandard.ZstdCompressor().compress(data))
    if live:
        write(tmp_path / "s-1.jsonl", header(), user(1, "Afresh"))
    assert ids(tmp_path) == expected
    assert [event.text for event in of(read(archive), Asked)] == ["Hello"]
    assert count(archive).usage == Usage(3, 2)
    assert found(archive).remark == "archived"


def test_a_compressed_archive_needs_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "s-1.jsonl.reset.x.zst"
    archive.write_bytes(b"\x28\xb5\x2f\xfd" + b"\0" * 20)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(Unreadable, match=r"install trailbook with its extra 'zstd'"):
        found_in(archive)


def test_a_compressed_archive_that_is_cut_says_so(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    archive = tmp_path / "s-1.jsonl.reset.x.zst"
    noise = random.Random(7)
    entries = [user(number, noise.randbytes(90_000).hex()) for number in range(1, 5)]
    data = write(tmp_path / "whole", header(), *entries).read_bytes()
    archive.write_bytes(zstandard.ZstdCompressor().compress(data)[:-20])
    assert found(archive).remark == "archived"  # its first entry alone is longer than what is looked at
    assert "cut-file" in {problem.kind for problem in read(archive).diagnostics}


FOREIGN: dict[str, bytes] = {
    "another agent's record": b'{"type":"user","sessionId":"x","message":{"role":"user","content":"hi"}}\n',
    "a header of something else": b'{"type":"session","id":"x"}\n',
    "a header and other records": b'{"type":"session","id":"x","timestamp":"2026"}\n{"type":"turn","text":"hi"}\n',
    "no JSON": b"Dear diary,\n",
    "a JSON document": b'{"entries": [], "title": "x"}',
    "an array": b'[{"type":"session","id":"x","cwd":"/"}]',
}


@pytest.mark.parametrize("agent", ["openclaw", "pi", "omp"])
@pytest.mark.parametrize("case", FOREIGN)
def test_other_files_are_not_claimed(case: str, agent: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(FOREIGN[case])
    assert found_in(path, agent) is None


PLAIN = [{**each, "id": f"0000000{each['id'][1]}"} for each in HELLO]
WHOSE: dict[str, tuple[str, list[Entry], str]] = {
    "named by its id": ("s-1.jsonl", PLAIN, "openclaw"),
    "a thread of a session": ("s-1-topic-7.jsonl", PLAIN, "openclaw"),
    "named by time and id": ("2026-10-12T09-00-00-000Z_s-1.jsonl", PLAIN, "pi"),
    "renamed, with ids as Pi has them": ("saved.jsonl", PLAIN, "pi"),
    "renamed, with other ids": ("saved.jsonl", list(HELLO), "openclaw"),
    "renamed, with a delivery": (
        "saved.jsonl",
        [*PLAIN, said(3, "x", provider="openclaw", model="delivery-mirror")],
        "openclaw",
    ),
    "with an entry that only OMP has": (
        "s-1.jsonl",
        [*PLAIN, {"type": "title_change", "id": "00000003", "title": "T"}],
        "omp",
    ),
}


@pytest.mark.parametrize("case", WHOSE)
def test_whose_session_it_is(case: str, tmp_path: Path) -> None:
    name, entries, agent = WHOSE[case]
    path = write(tmp_path / name, header(), *entries)
    assert [each for each in ("openclaw", "pi", "omp") if found_in(path, each)] == [agent]
    (chat,) = survey([path]).chats
    assert (chat.reader, chat.id) == (agent, "s-1-topic-7" if "topic" in name else "s-1")


def test_a_title_above_the_header(tmp_path: Path) -> None:
    title = {"type": "title", "v": 1, "title": "Greeting", "pad": "   "}
    path = write(tmp_path / "x.jsonl", title, header(), *HELLO)
    assert (found(path, "omp").title, read(path, "omp").title) == ("Greeting", "Greeting")


def test_a_name_that_stands_far_down(tmp_path: Path) -> None:
    long = [user(number, "x" * 1_000) for number in range(2, 90)]
    path = write(
        tmp_path / "s-1.jsonl", header(), *HELLO[:1], *long, {**user(90, ""), "type": "session_info", "name": "N"}
    )
    assert path.stat().st_size > 65_536
    assert (found(path).title, read(path).title) == ("N", "N")
    assert (found(path).started, found(path).updated) == (1_791_795_600_000, 1_791_795_690_000)


# --- databases


def without_places(chat: Chat) -> Chat:
    for each in with_subagents(chat):
        for event in each.events:
            event.place = None
        for branch in each.branches.values():
            branch.left_at = None
    return chat


def written(chat: Chat, name: str) -> list[bytes]:
    return [piece.data for piece in FORMATS[name].bundle([chat], Sheet(Output(), "s", alone=True))]


DATABASES = [("first", False, False), ("later", False, False), ("later", True, False), ("first", False, True)]


@pytest.fixture(params=DATABASES, ids=["first schema", "later schema", "compressed rows", "pending writes"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    schema, packed, wal = request.param
    if packed:
        pytest.importorskip("zstandard")
    path = tmp_path / "store" / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    return database(path, SESSIONS, schema, packed=packed, wal=wal)


def test_a_session_is_the_same_from_a_file_and_from_a_database(store: Path) -> None:
    (chat,) = survey([store.parent]).chats
    assert (chat.id, chat.updated) == (SAMPLE.stem, 1_791_796_571_000)
    one, other = read(SAMPLE), read(store)
    for name in (*TRAJECTORIES, "markdown"):
        assert written(one, name) == written(other, name), name
    # A report says where each thing stands: `line 4 of <session>.jsonl`, `row 4 of openclaw-agent.sqlite:<session>`.
    report = re.sub(rb"openclaw-agent\.sqlite:([\w-]+)", rb"\1.jsonl", written(other, "report")[0])
    assert re.sub(rb"\brow (\d)", rb"line \1", report) == written(one, "report")[0]
    assert without_places(one) == without_places(other)
    ledgers = [count(SAMPLE), count(store)]
    assert ledgers[0].usage == ledgers[1].usage
    assert [entry.digest for entry in ledgers[0].entries] == [entry.digest for entry in ledgers[1].entries]


def test_reading_leaves_the_store_byte_for_byte_as_it_was(store: Path, tmp_path: Path) -> None:
    shutil.copytree(SESSIONS, store.parent.parent / "sessions")
    before, changed = bytes_of(tmp_path), {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*")}
    (chat,) = survey([tmp_path / "store"]).chats
    reader(chat.reader).read(chat, UTC)
    count(store)
    assert bytes_of(tmp_path) == before
    assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*")} == changed


def test_rows_that_are_not_written_into_the_database_yet_are_read(tmp_path: Path) -> None:
    store = database(tmp_path / "openclaw-agent.sqlite", SESSIONS, wal=True)
    assert store.with_name(store.name + "-wal").stat().st_size > 0
    with sqlite3.connect(f"file:{store}?immutable=1", uri=True) as alone:
        assert alone.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)  # all of it is pending
    assert len(read(store).events) == len(read(SAMPLE).events)
    assert skipped(tmp_path) == {f"{store.name}-wal": "what belongs to a database while it is in use, read with it"}


def test_of_a_file_and_a_database_the_database_is_read(tmp_path: Path) -> None:
    shutil.copytree(SESSIONS, tmp_path / "agents" / "main" / "sessions")
    store = database(tmp_path / "agents" / "main" / "agent" / "openclaw-agent.sqlite", SESSIONS)
    looked = survey([tmp_path])
    assert [chat.path for chat in looked.chats] == [store]
    assert [item.path.name for item in looked.skipped if item.verdict == "copy"] == [SAMPLE.name]


def test_a_session_of_a_database_changes_by_its_own_rows(tmp_path: Path) -> None:
    store = database(tmp_path / "openclaw-agent.sqlite", SESSIONS)
    before = found(store).fingerprint
    for session, changes in (("another", False), (CHILD.stem, True), (SAMPLE.stem, True)):
        with sqlite3.connect(store) as connection:
            text = json.dumps(user(77, "One more"))
            connection.execute("INSERT INTO transcript_events VALUES (?, 77, ?, 0)", (session, text))
        connection.close()
        chat = next(chat for chat in survey([tmp_path]).chats if chat.id == SAMPLE.stem)
        assert (chat.fingerprint != before) is changes, session
        before = chat.fingerprint


def test_a_database_without_transcripts_says_so(tmp_path: Path) -> None:
    store = tmp_path / "openclaw-agent.sqlite"
    with sqlite3.connect(store) as connection:
        connection.execute("CREATE TABLE trajectory_runtime_events (session_id TEXT, seq INTEGER, event_json TEXT)")
    connection.close()
    assert found_in(store) == Passed("a database of OpenClaw without a chat in it")


def test_another_programs_database_is_not_claimed(tmp_path: Path) -> None:
    store = tmp_path / "state.db"
    with sqlite3.connect(store) as connection:
        connection.execute("CREATE TABLE messages (id INTEGER, text TEXT)")
    connection.close()
    assert found_in(store) is None


def test_a_damaged_database_is_named(tmp_path: Path) -> None:
    store = database(tmp_path / "openclaw-agent.sqlite", SESSIONS)
    data = store.read_bytes()
    store.write_bytes(data[: len(data) // 2])
    with pytest.raises(Unreadable, match=r"openclaw-agent\.sqlite could not be read as a database"):
        found_in(store)


def test_rows_that_hold_no_entry_are_reported_with_their_number(tmp_path: Path) -> None:
    store = database(tmp_path / "openclaw-agent.sqlite", SESSIONS)
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE transcript_events SET event_json = NULL WHERE seq = 5")
        connection.execute('UPDATE transcript_events SET event_json = \'{"type": "mess\' WHERE seq = 9')
    connection.close()
    chat = read(store)
    places = [(problem.kind, problem.place.number) for problem in chat.diagnostics if problem.place and problem.lost]
    assert set(places) == {("damaged-row", 6), ("damaged-line", 10)}
    assert all(problem.place is None or problem.place.unit == "row" for problem in chat.diagnostics)


# --- families


def test_a_subagent_of_another_agent(tmp_path: Path) -> None:
    for agent, file in (("main", SAMPLE), ("tester", CHILD)):
        folder = tmp_path / "agents" / agent / "sessions"
        folder.mkdir(parents=True)
        shutil.copy(file, folder)
    index = json.loads((SESSIONS / "sessions.json").read_text())
    for agent, key in (("main", "agent:main:main"), ("tester", "agent:main:subagent:7c1d")):
        write(tmp_path / "agents" / agent / "sessions" / "sessions.json", {key: index[key]})
    (chat,) = survey([tmp_path]).chats
    (child,) = reader("openclaw").read(chat, UTC).subagents
    assert (child.id, child.started_by) == (CHILD.stem, "call_4")


def test_sessions_that_are_each_others_parent_are_not_lost(tmp_path: Path) -> None:
    for session in ("a", "b"):
        write(tmp_path / f"{session}.jsonl", header(session), user(1, session))
    told = {"k:a": {"sessionId": "a", "spawnedBy": "k:b"}, "k:b": {"sessionId": "b", "spawnedBy": "k:a"}}
    write(tmp_path / "sessions.json", told)
    assert ids(tmp_path) == ["a", "b"]
    assert all(reader("openclaw").read(chat, UTC).subagents == [] for chat in survey([tmp_path]).chats)


ORIGINS = [
    ("agent:main:main", "chat"),
    ("agent:main:telegram:group:-100", "channel"),
    ("agent:main:cron:nightly", "routine"),
    ("cron:nightly", "routine"),
    ("hook:5d1e", "client"),
    ("agent:main:subagent:5d1e", "subagent"),
]


@pytest.mark.parametrize(("key", "origin"), ORIGINS)
def test_how_a_session_came_to_be(key: str, origin: str, tmp_path: Path) -> None:
    path = write(tmp_path / "s-1.jsonl", header(), *HELLO)
    write(tmp_path / "sessions.json", {key: {"sessionId": "s-1", "label": "Named"}})
    assert (found(path).origin, read(path).origin.kind, read(path).title) == (origin, origin, "Named")


def test_a_fork_starts_with_copies_that_count_where_they_come_from(tmp_path: Path) -> None:
    parent = write(tmp_path / "s-1.jsonl", header(), *HELLO)
    began = "2026-10-12T10:00:00.000Z"
    own = (user(3, "And now?"), said(4, "Now too.", call("c"), **usage(5, 1)), result(5, "c", "x"))
    later = [{**each, "timestamp": began.replace("00.000", f"0{number}.000")} for number, each in enumerate(own)]
    fork = write(
        tmp_path / "s-2.jsonl",
        header("s-2", timestamp=began, parentSession=str(parent)),
        *HELLO,
        *later,
    )
    chat = read(fork)
    assert (chat.parent, chat.forked) == ("s-1", True)
    assert [(event.text, event.inherited) for event in of(chat, Asked)] == [("Hello", True), ("And now?", False)]
    assert make_timeline(chat).totals.usage == count(fork).usage == Usage(5, 1)
    assert len(count(fork).aside) == 2
    assert ids(tmp_path) == ["s-1", "s-2"]


def test_a_session_that_names_another_and_copies_nothing_is_no_fork(tmp_path: Path) -> None:
    path = write(tmp_path / "s-2.jsonl", header("s-2", parentSession="/x/2026-01-01T00-00-00-000Z_s-1.jsonl"), *HELLO)
    chat = read(path)
    assert (chat.parent, chat.forked, any(event.inherited for event in chat.events)) == ("s-1", False, False)


# --- bundles


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    lines = [json.loads(line) for line in SAMPLE.read_text().splitlines()]
    folder = tmp_path / "openclaw-trajectory-019f92c8-2026-10-12"
    branch = {
        "header": lines[0],
        "leafId": "e0000014",
        "entries": [each for each in lines[1:] if each["id"] not in ("e0000007", "e0000008")],
    }
    write(folder / "session-branch.json", branch)
    write(folder / "manifest.json", {"traceSchema": "openclaw-trajectory", "schemaVersion": 1})
    write(folder / "events.jsonl", {"traceSchema": "openclaw-trajectory", "type": "user.message", "seq": 1})
    write(
        folder / "tools.json",
        [{"name": "read", "parameters": {"type": "object"}}, {"name": "x", "parameters": {"truncated": True}}],
    )
    (folder / "system-prompt.txt").write_text("You are OpenClaw.")
    return folder / "session-branch.json"


def test_an_exported_bundle_is_one_chat(exported: Path) -> None:
    (chat,) = survey([exported.parent]).chats
    assert (chat.id, chat.path) == (SAMPLE.stem, exported)
    told = read(exported)
    assert of(told, Asked)[0].text == "Why is this chart wrong?"
    assert (told.system_prompt, [(tool.name, tool.parameters) for tool in told.tools]) == (
        "You are OpenClaw.",
        [("read", {"type": "object"}), ("x", None)],
    )
    assert count(exported).usage == Usage(38_350, 350, 34_100, 500)
    assert set(skipped(exported.parent).values()) == {"a part of an exported bundle, read with it where it says more"}


def test_of_a_bundle_and_the_session_itself_the_session_is_read(exported: Path, tmp_path: Path) -> None:
    write(tmp_path / SAMPLE.name, header(SAMPLE.stem), *HELLO)
    assert [chat.path.name for chat in survey([tmp_path]).chats] == [SAMPLE.name]


def test_a_bundle_that_is_cut_is_refused_with_the_byte(exported: Path) -> None:
    data = exported.read_bytes()[:3_000]
    exported.write_bytes(data)
    with pytest.raises(Unreadable, match=r"session-branch\.json is cut off: it ends at byte 3,000"):
        found_in(exported)


def test_a_bundle_without_its_chat_is_named(exported: Path) -> None:
    exported.unlink()
    with pytest.raises(Unreadable, match=r"without its session-branch\.json: export the session again"):
        found_in(exported.with_name("manifest.json"))


# --- places


def test_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("OPENCLAW_STATE_DIR", "PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR"):
        monkeypatch.delenv(name, raising=False)
    assert reader("openclaw").PLACES.logs()[:2] == [tmp_path / ".openclaw/agents", tmp_path / ".clawdbot/agents"]
    assert reader("pi").PLACES.logs() == [tmp_path / ".pi/agent/sessions"]
    assert reader("omp").PLACES.logs() == [tmp_path / ".omp/agent/sessions"]
    monkeypatch.setenv("OPENCLAW_STATE_DIR", "/srv/claw")
    monkeypatch.setenv("PI_CODING_AGENT_DIR", "/srv/pi")
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", "/srv/sessions")
    assert Path("/srv/claw/agents") in reader("openclaw").PLACES.logs()
    assert {Path("/srv/claw"), tmp_path / ".openclaw"} <= set(reader("openclaw").PLACES.stores())
    assert reader("pi").PLACES.logs() == [Path("/srv/sessions"), Path("/srv/pi/sessions")]
    assert Path("/srv/sessions") in reader("pi").PLACES.stores()


def test_a_trace_in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "sessions" / "s-1.jsonl", header(), *HELLO)
    told = {
        "traceSchema": "openclaw-trajectory",
        "type": "context.compiled",
        "data": {"systemPrompt": "Be kind.", "tools": "cut"},
    }
    trace = write(tmp_path / "traces" / "s-1.jsonl", told)
    monkeypatch.setenv("OPENCLAW_TRAJECTORY_DIR", str(tmp_path / "traces"))
    assert (read(path).system_prompt, found(path).inputs) == ("Be kind.", (path, trace))
    assert isinstance(found_in(trace), Passed)


def test_the_examples_are_listed() -> None:
    names = ("openclaw", "pi", "omp")
    listed = {name: [chat.remark for chat in survey([EXAMPLES / name]).chats] for name in names}
    assert listed == {"openclaw": [None, "archived"], "pi": [None], "omp": [None]}


def test_a_sidecar_that_changes_changes_the_fingerprint(tmp_path: Path) -> None:
    shutil.copytree(DATA / "agents", tmp_path / "agents")
    sample = tmp_path / SAMPLE.relative_to(DATA)
    before = found(sample)
    sample.with_name(f"{sample.stem}.trajectory.jsonl").write_text("{}\n")
    again = found(sample)
    assert replace(again, fingerprint=before.fingerprint, size=before.size) == before
    assert again.fingerprint != before.fingerprint
