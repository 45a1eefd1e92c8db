"""One file of one chat or of many: read, redacted together, written, searched for secrets, named, put in its place.

`export_chat` is the public function, for one chat; the command `export` and each worker that writes a part of a large
export use `bundle`, of which it is made.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from trailbook import denied, failures, names, saving
from trailbook.chat import Chat, with_subagents
from trailbook.failures import Stopped
from trailbook.filters import left_out_when_read
from trailbook.formats import FORMATS, NO_REPLY, NOTHING_IN_IT, TRAJECTORIES, Output, Piece, Sheet
from trailbook.making import read, unsafe
from trailbook.manifest import Written
from trailbook.readers import Found, Unreadable, reader
from trailbook.recounting import Recounted, recount, recount_page
from trailbook.redaction.removed import Removed
from trailbook.redaction.replacing import redact_all
from trailbook.redaction.verifying import secrets_of
from trailbook.staging import lay, reason
from trailbook.stores import source_of
from trailbook.timeline import title_of

MOST = 500
"""Chats in one file."""


@dataclass(slots=True)
class Exported:
    """One chat as one file. Picklable."""

    data: bytes = b""
    """The file; nothing where it must not or cannot be written."""
    sidecars: dict[str, bytes] = field(default_factory=dict)
    """The files that belong beside it, by the names under which it refers to them."""
    removed: Removed = field(default_factory=Removed)
    """What was taken out: `counts` by kind, `sentence()`."""
    fidelity: list[str] = field(default_factory=list)
    """What of the log stands in the file, and a line for each thing that does not."""
    lost: bool = False
    """Whether the file lacks something that its format carries."""
    left_out: str | None = None
    """Why there is no file: an option leaves the chat out, nothing is in it, or the format has no place for it."""
    unsafe: dict[str, int] = field(default_factory=dict)
    """Secrets that were still in the file, by kind; then it is not given."""


def export_chat(found: Found, format: str, options: Output) -> Exported:  # noqa: A002 - as on the command line
    """One chat as one file: read, redacted, written, searched for secrets, and counted again against its log.

    `found` is a chat of `survey`, `format` a key of `formats.FORMATS` (`report`, `markdown`, `openai`, `sharegpt`,
    `atif`, `trajectory-v1`). `options` carry all that is known of the person as `context` (`context_of`), for none of
    it is looked up here; without a context nothing is taken out. The same log, format and options give the same bytes,
    those that `trailbook export` saves. Nothing is written but in a private temporary folder, for the counting.
    Function, arguments and result are picklable, so that it runs in any process, on any machine that sees the log.
    Raises ValueError for an unknown format, readers.Unreadable for a log of which no chat can be made.
    """
    if format not in FORMATS:
        raise ValueError(f"There is no format {format}. There are: {', '.join(FORMATS)}.")
    stem = sha256("\n".join(source_of(found)).encode("utf-8", "replace")).hexdigest()[:16]
    made = bundle([found], format, replace(options, formats=(format,)), stem=stem)
    if made.failed:
        raise Unreadable(made.failed[0])
    exported = Exported(removed=made.removed, left_out=next(iter(made.left_out), None), unsafe=made.unsafe)
    if made.pieces and not made.unsafe:
        file, *beside = made.pieces
        with tempfile.TemporaryDirectory() as private:
            counted = lay_and_count(made, Path(private))[1]
        exported.data, exported.sidecars = file.data, {piece.name: piece.data for piece in beside}
        exported.fidelity, exported.lost = counted.lines, counted.lost
    return exported


@dataclass(slots=True)
class Bundle:
    """One file that is not on the disk yet."""

    pieces: list[Piece] = field(default_factory=list)
    """The file, and what belongs beside it."""
    format: str = ""
    themed: bool = False
    """Whether it is made with another theme than trailbook's, which need not mark its steps."""
    sources: list[Found] = field(default_factory=list)
    """The chats in it."""
    steps: int = 0
    more: int = 0
    """How many chats, older ones, there are beyond `MOST`; of these it is not known what is in them."""
    removed: Removed = field(default_factory=Removed)
    unsafe: dict[str, int] = field(default_factory=dict)
    """Secrets that were still in it, by kind; then it must not be written."""
    left_out: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)

    @property
    def status(self) -> int:
        """The exit status."""
        if self.unsafe:
            return failures.NOT_VERIFIED
        if not self.sources:
            return failures.NOTHING
        return failures.SOME_FAILED if self.failed else failures.DONE


def bundle(
    chosen: Sequence[Found],
    format_name: str,
    output: Output,
    folder: Path | None = None,
    *,
    alone: bool = False,
    stem: str | None = None,
    part: bool = False,
) -> Bundle:
    """Make one file of the chosen chats (newest first): of the newest `MOST`, oldest first.

    `alone` says that a person named one chat; the file is then named for it. `folder` is where it will be saved under a
    name that is free there. `stem` is its name without ending where that is settled, `part` as in `Sheet`.
    """
    made = Bundle(format=format_name, themed=output.theme is not None)
    chats = _read(chosen, output, made)
    if not chats:
        return made
    if output.context is not None:
        chats, made.removed = redact_all(chats, output.context)
    format_ = FORMATS[format_name]
    sheet = Sheet(output, stem or _stem(chats, output, alone=alone), removed=made.removed, alone=True, part=part)
    made.steps = sum(len(sheet.timeline_of(each).steps) for chat in chats for each in with_subagents(chat))
    made.pieces = format_.bundle(chats, sheet)
    if not made.pieces:
        made.left_out[NO_REPLY] += len(made.sources)
        made.sources = []
    if len(made.pieces) > 1 and folder is not None:
        # What lies beside is named after the file, so the name must be free before the file is made.
        free = saving.free_name(folder, made.pieces[0].name)
        free_stem = free.removesuffix(Path(made.pieces[0].name).suffix)
        made.pieces = format_.bundle(chats, replace(sheet, stem=free_stem))
    if output.context is not None:
        made.unsafe = unsafe(made.pieces, secrets_of(output.context, made.removed))
    return made


def refuse(folder: Path) -> Path:
    """The folder as it really lies, or Stopped where nothing may or can be saved in it."""
    denied.refuse(folder)
    real = folder.expanduser().resolve()
    if not real.exists():
        raise Stopped(f"There is no folder {folder}. Choose one that is there.")
    saving.check_folder(real)
    return real


def save(made: Bundle, folder: Path) -> tuple[Path, Recounted]:
    """Put the file into `folder` under its name, or one with a number; returns its path, and what of the logs it holds.

    Raises Stopped.
    """
    real = refuse(folder)
    file, *beside = made.pieces
    with saving.staging(real) as private:
        recounted = lay_and_count(made, private)[1]
        if not beside:
            return saving.place_numbered(private / file.name, real, file.name), recounted
        for piece in (*beside, file):
            saving.make_folder((real / piece.name).parent)
            if not saving.place_new(private / piece.name, real / piece.name):
                raise Stopped(f"{real / piece.name} appeared while it was written. Run it again.")
    return real / file.name, recounted


def lay_and_count(made: Bundle, folder: Path) -> tuple[dict[str, Written], Recounted]:
    """Write the file, and what belongs beside it, into a private folder; also what of the logs it holds there.

    Raises Stopped.
    """
    files = {piece.name: lay(folder, piece) for piece in made.pieces}
    return files, _recount(folder / made.pieces[0].name, made)


def _recount(path: Path, made: Bundle) -> Recounted:
    if made.format in TRAJECTORIES:
        return recount([path], made.sources)
    if FORMATS[made.format].marked and not made.themed:
        return recount_page(path.name, path.read_bytes(), made.format, made.sources)
    return Recounted()


def default_folder() -> Path:
    """The person's Downloads, else their home."""
    downloads = Path.home() / "Downloads"
    return downloads if downloads.is_dir() else Path.home()


def _stem(chats: Sequence[Chat], output: Output, *, alone: bool) -> str:
    today = datetime.now(output.zone).date().isoformat()
    products = {chat.agent.product or reader(chat.source).PRODUCT for chat in chats}
    product = products.pop() if len(products) == 1 else ""
    if alone:
        return names.export_name(product, title_of(chats[0]), today)
    return names.export_name(f"{product} chats" if product else "Chats", None, today)


def _read(chosen: Sequence[Found], output: Output, made: Bundle) -> list[Chat]:
    chats: list[Chat] = []
    for found in chosen:
        if len(chats) == MOST:
            made.more += 1
            continue
        try:
            chat = read(found, output)
        except Exception as error:
            made.failed.append(reason(error, found))
            continue
        why = left_out_when_read(chat, output.wanted) or (None if chat.events else NOTHING_IN_IT)
        if why is not None:
            made.left_out[why] += 1
        else:
            chats.append(chat)
            made.sources.append(found)
    return chats[::-1]
