"""What is in a session of Droid's, counted straight from its records on a path of its own."""

from __future__ import annotations

import base64
import binascii
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
    entry_of_text,
)
from trailbook.readers import Found
from trailbook.readers.lines import Problems, read_records

_Fields = dict[str, JSON]


def count(found: Found, keep: Keep) -> Ledger:
    """The session's ledger. Raises OSError."""
    ledger = Ledger(found.id)
    counter = _Counter(keep)
    seen: set[bytes] = set()
    for record in read_records(found.path, Problems()):
        value = record.value
        if not isinstance(value, dict):
            continue
        spelled = json_text.canonical(value)
        if spelled in seen:
            continue
        if isinstance(value.get("id"), str) and value["id"]:
            seen.add(spelled)
        message = _dict(value.get("message"))
        if value.get("type") != "message" or "content" not in message:
            continue
        content = [_dict(block) for block in _list(message["content"])]
        if message.get("role") == "user":
            ledger.entries.extend(counter.user(content, record.place))
        elif message.get("role") == "assistant":
            ledger.entries.extend(counter.assistant(content, record.place))
    return ledger


@dataclass(slots=True)
class _Counter:
    keep: Keep
    times: dict[str, int] = field(default_factory=dict)
    waiting: dict[str, list[str]] = field(default_factory=dict)
    """Calls without a result, by the id that the log has for them."""

    def user(self, content: list[_Fields], place: Place) -> Iterator[Entry]:
        for block in content:
            if block.get("type") == "tool_result":
                yield from self._result(block, place)
        text, pictures = _read(content)
        if text.strip() or pictures:
            yield from self._with_pictures(entry_of_text("prompt", place, text, self.keep), pictures)

    def assistant(self, content: list[_Fields], place: Place) -> Iterator[Entry]:
        for block in content:
            kind, thinking, text = block.get("type"), block.get("thinking"), block.get("text")
            if kind == "tool_use":
                yield self._call(block, place)
            elif kind == "thinking" and isinstance(thinking, str) and thinking.strip():
                yield entry_of_text("thought", place, thinking, self.keep)
            elif kind == "text" and isinstance(text, str) and text.strip():
                yield entry_of_text("answer", place, text, self.keep)

    def _call(self, block: _Fields, place: Place) -> Entry:
        logged, name = block.get("id"), block.get("name")
        base = logged if isinstance(logged, str) and logged else f"line-{place.number}"
        self.times[base] = self.times.get(base, 0) + 1
        call = base if self.times[base] == 1 else f"{base}__{self.times[base]}"
        self.waiting.setdefault(base, []).append(call)
        named = name if isinstance(name, str) and name else "unknown_tool"
        return entry_of_call(place, call, named, arguments_of(block.get("input")), self.keep)

    def _result(self, block: _Fields, place: Place) -> Iterator[Entry]:
        logged, failed, content = block.get("tool_use_id"), block.get("is_error"), block.get("content")
        waiting = self.waiting.get(logged) if isinstance(logged, str) and logged else None
        if content is None or isinstance(content, str | list):
            text, pictures = _read([_dict(item) for item in _list(content)])
        else:
            text, pictures = json_text.dump(content).decode("utf-8"), []
        entry = entry_of_text("result", place, text, self.keep)
        entry.id = waiting.pop(0) if waiting else None
        entry.ok = not failed if isinstance(failed, bool) else None
        yield from self._with_pictures(entry, pictures)

    def _with_pictures(self, entry: Entry, pictures: list[bytes | None]) -> Iterator[Entry]:
        entry.images = len(pictures)
        yield entry
        for picture in pictures:
            yield entry_of_image(entry.place, entry.id, picture)


def _read(content: list[_Fields]) -> tuple[str, list[bytes | None]]:
    texts = [
        text
        for block in content
        if block.get("type") == "text" and isinstance(text := block.get("text"), str) and text.strip()
    ]
    return "\n".join(texts), [_bytes(_dict(block.get("source"))) for block in content if block.get("type") == "image"]


def _bytes(source: _Fields) -> bytes | None:
    if source.get("type") == "url":
        return bytes_of_data_url(source.get("url"))
    data = source.get("data")
    try:
        return base64.b64decode(data, validate=True) if isinstance(data, str) else None
    except (binascii.Error, ValueError):
        return None


def _list(content: JSON) -> list[JSON]:
    return [content] if isinstance(content, str | dict) else content if isinstance(content, list) else []


def _dict(value: JSON) -> _Fields:
    return {"type": "text", "text": value} if isinstance(value, str) else value if isinstance(value, dict) else {}
