"""A text as the rules see it: UTF-8, without colour codes and characters of no width, and where each part stands.

A colour code inside a key, or a space of no width, would hide it from every rule.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

import re2

from trailbook.redaction.patterns import BYTES

_UNSEEN = (
    rb"\x1b\[[0-9;:?<=>]{0,64}[ -/]{0,4}[@-~]"
    rb"|\x1b[()][0-9A-Z]"
    rb"|\\{1,8}(?:u001[bB]|x1[bB]|033|e)\[[0-9;?]{0,64}[A-Za-z]"
    rb"|\xe2\x80[\x8b-\x8f]|\xe2\x81[\xa0-\xa4]|\xef\xbb\xbf|\xc2\xad"
)
UNSEEN = re2.compile(_UNSEEN, BYTES)
"""Colour codes, as they are or escaped; characters of no width."""
_EACH_UNSEEN = re.compile(_UNSEEN)  # quicker than the other where there is one after another
_ESCAPE_BEFORE = re.compile(rb"(?:\\[nrtbfv0]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|%[0-9a-fA-F]{2})$")


@dataclass(slots=True)
class View:
    """What is seen of a text, and how its offsets map to those in the text's own UTF-8."""

    data: bytes
    _at: list[int] = field(default_factory=list)
    _shift: list[int] = field(default_factory=list)

    def whole(self, start: int, end: int) -> tuple[int, int]:
        """The span in the text's own bytes: what was unseen inside it is in it."""
        if not self._at:
            return start, end
        return start + self._shifted(start), end + self._shifted(end - 1)

    def _shifted(self, position: int) -> int:
        index = bisect_right(self._at, position)
        return self._shift[index - 1] if index else 0


def encoded(text: str) -> bytes:
    """A text as UTF-8. Half a surrogate pair, which no reader lets through, is carried as it is."""
    return text.encode("utf-8", "surrogatepass")


def decoded(data: bytes) -> str:
    """The text of such bytes."""
    return data.decode("utf-8", "surrogatepass")


def seen(data: bytes, joint: bytes = b"") -> View:
    """The view of a text's bytes, with `joint` for each stretch of what is not seen."""
    pieces: list[bytes] = []
    view = View(b"")
    last = length = 0
    for cut in _EACH_UNSEEN.finditer(data):
        pieces.append(data[last : cut.start()])
        pieces.append(joint)
        length += cut.start() - last + len(joint)
        last = cut.end()
        view._at.append(length)
        view._shift.append(last - length)
    if not pieces:
        return View(data)
    pieces.append(data[last:])
    view.data = b"".join(pieces)
    return view


def character_before(data: bytes, position: int) -> str:
    """The character that ends at an offset; empty at the start, and behind an escape such as `\\n` or `%20`."""
    if position <= 0:
        return ""
    if data[position - 1] < 0x80:
        if _ESCAPE_BEFORE.search(data, max(0, position - 6), position):
            return ""
        return chr(data[position - 1])
    start = position - 1
    while start > max(0, position - 4) and data[start] & 0xC0 == 0x80:
        start -= 1
    return data[start:position].decode("utf-8", "replace")[-1:]


def character_after(data: bytes, position: int) -> str:
    """The character that starts at an offset; empty at the end."""
    if position >= len(data):
        return ""
    if data[position] < 0x80:
        return chr(data[position])
    return data[position : position + 4].decode("utf-8", "replace")[:1]


def stands_alone(data: bytes, start: int, end: int, *, underscore: bool = True) -> bool:
    """Whether a span is no part of a longer word: no letter or digit, nor (`underscore`) a `_`, on either side."""
    return not any(
        neighbour.isalnum() or (underscore and neighbour == "_")
        for neighbour in (character_before(data, start), character_after(data, end))
    )
