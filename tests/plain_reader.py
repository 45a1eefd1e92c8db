"""A reader of a made-up format, small enough that a test can write its logs: what finding, building and saving do is
tested with it, apart from any real format.

The first line is `#plain ID TITLE`. Then one line an event: `> asked`, `< said`, `= origin`, `@ 2026-10-08T09:30` for
the time of what follows, `/ working folder`, `% engine`, `& a person's name` that settings beside the log would know,
and three that go wrong: `! unreadable`, `! broken` and `! dead` (the process ends). A file that starts with `#aside` is
a sidecar.
"""

from __future__ import annotations

import os
import sys
from datetime import datetime, tzinfo
from pathlib import Path
from types import ModuleType

import pytest

from trailbook import readers
from trailbook.chat import Agent, Answered, Asked, Chat, Diagnostic, Origin, Place, Said
from trailbook.ledger import Entry, Keep, Ledger, digest_of_text
from trailbook.readers import Found, Names, Passed, Places, Unreadable

PRODUCT = "Plain Agent"
HOME = Path("/nowhere")
PLACES = Places(
    logs=lambda: [HOME / "logs"],
    stores=lambda: [HOME],
    allowed=lambda: [HOME / "workspace"],
    names=Names,
)


def find(path: Path, head: bytes) -> list[Found] | Passed | None:
    if head.startswith(b"#aside"):
        return Passed("it is a sidecar")
    if not head.startswith(b"#plain "):
        return None
    first, *lines = head.decode("utf-8", "replace").splitlines()
    if "! no-list" in lines:
        raise ValueError("this reader has a fault")
    _, id_, *title = first.split(" ", 2)
    status = path.stat()
    times = [_time(line) for line in lines if line.startswith("@ ")]
    return [
        Found(
            reader="plain",
            id=id_,
            path=path,
            inputs=(path,),
            fingerprint=f"{status.st_size}-{status.st_mtime_ns}",
            title=title[0] if title else None,
            started=times[0] if times else None,
            updated=times[-1] if times else None,
            cwd=next((line[2:] for line in lines if line.startswith("/ ")), None),
            origin=next((line[2:] for line in lines if line.startswith("= ")), "chat"),
            size=status.st_size,
            preference=head.count(b"preferred"),
            names=tuple(line[2:] for line in lines if line.startswith("& ")),
        )
    ]


def read(found: Found, zone: tzinfo) -> Chat:
    chat = Chat(found.id, "plain", Agent("Plain", None, PRODUCT), found.title, Origin(found.origin))
    chat.cwd, chat.started, chat.ended = found.cwd, found.started, found.updated
    at = None
    for number, line in enumerate(found.path.read_text().splitlines(), 1):
        place = Place(found.path.name, number)
        if line == "! unreadable":
            raise Unreadable(f"{found.path} is scrambled from line {number} on; nothing can be read of it.")
        if line == "! broken":
            raise ValueError("this reader has a fault")
        if line == "! dead":
            os._exit(9)
        if line.startswith("@ "):
            at = _time(line)
        elif line.startswith("> "):
            chat.events.append(Asked(at=at, place=place, id=f"a{number}", text=line[2:]))
        elif line.startswith("< "):
            chat.events.append(Said(at=at, place=place, text=line[2:]))
        elif line.startswith("% "):
            chat.providers.append(line[2:])
            chat.events.append(Answered(at=at, place=place, engine=line[2:], outcome="success"))
        elif line.startswith("?"):
            chat.diagnostics.append(Diagnostic("damaged-line", "A line is damaged.", place, lost=True))
    return chat


def count(found: Found, keep: Keep) -> Ledger:
    ledger = Ledger(found.id)
    for number, line in enumerate(found.path.read_text().splitlines(), 1):
        kind = {"> ": "prompt", "< ": "answer"}.get(line[:2])
        if kind:
            place = Place(found.path.name, number)
            text = line[2:] if keep(place) else None
            ledger.entries.append(Entry(kind, place, digest_of_text(line[2:]), text=text))
    return ledger


def _time(line: str) -> int:
    return round(datetime.fromisoformat(line[2:] + "+00:00").timestamp() * 1000)


def install(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Make this the only reader; `home` is where its agent keeps its things."""
    module = ModuleType("trailbook.readers.plain")
    for name in ("PRODUCT", "PLACES", "find", "read", "count"):
        setattr(module, name, globals()[name])
    monkeypatch.setitem(sys.modules, "trailbook.readers.plain", module)
    monkeypatch.setattr(readers, "NAMES", ("plain",))
    monkeypatch.setitem(globals(), "HOME", home)


def write(path: Path, *lines: str) -> Path:
    """Write a log of these lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return path
