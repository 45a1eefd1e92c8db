"""What is in a transcript of Letta Code, counted straight from its rows on a path of its own."""

from __future__ import annotations

from collections.abc import Iterator

from trailbook import json_text
from trailbook.chat import JSON, Place
from trailbook.ledger import Entry, Keep, Ledger, arguments_of, entry_of_call, entry_of_text
from trailbook.readers import Found
from trailbook.readers.lines import Problems, read_records

_WORDS = {"user": "prompt", "assistant": "answer", "reasoning": "thought"}


def count(found: Found, keep: Keep) -> Ledger:
    """The transcript's ledger. Raises OSError."""
    ledger = Ledger(found.id)
    seen: set[bytes] = set()
    times: dict[str, int] = {}
    for record in read_records(found.path, Problems()):
        row = record.value
        if not isinstance(row, dict):
            continue
        spelled = json_text.canonical(row)
        if not (_text(row.get("source_line_id")) and spelled in seen):
            ledger.entries.extend(_entries(row, record.place, times, keep))
        seen.add(spelled)
    return ledger


def _entries(row: dict[str, JSON], place: Place, times: dict[str, int], keep: Keep) -> Iterator[Entry]:
    kind = row.get("kind")
    if kind == "tool_call":
        yield from _call(row, place, times, keep)
    elif isinstance(kind, str) and kind in _WORDS:
        text = _spelled(row.get("text"))
        if text and (text.strip() or kind == "user"):
            entry = entry_of_text(_WORDS[kind], place, text, keep)
            entry.message = _text(row.get("source_message_id")) if kind != "user" else None
            yield entry


def _call(row: dict[str, JSON], place: Place, times: dict[str, int], keep: Keep) -> Iterator[Entry]:
    call = _text(row.get("source_line_id")) or f"line-{place.number}"
    times[call] = times.get(call, 0) + 1
    if times[call] > 1:
        # The same id on another row is another call.
        call = f"{call}__{times[call]}"
    arguments = row.get("argsText") or None
    yield entry_of_call(place, call, _text(row.get("name")) or "unknown_tool", arguments_of(arguments), keep)
    text, ok = _spelled(row.get("resultText")), row.get("resultOk")
    if text is not None or isinstance(ok, bool):
        entry = entry_of_text("result", place, text or "", keep)
        entry.id, entry.ok = call, ok if isinstance(ok, bool) else None
        yield entry


def _spelled(value: JSON) -> str | None:
    return value if value is None or isinstance(value, str) else json_text.dump(value).decode("utf-8")


def _text(value: JSON) -> str | None:
    return value if isinstance(value, str) and value else None
