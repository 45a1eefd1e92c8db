"""The two shapes of a session's file: one JSON document with all its messages, or JSON lines (harnesses.md E).

A line is the header (what the document has beside its messages), a message, `{"$set": {…}}` or `{"$rewindTo": id}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from trailbook.chat import JSON, Place
from trailbook.readers import HEAD_BYTES, Unreadable
from trailbook.readers.lines import Problems, Record, first_object, read_records, records_of_head
from trailbook.readers.pieces import Piece, parse
from trailbook.readers.values import Fields, fields, items, string

TYPES = ("user", "gemini", "info", "error", "warning")
"""The types of messages that are known."""

_BOM = b"\xef\xbb\xbf"
_MESSAGES = re.compile(r'"messages"\s*:\s*\[\s*')
_COMMA = re.compile(r"\s*,\s*")


def is_header(value: JSON) -> bool:
    """Whether a record is a session's header, or a whole document."""
    record = fields(value)
    return string(record.get("sessionId")) is not None and string(record.get("projectHash")) is not None


def is_message(value: JSON) -> bool:
    """Whether a record is a message of any type."""
    return string(fields(value).get("type")) is not None and "$set" not in fields(value) and not is_header(value)


def records_in(path: Path, problems: Problems) -> Iterator[Record]:
    """Every record of a file; a document's header comes first, then each of its messages.

    Raises Unreadable for a document that is cut or damaged, OSError.
    """
    with path.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
    if not is_document(path, head):
        yield from read_records(path, problems)
        return
    document = document_in(path, problems)
    if not is_header(document) or not isinstance(document.get("messages"), list):
        raise Unreadable(f"{path.name} is no session of Gemini CLI any more: list it again.")
    header = {key: value for key, value in document.items() if key != "messages"}
    yield Record(Place(path.name, 1, "message"), header)
    for number, message in enumerate(items(document["messages"]), 1):
        yield Record(Place(path.name, number, "message"), message)


def document_in(path: Path, problems: Problems) -> Fields:
    """The object of a document. Raises Unreadable, which says at which byte a cut one ends, OSError."""
    return fields(parse(path, Piece(1, path.read_bytes().removeprefix(_BOM), False), problems))


def is_document(path: Path, head: bytes) -> bool:
    """Whether a file is one document: its first line is no record, and its name does not say that it has lines."""
    first, _, rest = head.removeprefix(_BOM).strip().partition(b"\n")
    record = first_object(first)
    if isinstance(record.get("messages"), list) and not rest:
        return True
    return not ({"sessionId", "id", "$set", "$rewindTo"} & record.keys()) and path.suffix != ".jsonl"


def records_in_head(path: Path, head: bytes) -> tuple[Fields, list[Fields]]:
    """The header and the first whole messages in a file's first bytes; empty for a file of another kind."""
    if is_document(path, head):
        return _start_of_document(head)
    header: Fields = {}
    messages: list[Fields] = []
    for record in records_of_head(head):
        header = record if is_header(record) and not header else header
        update = fields(record.get("$set"))
        messages += [fields(message) for message in items(record.get("messages")) + items(update.get("messages"))]
        messages += [record] if is_message(record) else []
    return {key: value for key, value in header.items() if key != "messages"}, messages


def _start_of_document(head: bytes) -> tuple[Fields, list[Fields]]:
    text = head.removeprefix(_BOM).decode("utf-8", "replace")
    found = _MESSAGES.search(text)
    if found is None:
        return {}, []
    try:
        header = fields(json.loads(text[: found.end()] + "]}"))
    except (ValueError, RecursionError):
        return {}, []
    messages: list[Fields] = []
    position = found.end()
    decoder = json.JSONDecoder(strict=False)
    while True:
        try:
            message, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            break
        messages.append(fields(message))
        comma = _COMMA.match(text, position)
        if comma is None:
            break
        position = comma.end()
    return (header if is_header(header) else {}), messages
