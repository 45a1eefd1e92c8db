"""What the person asked. Where hooks are on, a prompt stands there twice: as `user.message` and as a hook's input."""

from __future__ import annotations

from collections import Counter

from trailbook.readers.copilot_cli.events import data_of, type_of
from trailbook.readers.lines import Record
from trailbook.readers.values import Fields, fields, string


def prompt_of_hook(record: Record) -> str | None:
    """The prompt that a hook was handed; None for any other event."""
    data = data_of(record)
    if type_of(record.value) != "hook.start" or data.get("hookType") != "userPromptSubmitted":
        return None
    return string(fields(data.get("input")).get("prompt"))


def repeated_in(events: list[Record]) -> set[int]:
    """Which events (by identity) are hooks whose prompt is there as `user.message` as well.

    Each message stands for one hook with the same words, so that a real repeat stays.
    """
    messages = Counter(
        words.strip()
        for record in events
        if type_of(record.value) == "user.message" and (words := string(data_of(record).get("content")))
    )
    repeated: set[int] = set()
    for record in events:
        words = prompt_of_hook(record)
        if words is not None and messages[words.strip()] > 0:
            messages[words.strip()] -= 1
            repeated.add(id(record))
    return repeated


def injected_in(data: Fields) -> str | None:
    """What wrote a `user.message` that no person did, in a word; None for a person's."""
    if data.get("isAutopilotContinuation") is True:
        return "autopilot"
    source = string(data.get("source"))
    if source is None or source == "user":
        return None
    return source.partition("-")[0]
