"""Which files hold OpenAI chats, and what a list of chats says of one."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from trailbook.chat import JSON
from trailbook.readers import Found, Passed
from trailbook.readers.pieces import listed
from trailbook.readers.values import Fields, fields, items

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
# What may stand beside the messages. Sessions of some agents have `messages` too, and always much else beside.
_BESIDE = frozenset(
    {"messages", "tools", "functions", "parallel_tool_calls", "function_call", "tool_choice", "metadata", "weight"}
)
_IN_MESSAGE = frozenset(
    {
        "role", "content", "name", "tool_calls", "tool_call_id", "function_call", "weight", "refusal", "audio",
        "annotations", "reasoning", "reasoning_content",
    }
)  # fmt: skip

_START = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:\[\s*)?\{\s*"messages"\s*:\s*\[\s*\{\s*"role"')


def find(path: Path, head: bytes) -> list[Found] | Passed | None:
    """The chats of a file, or None when it holds none. Raises Unreadable for a cut document, OSError."""
    if (
        head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"[")
        or b'"messages"' not in head
        or b'"role"' not in head
    ):
        return None
    return listed(path, "openai", arrays=True, certain=_START.match(head) is not None, describe=_describe)


def is_chat(value: JSON) -> bool:
    """Whether a value is such a chat: its messages and hardly anything else."""
    chat = fields(value)
    messages = items(chat.get("messages"))
    return bool(messages) and chat.keys() <= _BESIDE and all(map(_is_message, messages))


def _is_message(value: JSON) -> bool:
    message = fields(value)
    return message.get("role") in _ROLES and message.keys() <= _IN_MESSAGE


def _describe(value: JSON, found: Found) -> Found | None:
    if not is_chat(value):
        return None
    return replace(found, title=_first_words(fields(value)))


def _first_words(chat: Fields) -> str | None:
    for message in map(fields, items(chat.get("messages"))):
        words = words_of(message.get("content")).strip() if message.get("role") == "user" else ""
        if words:
            return words.split("\n")[0][:200]
    return None


def words_of(content: JSON) -> str:
    """The words of a message; its pictures say nothing."""
    if isinstance(content, str):
        return content
    texts = [part if isinstance(part, str) else fields(part).get("text") for part in items(content)]
    return "\n".join(text for text in texts if isinstance(text, str))
