"""Where a forked or spawned thread's own part starts, behind the parent's history that its file replays."""

from __future__ import annotations

from datetime import UTC

from trailbook.readers.codex.repeats import TURN_STARTS
from trailbook.readers.codex.rollouts import RolloutLine
from trailbook.readers.values import moment, string

_BURST = 500
"""Milliseconds: a replay is written in one go, restamped to the moment of the fork (ccusage/ccusage#950)."""


def own_part(lines: list[RolloutLine]) -> int:
    """The number (from 0) of the first line that is the thread's own; 0 for a thread that replays nothing.

    A replay follows the thread's own `session_meta`, mostly after the parent's, with stamps of one moment. The
    thread's own part starts with its own first turn. That one may be begun, and asked, in the same moment; what the
    model answers in it is not.
    """
    metas = [number for number, line in enumerate(lines) if line.kind == "session_meta"]
    if not metas:
        return 0
    own = string(lines[metas[0]].payload.get("id"))
    start = metas[0] + 1
    parents = any(string(lines[meta].payload.get("id")) != own for meta in metas[1:2])
    if parents and any(map(_is_spoken, lines[start : metas[1]])):
        return 0  # two logs in one file
    if not parents and not string(lines[metas[0]].payload.get("forked_from_id")):
        return 0
    end = _end_of_burst(lines, start if parents else metas[0])
    if not parents and not any(map(_is_work, lines[start:end])):
        return 0
    return _own_turn(lines, start, end)


def _own_turn(lines: list[RolloutLine], start: int, end: int) -> int:
    for number in range(end - 1, start - 1, -1):
        if lines[number].is_event(*TURN_STARTS):
            return number
        if _is_work(lines[number]):
            break
    for number in range(end, len(lines)):
        if lines[number].is_event(*TURN_STARTS):
            return number
        if _is_spoken(lines[number]):
            break
    return end


def _end_of_burst(lines: list[RolloutLine], start: int) -> int:
    before = _time(lines[start]) if start < len(lines) else None
    for number in range(start + 1, len(lines)):
        now = _time(lines[number])
        if before is not None and now is not None and now - before >= _BURST:
            return number
        before = now if now is not None else before
    return len(lines)


def _time(line: RolloutLine) -> int | None:
    return moment(line.timestamp, UTC)[0]


def _is_spoken(line: RolloutLine) -> bool:
    return line.kind == "response_item" or line.is_event("user_message", "agent_message", "task_complete")


def _is_work(line: RolloutLine) -> bool:
    """Whether the model or the end of a turn speaks: neither follows the moment at which a turn is begun."""
    if line.kind == "response_item":
        return line.type != "message" or line.payload.get("role") == "assistant"
    return line.kind == "compacted" or line.is_event(
        "agent_message", "agent_reasoning", "task_complete", "turn_complete", "turn_aborted", "thread_rolled_back"
    )
