"""The filters of the index: for each the values there are, counted, and the classes of each row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from trailbook.themes import FACETS
from trailbook.wording import MONTHS, date, file_name
from trailbook.writers.index.rows import Row

_ORIGINS = {
    "chat": "Chats",
    "routine": "Routines",
    "task": "Tasks",
    "channel": "Chat apps",
    "client": "Other apps",
    "artifact": "Pages",
    "subagent": "Subagents",
}


@dataclass(slots=True)
class Value:
    """One value of a filter: the id of its control, which is also the rows' class, its words and its count."""

    id: str
    words: str
    count: int


@dataclass(slots=True)
class Facet:
    letter: str
    name: str
    values: list[Value]


def make_facets(rows: Sequence[Row], zone: tzinfo) -> tuple[list[Facet], list[str]]:
    """The filters worth having (two values or more) over some rows, and for each row its classes.

    A filter has only so many values as the stylesheet has rules for: the rarest share the last one, `Others`.
    """
    facets: list[Facet] = []
    classes: list[list[str]] = [[] for _row in rows]
    for letter, name, values_of in _facets(zone):
        values = [values_of(row) for row in rows]
        counts = Counter(value for of_row in values for value in of_row)
        if len(counts) < 2:
            continue
        by_count = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
        ordered = sorted(counts, key=_month_order) if letter == "d" else [value for value, _count in by_count]
        place = {value: min(index, FACETS[letter] - 1) for index, value in enumerate(ordered)}
        for of_row, row_classes in zip(values, classes, strict=True):
            row_classes.extend(dict.fromkeys(f"{letter}{place[value]}" for value in of_row))
        facets.append(Facet(letter, name, _values(letter, ordered, counts, place, values)))
    return facets, [" ".join(each) for each in classes]


def _facets(zone: tzinfo) -> list[tuple[str, str, Callable[[Row], list[str]]]]:
    return [
        ("a", "Agent", lambda row: [row.agent or "Unknown"]),
        ("p", "Project", lambda row: [file_name(row.project) if row.project else "No folder"]),
        ("m", "Model", lambda row: list(dict.fromkeys(row.models)) or ["Unknown"]),
        ("o", "Origin", lambda row: [_ORIGINS.get(row.origin, row.origin)]),
        ("f", "Outcome", lambda row: ["Something failed" if row.failed else "All worked"]),
        ("d", "Month", lambda row: [month_of(row.started, zone)]),
    ]


def month_of(at: int | None, zone: tzinfo) -> str:
    """The month of a moment in words: `October 2026`; `No date` for one that is unknown."""
    return date(at, zone).partition(" ")[2] or "No date"


def _month_order(month: str) -> tuple[int, int]:
    name, _, year = month.partition(" ")
    return (-int(year), -MONTHS.index(name)) if name in MONTHS else (1, 0)


def _values(
    letter: str, ordered: list[str], counts: Counter[str], place: dict[str, int], values: list[list[str]]
) -> list[Value]:
    last = FACETS[letter] - 1
    found = [Value(f"{letter}{place[value]}", value, counts[value]) for value in ordered[: last + 1]]
    if len(ordered) > last + 1:
        found[last].words = "Others"
        found[last].count = sum(any(place[value] == last for value in of_row) for of_row in values)
    return found
