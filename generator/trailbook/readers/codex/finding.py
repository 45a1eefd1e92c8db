"""Recognising rollouts, cheaply: by their first lines."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC
from functools import lru_cache
from pathlib import Path

from trailbook.readers import Found, Passed, Unreadable
from trailbook.readers.codex.contents import injected_by, own_words, parts_of, request_in
from trailbook.readers.codex.family import family_of, home_of, identity, is_spawned, last_moment
from trailbook.readers.codex.forks import own_part
from trailbook.readers.codex.repeats import words_of_event
from trailbook.readers.codex.rollouts import BARE_ITEMS, ENVELOPES, ZSTD_MAGIC, RolloutLine, id_in_name, lines_of
from trailbook.readers.codex.turn_items import with_events_for_items
from trailbook.readers.files import read_own
from trailbook.readers.lines import Problems, records_of_head
from trailbook.readers.values import Fields, fields, moment, string

_INDEX = "session_index.jsonl"
_HISTORY = "history.jsonl"
_ENVELOPE = 256
"""Bytes of a line in which its type stands."""
_TRIES = 16
"""So many first lines may be damaged."""
_BEGINNING = 1_048_576
"""Bytes in which the first prompt is looked for: instructions and a replayed history stand before it."""


def find(path: Path, head: bytes) -> list[Found] | Passed | None:
    """The one chat of a rollout file; a spawned thread's file belongs to its parent's chat.

    Raises Unreadable for a rollout of which nothing can be opened, OSError.
    """
    if head[:4] == ZSTD_MAGIC:
        if id_in_name(path) is None:
            return None
    elif (other := _other_file(path, head)) is not None:
        return other
    elif not _is_rollout(path, head):
        return None
    lines = beginning_of(path)
    if not lines:
        raise Unreadable(f"{path} has no line that can be read: it is damaged.")
    meta = identity(lines)
    home = home_of(path, meta)
    if home is not None:
        return Passed("a subagent's part of another chat, read with it", home)
    return [_found(path, lines, meta)]


def beginning_of(path: Path) -> list[RolloutLine]:
    """A rollout's first lines, up to its first prompt if that is not too far in. Raises Unreadable, OSError."""
    lines: list[RolloutLine] = []
    replayed = False
    for line in lines_of(path, Problems(), most=_BEGINNING):
        lines += with_events_for_items(line)
        if line.kind == "session_meta":
            replayed = len(lines) > 1 or string(line.payload.get("forked_from_id")) is not None
        if not replayed and first_prompt(lines[-1:]) is not None:
            break
    return lines


def thread_of(path: Path, meta: Fields) -> str:
    """The thread's id: what it says of itself, else what its file is called."""
    return string(meta.get("id")) or id_in_name(path) or path.name.partition(".")[0]


def title_of(path: Path, thread: str, beginning: list[RolloutLine]) -> str | None:
    """A thread's title: its name in Codex's own index, else what it was first asked (after the fork, for a fork)."""
    return _title_in_index(path, thread) or first_prompt(beginning[own_part(beginning) :]) or first_prompt(beginning)


def first_prompt(lines: list[RolloutLine]) -> str | None:
    """What a person first asked in these lines."""
    for line in lines:
        if line.is_event("user_message"):
            text = words_of_event(line)
            asked = request_in(text) if injected_by(text) is None else None
        elif line.kind == "response_item" and line.payload.get("role") == "user":
            asked = request_in(own_words(parts_of(line.payload.get("content"))))
        elif line.kind == "inter_agent_communication":  # what a subagent is told to do
            asked = (string(line.payload.get("content")) or "").strip()
        else:
            continue
        if asked:
            return asked
    return None


def _other_file(path: Path, head: bytes) -> Passed | None:
    """What lies beside the rollouts and is none."""
    if path.name == _INDEX and b'"thread_name"' in head:
        return Passed("the index of Codex's threads, read with them")
    if path.name == _HISTORY and b'"session_id"' in head and b'"ts"' in head and b'"text"' in head:
        return Passed("the list of everything that was typed into Codex; its chats have it too")
    return None


def _is_rollout(path: Path, head: bytes) -> bool:
    """Whether one of the first lines is a rollout's. No other format has its envelopes."""
    named = id_in_name(path) is not None
    records = records_of_head(head)
    if not records and b"\n" not in head:  # one first line that is longer than the head: instructions stand in it
        return b'"session_meta"' in head[:_ENVELOPE] and b'"payload"' in head[:_ENVELOPE]
    return any(_is_line(record, named=named) for record in records[:_TRIES])


def _is_line(record: Fields, *, named: bool) -> bool:
    kind = string(record.get("type"))
    if kind in ENVELOPES:
        return isinstance(record.get("payload"), dict)
    if kind is None:  # the format of 2025
        first = "instructions" in record and string(record.get("id")) and string(record.get("timestamp"))
        return bool(first) or record.get("record_type") == "state"
    return named and kind in BARE_ITEMS and "message" not in record


def _found(path: Path, lines: list[RolloutLine], meta: Fields) -> Found:
    thread = thread_of(path, meta)
    inputs = family_of(path, thread)
    title = title_of(path, thread, lines)
    stats = [file.stat() for file in inputs]
    marks = [f"{file.name} {stat.st_size} {stat.st_mtime_ns}" for file, stat in zip(inputs, stats, strict=True)]
    compressed, archived = path.name.endswith(".zst"), "archived_sessions" in path.parts
    return Found(
        reader="codex",
        id=thread,
        path=path,
        inputs=inputs,
        fingerprint=hashlib.sha256("\n".join([*marks, title or ""]).encode("utf-8", "replace")).hexdigest(),
        title=title,
        started=moment(string(meta.get("timestamp")) or lines[0].timestamp, UTC)[0],
        updated=max(map(last_moment, inputs)),
        cwd=string(meta.get("cwd")),
        origin="subagent" if is_spawned(meta) else "chat",
        size=sum(stat.st_size for stat in stats),
        preference=(0 if compressed else 2) + (0 if archived else 1),
    )


def _title_in_index(path: Path, thread: str) -> str | None:
    for folder in path.parents[:5]:
        index = folder / _INDEX
        try:
            return _names(index, index.stat().st_mtime_ns).get(thread)
        except OSError:
            continue
    return None


@lru_cache(maxsize=16)
def _names(index: Path, _changed: int) -> dict[str, str]:
    names: dict[str, str] = {}
    for line in read_own(index).decode("utf-8", "replace").split("\n"):
        try:
            entry = fields(json.loads(line))
        except (ValueError, RecursionError):
            continue
        thread, name = string(entry.get("id")), string(entry.get("thread_name"))
        if thread and name:
            names[thread] = name.encode("utf-8", "replace").decode()
    return names
