"""Which files hold ShareGPT conversations, and what a list of chats says of one."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC
from pathlib import Path

from trailbook.chat import JSON
from trailbook.readers import HEAD_BYTES, Found, Passed
from trailbook.readers.pieces import listed, unzipped
from trailbook.readers.values import Fields, fields, items, moment, string

_START = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:\[\s*)?\{\s*"conversations"\s*:\s*\[\s*\{\s*"(?:from|value)"')


def find(path: Path, head: bytes) -> list[Found] | Passed | None:
    """The conversations of a file, or None when it holds none. Raises Unreadable for a cut document, OSError."""
    head = unzipped(path, head, HEAD_BYTES)
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"[") or b'"conversations"' not in head:
        return None
    return listed(path, "sharegpt", arrays=True, certain=_START.match(head) is not None, describe=_describe)


def is_conversation(value: JSON) -> bool:
    """Whether a value is such a conversation: turns that say whom they are from and what was said."""
    turns = items(fields(value).get("conversations"))
    return bool(turns) and all(isinstance(fields(turn).get("from"), str) and "value" in fields(turn) for turn in turns)


def _describe(value: JSON, found: Found) -> Found | None:
    if not is_conversation(value):
        return None
    conversation = fields(value)
    stamp = conversation.get("timestamp", fields(conversation.get("metadata")).get("timestamp"))
    return replace(found, title=_first_words(conversation), started=moment(stamp, UTC)[0])


def _first_words(conversation: Fields) -> str | None:
    for turn in map(fields, items(conversation.get("conversations"))):
        value = turn.get("value")
        if turn.get("from") in ("human", "user") and isinstance(value, str) and value.strip():
            return value.strip().split("\n")[0][:200]
    return string(conversation.get("id"))
