"""Hermes Agent's own converter of a session to a trajectory. Runs in the environment `hermes`."""

import json
import sys
from types import SimpleNamespace

from agent.agent_runtime_helpers import convert_to_trajectory_format
from agent.system_prompt import format_tools_for_system_message


def converted(chat):
    """The conversation that Hermes saves of some messages, the first of them what was asked."""
    agent = SimpleNamespace(tools=chat["tools"])
    agent._format_tools_for_system_message = lambda: format_tools_for_system_message(agent)
    messages = chat["messages"]
    return convert_to_trajectory_format(agent, messages, messages[0]["content"], True)


print(json.dumps([converted(chat) for chat in json.load(sys.stdin)]))
