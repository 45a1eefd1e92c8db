"""What came of a call, by the signs in results that Hermes itself goes by (`agent/display.py` there)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from trailbook import json_text
from trailbook.chat import FileChange
from trailbook.readers.values import Fields, items, string

_BY_PERSON = re.compile(r"denied by (?:the )?user|user (?:has )?denied", re.IGNORECASE)
_BY_INTERRUPT = re.compile(r"interrupt", re.IGNORECASE)
_BY_SILENCE = "timed out without user response"
_KINDS = {"files_modified": "changed", "files_created": "created", "files_deleted": "deleted"}


@dataclass(slots=True)
class Outcome:
    """What a result says of its call."""

    ok: bool | None = None
    not_run: str | None = None
    exit_status: int | None = None
    patch: str | None = None
    changes: list[FileChange] = field(default_factory=list)


def outcome_of(text: str, disposition: str | None, tool: str | None, arguments: Fields) -> Outcome:
    """What came of a call. `disposition` is Hermes's word for what it changed: `denied`, `none`, `unknown`."""
    data = _object_in(text)
    reason = _not_run(text, data, disposition)
    if reason is not None:
        return Outcome(ok=False, not_run=reason)
    code = data.get("exit_code")
    status = code if isinstance(code, int) and not isinstance(code, bool) else None
    outcome = Outcome(_went_well(text, data, status), exit_status=status)
    if outcome.ok and tool in ("patch", "write_file"):
        outcome.patch = string(data.get("diff"))
        outcome.changes = _changes(data, arguments, outcome.patch)
    return outcome


def _not_run(text: str, data: Fields, disposition: str | None) -> str | None:
    said = string(data.get("error")) or text
    if disposition == "denied":
        return "declined"
    if data.get("status") == "blocked" and "exit_code" in data:
        if _BY_PERSON.search(said):
            return "declined"
        return "expired" if _BY_SILENCE in said else "refused"
    if disposition == "none":
        return "stopped" if _BY_INTERRUPT.search(said) else "refused"
    return None


def _went_well(text: str, data: Fields, status: int | None) -> bool | None:
    if status is not None:
        return status == 0
    success = data.get("success")
    if isinstance(success, bool):
        return success
    if string(data.get("error")) or text.startswith("Error"):
        return False
    return True if "bytes_written" in data else None


def _changes(data: Fields, arguments: Fields, patch: str | None) -> list[FileChange]:
    listed = [
        FileChange(path, kind) for key, kind in _KINDS.items() for path in items(data.get(key)) if isinstance(path, str)
    ]
    named = string(arguments.get("path"))
    changes = listed or ([FileChange(named)] if named else [])
    if len(changes) == 1:
        changes[0].patch = patch
    return changes


def _object_in(text: str) -> Fields:
    if not text.lstrip().startswith("{"):
        return {}
    try:
        value = json_text.parse(text.strip().encode("utf-8", "replace"))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
