"""Which files hold sessions of Hermes, and what a list of chats says of each chat in them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC
from hashlib import blake2b
from pathlib import Path

from trailbook.readers import Found, Passed, Unreadable
from trailbook.readers.databases import MAGIC, is_database
from trailbook.readers.files import is_own
from trailbook.readers.hermes import database, exports
from trailbook.readers.hermes.about import chat_about
from trailbook.readers.hermes.facts import Facts
from trailbook.readers.hermes.lineage import Family
from trailbook.readers.hermes.places import DATABASE, SNAPSHOTS
from trailbook.readers.hermes.store import Store, opened
from trailbook.readers.pieces import Piece

_READER = "hermes"
_BESIDE = ("-wal", "-shm", "-journal")
_START = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*(?:\{\s*"session_id"\s*:\s*"[^"]*"\s*,\s*"model"\s*:|\{\s*"id"\s*:\s*"[^"]*"\s*,\s*"source"\s*:'
    rb'|\{\s*"session"\s*:\s*\{\s*"id"\s*:)'
)
_VALUE = re.compile(rb"(?:\A(?:\xef\xbb\xbf)?\s*|\n)[{\[]")
_HINTS = (b'"session_id"', b'"model_config"', b'"started_at"')
_ASIDE = (
    (
        re.compile(rb'\{"parentUuid".*"version": ?"hermes-agent"'),
        "a trace that Hermes wrote for other viewers, without thoughts, tokens and true times; export it as jsonl",
    ),
    (
        re.compile(rb'\{"exported_at": ?[\d.]+, ?"format": ?"(?:md|qmd)"'),
        "the list of what Hermes exported as Markdown",
    ),
    (
        re.compile(rb'---\nsession_id: .*\nexporter: "hermes sessions export', re.DOTALL),
        "a session that Hermes exported as Markdown, where results have no calls; export it as jsonl",
    ),
)
_FAR = 4_096
_DAMAGED = "damaged"


def find(path: Path, head: bytes) -> list[Found] | Passed | None:
    """The chats of a store, or why a file of Hermes's is none. Raises Unreadable for a damaged one, OSError."""
    if path.name.endswith(_BESIDE):
        return _beside_database(path)
    if head.startswith(MAGIC):
        return _chats(path) if database.holds_sessions(path) else None
    for pattern, why in _ASIDE:
        if pattern.match(head[:_FAR]):
            return Passed(why)
    certain = _START.match(head) is not None
    if not (certain or (_VALUE.search(head) and any(hint in head for hint in _HINTS))):
        return None
    try:
        store = opened(path)
    except Unreadable:
        if certain:
            raise
        return None
    if not store.sessions:
        return None
    return _in_database(path, store) or _chats(path)


def snapshots_of(path: Path, sessions: Iterable[str]) -> list[Path]:
    """The snapshots that lie beside a database of some of its sessions."""
    folder = path.parent / SNAPSHOTS
    named = [folder / f"session_{session}.json" for session in sessions if re.fullmatch(r"[\w.-]{1,128}", session)]
    return [file for file in named if file.is_file() and not file.is_symlink()]


def refuse_damaged(found: Found) -> None:
    """Raise Unreadable for a line of an export of which no session could be read; do nothing for other chats."""
    for piece in exports.damaged_in(found.path) if found.fingerprint.startswith(_DAMAGED) else []:
        if found.id == _damaged(found.path, piece).id:
            exports.refuse(found.path, piece)


def _beside_database(path: Path) -> Passed | None:
    main = path.with_name(path.name.rpartition("-")[0])
    try:
        known = is_database(main) and database.holds_sessions(main)
    except (OSError, Unreadable):
        return None
    return Passed("it belongs to Hermes's database", main) if known else None


def _in_database(path: Path, store: Store) -> Passed | None:
    """Whether a snapshot lies beside the database that has the same session."""
    main = path.parent.parent / DATABASE
    if path.parent.name != SNAPSHOTS or len(store.sessions) > 1 or not is_own(main) or not is_database(main):
        return None
    try:
        known = database.holds_sessions(main) and store.sessions.keys() <= database.sessions_in(main).keys()
    except (OSError, Unreadable):
        return None
    return Passed("a snapshot of a session that is in the database", main) if known else None


def _chats(path: Path) -> list[Found] | Passed:
    """The chats of a store: a session that was opened and closed again is none."""
    store = opened(path)
    facts = store.facts()
    begun = {session for session, fact in facts.items() if fact.messages}
    found = [
        _found(path, store, family, facts)
        for family in store.families.values()
        if not begun.isdisjoint(family.sessions())
    ]
    if not store.is_database:
        found += [_damaged(path, piece) for piece in exports.damaged_in(path)]
    return found or Passed("no session in it has a message")


def _found(path: Path, store: Store, family: Family, facts: dict[str, Facts]) -> Found:
    chat = chat_about(family, [store.sessions[session] for session in family.segments], UTC)
    own = [facts[session] for session in family.sessions() if session in facts]
    marks = [fact.mark for fact in own]
    if family.relation == "branch" and family.parent in facts:
        marks.append(facts[family.parent].mark)  # what it took over from there is marked
    beside = snapshots_of(path, family.segments) if store.is_database else []
    marks += [f"{file.name} {file.stat().st_size} {file.stat().st_mtime_ns}" for file in beside]
    return Found(
        reader=_READER,
        id=family.id,
        path=path,
        inputs=(path, *beside),
        fingerprint=blake2b("\n".join(marks).encode("utf-8", "replace"), digest_size=16).hexdigest(),
        title=chat.title or next((fact.words for fact in own[: len(family.segments)] if fact.words), None),
        started=chat.started,
        updated=max((fact.last for fact in own if fact.last is not None), default=chat.ended),
        cwd=chat.cwd,
        origin=chat.origin.kind,
        size=sum(fact.size for fact in own),
        remark="archived" if store.sessions[family.segments[-1]].get("archived") else None,
        preference=3 if store.is_database else 2 if "model_config" in store.sessions[family.id] else 1,
    )


def _damaged(path: Path, piece: Piece) -> Found:
    status = path.stat()
    return Found(
        reader=_READER,
        id=f"{path.stem}-{piece.number}-{piece.digest[:8]}",
        path=path,
        inputs=(path,),
        fingerprint=f"{_DAMAGED} {piece.digest}",
        updated=status.st_mtime_ns // 1_000_000,
        size=len(piece.data),
    )
