"""Tokens and money, as an ATIF document has them on its steps and in its totals."""

from __future__ import annotations

from trailbook.chat import Chat, Cost, Message, Usage
from trailbook.readers.values import Fields, fields, items, number, string, whole

_IN_NO_STEP = "in-no-step"


def read_message(step: Fields, model: str | None, *, named: bool) -> Message:
    """What an agent's step says of the inference behind it; `model` is that of steps that name none."""
    metrics, extra = fields(step.get("metrics")), fields(step.get("extra"))
    return Message(
        model=string(step.get("model_name")) or model,
        usage=_usage(metrics),
        cost=_cost(metrics.get("cost_usd"), fields(metrics.get("extra"))),
        stop_reason=string(extra.get("stop_reason")),
        named=named,
        alone=step.get("llm_call_count") == 1,
    )


def read_totals(trajectory: Fields, chat: Chat) -> None:
    """What the totals say beyond the steps: what is on none of them, or everything where no step has figures."""
    totals = fields(trajectory.get("final_metrics"))
    extra = fields(totals.get("extra"))
    aside = fields(extra.get("in_no_step"))
    usage, cost = _usage(aside), _cost(aside.get("cost_usd"), {})
    if usage or cost:
        chat.messages[_IN_NO_STEP] = Message(usage=usage, cost=cost, named=False, alone=False)
    elif not any(message.usage for message in chat.messages.values()):
        chat.usage = _usage(
            {
                "prompt_tokens": totals.get("total_prompt_tokens"),
                "completion_tokens": totals.get("total_completion_tokens"),
                "cached_tokens": totals.get("total_cached_tokens"),
                "extra": extra,
            }
        )
    if not any(message.cost for message in chat.messages.values()):
        chat.cost = _cost(_own_total(trajectory), extra)


def _own_total(trajectory: Fields) -> float | None:
    """The document's money without its subagents', which the total has in it."""
    total = number(fields(trajectory.get("final_metrics")).get("total_cost_usd"))
    children = map(fields, items(trajectory.get("subagent_trajectories")))
    below = [number(fields(child.get("final_metrics")).get("total_cost_usd")) for child in children]
    known = [cost for cost in below if cost is not None]
    own = total - sum(known) if total is not None else None
    return None if own is None or (known and own < 1e-6) else round(own, 6)


def _usage(metrics: Fields) -> Usage | None:
    more = fields(metrics.get("extra"))
    usage = Usage(
        prompt_tokens=whole(metrics.get("prompt_tokens")),
        output_tokens=whole(metrics.get("completion_tokens")),
        cached_tokens=whole(metrics.get("cached_tokens")),
        cache_write_tokens=whole(more.get("cache_creation_input_tokens")),
        cache_write_hour_tokens=whole(more.get("cache_creation_1h_input_tokens")),
        reasoning_tokens=whole(more.get("reasoning_tokens")),
    )
    return usage if usage != Usage() else None


def _cost(stated: object, extra: Fields) -> Cost | None:
    usd = number(stated) if isinstance(stated, int | float) else None
    if usd is None:
        usd = number(extra.get("estimated_cost_usd"))
    cost = Cost(usd=usd, billing=string(extra.get("billing")), estimated_from=string(extra.get("cost_source")))
    return cost if cost.usd is not None or cost.billing else None
