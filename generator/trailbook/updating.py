"""Brings a folder of reports up to date: which chats are due, making them, placing them, and what comes after."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from trailbook import __version__, failures, formats, manifest, names
from trailbook.chat import JSON
from trailbook.formats import NOTHING_IN_IT, Given, Output
from trailbook.manifest import INDEX, Entry, Manifest
from trailbook.placing import place_files, remove_files
from trailbook.readers import Found
from trailbook.staging import Failed, Order, Staged, lay, stage, stage_each
from trailbook.state import own_bytes
from trailbook.stores import Survey, source_of

if TYPE_CHECKING:
    from concurrent.futures import Executor


_TOGETHER, _SIZE_TOGETHER = 16, 500_000
"""Chats, and bytes of their logs, that are handed to another machine at once."""


@dataclass(slots=True, frozen=True)
class Plan:
    """What is to be built, and where."""

    folder: Path
    survey: Survey
    chosen: Sequence[Found]
    """The chats of the survey that are wanted, as far as that is known before they are read."""
    output: Output
    prune: bool = False
    """Whether chats whose log is gone are removed."""


@dataclass(slots=True)
class Built:
    """What came of it."""

    written: int = 0
    """Chats."""
    unchanged: int = 0
    made: list[Staged] = field(default_factory=list)
    """The chats that were out of date."""
    left_out: Counter[str] = field(default_factory=Counter)
    """How many chats were left out once they were read, by why."""
    empty: list[Found] = field(default_factory=list)
    """Chats with nothing in them."""
    failed: list[tuple[Found, str]] = field(default_factory=list)
    unsafe: list[tuple[Found, dict[str, int]]] = field(default_factory=list)
    """Chats that were not written because secrets were still in their files, and how many of which kind."""
    kept: list[str] = field(default_factory=list)
    """Files that somebody changed since they were written: they are not replaced."""
    gone: int = 0
    """Chats whose log is no longer there, and whose report stays."""
    pruned: int = 0
    others: int = 0
    """Chats of earlier builds into this folder that this one was not asked for."""
    confirmed: bool = True

    @property
    def status(self) -> int:
        """The exit status."""
        if not self.confirmed:
            return failures.NOT_CONFIRMED
        if self.unsafe:
            return failures.NOT_VERIFIED
        if any(staged.made.lost for staged in self.made):
            return failures.WORK_LOST
        if self.nothing:
            return failures.NOTHING
        return failures.SOME_FAILED if self.failed else failures.DONE

    @property
    def nothing(self) -> bool:
        """Whether there was no chat to write, and none written before that is still as it should be."""
        return not (self.made or self.unchanged or self.pruned)


@dataclass(slots=True, frozen=True)
class Told:
    """What a build tells while it runs."""

    busy: Callable[[], None] = lambda: None
    """Another run is writing into the folder; this one waits."""
    begin: Callable[[int, int], None] = lambda _chats, _size: None
    """How many chats are out of date, and how many bytes of log they have."""
    each: Callable[[Found], None] = lambda _found: None
    """A chat is done, well or not."""


def results(
    orders: Sequence[Order], built: Built, told: Told, executor: Executor | None
) -> Iterator[tuple[Order, Staged]]:
    """The chats as they are made, the largest first. Those that are left out or fail are noted in `built`.

    Raises Stopped where the disk cannot be written.
    """
    if not orders:
        return
    from trailbook import pool

    largest_first = sorted(orders, key=lambda order: -order.found.size)
    told.begin(len(orders), sum(order.found.size for order in orders))
    made = _handed_over(largest_first, executor) if executor else pool.each(stage, largest_first, executor=None)
    with contextlib.closing(made):
        for order, result in made:
            if isinstance(result, failures.Stopped):
                raise result
            if isinstance(result, Staged) and result.made.unsafe:
                built.unsafe.append((order.found, result.made.unsafe))
            elif isinstance(result, Staged) and result.made.left_out is None:
                yield order, result
            elif isinstance(result, Staged):
                built.left_out[result.made.left_out or ""] += 1
                if result.made.left_out == NOTHING_IN_IT:
                    built.empty.append(order.found)
            else:
                why = result.why if isinstance(result, Failed) else f"{order.found.path} could not be made: {result}."
                built.failed.append((order.found, why))
            told.each(order.found)


def _handed_over(
    orders: Sequence[Order], executor: Executor
) -> Generator[tuple[Order, Staged | Failed | Exception], None, None]:
    """As `pool.each`, small chats several at a time: elsewhere it takes longer to hand one over than to make it.

    One chat may be what made a whole bunch fail: each of it is then tried by itself.
    """
    from trailbook import pool

    alone: list[Order] = []
    with contextlib.closing(pool.each(stage_each, _bunches(orders), executor=executor)) as results:
        for bunch, made in results:
            if isinstance(made, (failures.Stopped, pool.Died)):
                yield from ((order, made) for order in bunch)
            elif isinstance(made, Exception):
                alone += bunch
            else:
                yield from zip(bunch, made, strict=True)
    yield from pool.each(stage, alone, executor=executor)


def _bunches(orders: Sequence[Order]) -> list[list[Order]]:
    bunches: list[list[Order]] = []
    size = 0
    for order in orders:
        if not bunches or len(bunches[-1]) == _TOGETHER or size + order.found.size > _SIZE_TOGETHER:
            bunches.append([])
            size = 0
        bunches[-1].append(order)
        size += order.found.size
    return bunches


def in_order(made: list[Staged], plan: Plan) -> list[Staged]:
    """What was made, in the order of the plan, however the work was shared out."""
    places = {source_of(found): place for place, found in enumerate(plan.chosen)}
    return sorted(made, key=lambda staged: places[source_of(staged.found)])


@dataclass
class Update:
    """One run over a folder that is held by nobody else."""

    plan: Plan
    held: Manifest
    private: Path
    """Where files are laid before they are placed."""
    built: Built
    told: Told
    executor: Executor | None

    def chats(self, confirm: Callable[[Built], bool] | None) -> bool:
        """Make the chats that are due and put them in their place; False when `confirm` said no to that."""
        waiting: list[tuple[Order, Staged]] = []
        for order, staged in results(self._orders(), self.built, self.told, self.executor):
            self.built.made.append(staged)
            if confirm is None:
                self._place(order, staged)
            else:
                waiting.append((order, staged))
        self.built.made = in_order(self.built.made, self.plan)
        if waiting and confirm is not None and not confirm(self.built):
            self.built.confirmed = False
            return False
        for order, staged in waiting:
            self._place(order, staged)
        for found in self.built.empty:
            if not self._files_of(found):
                self.held.take(self._entry(found))
        return True

    def rest(self) -> None:
        """What comes after the chats: those whose log is gone, the index, and the manifest."""
        self._mark_gone()
        # A folder without a chat gets no empty index; one that has an index keeps it up to date.
        if any(entry.files for entry in self.held.entries.values()):
            self._index()
            self.held.save()

    # --- the chats

    @cached_property
    def _secret(self) -> bytes:
        return own_bytes()

    @cached_property
    def _keys(self) -> dict[tuple[str, str], str]:
        """What each chosen chat's files are made of."""
        made_with = self.plan.output.identity()
        return {
            source_of(found): manifest.key(
                self._secret, __version__, made_with, found.reader, found.id, found.fingerprint
            )
            for found in self.plan.chosen
        }

    @cached_property
    def _roots(self) -> dict[Path, str]:
        return {root: manifest.key(self._secret, "root", str(root)) for root in self.plan.survey.walked}

    def _orders(self) -> list[Order]:
        """The chosen chats that are out of date; the others are counted."""
        given = {entry.chat: entry.digits for entry in self.held.entries.values() if entry.digits}
        digits = names.digests(self._keys, given)
        orders = []
        for found in self.plan.chosen:
            entry = self.held.entries.get(source_of(found))
            if entry is None or self._is_due(entry):
                named = Given(digits[source_of(found)], entry.stems if entry else {})
                orders.append(Order(found, self.plan.output, named, self.private / named.digits))
            elif entry.files:
                self.built.unchanged += 1
                self.built.kept += manifest.changed(self.held.folder, entry)
                entry.root = self._root_of(found)
            else:
                self.built.left_out[NOTHING_IN_IT] += 1
        return orders

    def _is_due(self, entry: Entry) -> bool:
        return entry.key != self._keys[entry.chat] or manifest.stale(self.held.folder, entry)

    def _place(self, order: Order, staged: Staged) -> None:
        entry = self._entry(order.found)
        entry.digits = order.given.digits
        entry.stems, entry.files, entry.rows = staged.made.stems, staged.files, staged.made.rows
        self.built.kept += place_files(self.held, entry, order.folder or self.private)
        self.built.written += 1

    def _entry(self, found: Found) -> Entry:
        return Entry(source_of(found), self._keys[source_of(found)], self._root_of(found))

    def _root_of(self, found: Found) -> str:
        root = self.plan.survey.roots.get(source_of(found))
        return self._roots.get(root, "") if root else ""

    def _files_of(self, found: Found) -> bool:
        entry = self.held.entries.get(source_of(found))
        return bool(entry and entry.files)

    # --- the rest

    def _mark_gone(self) -> None:
        """Chats that are no longer where they were found; their report stays unless it is to be pruned."""
        there = {source_of(found) for found in self.plan.survey.chats}
        chosen = set(self._keys)
        looked = {self._roots[root] for root in self.plan.survey.walked if not self.plan.survey.trouble_in(root)}
        for entry in list(self.held.entries.values()):
            if entry.chat == INDEX:
                continue
            if entry.chat in there:
                entry.gone = False
            elif entry.root in looked:
                entry.gone = True
            if entry.gone and (self.plan.prune or not entry.files):
                self.built.kept += remove_files(self.held, entry)
                self.built.pruned += 1
            elif entry.gone:
                self.built.gone += 1
            elif entry.chat not in chosen and entry.files:
                self.built.others += 1

    def _index(self) -> None:
        """Write the pages over all chats, unless they are as they would come out."""
        rows: list[JSON] = []
        for chat in sorted(self.held.entries):
            entry = self.held.entries[chat]
            rows += [{**row, "gone": True} if entry.gone and isinstance(row, dict) else row for row in entry.rows]
        skipped = [[str(item.path), item.verdict, item.why] for item in self.plan.survey.skipped]
        parts = [self.plan.output.identity(), rows, *(list[JSON](item) for item in skipped)]
        key = manifest.key(self._secret, __version__, *parts)
        entry = Entry(INDEX, key)
        before = self.held.entries.get(INDEX)
        if before is None or before.key != key or manifest.stale(self.held.folder, before):
            from trailbook.making import redacted

            folder = self.private / "index"
            for piece in formats.write_index(rows, redacted(skipped, self.plan.output), self.plan.output):
                entry.files[piece.name] = lay(folder, piece)
            self.built.kept += place_files(self.held, entry, folder)
        else:
            self.built.kept += manifest.changed(self.held.folder, before)
