"""The rows of a transcript: one line each for what was said, thought or called."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trailbook import json_text
from trailbook.chat import JSON
from trailbook.readers.lines import Problems, Record, read_records
from trailbook.readers.values import fields, string

KINDS = frozenset({"user", "assistant", "reasoning", "tool_call", "error"})
"""The kinds of rows that are known (harnesses.md E)."""

_BESIDE = ("captured_at", "source_line_id", "source_message_id", "argsText")
"""What a row has beside its kind; at least one of these."""


def is_known(value: JSON) -> bool:
    """Whether a value is a row of a known kind."""
    row = fields(value)
    return string(row.get("kind")) in KINDS and looks_like_row(value)


def looks_like_row(value: JSON) -> bool:
    """Whether a value has the shape of a row, of whatever kind."""
    row = fields(value)
    return string(row.get("kind")) is not None and any(name in row for name in _BESIDE)


def rows_of(path: Path, problems: Problems) -> Iterator[Record]:
    """Every row of a transcript; what is no row, or there twice with its id, goes to `problems`. Raises OSError."""
    known: set[bytes] = set()
    for record in read_records(path, problems):
        row = fields(record.value)
        if not row:
            problems.count("unknown-record", "A line is no row of a transcript; it was passed over.", record.place)
            continue
        if string(row.get("source_line_id")):
            spelled = json_text.canonical(row)
            if spelled in known:
                problems.count("repeated-record", "A row is there again as it was; it counts once.", record.place)
                continue
            known.add(spelled)
        yield record
