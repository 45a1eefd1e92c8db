"""An OpenAI chat as a chat. The format has no times, no tokens and no thinking of its own."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import tzinfo

from trailbook.chat import (
    JSON,
    Agent,
    Asked,
    Called,
    Chat,
    File,
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
from trailbook.readers.openai.finding import is_chat, words_of
from trailbook.readers.openai.tools import tool_of, true_name
from trailbook.readers.pairing import Pairing
from trailbook.readers.pieces import again, objects_of, parse, place_of
from trailbook.readers.standing_in import add_returned
from trailbook.readers.values import Fields, fields, items, string
from trailbook.stand_ins import take_prompts


def read(found: Found, zone: tzinfo) -> Chat:
    """The chat. Raises Unreadable, OSError."""
    problems = Problems()
    piece = again(found, arrays=True)
    value = parse(found.path, piece, problems)
    if not is_chat(value):
        raise Unreadable(f"{found.path.name} holds no OpenAI chat at {piece.number}.")
    agent = Agent(name="assistant", product="OpenAI chat")
    reading = _Reading(Chat(id=found.id, source="openai", agent=agent), problems)
    for function in _declared(fields(value)):
        tool = tool_of(function)
        if tool is not None:
            reading.names[str(function["name"])] = tool.name
            reading.chat.tools.append(tool)
    for number, message in enumerate(map(fields, items(fields(value).get("messages"))), 1):
        _read_message(message, place_of(found.path, piece, number), reading)
    reading.chat.diagnostics = problems.found
    return reading.chat


@dataclass(slots=True)
class _Reading:
    chat: Chat
    problems: Problems
    pairing: Pairing = field(default_factory=Pairing)
    names: dict[str, str] = field(default_factory=dict)
    """Declared names of tools, with the names that they have in truth."""
    unnamed: deque[str] = field(default_factory=deque)
    """Calls of the old shape, which has no ids: their results answer them in order."""


def _declared(chat: Fields) -> list[Fields]:
    tools = [fields(fields(tool).get("function")) for tool in items(chat.get("tools"))]
    return tools + [fields(function) for function in items(chat.get("functions"))]


def _read_message(message: Fields, place: Place, reading: _Reading) -> None:
    role, content = message.get("role"), message.get("content")
    events = reading.chat.events
    if role == "user":
        parts = _parts(content, words=False)
        events.append(Asked(id=f"message-{place.number}", text=words_of(content), parts=parts, place=place))
    elif role == "assistant":
        _read_reply(message, place, reading)
    elif role in ("tool", "function"):
        _read_result(message, place, reading)
    elif not events and reading.chat.system_prompt is None:
        reading.chat.system_prompt = words_of(content)
    else:
        events.append(Noted(topic="system", text=words_of(content), place=place))


def _read_reply(message: Fields, place: Place, reading: _Reading) -> None:
    key = f"message-{place.number}"
    events = reading.chat.events
    reading.chat.messages[key] = Message(named=False)
    thought = string(message.get("reasoning_content")) or string(message.get("reasoning"))
    if thought:
        events.append(Thought(text=thought, place=place, message=key))
    words = words_of(message.get("content"))
    if words:
        events.append(Said(text=words, place=place, message=key))
    old = message.get("function_call")
    if isinstance(old, dict):
        reading.unnamed.append(_read_call(old, f"{key}-0", None, place, reading))
    for order, call in enumerate(objects_of(message.get("tool_calls"), "A call", place, reading.problems), 1):
        # A tool of the custom kind takes a text.
        function = fields(call.get("function")) or fields(call.get("custom"))
        _read_call(function, f"{key}-{order}", string(call.get("id")), place, reading)


def _read_call(function: Fields, otherwise: str, logged: str | None, place: Place, reading: _Reading) -> str:
    call = reading.pairing.call(logged, otherwise)
    arguments, raw = read_arguments(function.get("arguments", function.get("input")))
    logged_name = string(function.get("name")) or "unknown_tool"
    name = reading.names.get(logged_name) or true_name(logged_name)
    key = f"message-{place.number}"
    reading.chat.events.append(Called(id=call, name=name, arguments=arguments, raw=raw, place=place, message=key))
    return call


def _read_result(message: Fields, place: Place, reading: _Reading) -> None:
    if message.get("role") == "function":
        call, linked = (reading.unnamed.popleft(), "order") if reading.unnamed else (None, None)
    else:
        call = reading.pairing.result(string(message.get("tool_call_id")))
        linked = "id" if call else None
    if call is None:
        reading.problems.count("orphan-result", "A result answers no call of the chat; it is shown by itself.", place)
    parts = _parts(message.get("content"), words=True)
    prompts: list[tuple[str, bool]] = []
    if parts and isinstance(parts[-1], Text):
        words, prompts = take_prompts(parts[-1].text)
        parts[-1:] = [Text(words)] if words else []
    add_returned(Returned(call=call, parts=parts, linked=linked, place=place), reading.chat.events)
    for order, (prompt, person) in enumerate(prompts, 1):
        injected = None if person else "context"
        asked = Asked(id=f"message-{place.number}-{order}", text=prompt, injected=injected, place=place)
        reading.chat.events.append(asked)


def _parts(content: JSON, *, words: bool) -> list[Part]:
    if isinstance(content, str):
        return [Text(content)] if words and content else []
    return [part for block in items(content) if (part := _part(block, words=words)) is not None]


def _part(block: JSON, *, words: bool) -> Part | None:
    kind, text = fields(block).get("type"), block if isinstance(block, str) else fields(block).get("text")
    if isinstance(text, str):
        return Text(text) if words else None
    if kind == "image_url":
        image = fields(block).get("image_url")
        return image_from_url(fields(image).get("url") if isinstance(image, dict) else image)
    return File(name=string(kind)) if kind is not None else None
