"""Recognising sessions, cheaply: files of JSON lines, archives of them, databases and exported bundles."""

from __future__ import annotations

import os
import re
from datetime import UTC
from hashlib import blake2b
from pathlib import Path

from trailbook.readers import HEAD_BYTES, Found, Passed, compressed, databases
from trailbook.readers.lines import Problems, Record
from trailbook.readers.openclaw import bundle, database, trace
from trailbook.readers.openclaw.agents import agent_of, is_entry
from trailbook.readers.openclaw.family import INDEX, Session, family_of, id_of, parent_of, session_at
from trailbook.readers.openclaw.log import Log, first_prompt, lines_in, name_in, split
from trailbook.readers.values import fields, moment, string

_ARCHIVE = re.compile(r"(?P<stem>.+)\.jsonl\.(?P<why>reset|deleted|bak)\.(?P<when>[^/]+?)(?:\.zst)?")
_POINTER = ".trajectory-path.json"
_SCHEMA, _POINTER_SCHEMA = b'"openclaw-trajectory"', b'"openclaw-trajectory-pointer"'
_SCHEMA_BYTES = 4096
_FIRST = 24
"""How many rows of a session a list looks at, from the beginning."""
_BLOCK = 4 * HEAD_BYTES
"""Compressed bytes that surely hold a whole block (of up to 128 kB); less may give nothing at all."""


def find_session(agent: str, path: Path, head: bytes) -> list[Found] | Passed | None:
    """The chats of a file, if it is one of this agent's ("openclaw", "pi" or "omp"). Raises Unreadable, OSError."""
    if head.startswith(databases.MAGIC):
        return _in_database(path) if agent == "openclaw" else None
    if agent == "openclaw" and (aside := _aside(path, head)) is not None:
        return aside
    if bundle.is_branch(path, head):
        return _in_bundle(path) if agent == "openclaw" else None
    if head.startswith(compressed.MAGIC):
        if path.suffix != ".zst" or ".jsonl" not in path.name:
            return None
        with path.open("rb") as stream:
            head = compressed.decompress(stream.read(_BLOCK), path, HEAD_BYTES)[0][:HEAD_BYTES]
    if b'"session"' not in head:
        return None
    log = lines_in(head)
    if not _is_session(log) or agent_of(path, log) != agent:
        return None
    return _in_lines(agent, path, log, whole=len(head) < HEAD_BYTES)


def _is_session(log: Log) -> bool:
    """Whether what was read of a log has this format's header and, if anything follows it, an entry."""
    if string(log.header.get("id")) is None or not {"timestamp", "cwd"} & log.header.keys():
        return False
    return not log.entries or any(map(is_entry, log.entries))


# --- files that are no chats


def _aside(path: Path, head: bytes) -> Passed | None:
    """What stands beside sessions and is none (openclaw/openclaw#70680, #71960)."""
    if path.name == INDEX and b'"sessionId"' in head:
        return Passed("the index of OpenClaw's sessions, read with them")
    if (store := databases.owner_of(path)) is not None and database.has_sessions(store):
        return Passed("what belongs to a database while it is in use, read with it", store)
    part = bundle.part_of(path, head)
    if part is not None:
        return part
    is_pointer = path.name.endswith(_POINTER) or _POINTER_SCHEMA in head
    if not is_pointer and not path.name.endswith(trace.ENDING) and _SCHEMA not in head[:_SCHEMA_BYTES]:
        return None
    session = path.with_name(f"{path.name.removesuffix(_POINTER).removesuffix(trace.ENDING)}.jsonl")
    belongs_to = session if session.is_file() else None
    if is_pointer:
        return Passed("it says where the runtime trace of a session lies", belongs_to)
    return Passed("a runtime trace of a session, which repeats what the session says", belongs_to)


# --- chats


def _in_lines(agent: str, path: Path, log: Log, *, whole: bool) -> list[Found] | Passed:
    archive = _ARCHIVE.fullmatch(path.name)
    identity = id_of(path, string(log.header.get("id")))
    if archive is not None:
        if whole and not log.entries:
            return Passed(f"an archive of a session ({archive['why']}), with nothing in it")
        if archive["why"] != "bak" and path.with_name(f"{archive['stem']}.jsonl").is_file():
            # The session went on under the same id: this is what was before.
            identity = f"{identity}.{archive['why']}.{archive['when']}"
        session = Session(path, identity)
    else:
        session = session_at(path, identity)
        parent = parent_of(session)
        if parent is not None:
            return Passed("a subagent's part of another chat, read with it", parent)
    found = _found(agent, session, log, path.stat().st_size, bool(archive))
    return [found]


def _in_bundle(path: Path) -> list[Found]:
    problems = Problems()
    log = split(bundle.records(path, problems), problems)
    session = Session(path, string(log.header.get("id")) or path.parent.name)
    return [_found("openclaw", session, log, path.stat().st_size, False)]


def _in_database(path: Path) -> list[Found] | Passed | None:
    holds = database.has_sessions(path)
    if holds is None:
        return None
    found = []
    for row in database.rows(path) if holds else []:
        session = session_at(path, row.id)
        if parent_of(session) is None:
            found.append(_found("openclaw", session, _first_rows(path, row.id), row.size, False))
    return found or Passed("a database of OpenClaw without a chat in it")


def _first_rows(path: Path, session: str) -> Log:
    first: list[Record] = []
    for record in database.records(path, session, Problems()):
        first.append(record)
        if len(first) == _FIRST:
            break
    return split(first, Problems())


def _found(agent: str, session: Session, log: Log, size: int, archived: bool) -> Found:
    path = session.path
    family = [session] if archived else family_of(session)
    inputs = _inputs(family)
    in_database = databases.is_database(path)
    entries = [*log.entries, *([] if in_database or path.suffix == ".zst" else lines_in(_tail(path)).entries)]
    name = name_in(entries) or log.title or string(log.header.get("title")) or session.label
    title = name or first_prompt(log.entries)
    times = (moment(fields(entry.value).get("timestamp"), UTC)[0] for entry in reversed(entries))
    updated = session.updated or next(filter(None, times), None) or path.stat().st_mtime_ns // 1_000_000
    return Found(
        reader=agent,
        id=session.id,
        path=path,
        inputs=tuple(inputs),
        fingerprint=_fingerprint(family, inputs, title),
        title=title,
        started=moment(log.header.get("timestamp"), UTC)[0],
        updated=updated,
        cwd=string(log.header.get("cwd")),
        origin=origin_of(session),
        size=size if in_database else sum(file.stat().st_size for file in inputs),
        preference=3 if in_database else 0 if path.name == bundle.BRANCH else 1 if archived else 2,
        remark="archived" if archived else None,
    )


def origin_of(session: Session) -> str:
    """How a session came to be, by its key: `agent:<agent>:<what>…`, `cron:<job>`, `hook:<id>`."""
    words = (session.key or "").split(":")
    if words[0] == "agent":
        words = words[2:] or [""]
    if session.spawned_by is not None or words[0] == "subagent":
        return "subagent"
    kinds = {"cron": "routine", "hook": "client"}
    return kinds.get(words[0]) or ("channel" if len(words) > 2 else "chat")


def _inputs(family: list[Session]) -> list[Path]:
    """Every file that a chat is read from."""
    files: dict[Path, None] = {}
    for session in family:
        if session.path.name == bundle.BRANCH:
            files.update(dict.fromkeys(bundle.inputs_of(session.path)))
            continue
        files[session.path] = None
        runtime = None if databases.is_database(session.path) else trace.file_of(session.path, session.id)
        if runtime is not None:
            files[runtime] = None
    return list(files)


def _fingerprint(family: list[Session], inputs: list[Path], title: str | None) -> str:
    """Of a session in a database its rows count, for the others in it change more often."""
    marks = [repr(title)]
    for session in family:
        if databases.is_database(session.path):
            marks += [repr(row) for row in database.rows(session.path) if row.id == session.id]
    for file in inputs:
        if not databases.is_database(file):
            stat = file.stat()
            marks.append(f"{file.name} {stat.st_size} {stat.st_mtime_ns}")
    return blake2b("\n".join(marks).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _tail(path: Path) -> bytes:
    """The file's last part, from the start of a line; nothing of a file that the head has whole."""
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        if size <= HEAD_BYTES:
            return b""
        stream.seek(size - HEAD_BYTES)
        return stream.read().partition(b"\n")[2]
