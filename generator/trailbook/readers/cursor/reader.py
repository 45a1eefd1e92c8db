"""A capture of Cursor's as a chat: rows with blocks of text, thinking, calls and results."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import tzinfo

from trailbook.chat import (
    JSON,
    Agent,
    Asked,
    Called,
    Chat,
    Event,
    Message,
    Part,
    Place,
    Returned,
    Said,
    Text,
    Thought,
)
from trailbook.readers import Found, Unreadable
from trailbook.readers.arguments import read_arguments
from trailbook.readers.cursor.rows import is_known, query_in, rows_of
from trailbook.readers.lines import Problems, Record
from trailbook.readers.pairing import Pairing
from trailbook.readers.values import Fields, blocks, fields, json_words, string


def read(found: Found, zone: tzinfo) -> Chat:
    """The whole chat; a capture has no times. Raises Unreadable for one of whose rows none is known, OSError."""
    problems = Problems()
    reading = _Reading(Chat(id=found.id, source="cursor", agent=Agent("Cursor", None, "Cursor")), problems)
    known = False
    for record in rows_of(found.path, problems):
        if is_known(record.value):
            known = True
            _read_row(record, reading)
        else:
            role = fields(record.value).get("role")
            named = f"the role “{role[:80]}”" if isinstance(role, str) else "no role"
            text = f"Rows of {named} are not known here: they were passed over."
            problems.count("unknown-record", text, record.place, lost=True)
    if not known:
        raise Unreadable(f"{found.path.name} has no row of Cursor that is known here.")
    reading.chat.diagnostics = problems.found
    return reading.chat


@dataclass(slots=True)
class _Reading:
    chat: Chat
    problems: Problems
    pairing: Pairing = field(default_factory=Pairing)
    unnamed: deque[str] = field(default_factory=deque)
    """Calls without an id that wait for a result."""

    def add(self, event: Event, place: Place) -> None:
        event.place = place
        self.chat.events.append(event)  # type: ignore[arg-type]

    def report_block(self, block: JSON, place: Place) -> None:
        kind = fields(block).get("type")
        named = f"“{kind[:80]}”" if isinstance(kind, str) else "no known kind"
        text = f"Blocks of the type {named} are not known here: they were passed over."
        self.problems.count("unknown-record", text, place, lost=True)


def _read_row(record: Record, reading: _Reading) -> None:
    row = fields(record.value)
    message = fields(row["message"])
    content = blocks(message.get("content"))
    if row["role"] == "user":
        _read_user(content, record.place, reading)
    else:
        _read_assistant(content, string(message.get("model")), record.place, reading)


def _read_user(content: list[JSON], place: Place, reading: _Reading) -> None:
    """What came back of calls first, which belongs to the turn before; then what the person wrote."""
    texts: list[str] = []
    for block in content:
        values = fields(block)
        if values.get("type") == "tool_result":
            _read_result(values, place, reading)
        elif values.get("type") == "text" and isinstance(text := values.get("text"), str):
            texts.append(text)
        else:
            reading.report_block(block, place)
    parts = [query_in(text) for text in texts]
    words = "\n".join(asked for asked, _ in parts)
    around = "\n".join(context for _, context in parts if context)
    if words.strip():
        reading.add(Asked(id=f"line-{place.number}", text=words), place)
    if around:
        reading.add(Asked(id=f"line-{place.number}-context", text=around, injected="context"), place)


def _read_assistant(content: list[JSON], model: str | None, place: Place, reading: _Reading) -> None:
    if model is not None and model not in reading.chat.models:
        reading.chat.models.append(model)
    keys = _Keys(reading.chat, f"line-{place.number}-{len(reading.chat.messages)}", model)
    for block in content:
        values = fields(block)
        kind = values.get("type")
        text = values.get("thinking" if kind == "thinking" else "text")
        if kind == "tool_use":
            _read_call(values, keys.of_call(), place, reading)
        elif kind not in ("text", "thinking") or not isinstance(text, str):
            reading.report_block(block, place)
        elif text.strip():
            key = keys.of_words()
            event = Thought(text=text, message=key) if kind == "thinking" else Said(text=text, message=key)
            reading.add(event, place)


@dataclass(slots=True)
class _Keys:
    """Names the model's messages in one row: words after a call are another message, for its words stand before."""

    chat: Chat
    name: str
    model: str | None
    number: int = 0
    called: bool = False

    def of_words(self) -> str:
        if self.called:
            self.number, self.called = self.number + 1, False
        return self._key()

    def of_call(self) -> str:
        self.called = True
        return self._key()

    def _key(self) -> str:
        key = f"{self.name}-{self.number}"
        self.chat.messages.setdefault(key, Message(model=self.model))
        return key


def _read_call(values: Fields, key: str, place: Place, reading: _Reading) -> None:
    logged, name = string(values.get("id")), string(values.get("name"))
    call = reading.pairing.call(logged, f"line-{place.number}")
    if logged is None:
        reading.unnamed.append(call)
    if name is None:
        text = "A call does not say of which tool; it is called unknown_tool."
        reading.problems.count("missing-name", text, place)
    arguments, raw = read_arguments(values.get("input"))
    called = Called(id=call, name=name or "unknown_tool", arguments=arguments, raw=raw, message=key)
    reading.add(called, place)


def _read_result(values: Fields, place: Place, reading: _Reading) -> None:
    logged, failed = string(values.get("tool_use_id")), values.get("is_error")
    call = reading.pairing.result(logged)
    linked: str | None = "id"
    if logged is None and reading.unnamed:
        call, linked = reading.unnamed.popleft(), "order"
    if call is None:
        linked = None
        reading.problems.count("orphan-result", "A result answers no call; it is shown by itself.", place)
    returned = Returned(
        call=call,
        parts=_parts(values.get("content"), place, reading),
        ok=not failed if isinstance(failed, bool) else None,
        linked=linked,
    )
    reading.add(returned, place)


def _parts(content: JSON, place: Place, reading: _Reading) -> list[Part]:
    if not isinstance(content, str | list):
        return [] if content is None else [Text(json_words(content))]
    parts: list[Part] = []
    for block in blocks(content):
        text = block if isinstance(block, str) else fields(block).get("text")
        if isinstance(text, str) and fields(block).get("type", "text") == "text":
            parts.append(Text(text))
        else:
            reading.report_block(block, place)
    return parts
