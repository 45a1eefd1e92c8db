"""What is in an OpenHands conversation, counted straight from its events on a path of its own."""

from __future__ import annotations

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
    entry_of_text,
)
from trailbook.readers import Found
from trailbook.readers.lines import Problems
from trailbook.readers.openhands.documents import again
from trailbook.readers.pieces import parse, place_of

_Event = dict[str, JSON]


def count(found: Found, keep: Keep) -> Ledger:
    """The conversation's ledger. Raises Unreadable, OSError."""
    piece = again(found)
    value = parse(found.path, piece, Problems())
    events = value.get("items") if isinstance(value, dict) else value
    counter = _Counter(keep)
    placed = [
        (event, place_of(found.path, piece, number))
        for number, event in enumerate(events if isinstance(events, list) else [], 1)
        if isinstance(event, dict) and counter.is_new(event)
    ]
    for event, place in placed:
        if event.get("kind") == "ActionEvent":
            counter.name_call(event, place)
    ledger = Ledger()
    for event, place in placed:
        ledger.entries.extend(counter.entries(event, place))
    return ledger


@dataclass(slots=True)
class _Counter:
    keep: Keep
    seen: set[bytes] = field(default_factory=set)
    times: dict[str, int] = field(default_factory=dict)
    calls: dict[int, str] = field(default_factory=dict)
    """By the actions' numbers, the ids of their calls; one that comes again is told apart."""
    actions: dict[JSON, str] = field(default_factory=dict)
    logged: dict[JSON, deque[str]] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)

    def is_new(self, event: _Event) -> bool:
        identity = event.get("id")
        spelled = json_text.canonical(event)
        if isinstance(identity, str) and identity and spelled in self.seen:
            return False
        self.seen.add(spelled)
        return True

    def name_call(self, event: _Event, place: Place) -> None:
        identity, logged = event.get("id"), event.get("tool_call_id")
        has_identity, has_name = isinstance(identity, str) and identity, isinstance(logged, str) and logged
        name = str(logged) if has_name else f"oh_{identity}" if has_identity else f"event-{place.number}"
        self.times[name] = self.times.get(name, 0) + 1
        call = name if self.times[name] == 1 else f"{name}__{self.times[name]}"
        self.calls[place.number] = call
        if has_identity:
            self.actions.setdefault(identity, call)
        if has_name:
            self.logged.setdefault(logged, deque()).appendleft(call)

    def entries(self, event: _Event, place: Place) -> Iterator[Entry]:
        kind = event.get("kind")
        if kind == "MessageEvent":
            yield from self._message(event, place)
        elif kind == "ActionEvent":
            yield from self._action(event, place)
        elif kind == "ObservationEvent":
            observation = event.get("observation")
            observed = observation if isinstance(observation, dict) else {}
            failed = observed.get("is_error")
            yield from self._result(
                event, observed.get("content"), place, not failed if isinstance(failed, bool) else None
            )
        elif kind == "AgentErrorEvent":
            yield from self._result(event, _spelled(event.get("error")), place, False)
        elif kind == "UserRejectObservation":
            for entry in self._result(event, _spelled(event.get("rejection_reason")), place, None):
                entry.not_run = entry.id is not None
                yield entry

    def _message(self, event: _Event, place: Place) -> Iterator[Entry]:
        message = event.get("llm_message")
        text, pictures = _read(message.get("content") if isinstance(message, dict) else None)
        if event.get("source") == "user" and (text or pictures):
            entry = entry_of_text("prompt", place, text, self.keep)
            entry.images = len(pictures)
            yield entry
            for picture in pictures:
                yield entry_of_image(place, None, bytes_of_data_url(picture))
        elif event.get("source") == "agent" and text.strip():
            yield self._piece("answer", event, text, place)

    def _action(self, event: _Event, place: Place) -> Iterator[Entry]:
        for words in (event.get("reasoning_content"), _read(event.get("thought"))[0]):
            if isinstance(words, str) and words.strip():
                yield self._piece("thought", event, words, place)
        call, action, name = event.get("tool_call"), event.get("action"), event.get("tool_name")
        arguments = call.get("arguments") if isinstance(call, dict) else None
        if arguments in (None, ""):
            arguments = action
            if isinstance(action, dict):
                arguments = {key: value for key, value in action.items() if key != "kind"}
        named = name if isinstance(name, str) and name else "unknown_tool"
        yield entry_of_call(place, self.calls[place.number], named, arguments_of(arguments), self.keep)

    def _result(self, event: _Event, content: JSON, place: Place, ok: bool | None) -> Iterator[Entry]:
        text, pictures = _read(content)
        call = self._answered(event)
        entry = entry_of_text("result", place, text, self.keep)
        entry.id, entry.ok, entry.images = call, ok, len(pictures)
        yield entry
        for picture in pictures:
            yield entry_of_image(place, call, bytes_of_data_url(picture))

    def _answered(self, event: _Event) -> str | None:
        """The call that an event answers. Of calls with one id each is answered once, then the last again."""
        action, logged = event.get("action_id"), event.get("tool_call_id")
        if isinstance(action, str) and action in self.actions:
            call = self.actions[action]
        elif isinstance(logged, str) and logged in self.logged:
            calls = self.logged[logged]
            while len(calls) > 1 and calls[-1] in self.answered:
                calls.pop()
            call = calls[-1]
        else:
            return None
        self.answered.add(call)
        return call

    def _piece(self, kind: str, event: _Event, text: str, place: Place) -> Entry:
        entry = entry_of_text(kind, place, text, self.keep)
        response = event.get("llm_response_id")
        entry.message = response if isinstance(response, str) and response else f"event-{place.number}"
        return entry


def _spelled(value: JSON) -> str:
    return value if isinstance(value, str) else "" if value is None else json_text.dump(value).decode("utf-8")


def _read(content: JSON) -> tuple[str, list[JSON]]:
    """The words of a content, texts side by side in one piece, and the addresses of its pictures."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    pieces: list[str] = []
    pictures: list[JSON] = []
    apart = True
    for block in [blocks] if isinstance(blocks, dict) else blocks if isinstance(blocks, list) else []:
        if not isinstance(block, dict):
            continue
        text, urls = block.get("text"), block.get("image_urls")
        if block.get("type") == "text" and isinstance(text, str):
            if text and apart:
                pieces.append("")
            if text:
                pieces[-1] += text
                apart = False
        elif block.get("type") == "image":
            pictures += urls if isinstance(urls, list) and urls else [None]
            apart = True
    return "\n".join(pieces), pictures
