"""How many chats there were by day, as the bars of a chart; over years by week."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo

from trailbook.wording import MONTHS, counted
from trailbook.writers.index.rows import Row

WIDTH, HEIGHT = 1_000, 56

MOST_DAYS = 370
"""Days that have a bar each; of more, a bar is a week, or as many weeks as it takes."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Day:
    x: str
    width: str
    y: str
    height: str
    title: str


@dataclass(slots=True)
class Activity:
    label: str
    days: list[Day]
    labels: list[tuple[str, str]]
    """Per cent and words along the axis."""


def make_activity(rows: Sequence[Row], zone: tzinfo) -> Activity | None:
    """The chart, where there are chats on two days or more."""
    counts = Counter(day for row in rows if (day := _day(row.started, zone)) is not None)
    if len(counts) < 2:
        return None
    first, last = min(counts), max(counts)
    size = 1
    while (last - first).days // size >= MOST_DAYS:
        size = 7 if size == 1 else size * 2
    grouped: Counter[int] = Counter()
    for day, count in counts.items():
        grouped[(day - first).days // size] += count
    bars = (last - first).days // size + 1
    width, most = WIDTH / bars, max(grouped.values())
    days = [
        Day(
            f"{index * width:.2f}",
            f"{max(width * 0.8, 0.6):.2f}",
            f"{HEIGHT - count / most * HEIGHT:.1f}",
            f"{count / most * HEIGHT:.1f}",
            f"{_title(first + timedelta(days=index * size), size)}: {counted(count, 'chat')}",
        )
        for index, count in sorted(grouped.items())
    ]
    label = f"Chats by {'day' if size == 1 else 'week' if size == 7 else f'{size} days'}, at most {most:,}"
    return Activity(label, days, [("0%", _words(first)), ("100%", _words(last))])


def _day(at: int | None, zone: tzinfo) -> date | None:
    if at is None:
        return None
    try:
        return (_EPOCH + timedelta(milliseconds=at)).astimezone(zone).date()
    except (OverflowError, ValueError):
        return None


def _title(day: date, size: int) -> str:
    return _words(day) if size == 1 else f"From {_words(day)}"


def _words(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1][:3]} {day.year}"
