"""What turns and chats cost: adding tokens and money so that each is counted once and nothing unknown becomes 0.

Where a log counts by turn, turns count; where it counts by API message, messages do; else the log's figure for the
whole chat is all there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from trailbook.chat import Answered, Chat, Cost, Usage


@dataclass(slots=True)
class Account:
    """A chat's tokens and money, by turn, by message and in all. What is inherited from another chat is not in it."""

    usage_of_turn: dict[int, Usage] = field(default_factory=dict)
    cost_of_turn: dict[int, Cost] = field(default_factory=dict)
    usage_of_message: dict[str, Usage] = field(default_factory=dict)
    """Empty unless the log counts by message."""
    cost_of_message: dict[str, Cost] = field(default_factory=dict)
    usage: Usage | None = None
    usd: float | None = None
    """What was paid; None where nothing states a cost."""
    estimated_from: str | None = None
    """The price table, where `usd` is an estimate or has one in it."""
    plan_turns: int = 0

    @property
    def estimated(self) -> bool:
        """Whether `usd` is an estimate or has one in it."""
        return self.estimated_from is not None


def add_usage(one: Usage | None, other: Usage | None) -> Usage | None:
    """The sum of two counts; a part that neither knows stays None."""
    if one is None or other is None:
        return one or other
    return Usage(
        _sum(one.prompt_tokens, other.prompt_tokens),
        _sum(one.output_tokens, other.output_tokens),
        _sum(one.cached_tokens, other.cached_tokens),
        _sum(one.cache_write_tokens, other.cache_write_tokens),
        _sum(one.cache_write_hour_tokens, other.cache_write_hour_tokens),
        _sum(one.reasoning_tokens, other.reasoning_tokens),
    )


def add_cost(one: Cost | None, other: Cost | None) -> Cost | None:
    """The sum of two costs; of a plan and a metered one, what was paid."""
    if one is None or other is None:
        return one or other
    estimated_from = one.estimated_from or other.estimated_from
    saved = _sum_usd(one.saved_usd, other.saved_usd)
    if one.billing == other.billing:
        return Cost(_sum_usd(one.usd, other.usd), one.billing, saved, estimated_from)
    if {one.billing, other.billing} == {"plan", "free"}:
        return Cost(one.usd if one.billing == "plan" else other.usd, "plan", saved, estimated_from)
    return Cost(_sum_usd(paid(one), paid(other)), "metered", saved, estimated_from)


def paid(cost: Cost | None) -> float | None:
    """The dollars that left somebody's pocket: none on a plan, none where it was free; None where that is unknown."""
    if cost is None:
        return None
    if cost.billing == "plan":
        return 0.0
    if cost.billing == "free":
        return cost.usd or 0.0
    return cost.usd


def account(chat: Chat, turn_of: list[int]) -> Account:
    """Count the chat's tokens and money. `turn_of` has each event's turn, in the order of `chat.events`."""
    found = Account()
    answers = [
        (event, turn)
        for event, turn in zip(chat.events, turn_of, strict=True)
        if isinstance(event, Answered) and not event.inherited
    ]
    _count_usage(chat, turn_of, answers, found)
    _count_costs(chat, turn_of, answers, found)
    return found


def _count_usage(chat: Chat, turn_of: list[int], answers: list[tuple[Answered, int]], found: Account) -> None:
    by_turn = [(event.usage, turn) for event, turn in answers if event.usage]
    if not by_turn:
        for key, turn in _own_messages(chat, turn_of):
            usage = chat.messages[key].usage
            if usage:
                found.usage_of_message[key] = usage
                by_turn.append((usage, turn))
    for usage, turn in by_turn:
        found.usage = add_usage(found.usage, usage)
        summed = add_usage(found.usage_of_turn.get(turn), usage)
        if summed and turn >= 0:
            found.usage_of_turn[turn] = summed
    if not by_turn:
        found.usage = chat.usage


def _count_costs(chat: Chat, turn_of: list[int], answers: list[tuple[Answered, int]], found: Account) -> None:
    by_turn = [(event.cost, turn) for event, turn in answers if event.cost]
    if not by_turn:
        for key, turn in _own_messages(chat, turn_of):
            cost = chat.messages[key].cost
            if cost:
                found.cost_of_message[key] = cost
                by_turn.append((cost, turn))
    for cost, turn in by_turn:
        summed = add_cost(found.cost_of_turn.get(turn), cost)
        if summed and turn >= 0:
            found.cost_of_turn[turn] = summed
    costs = [cost for cost, _ in by_turn] or ([chat.cost] if chat.cost else [])
    found.usd = _sum_of(paid(cost) for cost in costs)
    tables = (cost.estimated_from for cost in costs if cost.usd is not None)
    found.estimated_from = next(filter(None, tables), None)
    found.plan_turns = len({turn for cost, turn in by_turn if cost.billing == "plan"})


def _own_messages(chat: Chat, turn_of: list[int]) -> Iterator[tuple[str, int]]:
    """The keys of the chat's own messages with the turn of each one's first event; -1 where no event is of it."""
    seen: set[str] = set()
    for event, turn in zip(chat.events, turn_of, strict=True):
        key = event.message
        if key is not None and key not in seen and key in chat.messages:
            seen.add(key)
            if not event.inherited:
                yield key, turn
    for key in chat.messages:
        if key not in seen:
            yield key, -1


def _sum(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other


def _sum_usd(one: float | None, other: float | None) -> float | None:
    return _sum_of((one, other))


def _sum_of(amounts: Iterable[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    # Sums of decimal fractions, without the noise that binary ones add.
    return round(sum(known), 10) if known else None
