"""The table of what can be written of a chat. One writer per format; a new format is one module and one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from trailbook import prices, zones
from trailbook.chat import JSON, Chat
from trailbook.filters import Wanted

if TYPE_CHECKING:
    from trailbook.redaction.context import Context
    from trailbook.redaction.removed import Removed
    from trailbook.timeline import Timeline
    from trailbook.writers.written import Written

# A build that has nothing to do loads this module: redaction and the writers are loaded when they are used.

NOTHING_IN_IT = "nothing in it"
"""Why an empty chat is left out."""

NO_REPLY = "no reply in it, without which the format has no place for it"
"""Why a chat is left out of a trajectory file that holds exchanges only."""


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
    atif_version: str = "1.8"
    sharegpt_dialect: str = "hermes"
    estimate_cost: bool = False
    """List-price estimates for chats whose log states no cost."""

    def identity(self) -> JSON:
        """What a chat's files depend on beside the chat itself; for a keyed digest only, since it holds secrets."""
        return {
            "formats": list[JSON](self.formats),
            "zone": zones.name_of(self.zone),
            "redaction": self.context.content().hex() if self.context else None,
            "theme": _digest_of_folder(self.theme) if self.theme else None,
            "full": self.full,
            "images": self.images,
            "atif_version": self.atif_version,
            "sharegpt_dialect": self.sharegpt_dialect,
            "prices": prices.table() if self.estimate_cost else None,
        }


@dataclass(slots=True, frozen=True)
class Given:
    """The names that a chat's files have: those that were given before never change."""

    digits: str = ""
    stems: Mapping[str, str] = field(default_factory=dict)
    """By the chat's id, and `id/subagent's id` for those below it."""


def _nothing() -> Removed:
    from trailbook.redaction.removed import Removed

    return Removed()


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
    removed: Removed = field(default_factory=_nothing)
    """What was taken out of the chat and its subagents."""
    alone: bool = False
    """Whether the file is exported by itself: one page whatever its size, with nothing beside it to link to."""
    part: bool = False
    """Whether the file is one of many that belong together: JSON lines even where it holds one chat only."""
    timelines: dict[int, Timeline] = field(default_factory=dict, repr=False)
    """The timelines that were made already, by the `id()` of their chat; shared by the sheets of one export."""

    def timeline_of(self, chat: Chat) -> Timeline:
        """The timeline of a chat, made once for all that is written of it."""
        from trailbook.timeline import make_timeline

        if id(chat) not in self.timelines:
            self.timelines[id(chat)] = make_timeline(chat)
        return self.timelines[id(chat)]


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
    """The files of one chat in a folder of reports."""
    bundle: Callable[[list[Chat], Sheet], list[Piece]]
    """One file of one chat or of several, and what belongs beside it; the sheet's stem is its name."""
    each: bool = True
    """Whether subagents have files of their own in a folder; else they stand in the chat's."""
    marked: bool = False
    """Whether it marks its steps, so that they are counted again (`page_ledger`)."""


def _report(chat: Chat, sheet: Sheet) -> list[Piece]:
    from trailbook.writers.report import write_report

    return write_report(chat, sheet)


def _reports(chats: list[Chat], sheet: Sheet) -> list[Piece]:
    if len(chats) == 1:
        return _in_one_folder(_report(chats[0], sheet))
    from trailbook.writers.batch import write_batch

    return [Piece(f"{sheet.stem}.html", write_batch(chats, sheet))]


def _note(chat: Chat, sheet: Sheet) -> list[Piece]:
    from trailbook.writers.markdown import write_note

    return write_note(chat, sheet)


def _notes(chats: list[Chat], sheet: Sheet) -> list[Piece]:
    if len(chats) == 1:
        return _in_one_folder(_note(chats[0], sheet))
    from trailbook.writers.markdown import write_notes

    return [Piece(f"{sheet.stem}.md", write_notes(chats, sheet))]


def _trajectory(module: str, ending: str, ending_of_many: str) -> Format:
    def write(chats: list[Chat], sheet: Sheet, folder: str, ending: str) -> list[Piece]:
        from trailbook.writers.written import Options

        writer = import_module(f"trailbook.writers.{module}")
        options = Options(
            name=f"{sheet.stem}{ending}",
            images=sheet.output.images,
            atif_version=sheet.output.atif_version,
            sharegpt_dialect=sheet.output.sharegpt_dialect,
            lines=sheet.part,
        )
        written: Written = getattr(writer, f"write_{module}")(chats, options)
        if not written.data:
            return []
        beside = [Piece(f"{folder}{path}", data) for path, data in written.sidecars.items()]
        return [Piece(f"{folder}{sheet.stem}{ending}", written.data), *beside]

    def one(chat: Chat, sheet: Sheet) -> list[Piece]:
        return write([chat], sheet, "trajectories/", f".{module.replace('_', '-')}{ending}")

    def many(chats: list[Chat], sheet: Sheet) -> list[Piece]:
        return write(chats, sheet, "", ending if len(chats) == 1 and not sheet.part else ending_of_many)

    return Format(one, many, each=False)


def _in_one_folder(pieces: list[Piece]) -> list[Piece]:
    """Without the folder that the first one, the file itself, would have in a folder of reports."""
    return [Piece(piece.name.partition("/")[2], piece.data) for piece in pieces]


FORMATS = {
    "report": Format(_report, _reports, marked=True),
    "markdown": Format(_note, _notes, marked=True),
    "openai": _trajectory("openai", ".jsonl", ".jsonl"),
    "sharegpt": _trajectory("sharegpt", ".jsonl", ".jsonl"),
    "atif": _trajectory("atif", ".json", ".jsonl"),
    "trajectory-v1": _trajectory("trajectory_v1", ".jsonl", ".jsonl"),
}
"""Each format by its name on the command line."""


def _digest_of_folder(folder: Path) -> str:
    digest = sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(folder)}\n{path.stat().st_size}\n".encode("utf-8", "surrogateescape"))
        digest.update(path.read_bytes())
    return digest.hexdigest()


TRAJECTORIES = tuple(name for name, format_ in FORMATS.items() if not format_.each)


def row_of(chat: Chat, sheet: Sheet) -> JSON:
    """What the index says of a chat."""
    from trailbook.writers.index import row_of as row

    return row(chat, sheet)


def write_index(rows: list[JSON], skipped: list[JSON], output: Output) -> list[Piece]:
    """The pages over all chats; `skipped` are the files that are none, each with its path, verdict and why."""
    from trailbook.writers.index import write_index as write

    return write(rows, skipped, output)
