"""One thread's chat while its rollout is read, line by line."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import tzinfo

from trailbook.chat import Answered, Asked, Called, Chat, Compacted, FilesChanged, Noted, Returned, Said, Thought
from trailbook.readers.codex.repeats import Repeats
from trailbook.readers.codex.results import Outcome
from trailbook.readers.codex.rollouts import RolloutLine
from trailbook.readers.codex.tokens import Counter, Responses
from trailbook.readers.lines import Problems
from trailbook.readers.pairing import Pairing
from trailbook.readers.values import Fields, moment

AnyEvent = Answered | Asked | Called | Compacted | FilesChanged | Noted | Returned | Said | Thought


@dataclass(slots=True)
class Reading:
    """A thread's chat as far as its lines are read."""

    chat: Chat
    problems: Problems
    zone: tzinfo
    repeats: Repeats
    items: frozenset[str]
    """Ids of the calls that have an item of their own in the log."""
    outputs: frozenset[str]
    """Ids of the calls whose result has one."""
    responses: Responses
    line: RolloutLine
    number: int = 0
    """Which line it is, from 0."""
    at: int | None = None
    inherited: bool = False
    """True while lines only replay the parent."""
    model: str | None = None
    counter: Counter = field(default_factory=Counter)
    recorded: set[str] = field(default_factory=set)
    """Ids of the responses whose tokens were recorded."""
    pairing: Pairing = field(default_factory=Pairing)
    calls: dict[str, Called] = field(default_factory=dict)
    called: dict[str, str] = field(default_factory=dict)
    """The last call by the id that it has in the log."""
    untold: defaultdict[str, deque[Returned]] = field(default_factory=lambda: defaultdict(deque))
    """Results of which no event has said more, by their call's id in the log."""
    facts: defaultdict[str, deque[Outcome]] = field(default_factory=lambda: defaultdict(deque))
    """What events said of results that are still to come, by the same id."""
    answered: set[str] = field(default_factory=set)
    """Ids of the calls whose result was in an event."""
    spawned: dict[str, str] = field(default_factory=dict)
    """Subagent's id, path or name → the call that spawned it."""
    failure: Answered | None = None
    """What stopped this turn."""

    def begin(self, number: int, line: RolloutLine, *, inherited: bool) -> None:
        """Go on to a line."""
        if self.inherited and not inherited:
            self.responses.start_own()
        self.number, self.line, self.inherited = number, line, inherited
        self.at, naive = moment(line.timestamp, self.zone)
        self.chat.naive_times |= naive
        if self.at is not None and not inherited:
            self.chat.started = min(self.chat.started or self.at, self.at)
            self.chat.ended = max(self.chat.ended or self.at, self.at)

    def add(self, event: AnyEvent) -> None:
        """The next event, with the time and place of the line that is being read."""
        event.at, event.place, event.inherited = self.at, self.line.place, self.inherited
        self.chat.events.append(event)

    def note(self, topic: str, text: str, detail: str | None = None) -> None:
        """Add what has no other place."""
        self.add(Noted(topic=topic, text=text, detail=detail))

    def report_unknown(self, what: str, *, lost: bool) -> None:
        """Say that the line is of a kind that is not known here."""
        self.problems.count(
            "unknown-record", f"{what} are not known here: they were passed over.", self.line.place, lost=lost
        )


Handler = Callable[[Reading, Fields], None]
"""Reads one type of line, by its payload."""

Handlers = dict[tuple[str, str], Handler]
"""Envelope's type and payload's type (empty for envelopes without) → what reads it."""
