"""What is in a Conch log, counted from its raw lines: nothing here is shared with the reader."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from trailbook import json_text
from trailbook.chat import JSON, Place, Usage
from trailbook.ledger import Entry, Keep, Ledger, entry_of_call, entry_of_image, entry_of_text, plain
from trailbook.readers import Found
from trailbook.readers.lines import Problems, read_records

_DAMAGED = 1e15
"""No turn has so many tokens."""
_NEVER_KEPT = ("status", "turn.usage")
_NOT_RUN = ("declined", "expired", "refused")
_APPROVALS = (*_NOT_RUN, "allowed", "always")
_STATUSES = ("pending", "running", "success", "error", "declined")
_OUTCOMES = {"success": True, "error": False, "declined": False}


@dataclass(slots=True)
class _Count:
    ledger: Ledger
    keep: Keep
    words: list[str] = field(default_factory=list)
    """The pieces of one message that stand directly after one another, logged as they came in."""
    spoken: tuple[str, JSON, Place] | None = None
    """What kind of words those are, of which message, and where they begin."""
    prompts: set[tuple[JSON, str]] = field(default_factory=set)
    calls: dict[str, tuple[str, JSON]] = field(default_factory=dict)
    results: dict[str, set[tuple[str | None, ...]]] = field(default_factory=dict)
    stopped: list[Entry] = field(default_factory=list)
    tokens: dict[str, int] = field(default_factory=dict)


def count(found: Found, keep: Keep) -> Ledger:
    """The ledger of a log: one entry for each piece as it stands there.

    The calls of a script stand aside: the model did not make them. Raises OSError.
    """
    state = _Count(Ledger(chat=found.id), keep)
    for place, event in _events(found):
        kind = event["type"]
        if kind == "assistant.delta":
            _speak(state, place, event)
        elif kind not in _NEVER_KEPT:
            _end_words(state)
            if kind == "user.message":
                _ask(state, place, event)
            elif kind in ("tool.started", "script.call"):
                _call(state, place, event, script=kind == "script.call")
            elif kind == "tool.finished":
                _result(state, place, event)
            elif kind == "turn.completed":
                _end_turn(state, event)
            elif kind == "context.compacted":
                _sum_up(state, place, event)
    _end_words(state)
    if state.tokens:
        state.ledger.usage = Usage(**state.tokens)
    return state.ledger


def _events(found: Found) -> Iterator[tuple[Place, dict[str, JSON]]]:
    earlier: dict[str, dict[str, JSON]] = {}
    for record in read_records(found.path, Problems()):
        event = record.value
        if not isinstance(event, dict) or not isinstance(event.get("type"), str):
            continue
        numbers = event.get("seq"), event.get("at")
        if all(isinstance(number, int) for number in numbers):
            key = f"{numbers[0]} {numbers[1]} {event['type']}"
            if key in earlier and earlier[key] == event:
                continue
            earlier.setdefault(key, event)
        yield record.place, event


def _speak(state: _Count, place: Place, event: dict[str, JSON]) -> None:
    kinds: dict[JSON, str] = {"text": "answer", "thinking": "thought"}
    logged, text = event.get("kind"), event.get("delta")
    kind = kinds.get(logged) if isinstance(logged, str) else None
    if kind is None or not isinstance(text, str) or not text:
        return
    message = event.get("messageId")
    message = message if isinstance(message, str) else None
    if state.spoken is None or state.spoken[:2] != (kind, message):
        _end_words(state)
        state.spoken = (kind, message, place)
    state.words.append(text)


def _end_words(state: _Count) -> None:
    if state.spoken is not None:
        kind, _message, place = state.spoken
        text = "".join(state.words)
        if plain(text):
            # Conch's messages are not the API's: one can go on after a call. So no entry names its message.
            state.ledger.entries.append(entry_of_text(kind, place, text, state.keep))
    state.words, state.spoken = [], None


def _ask(state: _Count, place: Place, event: dict[str, JSON]) -> None:
    text, message = _text(event.get("text")), event.get("messageId")
    if isinstance(message, str) and message.strip():
        if (message, text) in state.prompts:
            return
        state.prompts.add((message, text))
    attached = event.get("attachments")
    images = sum(
        isinstance(one, dict) and one.get("kind") == "image" for one in (attached if isinstance(attached, list) else [])
    )
    entry = entry_of_text("prompt", place, text, state.keep)
    entry.images = images
    state.ledger.entries.append(entry)
    # The log has no attachment's bytes.
    state.ledger.entries += [entry_of_image(place, None, None) for _ in range(images)]


def _call(state: _Count, place: Place, event: dict[str, JSON], *, script: bool) -> None:
    identity = _id(event.get("callId" if script else "toolUseId"), place)
    name = event.get("tool" if script else "name")
    arguments = _arguments_in(event.get("input")) if script else _arguments(event.get("input"))
    name = name if isinstance(name, str) and name.strip() else "unknown"
    again = identity in state.calls if script else state.calls.get(identity) == (name, arguments)
    if not again:
        state.calls[identity] = (name, arguments)
        state.results.pop(identity, None)
        entry = entry_of_call(place, identity, name, arguments, state.keep)
        (state.ledger.aside if script else state.ledger.entries).append(entry)
    if script and _word(event.get("status"), _STATUSES) in _OUTCOMES:
        _add_result(state, place, identity, event, script=True)


def _result(state: _Count, place: Place, event: dict[str, JSON]) -> None:
    _add_result(state, place, _id(event.get("toolUseId"), place), event, script=False)


def _add_result(state: _Count, place: Place, identity: str, event: dict[str, JSON], *, script: bool) -> None:
    status, output = _word(event.get("status"), _STATUSES), event.get("output")
    approval = None if script else _word(event.get("approval"), _APPROVALS)
    known = identity in state.calls
    if known:
        said = (status, output if isinstance(output, str) else None, approval)
        before = state.results.setdefault(identity, set())
        if said in before:
            return
        before.add(said)
    entry = entry_of_text("result", place, _text(output), state.keep)
    entry.id = identity if known else None
    refused = approval in _NOT_RUN
    entry.ok = False if refused else _OUTCOMES.get(status or "")
    entry.not_run = refused or (script and status == "declined")
    (state.ledger.aside if script else state.ledger.entries).append(entry)
    if output == "Stopped." and entry.ok is False and not refused and not script:
        state.stopped.append(entry)


def _end_turn(state: _Count, event: dict[str, JSON]) -> None:
    for entry in state.stopped if event.get("outcome") == "interrupted" else []:
        entry.not_run = True
    state.stopped = []
    logged = event.get("usage")
    for name, key in (
        ("prompt_tokens", "inputTokens"),
        ("output_tokens", "outputTokens"),
        ("cached_tokens", "cachedInputTokens"),
        ("cache_write_tokens", "cacheWriteTokens"),
    ):
        tokens = logged.get(key) if isinstance(logged, dict) else None
        if isinstance(tokens, bool) or not isinstance(tokens, int | float | Decimal):
            continue
        if 0 <= tokens < _DAMAGED and tokens == int(tokens):
            state.tokens[name] = state.tokens.get(name, 0) + int(tokens)


def _sum_up(state: _Count, place: Place, event: dict[str, JSON]) -> None:
    """What the model goes on from after a compaction."""
    summary = _text(event.get("summary"))
    if plain(summary):
        entry = entry_of_text("prompt", place, summary, state.keep)
        entry.injected = True
        state.ledger.entries.append(entry)


def _word(value: JSON, known: tuple[str, ...]) -> str | None:
    return value if isinstance(value, str) and value in known else None


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else ""


def _id(value: JSON, place: Place) -> str:
    return value if isinstance(value, str) and value.strip() else f"line-{place.number}"


def _arguments(value: JSON) -> JSON:
    """The object; the JSON text of what is none."""
    if value is None:
        return {}
    return value if isinstance(value, dict) else json_text.dump(value).decode()


def _arguments_in(text: JSON) -> JSON:
    """The object that a text spells; the text itself where it spells none (it may be cut)."""
    if not isinstance(text, str) or not text:
        return {}
    try:
        value = json_text.parse(text.encode("utf-8", "replace"))
    except ValueError:
        return text
    return value if isinstance(value, dict) else text
