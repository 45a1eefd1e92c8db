"""Tokens and money of a message: its `metadata`, in today's form and in the flat one of 0.31."""

from __future__ import annotations

from trailbook.chat import Cost, Message, Usage
from trailbook.readers.values import Fields, fields, number, string, whole

_PROMPT = ("input_tokens", "cache_read_tokens", "cache_creation_tokens")
_OTHERS = ("output_tokens", "reasoning_tokens")
_NOT_EXTRA = frozenset((*_PROMPT, *_OTHERS, "model", "usage", "cost"))


def message_of(metadata: Fields) -> Message:
    """What the metadata of an assistant's message says of it."""
    model = string(metadata.get("model"))
    cost = number(metadata.get("cost"))
    return Message(
        model=model,
        provider=model.partition("/")[0] if model and "/" in model else None,
        usage=usage_of(metadata),
        cost=Cost(usd=cost) if cost is not None else None,
        extra={key: value for key, value in metadata.items() if key not in _NOT_EXTRA},
    )


def usage_of(metadata: Fields) -> Usage | None:
    """The tokens; None where the metadata has none (a stream that was cut at a call has none).

    `input_tokens` excludes what was read from and written to the cache, whoever the provider is.
    """
    counts = fields(metadata.get("usage")) if "usage" in metadata else metadata
    known = {key: count for key in (*_PROMPT, *_OTHERS) if (count := whole(counts.get(key))) is not None}
    if not known:
        return None
    prompt = [known[key] for key in _PROMPT if key in known]
    return Usage(
        prompt_tokens=sum(prompt) if prompt else None,
        output_tokens=known.get("output_tokens"),
        cached_tokens=known.get("cache_read_tokens"),
        cache_write_tokens=known.get("cache_creation_tokens"),
        reasoning_tokens=known.get("reasoning_tokens"),
    )
