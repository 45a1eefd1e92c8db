"""A Conch log as a `Chat`."""

from __future__ import annotations

from datetime import tzinfo

from trailbook.chat import Agent, Answered, Called, Chat, Noted, Said, Thought
from trailbook.readers import Found, Unreadable
from trailbook.readers.conch import calls, notes, waits, words, work
from trailbook.readers.conch.home import Agents, agent_id, agents_of, index_of, moment, origin_of
from trailbook.readers.conch.reading import TRANSIENT, Handler, Reading, lines_of
from trailbook.readers.lines import Problems
from trailbook.readers.values import Fields as RawFields
from trailbook.readers.values import string

HANDLERS: dict[str, Handler] = {
    **words.HANDLERS,
    **calls.HANDLERS,
    **waits.HANDLERS,
    **work.HANDLERS,
    **notes.HANDLERS,
}
"""Every type of event, with what reads it."""

_NO_TITLE = "Untitled chat"
"""What Conch's index calls a chat that has no title."""


def read(found: Found, zone: tzinfo) -> Chat:
    """The whole chat of a log, with what the files beside it say. Its times are epoch milliseconds: no zone is needed.

    Raises Unreadable for a log without a single event, OSError.
    """
    reading = Reading(Problems())
    ats = _read_events(found, reading)
    index = index_of(found.path)
    record = index.records.get(found.id)
    if record is None:
        why = index.problem or "The index does not have this chat"
        text = f"{why}: its title comes from the log, and what started it is not known."
        reading.problems.count("no-index", text)
    chat = Chat(
        id=found.id,
        source="conch",
        agent=_agent(reading, record, agents_of(found.path)),
        title=_title(reading, record),
        origin=origin_of(record),
        started=ats[0] if ats else _created(record),
        ended=max(ats[0], ats[-1]) if ats else None,
        events=reading.events,
        messages=reading.messages,
        completed=reading.completed,
        diagnostics=reading.problems.found,
    )
    _finish(chat, reading, record)
    return chat


def _read_events(found: Found, reading: Reading) -> list[int]:
    """Read every line; returns the times of all events."""
    ats: list[int] = []
    lines = 0
    for line in lines_of(found.path, reading.problems):
        handler = HANDLERS.get(line.name)
        if handler is None:
            text = f"Events of the type “{line.name[:80]}” are not known here: they were passed over."
            reading.problems.count("unknown-record", text, line.place, lost=True)
            reading.end_piece()
            continue
        lines += 1
        _look_at_chat(found, line.values, reading)
        reading.begin(line)
        if line.name != "assistant.delta" and line.name not in TRANSIENT:
            reading.end_piece()
        handler(reading, line)
        reading.end(line)
        if reading.at is not None:
            ats.append(reading.at)
    reading.end_piece()
    if not lines:
        raise Unreadable(f"{found.path.name} has no event of a Conch chat in it: there is nothing to read.")
    return ats


def _look_at_chat(found: Found, values: RawFields, reading: Reading) -> None:
    chat = values.get("conversationId")
    if chat != found.id:
        place = reading.line.place if reading.line else None
        reading.problems.count("other-chat", "An event says that it belongs to another chat.", place)


def _title(reading: Reading, record: RawFields | None) -> str | None:
    """The index's title, else the last one in the log.

    A chat with neither is named after what was asked first; that is done after redaction, which must see all of it.
    """
    title = string(record.get("title")) if record is not None else None
    return title if title and title.strip() and title != _NO_TITLE else reading.title


def _agent(reading: Reading, record: RawFields | None, agents: Agents) -> Agent:
    chosen = agent_id(record, agents, reading.agent)
    name = agents.names.get(chosen or "") or reading.agents.get(chosen or "") or "Conch"
    return Agent(name, product="Conch")


def _created(record: RawFields | None) -> int | None:
    return moment(record.get("createdAt")) if record is not None else None


def _finish(chat: Chat, reading: Reading, record: RawFields | None) -> None:
    chat.events = [
        event
        for event in chat.events
        if not (isinstance(event, Noted) and event.topic == "title" and event.text == chat.title)
    ]
    for event in chat.events:
        if isinstance(event, Said | Thought | Called) and event.by == chat.agent.name:
            event.by = None
    ends = [event for event in chat.events if isinstance(event, Answered)]
    chat.models = list(dict.fromkeys(event.model for event in ends if event.model))
    chat.providers = list(dict.fromkeys(event.engine for event in ends if event.engine))
    engine = (string(record.get("engine")) if record is not None else None) or reading.engine
    if not chat.providers and engine:
        chat.providers = [engine]
