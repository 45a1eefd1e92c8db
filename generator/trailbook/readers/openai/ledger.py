"""What is in one chat of an OpenAI chat file, counted straight from its messages."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from trailbook import json_text
from trailbook.chat import JSON, Place
from trailbook.ledger import Entry, Keep, Ledger, bytes_of_data_url, entry_of_call, entry_of_image, entry_of_text
from trailbook.readers import Found
from trailbook.readers.lines import Problems
from trailbook.readers.pieces import again, parse, place_of


def count(found: Found, keep: Keep) -> Ledger:
    """The chat's ledger. Raises Unreadable, OSError."""
    piece = again(found, arrays=True)
    value = parse(found.path, piece, Problems())
    messages = value.get("messages") if isinstance(value, dict) else value
    counter = _Counter(keep)
    for number, message in enumerate(messages if isinstance(messages, list) else [], 1):
        if isinstance(message, dict):
            counter.ledger.entries.extend(counter.message(message, place_of(found.path, piece, number)))
    return counter.ledger


@dataclass(slots=True)
class _Counter:
    keep: Keep
    ledger: Ledger = field(default_factory=Ledger)
    unanswered: deque[str] = field(default_factory=deque)
    """Ids of calls of the old shape, which has none: its results answer them in order."""

    def message(self, message: dict[str, JSON], place: Place) -> Iterator[Entry]:
        role = message.get("role")
        content = message.get("content")
        if role == "assistant":
            yield from self._reply(message, place)
        elif role == "tool":
            call = message.get("tool_call_id")
            yield from self._with_images("result", content, place, call if isinstance(call, str) else None)
        elif role == "function":
            call = self.unanswered.popleft() if self.unanswered else None
            yield from self._with_images("result", content, place, call)
        elif role == "user":
            yield from self._with_images("prompt", content, place, None)
        else:
            yield from self._words("system", _text(content), place)

    def _reply(self, message: dict[str, JSON], place: Place) -> Iterator[Entry]:
        for key in ("reasoning_content", "reasoning"):
            thought = message.get(key)
            if isinstance(thought, str):
                yield from self._words("thought", thought, place)
                break
        yield from self._words("answer", _text(message.get("content")), place)
        old = message.get("function_call")
        if isinstance(old, dict):
            self.unanswered.append(f"message {place.number}")
            yield self._call(old, f"message {place.number}", place)
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else []:
            if isinstance(call, dict):
                function = call.get("function")
                logged = call.get("id")
                if isinstance(function, dict):
                    yield self._call(function, logged if isinstance(logged, str) else None, place)

    def _call(self, function: dict[str, JSON], call: str | None, place: Place) -> Entry:
        return entry_of_call(place, call, str(function.get("name")), _arguments(function.get("arguments")), self.keep)

    def _words(self, kind: str, text: str, place: Place) -> Iterator[Entry]:
        if text.strip():
            yield entry_of_text(kind, place, text, self.keep)

    def _with_images(self, kind: str, content: JSON, place: Place, call: str | None) -> Iterator[Entry]:
        entry = entry_of_text(kind, place, _text(content), self.keep)
        entry.id = call
        pictures = [part for part in content if _is_image(part)] if isinstance(content, list) else []
        entry.images = len(pictures)
        yield entry
        for part in pictures:
            yield entry_of_image(place, call, bytes_of_data_url(_address(part)))


def _text(content: JSON) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str))


def _arguments(value: JSON) -> JSON:
    if not isinstance(value, str):
        return value
    try:
        parsed = json_text.parse(value.encode("utf-8", "replace"))
    except ValueError:
        return value
    return parsed if isinstance(parsed, dict) else value


def _is_image(part: JSON) -> bool:
    return isinstance(part, dict) and part.get("type") == "image_url"


def _address(part: JSON) -> JSON:
    image = part.get("image_url") if isinstance(part, dict) else None
    return image.get("url") if isinstance(image, dict) else image
