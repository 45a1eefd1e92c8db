"""What is in a capture of Cursor's, counted straight from its rows on a path of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from trailbook import json_text
from trailbook.chat import JSON, Place
from trailbook.ledger import Entry, Keep, Ledger, arguments_of, entry_of_call, entry_of_text
from trailbook.readers import Found
from trailbook.readers.lines import Problems, read_records

_Row = dict[str, JSON]
_OPEN, _CLOSE = "<user_query>", "</user_query>"


def count(found: Found, keep: Keep) -> Ledger:
    """The capture's ledger. Raises OSError."""
    counter = _Counter(keep)
    ledger = Ledger(found.id)
    seen: set[bytes] = set()
    for record in read_records(found.path, Problems()):
        row = record.value
        spelled = json_text.canonical(row)
        if spelled in seen:
            continue
        if isinstance(row, dict) and isinstance(row.get("id"), str) and row["id"]:
            # The same row again; one without an id may well say the same as another.
            seen.add(spelled)
        if not isinstance(row, dict) or "type" in row or not isinstance(row.get("message"), dict):
            continue
        message = _dict(row["message"])
        if "content" in message and row.get("role") in ("user", "assistant"):
            ledger.entries.extend(counter.row(row["role"] == "user", _list(message["content"]), record.place))
    return ledger


@dataclass(slots=True)
class _Counter:
    keep: Keep
    times: dict[str, int] = field(default_factory=dict)
    waiting: dict[str | None, list[str]] = field(default_factory=dict)
    """Calls without a result by the id that the log has for them; without one they are answered in order."""
    reply: int = 0

    def row(self, user: bool, content: list[JSON], place: Place) -> Iterator[Entry]:
        if not user:
            yield from self._assistant([_dict(block) for block in content], place)
            return
        asked: list[str] = []
        around: list[str] = []
        for block in map(_dict, content):
            text = block.get("text")
            if block.get("type") == "tool_result":
                yield self._result(block, place)
            elif block.get("type") == "text" and isinstance(text, str):
                bare = text.rstrip()
                wrapped = bare.endswith(_CLOSE) and _OPEN in bare[: -len(_CLOSE)]
                before, _, query = bare[: -len(_CLOSE)].partition(_OPEN) if wrapped else ("", "", "")
                asked.append(query.strip() if wrapped else text)
                around += [before.strip()] if before.strip() else []
        if "\n".join(asked).strip():
            yield entry_of_text("prompt", place, "\n".join(asked), self.keep)
        if around:
            entry = entry_of_text("prompt", place, "\n".join(around), self.keep)
            entry.injected = True
            yield entry

    def _assistant(self, blocks: list[_Row], place: Place) -> Iterator[Entry]:
        self.reply += 1
        called = False
        for block in blocks:
            kind = block.get("type")
            text = block.get("thinking") if kind == "thinking" else block.get("text")
            if kind == "tool_use":
                called = True
                yield self._call(block, place)
            elif kind in ("text", "thinking") and isinstance(text, str) and text.strip():
                self.reply += called
                called = False
                entry = entry_of_text("answer" if kind == "text" else "thought", place, text, self.keep)
                entry.message = str(self.reply)
                yield entry

    def _call(self, block: _Row, place: Place) -> Entry:
        logged, name = block.get("id"), block.get("name")
        known = logged if isinstance(logged, str) and logged else None
        base = known or f"line-{place.number}"
        self.times[base] = self.times.get(base, 0) + 1
        call = base if self.times[base] == 1 else f"{base}__{self.times[base]}"
        self.waiting.setdefault(known, []).append(call)
        named = name if isinstance(name, str) and name else "unknown_tool"
        return entry_of_call(place, call, named, arguments_of(block.get("input")), self.keep)

    def _result(self, block: _Row, place: Place) -> Entry:
        logged, failed, content = block.get("tool_use_id"), block.get("is_error"), block.get("content")
        waiting = self.waiting.get(logged if isinstance(logged, str) and logged else None)
        if content is None or isinstance(content, str | list):
            texts = [
                text
                for item in _list(content)
                if isinstance(text := item if isinstance(item, str) else _dict(item).get("text"), str)
                and _dict(item).get("type", "text") == "text"
            ]
            text = "\n".join(texts)
        else:
            text = json_text.dump(content).decode("utf-8")
        entry = entry_of_text("result", place, text, self.keep)
        entry.id = waiting.pop(0) if waiting else None
        entry.ok = not failed if isinstance(failed, bool) else None
        return entry


def _list(content: JSON) -> list[JSON]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [content] if isinstance(content, dict) else content if isinstance(content, list) else []


def _dict(value: JSON) -> _Row:
    return value if isinstance(value, dict) else {}
