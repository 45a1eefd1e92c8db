"""What a list of chats says of a session, whatever it is stored in."""

from __future__ import annotations

from dataclasses import dataclass

_LONGEST = 200


@dataclass(slots=True, frozen=True)
class Facts:
    """What a list of chats says of a session."""

    mark: str
    """Changes whenever the session or one of its messages changes."""
    messages: int
    size: int
    """Bytes of its messages."""
    last: int | None
    """The time of its last message, epoch milliseconds."""
    words: str | None
    """What was first asked."""


def first_line(text: str | None) -> str | None:
    """The first line of a text that has words at all, at most 200 characters of it."""
    words = (text or "").strip()
    return words.split("\n")[0][:_LONGEST] if words else None
