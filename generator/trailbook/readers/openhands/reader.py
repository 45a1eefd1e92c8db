"""An OpenHands conversation as a chat: each event is a message, an action, or what came back from one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import tzinfo

from trailbook.chat import (
    JSON,
    Agent,
    Asked,
    Called,
    Chat,
    Message,
    Noted,
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
from trailbook.readers.images import image_from_url
from trailbook.readers.lines import Problems, Record
from trailbook.readers.openhands.documents import again, is_known, kind_of, records_of
from trailbook.readers.pairing import Pairing
from trailbook.readers.values import Fields, blocks, fields, items, json_words, moment, string


def read(found: Found, zone: tzinfo) -> Chat:
    """The whole conversation. Raises Unreadable, OSError."""
    problems = Problems()
    records = records_of(found.path, again(found), problems)
    if not any(is_known(record.value) for record in records):
        raise Unreadable(f"{found.path.name} has no event of OpenHands that is known.")
    chat = Chat(id=found.id, source="openhands", agent=Agent("OpenHands", None, "OpenHands"))
    reading = _Reading(chat, problems, _calls_in(records))
    for record in records:
        event = fields(record.value)
        first = len(chat.events)
        _HANDLERS.get(kind_of(event), _read_unknown)(event, record.place, reading)
        at, naive = moment(event.get("timestamp"), zone)
        chat.naive_times = chat.naive_times or naive
        for made in chat.events[first:]:
            made.at, made.place = at, record.place
    times = [event.at for event in chat.events if event.at is not None]
    chat.started, chat.ended = min(times, default=None), max(times, default=None)
    chat.diagnostics = problems.found
    return chat


# --- which result answers which call


@dataclass(slots=True)
class _Calls:
    """The conversation's calls, known before it is read: what came back may stand before its action."""

    of_place: dict[int, str] = field(default_factory=dict)
    of_action: dict[str, str] = field(default_factory=dict)
    """Actions' event ids with the ids of their calls."""
    of_logged: dict[str, deque[str]] = field(default_factory=dict)
    """The log's own ids with the calls that have them, for an id that comes again is another call's."""
    answered: set[str] = field(default_factory=set)

    def answered_by(self, event: Fields) -> str | None:
        """The call that an event answers: by its action, else by the call's own id; None when it answers none."""
        call = self.of_action.get(string(event.get("action_id")) or "")
        if call is None:
            calls = self.of_logged.get(string(event.get("tool_call_id")) or "", deque())
            while len(calls) > 1 and calls[0] in self.answered:
                calls.popleft()
            call = calls[0] if calls else None
        if call is not None:
            self.answered.add(call)
        return call


def _calls_in(records: list[Record]) -> _Calls:
    calls, pairing = _Calls(), Pairing()
    for record in records:
        event, number = fields(record.value), record.place.number
        if kind_of(event) != "ActionEvent":
            continue
        identity, logged = string(event.get("id")), string(event.get("tool_call_id"))
        call = pairing.call(logged, f"oh_{identity}" if identity else f"event-{number}")
        calls.of_place[number] = call
        if identity:
            calls.of_action.setdefault(identity, call)
        if logged:
            calls.of_logged.setdefault(logged, deque()).append(call)
    return calls


# --- events


@dataclass(slots=True)
class _Reading:
    chat: Chat
    problems: Problems
    calls: _Calls

    def key_of(self, event: Fields, place: Place) -> str:
        """The message of the model that an event belongs to: the response it came in, else one of its own."""
        key = string(event.get("llm_response_id")) or f"event-{place.number}"
        self.chat.messages.setdefault(key, Message())
        return key


def _read_message(event: Fields, place: Place, reading: _Reading) -> None:
    source = event.get("source")
    parts = _parts(fields(event.get("llm_message")).get("content"), place, reading)
    text = text_of(parts)
    attached: list[Part] = [part for part in parts if not isinstance(part, Text)]
    events = reading.chat.events
    if not parts:
        reading.problems.count("empty-record", "A message has nothing in it; it was passed over.", place)
    elif source == "user":
        events.append(Asked(id=f"event-{place.number}", text=text, parts=attached))
    elif source == "agent":
        events.append(Said(text=text, parts=attached, message=reading.key_of(event, place)))
    else:
        sentence = f"Messages of the source {json_words(source)} are not known; they are shown as notices."
        reading.problems.count("unknown-record", sentence, place)
        events.append(Noted(topic="message", text=text, parts=attached))


def _read_action(event: Fields, place: Place, reading: _Reading) -> None:
    key = reading.key_of(event, place)
    events = reading.chat.events
    for thought in (string(event.get("reasoning_content")), text_of(_parts(event.get("thought"), place, reading))):
        if thought:
            events.append(Thought(text=thought, message=key))
    name = string(event.get("tool_name"))
    if name is None:
        reading.problems.count("missing-name", "A call does not say of which tool; it is called unknown_tool.", place)
    arguments, raw = read_arguments(_arguments(event))
    call = reading.calls.of_place[place.number]
    events.append(Called(id=call, name=name or "unknown_tool", arguments=arguments, raw=raw, message=key))


def _arguments(event: Fields) -> JSON:
    """The arguments as the model wrote them; where the log has not kept those, the action that was made of them."""
    written = fields(event.get("tool_call")).get("arguments")
    if written not in (None, ""):
        return written
    action = event.get("action")
    if isinstance(action, dict):
        return {key: value for key, value in action.items() if key != "kind"}
    return action


def _read_observation(event: Fields, place: Place, reading: _Reading) -> None:
    observation = fields(event.get("observation"))
    if "content" not in observation:
        sentence = "An observation has no content; what else it says was passed over."
        reading.problems.count("unknown-record", sentence, place, lost=True)
    failed = observation.get("is_error")
    parts = _parts(observation.get("content"), place, reading)
    _add_result(event, parts, place, reading, ok=not failed if isinstance(failed, bool) else None)


def _read_error(event: Fields, place: Place, reading: _Reading) -> None:
    _add_result(event, _words(event, "error", place, reading), place, reading, ok=False)


def _read_rejection(event: Fields, place: Place, reading: _Reading) -> None:
    # The person said no, unless a rule of theirs did.
    not_run = "refused" if event.get("rejection_source") == "hook" else "declined"
    _add_result(event, _words(event, "rejection_reason", place, reading), place, reading, not_run=not_run)


def _add_result(
    event: Fields,
    parts: list[Part],
    place: Place,
    reading: _Reading,
    *,
    ok: bool | None = None,
    not_run: str | None = None,
) -> None:
    call = reading.calls.answered_by(event)
    if call is None:
        reading.problems.count("orphan-result", "An observation answers no action; it is shown by itself.", place)
        not_run = None
    reading.chat.events.append(Returned(call=call, parts=parts, ok=ok, not_run=not_run, linked="id" if call else None))


def _read_unknown(event: Fields, place: Place, reading: _Reading) -> None:
    kind = json_words(event.get("kind"))
    reading.problems.count("unknown-record", f"Events of the kind {kind} are not known.", place, lost=True)


_HANDLERS: dict[str, Callable[[Fields, Place, _Reading], None]] = {
    "MessageEvent": _read_message,
    "ActionEvent": _read_action,
    "ObservationEvent": _read_observation,
    "AgentErrorEvent": _read_error,
    "UserRejectObservation": _read_rejection,
}


# --- contents


def _words(event: Fields, name: str, place: Place, reading: _Reading) -> list[Part]:
    """A field's text as the parts of a result; a value that is no text is spelled as JSON."""
    value = event.get(name)
    if isinstance(value, str) or value is None:
        return [Text(value)] if value else []
    reading.problems.count("unexpected-value", f"The field {name} is no text; it is spelled as JSON.", place)
    return [Text(json_words(value))]


def _parts(content: JSON, place: Place, reading: _Reading) -> list[Part]:
    """The parts of a content: texts that follow each other are pieces of one."""
    parts: list[Part] = []
    for block in blocks(content):
        values = fields(block)
        kind, text = values.get("type"), values.get("text")
        if kind == "text" and isinstance(text, str):
            last = parts[-1] if parts else None
            if isinstance(last, Text):
                last.text += text
            elif text:
                parts.append(Text(text))
        elif kind == "image":
            parts += [image_from_url(url) for url in items(values.get("image_urls")) or [None]]
        else:
            sentence = f"Parts of the type {json_words(kind)} are not known; they were passed over."
            reading.problems.count("unknown-part", sentence, place, lost=True)
    return parts
