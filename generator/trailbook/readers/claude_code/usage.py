"""What each message of the model's API used.

One message stands on several lines that all repeat its usage, and only the last of them has the final output count.
So the usage is taken once a message, as a whole, from the line with the highest output (ccusage/ccusage#901, #389):
a maximum field by field would mix two models where the model changed in the middle.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from trailbook.chat import Cost, Message, Usage
from trailbook.readers.values import Fields, fields, string, whole

_CONVERTED = {
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "cache_creation",
}


@dataclass(slots=True)
class _Seen:
    usage: Fields = field(default_factory=dict)
    output: int = -1
    model: str | None = None
    stop_reason: str | None = None
    usd: float | None = None


class Messages:
    """The API messages of one chat, gathered line by line."""

    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._seen

    def add(self, key: str, record: Fields, message: Fields) -> None:
        """Take in one line of the message `key`."""
        seen = self._seen.get(key)
        if seen is None:
            seen = self._seen[key] = _Seen()
        usage = fields(message.get("usage"))
        output = whole(usage.get("output_tokens"))
        if usage and (output if output is not None else 0) >= seen.output:
            seen.usage, seen.output = usage, output or 0
            seen.model = string(message.get("model")) or seen.model
        elif seen.model is None:
            seen.model = string(message.get("model"))
        seen.stop_reason = string(message.get("stop_reason")) or seen.stop_reason
        usd = record.get("costUSD")
        if isinstance(usd, int | float) and not isinstance(usd, bool):
            seen.usd = float(usd)

    def stop_reason(self, key: str) -> str | None:
        """Why the message ended, as far as the lines so far say."""
        return self._seen[key].stop_reason

    def all(self) -> dict[str, Message]:
        """Every message by its key, in order of its first line."""
        return {key: _message(seen) for key, seen in self._seen.items()}


def _message(seen: _Seen) -> Message:
    return Message(
        model=seen.model,
        usage=usage_of(seen.usage) if seen.usage else None,
        cost=Cost(usd=seen.usd) if seen.usd is not None else None,
        stop_reason=seen.stop_reason,
        extra={key: value for key, value in seen.usage.items() if value is not None and key not in _CONVERTED},
    )


def usage_of(usage: Fields) -> Usage:
    """The tokens of a `usage` object; its `input_tokens` leave the cache out, `prompt_tokens` take it in."""
    fresh, cached = whole(usage.get("input_tokens")), whole(usage.get("cache_read_input_tokens"))
    written = whole(usage.get("cache_creation_input_tokens"))
    return Usage(
        prompt_tokens=None if fresh is None else fresh + (cached or 0) + (written or 0),
        output_tokens=whole(usage.get("output_tokens")),
        cached_tokens=cached,
        cache_write_tokens=written,
        cache_write_hour_tokens=whole(fields(usage.get("cache_creation")).get("ephemeral_1h_input_tokens")),
    )
