"""Where words stand in the chats, as all may see them: searched after redaction, step by step."""

from __future__ import annotations

import contextlib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from trailbook import pool
from trailbook.chat import Text, with_subagents
from trailbook.failures import Stopped
from trailbook.filters import left_out_when_read
from trailbook.formats import Output
from trailbook.making import paths_of, read_redacted
from trailbook.readers import Found
from trailbook.staging import reason
from trailbook.timeline import Step, make_timeline
from trailbook.wording import KIND_WORDS, line, shorten

BEFORE, AFTER = 40, 100
"""Characters shown around the words."""
LONGEST_TITLE = 80


@dataclass(slots=True, frozen=True)
class Search:
    """One chat to be searched."""

    found: Found
    words: tuple[str, ...]
    output: Output


@dataclass(slots=True, frozen=True)
class Hit:
    """A step that has all the words."""

    number: int
    """The step's, as on its page."""
    title: str
    at: int | None
    excerpt: str
    """What stands around the first of the words, on one line."""


@dataclass(slots=True)
class Hits:
    """The steps of one chat, or of one subagent of it."""

    found: Found
    path: str
    """`id`, and `id/subagent's id` for a subagent."""
    title: str
    started: int | None
    steps: list[Hit] = field(default_factory=list)


def search(task: Search) -> list[Hits] | str:
    """The steps of a chat and of its subagents that have all the words; why it could not be read, where it could not.

    Small and capital letters are the same, and so is any blank in the words and in the text. Picklable.
    """
    try:
        chat, _removed = read_redacted(task.found, task.output)
    except Stopped:
        raise
    except Exception as error:
        return reason(error, task.found)
    if left_out_when_read(chat, task.output.wanted) is not None:
        return []
    patterns = [pattern_of(words) for words in task.words]
    found = []
    for path, each in zip(paths_of(chat), with_subagents(chat), strict=True):
        timeline = make_timeline(each)
        hits = Hits(task.found, path, timeline.title, timeline.started)
        hits.steps = [hit for number, step in enumerate(timeline.steps, 1) if (hit := _hit(number, step, patterns))]
        found += [hits] if hits.steps else []
    return found


def search_all(tasks: Sequence[Search]) -> tuple[list[Hits], list[str]]:
    """What is found in all chats, the newest first, and why some could not be searched. Raises Stopped."""
    found: list[Hits] = []
    failed: list[str] = []
    with contextlib.closing(pool.each(search, sorted(tasks, key=lambda task: -task.found.size))) as searched:
        for task, result in searched:
            if isinstance(result, Stopped):
                raise result
            if isinstance(result, list):
                found += result
            else:
                failed.append(result if isinstance(result, str) else reason(result, task.found))
    return sorted(found, key=lambda hits: (-(hits.started or 0), hits.found.reader, hits.path)), sorted(failed)


def pattern_of(words: str) -> re.Pattern[str]:
    """What finds some words: in this order, with any blanks between them."""
    return re.compile(r"\s+".join(map(re.escape, unicodedata.normalize("NFC", words).split())), re.IGNORECASE)


def _hit(number: int, step: Step, patterns: Sequence[re.Pattern[str]]) -> Hit | None:
    texts = [unicodedata.normalize("NFC", text) for text in _texts(step)]
    if not all(any(pattern.search(text) for text in texts) for pattern in patterns):
        return None
    for text in texts:
        place = patterns[0].search(text)
        if place is not None:
            title = KIND_WORDS[step.kind] if step.kind in ("asked", "said") else shorten(step.title, LONGEST_TITLE)
            return Hit(number, title, step.at, _excerpt(text, place.start(), place.end()))
    return None


def _excerpt(text: str, start: int, end: int) -> str:
    before, after = max(0, start - BEFORE), min(len(text), end + AFTER)
    words = line(text[before:after], limit=BEFORE + AFTER + end - start)
    return f"{'…' if before else ''}{words}{'…' if after < len(text) else ''}"


def _texts(step: Step) -> Iterator[str]:
    """Every text of a step, the title last: it is mostly a part of another."""
    yield from filter(None, (step.text, step.detail, step.raw, step.diff, step.url))
    for part in step.parts:
        if isinstance(part, Text):
            yield part.text
    yield from _strings(step.arguments)
    for change in step.files:
        yield change.path
    yield step.title


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield str(key)
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
    elif value is not None:
        yield str(value)
