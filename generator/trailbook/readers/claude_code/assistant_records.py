"""Records of the assistant role: one line (or more) of each message of the model's API."""

from __future__ import annotations

from trailbook.chat import JSON, Answered, Called, Noted, Said, Thought
from trailbook.readers.claude_code.pictures import image_of
from trailbook.readers.claude_code.transcript import Transcript
from trailbook.readers.claude_code.user_records import odd_block, returned
from trailbook.readers.values import Fields, blocks, json_words, string

SYNTHETIC = "<synthetic>"
"""The model's name in messages that the program wrote itself."""


def assistant(transcript: Transcript, record: Fields) -> None:
    """An `assistant` record."""
    message = record.get("message")
    if not isinstance(message, dict):
        transcript.problems.count("no-message", "A record has no message.", transcript.place, lost=True)
        return
    if record.get("isApiErrorMessage") is True or message.get("model") == SYNTHETIC:
        _by_the_program(transcript, record, message)
        return
    transcript.open_command = transcript.printing = None
    key = transcript.own_key(record)
    transcript.messages.add(key, record, message)
    transcript.last_message = key
    first = len(transcript.events)
    content = message.get("content")
    if content is not None and not isinstance(content, str | list | dict):
        odd_block(transcript, "none")
    for number, block in enumerate(blocks(content), 1):
        _block(transcript, block, key, number)
    transcript.spoke(key, first)


def _by_the_program(transcript: Transcript, record: Fields, message: Fields) -> None:
    """What the program says in the assistant's place: a failure of the API, or that it has nothing to say."""
    words = [block if isinstance(block, str) else _text(block) for block in blocks(message.get("content"))]
    text = "\n".join(word for word in words if word)
    if record.get("isApiErrorMessage") is True:
        problem = text or string(record.get("error")) or "API error"
        transcript.open_command = transcript.printing = None
        transcript.emit(Answered(outcome="error", problem=problem))
    elif text:
        transcript.emit(Noted(topic="notice", text=text))


def _text(block: JSON) -> str | None:
    return string(block.get("text")) if isinstance(block, dict) else None


def _block(transcript: Transcript, block: JSON, key: str, number: int) -> None:
    if not isinstance(block, dict):
        if isinstance(block, str) and block:
            transcript.emit(Said(text=block, message=key))
        elif not isinstance(block, str):
            odd_block(transcript, "none")
        return
    kind = block.get("type")
    text = block.get("text")
    if kind == "text" and isinstance(text, str):
        if text:
            transcript.emit(Said(text=text, message=key))
    elif kind in ("thinking", "redacted_thinking"):
        _thought(transcript, block, key)
    elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
        _called(transcript, block, key, number)
    elif isinstance(kind, str) and kind.endswith("_tool_result"):
        returned(transcript, block, {}, message=key)
    else:
        _other(transcript, block, key)


def _thought(transcript: Transcript, block: Fields, key: str) -> None:
    text, signature, data = (string(block.get(name)) for name in ("thinking", "signature", "data"))
    if text or signature or data:
        transcript.emit(Thought(text=text or "", signature=signature, encrypted=data, message=key))


def _called(transcript: Transcript, block: Fields, key: str, number: int) -> None:
    call = string(block.get("id")) or f"{transcript.place.file}:{transcript.place.number}:{number}"
    arguments, raw = arguments_of(block.get("input"))
    before = transcript.calls.get(call)
    if before is not None:
        if before.message == key and before.arguments == arguments and before.raw == raw:
            transcript.problems.count("repeated-call", "Calls that were logged twice were read once.", transcript.place)
            return
        transcript.problems.count("reused-call-id", "Two different calls have one id.", transcript.place)
    event = Called(id=call, name=string(block.get("name")) or "unknown", arguments=arguments, raw=raw, message=key)
    transcript.calls.setdefault(call, transcript.emit(event))


def arguments_of(value: JSON) -> tuple[dict[str, JSON], str | None]:
    """A call's arguments, and their text as the log has it where they are no object."""
    if isinstance(value, dict):
        return value, None
    if value is None:
        return {}, None
    return {}, value if isinstance(value, str) else json_words(value)


def _other(transcript: Transcript, block: Fields, key: str) -> None:
    kind = string(block.get("type")) or "none"
    if kind == "image":
        transcript.emit(Said(text="", parts=[image_of(block)], message=key))
        return
    topic = "model" if kind == "fallback" else "notice"
    if topic == "notice":
        odd_block(transcript, kind)
    transcript.emit(Noted(topic=topic, text=kind, detail=json_words(block), message=key))
