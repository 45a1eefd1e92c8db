"""The records of a session: `session_start`, then `message` with Anthropic's blocks (harnesses.md E)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trailbook import json_text
from trailbook.chat import JSON
from trailbook.readers.lines import Problems, Record, read_records
from trailbook.readers.values import Fields, fields, string

ROLES = ("user", "assistant")

_OF_A_START = ("cwd", "title", "sessionTitle", "owner", "version")
"""What a first record has beside its type and its id; at least one of these."""


def is_start(value: JSON) -> bool:
    """Whether a value is the record that a session starts with."""
    record = fields(value)
    named = string(record.get("id")) is not None
    return record.get("type") == "session_start" and named and any(name in record for name in _OF_A_START)


def message_in(value: JSON) -> Fields | None:
    """The message in a record; None for a record that holds none of a known role."""
    record = fields(value)
    message = fields(record.get("message"))
    known = record.get("type") == "message" and message.get("role") in ROLES and "content" in message
    return message if known else None


def records_of(path: Path, problems: Problems) -> Iterator[Record]:
    """Every value of a session; one that is there twice with its id goes to `problems`. Raises OSError."""
    known: set[bytes] = set()
    for record in read_records(path, problems):
        if string(fields(record.value).get("id")):
            spelled = json_text.canonical(record.value)
            if spelled in known:
                problems.count("repeated-record", "A record is there again as it was; it counts once.", record.place)
                continue
            known.add(spelled)
        yield record


def titled(start: Fields) -> str | None:
    """The title that a session's first record has."""
    return string(start.get("sessionTitle")) or string(start.get("title"))
