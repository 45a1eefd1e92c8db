"""A session of OpenCode as a chat, those that it started below the calls that started them."""

from __future__ import annotations

from datetime import tzinfo

from trailbook.chat import Agent, Answered, Chat, Noted, Origin
from trailbook.readers import Found, Unreadable
from trailbook.readers.opencode.finding import load
from trailbook.readers.opencode.messages import read_message
from trailbook.readers.opencode.reading import Reading
from trailbook.readers.opencode.sessions import Session, time_of, title_of
from trailbook.readers.values import fields, string


def read(found: Found, zone: tzinfo) -> Chat:
    """The session with its subagents. Its times are epoch milliseconds: no zone is needed.

    Raises Unreadable for one of whose records none is known, OSError.
    """
    chat = _chat_of(load(found))
    if not chat.events and not any(subagent.events for subagent in chat.subagents):
        known = "; ".join(problem.text for problem in chat.diagnostics) or "It has no message."
        raise Unreadable(f"The session {found.id} in {found.path.name} has nothing that is known here. {known}")
    return chat


def _chat_of(session: Session) -> Chat:
    info = session.info
    chat = _empty_chat(session)
    reading = Reading(chat, session.problems, reverted=fields(info.get("revert")))
    created = time_of(info, "created")
    copied = True
    for message in session.messages:
        at = time_of(message.info, "created")
        # A fork begins with copies of the messages before it, which have kept their times.
        copied = copied and at is not None and created is not None and at < created
        reading.inherited = copied
        read_message(message, reading)
    if reading.compacting is not None:
        reading.add(Noted(topic="notice", text="A compaction was begun; the log has no summary."), message.place)
    for child in session.children:
        subagent = _chat_of(child)
        subagent.started_by = reading.started.get(child.id)
        chat.subagents.append(subagent)
    _report_missing(session, reading)
    _close(chat)
    return chat


def _empty_chat(session: Session) -> Chat:
    info = session.info
    parent, agent = string(info.get("parentID")), string(info.get("agent"))
    return Chat(
        id=session.id,
        source="opencode",
        agent=Agent((parent and agent) or "OpenCode", string(info.get("version")), "OpenCode"),
        title=title_of(info),
        origin=Origin("subagent", name=agent) if parent else Origin(),
        cwd=string(info.get("directory")),
        started=time_of(info, "created"),
        parent=parent,
        reopen=["opencode", "--session", session.id] if session.in_store and not parent else [],
        diagnostics=session.problems.found,
    )


def _report_missing(session: Session, reading: Reading) -> None:
    """Name the subagents whose sessions are not here: an export has one session only."""
    here = {child.id for child in session.children}
    for name in reading.started:
        if name not in here:
            text = f"A call started the session {name}, which is not in this log: its work is not in this chat."
            reading.problems.add("missing-subagent", text)


def _close(chat: Chat) -> None:
    own = [event for event in chat.events if not event.inherited]
    times = [event.at for event in own if event.at is not None]
    chat.ended = max(times, default=None)
    last = next((event for event in reversed(own) if not isinstance(event, Noted) and event.branch is None), None)
    if isinstance(last, Answered):
        chat.completed = last.outcome == "success"
