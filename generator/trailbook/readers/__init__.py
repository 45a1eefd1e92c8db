"""The table of readers. One folder per log format; a new format is one folder and one line here.

Each folder's package offers, by these names:

- `PRODUCT`: the agent's name as people write it, such as "Claude Code";
- `PLACES`: where its logs lie and what must never be written there;
- `find(path, head)`: whether a file is (part of) one of its logs, by content;
- `read(found, zone)`: the log as a `Chat`;
- `count(found, keep)`: the log's `Ledger`, filled from the raw records on a path of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import tzinfo
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from trailbook.chat import Chat
from trailbook.ledger import Keep, Ledger

NAMES = (
    "conch",
    "claude_code",
    "codex",
    "gptme",
    "hermes",
    "atif",
    "trajectory_v1",
    "sharegpt",
    "openai",
    "openhands",
    "letta_code",
    "opencode",
    "cursor",
    "gemini_cli",
    "copilot_cli",
    "droid",
    "openclaw",
    "pi",
    "omp",
)
"""Every reader, in the order in which they are asked about a file."""

HEAD_BYTES = 65_536
"""How much of a file's beginning `find` is handed."""


class Unreadable(Exception):
    """A log that cannot be read as a chat; says in one sentence what happened, to which file, and what to do."""


@dataclass(slots=True, frozen=True)
class Found:
    """A chat that was found and not yet read: where it is, and what a list of chats can say of it cheaply."""

    reader: str
    id: str
    path: Path
    """The file that holds the chat (the database, for a chat in one)."""
    inputs: tuple[Path, ...]
    """Every file the chat is read from: `path`, sidecars, subagents' files."""
    fingerprint: str
    """Changes whenever any input changes."""
    title: str | None = None
    started: int | None = None
    """Epoch milliseconds."""
    updated: int | None = None
    """Epoch milliseconds of the last record, else of the file's last change."""
    cwd: str | None = None
    origin: str = "chat"
    size: int = 0
    """Bytes of all inputs (of the chat's rows, for a chat in a database)."""
    preference: int = 0
    """Where the same chat (reader, id) is found twice, the one with the higher preference is read."""
    remark: str | None = None
    """A word that a list adds to the title, such as `archived`."""
    names: tuple[str, ...] = ()
    """Persons whom the agent's settings beside the log name, for redaction: it need not be this person's own agent."""


@dataclass(slots=True, frozen=True)
class Passed:
    """A file of this format that is no chat of its own; `why` completes "passed over: …"."""

    why: str
    belongs_to: Path | None = None
    """The chat's file, for a sidecar or a subagent's file that is read with it."""


@dataclass(slots=True, frozen=True)
class Names:
    """What an agent knows of the person, for redaction."""

    names: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()


@dataclass(slots=True, frozen=True)
class Places:
    """Where an agent keeps its logs, and where nothing may be written."""

    logs: Callable[[], list[Path]]
    """The folders or files to look in, for this system and its environment variables; they need not exist."""
    stores: Callable[[], list[Path]]
    """The agent's own folders: nothing is ever written in or below them."""
    allowed: Callable[[], list[Path]] = field(default=list)
    """Folders below a store that may be written after all (Conch's workspace)."""
    names: Callable[[], Names] = field(default=Names)
    """What the agent's own settings know of the person."""


class Reader(Protocol):
    """What a reader's package offers."""

    PRODUCT: str
    PLACES: Places

    def find(self, path: Path, head: bytes) -> list[Found] | Passed | None:
        """Whether a file is of this format: its chats, or why it is none, or None for a file of another kind.

        `head` is the file's first `HEAD_BYTES` bytes. Cheap: it reads no whole log. Raises Unreadable for a file of
        this format that cannot be read, OSError.
        """

    def read(self, found: Found, zone: tzinfo) -> Chat:
        """The whole chat. `zone` is how times without a zone are read. Raises Unreadable, OSError."""

    def count(self, found: Found, keep: Keep) -> Ledger:
        """The chat's ledger, straight from the raw records. Raises Unreadable, OSError."""


def reader(name: str) -> Reader:
    """The reader by its name in `NAMES`; loaded when it is first asked for."""
    return cast("Reader", import_module(f"trailbook.readers.{name}"))


def on_demand(package: str) -> Callable[[str], Any]:
    """The `__getattr__` of a reader's package: its `read` and `count` are loaded when a log is read or counted.

    Finding needs neither, and a build that has nothing to do only finds.
    """

    def load(name: str) -> Any:
        module = {"read": "reader", "count": "ledger"}.get(name)
        if module is None:
            raise AttributeError(f"{package} has no {name}")
        return getattr(import_module(f"{package}.{module}"), name)

    return load


def readers() -> Iterator[tuple[str, Reader]]:
    """Every reader with its name, in the table's order."""
    for name in NAMES:
        yield name, reader(name)
