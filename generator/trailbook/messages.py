"""A chat as a model saw it: the one list of messages that every trajectory format is written from.

One assistant message for each message of the model's API, however many lines the log has it in. Every call carries its
result, however late that came, and a call without one carries a sentence that says why (`stand_ins.STAND_INS`).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from trailbook.accounting import Account, account, add_cost, add_usage, paid
from trailbook.chat import (
    JSON,
    Answered,
    Asked,
    Called,
    Chat,
    Compacted,
    Cost,
    Event,
    Message,
    Noted,
    Part,
    Permission,
    Returned,
    Said,
    Text,
    Thought,
    Usage,
)
from trailbook.stand_ins import JOINED, STAND_INS, arguments_object, say_no_result
from trailbook.turns import divide


@dataclass(slots=True, kw_only=True)
class UserMessage:
    """What a person asked, or what was put in their mouth (`injected`)."""

    text: str
    parts: list[Part] = field(default_factory=list)
    at: int | None = None
    id: str
    injected: str | None = None
    queued: bool = False
    by: str | None = None
    copied: bool = False
    """True in a part that another chat (or the active path, for a branch) has already."""


@dataclass(slots=True, kw_only=True)
class Result:
    """What came back from a call. Its parts are never empty of words where the call did not run."""

    parts: list[Part] = field(default_factory=list)
    at: int | None = None
    ok: bool | None = None
    reason: str | None = None
    """A key of `STAND_INS`, where a sentence stands for a result; None for a real one."""
    duration: int | None = None
    exit_status: int | None = None
    linked: str | None = None


@dataclass(slots=True, kw_only=True)
class Call:
    """A call of a tool, with its result."""

    id: str
    """Unique in the chat."""
    name: str
    arguments: dict[str, JSON]
    """Always an object; `{"_raw": …}` where the log's arguments were none."""
    at: int | None = None
    result: Result = field(default_factory=Result)


@dataclass(slots=True, kw_only=True)
class AssistantMessage:
    """One message of the model."""

    key: str | None = None
    """Its key in `Chat.messages`; None where the log does not name the API's messages."""
    id: str | None = None
    """The log's own id of it; None where it has none."""
    at: int | None = None
    thinking: str = ""
    text: str = ""
    parts: list[Part] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    model: str | None = None
    usage: Usage | None = None
    """Tokens of this message; of the whole turn on its last message, where the log counts by turn."""
    alone: bool = False
    """True when `usage` and `cost` are of this one message of the API."""
    cost: Cost | None = None
    stop_reason: str | None = None
    outcome: str | None = None
    """On a turn's last message: how the turn ended."""
    problem: str | None = None
    by: str | None = None
    copied: bool = False


@dataclass(slots=True, kw_only=True)
class SystemMessage:
    """System text in the middle of a chat, or the place where its context was compacted."""

    text: str
    parts: list[Part] = field(default_factory=list)
    at: int | None = None
    compacted: Compacted | None = None
    copied: bool = False


@dataclass(slots=True, kw_only=True)
class UnlinkedResult:
    """A result that answers no call of the chat."""

    result: Result
    copied: bool = False


AnyMessage = UserMessage | AssistantMessage | SystemMessage | UnlinkedResult


@dataclass(slots=True)
class Conversation:
    """A chat's messages in order, and what its tokens and money come to."""

    messages: list[AnyMessage] = field(default_factory=list)
    usage: Usage | None = None
    """The chat's own tokens; subagents' are not in it."""
    unplaced: Usage | None = None
    """The part of `usage` that is on no message: of abandoned branches, of turns without an answer, or all of it
    where the log counts the whole chat only."""
    usd: float | None = None
    """What was paid; None where the log states no cost."""
    unplaced_usd: float | None = None
    """The part of `usd` that is on no message."""
    estimated_from: str | None = None
    """The price table, where `usd` is an estimate or has one in it."""
    branches: int = 0
    """Abandoned branches that are not in it."""
    script_calls: int = 0
    """Calls that a script made; they are no messages."""

    @property
    def estimated(self) -> bool:
        """Whether `usd` is an estimate or has one in it."""
        return self.estimated_from is not None


def make_messages(chat: Chat, *, branch: str | None = None) -> Conversation:
    """The messages of a chat's active path, or of one abandoned branch with what it shares with the active path.

    Nothing is clipped. Several results of one call are one result in parts; ids that come again are told apart as
    `id__2`. The shared part of a branch, and what a fork replays, is `copied` and costs nothing.
    """
    turns, turn_of = divide(chat.events)
    accounted = account(chat, turn_of)
    builder = _Builder(chat, accounted)
    path = list(_path(chat, turn_of, branch))
    builder.known = {event.id for event, _, _ in path if isinstance(event, Called)}
    for event, turn, copied in path:
        builder.add(event, turn, copied)
    settled = {turn.index for turn in turns if turn.settled}
    builder.settle(settled)
    return Conversation(
        messages=builder.messages,
        usage=accounted.usage,
        unplaced=builder.unplaced(),
        usd=accounted.usd,
        unplaced_usd=builder.unplaced_usd(),
        estimated_from=accounted.estimated_from,
        branches=len(chat.branches) - (branch in chat.branches),
        script_calls=sum(isinstance(event, Called) and event.within is not None for event in chat.events),
    )


def _path(chat: Chat, turn_of: list[int], branch: str | None) -> Iterator[tuple[Event, int, bool]]:
    """The events to tell, each with its turn and whether it is a copy."""
    first = next((at for at, event in enumerate(chat.events) if event.branch == branch), 0)
    for at, (event, turn) in enumerate(zip(chat.events, turn_of, strict=True)):
        if event.branch == branch:
            yield event, turn, event.inherited
        elif event.branch is None and at < first:
            yield event, turn, True


@dataclass(slots=True)
class _Open:
    """A call whose result is still to be made."""

    call: Call
    event: Called
    message: AssistantMessage
    turn: int
    returned: list[Returned] = field(default_factory=list)


class _Builder:
    """Takes events in the log's order; `settle` gives every call its result."""

    def __init__(self, chat: Chat, accounted: Account) -> None:
        self.messages: list[AnyMessage] = []
        self.known: set[str] = set()
        """Ids of the calls on the path, so that a result that stands before its call is no orphan."""
        self._logged = chat.messages
        self._account = accounted
        self._by_turn = not accounted.usage_of_message
        self._current: AssistantMessage | None = None
        self._open: dict[tuple[str, bool], AssistantMessage] = {}
        self._returned_to: set[int] = set()
        """Identities of messages of which a call has its result: nothing is added to them unless by their key."""
        self._last_of_turn: dict[int, AssistantMessage] = {}
        self._waiting_answers: dict[int, list[Answered]] = {}
        self._counted: set[str] = set()
        self._unplaced: Usage | None = None
        self._calls: list[_Open] = []
        self._unanswered: defaultdict[str, deque[_Open]] = defaultdict(deque)
        self._latest: dict[str, _Open] = {}
        self._early: defaultdict[str, list[Returned]] = defaultdict(list)
        self._inner: set[str] = set()
        self._decisions: dict[str, str] = {}
        self._ids: set[str] = set()

    # --- events

    def add(self, event: Event, turn: int, copied: bool) -> None:
        """Take the next event."""
        if isinstance(event, (Thought, Said)):
            self._speak(event, turn, copied)
        elif isinstance(event, Called):
            self._call(event, turn, copied)
        elif isinstance(event, Returned):
            self._return(event, copied)
        elif isinstance(event, Asked):
            self._ask(event, copied)
        elif isinstance(event, Answered):
            self._answer(event, turn, copied)
        else:
            self._note(event, copied)

    def _ask(self, event: Asked, copied: bool) -> None:
        self._current = None
        if event.injected is None and not event.queued:
            # No message of the model goes on behind a person's next question.
            self._open.clear()
        self.messages.append(
            UserMessage(
                text=event.text,
                parts=event.parts,
                at=event.at,
                id=event.id,
                injected=event.injected,
                queued=event.queued,
                by=event.by,
                copied=copied,
            )
        )

    def _note(self, event: Event, copied: bool) -> None:
        if isinstance(event, Compacted):
            self._current = None
            self._open.clear()
            summary = event.summary or ""
            self.messages.append(SystemMessage(text=summary, at=event.at, compacted=event, copied=copied))
        elif isinstance(event, Noted) and event.topic == "system":
            self._current = None
            self.messages.append(SystemMessage(text=event.text, parts=event.parts, at=event.at, copied=copied))
        elif isinstance(event, Permission) and event.call and event.decision in ("deny", "expired"):
            self._decisions[event.call] = "declined" if event.decision == "deny" else "expired"

    def _speak(self, event: Thought | Said, turn: int, copied: bool) -> None:
        message = self._message_of(event, turn, copied)
        if isinstance(event, Thought):
            message.thinking = _joined(message.thinking, event.text)
        else:
            message.text = _joined(message.text, event.text)
            message.parts.extend(event.parts)

    # --- calls and results

    def _call(self, event: Called, turn: int, copied: bool) -> None:
        if event.within is not None:
            self._inner.add(event.id)
            return
        message = self._message_of(event, turn, copied)
        arguments = arguments_object(event.arguments, event.raw)
        call = Call(id=self._unique(event.id), name=event.name or "unknown_tool", arguments=arguments, at=event.at)
        message.calls.append(call)
        opened = _Open(call, event, message, turn, returned=self._early.pop(event.id, []))
        self._calls.append(opened)
        if not opened.returned:
            self._unanswered[event.id].append(opened)
        self._latest[event.id] = opened

    def _return(self, event: Returned, copied: bool) -> None:
        if event.call in self._inner:
            return
        if event.call is None or event.call not in self.known:
            self.messages.append(UnlinkedResult(result=_result([event]), copied=copied))
            return
        waiting = self._unanswered[event.call]
        opened = waiting.popleft() if waiting else self._latest.get(event.call)
        if opened is None:
            self._early[event.call].append(event)
            return
        opened.returned.append(event)
        self._returned_to.add(id(opened.message))

    def _unique(self, logged: str) -> str:
        base = logged or "call"
        unique, number = base, 1
        while unique in self._ids:
            number += 1
            unique = f"{base}__{number}"
        self._ids.add(unique)
        return unique

    # --- the message that an event belongs to

    def _message_of(self, event: Thought | Said | Called, turn: int, copied: bool) -> AssistantMessage:
        message = self._known_message(event, copied)
        if message is None:
            message = AssistantMessage(key=event.message, at=event.at, by=event.by, copied=copied)
            self._describe(message, turn)
            self.messages.append(message)
            if event.message is not None:
                self._open[event.message, copied] = message
        self._current = message
        return message

    def _known_message(self, event: Thought | Said | Called, copied: bool) -> AssistantMessage | None:
        if event.message is not None:
            return self._open.get((event.message, copied))
        current = self._current
        if current is None or current.copied is not copied or not self._takes(current, event):
            return None
        if current.key is not None:
            # The log names words only: what follows the calls under the same name is the model's next message.
            self._open.pop((current.key, copied), None)
        return current

    def _takes(self, message: AssistantMessage, event: Thought | Said | Called) -> bool:
        """Whether an event whose message the log does not name goes on with the message before it.

        Calls that start before any of them has come back are parallel calls of one message; thinking stands before
        words, and words before calls (conch.md §3).
        """
        if id(message) in self._returned_to or (event.by is not None and event.by != message.by):
            return False
        if isinstance(event, Called):
            return True
        return not message.calls and not (isinstance(event, Thought) and message.text)

    def _describe(self, message: AssistantMessage, turn: int) -> None:
        logged = self._logged.get(message.key, Message()) if message.key is not None else Message()
        message.id = message.key if logged.named else None
        message.model, message.stop_reason = logged.model, logged.stop_reason
        if message.copied:
            return
        if message.key is not None and message.key not in self._counted:
            self._counted.add(message.key)
            message.usage = self._account.usage_of_message.get(message.key)
            message.cost = self._account.cost_of_message.get(message.key)
            message.alone = message.usage is not None and logged.alone
        self._last_of_turn[turn] = message
        for answer in self._waiting_answers.pop(turn, []):
            self._settle_turn(message, answer)

    # --- what turns cost

    def _answer(self, event: Answered, turn: int, copied: bool) -> None:
        self._current = None
        if copied:
            return
        message = self._last_of_turn.get(turn)
        if message is None:
            self._waiting_answers.setdefault(turn, []).append(event)
        else:
            self._settle_turn(message, event)

    def _settle_turn(self, message: AssistantMessage, event: Answered) -> None:
        message.outcome = event.outcome or message.outcome
        message.problem = event.problem or message.problem
        if event.usage is not None or event.cost is not None:
            message.model = message.model or event.model
        if self._by_turn:
            message.usage = add_usage(message.usage, event.usage)
        if not self._account.cost_of_message:
            message.cost = add_cost(message.cost, event.cost)

    def unplaced(self) -> Usage | None:
        """The chat's tokens that no message carries."""
        total = self._account.usage
        placed: Usage | None = None
        for message in self.messages:
            if isinstance(message, AssistantMessage):
                placed = add_usage(placed, message.usage)
        return total if total is None or placed is None else _less(total, placed)

    def unplaced_usd(self) -> float | None:
        """The chat's money that no message carries."""
        placed = [paid(message.cost) for message in self.messages if isinstance(message, AssistantMessage)]
        rest = round((self._account.usd or 0.0) - sum(usd for usd in placed if usd is not None), 10)
        return rest if rest > 0 else None

    # --- the end

    def settle(self, settled: set[int]) -> None:
        """Give every call its result; `settled` are the turns that are over."""
        for opened in self._calls:
            if opened.returned:
                opened.call.result = _result(opened.returned)
            else:
                opened.call.result = self._stand_in(opened, opened.turn in settled)

    def _stand_in(self, opened: _Open, over: bool) -> Result:
        reason = self._decisions.get(opened.event.id) or ("unanswered" if over else "cut")
        if opened.event.ran:
            reason = "unrecorded"
        return Result(parts=[Text(say_no_result(reason, ""))], reason=reason)


def _result(returned: list[Returned]) -> Result:
    """What several records of one result come to."""
    last = returned[-1]
    parts = [part for event in returned for part in event.parts]
    reason = next((event.not_run for event in reversed(returned) if event.not_run in STAND_INS), None)
    if reason is not None:
        words = "\n".join(part.text for part in parts if isinstance(part, Text))
        others = [part for part in parts if not isinstance(part, Text)]
        parts = [Text(say_no_result(reason, words)), *others]
    return Result(
        parts=parts,
        at=last.at,
        ok=last.ok,
        reason=reason,
        duration=last.duration,
        exit_status=last.exit_status,
        linked=last.linked,
    )


def _joined(before: str, after: str) -> str:
    """Two pieces of one message; blank space between them says that they are pieces of one flow."""
    if not before or not after or before[-1].isspace() or after[0].isspace():
        return before + after
    return before + JOINED + after


def _less(total: Usage, placed: Usage) -> Usage | None:
    """What is left of a count; None where nothing is."""

    def left(one: int | None, other: int | None) -> int | None:
        rest = (one or 0) - (other or 0)
        return rest if rest > 0 else None

    rest = Usage(
        left(total.prompt_tokens, placed.prompt_tokens),
        left(total.output_tokens, placed.output_tokens),
        left(total.cached_tokens, placed.cached_tokens),
        left(total.cache_write_tokens, placed.cache_write_tokens),
        left(total.cache_write_hour_tokens, placed.cache_write_hour_tokens),
        left(total.reasoning_tokens, placed.reasoning_tokens),
    )
    return rest if rest != Usage() else None
