"""The one JSON document of a conversation: an array of events, or an object that has it as its `items`."""

from __future__ import annotations

from pathlib import Path

from trailbook import json_text
from trailbook.chat import JSON
from trailbook.readers import Found, Unreadable
from trailbook.readers.lines import Problems, Record
from trailbook.readers.pieces import Piece, parse, place_of
from trailbook.readers.values import Fields, fields, items, string

_BOM = b"\xef\xbb\xbf"

OWN_FIELDS = {
    "MessageEvent": ("llm_message",),
    "ActionEvent": ("tool_name", "tool_call", "action"),
    "ObservationEvent": ("observation",),
    "AgentErrorEvent": ("error",),
    "UserRejectObservation": ("rejection_reason",),
}
"""The kinds of events that are known (harnesses.md E), each with the fields of which it has at least one."""


def document(path: Path) -> Piece:
    """The whole file as a piece. Raises OSError."""
    return Piece(1, path.read_bytes().removeprefix(_BOM), False)


def again(found: Found) -> Piece:
    """The document that `found` was made from. Raises Unreadable when the file has changed since, OSError."""
    piece = document(found.path)
    if piece.digest != found.fingerprint:
        raise Unreadable(f"{found.path.name} has changed since it was listed: list it again.")
    return piece


def events_in(value: JSON) -> list[JSON]:
    """The events of a document's value; none where it is of another shape."""
    return items(value.get("items")) if isinstance(value, dict) else items(value)


def is_known(event: JSON) -> bool:
    """Whether an event is of a known kind and has what makes it one."""
    values = fields(event)
    own = OWN_FIELDS.get(string(values.get("kind")) or "", ())
    return any(name in values for name in own)


def records_of(path: Path, piece: Piece, problems: Problems) -> list[Record]:
    """Every event with its place, the numbers counted from 1; what is no event, or there twice, goes to `problems`.

    Raises Unreadable.
    """
    records: list[Record] = []
    known: set[bytes] = set()
    for number, event in enumerate(events_in(parse(path, piece, problems)), 1):
        place = place_of(path, piece, number)
        if not isinstance(event, dict):
            problems.count("unknown-record", "An item is no event; it was passed over.", place, lost=event is not None)
            continue
        if string(event.get("id")):
            spelled = json_text.canonical(event)
            if spelled in known:
                problems.count("repeated-record", "An event is there again as it was; it counts once.", place)
                continue
            known.add(spelled)
        records.append(Record(place, event))
    return records


def kind_of(event: Fields) -> str:
    """The name of an event's kind; empty where it has none."""
    return string(event.get("kind")) or ""
