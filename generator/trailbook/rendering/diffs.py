"""A unified diff as HTML: line numbers, added and removed lines, and the words that differ where a change is small."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from trailbook.rendering.cleaning import clean, escape_text

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_HEADER = re.compile(
    r"diff |index [0-9a-f]+\.\.|new file mode|deleted file mode|rename (?:from|to) |similarity index |(?:old|new) mode "
    r"|\*\*\* (?:Begin|End|Add|Update|Delete|Move)\b"
)
_WORD_BREAK = re.compile(r"\W")

WORDS_UP_TO = 400
"""Characters of a line in which the words that differ are marked."""


@dataclass(slots=True)
class _Rendering:
    """A diff being rendered: what is written so far, the change at hand, and where in the two files it stands."""

    pieces: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    old: int | None = None
    new: int | None = None
    old_left: int = 0
    new_left: int = 0

    def inside(self) -> bool:
        """Whether a hunk that says its length goes on: then no line of it is a header, whatever it looks like."""
        return self.old_left > 0 or self.new_left > 0


def diff_html(diff: str) -> str:
    """A unified diff as HTML lines: `<del>` and `<ins>` with their line number as `data-n`, the rest in `<span>`.

    The numbers stand in attributes, so that copying takes only the text. Where a run of removed lines is followed by
    as many added ones, the part of each pair that differs is marked with `<b>`.
    """
    state = _Rendering()
    lines = clean(diff).removesuffix("\n").split("\n")
    headers = 0
    for number, line in enumerate(lines):
        if headers or _starts_file(lines, number, state):
            headers = 0 if headers else 1
            _flush(state)
            _head(state, line, "file")
        elif line.startswith("-"):
            if state.added:
                _flush(state)
            state.removed.append(line[1:])
            state.old_left -= 1
        elif line.startswith("+"):
            state.added.append(line[1:])
            state.new_left -= 1
        else:
            _flush(state)
            _other_line(state, line)
    _flush(state)
    return "".join(state.pieces)


def _starts_file(lines: list[str], number: int, state: _Rendering) -> bool:
    """Whether this line and the next are a file's `---` and `+++`, and not a change of lines that begin so."""
    if state.inside() or not lines[number].startswith("--- "):
        return False
    return number + 1 < len(lines) and lines[number + 1].startswith("+++ ")


def _other_line(state: _Rendering, line: str) -> None:
    hunk = None if state.inside() else _HUNK.match(line)
    if hunk:
        _head(state, line, "hunk")
        state.old, state.new = int(hunk[1]), int(hunk[3])
        state.old_left = int(hunk[2]) if hunk[2] else 1
        state.new_left = int(hunk[4]) if hunk[4] else 1
    elif line.startswith("\\"):
        state.pieces.append(f'<span class="hunk">{escape_text(line)}</span>\n')
    elif not state.inside() and (line.startswith("@@") or _HEADER.match(line)):
        _head(state, line, "hunk" if line.startswith("@@") else "file")
    else:
        state.pieces.append(f"<span{_number(state.new)}>{escape_text(line)}</span>\n")
        state.old_left -= 1
        state.new_left -= 1
        if state.old is not None and state.new is not None:
            state.old += 1
            state.new += 1


def _head(state: _Rendering, line: str, kind: str) -> None:
    state.old = state.new = None
    state.old_left = state.new_left = 0
    state.pieces.append(f'<span class="{kind}">{escape_text(line)}</span>\n')


def _flush(state: _Rendering) -> None:
    if not state.removed and not state.added:
        return
    if len(state.removed) == len(state.added):
        pairs = [_pair(old, new) for old, new in zip(state.removed, state.added, strict=True)]
        removed, added = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    else:
        removed, added = [escape_text(line) for line in state.removed], [escape_text(line) for line in state.added]
    for line in removed:
        state.pieces.append(f"<del{_number(state.old)}>-{line}</del>\n")
        if state.old is not None:
            state.old += 1
    for line in added:
        state.pieces.append(f"<ins{_number(state.new)}>+{line}</ins>\n")
        if state.new is not None:
            state.new += 1
    state.removed.clear()
    state.added.clear()


def _number(number: int | None) -> str:
    return "" if number is None else f' data-n="{number}"'


def _pair(old: str, new: str) -> tuple[str, str]:
    """The two lines with what differs between them marked, where at least a third of the longer one is the same."""
    shorter, longer = min(len(old), len(new)), max(len(old), len(new))
    if not shorter or longer > WORDS_UP_TO or old == new:
        return escape_text(old), escape_text(new)
    start = _same_from_the_start(old, new, shorter)
    end = _same_from_the_start(old[start:][::-1], new[start:][::-1], shorter - start)
    if 3 * (start + end) < longer:
        return escape_text(old), escape_text(new)
    return _marked(old, start, end), _marked(new, start, end)


def _same_from_the_start(one: str, other: str, longest: int) -> int:
    """How many characters the two share at their start, in whole words."""
    count = next((index for index in range(longest) if one[index] != other[index]), longest)
    while count > 0 and not (_at_word_end(one, count) and _at_word_end(other, count)):
        count -= 1
    return count


def _at_word_end(text: str, at: int) -> bool:
    return at >= len(text) or bool(_WORD_BREAK.match(text[at])) or bool(_WORD_BREAK.match(text[at - 1]))


def _marked(line: str, start: int, end: int) -> str:
    stop = len(line) - end
    if start >= stop:
        return escape_text(line)
    return f"{escape_text(line[:start])}<b>{escape_text(line[start:stop])}</b>{escape_text(line[stop:])}"
