"""Tool results: what came back, what it changed, and the long outputs that lie in files of their own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from trailbook.chat import JSON, FileChange, Part, Place, Text
from trailbook.readers.claude_code.pictures import file_of, image_of
from trailbook.readers.files import read_own
from trailbook.readers.lines import Problems
from trailbook.readers.values import Fields, blocks, fields, items, json_words, string, whole

Outputs = Mapping[str, Path]
"""The files in the chat's own `tool-results` folder, by their names. No other file is ever opened for a result."""

_PERSISTED = "<persisted-output>"
_SAVED = re.compile(r"Full output saved to: ([^\n]*)")
_EXIT_CODE = re.compile(r"(?:Error: )?Exit code (-?\d{1,10})(?:\n|$)")
_DECLINED = ("The user doesn't want to proceed with this tool use", "The user doesn't want to take this action")
_REFUSED = ("Permission for this tool use was denied", "Permission to use ")
_STOPPED = ("[Request interrupted by user", "<tool_use_error>Cancelled:")


def parts_of(content: JSON, outputs: Outputs, problems: Problems, place: Place) -> list[Part]:
    """The content of a result: texts (a long one whole, from its file), pictures and files, in order."""
    if content is not None and not isinstance(content, str | list | dict):
        return [Text(json_words(content))]
    return [_part(block, outputs, problems, place) for block in blocks(content)]


def _part(block: JSON, outputs: Outputs, problems: Problems, place: Place) -> Part:
    if isinstance(block, str):
        return Text(_whole_output(block, outputs, problems, place))
    if isinstance(block, dict):
        kind, text = block.get("type"), block.get("text")
        if kind == "text" and isinstance(text, str):
            return Text(_whole_output(text, outputs, problems, place))
        if kind == "image":
            return image_of(block)
        if kind == "document":
            return file_of(block)
    return Text(json_words(block))


def _whole_output(text: str, outputs: Outputs, problems: Problems, place: Place) -> str:
    """The text, or what lies in the file that it was cut into, where that is in the chat's own folder."""
    if not text.startswith(_PERSISTED):
        return text
    saved = _SAVED.search(text)
    path = outputs.get(re.split(r"[\\/]", saved[1].strip())[-1]) if saved else None
    if path is not None:
        try:
            return read_own(path).decode("utf-8", "replace")
        except OSError:
            pass
    problems.count(
        "missing-output",
        "A long output was moved to a file that is not in the chat's folder; only its beginning is here.",
        place,
        lost=True,
    )
    return text


def not_run(text: str) -> str | None:
    """Why a failed call did not run, by the words of its result; None when it ran."""
    if text.startswith(_DECLINED):
        return "declined"
    if text.startswith(_REFUSED):
        return "refused"
    return "stopped" if text.startswith(_STOPPED) else None


def exit_status(text: str, outcome: Fields) -> int | None:
    """The exit status of a shell command, where the log gives one."""
    if isinstance(code := outcome.get("exitCode"), int) and not isinstance(code, bool):
        return code
    found = _EXIT_CODE.match(text)
    return int(found[1]) if found else None


def duration(outcome: Fields) -> int | None:
    """How long the call took, in milliseconds."""
    taken = whole(outcome.get("durationMs"))
    return taken if taken is not None else whole(outcome.get("totalDurationMs"))


def change_of(outcome: Fields) -> FileChange | None:
    """The file that an edit or a write changed, with the log's own hunks as a unified diff."""
    path = string(outcome.get("filePath"))
    if path is None or not ("structuredPatch" in outcome or outcome.get("type") in ("create", "update")):
        return None
    hunks = [lines for hunk in items(outcome.get("structuredPatch")) if (lines := _hunk(fields(hunk)))]
    patch = "\n".join([f"--- {path}", f"+++ {path}", *hunks]) + "\n" if hunks else None
    return FileChange(path, "created" if outcome.get("type") == "create" else "changed", patch)


def _hunk(hunk: Fields) -> str:
    lines = [line for line in items(hunk.get("lines")) if isinstance(line, str)]
    if not lines:
        return ""
    numbers = [whole(hunk.get(key)) for key in ("oldStart", "oldLines", "newStart", "newLines")]
    if None in numbers:
        return "\n".join(["@@ @@", *lines])
    return "\n".join(["@@ -{},{} +{},{} @@".format(*numbers), *lines])
