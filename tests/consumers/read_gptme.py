"""The calls in a text, and what is a result, as gptme itself sees them. Runs in the environment `gptme`."""

import json
import logging
import os
import sys

os.environ.update(GPTME_TIKTOKEN_TIMEOUT="0", XDG_CONFIG_HOME=os.environ["HOME"], XDG_DATA_HOME=os.environ["HOME"])
logging.disable(logging.WARNING)

from pathlib import Path  # noqa: E402

from gptme.logmanager import Log  # noqa: E402
from gptme.tools import ToolUse, get_available_tools, set_tools  # noqa: E402
from gptme.tools.base import set_tool_format  # noqa: E402
from gptme.util.master_context import is_tool_result_message  # noqa: E402


def calls(text, form):
    """Name, what follows it in the first line, body, arguments and id of each call."""
    return [
        [use.tool, use.args, use.content, use.kwargs, use.call_id]
        for use in ToolUse.iter_from_content(text, tool_format_override=form)
    ]


def messages(log, form):
    """The calls of each message of a log, and whether it is a result."""
    set_tool_format(form)
    read = Log.read_jsonl(Path(log))
    return [
        [calls(message.content, form) if message.role == "assistant" else [], is_tool_result_message(read.messages, at)]
        for at, message in enumerate(read)
    ]


set_tools(get_available_tools(include_mcp=False))
asked = json.load(sys.stdin)
told = {
    "texts": [calls(text, form) for text, form in asked["texts"]],
    "logs": [messages(log, form) for log, form in asked["logs"]],
}
print(json.dumps(told, default=str))
