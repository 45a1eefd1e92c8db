"""Which files are sessions, which belong to one, and what a list can say of a session without reading it whole."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from trailbook import json_text
from trailbook.readers import HEAD_BYTES, Found, Passed
from trailbook.readers.claude_code.copies import identity
from trailbook.readers.claude_code.prompts import take_apart
from trailbook.readers.lines import first_object, records_of_head
from trailbook.readers.values import Fields, blocks, fields, moment, string

_READER = "claude_code"
_TALK = ("user", "assistant")
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
_TITLE_MARKS = tuple(f'"{kind}"'.encode() for kind in _TITLES)
_ELSE = frozenset({"system", "attachment", "progress", "file-history-snapshot", "queue-operation", "summary", *_TITLES})
_MARKED = frozenset({"leafUuid", "sessionId", "messageId", "parentUuid"})
_MARKS = tuple(f'"{key}"'.encode() for key in sorted(_MARKED))
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_FAR = 64 * HEAD_BYTES
"""How far into a file its first message is looked for, where it does not stand in the head."""
_LONGEST = 1024 * HEAD_BYTES
"""How long the line of that message may be (it can have pictures)."""


@dataclass(slots=True)
class _Folder:
    """How the logs of a folder start, looked at once for all of them."""

    sessions: dict[bytes, list[Path]] = field(default_factory=dict)
    """Sessions by their first record. A fork is not in it: it says itself what it copied."""
    agents: dict[str, list[Path]] = field(default_factory=dict)
    """Subagents' files (as older versions wrote them) by the session they belong to."""


def find(path: Path, head: bytes) -> list[Found] | Passed | None:
    """The session in a file, or why the file is none of its own, or None for a file of another kind.

    Reads the head it is given, the file's last part and the names beside it. Raises OSError.
    """
    sidecar = _sidecar(path)
    if sidecar is not None:
        return sidecar
    records = list(records_of_head(head))
    if any(record.get("version") == "hermes-agent" for record in records):
        return None  # another agent's export in this shape
    if len(head) == HEAD_BYTES and not any(map(_is_talk, records)) and any(mark in head for mark in _MARKS):
        records += _up_to_talk(path)
    talk = [record for record in records if _is_talk(record)]
    if not talk:
        known = any(string(record.get("type")) in _ELSE and not _MARKED.isdisjoint(record) for record in records)
        return Passed("it holds titles and settings, and no messages") if known else None
    session = next((name for record in talk if (name := string(record.get("sessionId")))), None)
    if all(record.get("isSidechain") is True for record in talk) and session != path.stem:
        return _subagent(path, records, session)
    return [_found(path, records, "chat", [path, *_beside(path, session)])]


def _is_talk(record: Fields) -> bool:
    """Whether a record is a message in this format; other agents' have a type and a message, but not these ids."""
    message = record.get("message")
    return (
        record.get("type") in _TALK
        and isinstance(message, dict)
        and message.get("role") == record["type"]
        and isinstance(record.get("uuid") or record.get("sessionId"), str)
    )


def _up_to_talk(path: Path) -> list[Fields]:
    """The records of a file up to its first message, which stands far down or is larger than a head."""
    records: list[Fields] = []
    with path.open("rb") as stream:
        while stream.tell() < _FAR and (line := stream.readline(_LONGEST)):
            records.append(first_object(line))
            if _is_talk(records[-1]):
                break
    return records


# --- what belongs to a session


def _sidecar(path: Path) -> Passed | None:
    """Files in a session's own folder that are no transcripts."""
    if path.parent.name == "tool-results":
        session = _session_file(path.parent.parent)
        return Passed("a long output of a session, read with it", session) if session else None
    if "subagents" not in path.parent.parts:
        return None
    session = _session_file(_above_subagents(path))
    if path.name == "journal.jsonl" and "workflows" in path.parts:
        return Passed("a journal of a workflow, no transcript", session)
    if path.name.startswith("agent-") and path.name.endswith(".meta.json"):
        return Passed("it describes a subagent", session)
    return None


def _above_subagents(path: Path) -> Path:
    """The folder that the nearest `subagents` folder above a file lies in."""
    return next(parent.parent for parent in path.parents if parent.name == "subagents")


def _session_file(folder: Path) -> Path | None:
    file = folder.with_name(folder.name + ".jsonl")
    return file if file.is_file() else None


def _subagent(path: Path, records: list[Fields], session: str | None) -> list[Found] | Passed:
    """A subagent's file: read with its session where that is there, else a chat of its own."""
    below = "subagents" in path.parent.parts
    parent = _session_file(_above_subagents(path)) if below else None
    if parent is None and session is not None and path.name.startswith("agent-"):
        parent = _session_file(path.parent / session)
    if parent is not None:
        return Passed("a subagent of a session, read with it", parent)
    about = path.with_suffix(".meta.json")
    inputs = [path, *([about] if _is_plain(about) else [])]
    if below:
        inputs += [file for file in _files_below(_above_subagents(path)) if file.parent.name == "tool-results"]
    return [_found(path, records, "subagent", inputs)]


def _beside(path: Path, session: str | None) -> Iterator[Path]:
    """The other files a session is read from: its own folder, older subagents' files, sessions it goes on from."""
    for file in _files_below(path.with_suffix("")):
        if file.parent.name == "tool-results" or file.name.endswith(".meta.json") or _is_agent(file):
            yield file
    folder = _folder(path.parent, path.parent.stat().st_mtime_ns)
    for name in dict.fromkeys((path.stem, session)):
        yield from folder.agents.get(name or "", [])
    yield from _earlier(path, folder)


def _earlier(path: Path, folder: _Folder) -> list[Path]:
    """The sessions whose records this one copied: they start with the same record and ended before, oldest first."""
    first = _first_record(path)
    same = [file for file in folder.sessions.get(identity(first), []) if file != path] if first else []
    if not same:
        return []
    this = _order(path)
    return [file for _, _, file in sorted((*_order(file), file) for file in same) if _order(file) < this]


def _order(path: Path) -> tuple[int, str]:
    return _last_time(_tail(path)) or path.stat().st_mtime_ns // 1_000_000, path.name


def _is_agent(file: Path) -> bool:
    return file.name.startswith("agent-") and file.name.endswith(".jsonl")


def _is_plain(file: Path) -> bool:
    return file.is_file() and not file.is_symlink()


def _files_below(folder: Path) -> list[Path]:
    """Every plain file in and below a folder, in order. No link is followed, neither to a file nor to a folder."""
    if folder.is_symlink():
        return []
    found = []
    for parent, folders, names in os.walk(folder, followlinks=False):
        folders.sort()
        found += [file for name in sorted(names) if _is_plain(file := Path(parent, name))]
    return found


@lru_cache(maxsize=64)
def _folder(path: Path, _changed: int) -> _Folder:
    """How the logs in a folder start; looked at again when the folder changed."""
    folder = _Folder()
    for file in sorted(path.glob("*.jsonl")):
        try:
            first = _first_record(file) if _is_plain(file) else {}
        except OSError:
            continue
        session = string(first.get("sessionId"))
        if first.get("isSidechain") is True:
            if _is_agent(file) and session is not None:
                folder.agents.setdefault(session, []).append(file)
        elif first and not first.get("forkedFrom"):
            folder.sessions.setdefault(identity(first), []).append(file)
    return folder


def _first_record(file: Path) -> Fields:
    """The first record that has an id; an empty one where none is near the start."""
    with file.open("rb") as stream:
        while stream.tell() < _FAR and (line := stream.readline(_LONGEST)):
            record = first_object(line)
            if string(record.get("uuid")) and "type" in record:
                return record
    return {}


# --- what a list says of a session


def _found(path: Path, records: list[Fields], origin: str, inputs: list[Path]) -> Found:
    tail = _tail(path)
    facts = [path.stat()]
    facts += [file.stat() for file in inputs[1:]]
    times = [time for record in records if (time := moment(record.get("timestamp"), UTC)[0]) is not None]
    names = [os.path.relpath(file, path.parent) for file in inputs]
    return Found(
        reader=_READER,
        id=_id(path, records),
        path=path,
        inputs=tuple(inputs),
        fingerprint=_fingerprint(
            [(name, fact.st_size, fact.st_mtime_ns) for name, fact in zip(names, facts, strict=True)]
        ),
        title=_title(records, tail),
        started=times[0] if times else None,
        updated=_last_time(tail) or facts[0].st_mtime_ns // 1_000_000,
        cwd=next((cwd for record in records if (cwd := string(record.get("cwd")))), None),
        origin=origin,
        size=sum(fact.st_size for fact in facts),
    )


def _id(path: Path, records: list[Fields]) -> str:
    """The file's name: the session's id where the agent gave it. One that a person gave may stand in several places."""
    if _UUID.fullmatch(path.stem) or _is_agent(path):
        return path.stem
    return f"{path.stem}-{blake2b(json_text.canonical(records[0]), digest_size=4).hexdigest()}"


def _fingerprint(facts: list[tuple[str, int, int]]) -> str:
    return blake2b(json_text.dump([list(fact) for fact in facts]), digest_size=16).hexdigest()


def _title(records: list[Fields], tail: bytes) -> str | None:
    """The title that the person or the agent gave, else the summary of this chat, else the first words asked."""
    last: dict[str, str] = {}
    ends = [first_object(line) for line in tail.split(b"\n") if any(mark in line for mark in _TITLE_MARKS)]
    known = {string(record.get("uuid")) for record in records}
    for record in (*records, *ends):
        kind = record.get("type")
        title = string(record.get(_TITLES[kind])) if isinstance(kind, str) and kind in _TITLES else None
        if title is not None and isinstance(kind, str) and _is_own(kind, record, known, tail):
            last[kind] = title
    return next((last[kind] for kind in _TITLES if kind in last), None) or _first_words(records)


def _is_own(kind: str, record: Fields, known: set[str | None], tail: bytes) -> bool:
    """Whether a title is this chat's: a summary may be that of another, which has the message it ends at."""
    leaf = string(record.get("leafUuid"))
    if kind != "summary" or leaf is None or leaf in known:
        return True
    mark = f'"{leaf}"'.encode()
    return any(mark in line and first_object(line).get("uuid") == leaf for line in tail.split(b"\n"))


def _first_words(records: list[Fields]) -> str | None:
    for record in records:
        if record.get("type") == "user" and record.get("isMeta") is not True and not record.get("isCompactSummary"):
            for block in blocks(fields(record.get("message")).get("content")):
                text = string(block.get("text")) if isinstance(block, dict) else None
                words = take_apart(text).prompt.strip() if text else ""
                if words:
                    return words.splitlines()[0]
    return None


def _tail(path: Path) -> bytes:
    """The file's last part, from the start of a line."""
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - HEAD_BYTES - 1))
        data = stream.read()
    return data if size <= HEAD_BYTES else data.partition(b"\n")[2]


def _last_time(tail: bytes) -> int | None:
    for line in reversed(tail.split(b"\n")):
        if b'"timestamp"' in line:
            time = moment(first_object(line).get("timestamp"), UTC)[0]
            if time is not None:
                return time
    return None
