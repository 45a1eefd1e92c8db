"""What stands in Codex's messages and outputs: words, pictures, and what the harness put in."""

from __future__ import annotations

import re

from trailbook.chat import JSON, Image, Part, Text
from trailbook.readers.images import image_from_url
from trailbook.readers.values import blocks, fields, json_words, string

_INJECTED = (
    ("<environment_context>", "</environment_context>", "context"),
    ("<turn_context>", "</turn_context>", "context"),
    ("<goal_context>", "</goal_context>", "context"),
    ("<user_instructions>", "</user_instructions>", "instructions"),
    ("<permissions instructions>", "</permissions instructions>", "instructions"),
    ("# AGENTS.md instructions", "", "instructions"),
    ("<turn_aborted>", "</turn_aborted>", "interruption"),
    ("<skill>", "</skill>", "skill"),
    ("<user_shell_command>", "</user_shell_command>", "command"),
    ("<subagent_notification>", "</subagent_notification>", "subagent"),
)
"""How texts begin and end that the harness writes in the person's place, and a word for each (format sheet D)."""

_IMAGE_TAG = re.compile(r"<image(?: name=\[?([^\]>]*)\]?)?>|</image>")
_REQUEST = "## My request for Codex:"
"""Behind it stands what a person wrote in an editor; what stands before it are the files that were open there."""


def parts_of(content: JSON) -> list[Part]:
    """The parts of a message's or an output's content (a string or a list of blocks), in order.

    Tags that Codex puts around a picture are the picture's name and no words.
    """
    parts: list[Part] = []
    found = blocks(content)
    for number, block in enumerate(found):
        before = found[number - 1] if number else None
        if _is_image(block):
            picture = image_from_url(fields(block).get("image_url"))
            picture.name = _name_in_tag(before)
            parts.append(picture)
        elif not _is_tag(block, before, found[number + 1] if number + 1 < len(found) else None):
            text = block if isinstance(block, str) else fields(block).get("text")
            parts.append(Text(text if isinstance(text, str) else json_words(block)))
    return parts


def injected_by(text: str) -> str | None:
    """A word for what put a user message's text there; None when a person wrote it."""
    bare = text.strip()
    return next((word for start, end, word in _INJECTED if bare.startswith(start) and bare.endswith(end)), None)


def own_words(parts: list[Part]) -> str:
    """What a person wrote in a user message."""
    return "\n".join(part.text for part in parts if isinstance(part, Text) and injected_by(part.text) is None)


def request_in(text: str) -> str:
    """What a person asked, without what their editor wrote around it; for titles."""
    return text.rpartition(_REQUEST)[2].strip()


def output_parts(output: JSON) -> list[Part]:
    """The parts of a call's output: a string, a list of blocks, or (old failures) an object."""
    if isinstance(output, dict):
        content = output.get("content")
        return [Text(content)] if isinstance(content, str) else [Text(json_words(output))]
    if output is None:
        return []
    return parts_of(output) if isinstance(output, str | list) else [Text(json_words(output))]


def pictures_of(urls: list[JSON], paths: list[JSON]) -> list[Part]:
    """The pictures that an event lists by their addresses, and those that it lists by their paths."""
    files = [path for path in paths if isinstance(path, str)]
    return [*(image_from_url(url) for url in urls), *(Image(reference=path) for path in files)]


def _is_image(block: JSON) -> bool:
    values = fields(block)
    return "image_url" in values and values.get("type") in ("input_image", "image")


def _is_tag(block: JSON, before: JSON, after: JSON) -> bool:
    text = string(fields(block).get("text")) or ""
    return bool(_IMAGE_TAG.fullmatch(text)) and _is_image(before if text == "</image>" else after)


def _name_in_tag(block: JSON) -> str | None:
    match = _IMAGE_TAG.fullmatch(string(fields(block).get("text")) or "")
    return match.group(1) or None if match else None
