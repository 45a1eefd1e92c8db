"""Which rollout files belong together: a thread that was spawned is a file of its own that names its parent."""

from __future__ import annotations

from datetime import date, timedelta
from functools import lru_cache
from pathlib import Path

from trailbook.readers import HEAD_BYTES, Unreadable
from trailbook.readers.codex.rollouts import RolloutLine, head_lines, id_in_name
from trailbook.readers.values import fields, string


def identity(lines: list[RolloutLine]) -> RolloutLine | None:
    """The line that says whose rollout it is: the first `session_meta` (a replayed parent's comes second)."""
    return next((line for line in lines if line.kind == "session_meta"), None)


def spawned_by(meta: RolloutLine) -> str | None:
    """The id of the thread that spawned this one as its subagent; None when a person started or forked it."""
    spawn = fields(fields(fields(meta.payload.get("source")).get("subagent")).get("thread_spawn"))
    if spawn:
        return string(spawn.get("parent_thread_id")) or string(meta.payload.get("forked_from_id"))
    return string(meta.payload.get("parent_thread_id"))


def children_of(path: Path, thread: str) -> list[Path]:
    """The rollouts of the threads that this one spawned, oldest first."""
    return [child for folder in _folders_after(path) for child in _spawned_in(folder).get(thread, ()) if child != path]


def parent_of(path: Path, parent: str) -> Path | None:
    """The rollout of the thread that spawned this one, if it lies where `children_of` looks from there."""
    for folder in _folders_before(path):
        for candidate in _rollouts(folder):
            if id_in_name(candidate) == parent and candidate != path:
                return candidate
    return None


def _folders_after(path: Path) -> list[Path]:
    return [path.parent, *_next_days(path.parent, +1)]


def _folders_before(path: Path) -> list[Path]:
    return [path.parent, *_next_days(path.parent, -1)]


def _next_days(folder: Path, step: int) -> list[Path]:
    # sessions/YYYY/MM/DD: a thread that was spawned past midnight lies in the next day's folder.
    try:
        day = date(int(folder.parent.parent.name), int(folder.parent.name), int(folder.name)) + timedelta(days=step)
    except (ValueError, OverflowError):
        return []
    other = folder.parent.parent.parent / f"{day:%Y}" / f"{day:%m}" / f"{day:%d}"
    return [other] if other.is_dir() else []


def _rollouts(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if id_in_name(path) and path.is_file())
    except OSError:
        return []


def _spawned_in(folder: Path) -> dict[str, list[Path]]:
    try:
        changed = folder.stat().st_mtime_ns
    except OSError:
        return {}
    return _spawned_at(folder, changed)


@lru_cache(maxsize=64)
def _spawned_at(folder: Path, _changed: int) -> dict[str, list[Path]]:
    """Parent's id → the rollouts in this folder that it spawned; looked up once for a folder as it stands."""
    found: dict[str, list[Path]] = {}
    for path in _rollouts(folder):
        try:
            with path.open("rb") as stream:
                meta = identity(head_lines(stream.read(HEAD_BYTES), path))
        except (OSError, Unreadable):
            continue
        parent = spawned_by(meta) if meta else None
        if parent is not None:
            found.setdefault(parent, []).append(path)
    return found
