"""How a call went: what its output says of that, and what only an event says."""

from __future__ import annotations

import re
from dataclasses import dataclass

from trailbook import json_text
from trailbook.chat import FileChange, Part, Text
from trailbook.diffs import added
from trailbook.readers.codex.contents import parts_of
from trailbook.readers.images import image_from_base64
from trailbook.readers.values import Fields, fields, items, json_words, number, string, truth, whole

_HEADER = re.compile(
    r"(?:(?:Chunk ID|Command|Wall time|Original token count|Total output lines): .*\n|"
    r"(?:Process exited with code|Exit code:) -?\d+\n?){1,8}"
)
"""What Codex writes above a command's output, line by line, up to `Output:`."""
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d{1,10})$", re.MULTILINE)
_WALL_TIME = re.compile(r"^Wall time: (\d{1,9}(?:\.\d{1,9})?) seconds$", re.MULTILINE)
_STOPPED = re.compile(r"(?:Wall time: [\d.]{1,20} seconds\n)?aborted(?: by user.*)?\s*", re.IGNORECASE)
_DECLINED = (
    "exec command rejected by user",
    "patch rejected by user",
    "rejected by user",
    "user rejected MCP tool call",
    "user cancelled MCP tool call",
)
_REFUSED = ("patch rejected: ", "This action was rejected due to unacceptable risk", "approval policy is ")
_FAILED = (
    "failed to parse function arguments",
    "apply_patch verification failed",
    "unsupported call: ",
    "unsupported custom tool call: ",
    "exec_command failed for ",
    "write_stdin failed: ",
    "unable to locate image at ",
)
_SHORT = 400
"""What says that a call did not run stands by itself: a longer text is what the call came to."""


@dataclass(slots=True)
class Outcome:
    """How a call went; None for what is not known."""

    ok: bool | None = None
    exit_status: int | None = None
    not_run: str | None = None
    duration: int | None = None
    patch: str | None = None


def outcome_of_output(parts: list[Part]) -> Outcome:
    """What an output says of itself: in its header, in the `metadata` of its JSON, or in so many words."""
    text = next((part.text for part in parts if isinstance(part, Text)), "")
    if text.startswith("{"):
        return _outcome_in_json(text)
    why = _why_not_run(text) if len(text) <= _SHORT else None
    if why or text.startswith(_FAILED):
        return Outcome(ok=False, not_run=why)
    header = _HEADER.match(text)
    if header is None:
        return Outcome()
    exit_status, seconds = _EXIT.search(header.group()), _WALL_TIME.search(header.group())
    status = int(exit_status.group(1)) if exit_status else None
    duration = round(float(seconds.group(1)) * 1000) if seconds else None
    return Outcome(None if status is None else status == 0, status, None, duration)


def outcome_of_event(payload: Fields) -> Outcome:
    """What the event at a call's end says: `exec_command_end`, `patch_apply_end`, `mcp_tool_call_end`."""
    status, state = _integer(payload.get("exit_code")), payload.get("status")
    ok = status == 0 if status is not None else truth(payload.get("success"))
    if ok is None and (answer := fields(payload.get("result"))):
        content = fields(answer.get("Ok"))
        ok = bool(content) and (content.get("isError") or content.get("is_error")) is not True
    if state in ("declined", "failed") and status is None:
        ok = False
    patches = [change.patch for change in changes_of(payload) if change.patch]
    return Outcome(
        ok=ok,
        exit_status=status,
        not_run="declined" if state == "declined" else None,
        duration=_duration(payload),
        patch="\n".join(patches) or None,
    )


def parts_of_event(payload: Fields) -> list[Part] | None:
    """What came back, as the event at a call's end has it; None where it has nothing."""
    for key in ("aggregated_output", "formatted_output"):
        if isinstance(text := payload.get(key), str):
            return [Text(text)]
    printed = [text for key in ("stdout", "stderr") if isinstance(text := payload.get(key), str)]
    if printed:
        return [Text("\n".join(text.rstrip("\n") for text in printed if text))]
    answer = fields(payload.get("result"))
    if "Err" in answer:
        return [Text(string(answer["Err"]) or json_words(answer["Err"]))]
    content = fields(answer.get("Ok")) or answer
    if content:
        return _mcp_parts(content)
    return [Text(error)] if (error := string(fields(payload.get("error")).get("message"))) else None


def changes_of(payload: Fields) -> list[FileChange]:
    """The files that a patch changed, with what changed in each; none for a patch that was not applied."""
    if payload.get("success") is False or payload.get("status") in ("failed", "declined"):
        return []
    found: list[FileChange] = []
    for path, value in fields(payload.get("changes")).items():
        change = fields(value)
        kind = {"add": "created", "delete": "deleted"}.get(string(change.get("type")) or "", "changed")
        target = string(change.get("move_path")) or path
        if target != path:
            found.append(FileChange(path, "deleted"))
        found.append(FileChange(target, "created" if target != path else kind, _patch(path, target, kind, change)))
    return found


def _patch(path: str, target: str, kind: str, change: Fields) -> str | None:
    diff, content = string(change.get("unified_diff")), string(change.get("content"))
    if diff is None and content is not None:
        lines = content.removesuffix("\n").count("\n") + 1
        gone = kind == "deleted"
        diff = (f"@@ -1,{lines} +0,0 @@\n" if gone else f"@@ -0,0 +1,{lines} @@\n") + added(
            content, "-" if gone else "+"
        )
    if diff is None or diff.startswith("--- "):
        return diff
    old, new = "/dev/null" if kind == "created" else path, "/dev/null" if kind == "deleted" else target
    return f"--- {old}\n+++ {new}\n" + diff.rstrip("\n")


def _mcp_parts(content: Fields) -> list[Part]:
    parts: list[Part] = []
    for block in items(content.get("content")):
        values = fields(block)
        if values.get("type") == "image":
            parts.append(image_from_base64(values.get("data"), values.get("mimeType")))
        else:
            parts += parts_of([block])
    return parts or [Text(json_words(content))]


def _why_not_run(text: str) -> str | None:
    bare = text.strip()
    if _STOPPED.fullmatch(text):
        return "stopped"
    if bare in _DECLINED:
        return "declined"
    return "refused" if bare.startswith(_REFUSED) else None


def _outcome_in_json(text: str) -> Outcome:
    try:
        value = fields(json_text.parse(text.encode("utf-8", "replace")))
    except ValueError:
        return Outcome()
    metadata = fields(value.get("metadata")) if "output" in value else {}
    status, seconds = _integer(metadata.get("exit_code")), number(metadata.get("duration_seconds"))
    duration = round(seconds * 1000) if seconds is not None and 0 <= seconds < 1e9 else None
    return Outcome(None if status is None else status == 0, status, None, duration)


def _duration(payload: Fields) -> int | None:
    duration = fields(payload.get("duration"))
    seconds, nanoseconds = whole(duration.get("secs")), whole(duration.get("nanos"))
    if seconds is None:
        return whole(payload.get("duration_ms"))
    return seconds * 1000 + (nanoseconds or 0) // 1_000_000


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
