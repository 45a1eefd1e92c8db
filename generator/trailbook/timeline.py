"""A chat as a person reads it: turns, steps in file order, totals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from trailbook.accounting import Account, account
from trailbook.calls import Calls, word
from trailbook.chat import Asked, Called, Chat, FilesChanged, Message, Returned, Usage
from trailbook.steps import KINDS, Beginnings, Step, branch_step, make_ids_unique, step_of, subagent_step
from trailbook.turns import Turn, divide
from trailbook.wording import line, shorten

__all__ = ["KINDS", "Step", "Timeline", "Totals", "Turn", "make_timeline", "title_of"]

UNTITLED = "Untitled chat"


@dataclass(slots=True)
class Totals:
    """The chat's own figures; a subagent's stand in its own timeline, what is inherited in its parent's.

    Abandoned branches count: their work was done and their tokens were spent.
    """

    duration: int | None = None
    """Milliseconds inside turns, waits included."""
    waiting: int = 0
    """Milliseconds inside turns in which it waited for a person (a union: parallel waits count once)."""
    usage: Usage | None = None
    usd: float | None = None
    """What was paid; a plan's list prices do not count. None when no turn or message states a cost."""
    estimated_from: str | None = None
    """The price table, where `usd` is an estimate or has one in it."""
    plan_turns: int = 0
    tools: int = 0
    approvals: int = 0
    """Questions whether it may do something; see `questions` for the others."""
    questions: int = 0
    files: int = 0
    failed: int = 0

    @property
    def estimated(self) -> bool:
        """Whether `usd` is an estimate or has one in it."""
        return self.estimated_from is not None


@dataclass(slots=True)
class Timeline:
    chat: str
    title: str
    origin: str
    started: int | None
    ended: int | None
    steps: list[Step] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    totals: Totals = field(default_factory=Totals)


def make_timeline(chat: Chat) -> Timeline:
    """The timeline of a (redacted) chat: its turns, a step for each event that a person would tell apart, its totals.

    Steps stand in file order, none is left out. The rules are the Conch sheet's (§2), with design §4's corrections:
    every end of a turn counts, questions are steps, a call that finishes late stays in its own turn.
    """
    turns, turn_of = divide(chat.events)
    steps = _steps(chat, turn_of, turns)
    counted = account(chat, turn_of)
    _give_usage(steps, counted)
    for turn in turns:
        turn.usage = counted.usage_of_turn.get(turn.index)
        turn.cost = counted.cost_of_turn.get(turn.index)
    _give_models(chat, turns, turn_of)
    _measure_waits(steps, turns)
    own = [event.at for event in chat.events if event.at is not None and not event.inherited]
    started = own[0] if own else chat.started
    return Timeline(
        chat.id,
        title_of(chat),
        chat.origin.kind,
        started,
        max(own) if own else chat.ended,
        steps,
        turns,
        _totals(steps, turns, counted),
    )


def title_of(chat: Chat) -> str:
    """The chat's title; where it has none, the beginning of the first thing a person asked (at most 48 characters)."""
    title = line(chat.title or "")
    if title:
        return title
    asked = (line(event.text) for event in chat.events if isinstance(event, Asked) and event.injected is None)
    return shorten(next((words for words in asked if words), ""), 48) or UNTITLED


def _steps(chat: Chat, turn_of: list[int], turns: list[Turn]) -> list[Step]:
    steps: list[Step] = []
    calls = Calls()
    beginnings = Beginnings(chat.events)
    branches: set[str] = set()
    for event, turn in zip(chat.events, turn_of, strict=True):
        if event.branch is not None and event.branch not in branches:
            branches.add(event.branch)
            steps.append(branch_step(event, turn, chat.branches.get(event.branch)))
        if isinstance(event, Called):
            step: Step | None = calls.called(event, turn)
        elif isinstance(event, Returned):
            step = calls.returned(event, turn)
        elif isinstance(event, FilesChanged) and event.id is None and calls.change_files(event):
            step = None
        else:
            step = step_of(event, turn)
        if step is not None:
            if step.kind in ("thought", "said"):
                beginnings.begin(step, event)
            steps.append(step)
        beginnings.after(event)
    _settle(chat, calls, turns)
    shown = {step.subagent for step in steps}
    if turns:
        steps += [subagent_step(each, turns[-1].index) for each in chat.subagents if each.id not in shown]
    make_ids_unique(steps)
    return steps


def _settle(chat: Chat, calls: Calls, turns: list[Turn]) -> None:
    """Calls that never came back were cut off if their turn is over; then every call gets its words."""
    subagents: dict[str, str] = {}
    for subagent in chat.subagents:
        if subagent.started_by is not None:
            subagents.setdefault(subagent.started_by, subagent.id)
    for calling in calls.all:
        step = calling.step
        step.subagent = subagents.get(calling.called.id)
        if step.status == "waiting" and turns[step.turn].settled:
            step.status = "declined"
        word(calling)


def _give_usage(steps: list[Step], counted: Account) -> None:
    """Put each message's tokens and cost on the first of its steps."""
    usages, costs = dict(counted.usage_of_message), dict(counted.cost_of_message)
    for step in steps:
        if step.message is not None:
            step.usage = usages.pop(step.message, None)
            step.cost = costs.pop(step.message, None)


def _give_models(chat: Chat, turns: list[Turn], turn_of: list[int]) -> None:
    """The last model that answered in a turn, where the turn's own record names none."""
    last: dict[int, Message] = {}
    for event, turn in zip(chat.events, turn_of, strict=True):
        message = chat.messages.get(event.message) if event.message is not None else None
        if message is not None and message.model:
            last[turn] = message
    for index, message in last.items():
        turns[index].model = turns[index].model or message.model
        turns[index].engine = turns[index].engine or message.provider


def _measure_waits(steps: list[Step], turns: list[Turn]) -> None:
    waits: dict[int, list[tuple[int, int]]] = {}
    for step in steps:
        if step.kind == "approval" and step.at is not None and step.duration:
            waits.setdefault(step.turn, []).append((step.at, step.at + step.duration))
    for index, found in waits.items():
        turn = turns[index]
        if turn.at is not None and turn.ended is not None:
            turn.waiting = _union((max(start, turn.at), min(end, turn.ended)) for start, end in found)


def _union(stretches: Iterable[tuple[int, int]]) -> int:
    """How long the stretches last together, each moment counted once."""
    total, reached = 0, None
    for start, end in sorted(stretches):
        begin = start if reached is None else max(start, reached)
        if end > begin:
            total += end - begin
            reached = end
    return total


def _totals(steps: list[Step], turns: list[Turn], counted: Account) -> Totals:
    own = [turn for turn in turns if not turn.inherited]
    lasted = [max(turn.ended - turn.at, 0) for turn in own if turn.at is not None and turn.ended is not None]
    totals = Totals(
        sum(lasted) if lasted else None,
        sum(turn.waiting for turn in own),
        counted.usage,
        counted.usd,
        counted.estimated_from,
        counted.plan_turns,
    )
    paths: set[str] = set()
    for step in steps:
        if step.inherited:
            continue
        totals.tools += step.kind == "tool"
        totals.questions += step.id.startswith("question:")
        totals.approvals += step.id.startswith("approval:")
        totals.failed += step.status == "failed"
        paths.update(change.path for change in step.files)
    totals.files = len(paths)
    return totals
