"""A whole folder of reports: what is out of date is made anew, what is not is left alone, and an index over all."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from trailbook import denied, failures, manifest, saving
from trailbook.failures import Stopped
from trailbook.manifest import Manifest
from trailbook.staging import Order
from trailbook.stores import OWN
from trailbook.updating import Built, Plan, Told, Update, in_order, results

if TYPE_CHECKING:
    from concurrent.futures import Executor

__all__ = ["Built", "Plan", "Told", "build", "preview", "refuse"]


def build(
    plan: Plan,
    confirm: Callable[[Built], bool] | None = None,
    told: Told | None = None,
    executor: Executor | None = None,
) -> Built:
    """Bring the folder up to date.

    With `confirm`, everything is made first and put in its place only when it says yes to what was made; without it
    each chat is put in its place as soon as it is made, so that an interrupted run leaves what it has done.
    Raises Stopped where the folder cannot be written at all.
    """
    folder = refuse(plan.folder)
    told = told or Told()
    built = Built()
    try:
        with opened(folder, told) as held, saving.staging(folder / OWN) as private:
            if manifest.has_parts(held):
                raise Stopped(f"{plan.folder} holds the parts of an export. Choose another folder.")
            update = Update(plan, held, private, built, told, executor)
            if update.chats(confirm):
                update.rest()
    except Stopped as stopped:
        if built.written:
            were = "chat was" if built.written == 1 else "chats were"
            sentence = f"{stopped.sentence} {built.written:,} {were} written before that."
            raise Stopped(sentence, failures.SOME_FAILED) from None
        raise
    return built


def preview(plan: Plan, told: Told | None = None, executor: Executor | None = None) -> Built:
    """What a build of all the chosen chats would come to; nothing is written."""
    built = Built()
    orders = [Order(found, plan.output) for found in plan.chosen]
    made = [staged for _order, staged in results(orders, built, told or Told(), executor)]
    built.made = in_order(made, plan)
    return built


def refuse(folder: Path) -> Path:
    """The folder as it really lies, or Stopped where it is denied, is a file, or holds what trailbook did not write."""
    denied.refuse(folder)
    real = folder.expanduser().resolve()
    if not real.exists():
        return real
    saving.check_folder(real)
    try:
        foreign = next((path.name for path in sorted(real.iterdir()) if path.name != OWN), None)
    except OSError as error:
        raise saving.stopped(error, folder) from None
    if foreign is not None and not manifest.is_ours(real):
        raise Stopped(f"{folder} holds {foreign}, which trailbook did not write. Choose a new or an empty folder.")
    return real


# --- the folder


@contextmanager
def opened(folder: Path, told: Told) -> Iterator[Manifest]:
    """The folder's manifest, which nobody else changes meanwhile. A new folder of which nothing came is gone again."""
    new = not folder.exists()
    own = folder / OWN
    saving.make_folder(own)
    saving.check_folder(own)
    try:
        with saving.lock(own / "lock", told.busy):
            yield manifest.load(folder)
    except BrokenPipeError:
        raise  # who reads what is told has gone; the disk is well
    except OSError as error:
        raise saving.stopped(error, Path(error.filename) if error.filename else own) from None
    finally:
        if not manifest.is_ours(folder):
            with contextlib.suppress(OSError):
                (own / "lock").unlink()
                own.rmdir()
                if new:
                    folder.rmdir()
