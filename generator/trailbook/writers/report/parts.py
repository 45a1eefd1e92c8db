"""A long report in parts: steps rendered, gathered into chunks, and the chunks shared out over pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from itertools import islice, takewhile

from markupsafe import Markup

from trailbook.timeline import Step, Timeline, Turn
from trailbook.wording import counted, duration, money_of, shorten, tokens

CHUNK = 25
"""Steps of one chunk; the page's rules are fast because each looks at one chunk only."""


@dataclass(slots=True)
class Part:
    """One page's share of the steps, by index: from `start` up to, not including, `stop`."""

    number: int
    start: int
    stop: int


@dataclass(slots=True)
class Chunk:
    """Steps of one turn, at most `CHUNK`; or a folded stretch (`fold`) of any length."""

    first: int
    """The number of its first step."""
    turn: int | None = None
    """The turn that begins here, from 1; None where it goes on."""
    told: str = ""
    """What the turn came to: `1m 20s · 15.9k tokens · $0.02`."""
    fold: str = ""
    """What the folded stretch is, in words."""
    steps: list[Markup] = field(default_factory=list)


def share_out(sizes: Sequence[int], starts: Set[int], limit: int) -> list[Part]:
    """The pages that steps of these sizes (bytes) need, split at a turn where one begins in a page's last two thirds.

    A step larger than `limit` has a page of its own.
    """
    parts: list[Part] = []
    start, filled = 0, 0
    for index, size in enumerate(sizes):
        if filled + size > limit and index > start:
            stop = _last_turn(start, index, starts, sizes, limit)
            parts.append(Part(len(parts) + 1, start, stop))
            start, filled = stop, sum(sizes[stop:index])
        filled += size
    parts.append(Part(len(parts) + 1, start, len(sizes)))
    return parts


def gather(timeline: Timeline, part: Part, html: Callable[[int], Markup]) -> list[Chunk]:
    """The chunks of one page; `html` gives a step's HTML by its index."""
    steps = timeline.steps
    starts = turn_starts(steps)
    chunks: list[Chunk] = []
    before: tuple[int, str | None, bool] | None = None
    for index in range(part.start, part.stop):
        step = steps[index]
        kind = (-1 if step.inherited else step.turn, step.branch, step.inherited)
        folded = step.inherited or step.branch is not None
        if kind != before or (not folded and len(chunks[-1].steps) >= CHUNK):
            chunks.append(_chunk(timeline, index, part, starts))
        before = kind
        chunks[-1].steps.append(html(index))
    for chunk in chunks:
        if chunk.fold:
            chunk.fold = f"{chunk.fold} · {counted(len(chunk.steps), 'step')}"
    return chunks


def turn_starts(steps: Sequence[Step]) -> set[int]:
    """The indexes of the steps with which a turn of the active path begins."""
    first: dict[int, int] = {}
    for index, step in enumerate(steps):
        if step.branch is None and not step.inherited:
            first.setdefault(step.turn, index)
    return set(first.values())


def _chunk(timeline: Timeline, index: int, part: Part, starts: Set[int]) -> Chunk:
    step = timeline.steps[index]
    if step.inherited:
        return Chunk(index + 1, fold="Taken over from the chat this one continues")
    if step.branch is not None:
        return Chunk(index + 1, fold=_branch_words(timeline, index))
    if index not in starts and index != part.start:
        return Chunk(index + 1)
    turn = timeline.turns[step.turn] if step.turn < len(timeline.turns) else None
    return Chunk(index + 1, step.turn + 1, turn_words(turn) if turn else "")


def _branch_words(timeline: Timeline, index: int) -> str:
    """An abandoned branch by what was asked on it: `Abandoned branch: now rewrite all of it`."""
    branch = timeline.steps[index].branch
    stretch = takewhile(lambda step: step.branch == branch, islice(timeline.steps, index, None))
    first = next((step.title for step in stretch if step.kind == "asked"), "")
    return f"Abandoned branch: {shorten(first, 80)}" if first else "Abandoned branch"


def turn_words(turn: Turn, *, outcome: bool = True) -> str:
    """What a turn came to: `1m 20s · 15.9k tokens · $0.02`, and how it ended where it did not end well."""
    usage = turn.usage
    number = (usage.prompt_tokens or 0) + (usage.output_tokens or 0) if usage else 0
    parts = [
        duration(turn.ended - turn.at)
        if turn.at is not None and turn.ended is not None and turn.ended > turn.at
        else "",
        f"{duration(turn.waiting)} of it waiting" if turn.waiting else "",
        f"{tokens(number)} tokens" if number else "",
        money_of(turn.cost),
        {"interrupted": "interrupted", "error": "ended with a problem"}.get(turn.outcome or "", "") if outcome else "",
    ]
    return " · ".join(part for part in parts if part)


def _last_turn(start: int, index: int, starts: Set[int], sizes: Sequence[int], limit: int) -> int:
    filled = sum(sizes[start:index])
    for candidate in range(index, start, -1):
        if candidate in starts:
            return candidate
        filled -= sizes[candidate - 1]
        if filled < limit / 3:
            break
    return index
