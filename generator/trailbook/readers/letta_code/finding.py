"""Recognising transcripts, cheaply: by their first rows."""

from __future__ import annotations

import re
from datetime import UTC
from hashlib import blake2b
from pathlib import Path

from trailbook import json_text
from trailbook.readers import HEAD_BYTES, Found, Passed, Unreadable
from trailbook.readers.letta_code.rows import KINDS, is_known, looks_like_row
from trailbook.readers.lines import records_of_head
from trailbook.readers.values import Fields, moment, string

_START = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"kind"\s*:\s*"(?:' + "|".join(sorted(KINDS)).encode() + rb')"\s*,\s*"')
"""How a first row starts that is longer than what is looked at."""


def find(path: Path, head: bytes) -> list[Found] | Passed | None:
    """The one conversation of a transcript. Raises Unreadable for one of whose rows none is known, OSError."""
    if b'"kind"' not in head:
        return None
    rows = records_of_head(head)
    known = [row for row in rows if is_known(row)]
    if known:
        return [_found(path, known, json_text.canonical(known[0]))]
    if not rows and len(head) >= HEAD_BYTES and _START.match(head):
        return [_found(path, [], head)]
    if rows and len(head) < HEAD_BYTES and all(looks_like_row(row) and "captured_at" in row for row in rows):
        kinds = sorted({str(row["kind"]) for row in rows})
        named = ", ".join(kinds[:5]) + (", …" if len(kinds) > 5 else "")
        raise Unreadable(f"{path.name} looks like a transcript of Letta Code, but none of its rows is known: {named}.")
    return None


def _found(path: Path, rows: list[Fields], first: bytes) -> Found:
    status = path.stat()
    texts = (string(row.get("text")) for row in rows if row.get("kind") == "user")
    times = (moment(row.get("captured_at"), UTC)[0] for row in rows)
    return Found(
        reader="letta_code",
        id=_identity(path, first),
        path=path,
        inputs=(path,),
        fingerprint=f"{status.st_size}-{status.st_mtime_ns}",
        title=next((text for text in texts if text), None),
        started=next((time for time in times if time is not None), None),
        updated=status.st_mtime_ns // 1_000_000,
        size=status.st_size,
    )


def _identity(path: Path, first: bytes) -> str:
    """A conversation's id: in the agent's own folders theirs, elsewhere the file's name and its first row.

    No row names its conversation, and every file in the agent's folders has the same name.
    """
    conversation, agent = path.parent, path.parent.parent
    if path.name == "transcript.jsonl" and agent.parent.name == "transcripts":
        return f"{agent.name}/{conversation.name}"
    return f"{path.stem}-{blake2b(first, digest_size=4).hexdigest()}"
