"""A trajectory-v1 file as a chat. What the strict format has no place for, ellmer's looser files may lack as well."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import tzinfo

from trailbook.chat import (
    JSON,
    Agent,
    Answered,
    Asked,
    Called,
    Chat,
    Image,
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
from trailbook.readers.standing_in import add_returned, with_pictures, words_and_others
from trailbook.readers.trajectory_v1.beside import Beside, Stretch, aside, read_beside
from trailbook.readers.trajectory_v1.finding import is_trajectory, scalar
from trailbook.readers.values import Fields, fields, items, moment, string, truth


def read(found: Found, zone: tzinfo) -> Chat:
    """The trajectory as a chat, with what the file beside it says. Raises Unreadable, OSError."""
    problems = Problems()
    piece = again(found, arrays=False)
    value = parse(found.path, piece, problems)
    if not is_trajectory(value):
        raise Unreadable(f"{found.path.name} is no trajectory-v1.")
    beside = read_beside(found.path, piece.number)
    chat = Chat(id=found.id, source="trajectory_v1", agent=Agent())
    reading = _Reading(chat, problems, beside)
    times: list[int] = []
    for number, record in enumerate(map(fields, items(value)), 1):
        first = len(chat.events)
        _read_record(record, place_of(found.path, piece, number), reading)
        at, naive = moment(scalar(record.get("timestamp")), zone)
        chat.naive_times = chat.naive_times or naive
        at = None if number in beside.untimed else at
        times += [at] if at is not None else []
        for event in chat.events[first:]:
            event.at = at
        _end(number, reading)
    chat.started, chat.ended = min(times, default=None), max(times, default=None)
    _describe(chat, beside.about)
    chat.diagnostics = problems.found
    return chat


@dataclass(slots=True)
class _Reading:
    chat: Chat
    problems: Problems
    beside: Beside
    pairing: Pairing = field(default_factory=Pairing)
    key: str | None = None
    """The message that the agent's records belong to, until something else comes between."""
    stretch: Stretch | None = None
    """What the file beside says of that message."""


def _describe(chat: Chat, about: Fields) -> None:
    agent = fields(about.get("agent"))
    chat.agent.name = string(agent.get("name")) or chat.agent.name or "agent"
    chat.agent.version = string(agent.get("version"))
    chat.agent.product = chat.agent.product or "trajectory-v1"
    chat.title = string(about.get("title"))
    rest = aside(about)
    if rest is not None:
        chat.messages["in-no-message"] = rest
    models = [message.model for message in chat.messages.values() if message.model]
    chat.models = [*dict.fromkeys(model for model in models if model not in chat.models), *chat.models]


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
        _read_text(role, text, place, reading)
        _read_calls(record, place, reading)


def _read_text(role: JSON, text: str, place: Place, reading: _Reading) -> None:
    words, parts = words_and_others(_parts(text, place, reading))
    if role == "user":
        reading.chat.events.append(Asked(id=f"record-{place.number}", text=words, parts=parts, place=place))
    elif role == "system" and not reading.chat.events and reading.chat.system_prompt is None:
        reading.chat.system_prompt = text
    else:
        # An observation is what the model read and no person wrote, as further system text is.
        reading.chat.events.append(Noted(topic="system", text=words, parts=parts, place=place))


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
    stretch = next((each for each in reading.beside.stretches if each.first <= place.number <= each.last), None)
    if stretch is not None and stretch is not reading.stretch:
        reading.key = stretch.key
        reading.chat.messages.setdefault(stretch.key, stretch.message)
    elif reading.key is None or (text and any(isinstance(event, Called) for event in events[-1:])):
        # Words after a call are another message: a message's words stand before its calls.
        reading.key = f"record-{place.number}"
        reading.chat.messages[reading.key] = Message(model=_only_model(reading), named=False)
    reading.stretch = stretch
    if text and thought:
        events.append(Thought(text=text, place=place, message=reading.key))
    elif text:
        words, parts = words_and_others(_parts(text, place, reading))
        events.append(Said(text=words, parts=parts, place=place, message=reading.key))


def _only_model(reading: _Reading) -> str | None:
    """The model of a message of which nothing is said: the chat's, unless others are said to have one of their own."""
    return None if reading.beside.stretches else next(iter(reading.chat.models), None)


def _end(number: int, reading: _Reading) -> None:
    """Add how the turn ended, behind the last record of its last message."""
    for stretch in reading.beside.stretches:
        if stretch.last == number and (stretch.outcome or stretch.problem):
            reading.chat.events.append(Answered(outcome=stretch.outcome, problem=stretch.problem))


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
    ok = truth(scalar(record.get("ok")))
    parts = _parts(text, place, reading) if text else []
    returned = Returned(call=call, parts=parts, ok=ok, linked="id" if call else None, place=place)
    add_returned(returned, reading.chat.events)


def _parts(text: str, place: Place, reading: _Reading) -> list[Part]:
    """Words, the pictures that stand in them as `data:` addresses (a line each), and those that the file beside lists.

    Only a tool's pictures stand there; for others there are marks.
    """
    pieces: list[Part] = []
    words: list[str] = []
    for line in text.split("\n"):
        if line.startswith("data:image/"):
            pieces += [Text("\n".join(words))] if words else []
            pieces.append(image_from_url(line))
            words = []
        else:
            words.append(line)
    pieces += [Text("\n".join(words))] if words else []
    return _with_listed(pieces, reading.beside.pictures.get(place.number, []))


def _with_listed(pieces: list[Part], listed: list[Image]) -> list[Part]:
    there = {piece.sha256: piece for piece in pieces if isinstance(piece, Image)}
    for picture in listed:
        if picture.sha256 in there:
            there[picture.sha256].name = picture.name
    absent = [picture for picture in listed if picture.sha256 not in there]
    said = iter(with_pictures([piece.text for piece in pieces if isinstance(piece, Text)], absent))
    return [part for piece in pieces for part in (next(said) if isinstance(piece, Text) else [piece])]
