"""A session of Droid's as a chat: messages with blocks of text, thinking, pictures, calls and results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import tzinfo

from trailbook.chat import (
    JSON,
    Agent,
    Asked,
    Called,
    Chat,
    Event,
    Image,
    Part,
    Place,
    Returned,
    Said,
    Text,
    Thought,
    text_of,
)
from trailbook.readers import Found, Unreadable
from trailbook.readers.arguments import read_arguments
from trailbook.readers.droid.records import is_start, message_in, records_of, titled
from trailbook.readers.images import image_from_base64, image_from_url
from trailbook.readers.lines import Problems, Record
from trailbook.readers.pairing import Pairing
from trailbook.readers.values import Fields, blocks, fields, json_words, moment, string


def read(found: Found, zone: tzinfo) -> Chat:
    """The whole chat. Raises Unreadable for a session of whose records none is known, OSError."""
    problems = Problems()
    chat = Chat(id=found.id, source="droid", agent=Agent("Droid", None, "Droid"))
    reading = _Reading(chat, problems)
    known = False
    for record in records_of(found.path, problems):
        first = len(chat.events)
        known = _read_record(record, reading) or known
        at, naive = moment(fields(record.value).get("timestamp"), zone)
        chat.naive_times = chat.naive_times or naive
        for event in chat.events[first:]:
            event.at, event.place = at, record.place
    if not known:
        raise Unreadable(f"{found.path.name} has no message of Droid that is known here.")
    times = [event.at for event in chat.events if event.at is not None]
    chat.started, chat.ended = min(times, default=None), max(times, default=None)
    chat.diagnostics = problems.found
    return chat


@dataclass(slots=True)
class _Reading:
    chat: Chat
    problems: Problems
    pairing: Pairing = field(default_factory=Pairing)
    started: bool = False

    def add(self, event: Event) -> None:
        self.chat.events.append(event)  # type: ignore[arg-type]

    def report(self, what: str, kind: JSON, place: Place) -> None:
        """Name what is not known."""
        named = f"the type “{kind[:80]}”" if isinstance(kind, str) else "no known type"
        text = f"{what} of {named} are not known here: they were passed over."
        self.problems.count("unknown-record", text, place, lost=True)


def _read_record(record: Record, reading: _Reading) -> bool:
    """Read one record; False where it is no message that is known."""
    if is_start(record.value):
        _read_start(fields(record.value), record.place, reading)
        return False
    message = message_in(record.value)
    if message is None:
        value = fields(record.value)
        if value.get("type") == "message":
            text = "Messages without content, or of a role that is not known here, were passed over."
            reading.problems.count("unknown-record", text, record.place, lost=True)
        else:
            reading.report("Records", value.get("type"), record.place)
        return False
    if message["role"] == "user":
        _read_user(message, record.place, reading)
    else:
        _read_assistant(message, record.place, reading)
    return True


def _read_start(start: Fields, place: Place, reading: _Reading) -> None:
    if reading.started:
        text = "The session has a second first record; the first one counts."
        reading.problems.count("second-header", text, place)
        return
    reading.started = True
    reading.chat.title, reading.chat.cwd = titled(start), string(start.get("cwd"))


def _read_user(message: Fields, place: Place, reading: _Reading) -> None:
    """What came back of calls first, which belongs to the turn before; then what the person wrote."""
    asked: list[JSON] = []
    for block in blocks(message["content"]):
        values = fields(block)
        if values.get("type") == "tool_result":
            _read_result(values, place, reading)
        else:
            asked.append(block)
    parts = list(_parts(asked, place, reading))
    attached: list[Part] = [part for part in parts if isinstance(part, Image)]
    text = text_of(parts)
    if text.strip() or attached:
        reading.add(Asked(id=f"line-{place.number}-{len(reading.chat.events)}", text=text, parts=attached))


def _read_assistant(message: Fields, place: Place, reading: _Reading) -> None:
    for block in blocks(message["content"]):
        values = fields(block)
        kind = values.get("type")
        if kind == "tool_use":
            _read_call(values, place, reading)
        elif kind == "thinking" and isinstance(thinking := values.get("thinking"), str):
            reading.add(Thought(text=thinking, signature=string(values.get("signature"))))
        elif (text := _text_in(block)) is None:
            reading.report("Blocks", values.get("type"), place)
        elif text.strip():
            reading.add(Said(text=text))


def _read_call(values: Fields, place: Place, reading: _Reading) -> None:
    name = string(values.get("name"))
    if name is None:
        text = "A call does not say of which tool; it is called unknown_tool."
        reading.problems.count("missing-name", text, place)
    call = reading.pairing.call(string(values.get("id")), f"line-{place.number}")
    arguments, raw = read_arguments(values.get("input"))
    reading.add(Called(id=call, name=name or "unknown_tool", arguments=arguments, raw=raw))


def _read_result(values: Fields, place: Place, reading: _Reading) -> None:
    failed, content = values.get("is_error"), values.get("content")
    call = reading.pairing.result(string(values.get("tool_use_id")))
    if call is None:
        reading.problems.count("orphan-result", "A result answers no call; it is shown by itself.", place)
    if content is None or isinstance(content, str | list):
        parts = list(_parts(blocks(content), place, reading))
    else:
        parts = [Text(json_words(content))]
    ok = not failed if isinstance(failed, bool) else None
    reading.add(Returned(call=call, parts=parts, ok=ok, linked="id" if call else None))


def _parts(content: list[JSON], place: Place, reading: _Reading) -> Iterator[Part]:
    """The texts and pictures among some blocks."""
    for block in content:
        values = fields(block)
        if values.get("type") == "image":
            yield _picture(fields(values.get("source")))
        elif (text := _text_in(block)) is None:
            reading.report("Blocks", values.get("type"), place)
        elif text.strip():
            yield Text(text)


def _text_in(block: JSON) -> str | None:
    """The words of a block of text; None for any other."""
    values = {"type": "text", "text": block} if isinstance(block, str) else fields(block)
    text = values.get("text")
    return text if values.get("type") == "text" and isinstance(text, str) else None


def _picture(source: Fields) -> Image:
    if source.get("type") == "url":
        return image_from_url(source.get("url"))
    return image_from_base64(source.get("data"), source.get("media_type"))
