"""In which way a chat writes its calls."""

from __future__ import annotations

from trailbook.readers.gptme.log_lines import Line
from trailbook.readers.gptme.written_calls import Writing, writes_tagged_calls
from trailbook.readers.values import Fields, items

_FORMS = ("markdown", "tool", "xml")


def writing_of(lines: list[Line], settings: Fields) -> Writing:
    """The chat's way of writing calls: from its settings, else (0.27 has none) by what it wrote."""
    form = settings.get("tool_format")
    tools = frozenset(tool for tool in items(settings.get("tools")) if isinstance(tool, str) and tool.strip())
    return Writing(
        form=form if isinstance(form, str) and form in _FORMS else _form_by_text(lines),
        tools=tools,
        answered=frozenset(line.call_id for line in lines if line.call_id is not None),
    )


def _form_by_text(lines: list[Line]) -> str:
    if any(line.call_id is not None for line in lines):
        return "tool"
    for line in lines:
        if line.role == "assistant":
            if "<tool-use>" in line.content or "<function_calls>" in line.content:
                return "xml"
            if writes_tagged_calls(line.content):
                return "tool"
    return "markdown"
