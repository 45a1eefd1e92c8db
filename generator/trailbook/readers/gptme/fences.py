"""Fenced blocks in an assistant's text, found as gptme finds them: which of them are calls is another question.

The rules are gptme's (0.35), for its calls exist nowhere but in what they find: a fence of three backticks or more at
the start of a line; blocks within a block; fences in strings and here-documents of code; what stands before the end of
the first thought is never a call.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import itemgetter

from trailbook.readers.gptme.quoting import PythonQuoting, Quoting, ShellQuoting

_CODE = frozenset(("shell", "sh", "bash", "zsh", "fish", "ksh", "nu", "ps1", "powershell", "ipython"))
"""Languages in which three backticks mean nothing: a bare fence ends the block."""
_FENCE = re.compile(r"`{3,}")
_GLUED = re.compile(r"`{3,}\S")
_TWO_IN_ONE = re.compile(r"`{6}[^`\s]")
_THOUGHT_AHEAD = ("<think>", "<thinking>")
_ENDS_OF_THOUGHT = ("</thinking>", "</think>")
_NEAR, _SOON = 20, 5
"""How many lines on the end of a block within the block is looked for, and something after that end."""


@dataclass(slots=True, frozen=True)
class Fence:
    """A fenced block: `start` and `end` are the offsets of its first and behind its last backtick."""

    info: str
    """What stands behind the opening backticks."""
    body: str
    start: int
    end: int


@dataclass(slots=True)
class _Lines:
    """The lines of a text, and where each one starts in it."""

    lines: list[str]
    starts: list[int]

    def cut(self, at: int, count: int) -> None:
        """Take the first characters of a line away: they were an end of their own."""
        self.lines[at] = self.lines[at][count:]
        self.starts[at] += count


def fences(text: str) -> Iterator[Fence]:
    """The outermost fenced blocks of a text with `\\n` line ends, in order; one that is never closed is none."""
    begin = _behind_thought(text)
    if begin is None or len(_FENCE.findall(text, begin)) < 2:
        return
    lines = _lines(text, begin)
    at = 0
    while at < len(lines.lines):
        if _TWO_IN_ONE.match(lines.lines[at]):
            lines.cut(at, 3)
        opening = _FENCE.match(lines.lines[at])
        if opening is None:
            at += 1
            continue
        block = _Block(lines.lines, opening.end(), lines.lines[at][opening.end() :].strip())
        close = block.close_after(at)
        if close is None:
            return
        body = "\n".join(lines.lines[at + 1 : close])
        yield Fence(block.info, body, lines.starts[at], lines.starts[close] + block.width)
        if block.glued:
            lines.cut(close, block.width)
        at = close if block.glued else close + 1


def code_ranges(text: str) -> list[tuple[int, int]]:
    """Where fenced blocks stand by the plain rule: up to the next bare fence of the same length."""
    found = [(match.start(), match.end()) for match in re.finditer(r"^`{3,}", text, re.MULTILINE)]
    closing: dict[int, list[int]] = {}
    ends: dict[int, int] = {}
    for number, (start, end) in enumerate(found):
        line_end = text.find("\n", end)
        ends[number] = line_end if line_end >= 0 else len(text)
        if not text[end : ends[number]].strip():
            closing.setdefault(end - start, []).append(number)
    for numbers in closing.values():
        numbers.reverse()
    ranges = []
    at = 0
    while at < len(found):
        numbers = closing.get(found[at][1] - found[at][0], [])
        while numbers and numbers[-1] <= at:
            numbers.pop()
        if numbers:
            ranges.append((found[at][0], ends[numbers[-1]]))
            at = numbers[-1]
        at += 1
    return ranges


def range_around(at: int, ranges: list[tuple[int, int]]) -> tuple[int, int] | None:
    """Which of some ranges (in order, one beside the other) a place stands in."""
    number = bisect_right(ranges, at, key=itemgetter(0)) - 1
    return ranges[number] if number >= 0 and at < ranges[number][1] else None


def _lines(text: str, begin: int) -> _Lines:
    lines = text[begin:].split("\n")
    starts = []
    for line in lines:
        starts.append(begin)
        begin += len(line) + 1
    return _Lines(lines, starts)


def _behind_thought(text: str) -> int | None:
    """Where the first thought ends; None for a thought without an end, behind which there are no calls."""
    glued_end = None
    for closing in _ENDS_OF_THOUGHT:
        at = text.find(closing)
        if at < 0:
            continue
        opening = closing.replace("/", "")
        if _stands_alone(opening, text[:at]) or opening not in text[:at]:
            return at + len(closing)
        glued_end = at + len(closing)  # its beginning hangs on a fence: "```<think>"
    if glued_end is None:
        return None if any(_stands_alone(opening, text) for opening in _THOUGHT_AHEAD) else 0
    for opening in _THOUGHT_AHEAD:
        match = re.search(r"(?:^|\n)" + re.escape(opening), text[glued_end:])
        if match and opening.replace("<", "</") not in text[glued_end + match.start() :]:
            return None
    return 0


def _stands_alone(tag: str, text: str) -> bool:
    return text.startswith(tag) or f"\n{tag}" in text


@dataclass(slots=True)
class _Block:
    """One block, while its end is looked for."""

    lines: list[str]
    width: int
    """How many backticks it opened with."""
    info: str
    depth: int = 1
    glued: bool = False
    """True when its closing fence has the next block or a thought on the same line."""
    quoting: Quoting | None = field(init=False)

    def __post_init__(self) -> None:
        self.quoting = PythonQuoting() if self.info == "ipython" else ShellQuoting() if self.info in _CODE else None

    def close_after(self, opening: int) -> int | None:
        """The number of the line with the closing fence."""
        for at in range(opening + 1, len(self.lines)):
            if self.depth == 1 and self._closes_in_front(self.lines[at]):
                self.glued = True
                return at
            if self.quoting is not None:
                self.quoting.read(self.lines, at)
            fence = _FENCE.match(self.lines[at])
            if fence is not None and self._closes(at, fence.end()):
                return at
        return None

    def _closes_in_front(self, line: str) -> bool:
        rest = line[self.width :]
        return line.startswith("`" * self.width) and (_GLUED.match(rest) is not None or rest.startswith(_THOUGHT_AHEAD))

    def _closes(self, at: int, width: int) -> bool:
        """Whether the fence on this line closes the block; a fence that opens or closes one within it is counted."""
        bare = self.lines[at].strip() == "`" * width
        if not bare or (width != self.width and self.depth == 1):
            self._open_within(self.lines[at][width:].strip())
            return False
        if self.quoting is not None and self.quoting.quoted:
            return False
        if self.depth > 1:
            self.depth -= 1
            return False
        if not self._text_follows(at) or (self.info in _CODE and not (self.quoting and self.quoting.verbatim)):
            return True
        if self._opens_block(at):
            self.depth += 1
        return False

    def _open_within(self, language: str) -> None:
        if self.quoting is not None and self.quoting.in_python_text:
            return
        if language and (language[0].isalnum() or language[0] in "_/.~"):
            self.depth += 1

    def _text_follows(self, at: int) -> bool:
        following = self.lines[at + 1] if at + 1 < len(self.lines) else ""
        return following.strip() != "" and _FENCE.match(following) is None

    def _opens_block(self, at: int) -> bool:
        """Whether a bare fence opens a block within: another follows soon, and there is more behind that one."""
        for near in range(at + 1, min(at + _NEAR, len(self.lines))):
            line = self.lines[near]
            if re.fullmatch(r"`{3,}", line.strip()):
                return any(later.strip() for later in self.lines[near + 1 : near + _SOON])
            if _FENCE.match(line) and len(line.strip()) > 3:
                return False
        return False
