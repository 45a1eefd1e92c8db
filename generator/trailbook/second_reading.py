"""What digests alone cannot decide: the raw words are read again at their places and compared with the written ones.

Redaction changes words, and a message that the log has in several pieces is written as one. Only such pieces are read
again, and only so many at a time, because a log may be larger than the memory that is to spare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from trailbook import json_text
from trailbook.chat import JSON
from trailbook.ledger import Entry, Keep, Ledger
from trailbook.redacted_match import Match, match_joined, match_json, match_text
from trailbook.stand_ins import STAND_INS, say_no_result, take_marks

MOST_AT_ONCE = 32_000_000
"""Characters of raw words that are held at a time."""
_MOST_JOINED = 16
"""Pieces of a log that one written piece may be made of, where the log does not say that they are one message."""
_MOST_SKIPPED = 32
"""Pieces that may be lost in a row before the next one is found."""
_MOST_WORK = 2_000_000
"""Characters of one written piece that are compared in all, however many pieces of the log it could be."""

Recount = Callable[[Keep], Ledger]
"""Counts the same log or file again, and keeps the raw words of some places."""


class Changed(Exception):
    """A log or a file was changed while it was compared."""


Piece = list[Entry]
"""What is one message on one side: several entries, where that side has it in several pieces."""


@dataclass(slots=True)
class Doubt:
    """Pieces of the log and of the file that should be the same and have different digests."""

    kind: str
    ours: list[Piece]
    theirs: list[Piece]

    @property
    def size(self) -> int:
        """About how many characters have to be read again for it."""
        return sum(entry.size or 1_000 for side in (self.ours, self.theirs) for piece in side for entry in piece)


@dataclass(slots=True)
class Verdict:
    """What came of one doubt."""

    doubt: Doubt
    same: int = 0
    """Pieces of the log that stand in the file, word for word or redacted."""
    redacted: int = 0
    """How many of them have something taken out."""
    lost: list[Piece] = field(default_factory=list)
    """Pieces of the log that are not in the file."""
    added: list[Piece] = field(default_factory=list)
    """Pieces of the file that are not in the log."""


@dataclass(slots=True, frozen=True)
class Side:
    """One of the two that are compared: its ledger, and how to count it again."""

    ledger: Ledger
    recount: Recount | None

    def texts(self, entries: list[Entry]) -> dict[int, str]:
        """The raw words of some entries, by the entries' identity. Raises Changed."""
        kept = {id(entry): entry.text for entry in entries if entry.text is not None}
        missing = [entry for entry in entries if entry.text is None]
        if not missing or self.recount is None:
            return kept
        places = {entry.place for entry in missing}
        again = list(_every_entry(self.recount(places.__contains__)))
        before = list(_every_entry(self.ledger))
        if [entry.digest for entry in again] != [entry.digest for entry in before]:
            raise Changed("It was changed while it was compared: compare again.")
        wanted = {id(entry) for entry in missing}
        for entry, other in zip(before, again, strict=True):
            if id(entry) in wanted and other.text is not None:
                kept[id(entry)] = other.text
        return kept


def is_needed(piece: Piece) -> bool:
    """Whether a piece of the log must stand in the file: what is of the kind `system` need not."""
    return any(entry.kind != "system" for entry in piece)


def settle(doubts: list[Doubt], log: Side, file: Side) -> Iterator[Verdict]:
    """A verdict on every doubt, in order. Raises Changed, and what counting again raises."""
    for batch in _batches(doubts):
        ours = log.texts([entry for doubt in batch for piece in doubt.ours for entry in piece])
        theirs = file.texts([entry for doubt in batch for piece in doubt.theirs for entry in piece])
        for doubt in batch:
            yield _verdict(doubt, ours, theirs)


def _batches(doubts: list[Doubt]) -> Iterator[list[Doubt]]:
    batch: list[Doubt] = []
    size = 0
    for doubt in doubts:
        if batch and size + doubt.size > MOST_AT_ONCE:
            yield batch
            batch, size = [], 0
        batch.append(doubt)
        size += doubt.size
    if batch:
        yield batch


def _verdict(doubt: Doubt, ours: dict[int, str], theirs: dict[int, str]) -> Verdict:
    verdict = Verdict(doubt)
    start = 0
    for piece in doubt.theirs:
        written = [theirs.get(id(entry)) for entry in piece]
        found = _found(doubt, start, ours, written)
        if found is None:
            verdict.added.append(piece)
            continue
        first, last, match = found
        verdict.lost += doubt.ours[start:first]
        found_now = sum(map(is_needed, doubt.ours[first:last]))
        verdict.same += found_now
        verdict.redacted += found_now * (match == "redacted")
        start = last
    verdict.lost += doubt.ours[start:]
    return verdict


def _found(doubt: Doubt, start: int, ours: dict[int, str], written: list[str | None]) -> tuple[int, int, Match] | None:
    """Which pieces of the log, from `start` on, one written piece is made of: the first, the one after the last."""
    most = max(1, _MOST_WORK // (1 + sum(len(text or "") for text in written)))
    for first, last in islice(_stretches(start, len(doubt.ours)), most):
        pieces = [ours.get(id(entry)) for piece in doubt.ours[first:last] for entry in piece]
        match = _match(doubt.kind, pieces, written)
        if match != "different":
            return first, last, match
    return None


def _stretches(start: int, end: int) -> Iterator[tuple[int, int]]:
    """The stretches to try: single pieces first, because a token could swallow a piece that was lost."""
    for first in range(start, min(end, start + _MOST_SKIPPED)):
        yield first, first + 1
    for first in range(start, min(end, start + _MOST_SKIPPED)):
        for last in range(first + 2, min(end, first + _MOST_JOINED) + 1):
            yield first, last


def _match(kind: str, raw: list[str | None], written: list[str | None]) -> Match:
    one, other = [text for text in raw if text is not None], [text for text in written if text is not None]
    if len(one) < len(raw) or len(other) < len(written):
        return "different"
    if kind == "call":
        return match_json(_json(one[0]), _json(other[0]))
    return next((match for match in _ways(kind, one, other) if match != "different"), "different")


def _ways(kind: str, raw: list[str], written: list[str]) -> Iterator[Match]:
    """How the raw words may stand in a file: as they are, with marks between, as JSON, behind a sentence."""
    bare = [take_marks(text)[0] for text in written]
    for texts in (written, bare) if bare != written else (written,):
        if len(raw) == len(texts) == 1:
            yield match_text(raw[0], texts[0])
        else:
            yield match_joined(raw, texts)
    if kind == "result" and len(bare) == 1:
        joined = "\n".join(raw)
        yield _match_as_json(joined, bare[0])
        for reason, sentence in STAND_INS.items():
            if bare[0].startswith(sentence):
                yield match_text(say_no_result(reason, joined), bare[0])


def _match_as_json(raw: str, written: str) -> Match:
    """Some formats hold a result that is JSON as JSON: other white space, the same value."""
    one, other = _json(raw), _json(written)
    return match_json(one, other) if isinstance(one, dict | list) and isinstance(other, dict | list) else "different"


def _json(text: str) -> JSON:
    try:
        return json_text.parse(text.encode("utf-8", "replace"))
    except ValueError:
        return None


def _every_entry(ledger: Ledger) -> Iterator[Entry]:
    yield from ledger.entries
    yield from ledger.aside
    for subagent in ledger.subagents:
        yield from _every_entry(subagent)
