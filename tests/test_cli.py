"""The command line: its words, its exit statuses, and what never reaches a terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import pytest

import plain_reader
import test_site
from conftest import EXAMPLES
from trailbook import cli, fidelity, formats
from trailbook.cli import options
from trailbook.redaction.removed import Removed
from trailbook.terminal import line, plain

HOME_SECRET = "hunter2" + "-in-the-garden"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, in which one agent of the plain format has three chats."""
    home = tmp_path / "home"
    plain_reader.install(monkeypatch, home / ".plain")
    test_site.install_writers(monkeypatch)
    for name in list(os.environ):
        if name.startswith("XDG_") or "TOKEN" in name or "KEY" in name:
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TZ", "UTC")
    logs = home / ".plain" / "logs"
    plain_reader.write(
        logs / "a.log",
        "#plain chat-aa Fix the test",
        "@ 2026-10-08T09:00",
        "/ /srv/orchard",
        "> Please fix it",
        "< Done",
    )
    plain_reader.write(logs / "b.log", "#plain chat-ab Write notes", "@ 2026-10-09T09:00", "> Notes", "% other-engine")
    plain_reader.write(logs / "c.log", "#plain routine-1 Morning", "= routine", "@ 2026-10-10T07:00", "> Good morning")
    monkeypatch.chdir(tmp_path)
    return home


class Run:
    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self.capfd = capfd

    def __call__(self, *arguments: str | Path) -> tuple[int, str, str]:
        self.capfd.readouterr()
        status = cli.run([str(argument) for argument in arguments])
        out, err = self.capfd.readouterr()
        return status, out, err


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    return Run(capfd)


def ids(out: str) -> list[str]:
    return re.findall(r"chat-a\w|routine-1", out)


# --- list


def test_list_says_what_was_found_where(home: Path, run: Run) -> None:
    status, out, err = run("list")
    assert status == 0
    assert out.splitlines() == [
        "10 Oct 2026, 07:00  Plain Agent  routine-1           Morning",
        "9 Oct 2026, 09:00   Plain Agent  chat-ab             Write notes",
        "8 Oct 2026, 09:00   Plain Agent  chat-aa    orchard  Fix the test",
    ]
    assert err.splitlines() == [f"Plain Agent: 3 chats in {home}/.plain/logs", "3 files: 3 chats."]


def test_a_list_shows_starts_and_the_times_of_files_in_brackets(
    home: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = round(datetime(2026, 10, 9, 12, tzinfo=UTC).timestamp() * 1000)

    def find(path: Path, head: bytes) -> Any:
        found = plain_reader.find(path, head)
        assert isinstance(found, list)
        known = found[0].id != "chat-ab"
        return [replace(found[0], updated=moment, started=found[0].started if known else None)]

    monkeypatch.setattr(sys.modules["trailbook.readers.plain"], "find", find)
    assert [row.partition("  Plain")[0].rstrip() for row in run("list")[1].splitlines()] == [
        "10 Oct 2026, 07:00",
        "(9 Oct 2026, 12:00)",
        "8 Oct 2026, 09:00",
    ]


def test_agents_that_are_not_there_are_named_in_one_line(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("HOME", str(home))
    for name in ("CONCH_HOME", "CODEX_HOME", "XDG_DATA_HOME", "GPTME_LOGS_HOME"):
        monkeypatch.delenv(name, raising=False)
    shutil.copytree(EXAMPLES / "conch", home / ".conch")
    shutil.copytree(EXAMPLES / "codex", home / ".codex")
    rows = run("list", "--tz", "UTC")[2].splitlines()
    assert rows[:2] == [f"Conch: 5 chats in {home}/.conch/conversations", f"Codex: 2 chats in {home}/.codex/sessions"]
    assert rows[2].startswith("Nothing where Claude Code, gptme, Hermes, ")
    assert rows[2].endswith(" keep theirs.")
    assert "Codex" not in rows[2], "one of its two places is there"


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        ([], ["routine-1", "chat-ab", "chat-aa"]),
        (["chat-ab"], ["chat-ab"]),
        (["chat-a"], 2),
        (["rou"], ["routine-1"]),
        (["--from", "2026-10-09"], ["routine-1", "chat-ab"]),
        (["--to", "2026-10-09"], ["chat-ab", "chat-aa"]),
        (["--from", "2026-10-09", "--to", "2026-10-09"], ["chat-ab"]),
        (["--from", "2026-10-10", "--tz", "Asia/Tokyo"], ["routine-1"]),
        (["--to", "2026-10-10T15:59", "--tz", "Asia/Tokyo"], ["chat-ab", "chat-aa"]),
        (["--no-automatic"], ["chat-ab", "chat-aa"]),
        (["--project", "orchard"], ["chat-aa"]),
        (["--source", "plain"], ["routine-1", "chat-ab", "chat-aa"]),
        (["--source", "conch"], []),
        (["--agent", "Plain Agent"], ["routine-1", "chat-ab", "chat-aa"]),
        (["--agent", "nobody"], []),
        (["--provider", "other-engine"], ["chat-ab"]),
    ],
)
def test_filters_choose_the_same_chats_for_every_command(
    home: Path, run: Run, arguments: list[str], left: list[str] | int
) -> None:
    status, out, err = run("list", *arguments)
    if isinstance(left, int):
        assert (status, out) == (left, "")
        assert "2 chats start with chat-a" in err
        return
    assert status == 0
    assert ids(out) == left
    status, out, _err = run("preview", "--quiet", *arguments)
    assert out.splitlines()[0].startswith(f"{len(left)} chat"), "the preview counts the same"


def test_files_that_are_no_chats_are_accounted_for(home: Path, run: Run) -> None:
    (home / ".plain" / "logs" / "notes.txt").write_text("Milk")
    plain_reader.write(home / ".plain" / "logs" / "z.log", "#plain z", "! no-list")
    status, out, err = run("list", "--files")
    assert status == 0
    assert "5 files: 3 chats, 1 not recognised, 1 unreadable." in err
    assert f"{home}/.plain/logs/notes.txt: not recognised: no reader knows this format" in out
    assert "z.log: unreadable: the reader for Plain Agent failed on it" in err, "trouble is said without --files too"
    status, out, err = run("list", "--files", home / ".plain" / "logs" / "notes.txt")
    assert (status, "notes.txt: not recognised" in out) == (1, True), "also where nothing else is there to list"


# --- show


def test_show_prints_the_timeline_whole(home: Path, run: Run) -> None:
    long = "word " * 60 + "end"
    plain_reader.write(
        home / "d.log", "#plain d Long", "@ 2026-10-08T09:00", f"> {long}", "@ 2026-10-08T09:01", "< Yes"
    )
    status, out, _err = run("show", home / "d.log")
    assert status == 0
    assert out.splitlines()[0] == "Long"
    assert "8 Oct 2026, 09:00" in out
    assert "2 steps" in out
    assert long in out
    assert "took 1m 00s" in out


def test_show_json_is_the_timeline(home: Path, run: Run) -> None:
    status, out, _err = run("show", "chat-aa", "--json")
    shown = json.loads(out)
    assert status == 0
    assert set(shown) >= {"conversationId", "title", "origin", "startedAt", "endedAt", "steps", "turns", "totals"}
    assert (shown["conversationId"], shown["title"]) == ("chat-aa", "Fix the test")
    assert [step["kind"] for step in shown["steps"]] == ["asked", "said"]
    assert shown["startedAt"] == datetime(2026, 10, 8, 9, tzinfo=UTC).timestamp() * 1000


def test_show_wants_one_chat(home: Path, run: Run) -> None:
    status, _out, err = run("show", home / ".plain")
    assert status == 2
    assert "holds 3 chats" in err
    status, _out, err = run("show", "no-such-chat")
    assert status == 1
    assert "There is no file, and no chat with the id no-such-chat" in err
    status, _out, err = run("show", "./absent.jsonl")
    assert (status, "There is no file or folder ./absent.jsonl" in err) == (1, True)


@pytest.mark.parametrize("trouble", ["! unreadable", "! broken"])
def test_a_log_that_cannot_be_read_is_said_by_every_command(home: Path, tmp_path: Path, run: Run, trouble: str) -> None:
    log = plain_reader.write(home / "d.log", "#plain d", trouble)
    said = {"! unreadable": "is scrambled from line 2 on", "! broken": "could not be made into a chat: ValueError"}
    for command in (["show", log], ["export", log, "--out", tmp_path, "--yes"], ["build", log, "--out", "s", "--yes"]):
        status, _out, err = run(*command)
        assert (status, said[trouble] in err, "Traceback" in err) == (1, True, False), command
    status, _out, err = run("export", log, home / ".plain", "--out", tmp_path, "--yes")
    assert (status, said[trouble] in err) == (6, True)
    assert next(tmp_path.glob("Plain Agent chats*")).read_text() == "Fix the test\nWrite notes\nMorning"


def test_check_compares_a_file_with_its_log(home: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(fidelity.NOT_CARRIED, "plain", frozenset())
    log = home / ".plain" / "logs" / "a.log"
    good = plain_reader.write(home / "good.log", "#plain chat-aa", "> Please fix it", "< Done")
    bad = plain_reader.write(home / "bad.log", "#plain chat-aa", "> Please fix it")
    assert run("check", good, "--against", log) == (0, "chat-aa: 0 of 0 calls, 0 of 0 results\n", "")
    status, out, _err = run("check", bad, "--against", log)
    assert status == 5
    assert "lost or changed: 1 answer" in out
    assert "(a.log, line 5)" in out
    assert run("check", good)[0] == 2
    assert run("check", home / "absent", "--against", log)[0] == 1


EVIL = "\x1b]0;owned\x07\x1b[31mred\x1b[0m\x08\x9b2J\u202egnp\u2066\x00\x7f\u200b"


def test_nothing_of_a_chat_steers_the_terminal(home: Path, run: Run) -> None:
    plain_reader.write(home / "evil.log", f"#plain e{EVIL} T{EVIL}", f"/ /srv/{EVIL}", f"> P{EVIL}", f"< S{EVIL}", "?")
    (home / "evil.log").rename(home / "evil\x1b[31m\n.log")
    seen = []
    for arguments in (["list", home, "--files"], ["show", home / "evil\x1b[31m\n.log"], ["preview", home]):
        _status, out, err = run(*arguments)
        seen += [out, err]
    _status, out, _err = run("show", home / "evil\x1b[31m\n.log", "--json")
    assert EVIL in json.loads(out)["steps"][0]["text" if "text" in json.loads(out)["steps"][0] else "title"]
    for text in [*seen, out]:
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]", text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words, ünïcode 字 🙂", "plain words, ünïcode 字 🙂"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;http://x\x07link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;never ended", ""),
        ("\x1bPq...\x1b\\after", "after"),
        ("a\x1b", "a␛"),
        ("\x9b31mred", "red"),
        ("a\x00b\x07c\x7f", "a␀b␇c\ufffd"),
        ("\u202etxt", "⟨U+202E⟩txt"),
        ("\ud800", "\ufffd"),
        ("👩\u200d💻", "👩\u200d💻"),
    ],
)
def test_control_characters_are_shown_or_gone(text: str, shown: str) -> None:
    assert plain(text) == shown
    assert "\n" not in line(f"a\n\n{text}\tb")


# --- build


def test_build_needs_a_yes_where_there_is_no_terminal(home: Path, tmp_path: Path, run: Run) -> None:
    status, out, err = run("build", "--out", "site")
    assert status == 3
    assert "3 chats, 4 steps." in out
    assert "Nothing was written: there is no terminal to ask on. Add --yes to write." in err
    assert not (tmp_path / "site").exists()
    status, out, _err = run("build", "--out", "site", "--yes")
    assert status == 0
    assert out.splitlines()[-2:] == ["3 chats written.", "site/index.html"]
    assert len(list((tmp_path / "site" / "reports").iterdir())) == 3
    status, out, _err = run("build", "--out", "site", "--yes")
    assert "0 chats written, 3 unchanged." in out


def test_prune_removes_what_has_no_log(home: Path, run: Run) -> None:
    run("build", "--out", "site", "--yes")
    (home / ".plain" / "logs" / "a.log").unlink()
    status, out, _err = run("build", "--out", "site", "--yes")
    assert "2 unchanged, 1 kept although their log is gone (--prune removes them)." in out
    status, out, _err = run("build", "--out", "site", "--yes", "--prune")
    assert status == 0
    assert "2 unchanged, 1 removed because their log is gone." in out
    assert len(list(Path("site/reports").iterdir())) == 2


def test_quiet_says_only_what_went_wrong(home: Path, run: Run) -> None:
    assert run("build", "--out", "site", "--yes", "--quiet") == (0, "", "")
    plain_reader.write(home / ".plain" / "logs" / "d.log", "#plain d", "! unreadable")
    status, out, err = run("build", "--out", "site", "--yes", "--quiet")
    assert (status, out) == (6, "")
    assert "d.log is scrambled from line 2 on" in err


@pytest.mark.parametrize(("answer", "status", "written"), [("y", 0, True), ("n", 3, False), ("", 0, True)])
def test_on_a_terminal_build_shows_and_asks(
    home: Path, tmp_path: Path, answer: str, status: int, written: bool
) -> None:
    ended, said = in_a_terminal(["build", "--out", "site"], f"{answer}\n")
    assert ended == status
    assert said.index("3 chats, 4 steps.") < said.index("Write to site?")
    assert "of 3 chats" not in said[said.index("Write to site?") :], "no bar runs over the question"
    assert (tmp_path / "site" / "index.html").exists() is written
    assert (tmp_path / "site").exists() is written


def in_a_terminal(arguments: list[str], typed: str) -> tuple[int, str]:
    """Run a command line in a terminal of its own; returns the exit status and what was shown."""
    child, terminal = pty.fork()
    if child == 0:
        sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
        os._exit(cli.run(arguments))
    os.write(terminal, typed.encode())
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown.decode()


def test_a_chat_that_still_holds_a_secret_is_not_written(home: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = home / "secrets.env"
    secrets.write_text(f"ORCHARD={HOME_SECRET}\n")
    plain_reader.write(home / ".plain" / "logs" / "d.log", "#plain d Leaky", f"> The gate is {HOME_SECRET}")
    status, out, _err = run("build", "--out", "site", "--yes", "--secrets", secrets)
    assert status == 0
    assert HOME_SECRET not in out
    assert "[password]" in out
    site = Path("site")
    assert not [path for path in site.rglob("*") if path.is_file() and HOME_SECRET in path.read_text()]
    monkeypatch.setattr("trailbook.making.redact", lambda chat, context: (chat, Removed()))
    status, _out, err = run("build", "--out", "other", "--yes", "--secrets", secrets)
    assert status == 4
    assert "Not written: secrets were still in what" in err
    assert HOME_SECRET not in err
    assert len(list(Path("other/reports").iterdir())) == 3
    monkeypatch.setattr("trailbook.bundling.redact_all", lambda chats, context: (list(chats), Removed()))
    Path("saved").mkdir()
    plain_reader.write(home / ".plain" / "logs" / "e.log", f"#plain e The gate is {HOME_SECRET}", "> Open it")
    status, out, err = run("export", "e", "--out", "saved", "--yes", "--secrets", secrets)
    assert (status, err) == (4, "trailbook: Nothing was saved: secrets were still in the file (1 password).\n")
    assert HOME_SECRET not in out
    assert list(Path("saved").iterdir()) == []


def test_what_is_taken_out_is_in_no_list_and_no_timeline(home: Path, run: Run) -> None:
    secrets = home / "secrets.env"
    secrets.write_text(f"ORCHARD={HOME_SECRET}\n")
    plain_reader.write(
        home / "d.log", f"#plain d Use {HOME_SECRET}", f"/ /srv/{HOME_SECRET}", f"> Mira Okafor says {HOME_SECRET}"
    )
    given = ["--secrets", str(secrets), "--name", "Mira Okafor"]
    for arguments in (["list", home / "d.log"], ["show", home / "d.log"], ["show", home / "d.log", "--json"]):
        status, out, err = run(*arguments, *given)
        assert status == 0
        assert HOME_SECRET not in out + err
        assert "Okafor" not in out + err
    status, out, _err = run("show", home / "d.log", *given, "--no-redact")
    assert HOME_SECRET in out
    assert "Okafor" in out


def test_the_names_that_lie_beside_any_log_are_taken_out_of_all(home: Path, run: Run) -> None:
    plain_reader.write(home / ".plain" / "logs" / "d.log", "#plain d Mira Okafor", "& Mira Okafor", "> Ask Mira Okafor")
    plain_reader.write(home / ".plain" / "logs" / "e.log", "#plain e Also", "> Mira Okafor knows")
    for arguments in (["preview"], ["list"], ["show", "d"], ["show", "e", "--json"], ["find", "knows"]):
        status, out, err = run(*arguments)
        assert (status, "Okafor" in out + err, "[name]" in out) == (0, False, True), arguments


def test_build_refuses_in_a_sentence(home: Path, tmp_path: Path, run: Run) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis").touch()
    empty = tmp_path / "empty"
    empty.mkdir()
    (tmp_path / "strange.txt").write_text("Milk")
    for arguments, status, sentence in (
        (["--out", "file"], 1, "file is a file, not a folder"),
        (["--out", "full"], 1, "full holds thesis, which trailbook did not write"),
        (["--out", home / ".plain" / "site"], 1, "belongs to Plain Agent: nothing is written there"),
        (["--out", home / ".ssh"], 1, "is where keys and sign-ins live"),
        ([], 2, "Say where to: --out FOLDER"),
        (["--out", "site", empty], 1, "There are no files there"),
        (
            ["--out", "site", "strange.txt"],
            1,
            f"No chat was recognised in 1 file ({tmp_path}/strange.txt: no reader knows this format). Name a file or",
        ),
        (["--out", "site", "absent/"], 1, "There is no file or folder absent/"),
        (["--out", "site", "--from", "yesterday"], 2, "yesterday is no day. Write one as 2026-10-08."),
        (["--out", "site", "--to", "2026-13-01"], 2, "2026-13-01 is no day. Write one as 2026-10-08."),
        (["--out", "site", "--to", "9999-12-31"], 2, "9999-12-31 is no day"),
        (["--out", "site", "--tz", "Mars/Olympus"], 2, "There is no time zone Mars/Olympus"),
        (["--out", "site", "--theme", "no-theme"], 2, "There is no theme folder no-theme"),
        (["--out", "site", "--secrets", "no-file"], 2, "no-file cannot be read"),
    ):
        assert run("build", "--yes", *arguments)[0] == status, arguments
        _status, _out, err = run("build", "--yes", *arguments)
        assert sentence in err
        assert err.startswith("trailbook: ") or "trailbook: " in err
        assert "Traceback" not in err
    assert not (tmp_path / "site").exists()


def test_where_no_chat_is_left_nothing_is_written(home: Path, tmp_path: Path, run: Run) -> None:
    left = "trailbook: Nothing was written: no chat is left to write. Try other chats, or other options.\n"
    site = tmp_path / "site"
    assert run("build", "--out", "site", "--yes", "--agent", "nobody", "--quiet") == (1, "", left)
    for arguments, why in (
        (["--yes", "--agent", "nobody"], "Left out: 3 chats (3 by --agent)."),
        (["--agent", "nobody"], "Left out: 3 chats (3 by --agent)."),
        (["--yes", "--provider", "nobody"], "Left out: 3 chats (3 by --provider)."),
        (["--yes", plain_reader.write(home / "e.log", "#plain e")], "Left out: 1 chat (1 with nothing in it)."),
    ):
        status, out, err = run("build", "--out", "site", *arguments)
        assert (status, out.splitlines()[-1], err) == (1, why, left)
        assert not site.exists(), "not even an empty index"
    run("build", "--out", "site", "--yes")
    before = test_site.contents(site)
    assert run("build", "--out", "site", "--yes", "--source", "conch")[0] == 1
    assert test_site.contents(site) == before


def test_what_cannot_be_looked_into_is_said_and_is_status_6(
    home: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = home / ".plain" / "logs"
    plain_reader.write(logs / "z.log", "#plain z", "> Hidden")
    real_open = os.open

    def refuse(path: str, *rest: int, **named: int) -> int:
        if Path(path).name == "z.log":
            raise PermissionError(13, "Permission denied")
        return real_open(path, *rest, **named)

    monkeypatch.setattr(os, "open", refuse)
    why = f"{logs}/z.log: unreadable: permission denied"
    status, out, err = run("build", "--out", "site", "--yes")
    assert (status, err) == (6, "")
    assert why in out.splitlines()
    assert len(list(Path("site/reports").iterdir())) == 3, "the others are written"
    assert run("build", "--out", "other", "--yes", "--quiet") == (6, "", f"{why}\n")
    assert run("preview", "--quiet")[::2] == (6, f"{why}\n")
    assert run("export", "--out", tmp_path, "--yes", "--quiet")[::2] == (6, f"{why}\n")
    assert run("export", "chat-aa", "--out", tmp_path, "--yes", "--quiet")[::2] == (0, ""), "nobody asked for z.log"
    status, _out, err = run("build", "--out", "none", "--yes", logs / "z.log")
    assert (status, "z.log: permission denied). Name a file" in err) == (1, True)


def test_without_any_log_it_says_where_it_looked(home: Path, run: Run) -> None:
    for log in (home / ".plain" / "logs").iterdir():
        log.unlink()
    status, _out, err = run("build", "--out", "site", "--yes")
    assert status == 1
    assert err == ("trailbook: No chats were found where Plain Agent keep theirs. Name a file or a folder with logs.\n")


@pytest.mark.parametrize("option", ["--bogus", "--format=doc"])
def test_a_wrong_option_is_status_2(home: Path, run: Run, option: str) -> None:
    status, _out, err = run("build", option)
    assert status == 2
    assert option.split("=")[0] in err


def test_build_options_reach_the_writers(home: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[formats.Output] = []
    monkeypatch.setattr("trailbook.site.build", lambda plan, *_rest: seen.append(plan.output) or test_site.site.Built())
    Path("theme").mkdir()
    run("build", "--yes", "--out", "s", "--format", "atif", "--format", "openai", "--no-notes", "--full", "--images")
    run("build", "--yes", "--out", "s", "--theme", "theme", "--no-redact", "--tz", "Europe/Berlin")
    run("build", "--yes", "--out", "s", "--number", "--name", "Mira Okafor")
    assert [output.formats for output in seen] == [("report", "atif", "openai"), *[("report", "markdown")] * 2]
    assert [(output.full, output.images) for output in seen] == [(True, True), (False, False), (False, False)]
    assert (seen[1].theme, seen[1].context, str(seen[1].zone)) == (Path("theme"), None, "Europe/Berlin")
    assert seen[2].context is not None
    assert (seen[2].context.number, "Mira Okafor" in seen[2].context.names) == (True, True)


def test_settings_stand_in_for_options_and_options_win(home: Path, tmp_path: Path, run: Run) -> None:
    plain_reader.write(tmp_path / "mine" / "z.log", "#plain z Mine", "@ 2026-10-08T23:30", "> Mira Okafor")
    (tmp_path / "trailbook.toml").write_text(
        'logs = ["mine"]\nout = "from-settings"\nnames = ["Mira Okafor"]\ntz = "Europe/Berlin"\n'
    )
    assert run("build", "--yes")[0] == 0
    (report,) = (tmp_path / "from-settings" / "reports").iterdir()
    assert report.name.startswith("2026-10-09-mine-")
    assert "Okafor" not in report.read_text()
    assert run("build", "--yes", "--out", "other", "--tz", "UTC", home / ".plain")[0] == 0
    assert len(list((tmp_path / "other" / "reports").iterdir())) == 3


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("redact = false", "has an unknown setting redact"),
        ("out = 5", "out must be text"),
        ('names = "Mira"', "names must be a list of texts"),
        ("names = [1]", "names must be a list of texts"),
        ("out = ", "is not TOML"),
    ],
)
def test_wrong_settings_are_said(home: Path, tmp_path: Path, run: Run, text: str, sentence: str) -> None:
    (tmp_path / "trailbook.toml").write_text(text)
    status, _out, err = run("list")
    assert status == 2
    assert sentence in err


def test_settings_of_the_person_are_used_where_the_folder_has_none(
    home: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "conf"))
    (home / "conf" / "trailbook").mkdir(parents=True)
    (home / "conf" / "trailbook" / "trailbook.toml").write_text('tz = "Asia/Tokyo"')
    assert "10 Oct 2026, 16:00" in run("list")[1]


# --- export


def today() -> str:
    return datetime.now(UTC).date().isoformat()


def test_export_saves_one_chat_under_its_name(home: Path, run: Run) -> None:
    (home / "Downloads").mkdir()
    status, out, err = run("export", "chat-aa")
    assert (status, list((home / "Downloads").iterdir())) == (3, [])
    assert "there is no terminal to ask on. Add --yes to save" in err
    name = f"Plain Agent – Fix the test – {today()}"
    assert f"{home}/Downloads/{name}.txt" in out
    for number, expected in enumerate([f"{name}.txt", f"{name} 2.txt", f"{name} 3.txt"]):
        status, out, _err = run("export", "chat-aa", "--yes")
        assert status == 0
        assert out.splitlines()[-1] == f"Saved as {home}/Downloads/{expected}"
        assert len(list((home / "Downloads").iterdir())) == number + 1
        assert (home / "Downloads" / expected).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("option", ["--out", "-o", "--to"])
def test_export_saves_where_it_is_told(home: Path, tmp_path: Path, run: Run, option: str) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    assert run("export", "chat-aa", option, folder, "--yes")[0] == 0
    assert [path.name for path in folder.iterdir()] == [f"Plain Agent – Fix the test – {today()}.txt"]


def test_export_saves_a_batch_oldest_first(home: Path, tmp_path: Path, run: Run) -> None:
    assert run("export", "--out", tmp_path, "--yes", "--no-automatic", "--format", "markdown")[0] == 0
    saved = tmp_path / f"Plain Agent chats – {today()}.txt"
    assert saved.read_text() == "Fix the test\nWrite notes"
    assert run("export", "--yes", "--provider", "other-engine")[0] == 0
    assert (home / f"Plain Agent chats – {today()}.txt").read_text() == "Write notes", (
        "home, where there are no Downloads"
    )


def test_export_takes_the_newest_500(home: Path, tmp_path: Path, run: Run) -> None:
    for number in range(502):
        day = f"2026-{1 + number // 250:02d}-01T{number // 60 % 24:02d}:{number % 60:02d}"
        plain_reader.write(tmp_path / "many" / f"{number}.log", f"#plain n{number} Chat {number}", f"@ {day}", "> Hi")
    status, out, _err = run("export", tmp_path / "many", "--out", tmp_path, "--yes")
    assert status == 0
    assert "The newest 500 only; 2 older ones are not in it." in out
    titles = next(tmp_path.glob("Plain Agent chats*")).read_text().splitlines()
    assert len(titles) == 500
    assert {"Chat 0", "Chat 1"}.isdisjoint(titles)


def test_export_refuses_in_a_sentence(home: Path, tmp_path: Path, run: Run) -> None:
    (tmp_path / "file").touch()
    (home / ".ssh").mkdir()
    (tmp_path / "way-in").symlink_to(home / ".ssh")
    plain_reader.write(home / ".plain" / "logs" / "d.log", "#plain empty-one Nothing")
    for arguments, status, sentence in (
        (["chat-aa", "--out", tmp_path / "file"], 1, "is a file, not a folder"),
        (["chat-aa", "--out", tmp_path / "absent"], 1, "There is no folder"),
        (["chat-aa", "--to", "absent"], 1, "There is no folder absent. Choose one that is there."),
        (["chat-aa", "--to", "absent", "--out", tmp_path], 2, "absent is no day"),
        (["chat-aa", "--out", home / ".ssh"], 1, "keys and sign-ins live"),
        (["chat-aa", "--out", tmp_path / "way-in"], 1, "keys and sign-ins live"),
        (["chat-aa", "--out", home / ".plain"], 1, "belongs to Plain Agent"),
        (["empty-one", "--out", tmp_path], 1, "No chat is left to save"),
        (
            ["--from", "2030-01-01", "--out", tmp_path],
            1,
            "4 by --from).\ntrailbook: No chat is left to save",
        ),
        (["chat-aa", "--format", "doc"], 2, "doc"),
    ):
        ended, _out, err = run("export", "--yes", *arguments)
        assert (ended, sentence in err) == (status, True), (arguments, err)
    assert list((home / ".ssh").iterdir()) == []


def test_a_title_cannot_lead_an_export_astray(home: Path, tmp_path: Path, run: Run) -> None:
    plain_reader.write(home / "d.log", "#plain d ../../../etc/passwd\x1b[31m", "> Hi")
    status, out, _err = run("export", home / "d.log", "--out", tmp_path, "--yes")
    assert status == 0
    saved = [path for path in tmp_path.iterdir() if path.suffix == ".txt"]
    assert [path.name for path in saved] == [f"Plain Agent – etc passwd 31m – {today()}.txt"]
    assert "\x1b" not in out


# --- the whole


def test_a_reader_that_stops_reading_ends_it_quietly(home: Path) -> None:
    program = "import sys; from trailbook.cli import run; sys.exit(run(['list', sys.argv[1]]))"
    with subprocess.Popen(
        [sys.executable, "-c", program, str(EXAMPLES)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert "Traceback" not in process.stderr.read()


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["build", "--help"], ["export", "--help"]])
def test_help_and_version_load_nothing_that_they_do_not_need(arguments: list[str]) -> None:
    heavy = {"jinja2", "pygments", "rich", "phonenumbers", "orjson", "re2", "ahocorasick_rs", "markdown_it", "asyncio"}
    program = f"import sys; from trailbook.cli import run; run({arguments!r}); print(*sys.modules, file=sys.stderr)"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout
    assert heavy & {name.partition(".")[0] for name in shown.stderr.split()} == set()


def test_every_option_has_one_line_of_help() -> None:
    context = click.Context(cli.trailbook)
    for name in cli.COMMANDS:
        command = cli.trailbook.get_command(context, name)
        assert command is not None
        assert not command.get_short_help_str(70).endswith("..."), name
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{name} {parameter.name}"
                assert parameter.help.endswith(".") or parameter.help.endswith(")."), f"{name} {parameter.name}"
                assert len(parameter.help) <= 65, f"{name} {parameter.name}"


def test_the_formats_on_the_command_line_are_those_that_can_be_written() -> None:
    from trailbook.formats import FORMATS

    assert tuple(FORMATS) == options.FORMATS


def test_the_module_runs_as_the_command_does() -> None:
    shown = subprocess.run([sys.executable, "-m", "trailbook", "--version"], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"trailbook \d+\.\d+\.\d+\n", shown.stdout)
