"""Tools as an OpenAI chat declares them, with their names as they were before they were put into allowed letters."""

from __future__ import annotations

import re

from trailbook import json_text
from trailbook.chat import Tool
from trailbook.readers.values import Fields, string

_CHANGED = re.compile(r"_x([0-9A-F]{1,5}|10[0-9A-F]{4})_")
_CUT = re.compile(r"_x_[0-9a-f]{12}$")


def tool_of(function: Fields) -> Tool | None:
    """A declared tool. A name that was cut stands whole in the first line of its description, some as JSON."""
    name, description = string(function.get("name")), string(function.get("description"))
    if not name:
        return None
    if _CUT.search(name) and description:
        line, _, rest = description.partition("\n")
        return Tool(_unspelled(line), rest or None, function.get("parameters"))
    return Tool(true_name(name), description, function.get("parameters"))


def _unspelled(line: str) -> str:
    """A name that would be no line of its own is spelled as JSON."""
    try:
        name = json_text.parse(line.encode("utf-8", "replace")) if line.startswith('"') else line
    except ValueError:
        return line
    return name if isinstance(name, str) else line


def true_name(name: str) -> str:
    """A name with `_x2E_` for a point and the like put back."""
    return _CHANGED.sub(lambda found: chr(int(found.group(1), 16)), name)
