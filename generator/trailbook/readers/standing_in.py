"""Reading back what a written trajectory has in place of a result or a picture that is not there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trailbook.chat import Called, Image, Part, Returned, Text
from trailbook.stand_ins import NO_RESULT, parts_of, take_stand_in


def add_returned(event: Returned, events: list[Any]) -> None:
    """Add a result to a chat's events, unless it is a sentence that says that the log has none.

    One that says why the call did not run is such a result, with the log's own words if there are any.
    """
    first = event.parts[0] if event.parts else None
    reason, words = take_stand_in(first.text) if isinstance(first, Text) else (None, "")
    if reason is None:
        events.append(event)
    elif reason not in NO_RESULT or words or len(event.parts) > 1:
        event.parts[:1] = [Text(words)] if words else []
        event.not_run = reason if reason not in NO_RESULT else None
        events.append(event)
    elif reason == "unrecorded":
        for called in reversed(events):
            if isinstance(called, Called) and called.id == event.call:
                called.ran = True
                break


def with_pictures(texts: Sequence[str], pictures: list[Image]) -> list[list[Part]]:
    """Some texts as parts, the pictures in place of the marks that stand for them, and files in place of theirs.

    Where there are more or fewer pictures than marks, the texts stay as they are.
    """
    found = [parts_of(text) for text in texts]
    marks = sum(isinstance(part, Image) for parts in found for part in parts)
    if marks != len(pictures):
        return [[Text(text)] for text in texts]
    waiting = iter(pictures)
    return [[next(waiting) if isinstance(part, Image) else part for part in parts] for parts in found]


def words_and_others(parts: list[Part]) -> tuple[str, list[Part]]:
    """The words among some parts, and the pictures and files."""
    words = "\n".join(part.text for part in parts if isinstance(part, Text))
    return words, [part for part in parts if not isinstance(part, Text)]
