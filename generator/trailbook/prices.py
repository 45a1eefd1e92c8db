"""List-price estimates for chats whose log has tokens and no cost: what the models' vendors would ask for them.

Only on request, and never beside a cost that the log states: what was really paid (a plan, a discount, a server of
one's own) is not in a log that says nothing of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import cache
from pathlib import Path
from typing import Any

from trailbook.chat import Answered, Chat, Cost, Diagnostic, Usage, with_subagents
from trailbook.failures import USAGE, Stopped

_MAKERS = frozenset({"anthropic", "openai", "google", "x-ai"})
"""Vendors whose models have one list price, whoever passes them on; another maker's may run on any machine."""
_OPEN = "gpt-oss"


def estimate(chat: Chat) -> None:
    """Give the chat and each of its subagents an estimate, where the log has tokens and states no cost.

    Priced is what the log counts by: turns, else messages, else the whole chat, at the time of the use. Each estimate
    names its table in `Cost.estimated_from`; a diagnostic names the models that have no list price.
    Raises Stopped where the extra `prices` is not installed.
    """
    table()
    for each in with_subagents(chat):
        if _states_cost(each):
            continue
        without: Counter[str] = Counter()
        if not (_price_turns(each, without) or _price_messages(each, without)):
            _price_chat(each, without)
        for model, count in without.items():
            text = f"There is no list price for {model}: its tokens are not in the estimate."
            each.diagnostics.append(Diagnostic("no-price", text, count=count))


@cache
def table() -> str:
    """The table that estimates are made from, with its date. Raises Stopped where it is not installed.

    The table states no date of its own: what dates it is its newest price, of those that were in force when it was
    installed (it has announced ones, too).
    """
    try:
        from genai_prices import __version__
    except ImportError:
        raise Stopped("To estimate costs, install trailbook with its extra 'prices'.", USAGE) from None
    return f"list prices of genai-prices {__version__}, as of {_newest():%Y-%m-%d}"


def list_price(usage: Usage, model: str, provider: str | None, at: int | None) -> float | None:
    """What a use of a model costs by list, in dollars; None where the table has no price for it.

    `at` is the time of the use in epoch milliseconds: prices change. What was read from the cache, written to it for
    five minutes and for an hour has prices of its own.
    """
    from genai_prices import Usage as Used
    from genai_prices import calc_price

    if usage.prompt_tokens is None or usage.output_tokens is None:
        return None
    used = Used(
        input_tokens=usage.prompt_tokens,
        cache_read_tokens=usage.cached_tokens or 0,
        cache_write_tokens=usage.cache_write_tokens or 0,
        cache_write_1h_tokens=usage.cache_write_hour_tokens or 0,
        output_tokens=usage.output_tokens,
    )
    try:
        when = datetime.fromtimestamp(at / 1000, UTC) if at is not None else _newest()
        for vendor, name in ((provider, model), (None, model), (None, model.rpartition("/")[2])):
            try:
                found = calc_price(used, name, provider_id=vendor, genai_request_timestamp=when)
            except LookupError:
                continue
            if vendor is not None or (found.provider.id in _MAKERS and _OPEN not in found.model.id):
                return round(float(found.total_price), 10)
    except (ValueError, OverflowError, OSError):  # more cached tokens than tokens, say
        pass
    return None


# --- the table


@cache
def _newest() -> datetime:
    """The day of the newest price that was in force when the table was installed; the time of a use without a time."""
    from genai_prices import data

    installed = datetime.fromtimestamp(Path(data.__file__).stat().st_mtime, UTC).date()
    starts = [start for start in _starts(data.providers) if start <= installed]
    return datetime.combine(max(starts, default=installed), time(), UTC)


def _starts(providers: Iterable[Any]) -> Iterator[date]:
    """From when each price holds that has not always held."""
    for provider in providers:
        for model in provider.models:
            for price in model.prices if isinstance(model.prices, list) else []:
                start = getattr(price.constraint, "start_date", None)
                if isinstance(start, date):
                    yield start


# --- what has a price


@dataclass(slots=True)
class _Use:
    """A use of a model that the log counts the tokens of."""

    usage: Usage
    model: str | None
    provider: str | None
    at: int | None


def _price(use: _Use, without: Counter[str]) -> Cost | None:
    if not use.usage.prompt_tokens and not use.usage.output_tokens:
        return None
    usd = list_price(use.usage, use.model, use.provider, use.at) if use.model else None
    if usd is None:
        without[use.model or "a model that the log does not name"] += 1
        return None
    return Cost(usd, estimated_from=table())


def _price_turns(chat: Chat, without: Counter[str]) -> bool:
    """Price the turns; False when the log does not count by turn."""
    turns = [event for event in chat.events if isinstance(event, Answered) and event.usage and not event.inherited]
    for event in turns:
        if event.usage is not None:
            event.cost = _price(_Use(event.usage, event.model or _only(chat), event.engine, event.at), without)
    return bool(turns)


def _price_messages(chat: Chat, without: Counter[str]) -> bool:
    """Price the messages; False when the log does not count by message. What is inherited was paid for elsewhere."""
    inherited = {event.message for event in chat.events if event.inherited}
    times = {event.message: event.at for event in reversed(chat.events)}
    counted = [(key, message) for key, message in chat.messages.items() if message.usage and key not in inherited]
    for key, message in counted:
        if message.usage is not None:
            use = _Use(message.usage, message.model or _only(chat), message.provider, times.get(key, chat.started))
            message.cost = _price(use, without)
    return bool(counted)


def _price_chat(chat: Chat, without: Counter[str]) -> None:
    if chat.usage is not None:
        provider = chat.providers[0] if len(chat.providers) == 1 else None
        chat.cost = _price(_Use(chat.usage, _only(chat), provider, chat.started), without)


def _only(chat: Chat) -> str | None:
    """The chat's model, where it used but one."""
    return chat.models[0] if len(chat.models) == 1 else None


def _states_cost(chat: Chat) -> bool:
    costs = [message.cost for message in chat.messages.values()]
    costs += [event.cost for event in chat.events if isinstance(event, Answered)]
    return any(cost is not None for cost in (*costs, chat.cost))
