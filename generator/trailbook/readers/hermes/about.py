"""What the columns of a chat's sessions say of it: its title and origin, its models, its tokens and its money."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from trailbook.accounting import add_cost, add_usage
from trailbook.chat import JSON, Agent, Chat, Cost, Origin, Tool, Usage
from trailbook.readers.hermes.lineage import Family
from trailbook.readers.values import Fields, fields, items, moment, moment_of_seconds, number, string, whole

_PRODUCT = "Hermes"
_ORIGINS = {
    "cron": "routine",
    "batch": "task",
    "kanban": "task",
    "subagent": "subagent",
    "tool": "client",
    "acp": "client",
    "api_server": "client",
}
_OF_MESSENGERS = ("chat_id", "user_id", "thread_id", "session_key")
"""Columns that only a session in a messenger has."""


def chat_about(family: Family, abouts: Sequence[Fields], zone: tzinfo) -> Chat:
    """The chat that some sessions are, without its events. `abouts` is what is said of each of them, in order."""
    chat = Chat(id=family.id, source="hermes", agent=Agent(_PRODUCT, None, _PRODUCT), origin=_origin(abouts[0], family))
    chat.title = _first(abouts, "title")
    chat.cwd, chat.git_branch = _first(abouts, "cwd"), _first(abouts, "git_branch")
    chat.system_prompt = _first(abouts, "system_prompt")
    chat.tools = tools_of(abouts[0].get("tools"))
    chat.started, chat.naive_times = _time(abouts[0].get("started_at"), zone)
    chat.ended, _ = _time(abouts[-1].get("ended_at"), zone)
    chat.models = list(dict.fromkeys(model for about in abouts for model in models_of(about)))
    chat.providers = list(dict.fromkeys(name for about in abouts if (name := string(about.get("billing_provider")))))
    for about in abouts:
        chat.usage = add_usage(chat.usage, _usage(about))
        chat.cost = add_cost(chat.cost, _cost(about))
    if chat.origin.kind != "subagent":
        chat.reopen = ["hermes", "--resume", family.id]
    return chat


def models_of(about: Fields) -> list[str]:
    """The models of a session, the one that its row names first."""
    named = [about.get("model"), *items(about.get("models"))]
    return list(dict.fromkeys(model for model in named if isinstance(model, str) and model))


def tools_of(value: JSON) -> list[Tool]:
    """The tools that a snapshot declares."""
    declared = [fields(fields(tool).get("function")) or fields(tool) for tool in items(value)]
    return [
        Tool(name, string(tool.get("description")), tool.get("parameters"))
        for tool in declared
        if (name := string(tool.get("name")))
    ]


def _first(abouts: Sequence[Fields], name: str) -> str | None:
    return next((value for about in abouts if (value := string(about.get(name)))), None)


def _origin(about: Fields, family: Family) -> Origin:
    source = string(about.get("source"))
    if family.relation == "subagent":
        return Origin("subagent")
    in_messenger = any(about.get(name) for name in _OF_MESSENGERS)
    kind = _ORIGINS.get(source or "", "channel" if in_messenger else "chat")
    return Origin(kind, name=string(about.get("display_name")) or (source if kind != "chat" else None))


def _time(value: JSON, zone: tzinfo) -> tuple[int | None, bool]:
    return moment(value, zone) if isinstance(value, str) else (moment_of_seconds(value), False)


def _usage(about: Fields) -> Usage | None:
    """The tokens of a session. Its columns start at 0, so zeros in all of them say nothing."""
    fresh, output = whole(about.get("input_tokens")), whole(about.get("output_tokens"))
    read, written = whole(about.get("cache_read_tokens")), whole(about.get("cache_write_tokens"))
    reasoning = whole(about.get("reasoning_tokens"))
    if not any((fresh, output, read, written, reasoning)):
        return None
    prompt = None if fresh is None else fresh + (read or 0) + (written or 0)
    return Usage(prompt, output, read, written, None, reasoning)


def _cost(about: Fields) -> Cost | None:
    """What a session cost: what was billed, else Hermes's own estimate, marked as one; None where neither is known.

    A cost column holds 0 also where nothing is known: only the status beside it says that 0 is meant.
    """
    status = about.get("cost_status")
    if status == "included":
        return Cost(None, "plan")
    actual, estimated = number(about.get("actual_cost_usd")), number(about.get("estimated_cost_usd"))
    if actual or (actual is not None and status == "actual"):
        return Cost(actual, "metered")
    if not estimated and (estimated is None or status != "estimated"):
        return None
    table = string(about.get("pricing_version")) or string(about.get("cost_source"))
    return Cost(estimated, "metered", None, f"Hermes ({table})" if table else "Hermes")
