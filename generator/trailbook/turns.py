"""Where turns begin and end: from what a person asked to the end of the agent's answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trailbook.chat import Answered, Asked, Called, Compacted, Cost, Event, Noted, Permission, Said, Thought, Usage

_WORK = (Thought, Said, Called)
"""What opens a turn where nobody asked: an agent at work."""


@dataclass(slots=True)
class Turn:
    """From what a person asked to the end of the agent's answer."""

    index: int
    at: int | None = None
    ended: int | None = None
    """When its (last) answer ended, by the log's own record, else by its last event."""
    settled: bool = False
    """True when the log says that it ended or another turn followed; False while it may still be going on."""
    outcome: str | None = None
    engine: str | None = None
    model: str | None = None
    usage: Usage | None = None
    cost: Cost | None = None
    waiting: int = 0
    """Milliseconds inside the turn in which it waited for a person."""
    branch: str | None = None
    inherited: bool = False


def divide(events: Sequence[Event]) -> tuple[list[Turn], list[int]]:
    """Divide a chat's events into turns: the turns, and for each event the index of its turn.

    A prompt that a person wrote opens one. What stands before the first belongs to it, unless it is an agent's work.
    A turn on an abandoned branch is a turn of its own; so is what a fork adds to a turn that it inherited.
    """
    turns: list[Turn] = []
    turn_of: list[int] = []
    current: dict[str | None, int] = {}
    previous: dict[bool, int] = {}
    """The time of the last event, of the inherited and of the chat's own."""
    for event in events:
        index = current.get(event.branch, current.get(None, -1))
        if _opens(event, turns[index] if index >= 0 else None):
            index = len(turns)
            turns.append(
                Turn(
                    index,
                    _beginning(event, previous.get(event.inherited)),
                    branch=event.branch,
                    inherited=event.inherited,
                )
            )
            current[event.branch] = index
        turn_of.append(max(index, 0))
        if event.at is not None:
            previous[event.inherited] = event.at
    if events and not turns:
        turns.append(Turn(0, next((event.at for event in events if event.at is not None), None)))
    _end(turns, events, turn_of)
    return turns, turn_of


def _opens(event: Event, turn: Turn | None) -> bool:
    if isinstance(event, Asked) and event.injected is None:
        return True
    return isinstance(event, _WORK) and (turn is None or (turn.inherited and not event.inherited))


def _beginning(event: Event, previous: int | None) -> int | None:
    if isinstance(event, (Said, Thought)):
        # Words are logged when they are complete: they began when what stands before them was over.
        return event.started or previous or event.at
    return event.at


def _end(turns: list[Turn], events: Sequence[Event], turn_of: list[int]) -> None:
    last: list[int | None] = [turn.at for turn in turns]
    for event, index in zip(events, turn_of, strict=True):
        turn = turns[index]
        if isinstance(event, Answered):
            _answer(turn, event)
        elif turn.settled and isinstance(event, _WORK):
            # It went on after all (a restart, another agent's round).
            turn.settled, turn.ended = False, None
        for moment in _moments(event):
            known = last[index]
            last[index] = moment if known is None else max(known, moment)
    followed = set()
    for turn in reversed(turns):
        # A turn on a branch was left, whether or not the branch has a further one.
        turn.settled = turn.settled or turn.branch is not None or turn.branch in followed
        followed.add(turn.branch)
        if turn.ended is None:
            turn.ended = last[turn.index]


def _answer(turn: Turn, event: Answered) -> None:
    turn.settled = True
    if event.at is not None:
        turn.ended = event.at if turn.ended is None else max(turn.ended, event.at)
    turn.outcome = event.outcome or turn.outcome
    turn.engine = event.engine or turn.engine
    turn.model = event.model or turn.model


def _moments(event: Event) -> list[int]:
    """When the turn was certainly going on; a notice, a compaction, an injected text may come far later."""
    if isinstance(event, Compacted | Noted) or (isinstance(event, Asked) and event.injected is not None):
        return []
    moments = [event.at, event.answered] if isinstance(event, Permission) else [event.at]
    return [moment for moment in moments if moment is not None]
