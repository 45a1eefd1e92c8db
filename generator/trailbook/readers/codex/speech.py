"""What was asked, thought and said in a rollout."""

from __future__ import annotations

from trailbook.chat import Asked, Part, Said, Text, Thought, text_of
from trailbook.readers.codex.contents import injected_by, parts_of, pictures_of
from trailbook.readers.codex.reading import Handlers, Reading
from trailbook.readers.values import Fields, fields, items, json_words, string


def _message(reading: Reading, payload: Fields) -> None:
    role, parts = payload.get("role"), parts_of(payload.get("content"))
    if role == "assistant":
        _say(reading, parts)
    elif role == "user":
        _ask(reading, parts)
    else:
        reading.note("system", text_of(parts))


def _ask(reading: Reading, parts: list[Part]) -> None:
    reading.responses.close()
    own: list[str] = []
    for part in parts:
        word = injected_by(part.text) if isinstance(part, Text) else None
        if isinstance(part, Text) and word:
            reading.add(Asked(id=f"line-{reading.line.place.number}-{word}", text=part.text, injected=word))
        elif isinstance(part, Text):
            own.append(part.text)
    attached = _without_words(parts)
    if own or attached:
        reading.chat.completed = None
        reading.add(Asked(id=f"line-{reading.line.place.number}", text="\n".join(own), parts=attached))


def _say(reading: Reading, parts: list[Part]) -> None:
    if parts:
        reading.add(Said(text=text_of(parts), parts=_without_words(parts), message=reading.responses.key()))


def _without_words(parts: list[Part]) -> list[Part]:
    return [part for part in parts if not isinstance(part, Text)]


def _think(reading: Reading, payload: Fields) -> None:
    pieces = [fields(piece).get("text") for piece in items(payload.get("summary")) + items(payload.get("content"))]
    text = "\n\n".join(piece for piece in pieces if isinstance(piece, str))
    encrypted = string(payload.get("encrypted_content"))
    reading.add(Thought(text=text, encrypted=encrypted, message=reading.responses.key()))


def _thought_alone(reading: Reading, payload: Fields) -> None:
    if text := string(payload.get("text")):
        reading.add(Thought(text=text, message=reading.responses.key()))


def _asked_alone(reading: Reading, payload: Fields) -> None:
    _ask(reading, _parts_of_event(payload))


def _said_alone(reading: Reading, payload: Fields) -> None:
    _say(reading, _parts_of_event(payload))


def _parts_of_event(payload: Fields) -> list[Part]:
    if "content" in payload:
        return parts_of(payload["content"])
    text = string(payload.get("message"))
    words: list[Part] = [Text(text)] if text else []
    return words + pictures_of(items(payload.get("images")), items(payload.get("local_images")))


def _agent_message(reading: Reading, payload: Fields) -> None:
    """What another agent wrote to this one: the model reads it as if a person had."""
    message = string(payload.get("message"))
    parts = parts_of(payload.get("content")) or ([Text(message)] if message else [])
    if not parts:
        reading.note("agent message", json_words(payload))
        return
    reading.responses.close()
    identity = f"line-{reading.line.place.number}-agent"
    author = string(payload.get("author"))
    reading.add(Asked(id=identity, text=text_of(parts), parts=_without_words(parts), injected="agent", by=author))


HANDLERS: Handlers = {
    ("response_item", "message"): _message,
    ("response_item", "reasoning"): _think,
    ("response_item", "agent_message"): _agent_message,
    ("inter_agent_communication", ""): _agent_message,
    ("event_msg", "user_message"): _asked_alone,
    ("event_msg", "agent_message"): _said_alone,
    ("event_msg", "agent_reasoning"): _thought_alone,
    ("event_msg", "agent_reasoning_raw_content"): _thought_alone,
}
