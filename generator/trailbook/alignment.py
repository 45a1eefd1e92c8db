"""Lining up two sequences: what stands in both in the same order, and the gaps between."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence

Gap = tuple[range, range]


def gaps(ours: Sequence[Hashable], theirs: Sequence[Hashable]) -> list[Gap]:
    """The stretches of both sequences that have no counterpart of their own, in order; all else is equal.

    What stands once in each is matched first, so that a lost item moves nothing after it (as `diff --patience` does).
    Takes time in proportion to the sequences, but for a logarithm.
    """
    found: list[Gap] = []
    blocks = [(0, len(ours), 0, len(theirs))]
    while blocks:
        start, end, other_start, other_end = _trim(ours, theirs, blocks.pop())
        if start == end or other_start == other_end:
            if start != end or other_start != other_end:
                found.append((range(start, end), range(other_start, other_end)))
            continue
        anchors = _anchors(ours, theirs, (start, end, other_start, other_end))
        if not anchors:
            found.append((range(start, end), range(other_start, other_end)))
            continue
        for one, other in anchors:
            blocks.append((start, one, other_start, other))
            start, other_start = one + 1, other + 1
        blocks.append((start, end, other_start, other_end))
    return sorted(found, key=lambda gap: (gap[0].start, gap[1].start))


def _trim(
    ours: Sequence[Hashable], theirs: Sequence[Hashable], block: tuple[int, int, int, int]
) -> tuple[int, int, int, int]:
    start, end, other_start, other_end = block
    while start < end and other_start < other_end and ours[start] == theirs[other_start]:
        start, other_start = start + 1, other_start + 1
    while start < end and other_start < other_end and ours[end - 1] == theirs[other_end - 1]:
        end, other_end = end - 1, other_end - 1
    return start, end, other_start, other_end


def _anchors(
    ours: Sequence[Hashable], theirs: Sequence[Hashable], block: tuple[int, int, int, int]
) -> list[tuple[int, int]]:
    """What stands once in each block, as the longest run of pairs that rises on both sides."""
    start, end, other_start, other_end = block
    counts = Counter(ours[start:end])
    other_counts = Counter(theirs[other_start:other_end])
    where = {theirs[at]: at for at in range(other_start, other_end) if other_counts[theirs[at]] == 1}
    pairs = [(at, where[ours[at]]) for at in range(start, end) if counts[ours[at]] == 1 and ours[at] in where]
    return _rising(pairs)


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    tails: list[int] = []
    last: list[int] = []
    before: list[int | None] = []
    for number, (_, other) in enumerate(pairs):
        at = bisect_left(tails, other)
        before.append(last[at - 1] if at else None)
        tails[at : at + 1] = [other]
        last[at : at + 1] = [number]
    run: list[tuple[int, int]] = []
    number_or_none = last[-1] if last else None
    while number_or_none is not None:
        run.append(pairs[number_or_none])
        number_or_none = before[number_or_none]
    return run[::-1]
