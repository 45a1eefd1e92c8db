"""Tokens from Codex's cumulative counters (format sheet D; ccusage/ccusage#884, #950, #1288)."""

from __future__ import annotations

from dataclasses import dataclass

from trailbook.chat import Chat, Message, Usage
from trailbook.readers.values import Fields, fields, whole

_NAMES = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens", "reasoning_output_tokens")


@dataclass(slots=True)
class Counter:
    """The thread's running totals; each new snapshot is worth what it adds to the last one."""

    last: dict[str, int] | None = None

    def added(self, info: Fields) -> Usage | None:
        """What a `token_count` adds; None when it repeats the last snapshot or says nothing.

        A snapshot is written again at every refresh of the rate limits. Totals that drop start a new segment.
        """
        total = _numbers(fields(info.get("total_token_usage")))
        if not total:
            return usage_of(fields(info.get("last_token_usage")))
        before, self.last = self.last or {}, total
        if any(total.get(name, 0) < before.get(name, 0) for name in ("input_tokens", "output_tokens")):
            before = {}
        added: Fields = {name: max(0, count - before.get(name, 0)) for name, count in total.items()}
        return usage_of(added) if any(added.values()) else None


def usage_of(numbers: Fields) -> Usage | None:
    """One response's usage; input includes what was cached, output includes reasoning."""
    known = _numbers(numbers)
    if not known:
        return None
    return Usage(
        prompt_tokens=known.get("input_tokens"),
        output_tokens=known.get("output_tokens"),
        cached_tokens=known.get("cached_input_tokens"),
        cache_write_tokens=known.get("cache_write_input_tokens"),
        reasoning_tokens=known.get("reasoning_output_tokens"),
    )


def _numbers(values: Fields) -> dict[str, int]:
    known = ((name, whole(values.get(name))) for name in _NAMES)
    return {name: count for name, count in known if count is not None}


class Responses:
    """The model's responses of one thread, which the log does not name: a new one after every result or prompt."""

    def __init__(self, chat: Chat) -> None:
        self.model: str | None = None
        self._chat = chat
        self._number = 0
        self._replayed = 0
        self._open = False

    def key(self) -> str:
        """The key in `Chat.messages` of the response that a model's item belongs to."""
        if not self._open:
            self._number += 1
            self._open = True
            provider = self._chat.providers[0] if self._chat.providers else None
            self._chat.messages[f"response-{self._number}"] = Message(model=self.model, provider=provider)
        return f"response-{self._number}"

    def close(self) -> None:
        """The next item of the model starts a new response."""
        self._open = False

    def start_own(self) -> None:
        """What was replayed from a parent is over: no tokens are put on it."""
        self._open = False
        self._replayed = self._number

    def spend(self, usage: Usage) -> None:
        """Put tokens on the last response; where that has its own, on one that left nothing else in the log."""
        last = self._chat.messages.get(f"response-{self._number}")
        if last is None or last.usage is not None or self._number == self._replayed:
            self.close()
            last = self._chat.messages[self.key()]
        last.usage = usage
        self.close()
