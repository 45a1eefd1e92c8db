"""Which sessions belong together: a session that was spawned is one of its own, and the store says by whom.

OpenClaw keeps that by the sessions' keys, in `sessions.json` or in the database; OMP lays a session's subagents
into a folder of the session's name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePath

from trailbook import json_text
from trailbook.readers import Unreadable, databases
from trailbook.readers.files import is_own
from trailbook.readers.openclaw import database
from trailbook.readers.openclaw.log import lines_in
from trailbook.readers.values import fields, string, whole

INDEX = "sessions.json"

_HEAD = 4096


@dataclass(slots=True, frozen=True)
class Session:
    """One session in a store."""

    path: Path
    id: str
    key: str | None = None
    spawned_by: str | None = None
    """The key of the session that spawned it."""
    label: str | None = None
    updated: int | None = None


@dataclass(slots=True)
class _Store:
    """What the indexes of a store say of its sessions: of all agents, for one may spawn another's."""

    at: dict[tuple[Path, str], Session] = field(default_factory=dict)
    by_key: dict[str, Session] = field(default_factory=dict)
    below: dict[str, list[Session]] = field(default_factory=dict)
    """The key of a session → the sessions that it spawned."""


def session_at(path: Path, session: str) -> Session:
    """A session with what its store says of it beside the entries. Raises Unreadable, OSError."""
    return _store_of(path).at.get((path, session)) or Session(path, session)


def children_of(session: Session) -> list[Session]:
    """The sessions that this one spawned, as its store has them. Raises Unreadable, OSError."""
    store = _store_of(session.path)
    spawned = store.below.get(session.key, []) if session.key is not None else []
    return [*(one for one in spawned if one != session and not _is_above(one, session)), *_in_folder(session.path)]


def parent_of(session: Session) -> Path | None:
    """The file of the session that spawned this one, if `children_of` finds this one from there."""
    folder = session.path.parent
    above = folder.with_name(folder.name + ".jsonl")
    if session.path.suffix == ".jsonl" and is_own(above):
        return above
    spawner = _store_of(session.path).by_key.get(session.spawned_by) if session.spawned_by is not None else None
    return spawner.path if spawner and spawner != session and not _is_above(session, spawner) else None


def family_of(session: Session) -> list[Session]:
    """The session and all below it. Raises Unreadable, OSError."""
    found: dict[Session, None] = {}
    waiting = [session]
    while waiting:
        one = waiting.pop(0)
        if one not in found:
            found[one] = None
            waiting += children_of(one)
    return list(found)


def _is_above(one: Session, other: Session) -> bool:
    """Whether `one` is among those that spawned `other`: an index may run in a circle."""
    known = _store_of(other.path).by_key
    seen: set[str] = set()
    at: Session | None = other
    while at is not None and at.spawned_by is not None and at.spawned_by not in seen:
        seen.add(at.spawned_by)
        at = known.get(at.spawned_by)
        if at == one:
            return True
    return False


# --- what stores say


def _store_of(path: Path) -> _Store:
    """The store that a session's file belongs to. Raises Unreadable, OSError."""
    folder, name = path.parent, path.name if databases.is_database(path) else INDEX
    folders = [folder]
    if len(path.parents) > 3 and path.parents[2].name == "agents" and folder.name in ("sessions", "agent"):
        folders = sorted(agent / folder.name for agent in path.parents[2].iterdir())
    files = [file for each in folders if (file := each / name).is_file() and not file.is_symlink()]
    return _of_files(tuple((file, databases.state_of(file)) for file in files))


@lru_cache(maxsize=64)
def _of_files(files: tuple[tuple[Path, databases.State], ...]) -> _Store:
    store = _Store()
    for file, _state in files:
        for session in _in_database(file) if databases.is_database(file) else _in_index(file):
            store.at.setdefault((session.path, session.id), session)
            if session.key is not None:
                store.by_key.setdefault(session.key, session)
            if session.spawned_by is not None:
                store.below.setdefault(session.spawned_by, []).append(session)
    return store


def _in_database(path: Path) -> list[Session]:
    try:
        if not database.has_sessions(path):
            return []
        return [Session(path, row.id, row.key, row.spawned_by, row.label, row.updated) for row in database.rows(path)]
    except Unreadable:
        return []  # said where that file itself is looked at


def _in_index(index: Path) -> list[Session]:
    """The sessions that an index names, as far as their files are there."""
    try:
        entries = fields(json_text.parse(index.read_bytes()))
    except ValueError:
        return []
    found = []
    for key, value in entries.items():
        entry = fields(value)
        session = string(entry.get("sessionId"))
        named = PurePath(string(entry.get("sessionFile")) or f"{session}.jsonl").name
        file = index.with_name(named)
        if session is not None and is_own(file):
            label = string(entry.get("label")) or string(entry.get("displayName"))
            spawner = string(entry.get("spawnedBy"))
            found.append(Session(file, id_of(file, session), key, spawner, label, whole(entry.get("updatedAt"))))
    return found


def id_of(path: Path, session: str | None) -> str:
    """A session's id: its header's; for a thread of one (`<id>-topic-<thread>`) with what the file's name adds."""
    stem = path.name.partition(".jsonl")[0]
    return stem if session is None or stem.startswith(f"{session}-") else session


def _in_folder(path: Path) -> list[Session]:
    """Subagents' sessions in the folder of a session's name."""
    folder = path.with_suffix("")
    if path.suffix != ".jsonl" or not folder.is_dir() or folder.is_symlink():
        return []
    found = []
    for file in sorted(folder.glob("*.jsonl")):
        if file.is_file() and not file.is_symlink():
            with file.open("rb") as stream:
                header = lines_in(stream.read(_HEAD)).header
            if header:
                found.append(Session(file, id_of(file, string(header.get("id")))))
    return found
