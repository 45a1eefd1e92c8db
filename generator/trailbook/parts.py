"""Very many chats as a folder of parts: each is made, counted again and staged by a worker, and put in its place once.

What is in a folder so far stands in its manifest, as of a folder of reports: a run that was stopped goes on where it
was, and the parts that are there are not made again.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from trailbook import __version__, failures, json_text, manifest, pool, saving, site
from trailbook.bundling import Bundle, bundle, lay_and_count
from trailbook.chat import JSON
from trailbook.failures import Stopped
from trailbook.formats import Output, Piece
from trailbook.manifest import INDEX, PART, Entry, Manifest, Written
from trailbook.placing import place_files
from trailbook.readers import Found
from trailbook.recounting import Recounted
from trailbook.redaction.removed import Removed
from trailbook.staging import lay
from trailbook.state import own_bytes
from trailbook.stores import OWN
from trailbook.updating import Told
from trailbook.wording import counted

PER_PART = 100
"""Chats in one part. What is found out about a person in one of them is taken out of all of them."""


@dataclass(slots=True, frozen=True)
class Order:
    """One part to be made."""

    name: str
    """The file's, without its ending."""
    chosen: Sequence[Found]
    """Newest first; in the file the oldest comes first."""
    key: str = field(repr=False)
    """Changes whenever the file would come out differently."""


@dataclass(slots=True)
class Part:
    """A part that lies in the staging folder."""

    bundle: Bundle
    """Without the bytes of its pieces."""
    files: dict[str, Written] = field(default_factory=dict)
    recounted: Recounted = field(default_factory=Recounted)


@dataclass(slots=True)
class Export:
    """What came of it."""

    parts: int = 0
    """Files that were written."""
    unchanged: int = 0
    """Parts that were there already."""
    chats: int = 0
    """In the files that were written."""
    steps: int = 0
    removed: Removed = field(default_factory=Removed)
    left_out: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    unsafe: Counter[str] = field(default_factory=Counter)
    """Secrets that were still in parts, by kind; these parts were not written."""
    lost: list[str] = field(default_factory=list)
    """What files lack that their logs have and the format carries."""
    kept: list[str] = field(default_factory=list)
    """Files that somebody changed since they were written: they are not replaced."""

    @property
    def status(self) -> int:
        """The exit status."""
        if self.unsafe:
            return failures.NOT_VERIFIED
        if self.lost:
            return failures.WORK_LOST
        if self.failed:
            return failures.SOME_FAILED
        return failures.DONE if self.parts or self.unchanged else failures.NOTHING


def export(
    chosen: Sequence[Found],
    format_name: str,
    output: Output,
    folder: Path,
    *,
    told: Told | None = None,
    executor: Executor | None = None,
) -> Export:
    """Write the chosen chats (newest first) as `part-00000.jsonl`, … (oldest first), and which stands where as index.

    The folder is new, empty, or one that the same export was stopped in. `executor` is any; without one there is a
    process for every core. All its workers must see the logs and the folder under the same paths. Raises Stopped.
    """
    real, told, made = site.refuse(folder), told or Told(), Export()
    orders = _orders(chosen, replace(output, formats=(format_name,)))
    with site.opened(real, told) as held, saving.staging(real / OWN) as private:
        due = _due(orders, held, made)
        told.begin(sum(len(order.chosen) for order in due), sum(each.size for order in due for each in order.chosen))
        work = partial(make_part, format_name=format_name, output=output, folder=private)
        with contextlib.closing(pool.each(work, due, executor=executor)) as results:
            for order, result in results:
                _take(order, result, made, held, private)
                for found in order.chosen:
                    told.each(found)
        made.failed.sort()  # parts come as they are done
        if held.entries:
            made.kept += _write_index(held, private)
            held.save()
    return made


def make_part(order: Order, format_name: str, output: Output, folder: Path) -> Part:
    """In a worker: make a part and lay it, counted again, into a staging folder of its own. Raises Stopped."""
    part = Part(bundle(order.chosen, format_name, output, stem=order.name, part=True))
    if part.bundle.pieces and not part.bundle.unsafe:
        saving.clear(folder / order.name)
        part.files, part.recounted = lay_and_count(part.bundle, folder / order.name)
    # What was found out need not travel back: it was only for the search in what was written.
    part.bundle.pieces, part.bundle.removed.learned = [], frozenset()
    return part


def _orders(chosen: Sequence[Found], output: Output) -> list[Order]:
    secret, made_with = own_bytes(), output.identity()
    orders = []
    for number, end in enumerate(range(len(chosen), 0, -PER_PART)):
        some = tuple(chosen[max(0, end - PER_PART) : end])
        each = (list[JSON]([found.reader, found.id, found.fingerprint]) for found in some)
        orders.append(Order(f"{PART}-{number:05}", some, manifest.key(secret, __version__, made_with, *each)))
    return orders


def _due(orders: Sequence[Order], held: Manifest, made: Export) -> list[Order]:
    """The parts that are not there yet. Raises Stopped where the folder holds anything else."""
    keys = {("", order.name): order.key for order in orders}
    if any(chat != INDEX and entry.key != keys.get(chat) for chat, entry in held.entries.items()):
        raise Stopped(f"{held.folder} holds something else that was built or exported. Choose a new folder.")
    due = []
    for order in orders:
        entry = held.entries.get(("", order.name))
        if entry is None or manifest.stale(held.folder, entry):
            due.append(order)
        else:
            made.unchanged += 1
            made.kept += manifest.changed(held.folder, entry)
    return due


def _take(order: Order, result: Part | Exception, made: Export, held: Manifest, private: Path) -> None:
    """Put a part in its place, and add it up."""
    if isinstance(result, Stopped):
        raise result
    if isinstance(result, Exception):
        made.failed.append(f"{order.name}, {counted(len(order.chosen), 'chat')}, could not be made: {result}.")
        return
    bundled = result.bundle
    made.failed += bundled.failed
    made.left_out += bundled.left_out
    made.unsafe.update(bundled.unsafe)
    if bundled.unsafe:
        return
    entry = Entry(("", order.name), order.key, files=result.files)
    file = next(iter(result.files), None)
    entry.rows = [{"source": each.reader, "id": each.id, "file": file} for each in reversed(bundled.sources)]
    made.kept += place_files(held, entry, private / order.name)
    if file is not None:
        made.parts += 1
        made.chats += len(bundled.sources)
        made.steps += bundled.steps
        made.removed += bundled.removed
    if result.recounted.lost:
        made.lost += result.recounted.lines


def _write_index(held: Manifest, private: Path) -> list[str]:
    parts = sorted(name for source, name in held.entries if (source, name) != INDEX)
    rows = [row for name in parts for row in held.entries["", name].rows]
    data = b"".join(json_text.dump(row) + b"\n" for row in rows)
    entry = Entry(INDEX, "")
    entry.files["index.jsonl"] = lay(private / "index", Piece("index.jsonl", data))
    return place_files(held, entry, private / "index")
