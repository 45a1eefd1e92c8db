"""The timeline as `show --json` prints it: the shape of Conch's own (sheet §2), clipped as that is.

What Conch has no name for is added beside: `waitingMs`, `questions`, `branch`, `inherited`, steps of the kind `noted`.
Fields that are not known are left out where Conch has them optional, and null where it has not.
"""

from __future__ import annotations

from trailbook.chat import JSON, Cost, Usage
from trailbook.timeline import Step, Timeline, Totals, Turn

_TITLE, _WORDS, _NAME, _DETAIL, _PEEK, _URL = 120, 120, 200, 400, 1_200, 2_000
_DIFF_LINES, _DIFF_LINE, _DIFF, _FILES = 240, 400, 40_000, 50

_ORIGINS = ("routine", "task", "channel", "client", "artifact")


def timeline_json(timeline: Timeline) -> dict[str, JSON]:
    """The whole timeline as a JSON object, times in epoch milliseconds, no step left out however many there are."""
    return {
        "conversationId": timeline.chat,
        "title": timeline.title,
        "origin": timeline.origin if timeline.origin in _ORIGINS else "chat",
        "startedAt": timeline.started,
        "endedAt": timeline.ended,
        "steps": [_step(step) for step in timeline.steps],
        "turns": [_turn(turn) for turn in timeline.turns],
        "totals": _totals(timeline.totals),
    }


def clip(text: str, limit: int) -> str:
    """As it is up to `limit` UTF-16 units, else its beginning with an ellipsis as the last of them."""
    if len(text) <= limit // 2:
        return text
    units = text[: limit + 1].encode("utf-16-le", "surrogatepass")
    if len(units) <= 2 * limit:
        return text
    return units[: 2 * (limit - 1)].decode("utf-16-le", "ignore").rstrip() + "…"


def _step(step: Step) -> dict[str, JSON]:
    words = step.kind in ("asked", "said")
    files: list[JSON] = [{"path": change.path, "kind": change.kind} for change in step.files[:_FILES]]
    fields: dict[str, JSON] = {
        "id": clip(step.id, _NAME),
        "kind": step.kind,
        "at": step.at,
        "durationMs": step.duration,
        "turn": step.turn,
        "family": step.family,
        "title": clip(step.title, _TITLE if words else _NAME),
        "detail": clip(step.detail, _DETAIL) if step.detail else None,
        "status": step.status,
        "anchor": clip(step.anchor, _NAME) if step.anchor else None,
        "peek": _peek(step),
        "diff": _diff(step.diff) if step.diff else None,
        "files": files or None,
        "shot": clip(step.shot, _NAME) if step.shot else None,
        "url": clip(step.url, _URL) if step.url else None,
        "branch": step.branch,
        "inherited": step.inherited or None,
    }
    return {name: value for name, value in fields.items() if value is not None or name == "at"}


def _peek(step: Step) -> str | None:
    """The look at a step's words: of a prompt only where its title does not say it all."""
    text = step.text or ""
    if step.kind == "asked":
        return clip(text, _PEEK) if text != clip(text, _WORDS) else None
    if step.kind in ("thought", "said", "tool", "noted"):
        return clip(text.strip(), _PEEK) or None
    return None


def _diff(diff: str) -> str:
    lines = diff.split("\n")
    shown = [clip(line, _DIFF_LINE) for line in lines[:_DIFF_LINES]]
    while sum(len(line) + 1 for line in shown) > _DIFF - 40:
        shown.pop()
    if len(shown) < len(lines):
        shown.append(f"@@ {len(lines) - len(shown)} more lines @@")
    return "\n".join(shown)


def _turn(turn: Turn) -> dict[str, JSON]:
    fields: dict[str, JSON] = {
        "index": turn.index,
        "at": turn.at,
        "endAt": turn.ended if turn.settled else None,
        "outcome": turn.outcome,
        "engine": turn.engine,
        "model": clip(turn.model, _NAME) if turn.model else None,
        "usage": _usage(turn.usage) if turn.usage else None,
        "cost": _cost(turn.cost) if turn.cost else None,
        "waitingMs": turn.waiting or None,
        "branch": turn.branch,
        "inherited": turn.inherited or None,
    }
    return {name: value for name, value in fields.items() if value is not None or name == "at"}


def _usage(usage: Usage) -> dict[str, JSON]:
    fields: dict[str, JSON] = {
        "inputTokens": usage.prompt_tokens,
        "outputTokens": usage.output_tokens,
        "cachedInputTokens": usage.cached_tokens,
        "cacheWriteTokens": usage.cache_write_tokens,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _cost(cost: Cost) -> dict[str, JSON]:
    fields: dict[str, JSON] = {
        "billing": cost.billing,
        "usd": cost.usd,
        "savedUsd": cost.saved_usd,
        "estimatedFrom": cost.estimated_from,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _totals(totals: Totals) -> dict[str, JSON]:
    usage = totals.usage or Usage()
    fields: dict[str, JSON] = {
        "durationMs": totals.duration,
        "waitingMs": totals.waiting,
        "inputTokens": usage.prompt_tokens,
        "outputTokens": usage.output_tokens,
        "usd": totals.usd,
        "planTurns": totals.plan_turns,
        "tools": totals.tools,
        "approvals": totals.approvals,
        "questions": totals.questions,
        "files": totals.files,
        "failed": totals.failed,
    }
    return {**fields, "estimatedFrom": totals.estimated_from} if totals.estimated_from else fields
