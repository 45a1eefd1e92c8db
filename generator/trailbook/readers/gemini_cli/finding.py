"""Recognising sessions by their header or a message of Gemini's, and finding the files that belong to one chat.

A resumed session may go on in a further file (same id, same end of the name); its subagents' files lie in a folder that
is named for its id.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from trailbook.readers import HEAD_BYTES, Found, Passed, Unreadable
from trailbook.readers.gemini_cli.contents import words_of
from trailbook.readers.gemini_cli.log import TYPES, document_in, is_document, records_in_head
from trailbook.readers.lines import Problems
from trailbook.readers.values import Fields, moment, string

_NAME = re.compile(r"session-.*-(?P<short>[\w-]{1,8})\.jsonl?")
_START = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"sessionId"\s*:\s*"[^"]*"\s*,\s*"projectHash"\s*:')
_SAFE = re.compile(r"[\w-]{1,100}")


def find(path: Path, head: bytes) -> list[Found] | Passed | None:
    """The one chat of a file, or that it is read with another.

    Raises Unreadable for a session of whose messages none is known, OSError.
    """
    if not (b'"projectHash"' in head or (b'"gemini"' in head and b'"id"' in head)):
        return None
    header, messages = records_in_head(path, head)
    known = [message for message in messages if message.get("type") in TYPES]
    if not known and is_document(path, head) and _START.match(head):
        # One that is cut before its first message says so here.
        document_in(path, Problems())
    if not header and (is_document(path, head) or not any(map(_is_of_gemini, messages))):
        return None
    if not known and len(head) < HEAD_BYTES:
        return _without_messages(path, messages)
    files = _files_of(path, header)
    if path != files[-1]:
        return Passed("the beginning of a session that goes on in another file", files[-1])
    parent = _parent_of(path, header)
    if parent is not None:
        return Passed("a subagent's session, read with the chat that started it", parent)
    return [_found(path, files, header, known)]


def _is_of_gemini(message: Fields) -> bool:
    named = string(message.get("id")) is not None
    return message.get("type") == "gemini" and named and bool({"content", "toolCalls"} & message.keys())


def _without_messages(path: Path, messages: list[Fields]) -> Passed:
    if not messages:
        return Passed("a session of Gemini CLI in which nothing was said")
    kinds = sorted({string(message.get("type")) or "no type" for message in messages})
    named = ", ".join(kinds[:5]) + (", …" if len(kinds) > 5 else "")
    raise Unreadable(f"{path.name} is a session of Gemini CLI, but none of its messages is known: {named}.")


def _found(path: Path, files: list[Path], header: Fields, known: list[Fields]) -> Found:
    identity = string(header.get("sessionId"))
    inputs = (*files, *_subagents_of(path, identity))
    status = path.stat()
    asked = (words_of(message.get("content")).strip() for message in known if message["type"] == "user")
    times = (moment(source.get(key), UTC)[0] for source, key in ((header, "startTime"), *_times(known)))
    return Found(
        reader="gemini_cli",
        id=identity or path.stem,
        path=path,
        inputs=inputs,
        fingerprint=_fingerprint(inputs),
        title=string(header.get("summary")) or next((words.split("\n")[0] for words in asked if words), None),
        started=next((time for time in times if time is not None), None),
        updated=status.st_mtime_ns // 1_000_000,
        origin="subagent" if header.get("kind") == "subagent" else "chat",
        size=sum(each.stat().st_size for each in inputs),
        preference=status.st_size,
    )


def _times(messages: list[Fields]) -> Iterable[tuple[Fields, str]]:
    return ((message, "timestamp") for message in messages)


# --- files that belong together


def _files_of(path: Path, header: Fields) -> list[Path]:
    """The files of one session, in the order in which they were begun."""
    name, identity = _NAME.fullmatch(path.name), string(header.get("sessionId"))
    if name is None or identity is None:
        return [path]
    siblings = _sessions_in(path.parent, path.parent.stat().st_mtime_ns).get(name["short"], ())
    others = [other for other in siblings if other != path and _session_in(other) == identity]
    return sorted([*others, path])


@lru_cache(maxsize=8)
def _sessions_in(folder: Path, _changed: int) -> dict[str, list[Path]]:
    """The sessions in a folder by the last part of their names, which is how their ids begin."""
    found: dict[str, list[Path]] = {}
    for path in folder.iterdir():
        name = _NAME.fullmatch(path.name)
        if name is not None and path.is_file() and not path.is_symlink():
            found.setdefault(name["short"], []).append(path)
    return found


def _session_in(path: Path) -> str | None:
    try:
        with path.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
    except OSError:
        # What cannot be read says so when it is looked at itself.
        return None
    return string(records_in_head(path, head)[0].get("sessionId"))


def _subagents_of(path: Path, identity: str | None) -> list[Path]:
    if identity is None or not _SAFE.fullmatch(identity):
        return []
    folder = path.parent / identity
    files = folder.glob("*.jsonl") if folder.is_dir() and not folder.is_symlink() else ()
    return sorted(file for file in files if file.is_file() and not file.is_symlink())


def _parent_of(path: Path, header: Fields) -> Path | None:
    """The newest file of the session that started a subagent's."""
    if header.get("kind") != "subagent":
        return None
    identity, folder = path.parent.name, path.parent.parent
    sessions = _sessions_in(folder, folder.stat().st_mtime_ns).get(identity[:8], ())
    return max((other for other in sessions if _session_in(other) == identity), default=None)


def _fingerprint(inputs: tuple[Path, ...]) -> str:
    states = (f"{path.name}-{(status := path.stat()).st_size}-{status.st_mtime_ns}" for path in inputs)
    return blake2b("\n".join(states).encode("utf-8", "replace"), digest_size=16).hexdigest()
