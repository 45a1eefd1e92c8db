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


@dataclass(slots=True, frozen=True)
class _Told:
    """What of a message is compared."""

    key: Key
    summary: bool
    """Whether it has the summary of a compression."""
    merged: bool
    """Whether that was put into a message that was kept."""
    archived: bool
    session: str
    time: int | None


def key_of(values: Fields) -> Key:
    """What a message is known again by: the ids of calls where it has any, else its words."""
    return _tell(values, "").key


def generations(rows: Sequence[Row]) -> Generations:
    """Find the copies in the messages of a chat's sessions, those that were taken back left out."""
    found = Generations()
    told = [_tell(row.values, row.place.file) for row in rows]
    keys = [message.key for message in told]
    starts = _starts(told)
    for before, start, end in zip(starts, starts[1:], [*starts[2:], len(told)], strict=False):
        _compare(told, keys, before, start, end, found)
    return found


def is_taken_back(values: Fields) -> bool:
    """Whether a message was taken back by the person, who went on from an earlier one."""
    return values.get("active") in (0, False) and not _is_archived(values)


def _tell(values: Fields, session: str) -> _Told:
    prior, summary = take_summary(words_of(values.get("content")))
    key = _key(values, prior or summary or "")
    time = moment_of_seconds(values.get("timestamp"))
    return _Told(key, summary is not None, bool(prior), _is_archived(values), session, time)


def _key(values: Fields, words: str) -> Key:
    role = str(values.get("role"))
    answers = bare(values.get("tool_call_id"))
    if role == "tool" and answers:
        return role, answers
    calls = calls_in(values)
    if calls:
        return role, *(call.id or f"{call.name} {call.arguments}" for call in calls)
    return role, words.replace(_STRIPPED, "").strip()


def _is_archived(values: Fields) -> bool:
    return values.get("compacted") in (1, True)


def _starts(told: Sequence[_Told]) -> list[int]:
    """Where each generation starts, the first one as well."""
    starts = [0]
    summaries = 0
    for index, message in enumerate(told):
        previous = told[index - 1] if index else message
        if previous.session != message.session or (previous.archived and not message.archived):
            starts.append(index)
            summaries = 0
        if message.summary:
            summaries += 1
            # A compression that was itself compressed leaves no other mark than what was stored with its summary.
            if message.archived and (summaries > 1 or (starts == [0] and index)):
                start = _stored_with(told, index, starts[-1])
                if start > starts[-1]:
                    starts.append(start)
    return starts


def _stored_with(told: Sequence[_Told], summary: int, floor: int) -> int:
    """Where the messages start that were stored at once with a summary, or that stand before with the same time."""
    start = summary
    moment = told[summary].time
    while start - 1 > floor:
        one = told[start - 1]
        at_once = one.time is not None and moment is not None and abs(one.time - moment) < _TOGETHER
        if not (at_once or any(other.key == one.key and other.time == one.time for other in told[floor : start - 1])):
            break
        start -= 1
    return start


def _compare(told: Sequence[_Told], keys: Sequence[Key], before: int, start: int, end: int, found: Generations) -> None:
    """Mark what one generation has of the one before it."""
    known = set(keys[before:start])
    at = start
    while at < end and at - start < start - before and keys[at] == keys[before + at - start]:
        found.copies.add(at)
        at += 1
    summary = next((i for i in range(at, end) if told[i].summary and (told[i].merged or keys[i] not in known)), None)
    if summary is None:
        found.unsaid.add(start)
        return
    tail = summary if told[summary].merged else summary + 1
    found.copies.update(range(tail, tail + _overlap(keys[before:start], keys[tail:end])))


def _overlap(before: Sequence[Key], after: Sequence[Key]) -> int:
    """How many of the last keys of one row are the first ones of the other."""
    longest = min(len(before), len(after), _MOST_KEPT)
    return next((size for size in range(longest, 0, -1) if before[-size:] == after[:size]), 0)
