"""Messages that a compression kept: they stand twice, in what was compressed and in what goes on from it.

What goes on starts with the first messages of the chat, then has the summary, then the last messages from before, and
only then what is new. That holds for a session that goes on from another one, and for a session that was compressed in
place, where what was before stays with `compacted` set (harnesses.md A2). Times say nothing of copies: they are stored
anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from trailbook.readers.hermes.calls import bare, calls_in
from trailbook.readers.hermes.contents import take_summary, words_of
from trailbook.readers.hermes.store import Row
from trailbook.readers.values import Fields, moment_of_seconds

Key = tuple[str, ...]

_STRIPPED = "[Attached image — stripped after compression]"
_TOGETHER = 1_000
"""Milliseconds within which what is stored at once is stored."""
_MOST_KEPT = 1_000
"""Messages that a compression keeps at most at the end: it keeps as many as some 20,000 tokens are."""


@dataclass(slots=True)
class Generations:
    """What compression left in a row of messages, by their indexes."""

    copies: set[int] = field(default_factory=set)
    """Messages that stand before already."""
    unsaid: set[int] = field(default_factory=set)
    """Where it goes on after a compression whose summary is not among the messages."""


def key_of(values: Fields) -> Key:
    """What a message is known again by: the ids of calls where it has any, else its words."""
    role = str(values.get("role"))
    answers = bare(values.get("tool_call_id"))
    if role == "tool" and answers:
        return role, answers
    calls = calls_in(values)
    if calls:
        return role, *(call.id or f"{call.name} {call.arguments}" for call in calls)
    prior, summary = take_summary(words_of(values.get("content")))
    words = prior or summary or ""
    return role, words.replace(_STRIPPED, "").strip()


def generations(rows: Sequence[Row]) -> Generations:
    """Find the copies in the messages of a chat's sessions, those that were taken back left out."""
    found = Generations()
    keys = [key_of(row.values) for row in rows]
    starts = _starts(rows, keys)
    for before, start, end in zip(starts, starts[1:], [*starts[2:], len(rows)], strict=False):
        _compare(rows, keys, before, start, end, found)
    return found


def is_taken_back(values: Fields) -> bool:
    """Whether a message was taken back by the person, who went on from an earlier one."""
    return values.get("active") in (0, False) and values.get("compacted") not in (1, True)


def _starts(rows: Sequence[Row], keys: Sequence[Key]) -> list[int]:
    """Where each generation starts, the first one as well."""
    starts = [0]
    known: set[tuple[Key, int | None]] = set()
    summaries = 0
    for index, row in enumerate(rows):
        previous = rows[index - 1] if index else row
        if previous.place.file != row.place.file or (_is_archived(previous) and not _is_archived(row)):
            starts.append(index)
            summaries = 0
        if _summary(row) is not None:
            summaries += 1
            # A compression that was itself compressed leaves no other mark than what was stored with its summary.
            if _is_archived(row) and (summaries > 1 or (starts == [0] and index)):
                start = _stored_with(rows, keys, index, starts[-1], known)
                if start > starts[-1]:
                    starts.append(start)
        known.add((keys[index], _time(row)))
    return starts


def _stored_with(
    rows: Sequence[Row], keys: Sequence[Key], summary: int, floor: int, known: set[tuple[Key, int | None]]
) -> int:
    start = summary
    moment = _time(rows[summary])
    while start - 1 > floor:
        time = _time(rows[start - 1])
        at_once = time is not None and moment is not None and abs(time - moment) < _TOGETHER
        repeated = keys[start - 1] in keys[floor : start - 1] and (keys[start - 1], time) in known
        if not (at_once or repeated):
            break
        start -= 1
    return start


def _compare(rows: Sequence[Row], keys: Sequence[Key], before: int, start: int, end: int, found: Generations) -> None:
    """Mark what one generation has of the one before it."""
    known = set(keys[before:start])
    at = start
    while at < end and at - start < start - before and keys[at] == keys[before + at - start]:
        found.copies.add(at)
        at += 1
    summary = next((i for i in range(at, end) if _summary(rows[i]) is not None and keys[i] not in known), None)
    merged = next((i for i in range(at, end) if _summary(rows[i]) is not None and _is_merged(rows[i])), None)
    if merged is not None and (summary is None or merged <= summary):
        tail = merged
    elif summary is not None:
        tail = summary + 1
    else:
        found.unsaid.add(start)
        return
    kept = _overlap(keys[before:start], keys[tail:end])
    found.copies.update(range(tail, tail + kept))


def _overlap(before: Sequence[Key], after: Sequence[Key]) -> int:
    """How many of the last keys of one row are the first ones of the other."""
    longest = min(len(before), len(after), _MOST_KEPT)
    return next((size for size in range(longest, 0, -1) if before[-size:] == after[:size]), 0)


def _summary(row: Row) -> str | None:
    return take_summary(words_of(row.values.get("content")))[1]


def _is_merged(row: Row) -> bool:
    return bool(take_summary(words_of(row.values.get("content")))[0])


def _is_archived(row: Row) -> bool:
    return row.values.get("compacted") in (1, True)


def _time(row: Row) -> int | None:
    return moment_of_seconds(row.values.get("timestamp"))
