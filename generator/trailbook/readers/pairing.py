"""Pairing results with calls where ids repeat or are missing."""

from __future__ import annotations

from collections import defaultdict, deque


class Pairing:
    """Gives every call of a chat an id of its own and finds the call that a result answers.

    An id that comes again is told apart as `id__2`; results for one id answer its calls in order
    (openclaw/openclaw#24649, letta-ai/trajectory fixtures).
    """

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}
        self._open: defaultdict[str, deque[str]] = defaultdict(deque)

    def call(self, logged: str | None, otherwise: str) -> str:
        """The chat's id for a call: the log's own, or `otherwise` where the log has none."""
        base = logged or otherwise
        times = self._seen[base] = self._seen.get(base, 0) + 1
        unique = base if times == 1 else f"{base}__{times}"
        self._open[base].append(unique)
        return unique

    def result(self, logged: str | None) -> str | None:
        """The id of the call that a result answers; None when no call waits for it."""
        waiting = self._open.get(logged) if logged else None
        return waiting.popleft() if waiting else None
