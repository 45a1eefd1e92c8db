"""The sessions of one chat as a `Chat`: what compression parted is one again, subagents hang on their calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import tzinfo
from itertools import takewhile
from pathlib import Path

from trailbook import json_text
from trailbook.chat import Asked, Branch, Called, Chat, Diagnostic, Returned, Said, Tool
from trailbook.readers import Found, Unreadable
from trailbook.readers.hermes.about import chat_about, models_of, tools_of
from trailbook.readers.hermes.conversation import Conversation
from trailbook.readers.hermes.finding import refuse_damaged, snapshots_of
from trailbook.readers.hermes.generations import generations, is_taken_back, key_of
from trailbook.readers.hermes.lineage import Family
from trailbook.readers.hermes.store import Row, Store, opened
from trailbook.readers.lines import Problems
from trailbook.readers.values import Fields, fields, items, number, string

_HANDS_OFF = "delegate_task"
_GOOD_ENDS = ("stop", "end_turn")


@dataclass(slots=True, frozen=True)
class _Segment:
    """One of the sessions of a chat."""

    about: Fields
    rows: list[Row]


def read(found: Found, zone: tzinfo) -> Chat:
    """The chat, with its subagents. Raises Unreadable, OSError."""
    store = opened(found.path)
    family = store.families.get(found.id)
    if family is None:
        refuse_damaged(found)
        raise Unreadable(f"{found.path.name} has changed since it was listed: list it again.")
    chat = _read_family(store, family, zone)
    if store.is_database:
        chat.tools = _tools_beside(found.path, family)
    return chat


def _read_family(store: Store, family: Family, zone: tzinfo) -> Chat:
    problems = Problems()
    segments = [_Segment(*store.read(session, problems)) for session in family.segments]
    chat = chat_about(family, [segment.about for segment in segments], zone)
    if family.parent is not None:
        chat.parent = store.chat_of.get(family.parent, family.parent)
        chat.forked = family.relation == "branch"
        if family.parent not in store.sessions:
            problems.add("missing-parent", "The session that this one comes from is not here, nor what it had before.")
    _fill(Conversation(chat, problems, zone), segments, _inherited(store, family, segments[0]))
    times = [event.at for event in chat.events if event.at is not None]
    chat.ended = max(times, default=None) if chat.ended is None else chat.ended
    chat.completed = _completed(chat)
    chat.subagents = [_read_family(store, child, zone) for child in family.subagents]
    _join(chat)
    chat.diagnostics = problems.found
    return chat


def _tools_beside(path: Path, family: Family) -> list[Tool]:
    """The tools that a snapshot beside the database declares: the database has none (harnesses.md A2)."""
    for snapshot in reversed(snapshots_of(path, family.segments)):
        try:
            tools = tools_of(fields(json_text.parse(snapshot.read_bytes())).get("tools"))
        except (OSError, ValueError):
            continue
        if tools:
            return tools
    return []


# --- its messages


def _fill(conversation: Conversation, segments: list[_Segment], inherited: int) -> None:
    rows = [(row, models_of(segment.about)) for segment in segments for row in segment.rows]
    told = [index for index, (row, _) in enumerate(rows) if not is_taken_back(row.values)]
    found = generations([rows[index][0] for index in told])
    kept = {told[at] for at in found.copies}
    unsaid = {told[at] for at in found.unsaid}
    before = None
    for index, (row, models) in enumerate(rows):
        if not is_taken_back(row.values):
            conversation.branch, before = None, row.place
        elif conversation.branch is None:
            conversation.branch = row.key
            conversation.chat.branches[row.key] = Branch(row.key, left_at=before)
        conversation.inherited = index < inherited
        conversation.model = models[0] if len(models) == 1 else None
        if index in unsaid:
            conversation.compacted(row)
        conversation.take(row, kept=index in kept)


def _inherited(store: Store, family: Family, first: _Segment) -> int:
    """How many of a branch's first messages were copied from its parent. They are stored anew, with new times."""
    if family.relation != "branch" or family.parent not in store.sessions:
        return 0
    _, rows = store.read(family.parent or "", Problems())
    started = number(first.about.get("started_at"))
    keys = (key_of(row.values) for row in rows if _stands_before(row, started))
    return sum(1 for _ in takewhile(lambda row: key_of(row.values) in keys, first.rows))


def _stands_before(row: Row, started: float | None) -> bool:
    time = number(row.values.get("timestamp"))
    return started is None or time is None or time <= started + 1


def _completed(chat: Chat) -> bool | None:
    """Whether the last reply ended well, by its own finish reason; None where nothing says so."""
    for event in reversed(chat.events):
        if isinstance(event, Said) and event.branch is None:
            message = chat.messages.get(event.message or "")
            return True if message is not None and message.stop_reason in _GOOD_ENDS else None
        if isinstance(event, Called | Returned | Asked) and event.branch is None:
            return None
    return None


# --- its subagents


def _join(chat: Chat) -> None:
    """Find the call that started each subagent: the one that gave it the task that it was first asked."""
    tasks = [(task, event.id) for event in chat.events if isinstance(event, Called) for task in _tasks(event)]
    for subagent in chat.subagents:
        asked = next((event.text.strip() for event in subagent.events if isinstance(event, Asked)), None)
        found = next((task for task in tasks if task[0] == asked), None)
        if found is not None:
            tasks.remove(found)
            subagent.started_by = found[1]
            continue
        text = "The log does not say which call started this subagent."
        subagent.diagnostics.append(Diagnostic("unjoined-subagent", text))


def _tasks(call: Called) -> Iterator[str]:
    """The tasks that a call hands off, one to each subagent."""
    if call.name != _HANDS_OFF:
        return
    for task in [call.arguments, *map(fields, items(call.arguments.get("tasks")))]:
        goal = string(task.get("goal"))
        if goal is not None:
            yield goal.strip()
