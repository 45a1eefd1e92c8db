"""The arguments of a call as a model wrote them into its text: JSON, what Python prints for it, or neither."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass

from trailbook import json_text
from trailbook.chat import JSON
from trailbook.readers.values import Fields

# The closing quote is left open, so that an unclosed string hides what is behind it, and no text takes two passes.
_JSON_TOKEN = re.compile(r'\\.|"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[{}]', re.DOTALL)
_PYTHON_TOKEN = re.compile(
    r"\\.|\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\"?|'[^'\\]*+(?:\\.[^'\\]*+)*+'?|[{}]",
    re.DOTALL,
)
_LARGEST_PYTHON = 4_000_000
"""Characters; Python's own parser takes about a hundred times as much memory as the text."""


@dataclass(slots=True, frozen=True)
class WrittenArguments:
    """The arguments of a call, and where they end in the text."""

    values: Fields
    raw: str | None
    """The text itself where it was no object in any way of writing; `values` is then empty."""
    end: int
    by_python: bool = False
    """True when they are written as Python prints a dict (gptme's Anthropic calls without streaming)."""


def arguments_at(text: str, start: int) -> WrittenArguments | None:
    """The object whose `{` stands at `start`; None where no brace closes it.

    gptme counts braces and knows double quotes only, so that a `}` in a Python string cuts its arguments short. Here
    the longest object counts that can be read.
    """
    end = _end(text, start, _JSON_TOKEN)
    values = _json(text[start:end]) if end is not None else None
    if end is not None and values is not None:
        return WrittenArguments(values, None, end)
    python_end = _end(text, start, _PYTHON_TOKEN)
    values = _python(text[start:python_end]) if python_end is not None else None
    if python_end is not None and values is not None:
        return WrittenArguments(values, None, python_end, by_python=True)
    end = end if end is not None else python_end
    return WrittenArguments({}, text[start:end], end) if end is not None else None


def end_for_gptme(text: str, start: int) -> int | None:
    """Where gptme takes the object at `start` to end; None where it takes nothing from there on for a call."""
    return _end(text, start, _JSON_TOKEN)


def _end(text: str, start: int, token: re.Pattern[str]) -> int | None:
    depth = 0
    for match in token.finditer(text, start):
        if match.group() == "{":
            depth += 1
        elif match.group() == "}":
            depth -= 1
            if depth == 0:
                return match.end()
    return None


def _json(text: str) -> Fields | None:
    try:
        value = json_text.parse(text.encode("utf-8", "replace"))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _python(text: str) -> Fields | None:
    if len(text) > _LARGEST_PYTHON:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = _as_json(ast.literal_eval(text))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _as_json(value: object) -> JSON:
    """A Python value as JSON has it. Raises ValueError for one that JSON has no form for."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, str):
        whole = json_text.replace_lone_surrogates(value)
        return whole if isinstance(whole, str) else value
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _as_json(item) for key, item in value.items()}
    raise ValueError("no JSON value")
