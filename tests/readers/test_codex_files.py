"""Codex's files: which are rollouts, which belong together, which are compressed, archived, cut or damaged."""

from __future__ import annotations

import builtins
import json
import random
import shutil
from collections import Counter
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codex_logs import (
    CHILD,
    SAMPLE,
    THREAD,
    answer,
    answers,
    begin,
    call,
    end,
    event,
    find,
    found_in,
    item,
    meta,
    of,
    output,
    path_of,
    prompts,
    read_file,
    reports,
    spawned,
    stamped,
    tokens,
    turn_item,
    usage_of,
    user,
    write,
)
from conftest import EXAMPLES
from trailbook.chat import Asked, Called, Returned, Said, with_subagents
from trailbook.ledger import keep_nothing
from trailbook.readers import Found, Passed, Unreadable, codex
from trailbook.readers.codex.family import family_of
from trailbook.stores import survey

GRANDCHILD = "0199d100-0000-7000-8000-0000000000cc"
PARENT = [
    meta(),
    user("go"),
    call("s1", "spawn_agent", '{"message":"look"}'),
    output("s1", f'{{"agent_id":"{CHILD}"}}'),
]
LOOKING = [spawned(), user("look"), answer("seen")]


def compressed(path: Path) -> Path:
    """The rollout as Codex keeps a cold one; the plain file goes."""
    cold = path.with_name(path.name + ".zst")
    cold.write_bytes(zstandard.ZstdCompressor(level=3).compress(path.read_bytes()))
    path.unlink()
    return cold


def without_zstandard(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def deny(name: str, *more: Any) -> Any:
        if name.partition(".")[0] == "zstandard":
            raise ImportError(name)
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", deny)


# --- what is found


def test_a_store_is_listed_each_file_accounted_for() -> None:
    result = survey([SAMPLE])
    found = {chat.id: chat for chat in result.chats}
    assert {chat.reader for chat in result.chats} == {"codex"}
    assert sorted(found) == [
        "0199d000-aaaa-7000-8000-000000000001",
        "0199d000-cccc-7000-8000-000000000003",
        "5973b6c0-94b8-487b-a530-2aeb6098ae0e",
    ]
    main = found["0199d000-aaaa-7000-8000-000000000001"]
    assert (main.title, main.cwd, main.origin) == ("Fix rounding", "/home/user/orchard", "chat")
    assert (main.started, main.updated) == (1791796800000, 1791796853689)
    assert [path.name[-12:] for path in main.inputs] == ["000001.jsonl", "000002.jsonl"]
    assert main.size == sum(path.stat().st_size for path in main.inputs)
    assert [(skipped.path.name, skipped.verdict, skipped.why) for skipped in result.skipped] == [
        ("expected.json", "not recognised", "no reader knows this format"),
        ("session_index.jsonl", "passed over", "the index of Codex's threads, read with them"),
    ]


def _chats(answer: list[Found] | Passed | None) -> list[Found]:
    return answer if isinstance(answer, list) else []


def test_the_list_of_what_was_typed_is_no_chat(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text('{"session_id":"a","ts":1791450000,"text":"go"}\n')
    answer = find(path)
    assert isinstance(answer, Passed)
    assert "typed into Codex" in answer.why


FOREIGN = [
    '{"type":"user","message":{"role":"user","content":"go"},"uuid":"u","timestamp":"2026-10-08T09:30:00Z"}',
    '{"type":"session","version":3,"id":"x","timestamp":"2026-10-08T09:30:00Z","cwd":"/srv"}\n'
    '{"type":"message","id":"1","parentId":null,"timestamp":"2026-10-08T09:30:01Z","message":{"role":"user"}}',
    '{"messages":[{"role":"user","content":"payload \\"payload\\" instructions"}]}',
    '{"type":"meta","source":"codex"}',
    '{"id":"x","timestamp":"2026-10-08T09:30:00Z","type":"assistant.message","data":{}}',
    '{"type":"response_item","payload":"none"}',
    '{"type":"message","role":"user","content":"go"}',
    "[1, 2]",
    "payload",
    '{"type":"event_msg"',
]


@pytest.mark.parametrize("text", FOREIGN)
def test_other_formats_are_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(text + "\n")
    assert find(path) is None


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("*.json*")), ids=lambda path: path.name)
def test_no_other_example_is_claimed(path: Path) -> None:
    answer = find(path)
    assert answer is None or "codex" in path.parts


def test_a_first_line_that_is_longer_than_the_head_is_read(tmp_path: Path) -> None:
    long = meta(base_instructions={"text": "Be brief. " * 20_000})
    path = write(path_of(tmp_path), [long, user("# AGENTS.md instructions\n" + "x" * 90_000), user("go"), answer("a")])
    found = found_in(path)
    assert (found.title, found.cwd) == ("go", "/home/sam/orchard")
    assert prompts(read_file(path)) == ["go"]


def test_a_log_whose_first_lines_are_damaged_is_found(tmp_path: Path) -> None:
    path = tmp_path / "copied.jsonl"
    write(path, [user("go"), answer("a")])
    path.write_bytes(b'{"timestamp": "2026\n\xff\xfe\n' + path.read_bytes())
    chat = read_file(path)
    assert (chat.id, prompts(chat)) == ("copied", ["go"])
    assert reports(chat)["damaged-line"] >= 1


def test_a_name_in_the_index_is_the_title_and_changes_the_fingerprint(tmp_path: Path) -> None:
    path = write(path_of(tmp_path), [meta(), user("go"), answer("a")])
    first = found_in(path)
    assert first.title == "go"
    lines = [{"id": THREAD, "thread_name": "Old name"}, {"id": THREAD, "thread_name": "Pears"}, {"id": "x"}, 7]
    (tmp_path / "session_index.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + "{cut")
    second = found_in(path)
    assert second.title == read_file(path).title == "Pears"
    assert first.fingerprint != second.fingerprint


def test_places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.delenv("CODEX_HOME", raising=False)
    logs = [tmp_path / ".codex" / name for name in ("sessions", "archived_sessions")]
    assert codex.PLACES.logs() == logs
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "other"))
    assert codex.PLACES.logs() == [tmp_path / "other" / name for name in ("sessions", "archived_sessions")]
    assert codex.PLACES.stores() == [tmp_path / "other", tmp_path / ".codex"]


# --- which files belong together


@pytest.mark.parametrize(
    ("parent_day", "child_day"),
    [
        ("2026-10-08", "2026-10-08"),
        ("2026-10-07", "2026-10-08"),
        ("2026-09-30", "2026-10-08"),
        ("2025-12-31", "2026-10-08"),
    ],
    ids=["same-day", "past-midnight", "days-later", "next-year"],
)
def test_a_subagent_of_any_day_is_read_with_its_parent(tmp_path: Path, parent_day: str, child_day: str) -> None:
    parent = write(path_of(tmp_path, THREAD, parent_day), PARENT)
    child = write(path_of(tmp_path, CHILD, child_day), LOOKING)
    found = found_in(parent)
    assert found.inputs == (parent, child)
    (subagent,) = read_file(parent).subagents
    assert (subagent.id, subagent.started_by, subagent.title) == (CHILD, "s1", "look")
    assert find(child) == Passed("a subagent's part of another chat, read with it", parent)


def test_archived_files_belong_to_those_that_are_not(tmp_path: Path) -> None:
    parent = write(path_of(tmp_path), PARENT)
    child = write(tmp_path / "archived_sessions" / path_of(tmp_path, CHILD).name, LOOKING)
    assert found_in(parent).inputs == (parent, child)
    archived = tmp_path / "archived_sessions" / parent.name
    shutil.move(parent, archived)
    active = tmp_path / "sessions/2026/10/08" / child.name
    shutil.move(child, active)
    assert found_in(archived).inputs == (archived, active)
    assert find(active) == Passed("a subagent's part of another chat, read with it", archived)


def test_a_subagent_whose_parent_is_gone_is_a_chat_of_its_own(tmp_path: Path) -> None:
    chat = read_file(write(path_of(tmp_path, CHILD), LOOKING))
    assert (chat.id, chat.parent, chat.origin.kind, chat.origin.name) == (CHILD, THREAD, "subagent", "Gauss")
    assert found_in(path_of(tmp_path, CHILD)).origin == "subagent"


def test_subagents_of_subagents_hang_below_them(tmp_path: Path) -> None:
    parent = write(path_of(tmp_path), PARENT)
    middle = [spawned(), user("look"), call("s2", "spawn_agent"), output("s2", f'{{"agent_id":"{GRANDCHILD}"}}')]
    write(path_of(tmp_path, CHILD), middle)
    last = write(path_of(tmp_path, GRANDCHILD), [spawned(GRANDCHILD, CHILD), user("deeper"), answer("seen")])
    chat = read_file(parent)
    assert [(below.id, below.started_by) for below in with_subagents(chat)] == [
        (THREAD, None),
        (CHILD, "s1"),
        (GRANDCHILD, "s2"),
    ]
    assert find(last) == Passed("a subagent's part of another chat, read with it", parent)


@pytest.mark.parametrize(
    ("starter", "about"),
    [
        ([call("s1", "spawn_agent"), output("s1", f'{{"thread_id":"{CHILD}"}}')], {}),
        ([call("s1", "spawn_agent"), output("s1", '{"task_name":"/root/scout"}')], {"agent_path": "/root/scout"}),
        ([call("s1", "spawn_agent", '{"task_name":"scout"}'), output("s1", "ok")], {"agent_path": "/root/scout"}),
        ([call("s1", "spawn_agent"), event("collab_agent_spawn_end", call_id="s1", new_thread_id=CHILD)], {}),
        ([call("s1", "spawn_agent"), event("sub_agent_activity", event_id="s1", agent_thread_id=CHILD)], {}),
        ([call("s1", "ls"), output("s1", f'{{"agent_id":"{CHILD}"}}')], None),
        ([call("s1", "spawn_agent"), output("s1", f'["{CHILD}"]')], None),
    ],
    ids=["thread", "path", "name", "event", "activity", "another-tool", "no-object"],
)
def test_how_a_log_names_the_call_that_spawned_a_subagent(tmp_path: Path, starter: Any, about: Any) -> None:
    parent = write(path_of(tmp_path), [meta(), user("go"), *starter])
    first = spawned()
    first["payload"]["source"]["subagent"]["thread_spawn"].update(about or {})
    write(path_of(tmp_path, CHILD), [first, user("look"), answer("seen")])
    (subagent,) = read_file(parent).subagents
    assert subagent.started_by == (None if about is None else "s1")


def test_a_review_belongs_to_the_thread_that_it_names(tmp_path: Path) -> None:
    parent = write(path_of(tmp_path), [meta(), user("/review"), answer("done")])
    write(
        path_of(tmp_path, CHILD), [meta(CHILD, source={"subagent": "review"}, parent_thread_id=THREAD), answer("fine")]
    )
    assert [subagent.id for subagent in read_file(parent).subagents] == [CHILD]


def test_threads_that_name_each_other_or_themselves_are_not_lost(tmp_path: Path) -> None:
    one = write(path_of(tmp_path), [spawned(THREAD, CHILD), user("one"), answer("a")])
    two = write(path_of(tmp_path, CHILD), [spawned(CHILD, THREAD), user("two"), answer("b")])
    three = write(path_of(tmp_path, GRANDCHILD), [spawned(GRANDCHILD, GRANDCHILD), user("three"), answer("c")])
    assert [prompts(read_file(path)) for path in (one, two, three)] == [["one"], ["two"], ["three"]]
    assert set(family_of(one, THREAD)) == {one, two}


def test_a_changed_subagent_changes_the_fingerprint(tmp_path: Path) -> None:
    parent = write(path_of(tmp_path), PARENT)
    child = write(path_of(tmp_path, CHILD), LOOKING)
    first = found_in(parent).fingerprint
    write(child, [*LOOKING, answer("and more")])
    assert found_in(parent).fingerprint != first


def test_a_subagent_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    parent = write(path_of(tmp_path), PARENT)
    child = write(path_of(tmp_path, CHILD), LOOKING)
    found = found_in(parent)
    child.write_text('{"type":"session_meta","payload":{}}\n')
    chat = codex.read(found, UTC)
    assert (chat.subagents, reports(chat)) == ([], {"subagent-unreadable": 1})
    child.unlink()
    assert reports(codex.read(found, UTC)) == {"subagent-unreadable": 1}
    assert codex.count(found, keep_nothing).subagents == []


# --- copies and compressed files


def test_of_copies_the_active_and_the_plain_one_is_read(tmp_path: Path) -> None:
    log = [meta(), user("go"), answer("a")]
    plain = write(path_of(tmp_path), log)
    archived = write(tmp_path / "archived_sessions" / plain.name, log)
    data = plain.read_bytes()
    cold, archived_cold = compressed(plain), compressed(archived)
    plain.write_bytes(data)
    archived.write_bytes(data)
    order = [found_in(path).preference for path in (plain, archived, cold, archived_cold)]
    assert order == sorted(order, reverse=True)
    assert len(set(order)) == 4


def test_a_compressed_rollout_reads_as_the_plain_one_also_as_a_subagent(tmp_path: Path) -> None:
    parent, child = write(path_of(tmp_path), PARENT), write(path_of(tmp_path, CHILD), LOOKING)
    plain = read_file(parent)
    cold, cold_child = compressed(parent), compressed(child)
    chat = read_file(cold)
    assert found_in(cold).inputs == (cold, cold_child)
    for one, other in zip(with_subagents(chat), with_subagents(plain), strict=True):
        for event_ in [*one.events, *other.events]:
            event_.place = None
        assert (one.id, one.title, one.events, one.messages) == (other.id, other.title, other.events, other.messages)


def test_a_plain_subagent_and_its_compressed_copy_are_one(tmp_path: Path) -> None:
    parent, child = write(path_of(tmp_path), PARENT), write(path_of(tmp_path, CHILD), LOOKING)
    data = child.read_bytes()
    cold = compressed(child)
    child.write_bytes(data)
    assert found_in(parent).inputs == (parent, child)
    assert isinstance(find(cold), Passed)


def test_the_sample_that_is_compressed() -> None:
    (path,) = SAMPLE.glob("archived_sessions/*.zst")
    chat = read_file(path)
    assert [event.id for event in of(chat, Called)] == ["call_p1", "call_p2"]
    assert [(event.call, event.exit_status) for event in of(chat, Returned)] == [("call_p2", 1)]


def test_without_zstandard_a_sentence_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parent, child = write(path_of(tmp_path), PARENT), write(path_of(tmp_path, CHILD), LOOKING)
    cold = compressed(parent)
    without_zstandard(monkeypatch)
    with pytest.raises(Unreadable, match=r"install trailbook with its extra 'zstd'\.$"):
        find(cold)
    assert prompts(read_file(child)) == ["look"], "its parent cannot be read, so that it is read by itself"


def test_frames_behind_one_another_are_one_file(tmp_path: Path) -> None:
    path = write(path_of(tmp_path), [meta(), user("go"), answer("a")])
    lines = path.read_bytes().splitlines(keepends=True)
    cold = path.with_name(path.name + ".zst")
    cold.write_bytes(b"".join(zstandard.compress(line) for line in lines))
    path.unlink()
    chat = read_file(cold)
    assert (prompts(chat), answers(chat), reports(chat)) == (["go"], ["a"], {})


def test_what_can_be_had_of_a_cut_or_damaged_compressed_file_is_read(tmp_path: Path) -> None:
    noise = random.Random(5)
    words = [user(f"{number} " + "".join(noise.choices("abcdefgh ", k=3_000))) for number in range(200)]
    cold = compressed(write(path_of(tmp_path), [meta(), *words]))
    data = cold.read_bytes()
    cold.write_bytes(data[: len(data) * 3 // 4])
    chat = read_file(cold)
    assert 0 < len(prompts(chat)) < 200
    assert reports(chat)["cut-file"] == 1
    cold.write_bytes(data[: len(data) // 2] + b"\0" * 5_000)
    assert reports(read_file(cold))["cut-file"] == 1
    cold.write_bytes(data[:4] + b"\xff" * 100)
    with pytest.raises(Unreadable, match=r"has no line that can be read: it is damaged\.$"):
        find(cold)


def test_other_compressed_files_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "backup.zst"
    path.write_bytes(zstandard.compress(b"anything"))
    assert find(path) is None


# --- damage


def test_glued_and_cut_lines_are_read_as_far_as_they_go(tmp_path: Path) -> None:
    lines = [json.dumps(line) for line in stamped([meta(), user("one"), answer("a"), user("two"), answer("b")])]
    path = path_of(tmp_path)
    path.parent.mkdir(parents=True)
    text = f"\ufeff{lines[0]}\r\n{lines[1]}{lines[2]}\n{lines[3]}\n{lines[4]}\n" + lines[4][:60]
    path.write_bytes(text.encode())
    chat = read_file(path)
    assert (prompts(chat), answers(chat)) == (["one", "two"], ["a", "b"])
    assert reports(chat) == {"byte-order-mark": 1, "crlf": 1, "glued-line": 1, "damaged-line": 1}


def test_a_file_of_nothing_but_its_first_line_is_an_error(tmp_path: Path) -> None:
    path = write(path_of(tmp_path), [meta()])
    with pytest.raises(Unreadable, match=r"holds nothing that was asked or done\.$"):
        codex.read(found_in(path), UTC)


def test_times_that_are_none_are_left_out(tmp_path: Path) -> None:
    log = [
        {**line, "timestamp": time} for line, time in zip([user("go"), answer("a")], [None, "yesterday"], strict=True)
    ]
    chat = read_file(write(path_of(tmp_path), [{**meta(), "timestamp": 7}, *log]))
    assert ([event.at for event in chat.events], chat.started, chat.ended) == ([None, None], None, None)


@pytest.mark.parametrize("day", ["2026-10-08", "9999-12-31", "2026-13-45"])
def test_days_that_are_far_off_or_none_raise_nothing(tmp_path: Path, day: str) -> None:
    log = [{**line, "timestamp": "9999-12-31T23:59:59.999Z"} for line in (meta(), user("go"), answer("a"))]
    assert prompts(read_file(write(path_of(tmp_path, THREAD, day), log))) == ["go"]


def test_reading_leaves_a_store_as_it_was(tmp_path: Path) -> None:
    store = tmp_path / "store"
    shutil.copytree(SAMPLE, store)
    before = {
        path: (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"") for path in store.rglob("*")
    }
    for path in store.rglob("rollout-*"):
        for found in _chats(find(path)):
            codex.read(found, UTC)
            codex.count(found, keep_nothing)
    after = {path: (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"") for path in store.rglob("*")}
    assert after == before


def test_a_large_store_is_found_in_little_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [
        write(path_of(tmp_path, f"0199d100-0000-7000-8000-{n:012x}"), [meta(f"t{n}"), user("go")]) for n in range(60)
    ]
    opened: list[Path] = []
    real = Path.open

    def count(path: Path, *more: Any, **options: Any) -> Any:
        opened.append(path)
        return real(path, *more, **options)

    monkeypatch.setattr(Path, "open", count)
    for path in paths:
        find(path)
    assert len(opened) < 6 * len(paths), "each file a few times, however many lie beside it"


# --- any log

_LINES: list[Any] = [
    user("one"),
    event("user_message", message="one"),
    answer("a"),
    event("agent_message", message="a"),
    call("c1"),
    call("c2"),
    output("c1", "Process exited with code 1\nOutput:\nx"),
    output("c2"),
    event("exec_command_end", call_id="c2", exit_code=0),
    event("patch_apply_end", call_id="p9", success=True, stdout="ok", changes={"/a": {"type": "add", "content": "x"}}),
    item("reasoning", summary=[{"text": "hm"}]),
    event("agent_reasoning", text="hm"),
    item("web_search_call", status="completed", action={"query": "q"}),
    event("web_search_end", call_id="w1", query="q"),
    turn_item("AgentMessage", content=[{"type": "Text", "text": "b"}]),
    begin("t1"),
    end("t1"),
    event("turn_aborted", turn_id="t1"),
    event("thread_rolled_back", num_turns=1),
    event("error", message="no"),
    {"type": "compacted", "payload": {"message": "so far"}},
    {"type": "turn_context", "payload": {"model": "model-x"}},
    {"type": "token_usage_record", "payload": {"response_id": "r1", "usage": {"input_tokens": 3}}},
    tokens(10, 1),
    tokens(30, 2),
    tokens(5, 1),
    meta(),
    meta(CHILD),
]
_ANY_LINES = st.lists(st.integers(0, len(_LINES) - 1), min_size=1, max_size=14)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_ANY_LINES)
def test_any_lines_in_any_order_are_counted_as_they_are_read(tmp_path: Path, order: list[int]) -> None:
    lines = [
        {**line, "timestamp": "2026-10-08T09:30:00Z"} if number % 3 else line
        for number, line in enumerate(_LINES[index] for index in order)
    ]
    read_file(write(path_of(tmp_path), [meta(), user("go"), *lines]))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 52), st.integers(0, 10_000))
def test_a_cut_line_costs_itself_alone(tmp_path: Path, number: int, at: int) -> None:
    (path,) = SAMPLE.glob("sessions/2026/10/12/*0001.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    cut = lines[number][: 1 + at % (len(lines[number]) - 2)] + b"\n"
    target = tmp_path / path.name
    target.write_bytes(b"".join([*lines[:number], cut, *lines[number + 1 :]]))
    chat, whole = codex.read(found_in(target), UTC), codex.read(found_in(path), UTC)
    assert reports(chat)["damaged-line"] == 1
    kept = {(event.place.number, type(event)) for event in chat.events if event.place}
    wanted = {
        (event.place.number, type(event))
        for event in whole.events
        if isinstance(event, (Asked, Said, Called, Returned)) and event.place and event.place.number != number + 1
    }
    assert wanted <= kept


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 52), st.randoms(use_true_random=False))
def test_doubled_lines_cost_none_and_shuffled_ones_raise_nothing(tmp_path: Path, number: int, order: Any) -> None:
    (path,) = SAMPLE.glob("sessions/2026/10/12/*0001.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    whole = codex.read(found_in(path), UTC)
    target = tmp_path / path.name
    target.write_bytes(b"".join([*lines[:number], lines[number], *lines[number:]]))
    again = read_file(target)
    assert Counter(map(said, whole.events)) <= Counter(map(said, again.events))
    order.shuffle(lines)
    target.write_bytes(b"".join(lines))
    found = find(target)
    for chat in found if isinstance(found, list) else []:
        codex.count(chat, keep_nothing)
        codex.read(chat, UTC)


def said(event_: Any) -> tuple[str, str]:
    """What an event says, wherever it stands."""
    words = event_.text if isinstance(event_, (Asked, Said)) else ""
    return type(event_).__name__, words + (event_.name if isinstance(event_, Called) else "")


_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 10**18), st.floats(allow_nan=False), st.text(max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["type", "text", "id", "content", "call_id", "path", "Ok"]), inner, max_size=3),
    ),
    max_leaves=4,
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, len(_LINES) - 1), st.data())
def test_a_value_of_any_type_in_any_field_raises_nothing(tmp_path: Path, index: int, data: st.DataObject) -> None:
    line = json.loads(json.dumps(_LINES[index]))
    payload = line["payload"]
    key = data.draw(st.sampled_from(sorted(payload)))
    payload[key] = data.draw(_VALUES)
    read_file(write(path_of(tmp_path), [meta(), user("go"), line, call("c1"), line, output("c1")]))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["id", "source", "forked_from_id", "parent_thread_id", "git", "dynamic_tools", "timestamp"]),
    _VALUES,
)
def test_any_value_in_a_first_line_raises_nothing(tmp_path: Path, key: str, value: Any) -> None:
    path = write(path_of(tmp_path), [meta(**{key: value}), user("go"), answer("a")])
    chat = read_file(path)
    assert (usage_of(chat), len(chat.events)) == (None, 2)
