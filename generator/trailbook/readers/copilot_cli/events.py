"""A session's events: `{id, parentId, type, timestamp, data}`, one a line (harnesses.md E).

What else they hold is as the declarations of GitHub's own package `@github/copilot-sdk` name it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from trailbook import json_text
from trailbook.chat import JSON
from trailbook.readers.lines import Problems, Record, read_records
from trailbook.readers.values import Fields, fields, string

NOTICES = {
    "session.info": ("info", "message"),
    "session.warning": ("warning", "message"),
    "session.error": ("error", "message"),
    "session.mode_changed": ("mode", "newMode"),
    "session.model_change": ("model", "newModel"),
    "session.task_complete": ("task complete", "summary"),
    "subagent.failed": ("error", "error"),
    "system.notification": ("notification", "content"),
}
"""Events that say something to the person: what they are about, and the field that says it."""

BOOKKEEPING = frozenset(
    {
        "assistant.turn_end",
        "assistant.turn_start",
        "session.binary_asset",
        "session.compaction_start",
        "subagent.completed",
        "subagent.started",
    }
)
"""Events with nothing in them that the others do not say."""

TOLD = frozenset(
    {
        "abort",
        "assistant.message",
        "hook.end",
        "hook.start",
        "session.compaction_complete",
        "session.resume",
        "session.shutdown",
        "session.start",
        "system.message",
        "tool.execution_complete",
        "tool.execution_start",
        "user.message",
    }
)
"""Events of which something is told."""

_DOTTED = re.compile(r"[a-z_]+\.[a-zA-Z_.]+")


def is_known(value: JSON) -> bool:
    """Whether a value is an event of a type that is known."""
    kind = type_of(value)
    return isinstance(fields(value).get("data"), dict) and (kind in NOTICES or kind in BOOKKEEPING or kind in TOLD)


def looks_like_event(value: JSON) -> bool:
    """Whether a value has the whole shape of an event, of whatever type."""
    event = fields(value)
    named = all(string(event.get(key)) for key in ("id", "timestamp"))
    return named and isinstance(event.get("data"), dict) and _DOTTED.fullmatch(type_of(event)) is not None


def type_of(value: JSON) -> str:
    """An event's type; empty where it has none."""
    return string(fields(value).get("type")) or ""


def data_of(record: Record) -> Fields:
    """What an event holds."""
    return fields(fields(record.value).get("data"))


def events_of(path: Path, problems: Problems) -> Iterator[Record]:
    """Every event of a session; what is none, or there twice with its id, goes to `problems`. Raises OSError."""
    seen: set[bytes] = set()
    for record in read_records(path, problems):
        event = fields(record.value)
        if not is_known(event):
            kind = type_of(event)
            named = f"the type “{kind[:80]}”" if kind else "no type"
            text = f"Events of {named} are not known here: they were passed over."
            problems.count("unknown-record", text, record.place, lost=True)
            continue
        if string(event.get("id")):
            spelled = json_text.canonical(event)
            if spelled in seen:
                problems.count("repeated-record", "An event is there again as it was; it counts once.", record.place)
                continue
            seen.add(spelled)
        yield record
