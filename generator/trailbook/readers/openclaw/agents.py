"""Three agents write the same entries: OpenClaw, Pi and OMP (Oh My Pi). What tells whose session a log is."""

from __future__ import annotations

import re
from pathlib import Path

from trailbook.readers.lines import Record
from trailbook.readers.openclaw.log import Log
from trailbook.readers.values import fields, string

PRODUCTS = {"openclaw": "OpenClaw", "pi": "Pi", "omp": "OMP"}
"""The agents by the names of their readers."""

_ENTRIES = frozenset(
    (
        "message",
        "model_change",
        "thinking_level_change",
        "compaction",
        "branch_summary",
        "custom",
        "custom_message",
        "label",
        "session_info",
        "reset",
    )
)
_ONLY_OMP = frozenset(
    (
        "title",
        "session_init",
        "title_change",
        "mode_change",
        "service_tier_change",
        "ttsr_injection",
        "credential_pin",
        "model_usage",
        "reset_boundary",
    )
)
_PLAIN_ID = re.compile(r"[0-9a-f]{8}")
_STAMPED = re.compile(r"\d{4}-\d\d-\d\dT[\dTZ.:-]+_[^/]+\.jsonl")


def is_entry(entry: Record) -> bool:
    """Whether a record is an entry of a session, and no other format's."""
    kind = _kind(entry)
    if kind == "message":
        return string(fields(fields(entry.value).get("message")).get("role")) is not None
    return kind in _ENTRIES or kind in _ONLY_OMP


def agent_of(path: Path, log: Log) -> str:
    """The name of the reader for the agent that wrote a session.

    Only OMP has certain entries, and a title above the header. Pi names its files by time and id, OpenClaw by id alone;
    of a file that was renamed, the entries' ids tell as much as can be told.
    """
    where = path.as_posix()
    if log.title is not None or "/.omp/" in where or any(map(_is_omp, log.entries)):
        return "omp"
    if _STAMPED.fullmatch(path.name) or "/.pi/" in where:
        return "pi"
    if path.name.startswith(string(log.header.get("id")) or ".") or any(map(_is_mirror, log.entries)):
        return "openclaw"
    ids = [fields(entry.value).get("id") for entry in log.entries]
    plain = all(isinstance(identity, str) and _PLAIN_ID.fullmatch(identity) for identity in ids if identity is not None)
    return "pi" if ids and plain and log.header.get("version") in (None, 1, 2, 3) else "openclaw"


def _kind(entry: Record) -> str | None:
    return string(fields(entry.value).get("type"))


def _is_omp(entry: Record) -> bool:
    kind = _kind(entry)
    return kind in _ONLY_OMP or (kind == "model_change" and "model" in fields(entry.value))


def _is_mirror(entry: Record) -> bool:
    return fields(fields(entry.value).get("message")).get("provider") == "openclaw"
