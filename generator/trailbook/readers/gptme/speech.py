"""What an assistant's text holds, in its order: thoughts, words and calls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from trailbook.readers.gptme.fences import code_ranges, range_around
from trailbook.readers.gptme.written_calls import WrittenCall

_OPENING = re.compile(r"<(think|thinking)( redacted)?>")
_CLOSING = re.compile(r"</(?:think|thinking)>")
_CLOSING_ALONE = re.compile(r"^</(?:think|thinking)>[ \t]*$", re.MULTILINE)
_REDACTED_END = "</think redacted>"
_SIGNATURE, _SIGNATURE_END = "<!-- think-sig:", "-->"
_BLANK_LINES = re.compile(r"(?:[ \t]*\n)+")


@dataclass(slots=True, frozen=True)
class Words:
    """What the model said."""

    text: str


@dataclass(slots=True, frozen=True)
class Reasoning:
    """What the model thought."""

    text: str
    signature: str | None = None
    encrypted: str | None = None


Piece = Words | Reasoning | WrittenCall


def pieces(text: str, calls: list[WrittenCall]) -> list[Piece]:
    """A text in pieces, in its order; `calls` are those in it. White space around a piece is no part of it.

    A thought stands between `<think>` and `</think>` (or `<thinking>`; some models close the one with the other);
    without its end it goes on to the end of the text. A lone `</think>` ends one that began with the text.
    """
    ordered = sorted(calls, key=lambda call: call.start)
    spans = [(call.start, call.end) for call in ordered]
    code = code_ranges(text) if _OPENING.search(text) else []
    splitter = _Splitter(text, code, thinking=_begins_in_thought(text, spans))
    at = 0
    for call in ordered:
        splitter.take(at, call.start)
        splitter.pieces.append(call)
        at = max(at, call.end)
    splitter.take(at, len(text))
    return splitter.pieces


def _begins_in_thought(text: str, spans: list[tuple[int, int]]) -> bool:
    closing = _first(_CLOSING_ALONE, text, spans)
    opening = _first(_OPENING, text, spans)
    return closing is not None and (opening is None or opening > closing)


def _first(tag: re.Pattern[str], text: str, spans: list[tuple[int, int]]) -> int | None:
    """Where a tag first stands outside of the calls."""
    return next((m.start() for m in tag.finditer(text) if range_around(m.start(), spans) is None), None)


@dataclass(slots=True)
class _Splitter:
    """Splits the text between the calls into thoughts and words; a thought may go on behind a call."""

    text: str
    code: list[tuple[int, int]]
    thinking: bool = False
    redacted: bool = False
    pieces: list[Piece] = field(default_factory=list)

    def take(self, start: int, end: int) -> None:
        """Take the text from `start` up to `end`."""
        while start < end:
            start = (self._think if self.thinking else self._say)(start, end)

    def _think(self, start: int, end: int) -> int:
        stop = next_start = end
        if self.redacted:
            at = self.text.find(_REDACTED_END, start, end)
            if at >= 0:
                stop, next_start = at, at + len(_REDACTED_END)
        elif closing := _CLOSING.search(self.text, start, end):
            stop, next_start = closing.span()
        self.pieces += _thought(self.text[start:stop], self.redacted)
        self.thinking = stop == next_start
        return next_start

    def _say(self, start: int, end: int) -> int:
        opening = next(self._openings(start, end), None)
        stop = opening.start() if opening else end
        words = _trimmed(self.text[start:stop])
        if words:
            self.pieces.append(Words(words))
        if opening is None:
            return end
        self.thinking, self.redacted = True, opening.group(2) is not None
        return opening.end()

    def _openings(self, start: int, end: int) -> Iterator[re.Match[str]]:
        """Where thoughts begin: at the start of a line or right behind a call, not within a block of code."""
        for match in _OPENING.finditer(self.text, start, end):
            at = match.start()
            if (at in (0, start) or self.text[at - 1] == "\n") and range_around(at, self.code) is None:
                yield match


def _thought(text: str, redacted: bool) -> Iterator[Reasoning]:
    if redacted:
        if text.strip():
            yield Reasoning("", encrypted=text.strip())
        return
    words, signatures = _without_signatures(text)
    words = _trimmed(words)
    if words or signatures:
        yield Reasoning(words, signature="\n".join(signatures) or None)


def _without_signatures(text: str) -> tuple[str, list[str]]:
    kept: list[str] = []
    signatures: list[str] = []
    at = 0
    while (start := text.find(_SIGNATURE, at)) >= 0:
        end = text.find(_SIGNATURE_END, start)
        if end < 0:
            break
        kept.append(text[at:start])
        signatures.append(text[start + len(_SIGNATURE) : end].strip())
        at = end + len(_SIGNATURE_END)
    return "".join([*kept, text[at:]]), signatures


def _trimmed(text: str) -> str:
    """A text without the blank lines in front of it and the white space behind it; its first indent stays."""
    text = text.rstrip()
    blank = _BLANK_LINES.match(text)
    return text[blank.end() :] if blank else text
