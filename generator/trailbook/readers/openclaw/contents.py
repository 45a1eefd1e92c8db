"""What stands in a session's messages: words, pictures, tokens, money, and what a result says of itself."""

from __future__ import annotations

import re

from trailbook.chat import JSON, Cost, Image, Part, Text, Usage
from trailbook.readers.images import image_from_base64, named_type
from trailbook.readers.values import Fields, blocks, fields, json_words, number, string, whole

_EXIT = re.compile(r"\n\nCommand exited with code (\d{1,9})\s*$")
_NUMBERED = re.compile(r"([ +-]) *(\d{1,9}) (.*)")
_SKIPPED = re.compile(r" +\.\.\.")
_FENCE = "```"


def parts_of(content: JSON) -> list[Part]:
    """The parts of a message's content, in order: a bare string, or blocks of text and pictures."""
    parts: list[Part] = []
    for block in blocks(content):
        values = fields(block)
        if values.get("type") == "image":
            parts.append(_picture(values))
        elif isinstance(text := values.get("text"), str):
            parts.append(Text(text))
        elif isinstance(block, str):
            parts.append(Text(block))
        else:
            parts.append(Text(json_words(block)))
    return parts


def _picture(block: Fields) -> Image:
    data, media_type = block.get("data"), block.get("mimeType")
    if isinstance(data, str) and data.startswith("<redacted"):
        return Image(media_type=named_type(media_type), problem="it was left out of the export")
    if isinstance(data, str) and data.startswith("blob:"):
        return Image(media_type=named_type(media_type), reference=data)
    return image_from_base64(data, media_type)


def ran_by_person(message: Fields) -> str:
    """What the model is told of a command that a person ran, in the agent's own words (`!ls`)."""
    output, status = string(message.get("output")), whole(message.get("exitCode"))
    if message.get("role") == "pythonExecution":
        code = string(message.get("code")) or ""
        text = f"Ran Python:\n{_FENCE}python\n{code}\n{_FENCE}\n"
        text += f"Output:\n{_FENCE}\n{output}\n{_FENCE}" if output else "(no output)"
    else:
        text = f"Ran `{string(message.get('command')) or ''}`\n"
        text += f"{_FENCE}\n{output}\n{_FENCE}" if output else "(no output)"
    if message.get("cancelled") is True:
        return f"{text}\n\n(command cancelled)"
    return f"{text}\n\nCommand exited with code {status}" if status else text


def usage_of(usage: Fields) -> Usage | None:
    """A message's tokens: the log counts what was read from and written to the cache beside the input."""
    told = {name: whole(usage.get(name)) for name in ("input", "output", "cacheRead", "cacheWrite")}
    if all(count is None for count in told.values()):
        return None
    prompt = [count for name in ("input", "cacheRead", "cacheWrite") if (count := told[name]) is not None]
    hour = whole(usage.get("cacheWrite1h"))
    return Usage(
        prompt_tokens=sum(prompt) if told["input"] is not None else None,
        output_tokens=told["output"],
        cached_tokens=told["cacheRead"],
        cache_write_tokens=told["cacheWrite"],
        cache_write_hour_tokens=whole(fields(usage.get("cttl")).get("ephemeral1h")) if hour is None else hour,
        reasoning_tokens=whole(usage.get("reasoningTokens")),
    )


def cost_of(usage: Fields) -> Cost | None:
    """What a message cost. The log writes 0 where the agent knows no price, so 0 is unknown (format sheet B1)."""
    usd = number(fields(usage.get("cost")).get("total"))
    return Cost(usd) if usd is not None and usd > 0 else None


def exit_status_of(details: Fields, text: str) -> int | None:
    """The exit status of a command's result: in its details, or in the last line that the agent adds for the model."""
    status = details.get("exitCode")
    if isinstance(status, int) and not isinstance(status, bool):
        return status
    match = _EXIT.search(text[-200:])
    return int(match.group(1)) if match else None


def patch_of(details: Fields) -> str | None:
    """The unified diff of an edit: the log's own, or made of the one that the agent shows, with line numbers."""
    patch = string(details.get("patch"))
    if patch and "@@ " in patch:
        return patch
    shown = string(details.get("diff"))
    return _unified(shown.split("\n")) if shown else None


def _unified(lines: list[str]) -> str | None:
    """`-12 old`, `+12 new`, ` 13 same` as hunks; None where a line has no number."""
    hunks: list[list[str]] = [[]]
    starts: list[tuple[int, int]] = []
    shift = 0
    for line in lines:
        if _SKIPPED.fullmatch(line):
            hunks.append([])
            continue
        match = _NUMBERED.fullmatch(line)
        if match is None:
            return None
        sign, at, text = match[1], int(match[2]), match[3]
        if not hunks[-1]:
            # Taken and unchanged lines have their old number, added ones their new.
            starts.append((at - shift, at) if sign == "+" else (at, at + shift))
        shift += {"+": 1, "-": -1, " ": 0}[sign]
        hunks[-1].append(sign + text)
    filled = [hunk for hunk in hunks if hunk]
    return "\n".join(_hunk(start, hunk) for start, hunk in zip(starts, filled, strict=True)) or None


def _hunk(start: tuple[int, int], lines: list[str]) -> str:
    old = sum(line[0] != "+" for line in lines)
    new = sum(line[0] != "-" for line in lines)
    return "\n".join([f"@@ -{start[0]},{old} +{start[1]},{new} @@", *lines])
