"""The folded time axis of a timeline, and what had been done by each of its steps.

Long waits would leave no room for the work, so every gap and every duration counts for 20 seconds at most.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from trailbook.accounting import add_usage, paid
from trailbook.chat import Usage
from trailbook.timeline import Step, Timeline, Turn
from trailbook.wording import duration, money, tokens

LONGEST = 20_000
"""Milliseconds to which a gap or a duration is folded."""

SHORTEST = 600
"""Milliseconds that the axis advances at least from step to step."""


@dataclass(slots=True)
class Axis:
    positions: list[float] = field(default_factory=list)
    """Where each step stands, from 0 to 1; they rise strictly."""
    breaks: dict[int, int] = field(default_factory=dict)
    """The steps before which time was folded (by index), and how many milliseconds the gap really was."""
    total: int = 0
    """The folded length in milliseconds."""


def fold(timeline: Timeline) -> Axis:
    """Fold a timeline's time. A step whose time is unknown follows the one before it at once."""
    axis = Axis()
    reached = 0
    places: list[int] = []
    end: int | None = None
    lasted = 0
    for index, step in enumerate(timeline.steps):
        gap = 0 if step.at is None or end is None else max(step.at - end, 0)
        if index:
            reached += max(SHORTEST, min(lasted, LONGEST) + min(gap, LONGEST))
        if gap > LONGEST:
            axis.breaks[index] = gap
        places.append(reached)
        lasted = max(step.duration or 0, 0)
        end = step.at + lasted if step.at is not None else end
    axis.total = reached + min(lasted, LONGEST)
    axis.positions = [place / axis.total if axis.total else 0.0 for place in places]
    return axis


def tally(timeline: Timeline, index: int) -> str:
    """What had been done by a step (counted from 0), as one of `tallies`."""
    return tallies(timeline)[index]


def tallies(timeline: Timeline) -> list[str]:
    """For every step what had been done by then: `By here: 1m 12s · 6 of 23 steps · 4.1k tokens · $0.02`.

    The last says `In all`, with the chat's own totals. Time counts inside turns; tokens and money count when their
    message begins or, where the log counts by turn, when the turn has ended. What is inherited does not count.
    """
    running = _Running(timeline.turns)
    totals = timeline.totals
    last = len(timeline.steps) - 1
    lines = []
    for index, step in enumerate(timeline.steps):
        running.take(step)
        if index < last:
            lasted = None if totals.duration is None else running.duration
            spent = money(running.usd, estimated=totals.estimated)
            lines.append(_line("By here", lasted, index, last, running.usage, spent))
    if timeline.steps:
        spent = money(totals.usd, estimated=totals.estimated)
        lines.append(_line("In all", totals.duration, last, last, totals.usage, spent))
    return lines


class _Running:
    """What has been counted so far."""

    def __init__(self, turns: list[Turn]) -> None:
        self.usage: Usage | None = None
        self.usd: float | None = None
        self.duration = 0
        """Never falls, although steps stand in file order and parallel ones end in another."""
        self._turns = turns
        self._over = 0
        """The length of the turns before the present one."""
        self._present = -1
        self._by_message: set[int] = set()
        self._counted: set[int] = set()

    def take(self, step: Step) -> None:
        if step.usage or step.cost:
            self._by_message.add(step.turn)
            self._add(step.usage, paid(step.cost))
        while self._present < step.turn:
            if self._present >= 0:
                self._over += _length(self._turns[self._present])
                self._count(self._turns[self._present])
            self._present += 1
        turn = self._turns[step.turn] if self._turns else None
        if turn and turn.ended is not None and _end(step) >= turn.ended - 1:
            self._count(turn)
        self.duration = self._lasted(step)

    def _lasted(self, step: Step) -> int:
        lasted = self._over
        turn = self._turns[self._present] if self._turns else None
        if turn and not turn.inherited and None not in (turn.at, turn.ended, step.at):
            lasted += min(_end(step), turn.ended or 0) - (turn.at or 0)
        return max(lasted, self.duration)

    def _count(self, turn: Turn) -> None:
        if turn.index not in self._counted and turn.index not in self._by_message:
            self._counted.add(turn.index)
            self._add(turn.usage, paid(turn.cost))

    def _add(self, usage: Usage | None, usd: float | None) -> None:
        self.usage = add_usage(self.usage, usage)
        if usd is not None:
            self.usd = (self.usd or 0.0) + usd


def _length(turn: Turn) -> int:
    if turn.inherited or turn.at is None or turn.ended is None:
        return 0
    return max(turn.ended - turn.at, 0)


def _end(step: Step) -> int:
    return (step.at or 0) + (step.duration or 0)


def _line(head: str, lasted: int | None, index: int, last: int, usage: Usage | None, spent: str) -> str:
    number = (usage.prompt_tokens or 0) + (usage.output_tokens or 0) if usage else 0
    parts = [
        "" if lasted is None else duration(lasted),
        f"{index + 1:,} of {last + 1:,} steps" if last else "1 of 1 step",
        f"{tokens(number)} tokens" if number else "",
        spent,
    ]
    return f"{head}: " + " · ".join(part for part in parts if part)
