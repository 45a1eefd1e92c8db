"""gptme's tools: by which words a fenced block is a call, and what the block's first line and its body are called.

A block has no names for its arguments; the tool's own parameters give them (gptme 0.35, and older tools).
"""

from __future__ import annotations

from trailbook.readers.values import Fields

_BODIES = {
    "shell": "command",
    "ipython": "code",
    "save": "content",
    "append": "content",
    "patch": "patch",
    "patch_many": "patches",
    "hashline_edit": "edit",
    "morph": "edit",
    "choice": "options",
    "form": "fields",
    "elicit": "spec",
    "gh": "command",
    "mcp": "command",
    "tmux": "command",
}
_WITH_PATHS = frozenset(("save", "append", "patch", "read", "hashline_edit", "morph"))
"""Tools whose first line is a path, to its end: it may have blanks in it."""
_OTHERS = (
    *("read", "todo", "complete", "memory", "progress", "restart", "vent", "watch", "request_tool_change"),
    *("todoread", "todowrite", "youtube", "screenshot", "computer", "subagent", "browser"),
)
_TOOLS = {word: word for word in (*_BODIES, *_OTHERS)} | {"py": "ipython"}


def tool_of_block(info: str, more: frozenset[str]) -> str | None:
    """The tool that a fenced block calls, by the first word of its first line; None for a block that is no call.

    `more` are tools that the chat's settings name beside gptme's own.
    """
    word = info.split(" ")[0]
    return _TOOLS.get(word) or (word if word in more else None)


def arguments_of_block(tool: str, line: str, body: str) -> Fields:
    """The arguments of a block: `line` is what its first line says behind the tool's name."""
    name = _BODIES.get(tool, "content")
    given: Fields = {}
    if tool in _WITH_PATHS:
        if line:
            given["path"] = line
        if tool != "read" or body.strip():
            given[name] = body
    elif line and not body.strip():
        given[name] = line
    else:
        if line:
            given["args"] = line
        if body or name != "content":
            given[name] = body
    return given
