"""The tokens of a session: only `session.shutdown` has them all, by model (harnesses.md E)."""

from __future__ import annotations

from itertools import pairwise

from trailbook.accounting import add_usage
from trailbook.chat import Usage
from trailbook.readers.values import Fields, fields, whole


def usage_at_shutdown(data: Fields) -> Usage | None:
    """What all models together were sent and made; None where the event does not count it."""
    total: Usage | None = None
    for metric in fields(data.get("modelMetrics")).values():
        usage = fields(fields(metric).get("usage"))
        prompt, output, cached, written, reasoning = (
            whole(usage.get(key))
            for key in ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens")
        )
        if prompt is None and output is None:
            continue
        total = add_usage(total, Usage(_with_cache(prompt, cached, written), output, cached, written, None, reasoning))
    return total


def _with_cache(prompt: int | None, cached: int | None, written: int | None) -> int | None:
    """The whole prompt. What the cache had is a part of it, unless it is more than all."""
    cache = (cached or 0) + (written or 0)
    return prompt if prompt is None or cache <= prompt else prompt + cache


def usage_of_session(shutdowns: list[Usage]) -> Usage | None:
    """The tokens of a session that was shut down once or, as it was resumed, more often.

    Totals that only grow go on counting; where one is smaller than the one before, each has counted by itself.
    """
    if all(_grows(before, after) for before, after in pairwise(shutdowns)):
        return shutdowns[-1] if shutdowns else None
    total: Usage | None = None
    for usage in shutdowns:
        total = add_usage(total, usage)
    return total


def _grows(before: Usage, after: Usage) -> bool:
    pairs = ((before.prompt_tokens, after.prompt_tokens), (before.output_tokens, after.output_tokens))
    return all((one or 0) <= (other or 0) for one, other in pairs)
