"""What is known while a session is read, part by part."""

from __future__ import annotations

from dataclasses import dataclass, field

from trailbook.chat import Branch, Chat, Event, Message, Place
from trailbook.readers.lines import Problems
from trailbook.readers.pairing import Pairing
from trailbook.readers.values import Fields

REVERTED = "reverted"
"""The one branch that a session can have: what the person took back and has not yet replaced."""


@dataclass(slots=True)
class Replies:
    """Names the messages of the model's API within one logged message.

    A logged message is one of the API, unless the log tells its steps apart. Words after a call are another one, for
    a message's words stand before its calls.
    """

    chat: Chat
    name: str
    template: Message
    key: str | None = None
    first: str | None = None
    """The first key of the current step, which has the step's tokens."""
    called: bool = False
    number: int = 0

    def for_words(self) -> str:
        """The key for words or thoughts."""
        return self._next() if self.key is None or self.called else self.key

    def for_call(self) -> str:
        """The key for a call."""
        key = self.key or self._next()
        self.called = True
        return key

    def describe(self) -> Message:
        """The current step's message, to be told its tokens."""
        return self.chat.messages[self.first or self._next()]

    def end_step(self) -> None:
        """What follows is another message of the API."""
        self.key, self.first, self.called = None, None, False

    def _next(self) -> str:
        self.number += 1
        self.called = False
        self.key = self.name if self.number == 1 else f"{self.name}:{self.number}"
        self.first = self.first or self.key
        self.chat.messages[self.key] = Message(self.template.model, self.template.provider)
        return self.key


@dataclass(slots=True)
class Reading:
    """One session on its way to a chat."""

    chat: Chat
    problems: Problems
    pairing: Pairing = field(default_factory=Pairing)
    started: dict[str, str] = field(default_factory=dict)
    """For each session that a call started, the call."""
    names: set[str] = field(default_factory=set)
    compacting: str | None = None
    """Why a compaction began (`auto`, `manual`) whose summary has not come yet."""
    system: str | None = None
    """The last system prompt that a message was sent with."""
    reverted: Fields = field(default_factory=dict)
    """Which message (`messageID`), perhaps from which part on (`partID`), was taken back with all after it."""

    # --- of the current message
    info: Fields = field(default_factory=dict)
    inherited: bool = False
    branch: str | None = None
    latest: int | None = None
    """The latest time in the message so far: what has no time of its own is not before that."""
    changed: set[str] = field(default_factory=set)
    """Files that calls of the message say they changed."""

    def add(self, event: Event, place: Place, at: int | None = None) -> None:
        """Add an event to the chat. Without a time it has that of what stands before it in the message."""
        if at is not None and (self.latest is None or at > self.latest):
            self.latest = at
        event.at = at if at is not None else self.latest
        event.place, event.inherited, event.branch = place, self.inherited, self.branch
        self.chat.events.append(event)  # type: ignore[arg-type]

    def revert(self, place: Place) -> None:
        """Say that what follows was taken back."""
        self.branch = REVERTED
        self.chat.branches.setdefault(REVERTED, Branch(REVERTED, left_at=place))

    def unique(self, name: str) -> str:
        """A message's id, told apart from that of one before."""
        unique, number = name, 1
        while unique in self.names:
            number += 1
            unique = f"{name}__{number}"
        self.names.add(unique)
        return unique
