"""A session of Gemini CLI's as a chat: the person's messages, the model's with their calls, and notices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path

from trailbook.chat import (
    JSON,
    Agent,
    Asked,
    Branch,
    Called,
    Chat,
    Compacted,
    Event,
    Message,
    Noted,
    Origin,
    Part,
    Place,
    Returned,
    Said,
    Thought,
    Usage,
)
from trailbook.readers import Found, Unreadable
from trailbook.readers.arguments import read_arguments
from trailbook.readers.gemini_cli.contents import attachment_in, name_of, parts_in, result_parts, text_in, words_of
from trailbook.readers.gemini_cli.history import Entry, History, history_of
from trailbook.readers.gemini_cli.log import TYPES, records_in
from trailbook.readers.lines import Problems, Record
from trailbook.readers.pairing import Pairing
from trailbook.readers.values import Fields, fields, items, moment, string, whole

_STATUS = {"success": True, "error": False, "cancelled": False}
"""How a call ended, by its status; others say that it has not ended."""

_INJECTED = {"<session_context>": "context", "<hook_context>": "hook"}
"""How messages begin that stand in the person's place and that no person wrote."""


def read(found: Found, zone: tzinfo) -> Chat:
    """The whole chat with its subagents. Raises Unreadable for a session without a message that is known, OSError."""
    folder = found.path.parent
    own = [path for path in found.inputs if path.parent == folder]
    session = _read_session(own, found.id, folder, zone)
    others: list[_Session] = []
    for path in found.inputs:
        if path.parent == folder:
            continue
        try:
            others.append(_read_session([path], path.stem, folder, zone))
        except Unreadable as error:
            session.problems.add("unreadable-subagent", str(error), lost=True)
    _hang_in(session, others)
    return session.chat


# --- a session and its subagents


@dataclass(slots=True)
class _Session:
    chat: Chat
    problems: Problems
    zone: tzinfo
    logged: set[str]
    """Ids of all the calls that stand in messages' `toolCalls`; parts that repeat them are passed over."""
    answered: set[str]
    """Those of them that have their result there."""
    pairing: Pairing = field(default_factory=Pairing)
    agents: dict[str, str] = field(default_factory=dict)
    """The ids of the subagents' sessions with those of the calls that started them."""

    def time(self, value: JSON) -> int | None:
        at, naive = moment(value, self.zone)
        self.chat.naive_times = self.chat.naive_times or naive
        return at

    def add(self, event: Event, entry: Entry, at: int | None) -> None:
        event.at, event.place, event.branch = at, entry.place, entry.branch
        self.chat.events.append(event)  # type: ignore[arg-type]


def _read_session(files: list[Path], identity: str, folder: Path, zone: tzinfo) -> _Session:
    problems = Problems()
    history = history_of(_records(files, folder, problems), problems)
    if not any(entry.message.get("type") in TYPES for entry in history.entries):
        raise Unreadable(f"{files[-1].name} has no message of Gemini CLI that is known here.")
    chat = Chat(
        id=string(history.header.get("sessionId")) or identity,
        source="gemini_cli",
        agent=Agent("Gemini CLI", None, "Gemini CLI"),
        title=string(history.header.get("summary")),
        branches={branch: Branch(branch, place) for branch, place in history.branches.items()},
    )
    if history.header.get("kind") == "subagent":
        chat.origin = Origin("subagent")
    session = _Session(chat, problems, zone, *_logged_calls(history))
    for entry in history.entries:
        _read_entry(entry, session)
    start = session.time(history.header.get("startTime"))
    times = [event.at for event in chat.events if event.at is not None]
    chat.started, chat.ended = (
        min([*times, *([start] if start is not None else [])], default=None),
        max(times, default=None),
    )
    chat.diagnostics = problems.found
    return session


def _records(files: list[Path], folder: Path, problems: Problems) -> Iterator[Record]:
    """The records of a session's files, one after the other; places name the file as it lies below the folder."""
    for path in files:
        name = path.relative_to(folder).as_posix()
        for record in records_in(path, problems):
            yield Record(Place(name, record.place.number, record.place.unit), record.value)


def _logged_calls(history: History) -> tuple[set[str], set[str]]:
    calls = [fields(call) for entry in history.entries for call in items(entry.message.get("toolCalls"))]
    logged = {identity for call in calls if (identity := string(call.get("id")))}
    return logged, logged & {string(call.get("id")) for call in calls if call.get("result") not in (None, [])}


def _hang_in(root: _Session, others: list[_Session]) -> None:
    """Give each subagent to the chat whose call started it; to the first chat where no call says that it did."""
    starts = {agent: (each, call) for each in (root, *others) for agent, call in each.agents.items()}
    parents: dict[int, _Session] = {}
    for other in others:
        parent, call = starts.get(other.chat.id, (root, None))
        above: _Session | None = parent
        while above is not None and above is not other:
            above = parents.get(id(above))
        if above is other:
            parent, call = root, None
        parents[id(other)] = parent
        other.chat.started_by = call
        other.chat.origin, other.chat.parent = Origin("subagent"), parent.chat.id
        parent.chat.subagents.append(other.chat)


# --- messages


def _read_entry(entry: Entry, session: _Session) -> None:
    if entry.shortened:
        session.add(Compacted(), entry, None)
        return
    kind = entry.message.get("type")
    if kind == "user":
        _read_user(entry, session)
    elif kind == "gemini":
        _read_gemini(entry, session)
    elif kind in TYPES:
        text = words_of(entry.message.get("content"))
        if text.strip():
            session.add(Noted(topic=str(kind), text=text), entry, session.time(entry.message.get("timestamp")))
    else:
        text = f"Messages of the type “{str(kind)[:80]}” are not known here: they were passed over."
        session.problems.count("unknown-record", text, entry.place, lost=True)


def _read_user(entry: Entry, session: _Session) -> None:
    """What came back of calls first, which belongs to the turn before; then what the person wrote."""
    at = session.time(entry.message.get("timestamp"))
    attached: list[Part] = []
    for part in parts_in(entry.message.get("content")):
        attachment = attachment_in(part)
        if "functionResponse" in part:
            _read_response(part, entry, at, session)
        elif attachment is not None:
            attached.append(attachment)
        elif text_in(part) is None:
            _report(part, entry, session)
    text = words_of(entry.message.get("content"))
    if not text.strip() and not attached:
        return
    injected = next((word for start, word in _INJECTED.items() if text.lstrip().startswith(start)), None)
    identity = string(entry.message.get("id")) or f"message-{entry.place.number}"
    asked = Asked(id=identity, text=text, parts=attached, injected="compaction" if entry.renewed else injected)
    session.add(asked, entry, at)


def _read_response(part: Fields, entry: Entry, at: int | None, session: _Session) -> None:
    """A result that the log has in the person's place; it is passed over where its call has it already."""
    identity = string(fields(part["functionResponse"]).get("id"))
    if identity in session.answered:
        return
    call = session.pairing.result(identity)
    if call is None:
        text = "A result answers no call; it is shown by itself."
        session.problems.count("orphan-result", text, entry.place)
    parts = list(result_parts([part], identity, lambda other: _report(other, entry, session)))
    session.add(Returned(call=call, parts=parts, linked="id" if call else None), entry, at)


def _read_gemini(entry: Entry, session: _Session) -> None:
    message, at = entry.message, session.time(entry.message.get("timestamp"))
    key = _key_of(entry, session)
    for text, time in _thoughts_in(entry, session):
        session.add(Thought(text=text, message=key), entry, session.time(time) if time is not None else at)
    pictures: list[Part] = []
    calls: list[Fields] = []
    for part in parts_in(message.get("content")):
        attachment = attachment_in(part)
        if "functionCall" in part:
            calls.append(fields(part["functionCall"]))
        elif attachment is not None:
            pictures.append(attachment)
        elif text_in(part) is None and not _is_thought(part):
            _report(part, entry, session)
    words = words_of(message.get("content"))
    if words.strip() or pictures:
        session.add(Said(text=words, parts=pictures, message=key), entry, at)
    logged = [fields(call) for call in items(message.get("toolCalls"))]
    for call in logged:
        _read_call(call, entry, at, key, session)
    for call in calls:
        # The same calls as Gemini's API has them; what stands there only is a call all the same.
        if string(call.get("id")) not in session.logged and not (logged and "id" not in call):
            _read_call(call, entry, at, key, session)


def _key_of(entry: Entry, session: _Session) -> str:
    identity = string(entry.message.get("id"))
    key = identity or f"message-{entry.place.number}"
    model = string(entry.message.get("model"))
    usage = usage_of(fields(entry.message.get("tokens")))
    if key in session.chat.messages:
        key = f"{key}__{len(session.chat.messages)}"
    session.chat.messages[key] = Message(model=model, usage=usage, named=identity is not None)
    if model is not None and model not in session.chat.models:
        session.chat.models.append(model)
    return key


def usage_of(tokens: Fields) -> Usage | None:
    """A message's tokens: what is cached is inside the input, thoughts are billed as output (harnesses.md E)."""
    prompt, output = whole(tokens.get("input")), whole(tokens.get("output"))
    cached, thoughts, tool = (whole(tokens.get(key)) for key in ("cached", "thoughts", "tool"))
    if prompt is None and output is None:
        return None
    return Usage(
        prompt_tokens=None if prompt is None else prompt + (tool or 0),
        output_tokens=None if output is None else output + (thoughts or 0),
        cached_tokens=cached,
        reasoning_tokens=thoughts,
    )


def _thoughts_in(entry: Entry, session: _Session) -> Iterator[tuple[str, JSON]]:
    """What a message thought, each with its own time; the API's parts repeat them where the message lists them."""
    listed = [thought for thought in items(entry.message.get("thoughts")) if thought]
    for thought in listed:
        told = fields(thought)
        words = [thought] if isinstance(thought, str) else [told.get("subject"), told.get("description")]
        text = " — ".join(word for word in words if isinstance(word, str) and word)
        if text.strip():
            yield text, told.get("timestamp")
        else:
            report = "A thought has neither a subject nor a description; it was passed over."
            session.problems.count("unknown-part", report, entry.place, lost=True)
    for part in [] if listed else parts_in(entry.message.get("content")):
        text = string(part.get("text")) or ""
        if _is_thought(part) and text.strip():
            yield text, None


def _is_thought(part: Fields) -> bool:
    return part.get("thought") is True and isinstance(part.get("text"), str)


def _read_call(values: Fields, entry: Entry, at: int | None, key: str, session: _Session) -> None:
    logged, name = string(values.get("id")), string(values.get("name"))
    if name is None:
        text = "A call does not say of which tool; it is called unknown_tool."
        session.problems.count("missing-name", text, entry.place)
    call = session.pairing.call(logged, f"message-{entry.place.number}")
    agent = string(values.get("agentId"))
    if agent is not None:
        session.agents.setdefault(agent, call)
    time = session.time(values.get("timestamp"))
    time = at if time is None else time
    arguments, raw = read_arguments(values.get("args"))
    called = Called(id=call, name=name or "unknown_tool", arguments=arguments, raw=raw, message=key)
    session.add(called, entry, time)
    parts = list(result_parts(values.get("result"), logged, lambda part: _report(part, entry, session)))
    ok = _STATUS.get(string(values.get("status")) or "")
    if parts or ok is not None:
        session.add(Returned(call=call, parts=parts, ok=ok), entry, time)


def _report(part: Fields, entry: Entry, session: _Session) -> None:
    text = f"Parts that are {name_of(part)[:80]} are not known here: they were passed over."
    session.problems.count("unknown-part", text, entry.place, lost=True)
