"""gptme's files: what makes up a chat, what was taken back or shortened, times, attachments, damage, what is listed."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import random
import shutil
from datetime import UTC, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import EXAMPLES
from gptme_logs import (
    DATA,
    START,
    answered,
    assert_counted_alike,
    find,
    found_in,
    model,
    of,
    read,
    read_file,
    reports,
    result,
    stamped,
    system,
    user,
    write,
    write_lines,
)
from trailbook.chat import Asked, Called, Compacted, File, Image, Noted, Returned, Said
from trailbook.ledger import keep_nothing
from trailbook.readers import Passed, Unreadable, gptme
from trailbook.stores import survey
from trailbook.timeline import make_timeline

TOOL = DATA / "2026-10-12-tool-rich" / "conversation.jsonl"
GIF = base64.b64decode("R0lGODlhAQABAAAAACw=")
EPOCH = 1_791_795_600_000
"""2026-10-12T09:00:00Z."""
RAN = system("Ran command: `ls`")
SHELL = "```shell\nls\n```"

# --- logs that were shortened, branches, what only the record of events has


def test_the_whole_log_is_read_where_one_was_shortened(tmp_path: Path) -> None:
    whole = stamped(
        system("You are gptme."),
        user("first"),
        model('@shell(c1): {"command": "ls"}'),
        result("c1", "long " * 50),
        user("second"),
        model("done"),
    )
    shortened = {**whole[3], "content": "[Large tool output removed - 50 tokens]"}
    summary = system("# Conversation Summary\nfirst was asked", timestamp="2026-10-12T09:05:00")
    later = user("only there", timestamp="2026-10-12T09:06:00")
    log = write_lines(tmp_path / "c" / "conversation.jsonl", [whole[0], summary, shortened, *whole[4:], later])
    write_lines(tmp_path / "c" / "lossless.jsonl", whole)
    chat = read_file(log)
    assert [event.text for event in of(chat, Asked)] == ["first", "second", "only there"]
    assert [event.parts[0].text for event in of(chat, Returned)] == ["long " * 50]
    assert [(event.summary, event.trigger) for event in of(chat, Compacted)] == [(summary["content"], "manual")]
    assert [(type(event), event.place.file) for event in chat.events[-3:]] == [
        (Said, "lossless.jsonl"),
        (Compacted, "conversation.jsonl"),
        (Asked, "conversation.jsonl"),
    ]
    assert find(log.with_name("lossless.jsonl")) == Passed("a part of a chat, read with it", log)


def test_what_was_taken_back_is_a_branch_each_message_once(tmp_path: Path) -> None:
    tokens = {"usage": {"input_tokens": 5, "output_tokens": 7}}
    main = stamped(
        system("You are gptme."), user("ask"), model("kept"), user("another way", timestamp="2026-10-12T10:00:00")
    )
    undone = stamped(
        system("You are gptme."), user("ask"), model("kept"), user("take back"), model(SHELL, metadata=tokens), RAN
    )
    log = write_lines(tmp_path / "c" / "conversation.jsonl", main)
    write_lines(tmp_path / "c" / "branches" / "main-undo-0.jsonl", undone)
    write_lines(tmp_path / "c" / "branches" / "main-undo-1.jsonl", undone[:5])
    write_lines(tmp_path / "c" / "branches" / "main-edit-0.jsonl", [main[0], {**main[1], "content": "aks"}, *main[2:]])
    chat = read_file(log)
    assert [(type(event), event.branch) for event in chat.events] == [
        (Asked, "main-edit-0"),
        (Asked, None),
        (Said, None),
        (Asked, "main-undo-0"),
        (Called, "main-undo-0"),
        (Returned, "main-undo-0"),
        (Asked, None),
    ]
    assert answered(chat) == [("gptme-branches/main-undo-0-5-1", "order", "Ran command: `ls`")]
    branch = chat.branches["main-undo-0"]
    assert branch.left_at is not None
    assert (branch.name, branch.left_at.file, branch.left_at.number) == ("main-undo-0", "conversation.jsonl", 3)
    assert set(chat.branches) == {"main-undo-0", "main-edit-0"}
    usage = make_timeline(chat).totals.usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.output_tokens) == (5, 7)
    passed = find(tmp_path / "c" / "branches" / "main-undo-0.jsonl")
    assert passed == Passed("a branch of a chat, read with it", log)


def test_without_times_a_branch_has_what_it_says_more_often(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "c" / "conversation.jsonl", [user("ok"), model("yes")])
    write_lines(tmp_path / "c" / "branches" / "main-undo-0.jsonl", [user("ok"), model("yes"), user("ok")])
    assert [(event.branch, event.place.number) for event in of(read_file(log), Asked)] == [
        (None, 1),
        ("main-undo-0", 3),
    ]


def appended(number: int, message: dict[str, Any], ts: str) -> dict[str, Any]:
    return {"seq": number, "ts": ts, "type": "message_append", "payload": {"message": message}}


def test_what_only_the_record_of_events_has_is_kept(tmp_path: Path) -> None:
    log = write(tmp_path, user("ask"), model("kept"))
    kept = [json.loads(line) for line in log.read_text().splitlines()]
    lost = stamped(user("/tokens"), user("undone"), model("was said"))
    times = [f"2026-10-12T09:00:0{number}+00:00" for number in range(5)]
    events = [appended(1, kept[0], times[0]), appended(2, kept[1], times[1])]
    events += [appended(3 + number, {**line, "timestamp": times[2][:19]}, times[2]) for number, line in enumerate(lost)]
    write_lines(
        log.with_name("events.jsonl"), [*events, {"seq": 9, "ts": times[4], "type": "undo", "payload": {"n": 2}}]
    )
    chat = read_file(log)
    assert [(event.text, event.branch) for event in chat.events] == [  # type: ignore[union-attr]
        ("ask", None),
        ("kept", None),
        ("/tokens", None),
        ("undone", "events"),
        ("was said", "events"),
    ]
    assert [(event.topic, event.place and event.place.file) for event in of(chat, Noted)] == [
        ("command", "events.jsonl")
    ]
    assert chat.branches["events"].name == "kept in the record of events only"


# --- times


@pytest.mark.parametrize(
    ("zone", "first"),
    [(UTC, EPOCH), (timezone(timedelta(hours=2)), EPOCH - 7_200_000), (ZoneInfo("Asia/Tokyo"), EPOCH - 32_400_000)],
)
def test_times_without_a_zone_are_read_in_the_person_s(tmp_path: Path, zone: Any, first: int) -> None:
    chat = read_file(write(tmp_path, user("ask"), model("done")), zone)
    assert ([event.at for event in chat.events], chat.naive_times) == ([first, first + 1_000], True)
    assert (chat.started, chat.ended) == (first, first + 1_000)


@pytest.mark.parametrize(
    ("events", "zone", "first"),
    [
        # Written at once, at 07:00 UTC: two hours ahead.
        (["2026-10-12T07:00:00.100000+00:00"], UTC, EPOCH - 7_200_000),
        # The assistant's message waited an hour and a half for its tool; the prompt did not.
        (["2026-10-12T08:30:00+00:00", "2026-10-12T07:00:01.5+00:00"], UTC, EPOCH - 7_200_000),
        # Half an hour off the full one.
        (["2026-10-12T03:30:02+00:00"], UTC, EPOCH - 19_800_000),
        # What the person's own zone says too is read in that.
        (["2026-10-12T07:00:00+00:00"], ZoneInfo("Europe/Berlin"), EPOCH - 7_200_000),
    ],
)
def test_the_record_of_events_tells_the_zone(tmp_path: Path, events: list[str], zone: Any, first: int) -> None:
    log = write(tmp_path, user("ask"), model("done"))
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    records = [appended(number, lines[number], ts) for number, ts in enumerate(events)]
    write_lines(log.with_name("events.jsonl"), records)
    chat = read_file(log, zone)
    assert ([event.at for event in chat.events], chat.naive_times) == ([first, first + 1_000], False)


DATE = "## Current Date\n\n**Local date:** 2026-10-12 IST (UTC{})\n\nDate at session start."


@pytest.mark.parametrize(
    ("prompt", "hook", "first"),
    [
        (DATE.format("+05:30"), None, EPOCH - 19_800_000),
        (DATE.format("-03:00"), None, EPOCH + 10_800_000),
        (DATE.format(""), None, EPOCH),
        (
            "<current-date>\n2026-10-12 CEST (UTC+02:00). Date at session start.\n</current-date>",
            None,
            EPOCH - 7_200_000,
        ),
        # A message that gptme stamped with the zone, right after one that it did not.
        ("x", "2026-10-12T09:00:02.5+02:00", EPOCH - 7_200_000),
        ("x", "2026-10-12T07:00:02.5Z", EPOCH - 7_200_000),
        ("A paper of " + DATE.format("+05:30") + "x" * 400, None, None),
        (DATE.format("+23:30"), None, None),
    ],
)
def test_so_do_gptme_s_own_words(tmp_path: Path, prompt: str, hook: str | None, first: int | None) -> None:
    zone = timezone(timedelta(hours=1))
    time = (START - timedelta(seconds=1)).isoformat()
    last = [system("The time is now.", hide=True, timestamp=hook)] if hook else []
    asked = {"timestamp": START.isoformat()}
    log = write(tmp_path, system(prompt, timestamp=time), user("ask", **asked), model("done"), *last)
    chat = read_file(log, zone)
    assert (chat.events[0].at, chat.naive_times) == (first or EPOCH - 3_600_000, first is None)


def test_a_subagent_s_clock_is_its_parent_s() -> None:
    chat = read_file(EXAMPLES / "gptme" / "logs" / "2026-10-14-brave-green-otter" / "conversation.jsonl")
    assert (chat.events[-1].at, chat.naive_times) == (1_791_964_965_100, False)  # 10:02:45.1, two hours ahead
    (subagent,) = chat.subagents
    assert (subagent.events[0].at, subagent.naive_times) == (1_791_964_945_301, False)


def test_a_record_of_events_without_times_of_both_kinds_tells_nothing(tmp_path: Path) -> None:
    log = write(tmp_path, user("ask"), model("done"))
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    write_lines(
        log.with_name("events.jsonl"),
        [
            appended(1, lines[0], "2026-10-12T07:00:00"),
            appended(2, lines[1], "2024-01-01T07:00:00+00:00"),
            {"seq": 3, "ts": 5, "type": "message_append", "payload": []},
        ],
    )
    chat = read_file(log)
    assert ([event.at for event in chat.events][:2], chat.naive_times) == ([EPOCH, EPOCH + 1_000], True)


def test_times_with_a_zone_are_what_they_say(tmp_path: Path) -> None:
    times = ["2026-10-12T09:00:00+02:00", "2026-10-12T09:00:01Z"]
    messages = user("ask", timestamp=times[0]), model("done", timestamp=times[1])
    chat = read(tmp_path, *messages)
    assert ([event.at for event in chat.events], chat.naive_times) == ([EPOCH - 7_200_000, EPOCH + 1_000], False)


def test_events_keep_the_log_s_order_though_clocks_run_backwards(tmp_path: Path) -> None:
    times = ["2026-10-12T09:00:09", "2026-10-12T09:00:01", "2026-10-12T09:00:05"]
    messages = [user(str(number), timestamp=time) for number, time in enumerate(times)]
    chat = read(tmp_path, *messages)
    assert [event.text for event in of(chat, Asked)] == ["0", "1", "2"]
    assert (chat.started, chat.ended) == (EPOCH + 1_000, EPOCH + 9_000)


# --- attachments


def attached(tmp_path: Path, name: str, content: bytes | None, path: str | None = None) -> Any:
    """The attachment of a message, whose copy holds these bytes."""
    path = path or f"/srv/demo/{name}"
    digest = hashlib.sha256(content or b"").hexdigest()[:16]
    log = write(tmp_path, user("see", files=[path], file_hashes={path: digest}))
    if content is not None:
        copies = log.parent / "files"
        copies.mkdir()
        (copies / f"{digest}{Path(name).suffix}").write_bytes(content)
    (part,) = of(read_file(log), Asked)[0].parts
    return part


def test_a_picture_is_read_from_its_copy(tmp_path: Path) -> None:
    part = attached(tmp_path, "shot.gif", GIF)
    assert isinstance(part, Image)
    assert (part.data, part.media_type, part.name, part.reference) == (
        GIF,
        "image/gif",
        "shot.gif",
        "/srv/demo/shot.gif",
    )


def test_a_picture_without_a_copy_is_named(tmp_path: Path) -> None:
    here = tmp_path / "shot.gif"
    here.write_bytes(GIF)
    part = attached(tmp_path, "shot.gif", None, str(here))
    assert isinstance(part, Image)
    assert (part.data, part.name, part.reference) == (None, "shot.gif", str(here))


def test_other_files_are_files(tmp_path: Path) -> None:
    part = attached(tmp_path, "notes.md", b"# x")
    assert isinstance(part, File)
    assert (part.name, part.size, part.reference) == ("notes.md", 3, "/srv/demo/notes.md")


@pytest.mark.parametrize("path", ["https://example.org/a/shot.png?x=1", "C:\\me\\shot.png", "../../shot.png"])
def test_whatever_a_path_is_it_is_only_named(tmp_path: Path, path: str) -> None:
    part = attached(tmp_path, "shot.png", None, path)
    assert isinstance(part, Image)
    assert (part.data, part.name, part.reference) == (None, "shot.png", path)


def test_no_link_among_the_copies_is_followed(tmp_path: Path) -> None:
    log = write(tmp_path, user("see", files=["/a/x.gif"], file_hashes={"/a/x.gif": "0" * 16}))
    (tmp_path / "secret.gif").write_bytes(GIF)
    (log.parent / "files").mkdir()
    (log.parent / "files" / f"{'0' * 16}.gif").symlink_to(tmp_path / "secret.gif")
    assert of(read_file(log), Asked)[0].parts[0].data is None


# --- subagents


def test_subagents_of_subagents_hang_below_them(tmp_path: Path) -> None:
    def start(agent: str) -> dict[str, Any]:
        return model(f"@ipython(c_{agent}): {{\"code\": \"subagent('{agent}', 'do {agent}')\"}}")

    write_lines(tmp_path / "top" / "conversation.jsonl", stamped(user("go"), start("a"), start("b")))
    parents = {"a": "top", "b": "top", "c": "subagent-a-1111", "loop": "subagent-loop-2222"}
    for agent, parent in parents.items():
        folder = tmp_path / f"subagent-{agent}-{'2222' if agent == 'loop' else '1111'}"
        write_lines(folder / "conversation.jsonl", stamped(user(f"do {agent}"), start("c" if agent == "a" else "z")))
        about = {"agent_id": agent, "prompt": f"do {agent}", "parent_logdir": f"/old/home/logs/{parent}"}
        (folder / "subagent-meta.json").write_text(json.dumps(about))
    chats = survey([tmp_path]).chats
    chat = read_file(tmp_path / "top" / "conversation.jsonl")
    assert [(sub.id, sub.started_by) for sub in chat.subagents] == [
        ("subagent-a-1111", "c_a"),
        ("subagent-b-1111", "c_b"),
    ]
    assert [(sub.id, sub.started_by) for sub in chat.subagents[0].subagents] == [("subagent-c-1111", "c_c")]
    assert {found.id for found in chats} == {chat.id, "subagent-loop-2222"}


def test_a_subagent_without_its_parent_is_a_chat_of_its_own(tmp_path: Path) -> None:
    folder = shutil.copytree(DATA / "subagent-docs-x7k2", tmp_path / "subagent-docs-x7k2")
    found = found_in(folder / "conversation.jsonl")
    assert (found.id, found.origin, found.title) == ("subagent-docs-x7k2", "subagent", "Write docs for a.py")


def test_one_name_in_several_calls_is_told_apart_by_the_prompt(tmp_path: Path) -> None:
    code = ["subagent('a', 'one \\\"x\\\"')", "subagent('a', 'two')"]
    calls = [f'@ipython(c{number}): {{"code": "{text}"}}' for number, text in enumerate(code)]
    write_lines(tmp_path / "top" / "conversation.jsonl", stamped(user("go"), *map(model, calls)))
    for number, prompt in enumerate(['one "x"', "two"]):
        folder = tmp_path / f"subagent-a-000{number}"
        write_lines(folder / "conversation.jsonl", stamped(user(prompt)))
        about = {"agent_id": "a", "prompt": prompt, "parent_logdir": "C:\\logs\\top"}
        (folder / "subagent-meta.json").write_text(json.dumps(about))
    chat = read_file(tmp_path / "top" / "conversation.jsonl")
    assert [subagent.started_by for subagent in chat.subagents] == ["c0", "c1"]


# --- finding


def test_every_file_of_a_store_is_accounted_for(tmp_path: Path) -> None:
    store = shutil.copytree(EXAMPLES / "gptme", tmp_path / "gptme")
    first = store / "logs" / "2026-10-14-brave-green-otter"
    before = {path: path.read_bytes() for path in store.rglob("*") if path.is_file()}
    (first / "views").mkdir()
    shutil.copy(first / "conversation.jsonl", first / "views" / "compacted-001.jsonl")
    (first / "tool-outputs" / "shell").mkdir(parents=True)
    (first / "tool-outputs" / "shell" / "20261014-abc.txt").write_text("long")
    (first / "model_selection_trace.json").write_text("{}")
    empty = write_lines(store / "logs" / "2026-10-16-new" / "conversation.jsonl", stamped(system("You are gptme.")))
    found = survey([store])
    assert [chat.id for chat in found.chats] == ["2026-10-15-quiet-red-fox", "2026-10-14-brave-green-otter"]
    assert [(item.path.name, item.why) for item in found.skipped] == [
        ("model_selection_trace.json", "it tells why gptme chose a model, no chat"),
        ("20261014-abc.txt", "a long output of a tool, kept beside a chat"),
        ("compacted-001.jsonl", "a shortened view of a chat that has its whole log"),
        (empty.name, "it has gptme's own prompt in it, and no messages"),
    ]
    for chat in found.chats:
        gptme.count(chat, keep_nothing)
        gptme.read(chat, UTC)
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize(
    "line",
    [
        {"role": "user", "content": "x"},
        {"messages": [{"role": "user", "content": "x"}]},
        {"type": "user", "timestamp": "2026-10-12T09:00:00", "role": "user", "content": "x"},
        {"role": "user", "content": [{"type": "text", "text": "x"}], "timestamp": "2026-10-12T09:00:00"},
        {"role": "tool", "content": "x", "timestamp": "2026-10-12T09:00:00"},
        {"role": "meta", "source": "x", "timestamp": "2026-10-12T09:00:00Z"},
        {"role": "user", "content": "x", "timestamp": 5},
        ["role", "user"],
    ],
)
def test_other_logs_are_left_to_their_readers(tmp_path: Path, line: Any) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(line) + "\n")
    assert find(path) is None


@pytest.mark.parametrize("folder", sorted(path for path in EXAMPLES.iterdir() if path.name != "gptme"))
def test_no_other_agent_s_example_is_claimed(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            assert find(path) is None, path


def test_files_that_lie_about_without_a_log_are_other_files(tmp_path: Path) -> None:
    for name in ("config.toml", "events.jsonl", "branches/a.jsonl", "files/0123456789abcdef.png"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
        assert find(path) is None


def test_a_log_under_another_name_is_a_chat(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "saved.jsonl", stamped(user("go"), model("done")))
    found = found_in(path)
    assert (found.id[:6], found.title, found.inputs) == ("saved-", "go", (path,))
    assert gptme.read(found, UTC).reopen == []


def test_two_chats_of_one_name_in_two_stores_are_two(tmp_path: Path) -> None:
    logs = [
        write_lines(tmp_path / str(number) / "mine" / "conversation.jsonl", stamped(user(f"go {number}"), model("x")))
        for number in range(2)
    ]
    shutil.copytree(tmp_path / "0", tmp_path / "copy")
    ids = [found_in(log).id for log in [*logs, tmp_path / "copy" / "mine" / "conversation.jsonl"]]
    assert [name[:5] for name in ids] == ["mine-"] * 3
    assert ids[0] == ids[2] != ids[1]


def test_what_a_list_says_of_a_chat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    found = found_in(EXAMPLES / "gptme" / "logs" / "2026-10-14-brave-green-otter" / "conversation.jsonl")
    assert (found.title, found.cwd, found.origin) == ("September totals", "/home/sam/orchard", "chat")
    assert (found.started, found.updated) == (1_791_964_931_104, 1_791_964_965_100)
    assert sorted(path.name for path in found.inputs) == [
        "2ae7f3fb688eb35b.png",
        "config.toml",
        "config.toml",
        "conversation.jsonl",
        "conversation.jsonl",
        "events.jsonl",
        "main-undo-0.jsonl",
        "subagent-meta.json",
    ]


def test_a_first_prompt_behind_a_long_one_of_gptme_s_is_found(tmp_path: Path) -> None:
    log = write(tmp_path, system("You are gptme. " + "x" * 90_000), system("y" * 90_000), user("\n at last\nnow"))
    assert found_in(log).title == "at last"


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ('name = "Orchard"', "Orchard"),
        ('name = "2026-10-12-small"', "go"),
        ('name = "small"', "go"),
        ("name = 5", "go"),
        ("name = [", "go"),
        ("", "go"),
    ],
)
def test_titles(tmp_path: Path, name: str, title: str) -> None:
    assert (
        read(tmp_path, system("You are gptme."), user("<system>x</system>"), user("go"), settings=name).title == title
    )


def test_the_working_folder_is_the_settings_else_the_link_beside_the_log(tmp_path: Path) -> None:
    log = write(tmp_path, user("go"), settings='workspace = "@log"')
    assert read_file(log).cwd is None
    log.with_name("config.toml").unlink()
    log.with_name("workspace").symlink_to("/srv/gone")
    assert read_file(log).cwd == "/srv/gone"


def test_the_fingerprint_covers_every_input(tmp_path: Path) -> None:
    logs = shutil.copytree(EXAMPLES / "gptme" / "logs", tmp_path / "logs")
    log = logs / "2026-10-14-brave-green-otter" / "conversation.jsonl"
    prints = {found_in(log).fingerprint}
    for file in found_in(log).inputs:
        os.utime(file, ns=(1, 1))
        prints.add(found_in(log).fingerprint)
    assert len(prints) == 9


def test_where_the_logs_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("GPTME_LOGS_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    usual = tmp_path / ".local" / "share" / "gptme"
    assert gptme.PLACES.logs() == [usual / "logs"]
    assert gptme.PLACES.stores() == [usual / "logs", usual, tmp_path / ".config" / "gptme"]
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert gptme.PLACES.logs() == [tmp_path / "data" / "gptme" / "logs"]
    monkeypatch.setenv("GPTME_LOGS_HOME", str(tmp_path / "own"))
    assert gptme.PLACES.logs() == [tmp_path / "own"]
    assert tmp_path / "own" in gptme.PLACES.stores()


# --- damage


def test_a_log_that_vanished_or_holds_nothing_says_so(tmp_path: Path) -> None:
    log = write(tmp_path, user("go"))
    found = found_in(log)
    log.write_text('{"x": 1}\n')
    with pytest.raises(Unreadable, match=r"conversation\.jsonl has no message of gptme in it"):
        gptme.read(found, UTC)
    log.unlink()
    with pytest.raises(FileNotFoundError):
        gptme.read(found, UTC)


def test_a_line_that_stands_twice_is_read_once(tmp_path: Path) -> None:
    lines = stamped(user("go"), model(SHELL), RAN)
    log = write_lines(tmp_path / "c" / "conversation.jsonl", [lines[0], *lines, lines[1]])
    chat = read_file(log)
    assert [type(event) for event in chat.events] == [Asked, Called, Returned]
    assert reports(chat) == {"repeated-record": 2}


def test_records_that_are_no_messages_are_reported(tmp_path: Path) -> None:
    odd: list[dict[str, Any]] = [user(["a list"]), {"role": "tool", "content": "x"}, {"x": 1}, system(None)]
    chat = read(tmp_path, user("go"), *odd, model("done"))
    assert [type(event) for event in chat.events] == [Asked, Said]
    assert [(report.kind, report.place and report.place.number, report.lost) for report in chat.diagnostics] == [
        ("unknown-record", 2, True),
        ("unknown-record", 3, True),
        ("unknown-record", 4, True),
        ("unknown-record", 5, True),
    ]


LINES = TOOL.read_bytes().splitlines(keepends=True)[:-1]
NUMBERS = set(range(1, len(LINES) + 1))


def read_bytes(folder: Path, data: bytes) -> Any:
    log = folder / "2026-10-12-cut" / "conversation.jsonl"
    log.parent.mkdir()
    log.write_bytes(data)
    (log.parent / "config.toml").write_text('[chat]\ntool_format = "tool"\n')
    return read_file(log)


def told_lines(chat: Any) -> set[int]:
    """The numbers of the lines that something in the chat comes from; the first is gptme's own prompt."""
    places = {event.place.number for event in chat.events}
    return places | ({1} if chat.system_prompt else set())


@given(st.integers(1, len(LINES) - 1), st.floats(0.01, 0.99))
@settings(max_examples=40, deadline=None)
def test_a_cut_line_is_reported_and_takes_no_other_with_it(
    tmp_path_factory: pytest.TempPathFactory, number: int, part: float
) -> None:
    line = LINES[number]
    cut = [*LINES[:number], line[: max(1, int((len(line) - 2) * part))] + b"\n", *LINES[number + 1 :]]
    chat = read_bytes(tmp_path_factory.mktemp("cut"), b"".join(cut))
    assert told_lines(chat) >= NUMBERS - {number + 1}
    damaged = [report.place.number for report in chat.diagnostics if report.kind == "damaged-line"]
    assert damaged == [number + 1]


@given(st.sets(st.integers(0, len(LINES) - 1), min_size=1))
@settings(max_examples=40, deadline=None)
def test_doubled_lines_change_nothing(tmp_path_factory: pytest.TempPathFactory, doubled: set[int]) -> None:
    data = b"".join(line * (2 if number in doubled else 1) for number, line in enumerate(LINES))
    chat = read_bytes(tmp_path_factory.mktemp("twice"), data)
    whole = read_file(TOOL)
    assert [type(event) for event in chat.events] == [type(event) for event in whole.events]
    assert make_timeline(chat).totals.usage == make_timeline(whole).totals.usage
    assert reports(chat)["repeated-record"] == len(doubled)


@given(st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_shuffled_lines_are_read(tmp_path_factory: pytest.TempPathFactory, random: random.Random) -> None:
    lines = LINES[:]
    random.shuffle(lines)
    chat = read_bytes(tmp_path_factory.mktemp("shuffled"), b"".join(lines))
    assert len(of(chat, Called)) == len(of(read_file(TOOL), Called))


ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["c1", "2026-10-12T09:00:00", "9999-12-31T23:59:59", "😀 \ud83d", "\x00", "/a/b.png"]),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["usage", "timings", "tool_ms_by_name", "shell", "model", "cost", "input_tokens", "message"]
            ),
            children,
            max_size=3,
        )
    ),
    max_leaves=6,
)
FIELD = st.sampled_from(
    [
        "content",
        "timestamp",
        "files",
        "file_hashes",
        "hide",
        "ui_only",
        "call_id",
        "metadata",
        "pinned",
        "ephemeral_ttl",
    ]
)


@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant", "system"]), st.dictionaries(FIELD, ANY)), max_size=6),
    st.dictionaries(st.sampled_from(["seq", "ts", "type", "payload"]), ANY),
    ANY,
)
@settings(max_examples=80, deadline=None)
def test_values_of_any_type_are_taken_as_they_come(
    tmp_path_factory: pytest.TempPathFactory, rest: list[tuple[str, Any]], event: dict[str, Any], about: Any
) -> None:
    folder = tmp_path_factory.mktemp("any") / "2026-10-12-any"
    first = [user("go"), model('```shell\nls\n```\n@shell(c1): {"command": "x"}')]
    records = stamped(*first, *({"role": role, "content": "x", **fields} for role, fields in rest))
    log = write_lines(folder / "conversation.jsonl", records)
    write_lines(folder / "events.jsonl", [{"type": "message_append", **event}])
    (folder / "subagent-meta.json").write_text(json.dumps(about))
    chat = gptme.read(found_in(log), UTC)
    assert_counted_alike(chat, gptme.count(found_in(log), keep_nothing))
    assert [call.name for call in of(chat, Called)][:1] == ["shell"]


def test_a_long_chat_is_read_in_one_pass(tmp_path: Path) -> None:
    turn = [user("go"), model(f"{SHELL}\n\n{SHELL}"), RAN, RAN, system("<system_info>x</system_info>", hide=True)]
    times = [{"timestamp": (START + timedelta(seconds=number)).isoformat()} for number in range(5 * 2_000)]
    log = write_lines(
        tmp_path / "long" / "conversation.jsonl",
        [{**message, **time} for message, time in zip(turn * 2_000, times, strict=True)],
    )
    chat = read_file(log)
    assert (len(of(chat, Called)), len(of(chat, Returned))) == (4_000, 4_000)
