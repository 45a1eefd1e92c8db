"""The rows of a capture: `{role, message: {content}}`, one for each message (harnesses.md E).

A capture has no times. It may have no ids and no results either: then there are none in the chat.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from trailbook import json_text
from trailbook.chat import JSON
from trailbook.readers.lines import Problems, Record, read_records
from trailbook.readers.values import Fields, fields, string

ROLES = ("user", "assistant")

_QUERY = re.compile(r"(.*?)<user_query>(.*)</user_query>\s*", re.DOTALL)


def looks_like_row(row: Fields) -> bool:
    """Whether an object has the shape of a row. Rows of other formats name their `type`."""
    return isinstance(row.get("role"), str) and isinstance(row.get("message"), dict) and "type" not in row


def is_known(value: JSON) -> bool:
    """Whether a value is a row of a known role."""
    row = fields(value)
    return looks_like_row(row) and row["role"] in ROLES and "content" in fields(row["message"])


def rows_of(path: Path, problems: Problems) -> Iterator[Record]:
    """Every value of a capture; a row that is there twice with its id goes to `problems`. Raises OSError."""
    known: set[bytes] = set()
    for record in read_records(path, problems):
        if string(fields(record.value).get("id")):
            spelled = json_text.canonical(record.value)
            if spelled in known:
                problems.count("repeated-record", "A row is there again as it was; it counts once.", record.place)
                continue
            known.add(spelled)
        yield record


def query_in(text: str) -> tuple[str, str]:
    """A user's text as what the person wrote, and what stands around it: Cursor wraps their words in a tag."""
    found = _QUERY.fullmatch(text)
    return (found[2].strip(), found[1].strip()) if found else (text, "")
