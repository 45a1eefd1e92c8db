"""A session's messages as they came to be: records that replace, rewind or renew what stands before them.

- A message that is there again under its id replaces the earlier one, at its place.
- `$rewindTo` takes back the message of that id and all behind it; of an id that is not there, all there are. The person
  went another way there, so they are a branch.
- `$set.messages` is the whole history at that point. What it leaves out has happened all the same and stays; the
  model's context was shortened there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from trailbook.chat import JSON, Place
from trailbook.readers.gemini_cli.log import is_header, is_message
from trailbook.readers.lines import Problems, Record
from trailbook.readers.values import Fields, fields, items, string


@dataclass(slots=True)
class Entry:
    """A message as it was last written; or the place where the context was shortened."""

    place: Place
    message: Fields
    branch: str | None = None
    shortened: bool = False
    """True for the place where the context was shortened; it has no message."""
    renewed: bool = False
    """True for a message that came with a shortened history, such as its summary."""


@dataclass(slots=True)
class History:
    """What the records of a session come to."""

    header: Fields = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    branches: dict[str, Place] = field(default_factory=dict)
    """Each branch with the place of the record that left it."""
    active: list[Entry] = field(default_factory=list)
    by_id: dict[str, Entry] = field(default_factory=dict)
    """The active messages that have an id."""


def history_of(records: Iterable[Record], problems: Problems) -> History:
    """The history that a session's records tell, in their order; what is no record goes to `problems`."""
    history = History()
    for record in records:
        value = fields(record.value)
        if "$rewindTo" in value:
            _rewind(value["$rewindTo"], record.place, history)
        elif isinstance(value.get("$set"), dict):
            _set(fields(value["$set"]), record.place, history, problems)
        elif is_header(value):
            _take_header(value, record.place, history, problems)
        elif is_message(value):
            _put(value, record.place, history)
        else:
            text = "Records that are no messages of a session were passed over."
            problems.count("unknown-record", text, record.place, lost=True)
    return history


def _put(message: Fields, place: Place, history: History, *, renewed: bool = False) -> None:
    identity = string(message.get("id"))
    known = history.by_id.get(identity) if identity else None
    if known is not None:
        known.message, known.place = message, place
        return
    entry = Entry(place, message, renewed=renewed)
    history.entries.append(entry)
    history.active.append(entry)
    if identity:
        history.by_id[identity] = entry


def _take_header(header: Fields, place: Place, history: History, problems: Problems) -> None:
    known = history.header.get("sessionId")
    if known is not None and known != header["sessionId"]:
        problems.count("second-header", "The log has a header of another session; the first one counts.", place)
        return
    history.header |= {key: value for key, value in header.items() if key != "messages"}
    for message in items(header.get("messages")):
        _put(fields(message), place, history)


def _rewind(to: JSON, place: Place, history: History) -> None:
    target = history.by_id.get(to) if isinstance(to, str) else None
    branch = f"rewind-{len(history.branches) + 1}"
    left = False
    while history.active:
        entry = history.active.pop()
        entry.branch = branch
        history.by_id.pop(string(entry.message.get("id")) or "", None)
        left = True
        if entry is target:
            break
    if left:
        history.branches[branch] = place


def _set(update: Fields, place: Place, history: History, problems: Problems) -> None:
    history.header |= {key: value for key, value in update.items() if key not in ("messages", "sessionId")}
    if not isinstance(update.get("messages"), list):
        return
    snapshot = [fields(message) for message in items(update["messages"])]
    kept = {identity for message in snapshot if (identity := string(message.get("id")))}
    left_out = [entry for entry in history.active if string(entry.message.get("id")) not in kept]
    if left_out:
        for entry in left_out:
            history.by_id.pop(string(entry.message.get("id")) or "", None)
        history.active = [entry for entry in history.active if string(entry.message.get("id")) in kept]
        history.entries.append(Entry(place, {}, shortened=True))
    for message in snapshot:
        known = history.by_id.get(string(message.get("id")) or "")
        if known is not None and known.message != message:
            text = "Messages that were written again with the whole history are shown as they are there."
            problems.count("replaced-message", text, place, lost=True)
        _put(message, place, history, renewed=bool(left_out))
