"""The tools that a trajectory declares: the log's own, and those that were called without being declared."""

from __future__ import annotations

from collections.abc import Iterable

from trailbook.chat import JSON, Chat, Tool
from trailbook.messages import Call


def tools_of(chat: Chat, calls: Iterable[Call]) -> list[Tool]:
    """The tools that the log declares, then those that were called without being declared, in order of first use."""
    tools = {tool.name: tool for tool in chat.tools}
    for call in calls:
        tools.setdefault(call.name, Tool(call.name))
    return list(tools.values())


def parameters_of(tool: Tool) -> JSON:
    """The schema of a tool's arguments: the log's own, else that of any object."""
    return tool.parameters if isinstance(tool.parameters, dict) and tool.parameters else {"type": "object"}
