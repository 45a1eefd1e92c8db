"""Calls in an assistant's text, which is the only place where gptme's logs have them.

Three ways of writing: a fenced block with a tool's name, `@name(id): {…}` at the start of a line, and XML. The format
sheet of all three is gptme's own parser (0.35).
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass, field

from trailbook.readers.gptme.fences import code_ranges, fences, range_around
from trailbook.readers.gptme.parameters import arguments_of_block, tool_of_block
from trailbook.readers.gptme.written_arguments import arguments_at, end_for_gptme
from trailbook.readers.gptme.xml_calls import xml_calls
from trailbook.readers.values import Fields

_CALL = re.compile(r"^@([^\r\n]+?)\(([\w\-:.]+)\):\s*(?=\{)", re.MULTILINE)


@dataclass(slots=True)
class WrittenCall:
    """A call in a text, from `start` up to `end`."""

    name: str
    start: int
    end: int
    id: str | None = None
    """The log's own id, which only `@name(id)` has."""
    arguments: Fields = field(default_factory=dict)
    raw: str | None = None
    """The arguments as written, where they were no object."""
    by_python: bool = False
    """True when the arguments are written as Python prints them."""
    line: str = ""
    """What follows the tool's name in a fenced block's first line; the attributes' values in XML."""
    body: str | None = None
    """The body of a fenced block or an XML element."""


@dataclass(slots=True, frozen=True)
class Writing:
    """What has to be known of a chat to tell its calls from other text."""

    form: str = "markdown"
    """`markdown`, `tool` or `xml`."""
    tools: frozenset[str] = frozenset()
    """Tools that the chat's settings name."""
    answered: Container[str] = frozenset()
    """The ids that results name."""


def calls_in(text: str, writing: Writing, *, answered: bool = False) -> list[WrittenCall]:
    """The calls in a text with `\\n` line ends, in the order in which gptme runs them.

    `answered` says that results without an id follow the text, so that something in it was run.
    """
    tagged = _tagged(text, writing)
    if writing.form == "xml" and not any(call.id in writing.answered for call in tagged):
        return [
            WrittenCall(
                element.name,
                element.start,
                element.end,
                arguments=arguments_of_block(element.name, " ".join(element.values), element.text),
                line=" ".join(element.values),
                body=element.text,
            )
            for element in xml_calls(text, answered=answered)
        ]
    if writing.form != "tool" and not any(call.id in writing.answered for call in tagged):
        tagged = []
    return _fenced(text, writing.tools) + tagged


def writes_tagged_calls(text: str) -> bool:
    """Whether a text has `@name(id): {…}` outside of fenced blocks."""
    found = [match.start() for match in _CALL.finditer(text)]
    code = code_ranges(text) if found else []
    return any(range_around(at, code) is None for at in found)


def _fenced(text: str, more: frozenset[str]) -> list[WrittenCall]:
    calls = []
    for block in fences(text):
        tool = tool_of_block(block.info, more)
        if tool is not None:
            line = block.info.partition(" ")[2].strip()
            arguments = arguments_of_block(tool, line, block.body)
            calls.append(WrittenCall(tool, block.start, block.end, arguments=arguments, line=line, body=block.body))
    return calls


def _tagged(text: str, writing: Writing) -> list[WrittenCall]:
    calls: list[WrittenCall] = []
    code = code_ranges(text) if _CALL.search(text) else []
    at = 0
    while match := _CALL.search(text, at):
        block = range_around(match.start(), code)
        if block is not None:
            at = block[1]
            continue
        name, identity = match.groups()
        found = arguments_at(text, match.end())
        end = end_for_gptme(text, match.end())
        if found is None or (end is None and identity not in writing.answered):
            break  # gptme looks no further
        if end is not None and end > found.end and identity not in writing.answered:
            at = end  # an odd quote made gptme read on, and take all of it for no call
            continue
        at = found.end
        calls.append(
            WrittenCall(name, match.start(), found.end, identity, found.values, found.raw, by_python=found.by_python)
        )
    return calls
