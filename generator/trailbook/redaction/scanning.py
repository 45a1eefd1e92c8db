"""Every rule over many texts at once."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from trailbook.redaction.assignments import ASSIGNMENT, find_assignments
from trailbook.redaction.emails import EMAIL, find_emails
from trailbook.redaction.finding import RANK, Finding
from trailbook.redaction.literals import Literals
from trailbook.redaction.numbers import NUMBER, find_numbers
from trailbook.redaction.patterns import TOKEN
from trailbook.redaction.private_keys import PEM, find_private_keys
from trailbook.redaction.shapes import SHAPE, find_shapes
from trailbook.redaction.situations import SITUATION, find_situations
from trailbook.redaction.view import UNSEEN, View, seen

_GAP = b"\xff"
"""Stands between texts that are searched together: no byte of UTF-8, so that it belongs to none of them."""


class _Rule(NamedTuple):
    sign: Any
    """A pattern; a text in which it finds nothing has nothing for the rule."""
    find: Callable[[bytes], Iterator[Finding]]


_RULES = (
    _Rule(PEM, find_private_keys),
    _Rule(SHAPE, find_shapes),
    _Rule(ASSIGNMENT, find_assignments),
    _Rule(SITUATION, find_situations),
    _Rule(EMAIL, find_emails),
    _Rule(NUMBER, find_numbers),
)
_TOKEN = re.compile(TOKEN.pattern.encode())


class Batch:
    """Some texts, encoded and laid end to end, so that a pattern goes over all of them in one search."""

    def __init__(self, texts: Sequence[bytes]) -> None:
        self.texts = list(texts)
        self._views: dict[int, View] = {}
        """Of the texts in which something is not seen: with it left out, so that what it cuts in two is whole."""
        self._whole: dict[int, bytes] = {}
        """The same texts with all that is in them."""
        self._join()
        for index in self._touched(UNSEEN):
            self._whole[index] = self.texts[index]
            self._views[index] = seen(self.texts[index])
            self.texts[index] = self._views[index].data
        if self._views:
            self._join()

    def _join(self) -> None:
        self._joined = _GAP.join(self.texts)
        self._starts = list(accumulate((len(text) + 1 for text in self.texts[:-1]), initial=0))

    def find_by_rules(self) -> Iterator[tuple[int, Finding]]:
        """What the rules find, with the number of the text; in each text's own bytes."""
        for rule in _RULES:
            for index in self._touched(rule.sign):
                for finding in rule.find(self.texts[index]):
                    yield index, _whole(self._views.get(index), finding)
        for index, text in self._whole.items():
            # Once more with a blank for what is not seen, so that what it sets apart is apart.
            view = seen(text, b" ")
            for rule in _RULES:
                for finding in rule.find(view.data):
                    yield index, _whole(view, finding)

    def find_literals(self, literals: Literals) -> Iterator[tuple[int, Finding]]:
        """What is known letter by letter, with the number of the text; in each text's own bytes."""
        for finding in literals.find(self._joined):
            index = self._index(finding.start)
            start = self._starts[index]
            yield (
                index,
                _whole(self._views.get(index), finding._replace(start=finding.start - start, end=finding.end - start)),
            )

    def _index(self, position: int) -> int:
        return bisect_right(self._starts, position) - 1

    def _touched(self, sign: Any) -> Iterator[int]:
        """The numbers of the texts in which a pattern finds anything, be it across two of them."""
        position, last = 0, -1
        while found := sign.search(self._joined, position):
            start, end = found.span()
            first = max(self._index(start), last + 1)
            last = max(self._index(max(start, end - 1)), first)
            yield from range(first, last + 1)
            if last + 1 >= len(self._starts):
                return
            # From the gap on: a pattern may ask for something before what it looks for.
            position = self._starts[last + 1] - 1


def _whole(view: View | None, finding: Finding) -> Finding:
    if view is None:
        return finding
    start, end = view.whole(finding.start, finding.end)
    return finding._replace(start=start, end=end)


def merged(data: bytes, findings: list[Finding]) -> list[Finding]:
    """The findings of one text in order, those that overlap made one.

    A token that redaction left before is never cut; what is made of tokens only is no finding.
    """
    tokens = [found.span() for found in _TOKEN.finditer(data)] if b"[" in data else []
    if tokens:
        findings = [_around_tokens(finding, tokens) for finding in findings]
    result: list[Finding] = []
    for finding in sorted(findings):
        if result and finding.start < result[-1].end:
            last = result[-1]
            if finding.kind == "email" and last.kind in ("password", "key"):
                continue  # https://name:password@host is a sign-in at a host, not an address
            best = min(last, finding, key=lambda each: (RANK[each.kind], each.start - each.end))
            result[-1] = Finding(last.start, max(last.end, finding.end), best.kind, best.thing)
        else:
            result.append(finding)
    return [finding for finding in result if not (tokens and _is_tokens(data[finding.start : finding.end]))]


def _around_tokens(finding: Finding, tokens: list[tuple[int, int]]) -> Finding:
    """The finding, wider where it would cut a token at its start or end."""
    start, end = finding.start, finding.end
    first = bisect_right(tokens, (start, start)) - 1
    if first >= 0 and tokens[first][1] > start:
        start = tokens[first][0]
    last = bisect_right(tokens, (end - 1, end - 1)) - 1
    if last >= 0 and tokens[last][1] > end:
        end = tokens[last][1]
    return finding._replace(start=start, end=end)


def _is_tokens(data: bytes) -> bool:
    rest = _TOKEN.sub(b"", data)
    return rest != data and not rest.strip(b" \t\r\n:@,;.-/")
