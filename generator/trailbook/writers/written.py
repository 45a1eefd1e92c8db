"""What a trajectory writer gives back, and what all of them write alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import lru_cache

from trailbook.chat import Chat, Image, Part, Text
from trailbook.messages import Conversation, make_messages
from trailbook.stand_ins import mark_of

_EPOCH = date(1970, 1, 1)

MEDIA_TYPES = {"image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "image/webp": "webp"}
"""Pictures that the formats take, with the ending of their files; any other is left out and listed."""


@dataclass(slots=True, frozen=True)
class Options:
    """How trajectories are written."""

    name: str = "trajectory.json"
    """What the file will be called: what lies beside it is named after it."""
    images: bool = False
    """Pictures too, which nothing can be taken out of; else a mark with type and size stands for each."""
    branches: bool = False
    """Each abandoned branch as a record of its own, after the chat's."""
    atif_version: str = "1.8"
    sharegpt_dialect: str = "hermes"
    lines: bool = False
    """JSON lines, also where there is one document only."""


@dataclass(slots=True)
class Written:
    """A trajectory file's bytes, and the files that belong beside it, by their paths relative to it."""

    data: bytes
    sidecars: dict[str, bytes] = field(default_factory=dict)
    not_carried: dict[str, int] = field(default_factory=dict)
    """What was left out because the format has no place for it, by kind."""

    def leave_out(self, kind: str, count: int = 1) -> None:
        """Say that something was left out."""
        if count:
            self.not_carried[kind] = self.not_carried.get(kind, 0) + count


def conversations_of(chat: Chat, options: Options, written: Written) -> Iterator[tuple[str | None, Conversation]]:
    """A chat's conversations, each a record: its active path, then each branch (by its id) where they are wanted.

    What a conversation itself leaves out is counted in `written`.
    """
    for branch in (None, *(chat.branches if options.branches else ())):
        conversation = make_messages(chat, branch=branch)
        if branch is None:
            written.leave_out("branch", 0 if options.branches else conversation.branches)
            written.leave_out("script call", conversation.script_calls)
        yield branch, conversation


def moment(at: int | None) -> str | None:
    """A time as `2026-10-08T09:00:00.000Z`; None for one that is unknown or beyond the calendar."""
    if at is None:
        return None
    seconds, milliseconds = divmod(at, 1_000)
    day, second = divmod(seconds, 86_400)
    try:
        written = _date(day)
    except OverflowError:
        return None
    minute, second = divmod(second, 60)
    return f"{written}T{minute // 60:02}:{minute % 60:02}:{second:02}.{milliseconds:03}Z"


@lru_cache(maxsize=64)
def _date(day: int) -> str:
    return (_EPOCH + timedelta(days=day)).isoformat()


def words_of(text: str, parts: Iterable[Part]) -> str:
    """A text with what came with it: further words as they are, a mark for each picture and file."""
    said = [text] if text else []
    said += [part.text if isinstance(part, Text) else mark_of(part) for part in parts]
    return "\n".join(said)


def is_portable(part: Part) -> bool:
    """Whether a part is a picture that is there and of a type that the formats take."""
    return isinstance(part, Image) and bool(part.data) and part.media_type in MEDIA_TYPES


def left_out_pictures(parts: Iterable[Part], *, images: bool) -> int:
    """How many of the pictures stand as marks only."""
    return sum(isinstance(part, Image) and not (images and is_portable(part)) for part in parts)
