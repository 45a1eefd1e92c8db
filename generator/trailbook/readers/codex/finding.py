"""Recognising rollouts, cheaply: by their first lines."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC
from functools import lru_cache
from pathlib import Path

from trailbook.chat import Text
from trailbook.readers import Found, Passed
from trailbook.readers.codex.contents import injected_by, parts_of
from trailbook.readers.codex.family import children_of, identity, parent_of, spawned_by
from trailbook.readers.codex.rollouts import ENVELOPES, ZSTD_MAGIC, RolloutLine, head_lines, id_in_name
from trailbook.readers.values import fields, moment, string

_INDEX = "session_index.jsonl"
_ITEMS = frozenset(("message", "function_call", "reasoning", "local_shell_call", "custom_tool_call"))


def find(path: Path, head: bytes) -> list[Found] | Passed | None:
    """The one chat of a rollout file; a spawned thread's file belongs to its parent's chat."""
    if head[:4] == ZSTD_MAGIC and id_in_name(path) is None:
        return None
    if path.name == _INDEX and b'"thread_name"' in head:
        return Passed("the index of Codex's threads, read with them")
    lines = head_lines(head, path)
    if not _is_rollout(lines):
        return None
    meta = identity(lines)
    parent = spawned_by(meta) if meta else None
    belongs_to = parent_of(path, parent) if parent else None
    if belongs_to is not None:
        return Passed("a subagent's part of another chat, read with it", belongs_to)
    return [_found(path, lines, meta)]


def family_of(path: Path, thread: str) -> tuple[Path, ...]:
    """The rollout and those of all subagents below it."""
    files = [path]
    for child in children_of(path, thread):
        if child not in files:
            files.extend(family_of(child, id_in_name(child) or child.stem))
    return tuple(files)


def title_in_index(path: Path, thread: str) -> str | None:
    """The name that Codex's own index has for a thread."""
    for folder in path.parents[:5]:
        index = folder / _INDEX
        try:
            return _names(index, index.stat().st_mtime_ns).get(thread)
        except OSError:
            continue
    return None


def first_prompt(lines: list[RolloutLine]) -> str | None:
    """What a person first asked in these lines."""
    for line in lines:
        if line.kind == "event_msg" and line.payload.get("type") == "user_message":
            return string(line.payload.get("message"))
        if line.kind == "response_item" and line.payload.get("role") == "user":
            texts = [part.text for part in parts_of(line.payload.get("content")) if isinstance(part, Text)]
            asked = "\n".join(text for text in texts if injected_by(text) is None).strip()
            if asked:
                return asked
    return None


def _is_rollout(lines: list[RolloutLine]) -> bool:
    if not lines:
        return False
    first = lines[0]
    if first.kind == "session_meta":
        return "payload" not in first.payload and ("cwd" in first.payload or "instructions" in first.payload)
    return any(
        (line.kind == "response_item" and line.payload.get("type") in _ITEMS)
        or (line.kind in ENVELOPES - {"response_item"} and line.timestamp is not None)
        for line in lines
        if line.timestamp is not None or line.kind == "response_item"
    ) and any(line.kind in ("response_item", "event_msg", "turn_context") and line.payload for line in lines)


def _found(path: Path, lines: list[RolloutLine], meta: RolloutLine | None) -> Found:
    payload = meta.payload if meta else {}
    thread = string(payload.get("id")) or id_in_name(path) or path.stem
    inputs = family_of(path, thread)
    title = title_in_index(path, thread) or first_prompt(lines)
    stats = [input_path.stat() for input_path in inputs]
    marks = [f"{file.name} {stat.st_size} {stat.st_mtime_ns}" for file, stat in zip(inputs, stats, strict=True)]
    compressed, archived = path.name.endswith(".zst"), "archived_sessions" in path.parts
    return Found(
        reader="codex",
        id=thread,
        path=path,
        inputs=inputs,
        fingerprint=hashlib.sha256("\n".join([*marks, title or ""]).encode()).hexdigest(),
        title=title,
        started=moment(string(payload.get("timestamp")) or lines[0].timestamp, UTC)[0],
        updated=max(stat.st_mtime_ns for stat in stats) // 1_000_000,
        cwd=string(payload.get("cwd")),
        size=sum(stat.st_size for stat in stats),
        preference=(0 if compressed else 2) + (0 if archived else 1),
    )


@lru_cache(maxsize=16)
def _names(index: Path, _changed: int) -> dict[str, str]:
    names: dict[str, str] = {}
    for line in index.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            entry = fields(json.loads(line))
        except ValueError:
            continue
        thread, name = string(entry.get("id")), string(entry.get("thread_name"))
        if thread and name:
            names[thread] = name
    return names
