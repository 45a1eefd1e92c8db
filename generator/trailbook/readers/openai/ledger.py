"""What is in one chat of an OpenAI chat file, counted straight from its messages."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from trailbook import json_text
from trailbook.chat import JSON, Place
from trailbook.ledger import (
    Entry,
    Keep,
    Ledger,
    arguments_of,
    bytes_of_data_url,
    entry_of_call,
    entry_of_image,
    entry_of_written,
)
from trailbook.readers import Found
from trailbook.readers.lines import Problems
from trailbook.readers.pieces import again, parse, place_of
from trailbook.stand_ins import is_no_result, take_prompts

_CHANGED = re.compile(r"_x([0-9A-F]{1,5}|10[0-9A-F]{4})_")
_CUT_NAME = re.compile(r"_x_[0-9a-f]{12}$")


def count(found: Found, keep: Keep) -> Ledger:
    """The chat's ledger. Raises Unreadable, OSError."""
    piece = again(found, arrays=True)
    value = parse(found.path, piece, Problems())
    messages = value.get("messages") if isinstance(value, dict) else value
    counter = _Counter(keep, _names(value))
    for number, message in enumerate(messages if isinstance(messages, list) else [], 1):
        if isinstance(message, dict):
            counter.ledger.entries.extend(counter.message(message, place_of(found.path, piece, number)))
    return counter.ledger


@dataclass(slots=True)
class _Counter:
    keep: Keep
    names: dict[str, str]
    """Tools' names as they are declared, with their true ones."""
    ledger: Ledger = field(default_factory=Ledger)
    unanswered: deque[str] = field(default_factory=deque)
    """Ids of calls of the old shape, which has none: its results answer them in order."""
    after_results: bool = False

    def message(self, message: dict[str, JSON], place: Place) -> Iterator[Entry]:
        role = message.get("role")
        content = message.get("content")
        after_results, self.after_results = self.after_results, role in ("tool", "function")
        if role == "assistant":
            yield from self._reply(message, place)
        elif role == "tool":
            call = message.get("tool_call_id")
            yield from self._result(content, place, call if isinstance(call, str) else None)
        elif role == "function":
            yield from self._result(content, place, self.unanswered.popleft() if self.unanswered else None)
        elif role == "user":
            pictures = _pictures(content)
            # A tool's pictures stand in a message of their own behind its results: no one asked anything there.
            if not (after_results and pictures and not _text(content)):
                yield from self._words("prompt", _text(content), place, images=len(pictures), always=True)
            for picture in pictures:
                yield entry_of_image(place, None, bytes_of_data_url(picture))
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
            self.unanswered.append(f"message-{place.number}-0")
            yield self._call(old, f"message-{place.number}-0", place)
        calls = message.get("tool_calls")
        for order, call in enumerate(calls if isinstance(calls, list) else [], 1):
            if isinstance(call, dict):
                function = call.get("function", call.get("custom"))
                logged = call.get("id")
                known_as = logged if isinstance(logged, str) and logged else f"message-{place.number}-{order}"
                yield self._call(function if isinstance(function, dict) else {}, known_as, place)

    def _call(self, function: dict[str, JSON], call: str, place: Place) -> Entry:
        name = str(function.get("name"))
        arguments = arguments_of(function.get("arguments", function.get("input")))
        return entry_of_call(place, call, self.names.get(name, _true(name)), arguments, self.keep)

    def _result(self, content: JSON, place: Place, call: str | None) -> Iterator[Entry]:
        text, prompts = take_prompts(_text(content))
        pictures = _pictures(content)
        for entry in self._words("result", text, place, images=len(pictures), always=not is_no_result(text)):
            entry.id = call
            yield entry
        for picture in pictures:
            yield entry_of_image(place, call, bytes_of_data_url(picture))
        for prompt, person in prompts:
            yield from self._words("prompt" if person else "system", prompt, place)

    def _words(self, kind: str, text: str, place: Place, *, images: int = 0, always: bool = False) -> Iterator[Entry]:
        if always or (text.strip() and kind != "result"):
            entry, marks = entry_of_written(kind, place, text, self.keep)
            entry.images = images
            self.ledger.left_out("image", marks)
            yield entry


def _names(chat: JSON) -> dict[str, str]:
    """The declared names of tools that are no true ones: one that was cut has the whole in its description."""
    tools = chat.get("tools") if isinstance(chat, dict) else None
    found: dict[str, str] = {}
    for tool in tools if isinstance(tools, list) else []:
        function = tool.get("function") if isinstance(tool, dict) else None
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            name, description = str(function["name"]), function.get("description")
            cut = _CUT_NAME.search(name) is not None and isinstance(description, str)
            found[name] = _first_line(str(description)) if cut else _true(name)
    return found


def _first_line(description: str) -> str:
    """A whole name; one that would be no line of its own is spelled as JSON."""
    line = description.partition("\n")[0]
    try:
        return str(json_text.parse(line.encode("utf-8", "replace"))) if line.startswith('"') else line
    except ValueError:
        return line


def _true(name: str) -> str:
    """A tool's name before it was put into letters that the format allows (`_x2E_` for a point)."""
    return "" if name == "_x_" else _CHANGED.sub(lambda found: chr(int(found.group(1), 16)), name)


def _pictures(content: JSON) -> list[JSON]:
    """The addresses of the pictures in a message."""
    return [_address(part) for part in content if _is_image(part)] if isinstance(content, list) else []


def _text(content: JSON) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str))


def _is_image(part: JSON) -> bool:
    return isinstance(part, dict) and part.get("type") == "image_url"


def _address(part: JSON) -> JSON:
    image = part.get("image_url") if isinstance(part, dict) else None
    return image.get("url") if isinstance(image, dict) else image
