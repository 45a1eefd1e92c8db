"""Where a forked or spawned thread's own part starts, behind the parent's history that its file replays."""

from __future__ import annotations

from datetime import UTC

from trailbook.readers.codex.rollouts import RolloutLine
from trailbook.readers.values import moment, string

_BURST = 500
"""Milliseconds: a replay is written in one go, restamped to the moment of the fork (ccusage/ccusage#950)."""

_TURN_STARTS = frozenset(("task_started", "turn_started"))


def own_part(lines: list[RolloutLine]) -> int:
    """The index of the first line that is the thread's own; 0 for a thread that replays nothing.

    A replay follows the thread's own `session_meta`, mostly after the parent's, with stamps of one moment. The thread's
    own part starts with its first turn: inside that moment when nothing is said after it, else behind it.
    """
    metas = [index for index, line in enumerate(lines) if line.kind == "session_meta"]
    if not metas or not (len(metas) > 1 or string(lines[metas[0]].payload.get("forked_from_id"))):
        return 0
    start = metas[1] if len(metas) > 1 else metas[0] + 1
    end = _end_of_burst(lines, start)
    if len(metas) == 1 and not any(_is_spoken(line) for line in lines[start:end]):
        return 0
    for index in range(end - 1, start, -1):
        if _is_spoken(lines[index]):
            break
        if _starts_turn(lines[index]):
            return index
    return next((index for index in range(end, len(lines)) if _starts_turn(lines[index])), end)


def _end_of_burst(lines: list[RolloutLine], start: int) -> int:
    before = _time(lines[start]) if start < len(lines) else None
    for index in range(start + 1, len(lines)):
        now = _time(lines[index])
        if before is not None and now is not None and now - before >= _BURST:
            return index
        before = now if now is not None else before
    return len(lines)


def _time(line: RolloutLine) -> int | None:
    return moment(line.timestamp, UTC)[0]


def _starts_turn(line: RolloutLine) -> bool:
    return line.kind == "event_msg" and line.payload.get("type") in _TURN_STARTS


def _is_spoken(line: RolloutLine) -> bool:
    return line.kind == "response_item" or (
        line.kind == "event_msg" and line.payload.get("type") in ("user_message", "agent_message", "task_complete")
    )
