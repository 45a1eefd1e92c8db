"""A transcript of Letta Code as a chat: a row is something said, thought or gone wrong, or a call with its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import tzinfo

from trailbook.chat import Agent, Asked, Called, Chat, Message, Noted, Place, Returned, Said, Text, Thought
from trailbook.readers import Found, Unreadable
from trailbook.readers.arguments import read_arguments
from trailbook.readers.letta_code.rows import is_known, rows_of
from trailbook.readers.lines import Problems
from trailbook.readers.pairing import Pairing
from trailbook.readers.values import Fields, fields, json_words, moment, string


def read(found: Found, zone: tzinfo) -> Chat:
    """The whole conversation. Raises Unreadable, OSError."""
    problems = Problems()
    chat = Chat(id=found.id, source="letta_code", agent=Agent("Letta Code", None, "Letta Code"))
    reading = _Reading(chat, problems)
    known = False
    for record in rows_of(found.path, problems):
        row = fields(record.value)
        known = known or is_known(row)
        first = len(chat.events)
        _HANDLERS.get(string(row.get("kind")) or "", _read_unknown)(row, record.place, reading)
        at, naive = moment(row.get("captured_at"), zone)
        chat.naive_times = chat.naive_times or naive
        for event in chat.events[first:]:
            event.at, event.place = at, record.place
    if not known:
        raise Unreadable(f"{found.path.name} has no row of Letta Code that is known.")
    times = [event.at for event in chat.events if event.at is not None]
    chat.started, chat.ended = min(times, default=None), max(times, default=None)
    chat.diagnostics = problems.found
    return chat


@dataclass(slots=True)
class _Reading:
    chat: Chat
    problems: Problems
    pairing: Pairing = field(default_factory=Pairing)

    def key_of(self, row: Fields) -> str | None:
        """The message of the model that a row belongs to; old rows do not say it."""
        key = string(row.get("source_message_id"))
        if key is not None:
            self.chat.messages.setdefault(key, Message())
        return key

    def text(self, row: Fields, name: str, place: Place) -> str | None:
        """A field's text; None where it has none. A value that is no text is spelled as JSON."""
        value = row.get(name)
        if value is None or isinstance(value, str):
            return value
        self.problems.count("unexpected-value", f"The field {name} is no text; it is spelled as JSON.", place)
        return json_words(value)


def _read_words(row: Fields, place: Place, reading: _Reading) -> None:
    text = reading.text(row, "text", place)
    events = reading.chat.events
    kind = row["kind"]
    if not text:
        reading.problems.count("empty-record", "A row has no words; it was passed over.", place)
    elif kind == "user":
        events.append(Asked(id=f"line-{place.number}", text=text))
    elif kind == "reasoning":
        events.append(Thought(text=text, message=reading.key_of(row)))
    elif kind == "assistant":
        events.append(Said(text=text, message=reading.key_of(row)))
    else:
        events.append(Noted(topic="error", text=text))


def _read_call(row: Fields, place: Place, reading: _Reading) -> None:
    """A call, and in the same row its result; a row that was never finished has none."""
    call = reading.pairing.call(string(row.get("source_line_id")), f"line-{place.number}")
    name = string(row.get("name"))
    if name is None:
        reading.problems.count("missing-name", "A call does not say of which tool; it is called unknown_tool.", place)
    arguments, raw = read_arguments(row.get("argsText") or None)
    key = reading.key_of(row)
    events = reading.chat.events
    events.append(Called(id=call, name=name or "unknown_tool", arguments=arguments, raw=raw, message=key))
    text, ok = reading.text(row, "resultText", place), row.get("resultOk")
    if text is not None or isinstance(ok, bool):
        events.append(Returned(call=call, parts=[Text(text)] if text else [], ok=ok if isinstance(ok, bool) else None))


def _read_unknown(row: Fields, place: Place, reading: _Reading) -> None:
    kind = json_words(row.get("kind"))
    reading.problems.count("unknown-record", f"Rows of the kind {kind} are not known.", place, lost=True)


_HANDLERS: dict[str, Callable[[Fields, Place, _Reading], None]] = {
    "user": _read_words,
    "assistant": _read_words,
    "reasoning": _read_words,
    "error": _read_words,
    "tool_call": _read_call,
}
