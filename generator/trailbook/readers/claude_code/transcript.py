"""The records of one file (or of one subagent in it), gathered in file order into the events of a chat."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import TypeVar

from trailbook.chat import JSON, Asked, Branch, Called, Event, Noted, Place, Returned
from trailbook.readers.claude_code.results import Outputs
from trailbook.readers.claude_code.tree import Node, branches_of
from trailbook.readers.claude_code.usage import Messages
from trailbook.readers.lines import Problems, Record
from trailbook.readers.values import Fields, fields, moment, string

Handler = Callable[["Transcript", Fields], None]
AnyEvent = TypeVar("AnyEvent", bound=Event)

_PAYLOADS = ("message", "attachment", "content", "data", "subtype")


@dataclass(slots=True)
class Copied:
    """What of a transcript is a copy from elsewhere, and so is not counted again."""

    earlier: Mapping[bytes, str] = field(default_factory=dict)
    """The records of earlier files that this one goes on from: identity → id of the chat."""
    identity: Callable[[Fields], bytes] | None = None
    seen: Mapping[str, JSON] = field(default_factory=dict)
    """The records of the chat that a subagent was given the context of: id → content."""
    messages: Messages | None = None
    """The API messages of that chat."""

    def source(self, record: Fields, uuid: str | None) -> str | None:
        """The id of the chat that a record was copied from ("" where it has none of its own), None for no copy."""
        if fork := record.get("forkedFrom"):
            return string(fields(fork).get("sessionId")) or ""
        if self.identity is not None and uuid is not None:
            return self.earlier.get(self.identity(record))
        if uuid is not None and uuid in self.seen and self.seen[uuid] == payload(record):
            return ""
        key = message_key(record) if self.messages is not None else None
        return "" if self.messages is not None and key is not None and key in self.messages else None


def payload(record: Fields) -> JSON:
    """What a record says, without its envelope: two records with one id and one payload are one record."""
    return [record.get(key) for key in _PAYLOADS if key in record]


def message_key(record: Fields) -> str | None:
    """The API message that an assistant record is a part of (design: message id, else request, else none)."""
    if record.get("type") != "assistant":
        return None
    return string(fields(record.get("message")).get("id")) or string(record.get("requestId"))


class Transcript:
    """Events, API messages and branches of one chat, while they are gathered.

    Handlers (one per record type) call `emit`; `finish` settles what only the whole file can tell.
    """

    def __init__(
        self, zone: tzinfo, outputs: Outputs, copied: Copied | None = None, *, sidechain: bool = False
    ) -> None:
        self.zone = zone
        self.outputs = outputs
        self.copied = copied or Copied()
        self.sidechain = sidechain
        """True when the whole file is a subagent's, so that sidechain records are its own."""
        self.problems = Problems()
        self.events: list[Event] = []
        self.messages = Messages()
        self.branches: dict[str, Branch] = {}
        self.calls: dict[str, Called] = {}
        self.agents: dict[str, str] = {}
        """The subagents that calls of this chat started: agent id → call id."""
        self.sidechains: list[Record] = []
        """Records of subagents that stand in this file (as the oldest versions wrote them)."""
        self.titles: dict[str, str] = {}
        self.summaries: list[tuple[str | None, str]] = []
        """Summaries in this file, each with the id of a record in the chat that it is a summary of."""
        self.facts: dict[str, str] = {}
        self.copied_from: str | None = None
        """The id of the chat that the last copied record came from."""
        self.forked = False
        self.naive = False
        self.first: int | None = None
        """The time of the first record that is the chat's own, and of the last one."""
        self.last: int | None = None
        self.seen: dict[str, JSON] = {}

        self.place = Place("", 0)
        self.open_command: int | None = None
        """Index of a command that may yet turn out never to have reached the model."""
        self.printing: int | None = None
        """Index of the command whose output may follow."""
        self.queue: dict[str, list[int]] = {}
        """Texts that were queued and not yet sent → indexes of their notes."""
        self.last_message: str | None = None
        self._at: int | None = None
        self._uuid: str | None = None
        self._inherited = False
        self._asked_ids: dict[str, int] = {}
        self._nodes: dict[str, Node] = {}
        self._owners: list[str | None] = []
        self._dropped: set[int] = set()
        self._speaking: dict[str, int | None] = {}

    # --- one record

    def add(self, record: Record, handlers: Mapping[str, Handler]) -> None:
        """Take in one record."""
        value = record.value
        self.place = record.place
        if not isinstance(value, dict):
            self.problems.count(
                "no-record", "A line holds no record (no JSON object); it was passed over.", record.place, lost=True
            )
            return
        kind = value.get("type")
        if value.get("isSidechain") is True and not self.sidechain:
            self.sidechains.append(record)
            return
        if not self._begin(value):
            return
        handler = handlers.get(kind) if isinstance(kind, str) else None
        if handler is not None:
            handler(self, value)
            return
        name = kind if isinstance(kind, str) else "none"
        self.problems.count(
            "unknown-record", f"Records of the unknown type “{name}” were passed over.", record.place, lost=True
        )

    def _begin(self, value: Fields) -> bool:
        """Note the record's envelope; False when it was there before."""
        uuid = string(value.get("uuid"))
        if uuid is not None and not self._is_new(uuid, value):
            return False
        self._uuid = uuid
        self._at, naive = moment(value.get("timestamp"), self.zone)
        self.naive = self.naive or naive
        source = self.copied.source(value, uuid)
        self._inherited = source is not None
        if source is not None:
            self.copied_from = source or self.copied_from
            self.forked = self.forked or "forkedFrom" in value
        elif self._at is not None:
            self.first = self._at if self.first is None else min(self.first, self._at)
            self.last = self._at if self.last is None else max(self.last, self._at)
        if self._at is None and value.get("timestamp") is not None:
            self.problems.count("bad-time", "A record's time could not be read; it has none.", self.place, lost=True)
        self._note_facts(value)
        return True

    def _is_new(self, uuid: str, value: Fields) -> bool:
        """Whether a record with this id is to be read, and its place in the tree noted."""
        content = payload(value)
        if uuid in self.seen:
            if self.seen[uuid] == content:
                self.problems.count(
                    "repeated-record", "Records that stand in the log more than once were read once.", self.place
                )
                return False
            self.problems.count("reused-id", "Two different records have one id; both were read.", self.place)
            return True
        self.seen[uuid] = content
        parent = string(value.get("parentUuid")) or string(value.get("logicalParentUuid"))
        self._nodes[uuid] = Node(parent, self.place)
        return True

    def _note_facts(self, value: Fields) -> None:
        facts = self.facts
        for key in ("cwd", "gitBranch"):
            if key not in facts and (first := string(value.get(key))):
                facts[key] = first
        for key in ("version", "sessionId"):
            if last := string(value.get(key)):
                facts[key] = last

    # --- what handlers do

    def emit(self, event: AnyEvent) -> AnyEvent:
        """Append an event, with the time, the place and the standing of the record at hand."""
        event.at, event.place, event.inherited = self._at, self.place, self._inherited
        self.events.append(event)
        self._owners.append(self._uuid)
        return event

    def drop(self, index: int) -> None:
        """Take back an event that turned out to be said elsewhere."""
        self._dropped.add(index)

    def asked_id(self) -> str:
        """A fresh id for what the record at hand asks: the record's own, numbered where it asks more than once."""
        base = self._uuid or f"{self.place.file}:{self.place.number}"
        new = base
        while new in self._asked_ids:
            self._asked_ids[base] += 1
            new = f"{base}#{self._asked_ids[base]}"
        self._asked_ids[new] = 1
        return new

    def is_prompt(self) -> None:
        """Say that the record at hand is what a person asked: it may start or end a branch."""
        node = self._nodes.get(self._uuid or "")
        if node is not None and node.place == self.place:
            node.prompt = True

    def knows(self, uuid: str) -> bool:
        """Whether a record with this id was read."""
        return uuid in self.seen

    def own_key(self, value: Fields) -> str:
        """The key in `Chat.messages` of the assistant record at hand."""
        return message_key(value) or self._uuid or f"{self.place.file}:{self.place.number}"

    def spoke(self, key: str, first: int) -> None:
        """Say that the message's line at hand is done, whose events start at index `first`.

        A message without any event would have no place in a turn and its tokens would be lost, so a note stands for it
        until one of its lines says something.
        """
        note = self._speaking.get(key, -1)
        if len(self.events) > first:
            if note is not None and note >= 0:
                self.drop(note)
            self._speaking[key] = None
        elif note == -1:
            self._speaking[key] = len(self.events)
            self.emit(Noted(topic="notice", text="An answer without content.", message=key))

    def settle_command(self) -> None:
        """The command asked last never reached the model: it is a note, and opens no turn."""
        if self.open_command is not None:
            self.note_command(self.open_command, None)
        self.open_command = None

    def note_command(self, index: int, output: str | None) -> None:
        """Turn the command at an index into a note, or add to that note what the command printed."""
        event = self.events[index]
        if isinstance(event, Asked):
            note = Noted(topic="command", text=event.text, at=event.at, place=event.place, inherited=event.inherited)
            self.events[index] = note
            owner = self._owners[index]
            node = self._nodes.get(owner or "")
            if node is not None and node.place == note.place:
                node.prompt = False
            event = note
        if isinstance(event, Noted) and output:
            event.detail = f"{event.detail}\n{output}" if event.detail else output

    # --- the whole

    def finish(self) -> None:
        """Settle branches, orphan results and what waited for something that never came."""
        self.settle_command()
        branch_of, self.branches = branches_of(self._nodes)
        if branch_of:
            for event, owner in zip(self.events, self._owners, strict=True):
                event.branch = branch_of.get(owner) if owner is not None else None
        for event in self.events:
            if isinstance(event, Returned) and event.call not in self.calls:
                event.call = event.linked = None
                self.problems.count("orphan-result", "A result answers no call in this log.", event.place)
        if self._dropped:
            self.events = [event for index, event in enumerate(self.events) if index not in self._dropped]
        if self.naive:
            self.problems.count("no-zone", "Times without a zone were read in the zone that was asked for.")

    def title(self) -> str | None:
        """The title by the person, else by the agent, else the last summary that is of this chat."""
        own = [title for leaf, title in self.summaries if leaf is None or leaf in self.seen]
        return self.titles.get("custom") or self.titles.get("ai") or (own[-1] if own else None)


def gather(records: Iterable[Record], transcript: Transcript, handlers: Mapping[str, Handler]) -> Transcript:
    """All records into the transcript, and that finished."""
    for record in records:
        transcript.add(record, handlers)
    transcript.finish()
    return transcript
