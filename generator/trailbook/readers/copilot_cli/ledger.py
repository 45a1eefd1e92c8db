"""What is in a session of Copilot CLI's, counted straight from its events on a path of its own."""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from trailbook import json_text
from trailbook.chat import JSON, Place, Usage
from trailbook.ledger import Entry, Keep, Ledger, arguments_of, entry_of_call, entry_of_image, entry_of_text
from trailbook.readers import Found
from trailbook.readers.copilot_cli.events import is_known
from trailbook.readers.lines import Problems, read_records

_Fields = dict[str, JSON]
_TOKENS = {
    "inputTokens": "prompt_tokens",
    "outputTokens": "output_tokens",
    "cacheReadTokens": "cached_tokens",
    "cacheWriteTokens": "cache_write_tokens",
    "reasoningTokens": "reasoning_tokens",
}


def count(found: Found, keep: Keep) -> Ledger:
    """The session's ledger, with its subagents'. Raises OSError."""
    events = _events(found)
    starters = _starters(events)
    talks: dict[str, _Talk] = {"": _Talk(Ledger(found.id), keep, _assets(events))}
    for event in events:
        name = _whose(event, starters)
        if name not in talks:
            talks[name] = _Talk(Ledger(f"{found.id}/{name}"), keep, talks[""].assets)
        talks[name].asked.update(event.calls)
    owners: dict[str, str] = {}
    for name, talk in talks.items():
        for call in talk.asked:
            owners.setdefault(call, name)
    for event in events:
        name = _whose(event, starters)
        answered = _text(event.data.get("toolCallId"))
        if event.kind.startswith("tool.") and answered and answered not in talks[name].asked:
            name = owners.get(answered, name)
        talks[name].events.append(event)
    starting = {*starters.values(), *(_by_call(event) for event in events if not event.agent)}
    before: set[str] = set()
    for name, talk in talks.items():
        talk.count()
        if name and talk.ledger.entries:
            talk.ledger.started_by = name if name in starting else None
            parent = owners.get(name, "") if name in starting else ""
            talks[parent if parent in before else ""].ledger.subagents.append(talk.ledger)
        before.add(name)
    talks[""].ledger.usage = _usage(events)
    return talks[""].ledger


@dataclass(slots=True, frozen=True)
class _Event:
    place: Place
    kind: str
    agent: str
    data: _Fields

    @property
    def calls(self) -> list[str]:
        """The ids of the calls that it asks for."""
        if self.kind != "assistant.message":
            return []
        return [call for each in _list(self.data.get("toolRequests")) if (call := _text(_dict(each).get("toolCallId")))]


def _events(found: Found) -> list[_Event]:
    events: list[_Event] = []
    seen: set[bytes] = set()
    for record in read_records(found.path, Problems()):
        value = record.value
        if not isinstance(value, dict) or not is_known(value):
            continue
        spelled = json_text.canonical(value)
        if spelled not in seen:
            events.append(
                _Event(record.place, _text(value.get("type")), _text(value.get("agentId")), _dict(value["data"]))
            )
        if _text(value.get("id")):
            seen.add(spelled)
    return events


# --- whose events are whose


def _by_call(event: _Event) -> str:
    return _text(event.data.get("parentToolCallId"))


def _starters(events: list[_Event]) -> dict[str, str]:
    """Subagents' ids with the calls that started them."""
    asked = {(event.agent, call) for event in events for call in event.calls}
    starters: dict[str, str] = {}
    for event in events:
        started = event.kind == "subagent.started" and _text(event.data.get("toolCallId"))
        call = started or _by_call(event)
        if event.agent and call and event.agent not in starters and (event.agent, call) not in asked:
            starters[event.agent] = call
    return starters


def _whose(event: _Event, starters: dict[str, str]) -> str:
    return starters.get(event.agent, event.agent) if event.agent else _by_call(event)


# --- what is in them


@dataclass(slots=True)
class _Talk:
    """The session's own part, or a subagent's."""

    ledger: Ledger
    keep: Keep
    assets: dict[str, JSON]
    events: list[_Event] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    times: dict[str, int] = field(default_factory=dict)
    waiting: dict[str, list[str]] = field(default_factory=dict)

    def count(self) -> None:
        """Fill the ledger."""
        typed = Counter(
            _text(event.data.get("content")).strip() for event in self.events if event.kind == "user.message"
        )
        typed[""] = 0
        for event in self.events:
            self.ledger.entries.extend(self._entries(event, typed))

    def _entries(self, event: _Event, typed: Counter[str]) -> Iterator[Entry]:
        data = event.data
        if event.kind == "user.message":
            yield from self._prompt(data, event.place)
        elif event.kind == "hook.start" and data.get("hookType") == "userPromptSubmitted":
            yield from self._hook(_text(_dict(data.get("input")).get("prompt")), event.place, typed)
        elif event.kind == "assistant.message":
            yield from self._answer(event)
        elif event.kind == "tool.execution_start":
            if _text(data.get("toolCallId")) not in self.asked:
                yield self._call(data, data.get("toolName"), event.place)
        elif event.kind == "tool.execution_complete":
            yield from self._result(data, event.place)
        elif event.kind in ("system.message", "session.compaction_complete"):
            text = _text(data.get("content" if event.kind == "system.message" else "summaryContent"))
            if text:
                yield entry_of_text("system", event.place, text, self.keep)

    def _hook(self, prompt: str, place: Place, typed: Counter[str]) -> Iterator[Entry]:
        if typed[prompt.strip()] > 0:
            typed[prompt.strip()] -= 1
        elif prompt.strip():
            yield entry_of_text("prompt", place, prompt, self.keep)

    def _prompt(self, data: _Fields, place: Place) -> Iterator[Entry]:
        text = _spelled(data.get("content"))
        pictures: list[bytes | None] = []
        others = 0
        for attachment in map(_dict, _list(data.get("attachments"))):
            kind = attachment.get("type")
            if (kind == "blob" or (kind == "file" and "assetId" in attachment)) and _is_picture(attachment):
                pictures.append(self._bytes(attachment))
            else:
                others += kind in ("blob", "file", "directory", "selection")
        if not text.strip() and not pictures and not others:
            return
        entry = entry_of_text("prompt", place, text, self.keep)
        source = _text(data.get("source"))
        entry.injected = data.get("isAutopilotContinuation") is True or source not in ("", "user")
        yield from _with_pictures(entry, pictures)

    def _answer(self, event: _Event) -> Iterator[Entry]:
        data = event.data
        message = _text(data.get("apiCallId")) or _text(data.get("messageId")) or str(event.place.number)
        thinking = _text(data.get("reasoningText"))
        for kind, text in (("thought", thinking), ("answer", _spelled(data.get("content")))):
            if text.strip():
                entry = entry_of_text(kind, event.place, text, self.keep)
                entry.message = message
                yield entry
        for request in _list(data.get("toolRequests")):
            if isinstance(request, dict):
                yield self._call(request, request.get("name"), event.place)

    def _call(self, values: _Fields, name: JSON, place: Place) -> Entry:
        base = _text(values.get("toolCallId")) or f"line-{place.number}"
        self.times[base] = self.times.get(base, 0) + 1
        call = base if self.times[base] == 1 else f"{base}__{self.times[base]}"
        self.waiting.setdefault(base, []).append(call)
        arguments = arguments_of(values.get("arguments"))
        return entry_of_call(place, call, _text(name) or "unknown_tool", arguments, self.keep)

    def _result(self, data: _Fields, place: Place) -> Iterator[Entry]:
        result, error, success = data.get("result"), data.get("error"), data.get("success")
        waiting = self.waiting.get(_text(data.get("toolCallId")))
        words = _spelled(result.get("content") if isinstance(result, dict) else result)
        message = error.get("message") if isinstance(error, dict) else None
        wrong = _spelled(message if isinstance(message, str) else error)
        texts = [words, wrong] if wrong != words else [words]
        pictures = [
            self._bytes(binary)
            for binary in map(_dict, _list(_dict(result).get("binaryResultsForLlm")))
            if binary.get("type") in ("image", "resource")
            and {"data", "assetId", "mimeType"} & binary.keys()
            and _is_picture(binary)
        ]
        entry = entry_of_text("result", place, "\n".join(text for text in texts if text), self.keep)
        entry.id = waiting.pop(0) if waiting else None
        entry.ok = success if isinstance(success, bool) else None
        yield from _with_pictures(entry, pictures)

    def _bytes(self, values: _Fields) -> bytes | None:
        data = values.get("data")
        if data is None:
            data = self.assets.get(_text(values.get("assetId")))
        try:
            return base64.b64decode(data, validate=True) if isinstance(data, str) else None
        except (binascii.Error, ValueError):
            return None


def _assets(events: list[_Event]) -> dict[str, JSON]:
    return {
        _text(event.data.get("assetId")): event.data.get("data")
        for event in events
        if event.kind == "session.binary_asset" and _text(event.data.get("assetId"))
    }


def _usage(events: list[_Event]) -> Usage | None:
    """The tokens of the last shutdown where totals only grow, else of all."""
    totals: list[Usage] = []
    for event in events:
        metrics = _dict(event.data.get("modelMetrics")) if event.kind == "session.shutdown" else {}
        parts = [part for metric in metrics.values() if (part := _part(_dict(_dict(metric).get("usage"))))]
        if parts:
            totals.append(_added(parts))
    for before, after in pairwise(totals):
        if (before.prompt_tokens or 0) > (after.prompt_tokens or 0):
            return _added(totals)
        if (before.output_tokens or 0) > (after.output_tokens or 0):
            return _added(totals)
    return totals[-1] if totals else None


def _part(usage: _Fields) -> Usage | None:
    part = Usage()
    for name, kept in _TOKENS.items():
        value = usage.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            setattr(part, kept, value)
    if part.prompt_tokens is None and part.output_tokens is None:
        return None
    cache = (part.cached_tokens or 0) + (part.cache_write_tokens or 0)
    if part.prompt_tokens is not None and cache > part.prompt_tokens:
        part.prompt_tokens += cache
    return part


def _added(parts: list[Usage]) -> Usage:
    total = Usage()
    for name in _TOKENS.values():
        known = [value for part in parts if (value := getattr(part, name)) is not None]
        setattr(total, name, sum(known) if known else None)
    return total


def _with_pictures(entry: Entry, pictures: list[bytes | None]) -> Iterator[Entry]:
    entry.images = len(pictures)
    yield entry
    for picture in pictures:
        yield entry_of_image(entry.place, entry.id, picture)


def _is_picture(values: _Fields) -> bool:
    return values.get("type") == "image" or _text(values.get("mimeType")).startswith("image/")


def _spelled(value: JSON) -> str:
    return value if isinstance(value, str) else "" if value is None else json_text.dump(value).decode("utf-8")


def _dict(value: JSON) -> _Fields:
    return value if isinstance(value, dict) else {}


def _list(value: JSON) -> list[JSON]:
    return value if isinstance(value, list) else []


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else ""
