"""What a worker does with one chat: export it and lay its files into the staging folder; the account goes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from trailbook import saving
from trailbook.failures import Stopped
from trailbook.formats import Given, Output, Piece
from trailbook.manifest import Written
from trailbook.readers import Found, Unreadable

if TYPE_CHECKING:
    from trailbook.making import Made


@dataclass(slots=True, frozen=True)
class Order:
    """One chat to be made."""

    found: Found
    output: Output
    given: Given = field(default_factory=Given)
    folder: Path | None = None
    """Where its files are laid; None to write nothing and only say what would come of it."""


@dataclass(slots=True)
class Staged:
    """A chat whose files lie in the staging folder."""

    found: Found
    made: Made
    """Without the bytes of its pieces."""
    folder: Path | None = None
    files: dict[str, Written] = field(default_factory=dict)


@dataclass(slots=True)
class Failed:
    """A chat of which nothing came."""

    why: str
    """One sentence."""


def stage(order: Order) -> Staged | Failed:
    """Make one chat. What goes wrong with the chat comes back as Failed; trouble with the disk raises Stopped."""
    from trailbook.making import make_chat

    found = order.found
    try:
        made = make_chat(found, order.output, order.given)
    except Stopped:
        raise  # a theme that is wrong, say, is wrong for every chat
    except Exception as error:
        return Failed(reason(error, found))
    staged = Staged(found, made, order.folder)
    if order.folder is not None:
        saving.clear(order.folder)
        staged.files = {piece.name: lay(order.folder, piece) for piece in made.pieces}
        _recount(staged, order.folder)
    # What was found out need not travel back: it was only for the search in what was written.
    made.pieces, made.removed.learned = [], frozenset()
    return staged


def stage_each(orders: Sequence[Order]) -> list[Staged | Failed]:
    """Make several chats, one after the other. Raises Stopped."""
    return [stage(order) for order in orders]


def reason(error: Exception, found: Found) -> str:
    """Why nothing came of a chat, in a sentence. Whatever a log makes a reader or writer trip over costs that chat."""
    if isinstance(error, Unreadable):
        return str(error)
    if isinstance(error, OSError):
        return f"{found.path} could not be read ({(error.strerror or type(error).__name__).lower()})."
    if isinstance(error, MemoryError):
        return f"There is not enough memory to read {found.path}."
    return f"{found.path} could not be made into a chat: {type(error).__name__}: {error}."


def _recount(staged: Staged, folder: Path) -> None:
    """Compare the pages and the trajectories with the log; sidecars are read with the file that they lie beside."""
    pages = {name: (folder / name).read_bytes() for name in staged.made.pages}
    if pages:
        from trailbook.recounting import recount_pages

        counted = recount_pages(pages, staged.made.stems, staged.found)
        staged.made.fidelity += counted.lines
        staged.made.lost = counted.lost
    files = [folder / name for name in staged.made.trajectories]
    if files or staged.made.no_file:
        from trailbook.recounting import recount, recount_nothing

        for recounted in (
            recount(files, [staged.found]),
            *(recount_nothing(name, [staged.found]) for name in staged.made.no_file),
        ):
            staged.made.fidelity += recounted.lines
            staged.made.lost = staged.made.lost or recounted.lost


def lay(folder: Path, piece: Piece) -> Written:
    """Write a file into a folder of its own. Raises Stopped."""
    path = folder / piece.name
    digest = sha256(piece.data).hexdigest()
    saving.make_folder(path.parent)
    saving.write_new(path, piece.data)
    if saving.digest_of(path) != digest:
        raise Stopped(f"The disk did not keep what was written to {path}. Check the disk, then run it again.")
    return Written(digest, len(piece.data))
