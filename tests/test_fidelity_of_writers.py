"""Every trajectory that is written of every example holds all that its format carries; a reader's fault shows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC
from pathlib import Path

import pytest

from trailbook.chat import Called, Chat, Returned, Said, Thought
from trailbook.checking import compare_counted, count
from trailbook.comparison import Comparison
from trailbook.formats import TRAJECTORIES
from trailbook.readers import Found, reader
from trailbook.stores import survey
from trajectories import chats, write


def written(chat: Chat, format_name: str, folder: Path, **how: object) -> list[Found]:
    """The chat, written in a format and found again; nothing for a chat that the format has no place for."""
    path = write([chat], format_name, folder, **how)
    return survey([path]).chats if path else []


def compared(found: Found, chat: Chat, format_name: str, folder: Path, **how: object) -> Comparison | None:
    again = written(chat, format_name, folder, **how)
    return compare_counted(count(found), count(again[0])) if again else None


WAYS: dict[str, tuple[str, dict[str, object]]] = {
    **{f"{name}-marks": (name, {}) for name in TRAJECTORIES},
    **{f"{name}-images": (name, {"images": True}) for name in TRAJECTORIES},
    "atif-1.7": ("atif", {"atif_version": "1.7"}),
    "sharegpt-llamafactory": ("sharegpt", {"sharegpt_dialect": "llamafactory"}),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("found", chats(), ids=lambda found: f"{found.reader}-{found.id[:16]}")
def test_every_chat_is_written_whole(found: Found, way: str, tmp_path: Path) -> None:
    format_name, how = WAYS[way]
    comparison = compared(found, reader(found.reader).read(found, UTC), format_name, tmp_path, **how)
    if comparison is None:
        assert not any(isinstance(event, (Said, Called)) for event in reader(found.reader).read(found, UTC).events)
    else:
        assert [loss.text for loss in comparison.losses] == []


# --- faults that a reader could have


def _lose_the_slower_result(chat: Chat) -> None:
    message = {event.id: event.message for event in chat.events if isinstance(event, Called)}
    results = [event for event in chat.events if isinstance(event, Returned) and event.call]
    siblings = [event for event in results if _among(message, event) > 1]
    chat.events.remove(siblings[-1])


def _among(message: dict[str, str | None], event: Returned) -> int:
    key = message.get(event.call or "")
    return sum(other == key for other in message.values()) if key else 0


def _keep_the_last_piece_only(chat: Chat) -> None:
    pieces = [event for event in chat.events if isinstance(event, (Thought, Said, Called)) and event.message]
    keys = [event.message for event in pieces if not isinstance(event, Thought)]
    split = next(key for key in keys if keys.count(key) > 1)
    for event in [event for event in pieces if event.message == split][:-1]:
        chat.events.remove(event)


def _skip_the_subagents_file(chat: Chat) -> None:
    chat.subagents.clear()


FAULTS: dict[str, tuple[Callable[[Chat], None], str, tuple[str, ...]]] = {
    "lose the slower of two parallel results": (_lose_the_slower_result, "claude_code", TRAJECTORIES),
    "keep only the last line of a split message": (_keep_the_last_piece_only, "claude_code", TRAJECTORIES),
    "skip a subagent's file": (_skip_the_subagents_file, "claude_code", ("atif",)),
}


@pytest.mark.parametrize(
    ("fault", "format_name"), [(fault, format_name) for fault in FAULTS for format_name in FAULTS[fault][2]]
)
def test_a_fault_of_a_reader_shows_in_what_is_written(fault: str, format_name: str, tmp_path: Path) -> None:
    mistake, name, _ = FAULTS[fault]
    found = next(found for found in chats() if found.reader == name and reader(name).read(found, UTC).subagents)
    chat = reader(name).read(found, UTC)
    mistake(chat)
    comparison = compared(found, chat, format_name, tmp_path)
    assert comparison is not None
    assert not comparison.complete
