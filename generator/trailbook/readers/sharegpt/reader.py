"""A ShareGPT conversation as a chat. Calls have no ids there: results answer them in order, and say so."""

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
    Message,
    Noted,
    Part,
    Place,
    Returned,
    Said,
    Text,
    Thought,
    Tool,
)
from trailbook.readers import Found, Unreadable
from trailbook.readers.arguments import read_arguments
from trailbook.readers.lines import Problems
from trailbook.readers.pieces import again, parse, place_of
from trailbook.readers.sharegpt import blocks
from trailbook.readers.sharegpt.finding import is_conversation
from trailbook.readers.standing_in import add_returned
from trailbook.readers.values import Fields, fields, items, json_words, moment, string, truth
from trailbook.stand_ins import take_prompts

_PROMPT = ("human", "user")
_REPLY = ("gpt", "assistant", "bing", "chatgpt", "bard", "model")
_RESULT = ("tool", "observation", "tool_response", "function_response")
_CALL = ("function_call", "tool_call")


def read(found: Found, zone: tzinfo) -> Chat:
    """The conversation as a chat. Raises Unreadable, OSError."""
    problems = Problems()
    piece = again(found, arrays=True)
    value = parse(found.path, piece, problems)
    if not is_conversation(value):
        raise Unreadable(f"{found.path.name} holds no ShareGPT conversation at {piece.number}.")
    conversation = fields(value)
    about = {**fields(conversation.get("metadata")), **conversation}  # Hermes's batch runner (harnesses.md A1)
    model = string(about.get("model"))
    chat = Chat(id=found.id, source="sharegpt", agent=Agent(name="assistant", product="ShareGPT"))
    chat.models = [model] if model and model != "unknown" else []
    chat.started, chat.naive_times = moment(about.get("timestamp"), zone)
    chat.completed = truth(conversation.get("completed"))
    chat.tools = _tools(conversation.get("tools"))
    chat.system_prompt = string(conversation.get("system"))
    reading = _Reading(chat, problems)
    for number, turn in enumerate(map(fields, items(conversation.get("conversations"))), 1):
        _read_turn(turn, place_of(found.path, piece, number), reading)
    chat.diagnostics = problems.found
    return chat


@dataclass(slots=True)
class _Reading:
    chat: Chat
    problems: Problems
    waiting: deque[Called] = field(default_factory=deque)
    """The calls of the last turn that have no result yet, in order."""
    ids: set[str] = field(default_factory=set)
    """The ids that results gave to calls."""


def _read_turn(turn: Fields, place: Place, reading: _Reading) -> None:
    role, value = turn.get("from"), turn.get("value")
    text = value if isinstance(value, str) else _words(value)
    if role in _RESULT:
        _read_results(text, place, reading)
        return
    reading.waiting.clear()
    if role in _PROMPT:
        reading.chat.events.append(Asked(id=f"turn-{place.number}", text=text, place=place))
    elif role in _REPLY or role in _CALL:
        _read_reply(text, role in _CALL, place, reading)
    elif role == "system" and not reading.chat.events and reading.chat.system_prompt is None:
        _read_system(text, reading.chat)
    else:
        reading.chat.events.append(Noted(topic=str(role), text=text, place=place))


def _read_system(text: str, chat: Chat) -> None:
    """Hermes generates this turn: it is not what the session had, but it lists the tools."""
    _, listed, rest = text.partition("\n<tools>\n")
    tools, closed, _ = rest.partition("\n</tools>\n")
    if listed and closed and text.startswith("You are a function calling AI model."):
        chat.tools = chat.tools or _tools(tools)
    else:
        chat.system_prompt = text


def _tools(value: JSON) -> list[Tool]:
    declared = items(blocks.parse(value) if isinstance(value, str) else value)
    found = []
    for tool in map(fields, declared):
        function = fields(tool.get("function")) or tool
        name = string(function.get("name"))
        if name:
            found.append(Tool(name, string(function.get("description")), function.get("parameters")))
    return found


def _read_reply(text: str, called: bool, place: Place, reading: _Reading) -> None:
    key = f"turn-{place.number}"
    chat = reading.chat
    chat.messages[key] = Message(model=next(iter(chat.models), None), named=False)
    text, calls = blocks.take_calls(text) if called else (text, [])
    thought, words = blocks.take_thought(text)
    if not calls:
        words, calls = blocks.take_blocks(words, "tool_call")
    if thought.strip():
        chat.events.append(Thought(text=thought, place=place, message=key))
    if words.strip():
        chat.events.append(Said(text=words.strip(), place=place, message=key))
    for order, call in enumerate(calls, 1):
        arguments, raw = read_arguments(call.get("arguments"))
        name = string(call.get("name")) or "unknown_tool"
        logged = f"turn-{place.number}-{order}"
        event = Called(id=logged, name=name, arguments=arguments, raw=raw, place=place, message=key)
        chat.events.append(event)
        reading.waiting.append(event)


def _read_results(text: str, place: Place, reading: _Reading) -> None:
    words, responses = blocks.take_blocks(text, "tool_response")
    contents: list[JSON] = [words]
    listed = blocks.parse(words) if len(reading.waiting) > 1 and not responses else None
    if isinstance(listed, list) and len(listed) == len(reading.waiting):
        contents = listed
    for response in responses or [{"content": content} for content in contents]:
        _read_result(response, place, reading)


def _read_result(response: Fields, place: Place, reading: _Reading) -> None:
    asked = reading.waiting.popleft() if reading.waiting else None
    if asked is None:
        reading.problems.count("orphan-result", "A result answers no call; it is shown by itself.", place)
    logged = string(response.get("tool_call_id"))
    if asked is not None and logged and logged not in reading.ids:
        asked.id = logged
        reading.ids.add(logged)
    content = response.get("content")
    text, prompts = take_prompts(content if isinstance(content, str) else _words(content) or json_words(content))
    parts: list[Part] = [Text(text)] if text else []
    call = asked.id if asked else None
    returned = Returned(call=call, parts=parts, linked="order" if asked else None, place=place)
    add_returned(returned, reading.chat.events)
    for prompt, person in prompts:
        injected = None if person else "context"
        added = Asked(id=f"turn-{place.number}-{len(reading.chat.events)}", text=prompt, injected=injected, place=place)
        reading.chat.events.append(added)


def _words(content: JSON) -> str:
    parts = [fields(part) for part in items(content)]
    if not parts or any(part.get("type") != "text" for part in parts):
        return ""
    return "\n".join(text for part in parts if isinstance(text := part.get("text"), str))
