"""Where a forked thread's own part starts, for the counter."""

from __future__ import annotations

from datetime import datetime

from trailbook.readers.codex.ledger_items import text
from trailbook.readers.codex.rollouts import RolloutLine


def first_own_line(lines: list[RolloutLine]) -> int:
    """The first turn after the moment of the replay, or one that is begun in that moment and not yet answered."""
    metas = [number for number, line in enumerate(lines) if line.kind == "session_meta"]
    if not metas:
        return 0
    first = lines[metas[0]].payload
    forked = len(metas) > 1 and text(lines[metas[1]].payload.get("id")) != text(first.get("id"))
    if forked and any(_speaks(line) for line in lines[metas[0] + 1 : metas[1]]):
        return 0
    if not forked and not text(first.get("forked_from_id")):
        return 0
    end = _end_of_moment(lines, metas[0] + 1 if forked else metas[0])
    if not forked and not any(_works(line) for line in lines[metas[0] + 1 : end]):
        return 0
    worked = max((number for number in range(metas[0] + 1, end) if _works(lines[number])), default=metas[0])
    turns = [
        number
        for number in range(worked + 1, len(lines))
        if lines[number].kind == "event_msg" and lines[number].payload.get("type") in ("task_started", "turn_started")
    ]
    begun = [turn for turn in turns if turn < end]
    if begun:
        return begun[-1]
    spoken = next((number for number in range(end, len(lines)) if _speaks(lines[number])), len(lines))
    return next((turn for turn in turns if turn <= spoken), end)


def _end_of_moment(lines: list[RolloutLine], start: int) -> int:
    before: float | None = None
    for number in range(start, len(lines)):
        now = _seconds(lines[number].timestamp)
        if before is not None and now is not None and round(now - before, 3) >= 0.5:
            return number
        before = before if now is None else now
    return len(lines)


def _seconds(stamp: str | None) -> float | None:
    try:
        return datetime.fromisoformat(stamp).timestamp() if stamp else None
    except (ValueError, OverflowError):
        return None


def _speaks(line: RolloutLine) -> bool:
    spoken = ("user_message", "agent_message", "task_complete")
    return line.kind == "response_item" or (line.kind == "event_msg" and line.payload.get("type") in spoken)


def _works(line: RolloutLine) -> bool:
    kind = line.payload.get("type")
    if line.kind == "response_item":
        return kind != "message" or line.payload.get("role") == "assistant"
    ends = ("agent_message", "agent_reasoning", "task_complete", "turn_complete", "turn_aborted", "thread_rolled_back")
    return line.kind == "compacted" or (line.kind == "event_msg" and kind in ends)
