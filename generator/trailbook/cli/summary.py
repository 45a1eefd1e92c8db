"""What a run would write, and what it has written, in words."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING

from trailbook.cli.account import line_of_left_out
from trailbook.terminal import line
from trailbook.updating import Built
from trailbook.wording import counted

if TYPE_CHECKING:
    from trailbook.parts import Export
    from trailbook.redaction.context import Context
    from trailbook.redaction.removed import Removed

_MOST_NAMED = 20


def lines_of_preview(built: Built, context: Context | None) -> Iterator[str]:
    """How many chats and steps there are, and what comes out, with places as they read afterwards."""
    steps = sum(staged.made.steps for staged in built.made)
    yield f"{counted(len(built.made), 'chat')}, {counted(steps, 'step')}."
    if not built.made:
        return
    removed = reduce(add, [staged.made.removed for staged in built.made])
    yield from lines_of_removed(removed, context)


def lines_of_removed(removed: Removed, context: Context | None) -> Iterator[str]:
    """What comes out, with places as they read afterwards; without a context nothing does."""
    if context is None:
        yield "Nothing is taken out: --no-redact."
        return
    yield f"Taken out: {removed.sentence()}."
    for kind, examples in removed.examples.items():
        for example in examples:
            yield f"  {kind:<8}  {line(example)}"
    if context.passed_over:
        known = counted(context.passed_over, "known value")
        yield f"Not looked for: {known} that are short, plain words or numbers."


def lines_of_left_out(built: Built) -> Iterator[str]:
    """The chats that were left out once they were read."""
    if built.left_out:
        yield line_of_left_out(built.left_out)


def lines_of_troubles(built: Built) -> Iterator[str]:
    """The chats that failed, and what was not written or is not whole."""
    yield from _some([line(f"Failed: {why}") for _found, why in built.failed])
    for found, kinds in built.unsafe:
        what = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        yield line(f"Not written: secrets were still in what {found.path} would have become ({what}).")
    for staged in built.made:
        if staged.made.lost:
            yield line(f"Work was lost from {staged.found.path}:")
            yield from _some(["  " + line(text) for text in staged.made.fidelity])


def lines_of_nothing(built: Built) -> Iterator[str]:
    """That nothing was written, where there was nothing to write."""
    if built.nothing:
        yield "trailbook: Nothing was written: no chat is left to write. Try other chats, or other options."


def lines_of_result(built: Built, folder: Path) -> Iterator[str]:
    """What was written where."""
    if built.nothing:
        return
    parts = [f"{counted(built.written, 'chat')} written"]
    for number, words in (
        (built.unchanged, "unchanged"),
        (built.gone, "kept although their log is gone (--prune removes them)"),
        (built.pruned, "removed because their log is gone"),
        (built.others, "of earlier builds stay"),
    ):
        if number:
            parts.append(f"{number:,} {words}")
    yield f"{', '.join(parts)}."
    compared = [staged for staged in built.made if staged.made.trajectories]
    if compared and not any(staged.made.lost for staged in compared):
        yield f"The trajectories of {counted(len(compared), 'chat')} were counted again: nothing of the logs is lost."
    damaged = [staged for staged in built.made if any(each.lost for each in staged.made.diagnostics)]
    if damaged:
        yield f"Something could not be read in {counted(len(damaged), 'chat')}; each report says what."
    yield from _some([line(f"Kept as it is, since somebody changed it: {folder / name}") for name in built.kept])
    yield str(folder / "index.html")


def lines_of_parts(made: Export, folder: Path, context: Context | None) -> Iterator[str]:
    """What an export in parts has written where."""
    yield f"{counted(made.chats, 'chat')}, {counted(made.steps, 'step')} in {counted(made.parts, 'file')}."
    if made.unchanged:
        yield f"{counted(made.unchanged, 'part')} had been written before."
    if made.left_out:
        yield line_of_left_out(made.left_out)
    if made.parts:
        yield from lines_of_removed(made.removed, context)
    if made.parts and not made.lost:
        yield "Each file was counted again where it was written: nothing of the logs is lost."
    yield line(str(folder))


def lines_of_parts_troubles(made: Export) -> Iterator[str]:
    """What of an export in parts failed, was not written or is not whole."""
    yield from _some([line(f"Failed: {why}") for why in made.failed])
    if made.unsafe:
        what = ", ".join(f"{count} {kind}" for kind, count in made.unsafe.items())
        yield f"Not written: secrets were still in some parts ({what})."
    yield from _some([line(f"Work was lost: {text}") for text in made.lost])
    yield from _some([line(f"Kept as it is, since somebody changed it: {name}") for name in made.kept])


def _some(lines: list[str]) -> Iterator[str]:
    yield from lines[:_MOST_NAMED]
    if len(lines) > _MOST_NAMED:
        yield f"… and {len(lines) - _MOST_NAMED:,} more."
