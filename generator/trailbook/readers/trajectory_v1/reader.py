"""A trajectory-v1 file as a chat. What the strict format has no place for, ellmer's looser files may lack as well."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import tzinfo

from trailbook.chat import (
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
)
from trailbook.readers import Found, Unreadable
from trailbook.readers.arguments import read_arguments
from trailbook.readers.images import image_from_url
from trailbook.readers.lines import Problems
from trailbook.readers.pairing import Pairing
from trailbook.readers.pieces import again, objects_of, parse, place_of
from trailbook.readers.trajectory_v1.finding import is_trajectory, scalar
from trailbook.readers.values import Fields, fields, items, moment, string, truth


def read(found: Found, zone: tzinfo) -> Chat:
    """The trajectory as a chat. Raises Unreadable, OSError."""
    problems = Problems()
    piece = again(found, arrays=False)
    value = parse(found.path, piece, problems)
    if not is_trajectory(value):
        raise Unreadable(f"{found.path.name} is no trajectory-v1.")
    reading = _Reading(Chat(id=found.id, source="trajectory_v1", agent=Agent()), problems)
    for number, record in enumerate(map(fields, items(value)), 1):
        first = len(reading.chat.events)
        _read_record(record, place_of(found.path, piece, number), reading)
        at, naive = moment(scalar(record.get("timestamp")), zone)
        reading.chat.naive_times = reading.chat.naive_times or naive
        for event in reading.chat.events[first:]:
            event.at = at
    chat = reading.chat
    chat.agent.name = chat.agent.name or "agent"
    chat.agent.product = chat.agent.product or "trajectory-v1"
    times = [event.at for event in chat.events if event.at is not None]
    chat.started, chat.ended = min(times, default=None), max(times, default=None)
    chat.diagnostics = problems.found
    return chat


@dataclass(slots=True)
class _Reading:
    chat: Chat
    problems: Problems
    pairing: Pairing = field(default_factory=Pairing)
    key: str | None = None
    """The message that the agent's records belong to, until something else comes between."""


def _read_record(record: Fields, place: Place, reading: _Reading) -> None:
    role = scalar(record.get("role"))
    content = scalar(record.get("content"))
    text = content if isinstance(content, str) else ""
    if role in ("reasoning", "assistant"):
        _read_reply(role == "reasoning", text, place, reading)
        _read_calls(record, place, reading)
        return
    reading.key = None
    if role == "meta":
        _read_meta(record, reading.chat)
    elif role == "tool":
        _read_result(record, text, place, reading)
    else:
        _read_text(string(role) or "system", text, place, reading)
        _read_calls(record, place, reading)


def _read_text(role: str, text: str, place: Place, reading: _Reading) -> None:
    if role == "user":
        reading.chat.events.append(Asked(id=f"record-{place.number}", text=text, place=place))
    elif role == "system" and not reading.chat.events and reading.chat.system_prompt is None:
        reading.chat.system_prompt = text
    else:
        reading.chat.events.append(Noted(topic=role, text=text, place=place))


def _read_meta(record: Fields, chat: Chat) -> None:
    source = string(scalar(record.get("source")))
    model = string(scalar(record.get("model")))
    if source:
        chat.agent = Agent(name=source, product=source)
    chat.cwd = string(scalar(record.get("cwd")))
    chat.git_branch = string(scalar(record.get("git_branch")))
    chat.models = [model] if model else []


def _read_reply(thought: bool, text: str, place: Place, reading: _Reading) -> None:
    events = reading.chat.events
    if reading.key is None or (text and any(isinstance(event, Called) for event in events[-1:])):
        # Words after a call are another message: a message's words stand before its calls.
        reading.key = f"record-{place.number}"
        reading.chat.messages[reading.key] = Message(model=next(iter(reading.chat.models), None))
    if text and thought:
        events.append(Thought(text=text, place=place, message=reading.key))
    elif text:
        events.append(Said(text=text, place=place, message=reading.key))


def _read_calls(record: Fields, place: Place, reading: _Reading) -> None:
    for order, call in enumerate(objects_of(record.get("tool_calls"), "A call", place, reading.problems), 1):
        logged = reading.pairing.call(string(scalar(call.get("id"))), f"record-{place.number}-{order}")
        arguments, raw = read_arguments(scalar(call.get("args")))
        name = string(scalar(call.get("name"))) or "unknown_tool"
        called = Called(id=logged, name=name, arguments=arguments, raw=raw, place=place, message=reading.key)
        reading.chat.events.append(called)


def _read_result(record: Fields, text: str, place: Place, reading: _Reading) -> None:
    call = reading.pairing.result(string(scalar(record.get("tool_call_id"))))
    if call is None:
        reading.problems.count("orphan-result", "A result answers no call; it is shown by itself.", place)
    reading.chat.events.append(
        Returned(
            call=call,
            parts=_parts(text),
            ok=truth(scalar(record.get("ok"))),
            linked="id" if call else None,
            place=place,
        )
    )


def _parts(text: str) -> list[Part]:
    """The words of a result and the pictures that stand in it as `data:` addresses, a line each."""
    parts: list[Part] = []
    words: list[str] = []
    for line in text.split("\n") if "data:image/" in text else ():
        if line.startswith("data:image/"):
            parts += [Text("\n".join(words))] if words else []
            parts.append(image_from_url(line))
            words = []
        else:
            words.append(line)
    if parts:
        return parts + ([Text("\n".join(words))] if words else [])
    return [Text(text)] if text else []
