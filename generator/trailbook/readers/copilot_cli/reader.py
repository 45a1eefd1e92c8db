"""A session of Copilot CLI's as a chat: what was asked, said, called and came back, and notices between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import tzinfo

from trailbook.chat import (
    Agent,
    Answered,
    Asked,
    Called,
    Chat,
    Compacted,
    Event,
    Message,
    Noted,
    Origin,
    Returned,
    Said,
    Thought,
    Usage,
)
from trailbook.readers import Found, Unreadable
from trailbook.readers.arguments import read_arguments
from trailbook.readers.copilot_cli.contents import Assets, assets_in, attachments_of, result_of
from trailbook.readers.copilot_cli.events import BOOKKEEPING, NOTICES, data_of, events_of, type_of
from trailbook.readers.copilot_cli.prompts import injected_in, prompt_of_hook, repeated_in
from trailbook.readers.copilot_cli.streams import Stream, parents_of, streams_of
from trailbook.readers.copilot_cli.usage import usage_at_shutdown, usage_of_session
from trailbook.readers.lines import Problems, Record
from trailbook.readers.pairing import Pairing
from trailbook.readers.values import Fields, fields, items, json_words, moment, string, whole


def read(found: Found, zone: tzinfo) -> Chat:
    """The whole chat with its subagents. Raises Unreadable for a session of whose events none is known, OSError."""
    problems = Problems()
    events = list(events_of(found.path, problems))
    if not events:
        raise Unreadable(f"{found.path.name} has no event of Copilot CLI that is known here.")
    assets, shutdowns = assets_in(events), list[Usage]()
    streams, titles = streams_of(events), _titles_in(events)
    chats: dict[str, Chat] = {}
    parents = parents_of(streams)
    for stream in streams:
        identity = f"{found.id}/{stream.name}" if stream.name else found.id
        chat = Chat(identity, "copilot_cli", Agent("Copilot CLI", None, "Copilot CLI"), titles.get(stream.name))
        chats[stream.name] = chat
        _read_stream(stream, _Reading(chat, problems, zone, assets, repeated_in(stream.events), shutdowns))
        if stream.name and chat.events:
            parent = chats[parents[stream.name].name]
            chat.origin, chat.started_by, chat.parent = Origin("subagent"), stream.started_by, parent.id
            parent.subagents.append(chat)
    root = chats[""]
    root.usage = usage_of_session(shutdowns)
    if len(shutdowns) > 1:
        text = "The session was shut down more than once; that its last totals go on from the first is inferred."
        problems.add("several-totals", text)
    root.diagnostics = problems.found
    return root


def _titles_in(events: list[Record]) -> dict[str, str]:
    """What subagents are called, by the calls that started them."""
    started = [data_of(record) for record in events if type_of(record.value) == "subagent.started"]
    named = [(string(data.get("toolCallId")), string(data.get("agentDisplayName"))) for data in started]
    return {call: name for call, name in named if call and name}


@dataclass(slots=True)
class _Reading:
    chat: Chat
    problems: Problems
    zone: tzinfo
    assets: Assets
    repeated: set[int]
    shutdowns: list[Usage]
    pairing: Pairing = field(default_factory=Pairing)
    message_of: dict[str, str] = field(default_factory=dict)
    """Calls with the messages that asked for them."""
    requested: set[str] = field(default_factory=set)

    def add(self, event: Event) -> None:
        self.chat.events.append(event)  # type: ignore[arg-type]

    def use(self, model: str | None) -> None:
        """Count a model among those that the chat has used."""
        if model is not None and model not in self.chat.models:
            self.chat.models.append(model)


def _read_stream(stream: Stream, reading: _Reading) -> None:
    reading.requested = stream.calls
    chat = reading.chat
    for record in stream.events:
        first = len(chat.events)
        kind = type_of(record.value)
        if kind in NOTICES:
            _read_notice(record, reading)
        elif kind not in BOOKKEEPING:
            _HANDLERS[kind](data_of(record), record, reading)
        at, naive = moment(fields(record.value).get("timestamp"), reading.zone)
        chat.naive_times = chat.naive_times or naive
        for event in chat.events[first:]:
            event.at, event.place = at, record.place
    times = [event.at for event in chat.events if event.at is not None]
    starts = [*times, *([chat.started] if chat.started is not None else [])]
    chat.started, chat.ended = min(starts, default=None), max(times, default=None)


# --- the session


def _read_start(data: Fields, _record: Record, reading: _Reading) -> None:
    chat, context = reading.chat, fields(data.get("context"))
    chat.cwd = chat.cwd or string(context.get("cwd"))
    chat.git_branch = chat.git_branch or string(context.get("branch"))
    chat.agent.version = chat.agent.version or string(data.get("copilotVersion"))
    if chat.started is None:
        chat.started = moment(data.get("startTime"), reading.zone)[0]


def _read_shutdown(data: Fields, _record: Record, reading: _Reading) -> None:
    usage = usage_at_shutdown(data)
    if usage is not None:
        reading.shutdowns.append(usage)
    reason = string(data.get("errorReason"))
    if reason is not None:
        reading.add(Noted(topic="error", text=reason))


def _read_system(data: Fields, _record: Record, reading: _Reading) -> None:
    text = string(data.get("content"))
    if text is None or text == reading.chat.system_prompt:
        return
    if reading.chat.system_prompt is None:
        reading.chat.system_prompt = text
    else:
        reading.add(Noted(topic="system", text=text))


def _read_compaction(data: Fields, _record: Record, reading: _Reading) -> None:
    if data.get("success") is False:
        reason = string(data.get("error")) or ""
        reading.add(Noted(topic="error", text=f"The context could not be shortened. {reason}".strip()))
        return
    reading.add(
        Compacted(
            summary=string(data.get("summaryContent")),
            trigger=string(data.get("trigger")),
            tokens_before=whole(data.get("preCompactionTokens")),
            tokens_after=whole(data.get("postCompactionTokens")),
        )
    )


def _read_notice(record: Record, reading: _Reading) -> None:
    topic, name = NOTICES[type_of(record.value)]
    value = data_of(record).get(name)
    if value in (None, ""):
        text = f"An event of the type “{type_of(record.value)}” says nothing; it was passed over."
        reading.problems.count("empty-record", text, record.place)
    else:
        reading.add(Noted(topic=topic, text=value if isinstance(value, str) else json_words(value)))


def _read_abort(data: Fields, _record: Record, reading: _Reading) -> None:
    reading.add(Answered(outcome="interrupted", problem=string(data.get("reason"))))


# --- what was asked and said


def _read_prompt(data: Fields, record: Record, reading: _Reading) -> None:
    content = data.get("content")
    text = content if isinstance(content, str) else "" if content is None else json_words(content)
    parts = attachments_of(data, reading.assets, record.place, reading.problems)
    if not text.strip() and not parts:
        reading.problems.count("empty-record", "A prompt has nothing in it; it was passed over.", record.place)
        return
    queued = data.get("delivery") in ("steering", "queued")
    asked = Asked(id=_name_of(record, reading), text=text, parts=parts, injected=injected_in(data), queued=queued)
    reading.add(asked)


def _name_of(record: Record, reading: _Reading) -> str:
    return f"line-{record.place.number}-{len(reading.chat.events)}"


def _read_hook(data: Fields, record: Record, reading: _Reading) -> None:
    """A hook that was handed a prompt says what was asked; of the others their ends are told."""
    prompt = prompt_of_hook(record)
    if prompt is not None and prompt.strip() and id(record) not in reading.repeated:
        reading.add(Asked(id=_name_of(record, reading), text=prompt))


def _read_hook_end(data: Fields, _record: Record, reading: _Reading) -> None:
    output, error = data.get("output"), fields(data.get("error")).get("message")
    told = error if isinstance(error, str) else output
    if told not in (None, "", {}):
        detail = told if isinstance(told, str) else json_words(told)
        reading.add(Noted(topic="hook", text=string(data.get("hookType")) or "hook", detail=detail))


def _read_answer(data: Fields, record: Record, reading: _Reading) -> None:
    key = _key_of(data, record, reading)
    thinking = data.get("reasoningText")
    opaque, encrypted = string(data.get("reasoningOpaque")), string(data.get("encryptedContent"))
    if (isinstance(thinking, str) and thinking.strip()) or opaque or encrypted:
        text = thinking if isinstance(thinking, str) else ""
        reading.add(Thought(text=text, message=key, signature=opaque, encrypted=encrypted))
    content = data.get("content")
    words = content if isinstance(content, str) else "" if content is None else json_words(content)
    if words.strip():
        reading.add(Said(text=words, message=key))
    for request in items(data.get("toolRequests")):
        if isinstance(request, dict):
            _read_call(request, string(request.get("name")), key, record, reading)
        else:
            text = "Something among the calls of a message is none; it was passed over."
            reading.problems.count("unknown-part", text, record.place, lost=True)


def _key_of(data: Fields, record: Record, reading: _Reading) -> str:
    """The message of the model that an event belongs to: several may be pieces of one response."""
    named = string(data.get("apiCallId")) or string(data.get("messageId"))
    key = named or string(fields(record.value).get("id")) or f"line-{record.place.number}"
    model = string(data.get("model"))
    message = reading.chat.messages.setdefault(key, Message(named=named is not None))
    message.model = message.model or model
    reading.use(model)
    return key


# --- calls and results


def _read_call(values: Fields, name: str | None, key: str | None, record: Record, reading: _Reading) -> None:
    if name is None:
        text = "A call does not say of which tool; it is called unknown_tool."
        reading.problems.count("missing-name", text, record.place)
    call = reading.pairing.call(string(values.get("toolCallId")), f"line-{record.place.number}")
    arguments, raw = read_arguments(values.get("arguments"))
    if key is not None:
        reading.message_of[call] = key
    reading.add(Called(id=call, name=name or "unknown_tool", arguments=arguments, raw=raw, message=key))


def _read_execution(data: Fields, record: Record, reading: _Reading) -> None:
    """That a call began; the call itself only where no message of the model asked for it."""
    identity = string(data.get("toolCallId"))
    if identity not in reading.requested:
        _read_call(data, string(data.get("toolName")), None, record, reading)


def _read_result(data: Fields, record: Record, reading: _Reading) -> None:
    call = reading.pairing.result(string(data.get("toolCallId")))
    if call is None:
        reading.problems.count("orphan-result", "A result answers no call; it is shown by itself.", record.place)
    success, model = data.get("success"), string(data.get("model"))
    reading.use(model)
    message = reading.chat.messages.get(reading.message_of.get(call or "", ""))
    if message is not None and message.model is None:
        # The event names the model that asked for the call.
        message.model = model
    parts = result_of(data, reading.assets, record.place, reading.problems)
    ok = success if isinstance(success, bool) else None
    reading.add(Returned(call=call, parts=parts, ok=ok, linked="id" if call else None))


_HANDLERS: dict[str, Callable[[Fields, Record, _Reading], None]] = {
    "abort": _read_abort,
    "assistant.message": _read_answer,
    "hook.end": _read_hook_end,
    "hook.start": _read_hook,
    "session.compaction_complete": _read_compaction,
    "session.resume": _read_start,
    "session.shutdown": _read_shutdown,
    "session.start": _read_start,
    "system.message": _read_system,
    "tool.execution_complete": _read_result,
    "tool.execution_start": _read_execution,
    "user.message": _read_prompt,
}
