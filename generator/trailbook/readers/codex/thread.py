"""One thread's lines, one after the other, as the events of its chat."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo

from trailbook.chat import Chat
from trailbook.readers.codex import calls, speech, turns
from trailbook.readers.codex.reading import Reading
from trailbook.readers.codex.repeats import find_repeats
from trailbook.readers.codex.rollouts import RolloutLine
from trailbook.readers.codex.tokens import Responses
from trailbook.readers.lines import Problems
from trailbook.readers.values import json_words, string

HANDLERS = {**speech.HANDLERS, **calls.HANDLERS, **turns.HANDLERS}
"""Every kind of line, with what reads it."""

_WITH_TYPES = ("response_item", "event_msg")
"""Envelopes whose payloads have a type."""


def read_thread(chat: Chat, lines: list[RolloutLine], own: int, problems: Problems, zone: tzinfo) -> Reading:
    """Add to the chat what the lines say; those before the number `own` only replay the parent."""
    reading = Reading(
        chat,
        problems,
        zone,
        find_repeats(lines),
        frozenset(_ids(lines, "_call")),
        frozenset(_ids(lines, "_output")),
        Responses(chat),
        lines[0],
    )
    for number, line in enumerate(lines):
        reading.begin(number, line, inherited=number < own)
        if number in reading.repeats.lines:
            continue
        handler = HANDLERS.get((line.kind, line.type if line.kind in _WITH_TYPES else ""))
        if handler is not None:
            handler(reading, line.payload)
        else:
            _report(reading, line)
    return reading


def _report(reading: Reading, line: RolloutLine) -> None:
    if line.is_event("item_completed"):
        kind = line.payload.get("item")
        name = kind.get("type") if isinstance(kind, dict) else kind
        reading.report_unknown(f"Items of the type {json_words(name)[:80]}", lost=True)
    elif line.kind == "response_item":
        reading.report_unknown(f"Items of the type {json_words(line.type)[:80]}", lost=True)
    else:
        name = line.type if line.kind == "event_msg" else line.kind
        reading.report_unknown(f"Records of the type {json_words(name)[:80]}", lost=False)


def _ids(lines: list[RolloutLine], ending: str) -> Iterator[str]:
    for line in lines:
        if line.kind == "response_item" and line.type.endswith(ending):
            for key in ("call_id", "id"):
                if identity := string(line.payload.get(key)):
                    yield identity
