"""What a log's lines are read into: their fields, taken as they come, and the chat as far as it is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from trailbook.chat import (
    JSON,
    Answered,
    Asked,
    Browsed,
    Called,
    Compacted,
    FilesChanged,
    HandedOff,
    Made,
    Message,
    Noted,
    Permission,
    Place,
    Remembered,
    Returned,
    Said,
    Thought,
)
from trailbook.readers.conch.home import moment
from trailbook.readers.lines import Problems, read_records
from trailbook.readers.values import number

AnyEvent = (
    Asked
    | Thought
    | Said
    | Called
    | Returned
    | Permission
    | FilesChanged
    | Browsed
    | HandedOff
    | Made
    | Remembered
    | Noted
    | Compacted
    | Answered
)

Logged = tuple[str | None, ...]
"""What a result said, as it was logged."""

TRANSIENT = frozenset(("status", "turn.usage"))
"""Events that newer versions never keep: what stands around them is read as if they were not there."""

_LARGEST = 1e15
"""Counts and durations from here on are damage."""


@dataclass(slots=True, frozen=True)
class Fields:
    """The fields of an event or of an object in it. One of another type counts as absent, and is reported."""

    values: dict[str, JSON]
    name: str
    """What a report calls it, such as `tool.started` or `task.by`."""
    place: Place
    problems: Problems

    def text(self, key: str) -> str | None:
        """A string, maybe empty."""
        value = self.values.get(key)
        if value is None or isinstance(value, str):
            return value
        self._report(key, "a text")
        return None

    def words(self, key: str) -> str | None:
        """A string with something to read in it."""
        text = self.text(key)
        return text if text and text.strip() else None

    def identity(self, key: str) -> str:
        """The id of the thing; without one it is named by its line."""
        text = self.words(key)
        if text is None:
            self.problems.count("no-id", f"`{self.name}` without `{key}`: it is named by its line.", self.place)
        return text or f"line-{self.place.number}"

    def one_of(self, key: str, known: frozenset[str]) -> str | None:
        """A word from a short list."""
        text = self.text(key)
        if text is None or text in known:
            return text
        self._report(key, "one of its known words")
        return None

    def number(self, key: str) -> float | None:
        """A number that is not negative."""
        value = self.values.get(key)
        found = number(value)
        if value is None or (found is not None and 0 <= found < _LARGEST):
            return found
        self._report(key, "a number")
        return None

    def whole(self, key: str) -> int | None:
        """A whole number that counts something."""
        found = self.number(key)
        if found is None or found.is_integer():
            return None if found is None else int(found)
        self._report(key, "a whole number")
        return None

    def milliseconds(self, key: str) -> int | None:
        """A duration, in whole milliseconds."""
        found = self.number(key)
        return None if found is None else round(found)

    def flag(self, key: str) -> bool | None:
        """True or false."""
        value = self.values.get(key)
        if value is None or isinstance(value, bool):
            return value
        self._report(key, "true or false")
        return None

    def time(self, key: str) -> int | None:
        """Epoch milliseconds."""
        value = self.values.get(key)
        found = moment(value)
        if value is not None and found is None:
            self._report(key, "a time")
        return found

    def inner(self, key: str) -> Fields:
        """An object in it; an empty one where there is none."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, dict):
            self._report(key, "an object")
        return Fields(value if isinstance(value, dict) else {}, f"{self.name}.{key}", self.place, self.problems)

    def each(self, key: str) -> list[Fields]:
        """The objects of a list in it."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, list):
            self._report(key, "a list")
        found = value if isinstance(value, list) else []
        if any(not isinstance(item, dict) for item in found):
            self._report(key, "a list of objects")
        name = f"{self.name}.{key}"
        return [Fields(item, name, self.place, self.problems) for item in found if isinstance(item, dict)]

    def _report(self, key: str, expected: str) -> None:
        text = f"`{key}` of `{self.name}` is not {expected}: it was passed over."
        self.problems.count("odd-value", text, self.place, lost=True)


def lines_of(path: Path, problems: Problems) -> Iterator[Fields]:
    """Every event of a log, in file order, each once; what is none goes to `problems`. Raises OSError."""
    seen: dict[tuple[int, JSON, str], dict[str, JSON]] = {}
    for record in read_records(path, problems):
        value = record.value
        kind = value.get("type") if isinstance(value, dict) else None
        if not isinstance(value, dict) or not isinstance(kind, str):
            text = "A line is no event of a chat: it was passed over."
            problems.count("unknown-record", text, record.place, lost=True)
            continue
        number_in_chat, at = value.get("seq"), value.get("at")
        if isinstance(number_in_chat, int) and isinstance(at, int):
            # Numbers may be used again after a restart, so that only an equal event is the same one.
            earlier = seen.setdefault((number_in_chat, at, kind), value)
            if earlier is not value and earlier == value:
                problems.count("repeated-record", "An event stands in the log again: it was read once.", record.place)
                continue
        yield Fields(value, kind, record.place, problems)


@dataclass(slots=True)
class Reading:
    """A chat while its log is read, line by line."""

    problems: Problems
    line: Fields | None = None
    at: int | None = None
    before: int | None = None
    """When the event before this line happened: words are logged when they are complete, so that they began then."""
    events: list[AnyEvent] = field(default_factory=list)
    messages: dict[str, Message] = field(default_factory=dict)
    piece: Said | Thought | None = None
    """The words that the next line may go on with."""
    words: list[str] = field(default_factory=list)
    """The parts of `piece`."""
    asked: set[tuple[str, str]] = field(default_factory=set)
    """The prompts, by their id and words: a message that is sent again after a restart is the same one."""
    calls: dict[str, Called] = field(default_factory=dict)
    results: dict[str, set[Logged]] = field(default_factory=dict)
    """What came back for each call, as it was logged: the same thing said again adds nothing."""
    stopped: list[Returned] = field(default_factory=list)
    """Results of this turn that say nothing but that the call was stopped."""
    scripts: dict[str, Noted] = field(default_factory=dict)
    waits: dict[str, Permission] = field(default_factory=dict)
    tasks: dict[str, HandedOff] = field(default_factory=dict)
    browsed: dict[str, Browsed] = field(default_factory=dict)
    title: str | None = None
    """By the last event that gave one."""
    agent: str | None = None
    """The id of the agent that answers from here."""
    agents: dict[str, str] = field(default_factory=dict)
    """Names of agents, as the log has them."""
    speaker: str | None = None
    """The name of the agent that answers from here, once the log said one."""
    engine: str | None = None
    """By the last options."""
    completed: bool | None = None

    def add(self, event: AnyEvent) -> None:
        """The next event, with the time and place of the line that is being read."""
        event.at = self.at
        event.place = self.line.place if self.line else None
        if self.speaker is not None and isinstance(event, Said | Thought | Called):
            event.by = self.speaker
        self.events.append(event)

    def end_piece(self) -> None:
        """Nothing more belongs to the words that were read last."""
        if self.piece is not None:
            self.piece.text = "".join(self.words)
            self.piece = None
            self.words = []

    def begin(self, line: Fields) -> None:
        """Go on to a line."""
        self.line, self.at = line, line.time("at")
        if self.at is None:
            self.problems.count("no-time", "An event has no time.", line.place)
        if self.before is None:
            self.before = self.at

    def end(self, line: Fields) -> None:
        """The line is read."""
        if self.at is not None and line.name not in TRANSIENT:
            self.before = self.at


Handler = Callable[[Reading, Fields], None]
"""Reads one type of event."""
