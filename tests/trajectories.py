"""Reading the trajectories of the tests: find, read and count a file by the name of its reader."""

from __future__ import annotations

from datetime import UTC
from importlib import import_module
from pathlib import Path

from trailbook.chat import Chat
from trailbook.ledger import Keep, Ledger, keep_nothing
from trailbook.readers import Found

NAMES = ("atif", "trajectory_v1", "sharegpt", "openai")


def found(name: str, path: Path) -> list[Found]:
    listed = import_module(f"trailbook.readers.{name}").find(path, path.read_bytes()[:65_536])
    return listed if isinstance(listed, list) else []


def read(name: str, path: Path, number: int = 0) -> Chat:
    return import_module(f"trailbook.readers.{name}").read(found(name, path)[number], UTC)


def count(name: str, path: Path, number: int = 0, keep: Keep = keep_nothing) -> Ledger:
    return import_module(f"trailbook.readers.{name}").count(found(name, path)[number], keep)
