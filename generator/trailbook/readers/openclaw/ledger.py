"""What is in a session, counted from its raw entries on a path of its own."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC

from trailbook import json_text
from trailbook.chat import JSON, Place, Usage
from trailbook.ledger import Entry, Keep, Ledger, arguments_of, entry_of_call, entry_of_image, entry_of_text
from trailbook.readers import Found
from trailbook.readers.images import image_from_base64
from trailbook.readers.lines import Problems, Record
from trailbook.readers.openclaw.family import Session, children_of, session_at
from trailbook.readers.openclaw.log import records_of, split
from trailbook.readers.values import moment

_PUT_IN = ("custom", "hookMessage", "bashExecution", "pythonExecution", "fileMention", "branchSummary")


def count(found: Found, keep: Keep) -> Ledger:
    """The ledger of a session, those of the sessions it spawned beside it. Raises Unreadable, OSError."""
    session = session_at(found.path, found.id)
    return _count(session, keep, (session,), alone=found.remark is not None)


def _count(session: Session, keep: Keep, above: tuple[Session, ...], *, alone: bool) -> Ledger:
    log = split(records_of(session.path, session.id, Problems()), Problems())
    counter = _Counter(Ledger(chat=session.id), keep)
    began = log.header.get("timestamp") if log.header.get("parentSession") else None
    for entry, left in zip(log.entries, _left(log.entries), strict=True):
        value = _dict(entry.value)
        counter.copied = began is not None and _is_before(value.get("timestamp"), began)
        counter.aside = left or counter.copied
        counter.take(value, entry.place)
    for child in [] if alone else children_of(session):
        if child not in above:
            counter.ledger.subagents.append(_count(child, keep, (*above, child), alone=False))
    return counter.ledger


@dataclass(slots=True)
class _Counter:
    ledger: Ledger
    keep: Keep
    copied: bool = False
    aside: bool = False
    spoken: set[str] = field(default_factory=set)
    """What the model said since the last prompt."""
    calls: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Calls without a result by their logged id."""
    times: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))

    def take(self, value: dict[str, JSON], place: Place) -> None:
        kind, name = value.get("type"), _text(value.get("id")) or f"entry-{place.number}"
        if kind == "message":
            self._message(_dict(value.get("message")), name, place)
        elif kind == "custom_message":
            self._prompt(place, _blocks(value.get("content")), injected=True)
        elif kind == "branch_summary":
            self._prompt(place, _blocks(value.get("summary")), injected=True)
        elif kind == "compaction":
            self._words("system", place, _text(value.get("summary")) or "")
        elif kind == "model_usage":
            self._spend(_dict(value.get("usage")))

    def _add(self, entry: Entry) -> None:
        (self.ledger.aside if self.aside else self.ledger.entries).append(entry)

    def _words(self, kind: str, place: Place, text: str, message: str | None = None) -> None:
        if text.strip():
            entry = entry_of_text(kind, place, text, self.keep)
            entry.message = message
            self._add(entry)

    def _message(self, message: dict[str, JSON], name: str, place: Place) -> None:
        role, content = message.get("role"), _blocks(message.get("content"))
        if role == "user":
            injected = message.get("synthetic") is True
            if not injected:
                self.spoken.clear()
            self._prompt(place, content, injected=injected)
        elif role == "assistant":
            self._assistant(message, content, name, place)
        elif role == "toolResult":
            self._result(message, content, place)
        elif role in ("developer", "system", "compactionSummary"):
            self._words("system", place, _text(message.get("summary")) or _joined(content))
        elif role in _PUT_IN and message.get("excludeFromContext") is not True:
            self._prompt(place, _put_in(str(role), message, content), injected=True)

    def _prompt(self, place: Place, content: list[JSON], *, injected: bool) -> None:
        pictures = [block for block in map(_dict, content) if block.get("type") == "image"]
        text = _joined(content)
        if text.strip() or pictures:
            entry = entry_of_text("prompt", place, text, self.keep)
            entry.images, entry.injected = len(pictures), injected
            self._add(entry)
        self._pictures(place, None, pictures)

    def _pictures(self, place: Place, call: str | None, pictures: list[dict[str, JSON]]) -> None:
        for block in pictures:
            self._add(entry_of_image(place, call, image_from_base64(block.get("data"), block.get("mimeType")).data))

    def _assistant(self, message: dict[str, JSON], content: list[JSON], name: str, place: Place) -> None:
        if (message.get("provider"), message.get("model")) == ("openclaw", "delivery-mirror"):
            if _joined(content).strip() not in self.spoken:
                self._words("answer", place, _joined(content), name)
            return
        self._spend(_dict(message.get("usage")))
        for index, block in enumerate(content):
            values = _dict(block)
            kind = str(values.get("type")).lower()
            if kind == "thinking":
                self._words("thought", place, _text(values.get("thinking")) or "", name)
            elif kind in ("toolcall", "tooluse", "functioncall"):
                self._call(values, f"{name}:{index}", place)
            elif kind != "image":
                text = block if isinstance(block, str) else _text(values.get("text")) or ""
                self.spoken.add(text.strip())
                self._words("answer", place, text, name)

    def _call(self, values: dict[str, JSON], otherwise: str, place: Place) -> None:
        base = (_text(values.get("id")) or "").split("|")[0] or otherwise
        self.times[base] += 1
        call = base if self.times[base] == 1 else f"{base}__{self.times[base]}"
        self.calls[base].append(call)
        given = [values[key] for key in ("arguments", "input", "parameters") if key in values]
        name = _text(values.get("name")) or "unknown"
        self._add(entry_of_call(place, call, name, arguments_of(given[0] if given else None), self.keep))

    def _result(self, message: dict[str, JSON], content: list[JSON], place: Place) -> None:
        waiting = self.calls[(_text(message.get("toolCallId")) or "").split("|")[0]]
        call = waiting.pop(0) if waiting else None
        pictures = [block for block in map(_dict, content) if block.get("type") == "image"]
        entry = entry_of_text("result", place, _joined(content), self.keep)
        failed = message.get("isError")
        entry.id, entry.images, entry.ok = call, len(pictures), None if not isinstance(failed, bool) else not failed
        self._add(entry)
        self._pictures(place, call, pictures)

    def _spend(self, usage: dict[str, JSON]) -> None:
        """Every message counts, on abandoned branches too; what a fork copied was paid for where it comes from."""
        told = {name: count for name in _TOKENS if (count := _number(usage.get(name))) is not None}
        if self.copied or not told:
            return
        total = self.ledger.usage = self.ledger.usage or Usage()
        _raise(total, "output_tokens", told.get("output"))
        _raise(total, "cached_tokens", told.get("cacheRead"))
        _raise(total, "cache_write_tokens", told.get("cacheWrite"))
        hour = _number(usage.get("cacheWrite1h"))
        _raise(total, "cache_write_hour_tokens", hour or _number(_dict(usage.get("cttl")).get("ephemeral1h")))
        _raise(total, "reasoning_tokens", _number(usage.get("reasoningTokens")))
        if "input" in told:
            _raise(total, "prompt_tokens", sum(told.values()) - told.get("output", 0))


_TOKENS = ("input", "output", "cacheRead", "cacheWrite")


def _raise(total: Usage, name: str, count: int | None) -> None:
    if count is not None:
        setattr(total, name, (getattr(total, name) or 0) + count)


def _left(entries: list[Record]) -> list[bool]:
    """For each entry whether the person left it: it is not on the way from the last entry to the root."""
    values = [_dict(entry.value) for entry in entries]
    first: dict[str, int] = {}
    for number, value in enumerate(values):
        if _text(value.get("id")):
            first.setdefault(str(value["id"]), number)
    own = set(first.values())
    up: dict[int, int | None] = {}
    before: int | None = None
    for number in sorted(own):
        parent = values[number].get("parentId", "")
        up[number] = None if parent is None else first.get(parent, before) if isinstance(parent, str) else before
        before = number
    left = [False] * len(entries)
    walked: set[int] = set()
    for leaf in sorted(own, reverse=True):
        way: list[int] = []
        at: int | None = leaf
        while at is not None and at not in walked:
            walked.add(at)
            way.append(at)
            at = up[at]
        speaks = any(_dict(values[step].get("message")).get("role") in ("user", "assistant") for step in way)
        beside = len(walked) > len(way) and (speaks or (at is not None and left[at]))
        for step in way:
            left[step] = beside
    for number in range(1, len(entries)):
        if number not in own:
            left[number] = left[number - 1]
    return left


def _put_in(role: str, message: dict[str, JSON], content: list[JSON]) -> list[JSON]:
    """What the model is told in the person's place, as blocks."""
    if role in ("custom", "hookMessage"):
        return content
    if role == "branchSummary":
        return _blocks(message.get("summary"))
    if role == "fileMention":
        files = message.get("files")
        return [block for file in (files if isinstance(files, list) else []) for block in _mentioned(_dict(file))]
    output, status = _text(message.get("output")), _number(message.get("exitCode"))
    if role == "bashExecution":
        ran, shown = f"Ran `{_text(message.get('command')) or ''}`\n", f"```\n{output}\n```"
    else:
        ran, shown = (
            f"Ran Python:\n```python\n{_text(message.get('code')) or ''}\n```\n",
            f"Output:\n```\n{output}\n```",
        )
    text = ran + (shown if output else "(no output)")
    if message.get("cancelled") is True:
        text += "\n\n(command cancelled)"
    elif status:
        text += f"\n\nCommand exited with code {status}"
    return [text, *_blocks(message.get("images"))]


def _mentioned(file: dict[str, JSON]) -> list[JSON]:
    content = _text(file.get("content"))
    text = f'<file path="{_text(file.get("path")) or ""}">\n{content}\n</file>' if content else None
    return [text or f'<file path="{_text(file.get("path")) or ""}">\n</file>', *_blocks(file.get("image"))]


def _joined(content: list[JSON]) -> str:
    return "\n".join(text for block in content if (text := _text_of(block)) is not None)


def _text_of(block: JSON) -> str | None:
    values = _dict(block)
    if values.get("type") == "image":
        return None
    if isinstance(block, str) or isinstance(values.get("text"), str):
        return block if isinstance(block, str) else str(values["text"])
    return json_text.dump(block).decode("utf-8")


def _blocks(content: JSON) -> list[JSON]:
    if isinstance(content, list):
        return content
    return [content] if isinstance(content, dict) or (isinstance(content, str) and content) else []


def _is_before(stamp: JSON, began: JSON) -> bool:
    at, start = moment(stamp, UTC)[0], moment(began, UTC)[0]
    return at is not None and start is not None and at < start


def _dict(value: JSON) -> dict[str, JSON]:
    return value if isinstance(value, dict) else {}


def _text(value: JSON) -> str | None:
    return value if isinstance(value, str) and value else None


def _number(value: JSON) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
