"""What a raw message says, as the counter takes it: its words and pictures, its thoughts, what came of a call."""

from __future__ import annotations

import re

from trailbook import json_text
from trailbook.chat import JSON
from trailbook.ledger import bytes_of_data_url

Raw = dict[str, JSON]

_SUMMARY = re.compile(r"\s*\[CONTEXT (?:COMPACTION|SUMMARY)")
_MERGED = re.compile(r"\[PRIOR CONTEXT [^\]]*\](.*?)\[END OF PRIOR CONTEXT [^\]]*\](.*)", re.DOTALL)
_THOUGHT = re.compile(r"\s*<(think|REASONING_SCRATCHPAD)>(.*?)</\1>", re.DOTALL)
_NOTE = re.compile(r"\[(?:System(?: note)?:|IMPORTANT:|Note:|Background process|Cron delivery:)")
_REPORT = re.compile(r"\[(?:ASYNC DELEGATION|Continuing toward)")
_SKILL = re.compile(r'\[IMPORTANT: The user has invoked the "')


def parted(text: str) -> tuple[str, str | None]:
    """The message without the summary that was put into it, and the summary."""
    merged = _MERGED.match(text)
    if merged:
        return merged.group(1).strip(), merged.group(2).strip()
    return ("", text) if _SUMMARY.match(text) else (text, None)


def is_note(text: str) -> bool:
    """Whether a message of the user's role is a note that no person wrote."""
    alone = _NOTE.match(text) and text.rstrip().endswith("]") and "]\n\n" not in text and not _SKILL.match(text)
    return bool(alone or _REPORT.match(text))


def inline_thought(text: str) -> tuple[str, str]:
    """The thoughts that a reply starts with, and what comes after them."""
    thoughts, end = [], 0
    while found := _THOUGHT.match(text, end):
        thoughts.append(found.group(2).strip("\n"))
        end = found.end()
    return "\n\n".join(thought for thought in thoughts if thought.strip()), text[end:]


def thought_in(values: Raw) -> str:
    """What was thought, from the first column that has words of it."""
    for name in ("reasoning", "reasoning_content"):
        text = values.get(name)
        if isinstance(text, str) and text.strip():
            return text
    details = [object_in(item) for item in list_in(json_in(values.get("reasoning_details")))]
    found = [
        next((v for k in ("text", "thinking", "summary") if (v := d.get(k)) and isinstance(v, str)), None)
        for d in details
    ]
    texts = [text for text in found if text]
    if not texts:
        for item in list_in(json_in(values.get("codex_reasoning_items"))):
            said = [object_in(piece).get("text") for piece in list_in(object_in(item).get("summary"))]
            texts += [text for text in said if isinstance(text, str) and text]
    return "\n\n".join(texts)


def content_in(value: JSON) -> tuple[str, list[JSON], int]:
    """The words of a message's content, its pictures, and how many other files it has."""
    if isinstance(value, str) and value.startswith("\0json:"):
        content = json_in(value[6:])
        value = value[1:] if content is None else content
    if isinstance(value, dict) and "content" in value:
        value = value["content"]
    if isinstance(value, str):
        return value, [], 0
    if value is not None and not isinstance(value, list | dict):
        return json_text.dump(value).decode(), [], 0
    texts: list[str] = []
    pictures: list[JSON] = []
    files = 0
    for block in value if isinstance(value, list) else [value] if value is not None else []:
        text = block if isinstance(block, str) else object_in(block).get("text")
        kind = object_in(block).get("type")
        if isinstance(text, str):
            texts.append(text)
        elif kind in ("image_url", "input_image", "image"):
            pictures.append(block)
        elif kind in ("input_audio", "audio", "file", "input_file"):
            files += 1
        else:
            texts.append(json_text.dump(block).decode())
    return "\n".join(texts), pictures, files


def bytes_in(picture: JSON) -> bytes | None:
    """The bytes of a picture, where the log has them."""
    block = object_in(picture)
    source = object_in(block.get("source"))
    if source.get("type") == "base64":
        return bytes_of_data_url(f"data:{source.get('media_type')};base64,{source.get('data')}")
    address = block.get("image_url", source.get("url"))
    return bytes_of_data_url(address.get("url") if isinstance(address, dict) else address)


def outcome_in(values: Raw, text: str) -> tuple[bool | None, bool]:
    """Whether a result says that its call went well, and whether the call never ran."""
    data = object_in(json_in(text.strip())) if text.lstrip().startswith("{") else {}
    code, success = data.get("exit_code"), data.get("success")
    blocked = data.get("status") == "blocked" and "exit_code" in data
    if values.get("effect_disposition") in ("denied", "none") or blocked:
        return False, True
    if isinstance(code, int) and not isinstance(code, bool):
        return code == 0, False
    if isinstance(success, bool):
        return success, False
    if (isinstance(data.get("error"), str) and data["error"]) or text.startswith("Error"):
        return False, False
    return (True if "bytes_written" in data else None), False


def id_in(value: JSON) -> str | None:
    """A call's id, without that of another API's item behind it."""
    return (value.split("|")[0] or value) if isinstance(value, str) and value else None


def json_in(value: JSON) -> JSON:
    """A value that a column may hold as JSON text; None where that is damaged."""
    if not isinstance(value, str):
        return value
    try:
        return json_text.parse(value.encode("utf-8", "replace"))
    except ValueError:
        return None


def object_in(value: JSON) -> Raw:
    """The value when it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def list_in(value: JSON) -> list[JSON]:
    """The value when it is a list, else an empty one."""
    return value if isinstance(value, list) else []
