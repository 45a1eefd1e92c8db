"""The table of what can be written of a chat. One writer per format; a new format is one module and one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from trailbook.chat import JSON, Chat
from trailbook.filters import Wanted
from trailbook.redaction import Context, Removed

if TYPE_CHECKING:
    from trailbook.writers.written import Written


@dataclass(slots=True, frozen=True)
class Output:
    """What is to be written of a chat."""

    formats: tuple[str, ...] = ("report", "markdown")
    """Keys of `FORMATS`."""
    zone: tzinfo = UTC
    context: Context | None = None
    """What is known of the person, for redaction; None to take nothing out."""
    wanted: Wanted = field(default_factory=Wanted)
    """A chat that it leaves out once it is read is not written."""
    theme: Path | None = None
    """A theme's folder; None for the one that trailbook brings."""
    full: bool = False
    """Long bodies whole instead of head and tail."""
    images: bool = False


@dataclass(slots=True, frozen=True)
class Sheet:
    """What a writer is told beside the chat."""

    output: Output
    stem: str
    """The name of this chat's files without their ending."""
    parent: str | None = None
    """The stem of the chat that handed its work to this one."""
    subagents: Mapping[str, str] = field(default_factory=dict)
    """The stems of the chats that this one handed work to, by their ids."""
    removed: Removed = field(default_factory=Removed)
    """What was taken out of the chat and its subagents."""


@dataclass(slots=True, frozen=True)
class Piece:
    """A file that is not on the disk yet."""

    name: str
    """Its path in the folder, with `/`."""
    data: bytes


@dataclass(slots=True, frozen=True)
class Format:
    """How one format is written."""

    write: Callable[[Chat, Sheet], list[Piece]]
    ending: str
    each: bool = True
    """Whether subagents have files of their own; else they stand in the chat's."""


def _report(chat: Chat, sheet: Sheet) -> list[Piece]:
    from trailbook.writers.report import write_report

    return write_report(chat, sheet)


def _note(chat: Chat, sheet: Sheet) -> list[Piece]:
    from trailbook.writers.markdown import write_note

    return write_note(chat, sheet)


def _trajectory(module: str, ending: str) -> Format:
    def write(chat: Chat, sheet: Sheet) -> list[Piece]:
        writer = import_module(f"trailbook.writers.{module}")
        written: Written = getattr(writer, f"write_{module}")([chat], images=sheet.output.images)
        name = f"trajectories/{sheet.stem}{ending}"
        beside = [Piece(f"trajectories/{path}", data) for path, data in written.sidecars.items()]
        return [Piece(name, written.data), *beside]

    return Format(write, ending, each=False)


FORMATS = {
    "report": Format(_report, ".html"),
    "markdown": Format(_note, ".md"),
    "openai": _trajectory("openai", ".openai.jsonl"),
    "sharegpt": _trajectory("sharegpt", ".sharegpt.jsonl"),
    "atif": _trajectory("atif", ".atif.json"),
    "trajectory-v1": _trajectory("trajectory_v1", ".trajectory-v1.jsonl"),
}
"""Each format by its name on the command line."""

TRAJECTORIES = tuple(name for name, format_ in FORMATS.items() if not format_.each)


def row_of(chat: Chat, sheet: Sheet) -> JSON:
    """What the index says of a chat."""
    from trailbook.writers.index import row_of as row

    return row(chat, sheet)


def write_index(rows: list[JSON], skipped: list[JSON], output: Output) -> list[Piece]:
    """The pages over all chats; `skipped` are the files that are none, each with its path, verdict and why."""
    from trailbook.writers.index import write_index as write

    return write(rows, skipped, output)
