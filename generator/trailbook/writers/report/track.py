"""The time axis of a run as SVG values: marks by colour and lane, breaks where time is folded, and where to jump."""

from __future__ import annotations

from trailbook.axis import LONGEST, Axis
from trailbook.timeline import Step, Timeline
from trailbook.wording import counted, duration
from trailbook.writers.report.steps import colour_of, word_of
from trailbook.writers.report.views import Mark, Track

WIDTH = 1_000
"""Units of the axis from end to end."""

MOST_CELLS = 160
MOST_BREAKS = 40
_LANES = {"you": 0, "wait": 0, "think": 1, "say": 1, "tool": 2, "edit": 3, "fail": 4}
_TICKS = (5, 10, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400, 36_000, 86_400, 604_800)


def make_track(timeline: Timeline, axis: Axis) -> Track:
    """The axis of the whole run; the same on each part, but for the cells."""
    steps = timeline.steps
    folded = f"; {counted(len(axis.breaks), 'long pause')} folded" if axis.breaks else ""
    label = f"Timeline of {counted(len(steps), 'step')} over {duration(axis.total)}{folded}"
    return Track(label, _marks(steps, axis), _breaks(axis), _ticks(axis))


def nearest_steps(axis: Axis) -> list[int]:
    """For equal stretches of the axis the step nearest to each, by index; for the ends the first and the last."""
    positions = axis.positions
    count = min(MOST_CELLS, max(40, 2 * len(positions)))
    nearest: list[int] = []
    index = 0
    for cell in range(count):
        middle = (cell + 0.5) / count
        while index + 1 < len(positions) and abs(positions[index + 1] - middle) <= abs(positions[index] - middle):
            index += 1
        nearest.append(index)
    nearest[0], nearest[-1] = 0, len(positions) - 1
    return nearest


def place_on_axis(position: float) -> tuple[int, int]:
    """A position from 0 to 1 in fortieths and thousandths beyond them, as the stylesheet's classes have it."""
    return divmod(min(round(position * WIDTH), WIDTH), 25)


def cell_title(step: Step, number: int, total: int, agent: str) -> str:
    """What a pointer resting on the axis is told."""
    return f"{number:,} of {total:,} · {word_of(step, agent)} · {step.title[:80]}"


def _marks(steps: list[Step], axis: Axis) -> list[Mark]:
    """One path a colour; at most one mark a half unit, so that a path stays small however long the run."""
    found: dict[str, dict[float, float]] = {}
    for step, position in zip(steps, axis.positions, strict=True):
        at = round(position * WIDTH * 2) / 2
        lasted = min(max(step.duration or 0, 0), LONGEST) / axis.total if axis.total else 0.0
        width = max(1.4, round(lasted * WIDTH * 2) / 2)
        of_colour = found.setdefault(colour_of(step), {})
        of_colour[at] = max(width, of_colour.get(at, 0.0))
    return [
        Mark(
            colour,
            "".join(f"M{at:g} {_LANES[colour] * 8 + 1}h{width:g}v6h-{width:g}z" for at, width in sorted(marks.items())),
        )
        for colour, marks in sorted(found.items(), key=lambda each: (_LANES[each[0]], each[0]))
    ]


def _breaks(axis: Axis) -> list[str]:
    longest = sorted(axis.breaks, key=lambda index: -axis.breaks[index])[:MOST_BREAKS]
    half = LONGEST / 2 / axis.total if axis.total else 0.0
    return [f"{max(axis.positions[index] - half, 0) * 100:.2f}%" for index in sorted(longest)]


def _ticks(axis: Axis) -> list[tuple[str, str, str]]:
    total = axis.total / 1_000
    if total < 1:
        return []
    step = next((seconds for seconds in _TICKS if total / seconds <= 9), _TICKS[-1] * (int(total / _TICKS[-1] / 9) + 1))
    ticks = [("0%", "start", "0")]
    at = step
    while at < total * 0.97:
        ticks.append((f"{at / total * 100:.2f}%", "middle", _round_words(at)))
        at += step
    return ticks


def _round_words(seconds: int) -> str:
    """A round length of time: `5s`, `1m 30s`, `2m`, `1h`."""
    return duration(seconds * 1_000).replace(".0s", "s").replace("m 00s", "m").replace("h 00m", "h")
