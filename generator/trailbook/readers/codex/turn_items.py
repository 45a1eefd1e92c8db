"""The items of a turn as newer versions write them (`item_completed`), told in the events of older versions.

Versions from 0.147 on log `{type: "item_completed", item: {type: "UserMessage" | "AgentMessage" | …}}`: names in
PascalCase, types of blocks in mixed case, keys in either spelling (Daily-Nerd/daimon#622, vectorize-io/hindsight#4377).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from trailbook.chat import JSON
from trailbook.readers.codex.rollouts import RolloutLine
from trailbook.readers.values import Fields, fields, items, string


def with_events_for_items(line: RolloutLine) -> list[RolloutLine]:
    """The events that a line's item says; the line itself where it is no item, or one of an unknown type."""
    if not line.is_event("item_completed"):
        return [line]
    item = {_snake(key): value for key, value in fields(line.payload.get("item")).items()}
    translate = _EVENTS.get((string(item.get("type")) or "").lower())
    if translate is None:
        return [line]
    return [replace(line, payload=payload) for payload in translate({**item, "call_id": item.get("id")})]


def _snake(key: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", key).lower()


def _speech(kind: str) -> Callable[[Fields], list[Fields]]:
    def translate(item: Fields) -> list[Fields]:
        content = item.get("content", item.get("text"))
        return [{"type": kind, "content": [_block(block) for block in items(content)] or content}]

    return translate


def _block(block: JSON) -> JSON:
    values = fields(block)
    path = string(values.get("path"))
    if (string(values.get("type")) or "").lower() in ("localimage", "local_image") and path:
        return {"type": "input_image", "image_url": path}
    return block


def _thoughts(item: Fields) -> list[Fields]:
    texts = [
        text if isinstance(text, str) else fields(text).get("text")
        for key in ("summary_text", "summary", "raw_content", "content")
        for text in items(item.get(key))
    ]
    return [{"type": "agent_reasoning", "text": text} for text in texts]


def _command(item: Fields) -> list[Fields]:
    return [{**item, "type": "exec_command_end"}]


def _file_change(item: Fields) -> list[Fields]:
    changes = item.get("changes")
    if isinstance(changes, list):
        found = [fields(change) for change in changes]
        changes = {path: _change(change) for change in found if (path := string(change.get("path")))}
    return [{**item, "type": "patch_apply_end", "changes": changes}]


def _change(change: Fields) -> JSON:
    kind = change.get("kind")
    return {"type": string(kind) or fields(kind).get("type"), "unified_diff": change.get("diff")}


def _mcp_call(item: Fields) -> list[Fields]:
    invocation: Fields = {key: item.get(key) for key in ("server", "tool", "arguments")}
    return [{**item, "type": "mcp_tool_call_end", "invocation": invocation}]


def _as(kind: str) -> Callable[[Fields], list[Fields]]:
    return lambda item: [{**item, "type": kind}]


_EVENTS: dict[str, Callable[[Fields], list[Fields]]] = {
    "usermessage": _speech("user_message"),
    "agentmessage": _speech("agent_message"),
    "reasoning": _thoughts,
    "commandexecution": _command,
    "filechange": _file_change,
    "mcptoolcall": _mcp_call,
    "websearch": _as("web_search_end"),
    "imagegeneration": _as("image_generation_end"),
    "plan": _as("plan"),
    "contextcompaction": _as("context_compacted"),
}
"""Types of items in small letters → what makes events of one."""
