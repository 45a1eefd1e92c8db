"""What stands in a message: words, pictures, thoughts between tags, and the summary of what was compressed."""

from __future__ import annotations

import re

from trailbook import json_text
from trailbook.chat import JSON, File, Image, Part, Text
from trailbook.readers.images import image_from_base64, image_from_url
from trailbook.readers.values import Fields, blocks, fields, items, json_words, string

_AS_JSON = "\0json:"
"""How the database marks content that is a list of parts."""
_IMAGES = ("image_url", "input_image", "image")
_FILES = ("input_audio", "audio", "file", "input_file")
_THOUGHT = re.compile(r"\s*<(think|REASONING_SCRATCHPAD)>(.*?)</\1>", re.DOTALL)
_SUMMARY = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:")
_PRIOR = "[PRIOR CONTEXT — for reference only; not a new message]"
_DIVIDER = "[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]"
_NOTES = ("[System:", "[System note:", "[IMPORTANT:", "[Note:", "[Background process", "[Cron delivery:")
_REPORTS = ("[ASYNC DELEGATION", "[Continuing toward")
_SKILL = re.compile(r'\[IMPORTANT: The user has invoked the "([^"\n]{1,80})"')


def content_of(value: JSON) -> JSON:
    """The content of a message: a text, or the list of parts that the database keeps as marked JSON."""
    if isinstance(value, str) and value.startswith(_AS_JSON):
        return parsed(value.removeprefix(_AS_JSON), otherwise=value.removeprefix("\0"))
    return value


def parsed(value: JSON, otherwise: JSON = None) -> JSON:
    """A value that a column of the database holds as JSON text, and an export as itself."""
    if not isinstance(value, str):
        return value
    try:
        return json_text.parse(value.encode("utf-8", "replace"))
    except ValueError:
        return otherwise


def words_of(value: JSON) -> str:
    """The words of a message's content, joined by line breaks."""
    return "\n".join(text for block in _blocks(value) if (text := _words(block)) is not None)


def parts_of(value: JSON) -> list[Part]:
    """The parts of a message's content, in order."""
    return [_part(block) for block in _blocks(value)]


def _blocks(value: JSON) -> list[JSON]:
    content = content_of(value)
    if isinstance(content, dict) and "content" in content:
        content = content["content"]
    if content is not None and not isinstance(content, str | list | dict):
        return [json_words(content)]
    return blocks(content)


def _words(block: JSON) -> str | None:
    """The words of a block, which of one of unknown kind are its JSON; None for a picture and for a file."""
    values = fields(block)
    text = block if isinstance(block, str) else values.get("text")
    if isinstance(text, str):
        return text
    return None if values.get("type") in (*_IMAGES, *_FILES) else json_words(block)


def _part(block: JSON) -> Part:
    words, values = _words(block), fields(block)
    if words is not None:
        return Text(words)
    kind = str(values.get("type"))
    if kind in _IMAGES:
        return _image(values)
    named = fields(values.get(kind.removeprefix("input_")))
    return File(name=string(named.get("filename")) or string(named.get("format")) or kind)


def _image(block: Fields) -> Image:
    source = fields(block.get("source"))
    if source.get("type") == "base64":
        return image_from_base64(source.get("data"), source.get("media_type"))
    address = block.get("image_url", source.get("url"))
    return image_from_url(fields(address).get("url") if isinstance(address, dict) else address)


def take_thoughts(text: str) -> tuple[str, str]:
    """The thoughts that a reply starts with, between either pair of tags, and the rest of it."""
    thoughts: list[str] = []
    end = 0
    while found := _THOUGHT.match(text, end):
        thoughts.append(found.group(2).strip("\n"))
        end = found.end()
    return "\n\n".join(thought for thought in thoughts if thought.strip()), text[end:].lstrip() if end else text


def thought_of(message: Fields) -> str:
    """What was thought, from the one of several columns that has words (they repeat each other)."""
    for name in ("reasoning", "reasoning_content"):
        text = message.get(name)
        if isinstance(text, str) and text.strip():
            return text
    told = [fields(item) for item in items(parsed(message.get("reasoning_details")))]
    texts = [string(item.get("text")) or string(item.get("thinking")) or string(item.get("summary")) for item in told]
    for item in items(parsed(message.get("codex_reasoning_items"))) if not any(texts) else []:
        texts += [string(fields(piece).get("text")) for piece in items(fields(item).get("summary"))]
    return "\n\n".join(text for text in texts if text)


def sealed_thought_of(message: Fields) -> str | None:
    """A thought that the log has only encrypted."""
    for name in ("codex_reasoning_items", "reasoning_details"):
        for item in map(fields, items(parsed(message.get(name)))):
            sealed = string(item.get("encrypted_content")) or string(item.get("data"))
            if sealed:
                return sealed
    return None


def reply_in_items(message: Fields) -> str:
    """The words of a reply that stand only in `codex_message_items`."""
    found = [fields(item) for item in items(parsed(message.get("codex_message_items")))]
    texts = [words_of(item.get("content")) for item in found]
    return "\n".join(text for text in texts if text)


def is_summary(text: str) -> bool:
    """Whether a message is the summary of what was compressed, whatever role it was given."""
    return take_summary(text)[1] is not None


def take_summary(text: str) -> tuple[str, str | None]:
    """A message without the summary that compression put into it, and that summary (None where there is none)."""
    if text.startswith(_PRIOR) and _DIVIDER in text:
        prior, _, summary = text.removeprefix(_PRIOR).partition(_DIVIDER)
        return prior.strip(), summary.strip()
    return ("", text) if text.lstrip().startswith(_SUMMARY) else (text, None)


def injected_by(message: Fields, text: str) -> str | None:
    """A word for what put a message into the person's mouth; None when a person wrote it to the agent."""
    if message.get("observed") in (1, True):
        return "observed"
    whole = text.startswith(_NOTES) and text.rstrip().endswith("]") and "]\n\n" not in text
    return "notice" if text.startswith(_REPORTS) or (whole and command_of(text) is None) else None


def command_of(text: str) -> str | None:
    """The slash command that a prompt was made of."""
    found = _SKILL.match(text)
    return f"/{found.group(1)}" if found else None
