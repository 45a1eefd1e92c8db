"""A folder of reports: built once, brought up to date with as little as possible, never at anybody's cost."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

import plain_reader
from trailbook import failures, fidelity, formats, json_text, manifest, pool, saving, site, staging, stores
from trailbook.chat import JSON, Asked, Chat
from trailbook.failures import Stopped
from trailbook.filters import Wanted
from trailbook.formats import NOTHING_IN_IT, Format, Output, Piece, Sheet
from trailbook.making import make_chat
from trailbook.readers import Found
from trailbook.redaction.context import load_context


def page(chat: Chat, sheet: Sheet) -> list[Piece]:
    words = [getattr(event, "text", "") for event in chat.events]
    return [Piece(f"reports/{sheet.stem}.html", "\n".join([chat.title or "", *words]).encode())]


def note(chat: Chat, sheet: Sheet) -> list[Piece]:
    return [Piece(f"notes/{sheet.stem}.md", f"{chat.title}\n".encode())]


def bundle(chats: list[Chat], sheet: Sheet) -> list[Piece]:
    return [Piece(f"{sheet.stem}.txt", "\n".join(chat.title or "" for chat in chats).encode())]


def index(rows: list[JSON], skipped: list[JSON], output: Output) -> list[Piece]:
    return [Piece("index.html", json_text.dump([*rows, *skipped]))]


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plain_reader.install(monkeypatch, tmp_path / "agent-home")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    install_writers(monkeypatch)


def install_writers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(formats.FORMATS, "report", Format(page, bundle))
    monkeypatch.setitem(formats.FORMATS, "markdown", Format(note, bundle))
    monkeypatch.setattr(formats, "row_of", lambda chat, sheet: {"stem": sheet.stem, "title": chat.title})
    monkeypatch.setattr(formats, "write_index", index)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    logs = tmp_path / "logs"
    plain_reader.write(logs / "a.log", "#plain a Fix the test", "@ 2026-10-08T09:00", "> Please fix it", "< Done")
    plain_reader.write(logs / "b.log", "#plain b Write notes", "@ 2026-10-09T09:00", "> Notes, please")
    return logs


def plan(logs: Path, folder: Path, **changed: object) -> site.Plan:
    survey = stores.survey([logs])
    return replace(site.Plan(folder, survey, survey.chats, Output()), **changed)  # type: ignore[arg-type]


def contents(folder: Path) -> dict[str, bytes]:
    """Everything in a folder but what trailbook keeps for itself."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and stores.OWN not in path.parts
    }


def inodes(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_ino for path in folder.rglob("*.*") if path.is_file()}


# --- a first build


def test_a_build_writes_pages_notes_and_index_privately(logs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "site"
    built = site.build(plan(logs, folder))
    assert (built.written, built.unchanged, built.status) == (2, 0, failures.DONE)
    a, b = (sha256(f"plain\n{id_}".encode()).hexdigest()[:6] for id_ in "ab")
    assert list(contents(folder)) == [
        "index.html",
        f"notes/2026-10-08-fix-the-test-{a}.md",
        f"notes/2026-10-09-write-notes-{b}.md",
        f"reports/2026-10-08-fix-the-test-{a}.html",
        f"reports/2026-10-09-write-notes-{b}.html",
    ]
    for path in [folder, *folder.rglob("*")]:
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path
    assert not list(folder.rglob(f"{saving.STAGING}*"))


def test_the_same_logs_give_the_same_bytes(logs: Path, tmp_path: Path) -> None:
    site.build(plan(logs, tmp_path / "one"))
    (tmp_path / "moved").mkdir()
    os.rename(logs, tmp_path / "moved" / "logs")  # noqa: PTH104
    site.build(plan(tmp_path / "moved" / "logs", tmp_path / "two"))
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


# --- again


def test_nothing_changed_means_nothing_is_read_or_written(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.build(plan(logs, tmp_path / "site"))
    before = inodes(tmp_path / "site")

    def never(*_given: object) -> None:
        raise AssertionError

    monkeypatch.setattr("trailbook.updating.stage", never)
    monkeypatch.setattr(formats, "write_index", never)
    monkeypatch.setattr(pool, "ProcessPoolExecutor", never)
    built = site.build(plan(logs, tmp_path / "site"))
    assert (built.written, built.unchanged, built.status) == (0, 2, failures.DONE)
    assert inodes(tmp_path / "site") == before


def test_an_appended_chat_is_the_only_one_made_again(logs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    site.build(plan(logs, folder))
    before = inodes(folder)
    with (logs / "a.log").open("a") as log:
        log.write("> And one more thing\n")
    built = site.build(plan(logs, folder))
    assert (built.written, built.unchanged) == (1, 1)
    changed = {name for name, inode in inodes(folder).items() if before[name] != inode}
    assert {name.split("-fix-")[0] for name in changed} >= {"reports/2026-10-08"}
    assert not any("write-notes" in name for name in changed)
    site.build(plan(logs, tmp_path / "clean"))
    assert contents(folder) == contents(tmp_path / "clean")


def test_a_name_once_given_stays_when_title_and_day_change(logs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    site.build(plan(logs, folder))
    names = set(contents(folder))
    plain_reader.write(logs / "a.log", "#plain a Quite another title", "@ 2026-11-11T09:00", "> Please fix it")
    site.build(plan(logs, folder))
    assert set(contents(folder)) == names
    assert b"Quite another title" in contents(folder)["index.html"]


@pytest.mark.parametrize(
    ("changed", "again"),
    [
        ({"full": True}, 2),
        ({"images": True}, 2),
        ({"formats": ("report",)}, 2),
        ({"wanted": Wanted(automatic=False)}, 0),
    ],
)
def test_a_changed_option_makes_again_what_it_must(
    logs: Path, tmp_path: Path, changed: dict[str, object], again: int
) -> None:
    folder = tmp_path / "site"
    site.build(plan(logs, folder))
    built = site.build(plan(logs, folder, output=replace(Output(), **changed)))  # type: ignore[arg-type]
    assert built.written == again
    assert any(name.startswith("notes/") for name in contents(folder)) is (changed != {"formats": ("report",)})


def test_a_changed_theme_makes_everything_again(logs: Path, tmp_path: Path) -> None:
    theme = tmp_path / "theme"
    theme.mkdir()
    (theme / "page.css").write_text("a{}")
    output = Output(theme=theme)
    assert site.build(plan(logs, tmp_path / "site", output=output)).written == 2
    assert site.build(plan(logs, tmp_path / "site", output=output)).written == 0
    (theme / "page.css").write_text("b{}")
    assert site.build(plan(logs, tmp_path / "site", output=output)).written == 2


def test_a_missing_report_is_made_again_and_no_other(logs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    site.build(plan(logs, folder))
    whole = contents(folder)
    next((folder / "reports").iterdir()).unlink()
    assert site.build(plan(logs, folder)).written == 1
    assert contents(folder) == whole


def test_what_a_person_changed_is_kept_and_named(logs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    site.build(plan(logs, folder))
    report = next(path for path in (folder / "reports").iterdir() if "fix" in path.name)
    ours = report.read_bytes()
    report.write_text("My own words")
    (folder / "index.html").write_text("My own index")
    plain_reader.write(logs / "a.log", "#plain a Fix the test", "@ 2026-10-08T09:00", "> Changed")
    for _again in range(2):
        built = site.build(plan(logs, folder))
        assert f"reports/{report.name}" in built.kept
        assert report.read_text() == "My own words"
        assert (folder / "index.html").read_text() == "My own index"
    assert "index.html" in site.build(plan(logs, folder, output=Output(full=True))).kept
    report.write_bytes(ours)  # back to what was written before the log changed
    assert site.build(plan(logs, folder)).kept.count(f"reports/{report.name}") == 0
    assert b"Changed" in report.read_bytes()


def test_a_chat_whose_log_is_gone_stays_until_it_is_pruned(logs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    site.build(plan(logs, folder))
    (logs / "a.log").unlink()
    built = site.build(plan(logs, folder))
    assert (built.gone, built.pruned) == (1, 0)
    assert len(contents(folder)) == 5
    assert b'"gone":true' in contents(folder)["index.html"]
    plain_reader.write(logs / "a.log", "#plain a Fix the test", "@ 2026-10-08T09:00", "> Back again")
    assert site.build(plan(logs, folder)).gone == 0
    assert b"gone" not in contents(folder)["index.html"]
    (logs / "a.log").unlink()
    assert site.build(plan(logs, folder, prune=True)).pruned == 1
    assert len(contents(folder)) == 3


def test_pruning_takes_nothing_that_was_not_looked_for(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "site"
    site.build(plan(logs, folder))
    other = tmp_path / "other"
    plain_reader.write(other / "c.log", "#plain c Elsewhere", "> Hello")
    built = site.build(plan(other, folder, prune=True))
    assert (built.pruned, built.others, len(contents(folder))) == (0, 2, 7)
    chosen = [chat for chat in stores.survey([logs]).chats if chat.id == "a"]
    assert site.build(plan(logs, folder, prune=True, chosen=chosen)).pruned == 0
    real = os.scandir

    def refuse(path):  # type: ignore[no-untyped-def]
        if path == logs:
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert site.build(plan(logs, folder, prune=True)).pruned == 0


def test_pruning_keeps_what_a_person_changed(logs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    site.build(plan(logs, folder))
    report = next(path for path in (folder / "reports").iterdir() if "fix" in path.name)
    report.write_text("My own words")
    (logs / "a.log").unlink()
    built = site.build(plan(logs, folder, prune=True))
    assert built.kept == [f"reports/{report.name}"]
    assert report.read_text() == "My own words"


def test_without_the_own_bytes_everything_is_made_again_under_the_same_names(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "site"
    site.build(plan(logs, folder))
    before = contents(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another computer"))
    assert site.build(plan(logs, folder)).written == 2
    assert contents(folder) == before


def test_a_shared_manifest_tells_neither_paths_nor_what_was_given(logs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    site.build(plan(logs, folder))
    told = (folder / manifest.NAME).read_text()
    assert str(tmp_path) not in told
    assert sha256(str(logs).encode()).hexdigest() not in told


def test_a_damaged_manifest_costs_work_and_nothing_else(logs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    site.build(plan(logs, folder))
    before = contents(folder)
    lines = (folder / manifest.NAME).read_bytes().split(b"\n")
    for damaged in (b"\n".join([lines[0], b"{oops", *lines[2:]]), b'{"chat": 5}\nnull\n[]\n' + b"\n".join(lines)):
        (folder / manifest.NAME).write_bytes(damaged)
        site.build(plan(logs, folder))
        assert contents(folder) == before
    (folder / manifest.NAME).write_bytes(b'{"trailbook": 99}')
    with pytest.raises(Stopped, match="A newer trailbook wrote"):
        site.build(plan(logs, folder))


@pytest.mark.parametrize("name", ["../outside", "reports/../../outside", "/etc/outside", "..", "a\\b", "C:x"])
def test_a_forged_manifest_leads_nowhere(logs: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "site"
    outside = tmp_path / "outside"
    outside.write_text("theirs")
    site.build(plan(logs, folder))
    forged = {
        "chat": ["plain", "zzz"],
        "key": "",
        "root": "",
        "digits": "zzzzzz",
        "stems": {"zzz": name, "a": name},
        "files": {name: [sha256(b"theirs").hexdigest(), 6]},
        "rows": [],
        "gone": True,
    }
    with (folder / manifest.NAME).open("ab") as stream:
        stream.write(json_text.dump(forged) + b"\n")  # type: ignore[arg-type]
        stream.write(json_text.dump({**forged, "chat": ["plain", "a"]}) + b"\n")  # type: ignore[dict-item]
    site.build(plan(logs, folder, prune=True))
    assert outside.read_text() == "theirs"
    assert {path.name for path in tmp_path.iterdir()} == {"logs", "site", "state", "outside"}


# --- folders that are not for this


@pytest.mark.parametrize("there", ["file", "foreign", "link to a file"])
def test_a_folder_that_is_not_ours_is_refused(logs: Path, tmp_path: Path, there: str) -> None:
    folder = tmp_path / "site"
    if there == "foreign":
        folder.mkdir()
        (folder / "thesis.docx").write_text("x")
        sentence = r"site holds thesis.docx, which trailbook did not write\. Choose a new or an empty folder"
    else:
        (tmp_path / "file").write_text("x")
        folder.symlink_to(tmp_path / "file") if there == "link to a file" else folder.write_text("x")
        sentence = "is a file, not a folder"
    with pytest.raises(Stopped, match=sentence):
        site.build(plan(logs, folder))
    assert not (folder / ".trailbook").exists()


def test_an_empty_folder_and_a_link_to_one_are_built_into(logs: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    site.build(plan(logs, tmp_path / "link"))
    assert (tmp_path / "real" / "index.html").exists()


def test_an_agents_own_store_is_refused(logs: Path, tmp_path: Path) -> None:
    with pytest.raises(Stopped, match="belongs to Plain Agent"):
        site.build(plan(logs, tmp_path / "agent-home" / "site"))
    assert not (tmp_path / "agent-home").exists()


@pytest.mark.parametrize("where", ["reports", "notes", "index.html", ".trailbook"])
def test_links_inside_the_folder_are_not_followed(logs: Path, tmp_path: Path, where: str) -> None:
    folder, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    (elsewhere / "index.html").write_text("theirs")
    if where != ".trailbook":
        site.build(plan(logs, folder))
        (folder / where).rename(tmp_path / "was")
    (folder / where).symlink_to(elsewhere / "index.html" if where == "index.html" else elsewhere)
    plain_reader.write(logs / "a.log", "#plain a Fix the test", "@ 2026-10-08T09:00", "> Changed")
    if where == "index.html":
        assert site.build(plan(logs, folder)).kept == ["index.html"]
    else:
        with pytest.raises(Stopped, match=r"link|which trailbook did not write"):
            site.build(plan(logs, folder))
    assert {path.name: path.read_text() for path in elsewhere.iterdir()} == {"index.html": "theirs"}


# --- chats that fail, and chats that are none


def test_one_bad_log_costs_one_chat(logs: Path, tmp_path: Path) -> None:
    plain_reader.write(logs / "c.log", "#plain c", "! unreadable")
    plain_reader.write(logs / "d.log", "#plain d", "! broken")
    plain_reader.write(logs / "e.log", "#plain e", "! dead")
    plain_reader.write(logs / "f.log", "#plain f Nothing happened")
    built = site.build(plan(logs, tmp_path / "site"))
    assert built.written == 2
    assert {found.id: why for found, why in built.failed} == {
        "c": f"{logs / 'c.log'} is scrambled from line 2 on; nothing can be read of it.",
        "d": f"{logs / 'd.log'} could not be made into a chat: ValueError: this reader has a fault.",
        "e": f"{logs / 'e.log'} could not be made: the process that worked on it was killed, or there was not enough "
        "memory for it.",
    }
    assert built.left_out == {NOTHING_IN_IT: 1}
    assert built.status == failures.SOME_FAILED
    assert len(contents(tmp_path / "site")) == 5
    again = site.build(plan(logs, tmp_path / "site"))
    assert (again.unchanged, again.left_out) == (2, {NOTHING_IN_IT: 1})


def test_a_chat_that_is_made_twice_since_another_died_is_written_once(logs: Path, tmp_path: Path) -> None:
    order = staging.Order(stores.survey([logs]).chats[0], Output(), folder=tmp_path / "private")
    first = staging.stage(order)
    assert isinstance(first, staging.Staged)
    (tmp_path / "private" / "reports" / "left-over.html").touch()
    again = staging.stage(order)
    assert isinstance(again, staging.Staged)
    assert again.files == first.files
    assert set(contents(tmp_path / "private")) == set(first.files)


def test_a_log_that_goes_away_meanwhile_costs_one_chat(logs: Path, tmp_path: Path) -> None:
    given = plan(logs, tmp_path / "site")
    (logs / "a.log").unlink()
    built = site.build(given)
    assert built.written == 1
    assert [why for _found, why in built.failed] == [f"{logs / 'a.log'} could not be read (no such file or directory)."]


def test_nothing_but_failures_is_status_1(tmp_path: Path) -> None:
    plain_reader.write(tmp_path / "logs" / "c.log", "#plain c", "! unreadable")
    built = site.build(plan(tmp_path / "logs", tmp_path / "site"))
    assert built.status == failures.NOTHING
    assert not (tmp_path / "site").exists()


def test_what_a_filter_leaves_out_once_read_is_not_written(logs: Path, tmp_path: Path) -> None:
    plain_reader.write(logs / "c.log", "#plain c By another", "% other-engine")
    output = Output(wanted=Wanted(providers=("other-engine",)))
    built = site.build(plan(logs, tmp_path / "site", output=output))
    assert (built.written, built.left_out) == (1, {"--provider": 2})


def test_no_leaves_no_trace_and_yes_writes(logs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    seen: list[int] = []

    def answer(yes: bool):  # type: ignore[no-untyped-def]
        def confirm(built: site.Built) -> bool:
            seen.append(len(built.made))
            assert contents(folder) == {}
            return yes

        return confirm

    built = site.build(plan(logs, folder), answer(False))
    assert built.status == failures.NOT_CONFIRMED
    assert not folder.exists()
    assert site.build(plan(logs, folder), answer(True)).written == 2
    assert len(contents(folder)) == 5
    assert seen == [2, 2]


def test_a_preview_writes_nothing(logs: Path, tmp_path: Path) -> None:
    built = site.preview(plan(logs, tmp_path / "site"))
    assert [staged.made.steps for staged in built.made] == [1, 2], "the newest first"
    assert {path.name for path in tmp_path.iterdir()} == {"logs"}


def test_any_executor_does_the_work(logs: Path, tmp_path: Path) -> None:
    plain_reader.write(logs / "c.log", "#plain c", "! broken")
    with ThreadPoolExecutor(2) as executor:
        built = site.build(plan(logs, tmp_path / "site"), executor=executor)
    assert (built.written, [found.id for found, _why in built.failed]) == (2, ["c"])
    site.build(plan(logs, tmp_path / "clean"))
    assert contents(tmp_path / "site") == contents(tmp_path / "clean")


def test_what_a_worker_is_given_and_gives_can_be_sent(logs: Path) -> None:
    survey = stores.survey([logs])
    output = Output(zone=ZoneInfo("Europe/Berlin"), context=load_context(secret_files=[], environment={}))
    order = pickle.loads(pickle.dumps(staging.Order(survey.chats[0], output)))
    assert order == staging.Order(survey.chats[0], output)
    made = make_chat(order.found, order.output)
    again = pickle.loads(pickle.dumps(made))
    assert again == made
    assert [piece.name for piece in made.pieces] == [piece.name for piece in make_chat(*_given(survey)).pieces]


def _given(survey: stores.Survey) -> tuple[Found, Output]:
    return survey.chats[0], Output(zone=ZoneInfo("Europe/Berlin"))


# --- trajectories are counted again


def copy_of(chat: Chat, sheet: Sheet) -> list[Piece]:
    """A trajectory in the plain format; a chat named so loses its last words in it."""
    lines = [f"#plain {chat.id}"]
    lines += [f"{'>' if isinstance(event, Asked) else '<'} {event.text}" for event in chat.events]  # type: ignore[union-attr]
    if chat.title == "Lossy":
        lines.pop()
    return [Piece(f"trajectories/{sheet.stem}.log", "\n".join(lines).encode())]


@pytest.fixture
def _copies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(formats.FORMATS, "copy", Format(copy_of, bundle, each=False))
    monkeypatch.setattr("trailbook.making.TRAJECTORIES", ("copy",))
    monkeypatch.setitem(fidelity.NOT_CARRIED, "plain", frozenset())


@pytest.mark.usefixtures("_copies")
def test_a_trajectory_that_lost_work_is_said_and_is_status_5(logs: Path, tmp_path: Path) -> None:
    output = Output(formats=("copy",))
    built = site.build(plan(logs, tmp_path / "site", output=output))
    assert built.status == failures.DONE
    assert [len(staged.made.fidelity) for staged in built.made] == [1, 1]
    plain_reader.write(logs / "c.log", "#plain c Lossy", "> One", "< Two")
    built = site.build(plan(logs, tmp_path / "site", output=output))
    assert built.status == failures.WORK_LOST
    (lossy,) = built.made
    assert "lost or changed: 1 answer" in lossy.made.fidelity[0]


@pytest.mark.usefixtures("_copies")
def test_a_log_that_grew_meanwhile_is_no_loss(logs: Path, tmp_path: Path) -> None:
    given = plan(logs, tmp_path / "site", output=Output(formats=("copy",)))
    plain_reader.write(logs / "a.log", "#plain a Lossy", "@ 2026-10-08T09:00", "> Please fix it", "< Done", "< More")
    given = replace(given, chosen=[replace(chat, title="Lossy") for chat in given.chosen if chat.id == "a"])
    built = site.build(given)
    assert built.status == failures.DONE
    assert "The log went on while it was read" in built.made[0].made.fidelity[0]


# --- faults


@pytest.fixture
def operations(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts the operations that write; the one whose number stands second fails with the error that stands third."""
    state = [0, -1, 0]

    def counting(real):  # type: ignore[no-untyped-def]
        def operation(*given, **named):  # type: ignore[no-untyped-def]
            state[0] += 1
            if state[0] == state[1]:
                if state[2] == 0:
                    os._exit(9)
                raise OSError(state[2], os.strerror(state[2]))
            return real(*given, **named)

        return operation

    for name in ("link", "mkdir", "fdopen"):
        monkeypatch.setattr(os, name, counting(getattr(os, name)))
    for name in ("replace", "unlink"):
        monkeypatch.setattr(Path, name, counting(getattr(Path, name)))
    # One process, so that the operations have an order.
    monkeypatch.setattr(pool, "each", lambda work, tasks, executor: ((task, work(task)) for task in tasks))
    return state


@pytest.mark.parametrize("error", [28, 5])
def test_whatever_write_fails_each_file_is_whole_or_absent_and_the_next_build_completes(
    logs: Path, tmp_path: Path, operations: list[int], error: int
) -> None:
    site.build(plan(logs, tmp_path / "clean"))
    clean = contents(tmp_path / "clean")
    points = operations[0]
    assert points > 20
    for point in range(1, points + 1):
        folder = tmp_path / f"site-{point}"
        operations[:] = [0, point, error]
        with contextlib.suppress(Stopped):
            site.build(plan(logs, folder))
        operations[1] = -1
        for name, data in contents(folder).items() if folder.exists() else ():
            assert data in (clean[name], b"") or name == "index.html", (point, name)
        site.build(plan(logs, folder))
        assert contents(folder) == clean, point
        assert not list(folder.rglob(f"{saving.STAGING}*")), point


def test_wherever_a_build_is_killed_the_next_completes(logs: Path, tmp_path: Path, operations: list[int]) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    plain_reader.write(old / "a.log", "#plain a Fix the test", "@ 2026-10-08T09:00", "> Before")
    plain_reader.write(new / "a.log", "#plain a Fix the test", "@ 2026-10-08T09:00", "> After that, longer")
    plain_reader.write(new / "b.log", "#plain b Write notes", "@ 2026-10-09T09:00", "> Notes")
    site.build(plan(old, tmp_path / "before"))
    before = contents(tmp_path / "before")
    site.build(plan(new, tmp_path / "clean"))
    clean = contents(tmp_path / "clean")
    for point in range(1, 200):
        folder = tmp_path / f"site-{point}"
        operations[:] = [0, -1, 0]
        site.build(plan(old, folder))
        child = os.fork()
        if child == 0:
            operations[:] = [0, point, 0]
            site.build(plan(new, folder))
            os._exit(0)
        _pid, ended = os.waitpid(child, 0)
        for name, data in contents(folder).items():
            assert data in (before.get(name), clean.get(name)), (point, name)
        built = site.build(plan(new, folder))
        assert built.kept == [], point
        assert contents(folder) == clean, point
        if os.waitstatus_to_exitcode(ended) == 0:
            break
    assert point > 20


def test_a_full_disk_is_said_and_what_was_written_stays(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = saving.place_new
    placed: list[Path] = []

    def full(staged: Path, target: Path) -> bool:
        placed.extend([target] if "state" not in target.parts else [])
        if len(placed) > 2:
            raise saving.stopped(OSError(28, ""), target)
        return real(staged, target)

    monkeypatch.setattr(saving, "place_new", full)
    with pytest.raises(Stopped) as error:
        site.build(plan(logs, tmp_path / "site"))
    assert error.value.sentence.startswith("The disk is full:")
    assert error.value.sentence.endswith("1 chat was written before that.")
    assert error.value.status == failures.SOME_FAILED
    assert len(contents(tmp_path / "site")) == 2


def _script(logs: Path, folder: Path, *lines: str) -> list[str]:
    """A program that builds with the plain reader, preceded by these lines."""
    body = f"""
        import os, sys, time
        from pathlib import Path
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        import pytest
        import plain_reader, test_site
        from trailbook import site
        patch = pytest.MonkeyPatch()
        patch.setenv("XDG_STATE_HOME", {str(folder.parent / "state")!r})
        plain_reader.install(patch, Path("/nowhere"))
        test_site.install_writers(patch)
        plan = test_site.plan(Path({str(logs)!r}), Path({str(folder)!r}))
    """
    return [sys.executable, "-c", "\n".join([textwrap.dedent(body), *lines])]


def test_two_builds_at_once_wait_for_each_other(logs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    build = 'print("said", flush=True); site.build(plan, told=site.Told(busy=lambda: print("busy", flush=True)))'
    with site.opened(folder, site.Told()) as held:
        manifest.Manifest(folder).save()
        other = subprocess.Popen(_script(logs, folder, build), stdout=subprocess.PIPE, text=True)
        assert other.stdout is not None
        assert [other.stdout.readline(), other.stdout.readline()] == ["said\n", "busy\n"]
        assert held.entries == {}
    assert other.wait() == 0
    other.stdout.close()
    site.build(plan(logs, tmp_path / "clean"))
    assert contents(folder) == contents(tmp_path / "clean")


def heed_interrupts() -> None:
    """In a program that is started: a shell has what runs in its background ignore interrupts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_an_interrupt_leaves_what_is_finished_and_the_next_build_goes_on(logs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    for number in range(6):
        plain_reader.write(logs / f"{number}.log", f"#plain c{number} Chat {number}", "> Hello")
    slow = (
        "told = site.Told(each=lambda found: (print('done', flush=True), time.sleep(5)))\n"
        "try:\n    site.build(plan, told=told)\nexcept KeyboardInterrupt:\n    sys.exit(130)"
    )
    run = subprocess.Popen(
        _script(logs, folder, slow),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )
    assert run.stdout is not None
    assert run.stdout.readline() == "done\n"
    assert run.stdout.readline() == "done\n"
    os.killpg(run.pid, signal.SIGINT)
    run.communicate(timeout=20)
    assert run.returncode == 130
    there = contents(folder)
    assert there
    assert not list(folder.rglob(f"{saving.STAGING}*"))
    site.build(plan(logs, tmp_path / "clean"))
    clean = contents(tmp_path / "clean")
    assert all(clean[name] == data for name, data in there.items())
    built = site.build(plan(logs, folder))
    assert built.unchanged == len(there) // 2
    assert contents(folder) == clean


# --- the pool


def test_each_task_gives_its_result_or_what_it_raised() -> None:
    results = dict(pool.each(_work, ["1", "2", "fail", "die", "3"]))
    assert {task: type(result).__name__ for task, result in results.items()} == {
        "1": "int",
        "2": "int",
        "3": "int",
        "fail": "ValueError",
        "die": "Died",
    }


@pytest.mark.parametrize("cores", [1, 2, 3])
def test_work_of_one_chat_is_shared_out_and_comes_back_in_order(monkeypatch: pytest.MonkeyPatch, cores: int) -> None:
    monkeypatch.setattr(pool, "_own_cores", cores)
    here = os.getpid()
    done = pool.shared_out(lambda item: (item, os.getpid()), 7)
    assert [item for item, _process in done] == list(range(7))
    assert len({process for _item, process in done}) == (cores if sys.platform == "linux" else 1)
    assert pool.shared_out(lambda item: item, 0) == []

    def dies_elsewhere(item: int) -> int:
        if os.getpid() != here:
            os._exit(9)
        return item * item

    assert pool.shared_out(dies_elsewhere, 5) == [0, 1, 4, 9, 16]
    with pytest.raises(ZeroDivisionError):
        pool.shared_out(lambda item: 1 // (item - 1), 3)


def test_a_process_that_is_killed_from_outside_costs_nothing(tmp_path: Path) -> None:
    marker = tmp_path / "once"
    results = dict(pool.each(_die_once, [f"{marker}|{number}" for number in range(6)]))
    assert sorted(results.values()) == list(range(6))  # type: ignore[type-var]


def test_no_worker_outlives_a_run_that_is_killed(tmp_path: Path) -> None:
    script = f"""
        import os, sys, time
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        import test_site
        from trailbook import pool
        for task, result in pool.each(test_site._note_pid, [{str(tmp_path)!r}] * 4): pass
    """
    run = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)])
    while not (pids := [int(path.name) for path in tmp_path.iterdir()]):
        time.sleep(0.05)
    run.kill()
    run.wait()
    ended = time.monotonic() + 20
    while any(_is_alive(pid) for pid in pids):
        assert time.monotonic() < ended
        time.sleep(0.05)


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _work(task: str) -> int:
    if task == "die":
        os._exit(9)
    return int(task)


def _die_once(task: str) -> int:
    marker, _, number = task.partition("|")
    if number == "3" and not Path(marker).exists():
        Path(marker).touch()
        os._exit(9)
    return int(number)


def _note_pid(folder: str) -> None:
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(60)
