"""Trajectories in tests: every chat there is to write, writing one, and reading a file by the name of its reader."""

from __future__ import annotations

from datetime import UTC
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from conftest import EXAMPLES, SHARED
from trailbook.chat import Chat
from trailbook.formats import FORMATS, Output, Sheet
from trailbook.ledger import Keep, Ledger, keep_nothing
from trailbook.readers import Found, reader
from trailbook.stores import survey

NAMES = ("atif", "trajectory_v1", "sharegpt", "openai")


@cache
def chats() -> list[Found]:
    """Every chat of the examples, and of the samples and the broken logs beside the checkout."""
    folders = [EXAMPLES, *(folder for name in ("samples", "cases") if (folder := SHARED / name).is_dir())]
    return [found for folder in folders for found in survey([folder]).chats]


@cache
def chat_of(path: Path, number: int = 0) -> Chat:
    """A chat of a log of any agent. It is read once: nothing may be changed in it."""
    return read_again(survey([path]).chats[number])


def read_again(found: Found) -> Chat:
    return reader(found.reader).read(found, UTC)


def write(chats: list[Chat], format_name: str, folder: Path, stem: str = "written", **how: Any) -> Path | None:
    """One file of some chats, written as an export writes it, with what lies beside it; None where there is none."""
    pieces = FORMATS[format_name].bundle(chats, Sheet(Output(**how), stem))
    for piece in pieces:
        path = folder / piece.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(piece.data)
    return folder / pieces[0].name if pieces else None


def found(name: str, path: Path) -> list[Found]:
    listed = import_module(f"trailbook.readers.{name}").find(path, path.read_bytes()[:65_536])
    return listed if isinstance(listed, list) else []


def read(name: str, path: Path, number: int = 0) -> Chat:
    return import_module(f"trailbook.readers.{name}").read(found(name, path)[number], UTC)


def count(name: str, path: Path, number: int = 0, keep: Keep = keep_nothing) -> Ledger:
    return import_module(f"trailbook.readers.{name}").count(found(name, path)[number], keep)
