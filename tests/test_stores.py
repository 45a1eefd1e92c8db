"""Finding chats: every file accounted for, each chat once, no link followed."""

from __future__ import annotations

import os
import socket
from datetime import UTC
from pathlib import Path

import pytest

import plain_reader
from trailbook import filters, stores
from trailbook.chat import Agent, Chat, Origin
from trailbook.failures import Stopped
from trailbook.filters import Wanted
from trailbook.readers import HEAD_BYTES, Found, Unreadable


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plain_reader.install(monkeypatch, tmp_path / "agent-home")


def account(survey: stores.Survey, top: Path) -> dict[str, str]:
    return {str(item.path.relative_to(top)): f"{item.verdict}: {item.why}" for item in survey.skipped}


def test_every_file_is_accounted_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = tmp_path / "logs"
    plain_reader.write(logs / "a.log", "#plain a First chat", "@ 2026-10-08T09:00", "> Hello")
    plain_reader.write(logs / "deep" / "er" / "b.log", "#plain b", "@ 2026-10-09T09:00")
    plain_reader.write(logs / "a.meta", "#aside")
    plain_reader.write(logs / "notes.txt", "Milk, eggs")
    plain_reader.write(logs / "faulty.log", "#plain c", "! no-list")
    (logs / "empty.log").write_bytes(b"")
    (logs / "blank.log").write_bytes(b"\n\n")
    outside = plain_reader.write(tmp_path / "elsewhere" / "d.log", "#plain d")
    (logs / "out.log").symlink_to(outside)
    (logs / "out-folder").symlink_to(outside.parent)
    (logs / "in.log").symlink_to(logs / "a.log")
    (logs / "nothing.log").symlink_to(logs / "absent")
    (logs / "loop.log").symlink_to(logs / "loop.log")
    os.mkfifo(logs / "pipe.log")
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(logs)  # the path of a socket must be short
        listener.bind("socket.log")

        survey = stores.survey([logs])

    assert [(chat.id, chat.title) for chat in survey.chats] == [("b", None), ("a", "First chat")]
    assert survey.files == len(survey.chats) + len(survey.skipped), "the sum that is told adds up"
    assert account(survey, logs) == {
        "a.meta": "passed over: it is a sidecar",
        "blank.log": "passed over: it is empty",
        "empty.log": "passed over: it is empty",
        "faulty.log": "unreadable: the reader for Plain Agent failed on it: ValueError: this reader has a fault",
        "in.log": f"passed over: it is a link to {logs / 'a.log'}, which is looked at by itself",
        "loop.log": "passed over: it is a link to nothing",
        "notes.txt": "not recognised: no reader knows this format",
        "nothing.log": "passed over: it is a link to nothing",
        "out-folder": f"passed over: it is a link out of the folder; to read {outside.parent}, name it",
        "out.log": f"passed over: it is a link out of the folder; to read {outside}, name it",
        "pipe.log": "passed over: it is a device, a pipe or a socket",
        "socket.log": "passed over: it is a device, a pipe or a socket",
    }


def test_an_unreadable_file_and_folder_hide_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain_reader.write(tmp_path / "a.log", "#plain a")
    plain_reader.write(tmp_path / "locked.log", "#plain b")
    plain_reader.write(tmp_path / "vault" / "c.log", "#plain c")
    real_open, real_scan = os.open, os.scandir

    def refuse_open(path, *rest, **named):  # type: ignore[no-untyped-def]
        if Path(path).name == "locked.log":
            raise PermissionError(13, "Permission denied")
        return real_open(path, *rest, **named)

    def refuse_scan(path):  # type: ignore[no-untyped-def]
        if Path(path).name == "vault":
            raise PermissionError(13, "Permission denied")
        return real_scan(path)

    monkeypatch.setattr(os, "open", refuse_open)
    monkeypatch.setattr(os, "scandir", refuse_scan)
    survey = stores.survey([tmp_path])
    assert [chat.id for chat in survey.chats] == ["a"]
    assert account(survey, tmp_path) == {
        "locked.log": "unreadable: permission denied",
        "vault": "unreadable: permission denied",
    }


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        ("{path} is compressed: install the extra.", "it is compressed: install the extra"),
        ("{name} is cut off at byte 7.", "it is cut off at byte 7"),
        ("Line 3 of {name} holds nothing.", "Line 3 of a.log holds nothing"),
    ],
)
def test_what_a_reader_says_of_a_file_names_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sentence: str, why: str
) -> None:
    log = plain_reader.write(tmp_path / "a.log", "#plain a")

    def fail(path: Path, head: bytes) -> None:
        raise Unreadable(sentence.format(path=path, name=path.name))

    monkeypatch.setattr(plain_reader_module(), "find", fail)
    assert [item.why for item in stores.survey([log]).skipped] == [why]


def test_the_same_chat_twice_is_read_from_the_preferred_file(tmp_path: Path) -> None:
    plain_reader.write(tmp_path / "1.log", "#plain a")
    better = plain_reader.write(tmp_path / "2.log", "#plain a", "preferred")
    plain_reader.write(tmp_path / "3.log", "#plain a")
    survey = stores.survey([tmp_path])
    assert [chat.path for chat in survey.chats] == [better]
    assert account(survey, tmp_path) == {
        "1.log": f"copy: the same chat is read from {better}",
        "3.log": f"copy: the same chat is read from {better}",
    }


def test_each_file_is_read_once_however_often_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = plain_reader.write(tmp_path / "logs" / "a.log", "#plain a", "x" * (2 * HEAD_BYTES))
    (tmp_path / "link").symlink_to(tmp_path / "logs")
    heads: list[int] = []
    monkeypatch.setattr(
        plain_reader_module(), "find", lambda path, head: heads.append(len(head)) or plain_reader.find(path, head)
    )
    survey = stores.survey([tmp_path / "logs", log, tmp_path / "link", tmp_path / "logs"])
    assert [chat.id for chat in survey.chats] == ["a"]
    assert survey.skipped == []
    assert heads == [HEAD_BYTES]


def plain_reader_module() -> object:
    from trailbook.readers import reader

    return reader("plain")


def test_a_folder_that_trailbook_wrote_holds_no_logs(tmp_path: Path) -> None:
    plain_reader.write(tmp_path / "a.log", "#plain a")
    plain_reader.write(tmp_path / "site" / "trajectories" / "b.log", "#plain b")
    plain_reader.write(tmp_path / "site" / ".trailbook" / "manifest.jsonl", "{}")
    survey = stores.survey([tmp_path])
    assert [chat.id for chat in survey.chats] == ["a"]
    assert account(survey, tmp_path) == {"site": "passed over: trailbook wrote this folder"}


def test_a_path_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(Stopped, match=f"There is no file or folder {tmp_path / 'absent'}"):
        stores.survey([tmp_path / "absent"])


def test_a_pipe_or_device_as_the_path_itself_never_hangs(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    survey = stores.survey([tmp_path / "pipe", Path("/dev/zero")])
    assert survey.chats == []
    assert {item.why for item in survey.skipped} == {"it is a device, a pipe or a socket"}


def test_default_places_say_what_was_found_where(tmp_path: Path) -> None:
    home = tmp_path / "agent-home"
    assert [(look.exists, look.chats) for look in stores.survey_places().looked] == [(False, 0)]
    plain_reader.write(home / "logs" / "a.log", "#plain a")
    plain_reader.write(home / "logs" / "b.log", "#plain b")
    survey = stores.survey_places()
    assert survey.looked == [stores.Looked("Plain Agent", home / "logs", True, 2)]


def test_chats_stand_newest_first(tmp_path: Path) -> None:
    for number, day in enumerate(["2026-10-08", "2026-10-10", "2026-10-09"]):
        plain_reader.write(tmp_path / f"{number}.log", f"#plain c{number}", f"@ {day}T09:00")
    assert [chat.id for chat in stores.survey([tmp_path]).chats] == ["c1", "c2", "c0"]


# --- filters

NOON = filters.day_start("2026-10-08T12:00", UTC)


def found(**changed: object) -> Found:
    given: dict[str, object] = {
        "reader": "plain",
        "id": "a",
        "path": Path("a.log"),
        "inputs": (),
        "fingerprint": "",
        "started": NOON,
        "updated": NOON + 3_600_000,
        "cwd": "/home/user/orchard",
    }
    return Found(**{**given, **changed})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wanted", "option"),
    [
        (Wanted(), None),
        (Wanted(since=filters.day_start("2026-10-08", UTC)), None),
        (Wanted(since=filters.day_start("2026-10-08T13:00", UTC)), None),
        (Wanted(since=filters.day_start("2026-10-09", UTC)), "--from"),
        (Wanted(until=filters.day_end("2026-10-08", UTC)), None),
        (Wanted(until=filters.day_end("2026-10-07", UTC)), "--to"),
        (Wanted(until=filters.day_end("2026-10-08T11:59", UTC)), "--to"),
        (Wanted(sources=("plain",)), None),
        (Wanted(sources=("other", "Plain")), None),
        (Wanted(sources=("other",)), "--source"),
        (Wanted(projects=("orchard",)), None),
        (Wanted(projects=("/home/user",)), None),
        (Wanted(projects=("/home/user/orch",)), "--project"),
        (Wanted(projects=("user",)), "--project"),
        (Wanted(agents=("plain agent",)), None),
        (Wanted(agents=("Plain-Agent",)), None),
        (Wanted(agents=("Mira",)), None),
        (Wanted(automatic=False), None),
    ],
)
def test_what_is_left_out_before_reading(wanted: Wanted, option: str | None) -> None:
    assert filters.left_out(found(), wanted) == option


@pytest.mark.parametrize("origin", ["routine", "task", "artifact", "client", "chat", "channel", "subagent"])
def test_no_automatic_leaves_out_what_ran_by_itself(origin: str) -> None:
    automatic = origin in {"routine", "task", "artifact", "client"}
    expected = "--no-automatic" if automatic else None
    assert filters.left_out(found(origin=origin), Wanted(automatic=False)) == expected
    chat = Chat("a", "plain", Agent("Mira", None, "Plain Agent"), origin=Origin(origin))
    assert filters.left_out_when_read(chat, Wanted(automatic=False)) == expected
    assert filters.left_out(found(origin=origin), Wanted()) is None


def test_a_chat_without_a_time_lies_in_no_stretch_of_time() -> None:
    undated = found(started=None, updated=None)
    assert filters.left_out(undated, Wanted(since=NOON)) == "--from"
    assert filters.left_out(undated, Wanted(until=NOON)) == "--to"
    assert filters.left_out(undated, Wanted()) is None


@pytest.mark.parametrize(
    ("wanted", "option"),
    [
        (Wanted(agents=("mira",)), None),
        (Wanted(agents=("Plain Agent",)), None),
        (Wanted(agents=("Noor",)), "--agent"),
        (Wanted(providers=("Anthropic-API",)), None),
        (Wanted(providers=("openai",)), "--provider"),
        (Wanted(projects=("C:\\Users\\mira\\orchard",)), None),
        (Wanted(projects=("orchard",)), None),
        (Wanted(projects=("/home/mira",)), "--project"),
    ],
)
def test_what_is_left_out_once_it_is_read(wanted: Wanted, option: str | None) -> None:
    chat = Chat("a", "plain", Agent("Mira", None, "Plain Agent"), cwd="C:\\Users\\mira\\orchard")
    chat.providers = ["anthropic-api"]
    assert filters.left_out_when_read(chat, wanted) == option


def test_only_what_the_list_cannot_say_needs_reading() -> None:
    assert not filters.needs_reading(found(), Wanted(projects=("orchard",), agents=("Plain Agent",), since=1))
    assert filters.needs_reading(found(cwd=None), Wanted(projects=("orchard",)))
    assert filters.needs_reading(found(), Wanted(agents=("Mira",)))
    assert filters.needs_reading(found(), Wanted(providers=("openai",)))


@pytest.mark.parametrize("text", ["yesterday", "2026-13-01", "2026-1-1", "", "08.10.2026"])
def test_a_day_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the command line words it
        filters.day_start(text, UTC)
