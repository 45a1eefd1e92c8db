"""Claude Code's files: what lies beside a session, what was copied from another, what is damaged, what is listed."""

from __future__ import annotations

import base64
import json
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from claude_code_logs import (
    GIF,
    SAMPLE,
    SESSION,
    START,
    Log,
    assert_counted_alike,
    call,
    chained,
    find,
    found_in,
    model,
    of,
    picture,
    prompts,
    queued,
    read,
    read_file,
    record,
    reports,
    result,
    text,
    user,
    write,
)
from trailbook.chat import (
    Asked,
    Called,
    Returned,
    Said,
    text_of,
)
from trailbook.ledger import keep_nothing
from trailbook.readers import Passed, Unreadable, claude_code
from trailbook.stores import survey
from trailbook.timeline import make_timeline

# --- long outputs


def persisted(path: str) -> str:
    beginning = "Output too large (41KB). Full output saved to: "
    return f"<persisted-output>\n{beginning}{path}\n\nPreview:\nab\n</persisted-output>"


def long_output(folder: Path, saved: str, prepare: Any = None) -> tuple[str, dict[str, int]]:
    """What a result shows whose output was moved to `saved`, and what was reported."""
    log = [user("go"), model(call()), result("t1", persisted(saved))]
    write(folder / "s.jsonl", log)
    (folder / "s" / "tool-results").mkdir(parents=True)
    if prepare is not None:
        prepare(folder / "s" / "tool-results")
    chat = read(folder, *log)
    return text_of(of(chat, Returned)[0].parts), reports(chat)


@pytest.mark.parametrize(
    "saved", ["/home/a/.claude/projects/p/s/tool-results/t1.txt", "C:\\u\\s\\tool-results\\t1.txt"]
)
def test_a_long_output_is_read_from_the_chat_s_own_folder(tmp_path: Path, saved: str) -> None:
    shown, reported = long_output(tmp_path, saved, lambda folder: (folder / "t1.txt").write_text("abc\n" * 9))
    assert (shown, reported) == ("abc\n" * 9, {})


def test_a_long_output_that_is_not_there_keeps_its_beginning(tmp_path: Path) -> None:
    shown, reported = long_output(tmp_path, "/elsewhere/t1.txt")
    assert "Preview:\nab" in shown
    assert reported == {"missing-output": 1}


def test_no_path_in_a_log_leads_out_of_its_folder(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("not yours")
    for number, saved in enumerate(
        [str(secret), "../../secret.txt", f"s/tool-results/../../{secret.name}", "/etc/hostname"]
    ):
        shown, reported = long_output(tmp_path / str(number), saved)
        assert "not yours" not in shown
        assert reported == {"missing-output": 1}


def test_no_link_in_a_chat_s_folder_is_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("not yours")
    shown, reported = long_output(tmp_path / "a", "t1.txt", lambda folder: (folder / "t1.txt").symlink_to(secret))
    assert ("not yours" in shown, reported) == (False, {"missing-output": 1})
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "t1.txt").write_text("not yours")
    (tmp_path / "b" / "s").mkdir(parents=True)
    (tmp_path / "b" / "s" / "tool-results").symlink_to(tmp_path / "kept")
    log = [user("go"), model(call()), result("t1", persisted("t1.txt"))]
    assert "not yours" not in text_of(of(read(tmp_path / "b", *log), Returned)[0].parts)
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "s").symlink_to(tmp_path / "b" / "s", target_is_directory=True)
    assert len(found_in(write(tmp_path / "c" / "s.jsonl", log)).inputs) == 1


# --- copies


def test_a_record_that_was_written_four_times_is_read_once(tmp_path: Path) -> None:
    chat = read(tmp_path, *[user("once only", uuid="u1", parentUuid=None)] * 4, model(text("ok")))
    assert prompts(chat) == ["once only"]
    assert reports(chat) == {"repeated-record": 3}


def test_two_records_with_one_id_are_both_read(tmp_path: Path) -> None:
    chat = read(tmp_path, user("one", uuid="x"), user("other", uuid="x"))
    assert prompts(chat) == ["one", "other"]
    assert len({event.id for event in of(chat, Asked)}) == 2
    assert reports(chat) == {"reused-id": 1}


def test_a_call_that_was_logged_twice_under_two_ids_is_one_call(tmp_path: Path) -> None:
    chat = read(tmp_path, user("go"), model(call(command="ls")), model(call(command="ls")), result("t1", "a"))
    assert len(of(chat, Called)) == 1
    assert reports(chat) == {"repeated-call": 1}


def test_a_fork_names_its_parent_and_counts_only_its_own(tmp_path: Path) -> None:
    origin = {"sessionId": "older", "messageUuid": "q1"}
    chat = read(
        tmp_path,
        user("start", forkedFrom=origin),
        model(text("ready"), forkedFrom=origin),
        user("another way"),
        model(text("so"), key="msg_2"),
    )
    assert (chat.parent, chat.forked) == ("older", True)
    assert [event.inherited for event in chat.events] == [True, True, False, False]
    usage = make_timeline(chat).totals.usage
    assert usage is not None
    assert usage.output_tokens == 2
    assert chat.started == START + 183_000 - 180_000


def test_a_resumed_copy_is_counted_where_it_was_first(tmp_path: Path) -> None:
    old = chained([user("start"), model(text("ready"))])
    new = [
        *({**line, "sessionId": "b"} for line in old),
        *chained([user("x")] * 2 + [user("go on"), model(text("so"), key="m2")])[2:],
    ]
    first, second = write(tmp_path / "a.jsonl", old, chain=False), write(tmp_path / "b.jsonl", new, chain=False)
    chat = read_file(second)
    assert (chat.parent, chat.forked) == ("a", False)
    assert [event.inherited for event in chat.events] == [True, True, False, False]
    assert_counted_alike(chat, claude_code.count(found_in(second), keep_nothing))
    assert found_in(second).inputs == (second, first)
    assert found_in(first).inputs == (first,)
    assert [event.inherited for event in read_file(first).events] == [False, False]


def test_logs_that_share_ids_by_chance_are_no_copies(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", [user("one"), model(text("x"))])
    other = write(tmp_path / "b.jsonl", [user("two"), model(text("x"))])
    assert [event.inherited for event in read_file(other).events] == [False, False]


# --- subagents


def side(agent: str, *records: dict[str, Any]) -> Log:
    return [{**line, "isSidechain": True, "agentId": agent} for line in records]


def test_inline_sidechains_are_the_subagents_of_the_oldest_versions(tmp_path: Path) -> None:
    task = call("toolu_t1", "Task", description="scan", prompt="scan it")
    chat = read(
        tmp_path,
        user("audit"),
        model(task),
        user("scan it", isSidechain=True, uuid="s1", parentUuid=None, timestamp="2026-05-01T10:00:03Z"),
        model(
            call("g1", "Grep"),
            key="msg_s",
            isSidechain=True,
            uuid="s2",
            parentUuid="s1",
            timestamp="2026-05-01T10:00:03Z",
        ),
        result(
            "g1", "hit-in-sidechain", isSidechain=True, uuid="s3", parentUuid="s2", timestamp="2026-05-01T10:00:03Z"
        ),
        result("toolu_t1", [text("found 1")], parentUuid="u2"),
    )
    assert prompts(chat) == ["audit"]
    (subagent,) = chat.subagents
    assert (subagent.started_by, subagent.title) == ("toolu_t1", "scan")
    assert prompts(subagent) == ["scan it"]
    assert [text_of(event.parts) for event in of(subagent, Returned)] == ["hit-in-sidechain"]


def test_two_inline_subagents_are_told_apart_by_their_prompts(tmp_path: Path) -> None:
    tasks = model(call("a", "Task", prompt="first"), call("b", "Task", prompt="second"))
    chains = [user(words, isSidechain=True, uuid=f"{words}1", parentUuid=None) for words in ("second", "first")] + [
        model(text(f"{words} done"), isSidechain=True, parentUuid=f"{words}1", key=words)
        for words in ("first", "second")
    ]
    chat = read(tmp_path, user("go"), tasks, *chains)
    assert {subagent.started_by: prompts(subagent)[0] for subagent in chat.subagents} == {"a": "first", "b": "second"}
    assert [len(subagent.events) for subagent in chat.subagents] == [2, 2]


def folder_with_agents(folder: Path, agents: dict[str, Log], about: dict[str, Any], log: Log | None = None) -> Path:
    starts = model(call("t1", "Agent", prompt="p1"), call("t2", "Agent", prompt="p2"))
    path = write(folder / "s.jsonl", log or [user("go"), starts, result("t1", "a", {"agentId": "one"})])
    for name, records in agents.items():
        write(folder / "s" / "subagents" / name, records)
    for name, facts in about.items():
        target = folder / "s" / "subagents" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(facts))
    return path


def test_which_call_started_which_subagent(tmp_path: Path) -> None:
    agents = {
        "agent-one.jsonl": side(
            "one", user("x", uuid="a1"), model(call("n1", "Agent", prompt="deeper"), key="m1", uuid="a2")
        ),
        "agent-two.jsonl": side("two", user("y", uuid="b1")),
        "workflows/run_1/agent-three.jsonl": side("three", user("deeper", uuid="c1")),
        "agent-four.jsonl": side("four", user("nobody asked", uuid="d1")),
    }
    path = folder_with_agents(tmp_path, agents, {"agent-two.meta.json": {"toolUseId": "t2", "agentType": "Explore"}})
    chat = read_file(path)
    assert_counted_alike(chat, claude_code.count(found_in(path), keep_nothing))
    assert {subagent.id: subagent.started_by for subagent in chat.subagents} == {"one": "t1", "two": "t2", "four": None}
    (one,) = [subagent for subagent in chat.subagents if subagent.id == "one"]
    assert [(subagent.id, subagent.started_by) for subagent in one.subagents] == [("three", "n1")]
    (four,) = [subagent for subagent in chat.subagents if subagent.id == "four"]
    assert reports(four) == {"unjoined-subagent": 1}


def test_subagents_that_name_each_other_as_their_start_are_the_session_s(tmp_path: Path) -> None:
    agents = {
        "agent-one.jsonl": side("one", user("x", uuid="a1"), model(call("n1", "Agent"), key="m1", uuid="a2")),
        "agent-two.jsonl": side("two", user("y", uuid="b1"), model(call("n2", "Agent"), key="m2", uuid="b2")),
    }
    about = {"agent-one.meta.json": {"toolUseId": "n2"}, "agent-two.meta.json": {"toolUseId": "n1"}}
    path = folder_with_agents(tmp_path, agents, about, [user("go"), model(text("hm"))])
    chat = read_file(path)
    ids = [subagent.id for subagent in chat.subagents] + [deep.id for top in chat.subagents for deep in top.subagents]
    assert sorted(ids) == ["one", "two"]
    assert_counted_alike(chat, claude_code.count(found_in(path), keep_nothing))


def test_a_subagent_that_was_given_the_chat_counts_only_its_own(tmp_path: Path) -> None:
    log = chained([user("go"), model(text("hm"), key="msg_1")])
    agent = side("one", *log, user("now you", uuid="a1"), model(text("own"), key="msg_2", uuid="a2"))
    path = folder_with_agents(tmp_path, {"agent-one.jsonl": agent}, {}, log)
    chat = read_file(path)
    assert [event.inherited for event in chat.subagents[0].events] == [True, True, False, False]
    assert_counted_alike(chat, claude_code.count(found_in(path), keep_nothing))


def test_a_subagent_whose_log_is_gone_is_reported(tmp_path: Path) -> None:
    chat = read(tmp_path, user("go"), model(call("t1", "Agent")), result("t1", "a", {"agentId": "gone"}))
    assert chat.subagents == []
    assert reports(chat) == {"missing-subagent": 1}


def test_subagents_files_beside_the_session_are_read_with_it(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [user("go"), model(call("t1", "Task", prompt="look"))])
    agent = write(tmp_path / "agent-9f.jsonl", side("9f", user("look", uuid="a1"), model(text("seen"), uuid="a2")))
    other = write(
        tmp_path / "agent-77.jsonl", [{**line, "sessionId": "else"} for line in side("77", user("x", uuid="b1"))]
    )
    assert found_in(path).inputs == (path, agent)
    assert [(subagent.id, subagent.started_by) for subagent in read_file(path).subagents] == [("9f", "t1")]
    assert find(agent) == Passed("a subagent of a session, read with it", path)
    alone = found_in(other)
    assert (alone.id, alone.origin) == ("agent-77", "subagent")
    chat = claude_code.read(alone, UTC)
    assert (chat.parent, chat.origin.kind, prompts(chat), chat.reopen) == ("else", "subagent", ["x"], [])


# --- damage


def test_glued_cut_and_marked_lines(tmp_path: Path) -> None:
    lines = [
        json.dumps(line).encode()
        for line in chained([user("q1"), model(text("a1")), user("q2"), model(text("a2"), key="m2")])
    ]
    path = tmp_path / "s.jsonl"
    path.write_bytes(
        b"\xef\xbb\xbf"
        + lines[0]
        + b"\r\n"
        + lines[1]
        + lines[2]
        + b"\n"
        + lines[3]
        + b'\n{"type":"user","uuid":"zz","mess'
    )
    chat = read_file(path)
    assert prompts(chat) == ["q1", "q2"]
    assert [event.text for event in of(chat, Said)] == ["a1", "a2"]
    assert reports(chat) == {"byte-order-mark": 1, "crlf": 1, "glued-line": 1, "damaged-line": 1}


def test_half_surrogates_and_control_bytes_lose_nothing_around_them(tmp_path: Path) -> None:
    chat = read(tmp_path, user("go"), model(call("t1"), call("t2")), result("t1", "A\0B\aC\x1b]0;t\aD"))
    assert text_of(of(chat, Returned)[0].parts) == "A\0B\aC\x1b]0;t\aD"
    line = json.dumps(chained([result("t1", "ok X cut Y end")])[0]).replace("X", "\\ud83d").replace("Y", "\\udcb2")
    path = write(tmp_path / "b" / "s.jsonl", [user("go", uuid="z"), model(call("t1"), uuid="y")])
    path.write_text(path.read_text() + line + "\n")
    chat = read_file(path)
    assert text_of(of(chat, Returned)[0].parts) == "ok \ufffd cut \ufffd end"
    assert reports(chat) == {"lone-surrogate": 1}


def test_lines_that_hold_no_record_are_reported(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [user("go")])
    path.write_text('["a"]\n5\nnot json\n' + path.read_text())
    chat = read_file(path)
    assert prompts(chat) == ["go"]
    assert reports(chat) == {"no-record": 2, "damaged-line": 1}


def test_ids_and_long_numbers_stay_as_they_are(tmp_path: Path) -> None:
    session = "7c311c86-7836-4f47-bffc-aa8c3cbf261e"
    big = 12345678901234567890123
    path = write(
        tmp_path / f"{session}.jsonl",
        [user("go", sessionId=session), model(call("toolu_fc-abc", n=big), sessionId=session)],
    )
    chat = read_file(path)
    assert (chat.id, chat.reopen) == (session, ["claude", "--resume", session])
    assert [(event.id, event.arguments) for event in of(chat, Called)] == [("toolu_fc-abc", {"n": big})]


def test_times_without_a_zone_are_read_in_the_person_s_and_reported(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [user("go", timestamp="2026-10-18T09:00:03.000"), user("on", timestamp="soon")])
    chat = claude_code.read(found_in(path), timezone(timedelta(hours=2)))
    assert [event.at for event in chat.events] == [START + 3_000 - 7_200_000, None]
    assert chat.naive_times is True
    assert reports(chat) == {"bad-time": 1, "no-zone": 1}


EVERYTHING: Log = [
    user("go"),
    model({"type": "thinking", "thinking": "t", "signature": "s"}, {"type": "redacted_thinking", "data": "d"}),
    model(text("a"), call("t1", "Agent", prompt="look"), stop="tool_use", requestId="r", costUSD=0.5),
    result(
        "t1",
        [text("out"), picture()],
        {"agentId": "x", "filePath": "/a", "structuredPatch": [{"oldStart": 1, "lines": ["-a"]}]},
        error=True,
    ),
    user([text("see"), picture(), {"type": "document", "source": {"data": "d"}}], uuid="p1", parentUuid="u1"),
    user("other way", uuid="p2", parentUuid="u1", forkedFrom={"sessionId": "old"}),
    user("look", isSidechain=True, agentId="x"),
    record("queue-operation", operation="enqueue", content="later"),
    queued([text("later")], commandMode="prompt", origin={"kind": "human"}, source_uuid="zz"),
    user("<command-name>/x</command-name><command-args>y</command-args>"),
    record("system", subtype="local_command", content="<local-command-stdout>o</local-command-stdout>"),
    record("system", subtype="compact_boundary", logicalParentUuid="u1", compactMetadata={"preTokens": 1}),
    user("sum", isCompactSummary=True, isMeta=False, origin={"kind": "human"}),
    record("attachment", attachment={"type": "file", "filename": "a", "content": {"file": {"content": "c"}}}),
    record("attachment", attachment={"type": "hook_additional_context", "content": ["c"]}),
    model(text("API Error"), isApiErrorMessage=True, error="e"),
    record("system", subtype="turn_duration", durationMs=1),
    record("summary", summary="s", leafUuid="u1"),
    record("custom-title", customTitle="c"),
    record("pr-link", prUrl="p"),
]

WRONG: list[Any] = [
    *(None, True, -1, 1.5, 10**30, "x", [None, 5, "x", {}], {}, {"type": "text", "text": 5}),
    *("<system-reminder>r</system-reminder>", "[Request interrupted by user]", "tool_result", "image"),
]


ENVELOPE = {("uuid",), ("parentUuid",), ("timestamp",), ("type",), ("sessionId",)}
"""What every record has; it is enough to bend it in the first ones."""


def keys_in(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from keys_in(value[key], (*path, key))


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_a_wrong_value_in_any_field_is_survived_and_counted_alike(tmp_path: Path, wrong: Any) -> None:
    log = chained(EVERYTHING)
    found = found_in(write(tmp_path / "s.jsonl", log, chain=False))
    for number, line in enumerate(log):
        for path in keys_in(line):
            if number > 5 and path[:1] in ENVELOPE:
                continue
            bent = [*log[:number], replaced(line, path, wrong), *log[number + 1 :]]
            write(found.path, bent, chain=False)
            assert not isinstance(find(found.path), Passed)
            assert_counted_alike(claude_code.read(found, UTC), claude_code.count(found, keep_nothing))


# --- what is listed


def test_what_a_list_says_of_a_session() -> None:
    found = found_in(SAMPLE / f"{SESSION}.jsonl")
    assert (found.reader, found.id, found.title, found.origin) == ("claude_code", SESSION, "Fix price rounding", "chat")
    assert (found.started, found.updated, found.cwd) == (1791795602014, 1791795605035, "/home/user/orchard")
    assert [path.name for path in found.inputs[1:]] == [
        "agent-a1b2c3d.jsonl",
        "agent-a1b2c3d.meta.json",
        "toolu_01G.txt",
    ]
    assert found.size == sum(path.stat().st_size for path in found.inputs)


def test_sidecars_belong_to_their_session() -> None:
    session = SAMPLE / f"{SESSION}.jsonl"
    table = {
        "subagents/agent-a1b2c3d.jsonl": "a subagent of a session, read with it",
        "subagents/agent-a1b2c3d.meta.json": "it describes a subagent",
        "tool-results/toolu_01G.txt": "a long output of a session, read with it",
    }
    for name, why in table.items():
        assert find(SAMPLE / SESSION / name) == Passed(why, session)


def test_a_workflow_s_journal_is_no_transcript(tmp_path: Path) -> None:
    session = write(tmp_path / "s.jsonl", [user("go")])
    journal = tmp_path / "s" / "subagents" / "workflows" / "run_1" / "journal.jsonl"
    assert find(write(journal, [{"event": "start"}])) == Passed("a journal of a workflow, no transcript", session)


@pytest.mark.parametrize(
    "line",
    [
        {"type": "message", "id": "1", "message": {"role": "user", "content": "x"}},
        {"type": "user", "message": {"role": "user", "content": "x"}, "session_id": "s"},
        {"type": "response_item", "payload": {"type": "message", "role": "user"}},
        {"type": "user.message", "conversationId": "c", "text": "x"},
        {"role": "user", "content": "x"},
        {"type": ["user"], "uuid": "u", "message": {"role": ["user"]}},
        {**user("x", uuid="u"), "version": "hermes-agent"},
    ],
)
def test_other_agents_logs_are_left_to_their_readers(tmp_path: Path, line: dict[str, Any]) -> None:
    assert find(write(tmp_path / "x.jsonl", [line], chain=False)) is None


def test_a_file_of_titles_holds_no_chat(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", [{"type": "summary", "summary": "s", "leafUuid": "u"}], chain=False)
    assert find(path) == Passed("it holds titles and settings, and no messages")


def test_a_first_prompt_larger_than_a_head_is_found(tmp_path: Path) -> None:
    big = [text("see"), picture(base64.b64encode(GIF + bytes(90_000)).decode())]
    found = found_in(write(tmp_path / "s.jsonl", [user(big, cwd="/srv"), model(text("ok"))]))
    assert (found.title, found.cwd, found.started) == ("see", "/srv", START + 1_000)
    assert of(claude_code.read(found, UTC), Asked)[0].parts[0].size == len(GIF) + 90_000


def test_a_session_that_vanished_or_holds_nothing_says_so(tmp_path: Path) -> None:
    found = found_in(write(tmp_path / "s.jsonl", [user("go")]))
    found.path.write_text('{"type":"mode","mode":"plan"}\n')
    with pytest.raises(Unreadable, match=r"s\.jsonl holds no messages"):
        claude_code.read(found, UTC)
    found.path.unlink()
    with pytest.raises(FileNotFoundError):
        claude_code.read(found, UTC)


def test_the_fingerprint_covers_every_input(tmp_path: Path) -> None:
    shutil.copytree(SAMPLE, tmp_path / "p")
    path = tmp_path / "p" / f"{SESSION}.jsonl"
    prints = {found_in(path).fingerprint}
    for file in found_in(path).inputs:
        os.utime(file, ns=(1, 1))
        prints.add(found_in(path).fingerprint)
    assert len(prints) == 5


def test_where_the_logs_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "own"))
    (tmp_path / ".claude.json").write_text(
        '{"oauthAccount": {"displayName": "Sam Pear", "emailAddress": "sam@example.org"}}'
    )
    assert claude_code.PLACES.logs() == [
        tmp_path / "own" / "projects",
        tmp_path / ".claude" / "projects",
        tmp_path / ".config" / "claude" / "projects",
    ]
    assert claude_code.PLACES.stores() == [path.parent for path in claude_code.PLACES.logs()]
    assert claude_code.PLACES.names().names == ("Sam Pear", "sam@example.org")
    (tmp_path / ".claude.json").write_text('{"oauthAccount": 5')
    assert claude_code.PLACES.names().names == ()


def test_files_that_a_person_named_alike_are_chats_of_their_own(tmp_path: Path) -> None:
    for folder, words in (("one", "first"), ("two", "second"), ("copy of one", "first")):
        write(tmp_path / folder / "input.jsonl", [user(words), model(text("Done"))])
    found = survey([tmp_path])
    assert len(found.chats) == 2
    assert [(skipped.path.parent.name, skipped.verdict) for skipped in found.skipped] == [("one", "copy")]
    named = write(tmp_path / f"{SESSION}.jsonl", [user("third"), model(text("Done"))])
    assert found_in(named).id == SESSION
