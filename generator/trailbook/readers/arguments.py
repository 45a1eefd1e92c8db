"""A call's arguments as trajectories hold them: an object, its JSON text, or something that is neither."""

from __future__ import annotations

from trailbook import json_text
from trailbook.chat import JSON
from trailbook.readers.values import Fields, json_words
from trailbook.stand_ins import RAW_ARGUMENTS


def read_arguments(value: JSON) -> tuple[Fields, str | None]:
    """The arguments, and the raw text of what was no object.

    `{"_raw": …}` is what writers make of arguments that were none (harnesses.md A1).
    """
    found = _object_in(value) if isinstance(value, str) else value
    if isinstance(found, dict):
        raw = found.get(RAW_ARGUMENTS)
        return ({}, raw) if len(found) == 1 and isinstance(raw, str) else (found, None)
    if isinstance(value, str):
        return {}, value
    return {}, None if value is None else json_words(value)


def _object_in(text: str) -> Fields | None:
    try:
        value = json_text.parse(text.encode("utf-8", "replace"))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
