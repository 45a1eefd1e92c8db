"""Long text shortened to its head and its tail, with what was left out counted."""

from __future__ import annotations

import re
from dataclasses import dataclass

from trailbook.rendering.ansi import end_of_escape

BODY_LIMIT = 16_000
"""Characters of one body that a report shows."""

LINE_LIMIT = 2_000
"""Characters of one line that a report shows."""

_LONG_LINE = re.compile(rf"^[^\n]{{{LINE_LIMIT + 1},}}", re.MULTILINE)


@dataclass(slots=True, frozen=True)
class Clipped:
    """A text's head and tail; `tail` is empty and `left_out` 0 where the text is whole."""

    head: str
    tail: str = ""
    left_out: int = 0
    """Characters left out between head and tail, or out of long lines."""
    lines_left_out: int = 0

    def words(self) -> str:
        """What was left out, in words: `1,204 lines (48,120 characters) left out`."""
        characters = f"{self.left_out:,} characters"
        if not self.lines_left_out:
            return f"{characters} left out"
        return f"{self.lines_left_out:,} line{'s' * (self.lines_left_out != 1)} ({characters}) left out"


def clip(text: str, limit: int | None = BODY_LIMIT) -> Clipped:
    """The first two thirds and the last third of `limit` characters, cut at line ends where one is near.

    Lines over `LINE_LIMIT` characters are cut with a count of their own. `limit` None keeps everything.
    """
    if limit is None:
        return Clipped(text)
    shorter = _LONG_LINE.sub(_cut_line, text) if len(text) > LINE_LIMIT else text
    cut_from_lines = max(len(text) - len(shorter), 0)
    if len(shorter) <= limit:
        return Clipped(shorter, left_out=cut_from_lines)
    start = _line_end_before(shorter, end_of_escape(shorter, limit * 2 // 3))
    stop = _line_start_after(shorter, end_of_escape(shorter, len(shorter) - limit // 3))
    middle = shorter[start:stop]
    return Clipped(shorter[:start], shorter[stop:], len(middle) + cut_from_lines, middle.count("\n"))


def brief(text: str, limit: int = 400) -> str:
    """The beginning of a text that stands beside others, `…` where more follows; as it is where it is short."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _cut_line(match: re.Match[str]) -> str:
    line = match.group()
    at = end_of_escape(line, LINE_LIMIT)
    note = f" … {len(line) - at:,} more characters in this line"
    return line[:at] + note if at + len(note) < len(line) else line


def _line_end_before(text: str, at: int) -> int:
    line_end = text.rfind("\n", max(0, at - LINE_LIMIT), at)
    return at if line_end < 0 else line_end + 1


def _line_start_after(text: str, at: int) -> int:
    line_end = text.find("\n", at, at + LINE_LIMIT)
    return at if line_end < 0 else line_end + 1
