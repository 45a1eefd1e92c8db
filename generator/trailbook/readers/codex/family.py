"""Which rollout files belong together: a thread that was spawned is a file of its own that names its parent.

A store has a folder for each day, `sessions/YYYY/MM/DD`, and a flat `archived_sessions`. A thread lies in the folder
of the day on which it began, those it spawned lie in that one or a later one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from functools import lru_cache
from itertools import islice
from pathlib import Path

from trailbook.readers import Unreadable
from trailbook.readers.codex.rollouts import ZSTD_MAGIC, RolloutLine, id_in_name, lines_of
from trailbook.readers.files import is_own, open_own
from trailbook.readers.lines import Problems
from trailbook.readers.values import Fields, fields, moment, string

_STORES = ("sessions", "archived_sessions")
_DAY = re.compile(r"rollout-(\d{4}-\d{2}-\d{2})T")
_TIME = re.compile(rb'"timestamp": ?"([0-9T:.Z+-]{19,35})"')
_TAIL = 65_536
"""How much of a file's end is looked at for the time of its last record."""
_LONGEST = 1_000
"""Days that a thread is taken to last at most, so that a time that is none costs little."""
_FIRST_LINES = 16
"""A thread's own `session_meta` is its first line, if that is not damaged."""


def identity(lines: list[RolloutLine]) -> Fields:
    """What a thread says of itself: its first `session_meta` (a replayed parent's comes second)."""
    return next((line.payload for line in lines if line.kind == "session_meta"), {})


def is_spawned(meta: Fields) -> bool:
    """Whether an agent started this thread, and no person."""
    return bool(fields(meta.get("source")).get("subagent")) or string(meta.get("parent_thread_id")) is not None


def spawn_of(meta: Fields) -> Fields:
    """What a spawned thread says of how it was spawned."""
    return fields(fields(fields(meta.get("source")).get("subagent")).get("thread_spawn"))


def spawned_by(meta: Fields) -> str | None:
    """The id of the thread that spawned this one as its subagent; None when a person started or forked it."""
    if not is_spawned(meta):
        return None
    parents = (spawn_of(meta).get("parent_thread_id"), meta.get("parent_thread_id"), meta.get("forked_from_id"))
    parent = next((parent for parent in parents if isinstance(parent, str) and parent), None)
    return parent if parent != string(meta.get("id")) else None


def family_of(path: Path, thread: str) -> tuple[Path, ...]:
    """The rollout and those of all threads that were spawned below it, each once, a thread before those it spawned."""
    files = {thread: path}
    waiting = [(path, thread)]
    while waiting:
        for child, file in sorted(_children_of(*waiting.pop(0)).items()):
            if child not in files:
                files[child] = file
                waiting.append((file, child))
    return tuple(files.values())


def home_of(path: Path, meta: Fields) -> Path | None:
    """The rollout with which this one is read: that of the thread at the top, whose `family_of` has this thread.

    None for a thread that is a chat of its own: nobody spawned it, or the log of who did is not there.
    """
    thread, parent = id_in_name(path), spawned_by(meta)
    known = {thread}
    home = None
    while parent is not None:
        file = _rollout_before(path, parent)
        above = _meta_of(file) if file else None
        if parent in known or file is None or above is None or thread not in _children_of(file, parent):
            return None if parent in known else home
        known.add(parent)
        home, path, thread, parent = file, file, parent, spawned_by(above)
    return home


def last_moment(path: Path) -> int:
    """When the last record of a rollout was written; where that cannot be seen cheaply, when the file was changed.

    Epoch milliseconds. Raises OSError.
    """
    with open_own(path) as stream:
        if stream.read(4) != ZSTD_MAGIC:
            stream.seek(max(0, path.stat().st_size - _TAIL))
            times = _TIME.findall(stream.read(_TAIL))
            known = moment(times[-1].decode(), UTC)[0] if times else None
            if known is not None:
                return known
    return path.stat().st_mtime_ns // 1_000_000


# --- folders


def _children_of(path: Path, thread: str) -> dict[str, Path]:
    """The rollouts of the threads that this one spawned, by their ids."""
    found: dict[str, Path] = {}
    for folder in _folders_after(path):
        for child, file in _spawned_in(folder).get(thread, {}).items():
            if file != path:
                found.setdefault(child, file)
    return found


def _folders_after(path: Path) -> Iterator[str]:
    """The folders in which what a thread spawned may lie: from the day it began to the day it was last at work."""
    yield str(path.parent)
    store, day = _store(path), _day(path)
    if store is None or day is None:
        return
    for ordinal in range(day.toordinal(), _last_day(path, day) + 1):
        day = date.fromordinal(ordinal)
        yield f"{store}/sessions/{day.year:04}/{day.month:02}/{day.day:02}"
    yield f"{store}/archived_sessions"


def _last_day(path: Path, day: date) -> int:
    """The number of the last day on which a thread may have spawned another; days are local, its times are not."""
    try:
        last = datetime.fromtimestamp(last_moment(path) / 1000, UTC).toordinal() + 1
    except (ValueError, OverflowError):
        last = day.toordinal()
    return min(last, day.toordinal() + _LONGEST, date.max.toordinal())


def _rollout_before(path: Path, thread: str) -> Path | None:
    """The rollout of a thread that was at work when this one began."""
    for folder in _folders_before(path):
        file = _rollouts_in(folder).get(thread)
        if file is not None and file != path:
            return file
    return None


def _folders_before(path: Path) -> Iterator[Path]:
    """The folders in which the thread that spawned this one may lie: from its day back."""
    yield path.parent
    store, day = _store(path), _day(path)
    if store is None or day is None:
        return
    last = f"{day:%Y/%m/%d}"
    for year in reversed(_below(store / "sessions")):
        for month in reversed(_below(year)):
            for folder in reversed(_below(month)):
                if f"{year.name}/{month.name}/{folder.name}" <= last:
                    yield folder
    yield store / "archived_sessions"


def _store(path: Path) -> Path | None:
    return next((folder.parent for folder in path.parents[:5] if folder.name in _STORES), None)


def _day(path: Path) -> date | None:
    match = _DAY.match(path.name)
    try:
        return date.fromisoformat(match.group(1)) if match else None
    except ValueError:
        return None


def _below(folder: Path) -> tuple[Path, ...]:
    try:
        return _below_at(folder, folder.stat().st_mtime_ns)
    except OSError:
        return ()


@lru_cache(maxsize=1_024)
def _below_at(folder: Path, _changed: int) -> tuple[Path, ...]:
    return tuple(sorted(path for path in folder.iterdir() if path.name.isdigit() and not path.is_symlink()))


# --- files of a folder


def _rollouts_in(folder: Path) -> dict[str, Path]:
    if any(above.is_symlink() for above in (folder, *folder.parents[:2])):
        return {}  # what a link leads to is looked at by itself, or not at all
    try:
        return _rollouts_at(folder, folder.stat().st_mtime_ns)
    except OSError:
        return {}


@lru_cache(maxsize=1_024)
def _rollouts_at(folder: Path, _changed: int) -> dict[str, Path]:
    """The rollouts of a folder by their ids; of a plain one and a compressed one the plain one, which sorts first."""
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        thread = id_in_name(path)
        if thread is not None and is_own(path):
            found.setdefault(thread, path)
    return found


def _spawned_in(folder: str) -> dict[str, dict[str, Path]]:
    # As text: a thread that was at work for a year has hundreds of folders behind it.
    try:
        return _spawned_at(folder, os.stat(folder).st_mtime_ns)  # noqa: PTH116
    except OSError:
        return {}


@lru_cache(maxsize=1_024)
def _spawned_at(folder: str, _changed: int) -> dict[str, dict[str, Path]]:
    """Parent's id → the rollouts in this folder that it spawned, by their ids; looked up once for a folder as it is."""
    found: dict[str, dict[str, Path]] = {}
    for thread, path in _rollouts_in(Path(folder)).items():
        meta = _meta_of(path)
        parent = spawned_by(meta) if meta else None
        if parent is not None:
            found.setdefault(parent, {})[thread] = path
    return found


def _meta_of(path: Path) -> Fields | None:
    """What a rollout says of itself; None for one that cannot be read."""
    try:
        return identity(list(islice(lines_of(path, Problems()), _FIRST_LINES)))
    except (OSError, Unreadable):
        return None
