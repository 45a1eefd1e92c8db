"""Tokens and money of a message, as OpenCode counts them.

Its `input` leaves the cache out and its `output` the reasoning: `total`, where there is one, is the sum of all five.
"""

from __future__ import annotations

from trailbook.chat import JSON, Cost, Usage
from trailbook.readers.values import Fields, fields, number, whole


def usage_of(logged: JSON) -> Usage | None:
    """A message's or a step's `tokens`. All of them 0 says that nothing came back to count: None."""
    tokens = fields(logged)
    cache = fields(tokens.get("cache"))
    fresh, output, reasoning = whole(tokens.get("input")), whole(tokens.get("output")), whole(tokens.get("reasoning"))
    read, written = whole(cache.get("read")), whole(cache.get("write"))
    if not any((fresh, output, reasoning, read, written)):
        return None
    return Usage(
        prompt_tokens=_sum(fresh, read, written),
        output_tokens=_sum(output, reasoning),
        cached_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=reasoning,
    )


def cost_of(values: Fields) -> Cost | None:
    """What a message or a step cost in US dollars. 0 is what OpenCode writes without knowing a price: None."""
    usd = number(values.get("cost"))
    return Cost(usd=usd) if usd is not None and usd > 0 else None


def steps_of(parts: list[Fields]) -> list[Fields]:
    """The ends of a message's steps that have tokens of their own.

    Where a message has several, its own `tokens` are those of the last one only.
    """
    return [part for part in parts if part.get("type") == "step-finish" and usage_of(part.get("tokens")) is not None]


def _sum(first: int | None, *more: int | None) -> int | None:
    return None if first is None else first + sum(count or 0 for count in more)
