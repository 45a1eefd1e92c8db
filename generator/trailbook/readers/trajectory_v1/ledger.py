"""What is in one trajectory-v1 file, counted straight from its records, and its tokens from the file beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from trailbook import json_text
from trailbook.chat import JSON, Place, Usage
from trailbook.ledger import (
    Entry,
    Keep,
    Ledger,
    arguments_of,
    bytes_of_data_url,
    entry_of_call,
    entry_of_image,
    entry_of_written,
)
from trailbook.readers import Found
from trailbook.readers.files import read_own
from trailbook.readers.lines import Problems
from trailbook.readers.pieces import Piece, again, parse, place_of
from trailbook.stand_ins import is_no_result

_KINDS = {"system": "system", "observation": "system", "user": "prompt", "reasoning": "thought", "assistant": "answer"}


def count(found: Found, keep: Keep) -> Ledger:
    """The file's ledger. Raises Unreadable, OSError."""
    piece = again(found, arrays=False)
    value = parse(found.path, piece, Problems())
    ledger = Ledger()
    for number, record in enumerate(value if isinstance(value, list) else [], 1):
        if isinstance(record, dict):
            for entry, pictures in _entries(record, place_of(found.path, piece, number), keep):
                ledger.entries.append(entry)
                ledger.left_out("image", pictures)
    about = _beside(found, piece)
    _add_tokens(ledger, about)
    chat = about.get("chat") if about else None
    ledger.chat = chat if isinstance(chat, str) else None
    return ledger


def _beside(found: Found, piece: Piece) -> dict[str, JSON] | None:
    """What the file beside it says of this chat: the object on the same line."""
    try:
        lines = read_own(found.path.with_suffix(".meta.json")).split(b"\n")
        value = json_text.parse(lines[piece.number - 1])
    except (OSError, ValueError, IndexError):
        return None
    return value if isinstance(value, dict) else None


def _add_tokens(ledger: Ledger, about: dict[str, JSON] | None) -> None:
    if about is None:
        # The records themselves have no place for them.
        ledger.left_out("token", 1)
        return
    counts = [message.get("usage") for message in _dicts(about.get("messages"))]
    for count_ in [*counts, about.get("usage_in_no_message")]:
        if isinstance(count_, dict):
            ledger.usage = ledger.usage or Usage()
            for part in fields(Usage):
                tokens = count_.get(part.name)
                if isinstance(tokens, int):
                    setattr(ledger.usage, part.name, (getattr(ledger.usage, part.name) or 0) + tokens)
    stated = about.get("usage")
    if isinstance(stated, dict):
        names = {part.name for part in fields(Usage)}
        ledger.stated = Usage(
            **{key: value for key, value in stated.items() if key in names and isinstance(value, int)}
        )


def _entries(record: dict[str, JSON], place: Place, keep: Keep) -> Iterator[tuple[Entry, int]]:
    """The entries of a record, each with the number of marks in it that stand for pictures."""
    role = _scalar(record.get("role"))
    content = _scalar(record.get("content"))
    text = content if isinstance(content, str) else ""
    if role == "tool":
        yield from _result(record, text, place, keep)
    elif isinstance(role, str) and role in _KINDS:
        if text.strip() or role == "user":
            yield entry_of_written(_KINDS[role], place, text, keep)
        for call in _dicts(record.get("tool_calls")):
            logged, name = _scalar(call.get("id")), _scalar(call.get("name"))
            arguments = arguments_of(_scalar(call.get("args")))
            yield entry_of_call(place, logged if isinstance(logged, str) else None, str(name), arguments, keep), 0


def _result(record: dict[str, JSON], text: str, place: Place, keep: Keep) -> Iterator[tuple[Entry, int]]:
    if is_no_result(text):
        return
    logged = _scalar(record.get("tool_call_id"))
    call = logged if isinstance(logged, str) else None
    lines = text.split("\n")
    pictures = [data for data in map(bytes_of_data_url, lines) if data is not None]
    if pictures:
        text = "\n".join(line for line in lines if bytes_of_data_url(line) is None)
    entry, marks = entry_of_written("result", place, text, keep)
    ok = _scalar(record.get("ok"))
    entry.id, entry.images, entry.ok = call, len(pictures), ok if isinstance(ok, bool) else None
    yield entry, marks
    for data in pictures:
        yield entry_of_image(place, call, data), 0


def _scalar(value: JSON) -> JSON:
    """A value, or the one value of a list: R writes single values so where it is not told otherwise."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _dicts(value: JSON) -> list[dict[str, JSON]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
