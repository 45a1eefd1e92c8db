"""Paths: what a log refers to leads nowhere outside its store, and neither do links; no file name does harm."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import unicodedata
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC
from functools import cache
from itertools import count
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import EXAMPLES
from hostile.attacking import AGENTS
from hostile.planting import plant
from small_chats import PICTURE
from trailbook import names, site, stores
from trailbook.chat import Chat
from trailbook.failures import Stopped
from trailbook.formats import TRAJECTORIES, Output
from trailbook.ledger import keep_nothing
from trailbook.making import make_chat
from trailbook.readers import Found, Unreadable, reader

CANARY = b"canary-that-nobody-named"


class _Watch:
    """Which files are opened and which folders are listed; there is one for the whole process."""

    def __init__(self) -> None:
        self.opened: list[Path] | None = None
        sys.addaudithook(self._told)

    def _told(self, event: str, given: tuple[object, ...]) -> None:
        if self.opened is not None and event in ("open", "os.listdir", "os.scandir", "sqlite3.connect"):
            if not isinstance(given[0], str | bytes | os.PathLike):
                return
            path = Path(os.fsdecode(given[0]).removeprefix("file:").partition("?")[0])
            # Where a link itself would be refused, only those above it count.
            refused = event == "open" and isinstance(given[2], int) and given[2] & os.O_NOFOLLOW
            self.opened.append(path.parent.resolve() / path.name if refused else path.resolve())


@cache
def _watch() -> _Watch:
    return _Watch()


@contextmanager
def watched() -> Iterator[list[Path]]:
    """What is opened meanwhile."""
    watch = _watch()
    watch.opened = opened = []
    try:
        yield opened
    finally:
        watch.opened = None


@contextmanager
def in_time(seconds: int = 10) -> Iterator[None]:
    """Fails where something waits for what never comes."""

    def hang(_signal: int, _frame: FrameType | None) -> None:
        raise AssertionError("it hangs")

    before = signal.signal(signal.SIGALRM, hang)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def read_all(folder: Path) -> list[Chat]:
    """The chats in a folder, read and counted; what cannot be read is passed over."""
    survey = stores.survey([folder])
    assert [skipped for skipped in survey.skipped if "failed on it" in skipped.why] == []
    read = []
    for found in survey.chats:
        with suppress(Unreadable, OSError):
            read.append(reader(found.reader).read(found, UTC))
            reader(found.reader).count(found, keep_nothing)
    return read


def outside(opened: list[Path], store: Path, top: Path) -> list[Path]:
    return [path for path in opened if path.is_relative_to(top) and not path.is_relative_to(store) and path != top]


# --- what a log says


@pytest.mark.parametrize("agent", AGENTS)
def test_no_reference_in_a_log_is_read_outside_its_store(agent: str, tmp_path: Path) -> None:
    top = tmp_path.resolve() / "top"
    endings = sorted({path.suffix for path in (EXAMPLES / agent).rglob("*") if path.is_file()} | {".png", ".txt", ""})
    logs = sorted(path for path in (EXAMPLES / agent).rglob("*.json*") if path.is_file())
    top.mkdir()
    for ending in endings:
        same = next((path.read_bytes() for path in logs if path.suffix == ending), PICTURE.data or b"")
        (top / f"canary{ending}").write_bytes(CANARY if ending in ("", ".txt") else same)
    steps = ["../" * deep for deep in range(1, 7)]
    for number, way in enumerate([f"{top}/", f"file://{top}/", *steps]):

        def changed(_field: str, value: str, way: str = way) -> str:
            ending = Path(value).suffix if len(value) < 200 else ""
            return f"{way}canary{ending if ending in endings else ''}"

        for only in ("paths", "ids", "all"):
            store = top / f"{number}-{only}" / agent
            plant(EXAMPLES / agent, store, lambda field, value, only=only: _which(field, value, only, changed))
            with watched() as opened:
                chats = read_all(store)
            assert outside(opened, store, top) == [], (way, only)
            assert CANARY.decode() not in repr(chats)
            shutil.rmtree(store.parent)


def _which(field: str, value: str, only: str, changed: Callable[[str, str], str]) -> str:
    if only == "paths":
        return changed(field, value) if "/" in value and " " not in value else value
    if only == "ids":
        last = field.rpartition(".")[2].casefold()
        return changed(field, value) if last.endswith(("id", "uuid", "file", "path", "ref", "name")) else value
    return changed(field, value) if field.rpartition(".")[2] not in ("type", "role", "kind", "from") else value


def test_a_reference_that_was_followed_would_be_seen(tmp_path: Path) -> None:
    (tmp_path / "canary").write_bytes(CANARY)
    with watched() as opened:
        (tmp_path / "store" / ".." / "canary").resolve().read_bytes()
    assert outside(opened, tmp_path.resolve() / "store", tmp_path.resolve()) == [tmp_path.resolve() / "canary"]


# --- links, pipes and folders in the place of files


def _places(agent: str) -> list[Path]:
    return sorted(path.relative_to(EXAMPLES / agent) for path in (EXAMPLES / agent).rglob("*"))


@pytest.mark.parametrize("agent", AGENTS)
def test_no_link_in_a_store_is_followed(agent: str, tmp_path: Path) -> None:
    for number, place in enumerate(_places(agent)):
        top = tmp_path.resolve() / str(number)
        store, away = top / "store", top / "away"
        shutil.copytree(EXAMPLES / agent, store)
        away.mkdir()
        (store / place).rename(away / place.name)
        (store / place).symlink_to(away / place.name)
        with watched() as opened:
            read_all(store)
        assert outside(opened, store, top) == [], place
        shutil.rmtree(top)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_pipe_a_device_or_a_folder_in_the_place_of_a_file_stops_nothing(agent: str, tmp_path: Path) -> None:
    number = count()
    for place in _places(agent):
        if (EXAMPLES / agent / place).is_dir():
            continue
        ways: list[Callable[[Path], object]] = [
            os.mkfifo,
            Path.mkdir,
            lambda path: path.symlink_to("/dev/zero"),
            lambda path: path.symlink_to(path),
        ]
        for way in ways:
            store = tmp_path / f"store-{next(number)}"
            shutil.copytree(EXAMPLES / agent, store)
            (store / place).unlink()
            way(store / place)
            with in_time():
                read_all(store)
            shutil.rmtree(store)


def test_a_pipe_beside_a_database_stops_nothing(tmp_path: Path) -> None:
    for ending in ("-wal", "-shm", "-journal"):
        store = tmp_path / ending
        shutil.copytree(EXAMPLES / "opencode", store)
        os.mkfifo(store / f"opencode.db{ending}")
        with in_time():
            assert read_all(store) != []


# --- the folder that is built


def logs_of(tmp_path: Path, words: str) -> stores.Survey:
    logs = tmp_path / "logs"
    shutil.rmtree(logs, ignore_errors=True)
    plant(EXAMPLES / "openai", logs, lambda field, value: f"{value} {words}" if field.endswith(".content") else value)
    return stores.survey([logs])


@pytest.mark.parametrize("to", ["file", "folder", "nothing", "itself"])
def test_no_link_in_a_built_folder_is_written_through(to: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    output = Output(formats=("report", "markdown", "openai"), zone=UTC)

    def build(folder: Path, survey: stores.Survey) -> None:
        with ThreadPoolExecutor(1) as executor:
            site.build(site.Plan(folder, survey, survey.chats[:1], output), executor=executor)

    first = logs_of(tmp_path, "first")
    build(tmp_path / "clean", first)
    places = sorted(path.relative_to(tmp_path / "clean") for path in (tmp_path / "clean").rglob("*"))
    assert len(places) > 8
    second = logs_of(tmp_path, "second")
    for number, place in enumerate(places):
        folder, elsewhere = tmp_path / f"site-{number}", tmp_path / f"elsewhere-{number}"
        shutil.copytree(tmp_path / "clean", folder)
        elsewhere.mkdir()
        (elsewhere / "theirs").write_text("theirs")
        target = {"file": elsewhere / "theirs", "folder": elsewhere, "nothing": elsewhere / "new"}.get(
            to, folder / place
        )
        (folder / place).rename(tmp_path / f"was-{number}")
        (folder / place).symlink_to(target)
        with suppress(Stopped):
            build(folder, second)
        assert {path.name: path.read_text() for path in elsewhere.iterdir()} == {"theirs": "theirs"}, place
        shutil.rmtree(folder)


# --- names


@pytest.mark.parametrize(
    "name",
    [
        "x" * 249 + ".jsonl",
        "é" * 124 + ".jsonl",
        "e\u0301" * 80 + ".jsonl",
        "CON.jsonl",
        "-rf.jsonl",
        " .jsonl",
        "\u202e.jsonl",
    ],
)
def test_a_log_of_any_name_is_read_and_written_under_a_name_of_ours(name: str, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    shutil.copy(EXAMPLES / "openai" / "parcels.jsonl", tmp_path / "logs" / name)
    found = stores.survey([tmp_path / "logs"]).chats
    assert found
    for each in found:
        assert _names_of(each)


def _names_of(found: Found) -> list[str]:
    pieces = make_chat(found, Output(formats=("report", "markdown", *TRAJECTORIES), zone=UTC)).pieces
    for piece in pieces:
        assert all(len(part.encode()) <= 255 for part in piece.name.split("/"))
    return [piece.name for piece in pieces]


LONGEST_ENDING = "-100.trajectory-v1.jsonl.meta.json"
RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}


@given(st.text(max_size=300), st.none() | st.integers(-(10**15), 10**16))
def test_a_stem_is_a_file_name_on_every_system(title: str, started: int | None) -> None:
    stem = names.stem(title, started, "3fa9c1", UTC)
    assert len((stem + LONGEST_ENDING).encode("utf-8")) <= 255
    assert unicodedata.normalize("NFC", stem) == stem
    assert not set(stem) & set('/\\:*?"<>|\0')
    assert stem.isprintable()
    assert stem.split(".")[0].casefold() not in RESERVED
    assert not stem.startswith(("-", "."))
    assert not stem.endswith((".", " "))


@given(st.text(max_size=40))
def test_chats_are_told_apart_where_case_and_form_make_no_difference(title: str) -> None:
    stems = [
        names.stem(each, 0, digits, UTC)
        for digits, each in zip(
            ("aaaaaa", "bbbbbb", "cccccc", "dddddd"),
            (title, title.upper(), unicodedata.normalize("NFD", title), unicodedata.normalize("NFC", title)),
            strict=True,
        )
    ]
    assert len({unicodedata.normalize("NFD", stem).casefold() for stem in stems}) == 4


@given(st.text(max_size=300), st.text(max_size=100))
def test_an_exported_name_is_a_file_name_on_every_system(title: str, heading: str) -> None:
    name = names.numbered(names.export_name(heading, title, "2026-10-08") + ".trajectory-v1.jsonl", 100)
    assert len(name.encode("utf-8")) <= 400
    assert not set(name) & set('/\\:*?"<>|\0')
    assert name.isprintable()
    for part in name.split(" – "):
        assert part.split(".")[0].strip().casefold() not in RESERVED
    assert not name.startswith((".", " ", "-"))
