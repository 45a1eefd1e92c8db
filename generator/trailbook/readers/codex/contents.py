"""What stands in Codex's messages and outputs: words, pictures, exit statuses, and what the harness put in."""

from __future__ import annotations

import re

from trailbook import json_text
from trailbook.chat import JSON, Image, Part, Text
from trailbook.readers.images import image_from_url
from trailbook.readers.values import Fields, blocks, fields, items, json_words, string, whole

_INJECTED = (
    ("<environment_context>", "context"),
    ("<user_instructions>", "instructions"),
    ("# AGENTS.md instructions", "instructions"),
    ("<permissions instructions>", "instructions"),
    ("<turn_context>", "context"),
    ("<turn_aborted>", "interruption"),
    ("<skill>", "skill"),
    ("<user_shell_command>", "command"),
)
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)", re.MULTILINE)
_HEADER_CHARACTERS = 400
"""An output's own header stands in its first lines; what comes after is what the command printed."""


def parts_of(content: JSON) -> list[Part]:
    """The parts of a message's or an output's content, in order."""
    parts: list[Part] = []
    for block in blocks(content):
        values = fields(block)
        kind = (string(values.get("type")) or "").lower()
        if kind == "input_image":
            parts.append(image_from_url(values.get("image_url")))
        elif isinstance(text := values.get("text"), str):
            parts.append(Text(text))
        else:
            parts.append(Text(json_words(block)))
    return parts


def injected_by(text: str) -> str | None:
    """A word for what put a user message's text there, when no person wrote it."""
    start = text.lstrip()
    return next((word for prefix, word in _INJECTED if start.startswith(prefix)), None)


def output_parts(output: JSON) -> list[Part]:
    """The parts of a call's output: a string, a list of blocks, or (old failures) an object."""
    if isinstance(output, dict):
        content = output.get("content")
        return [Text(content)] if isinstance(content, str) else [Text(json_words(output))]
    if output is None:
        return []
    return parts_of(output) if isinstance(output, str | list) else [Text(json_words(output))]


def exit_status_of(parts: list[Part]) -> int | None:
    """The exit status that an output states: in its header, or in the `metadata` of its JSON."""
    text = next((part.text for part in parts if isinstance(part, Text)), "")
    if text.startswith("{"):
        return whole(_metadata(text).get("exit_code"))
    match = _EXIT.search(text[:_HEADER_CHARACTERS].partition("Output:")[0])
    return int(match.group(1)) if match else None


def images_of(urls: JSON) -> list[Part]:
    """The pictures that an event lists by their addresses."""
    pictures: list[Image] = [image_from_url(url) for url in items(urls)]
    return list(pictures)


def _metadata(text: str) -> Fields:
    try:
        return fields(fields(json_text.parse(text.encode("utf-8", "replace"))).get("metadata"))
    except ValueError:
        return {}
