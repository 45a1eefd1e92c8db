"""The thinking, calls and results that some dialects write into the words of a turn, between tags."""

from __future__ import annotations

from trailbook import json_text
from trailbook.chat import JSON
from trailbook.readers.values import Fields

_THINK, _THOUGHT = "<think>", "</think>"


def take_thought(text: str) -> tuple[str, str]:
    """The thinking that a turn starts with, and the rest of it."""
    body = text.lstrip()
    end = body.find(_THOUGHT) if body.startswith(_THINK) else -1
    return ("", text) if end < 0 else (body[len(_THINK) : end].strip("\n"), body[end + len(_THOUGHT) :])


def take_blocks(text: str, tag: str) -> tuple[str, list[Fields]]:
    """The words of a turn, and its blocks of JSON between `<tag>` and `</tag>`.

    Hermes puts them last, each tag on a line of its own, so that words may speak of tags; others put them anywhere.
    """
    words, blocks = _last_blocks(text, tag)
    return (words, blocks) if blocks else _any_blocks(text, tag)


def take_calls(text: str) -> tuple[str, list[Fields]]:
    """The calls of a `function_call` turn, and the thinking and words beside them, as LLaMA-Factory takes them.

    The first block between `<tool_call>` tags is the calls, one or a list, wherever it stands; without a block what
    follows the thinking is. A turn that holds something else has none.
    """
    before, opened, rest = text.partition("<tool_call>")
    inside, closed, after = rest.partition("</tool_call>")
    if opened and closed:
        calls = _calls_in(inside)
        return (before + after.removeprefix("\n"), calls) if calls else (text, [])
    thought, rest = take_thought(text)
    calls = _calls_in(rest)
    return (text[: len(text) - len(rest)] if thought else "", calls) if calls else (text, [])


def _calls_in(text: str) -> list[Fields]:
    value = parse(text)
    found = value if isinstance(value, list) else [value]
    calls = [call for call in found if isinstance(call, dict) and "name" in call]
    return calls if len(calls) == len(found) else []


def parse(text: str) -> JSON:
    """The JSON value of a text; None where it is none."""
    try:
        return json_text.parse(text.strip().encode("utf-8", "replace"))
    except ValueError:
        return None


def _last_blocks(text: str, tag: str) -> tuple[str, list[Fields]]:
    opening, closing = f"<{tag}>\n", f"\n</{tag}>"
    end = len(text.rstrip())
    blocks: list[Fields] = []
    while text.endswith(closing, 0, end):
        start = text.rfind(opening, 0, end)
        value = parse(text[start + len(opening) : end - len(closing)]) if start >= 0 else None
        if not isinstance(value, dict) or (start and text[start - 1] != "\n"):
            break
        blocks.append(value)
        end = max(start - 1, 0)
    return text[:end], blocks[::-1]


def _any_blocks(text: str, tag: str) -> tuple[str, list[Fields]]:
    opening, closing = f"<{tag}>", f"</{tag}>"
    words: list[str] = []
    blocks: list[Fields] = []
    after = 0
    while (start := text.find(opening, after)) >= 0 and (end := text.find(closing, start)) >= 0:
        value = parse(text[start + len(opening) : end])
        if not isinstance(value, dict):
            return text, []
        words.append(text[after:start])
        blocks.append(value)
        after = end + len(closing)
    return "".join([*words, text[after:]]), blocks
