"""Messages that stand in a log twice, as the counter finds them: kept by a compression, copied into a branch."""

from __future__ import annotations

from trailbook import json_text
from trailbook.chat import JSON
from trailbook.readers.hermes.ledger_words import Raw, content_in, id_in, json_in, list_in, object_in, parted
from trailbook.readers.hermes.lineage import Family
from trailbook.readers.hermes.store import Row, Store
from trailbook.readers.lines import Problems


def is_undone(row: Row) -> bool:
    """Whether a message was taken back by the person."""
    return row.values.get("active") in (0, False) and row.values.get("compacted") not in (1, True)


def kept_among(rows: list[Row]) -> set[int]:
    """The numbers of messages that stand before already, because a compression kept them.

    They stand around a summary, or at the beginning of what goes on: as in what was compressed, the first ones first.
    """
    numbers = [number for number, row in enumerate(rows) if not is_undone(row)]
    marks = [mark_of(rows[number]) for number in numbers]
    beginnings = _beginnings([rows[number] for number in numbers], marks)
    kept: set[int] = set()
    for order, start in enumerate(beginnings[1:], 1):
        end = beginnings[order + 1] if order + 1 < len(beginnings) else len(numbers)
        old, new = marks[beginnings[order - 1] : start], marks[start:end]
        head = 0
        while head < min(len(old), len(new)) and old[head] == new[head]:
            head += 1
        kept.update(range(start, start + head))
        for at in range(head, len(new)):
            prior, summary = parted(content_in(rows[numbers[start + at]].values.get("content"))[0])
            if summary is None or (new[at] in old and not prior):
                continue
            rest = new[at if prior else at + 1 :]
            sizes = range(min(len(old), len(rest), 1_000), 0, -1)
            size = next((size for size in sizes if old[len(old) - size :] == rest[:size]), 0)
            first = start + at + (0 if prior else 1)
            kept.update(range(first, first + size))
            break
    return {numbers[at] for at in kept}


def _beginnings(rows: list[Row], marks: list[str]) -> list[int]:
    found = [0]
    archived = [row.values.get("compacted") in (1, True) for row in rows]
    told = [parted(content_in(row.values.get("content"))[0])[1] is not None for row in rows]
    seen: dict[tuple[str, JSON], int] = {}
    for at, row in enumerate(rows):
        if at and (row.place.file != rows[at - 1].place.file or (archived[at - 1] and not archived[at])):
            found.append(at)
        elif told[at] and archived[at] and at and (any(told[found[-1] : at]) or found == [0]):
            start = at
            while start - 1 > found[-1] and _is_stored_with(rows, marks, start - 1, at, found[-1], seen):
                start -= 1
            if start > found[-1]:
                found.append(start)
        seen.setdefault((marks[at], _second(row)), at)
    return found


def _is_stored_with(
    rows: list[Row], marks: list[str], at: int, summary: int, floor: int, seen: dict[tuple[str, JSON], int]
) -> bool:
    one, other = rows[at].values.get("timestamp"), rows[summary].values.get("timestamp")
    if isinstance(one, int | float) and isinstance(other, int | float) and abs(one - other) < 1:
        return True
    return floor <= seen.get((marks[at], _second(rows[at])), at) < at


def _second(row: Row) -> JSON:
    value = row.values.get("timestamp")
    return round(value * 1000) if isinstance(value, int | float) and abs(value) < 1e11 else None


def mark_of(row: Row) -> str:
    """What a message is known again by: the call that it answers, the calls that it makes, else its words."""
    values = row.values
    role, answers = str(values.get("role")), id_in(values.get("tool_call_id"))
    if role == "tool" and answers:
        return f"tool {answers}"
    calls = [object_in(call) for call in list_in(json_in(values.get("tool_calls"))) if object_in(call)]
    names = []
    for call in calls:
        function = object_in(call.get("function")) or call
        told = f"{function.get('name')} {function.get('arguments')}"
        names.append(id_in(call.get("id")) or id_in(call.get("call_id")) or told)
    if names:
        return f"{role} calls {json_text.dump(list[JSON](names)).decode()}"
    prior, summary = parted(content_in(values.get("content"))[0])
    words = (prior or summary or "").replace("[Attached image — stripped after compression]", "")
    return f"{role} says {words.strip()}"


def copied_from_parent(store: Store, family: Family, about: Raw, rows: list[Row]) -> int:
    """How many of a branch's first messages stand in its parent, in the same order, from before it was made."""
    if family.relation != "branch" or family.parent not in store.sessions or family.parent is None:
        return 0
    made = about.get("started_at")
    _, parents = store.read(family.parent, Problems())
    if isinstance(made, int | float):
        parents = [row for row in parents if not _is_later(row, made + 1)]
    marks = [mark_of(row) for row in parents]
    at = 0
    for copied, row in enumerate(rows):
        try:
            at = marks.index(mark_of(row), at) + 1
        except ValueError:
            return copied
    return len(rows)


def _is_later(row: Row, moment: float) -> bool:
    time = row.values.get("timestamp")
    return isinstance(time, int | float) and time > moment
