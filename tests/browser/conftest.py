"""Pages as they are built, and the browsers they are opened in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from browser.browsers import Chromium, Firefox, is_installed
from conftest import EXAMPLES, skip_unless_required
from full_chat import START, full_chat
from trailbook.chat import Agent, Asked, Called, Chat, Event, Returned, Text, with_subagents
from trailbook.formats import Output, Sheet
from trailbook.readers import reader
from trailbook.stores import survey
from trailbook.writers.batch import write_batch
from trailbook.writers.index import row_of, write_index
from trailbook.writers.markdown import write_note
from trailbook.writers.report import write_report

OUTPUT = Output(zone=UTC)
BATCH = 4
"""Chats of the examples that stand on one page together."""
PLAIN = Path(__file__).parent.parent.parent / "themes" / "plain"
PAYLOADS: list[str] = json.loads((Path(__file__).parent.parent / "data" / "payloads.json").read_text())


def write_site(folder: Path, chats: list[Chat]) -> list[Path]:
    """A folder as a build makes it, of chats that are read already; its pages."""
    rows = []
    for number, chat in enumerate(chats):
        each = list(with_subagents(chat))
        stems = {id(one): f"chat-{number}-{place}" for place, one in enumerate(each)}
        parents = {id(below): stems[id(one)] for one in each for below in one.subagents}
        for one in each:
            below = {subagent.id: stems[id(subagent)] for subagent in one.subagents}
            sheet = Sheet(OUTPUT, stems[id(one)], parents.get(id(one)), below)
            for piece in [*write_report(one, sheet), *write_note(one, sheet)]:
                _write(folder / piece.name, piece.data)
            rows.append(row_of(one, sheet))
    for piece in write_index(rows, [["/logs/x.txt", "not recognised", "no known format"]], OUTPUT):
        _write(folder / piece.name, piece.data)
    return sorted(folder.rglob("*.html"))


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


@pytest.fixture(scope="session")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of every example log."""
    folder = tmp_path_factory.mktemp("examples")
    found = survey([EXAMPLES]).chats
    chats = [reader(each.reader).read(each, UTC) for each in found]
    write_site(folder, chats)
    _write(folder / "batch.html", write_batch(chats[:BATCH], Sheet(OUTPUT, "batch")))
    plain = replace(OUTPUT, theme=PLAIN)
    (page,) = write_report(chats[0], Sheet(plain, "plain"))
    _write(folder / "plain.html", page.data)
    return folder


@pytest.fixture(scope="session")
def parts(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The pages of a chat that is too long for one."""
    folder = tmp_path_factory.mktemp("parts")
    events: list[Event] = [Asked(id="u", text="Go on", at=START)]
    for number in range(900):
        at = START + number * 1_000
        events.append(Called(id=f"t{number}", name="Bash", arguments={"command": f"echo {number}"}, at=at))
        events.append(Returned(call=f"t{number}", parts=[Text("one\ntwo\n" * 500)], ok=True, at=at + 500))
    chat = Chat("c", "conch", Agent("Pearl", None, "Conch"), "A long run", events=events)
    pieces = write_report(chat, Sheet(OUTPUT, "long"))
    for piece in pieces:
        _write(folder / piece.name, piece.data)
    return [folder / piece.name for piece in pieces]


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Pages of chats in which every text is a payload: of each chat its report, and the pages over all of them."""
    folder = tmp_path_factory.mktemp("hostile")
    chats = [full_chat(lambda _name, text=text: text) for text in PAYLOADS]  # type: ignore[misc]
    write_site(folder, chats)
    _write(folder / "batch.html", write_batch(chats, Sheet(OUTPUT, "batch")))
    return [*sorted(folder.glob("*.html")), *sorted(folder.glob("reports/chat-*-0.html"))]


@pytest.fixture(scope="session")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a chat in which every text is one word without an end."""
    folder = tmp_path_factory.mktemp("unbroken")
    (page,) = write_report(full_chat(lambda _name: "x" * 400), Sheet(OUTPUT, "unbroken"))
    _write(folder / "unbroken.html", page.data)
    return folder / "unbroken.html"


@pytest.fixture(scope="session", params=[Chromium, Firefox], ids=lambda browser: browser.name)
def browser(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Each of the two browsers, with one page of 1280 by 900."""
    yield from opened(request.param)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Chromium, for what only it can be asked."""
    yield from opened(Chromium)


def opened(kind: Any) -> Iterator[Any]:
    """A running browser, ended afterwards."""
    if not is_installed(kind.name):
        skip_unless_required("browsers", f"{kind.name} is not installed")
    running = kind()
    yield running
    running.close()
