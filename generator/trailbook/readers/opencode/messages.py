"""A session's messages as events: what a person asked, what the model thought, said and called, how a turn ended."""

from __future__ import annotations

from collections.abc import Callable

from trailbook.chat import (
    JSON,
    Answered,
    Asked,
    Compacted,
    FileChange,
    FilesChanged,
    Message,
    Noted,
    Part,
    Said,
    Thought,
)
from trailbook.readers.opencode.files import file_of
from trailbook.readers.opencode.reading import Reading, Replies
from trailbook.readers.opencode.sessions import LoggedMessage, LoggedPart, time_of
from trailbook.readers.opencode.tools import read_tool
from trailbook.readers.opencode.usage import cost_of, steps_of, usage_of
from trailbook.readers.values import Fields, fields, items, json_words, string

_PERSONS = ("text", "file")
"""The parts of a user's message that are one prompt together, unless OpenCode wrote them."""
_ABORTED = "MessageAbortedError"


def read_message(message: LoggedMessage, reading: Reading) -> None:
    """Read one message with its parts."""
    role = string(message.info.get("role"))
    reading.info, reading.changed = message.info, set()
    reading.latest = time_of(message.info, "created")
    identity = string(message.info.get("id"))
    name = reading.unique(identity or f"message-{len(reading.names) + 1}")
    if identity is not None and identity == reading.reverted.get("messageID") and _cut(message, reading) is None:
        reading.revert(message.place)
    if role == "user":
        _read_prompt(message, name, reading)
    elif role == "assistant":
        _read_reply(message, name, reading)
    else:
        text = f"Messages of the role “{(role or '')[:80]}” are not known here: they were passed over."
        reading.problems.count("unknown-record", text, message.place, lost=True)


def _cut(message: LoggedMessage, reading: Reading) -> JSON:
    """The id of the part from which on a reply was taken back; None where it was taken back as a whole."""
    part = reading.reverted.get("partID")
    ids = [logged.values.get("id") for logged in message.parts]
    return part if part in ids and message.info.get("role") == "assistant" else None


# --- what a person asked


def _read_prompt(message: LoggedMessage, name: str, reading: Reading) -> None:
    system = string(message.info.get("system"))
    if system is not None and system != reading.system:
        reading.system = system
        reading.add(Noted(topic="system", text=system), message.place)
    own = [part for part in message.parts if _is_persons(part.values)]
    if own:
        # First, though OpenCode writes what it put in before it: that belongs to the turn that this opens.
        _add_prompt(own, name, reading)
    replies = _replies(message.info, name, reading)
    for number, part in enumerate(message.parts, 1):
        if not _is_persons(part.values):
            _read_other(part, f"{name}-{number}", reading, replies)


def _is_persons(values: Fields) -> bool:
    if values.get("type") == "text":
        return values.get("synthetic") is not True and values.get("ignored") is not True
    return values.get("type") == "file"


def _add_prompt(parts: list[LoggedPart], name: str, reading: Reading) -> None:
    texts = [text for part in parts if isinstance(text := part.values.get("text"), str)]
    files: list[Part] = [file_of(part.values) for part in parts if part.values.get("type") == "file"]
    reading.add(Asked(id=name, text="\n".join(texts), parts=files), parts[0].place)


def _read_other(part: LoggedPart, name: str, reading: Reading, replies: Replies) -> None:
    """A part of a user's message that is not the person's own words."""
    values = part.values
    text = values.get("text")
    if values.get("type") == "text":
        if not isinstance(text, str) or not text.strip():
            return
        if values.get("ignored") is True:
            # Shown to the person, not sent to the model.
            reading.add(Noted(topic="notice", text=text), part.place)
        else:
            reading.add(Asked(id=name, text=text, injected="context"), part.place)
    elif values.get("type") == "subtask":
        command = string(values.get("command"))
        asked = Asked(id=name, text=string(values.get("prompt")) or "", command=f"/{command}" if command else None)
        reading.add(asked, part.place)
    elif values.get("type") == "compaction":
        reading.compacting = "auto" if values.get("auto") is True else "manual"
    else:
        _read_part(part, reading, replies)


# --- what the model made of it


def _read_reply(message: LoggedMessage, name: str, reading: Reading) -> None:
    info = message.info
    replies = _replies(info, name, reading)
    steps = steps_of([part.values for part in message.parts])
    cut = _cut(message, reading) if info.get("id") == reading.reverted.get("messageID") else None
    for part in message.parts:
        if cut is not None and part.values.get("id") == cut:
            reading.revert(part.place)
        if part.values.get("type") == "step-finish" and len(steps) > 1 and not reading.inherited:
            described = replies.describe()
            described.usage, described.cost = usage_of(part.values.get("tokens")), cost_of(part.values)
        _read_part(part, reading, replies)
    if len(steps) < 2 and not reading.inherited:
        _add_usage(name, info, steps, replies)
    _end(message, replies.key or name, reading)


def _add_usage(name: str, info: Fields, steps: list[Fields], replies: Replies) -> None:
    """The tokens of a message whose steps are not counted one by one, at its beginning."""
    end = steps[0] if steps else {}
    usage, cost = usage_of(info.get("tokens")) or usage_of(end.get("tokens")), cost_of(info) or cost_of(end)
    if usage is not None or cost is not None:
        if name not in replies.chat.messages:
            replies.describe()
        replies.chat.messages[name].usage, replies.chat.messages[name].cost = usage, cost


def _end(message: LoggedMessage, key: str, reading: Reading) -> None:
    """How a message ended; with `stop` or a failure the turn is over."""
    info = message.info
    finish, error = string(info.get("finish")), fields(info.get("error"))
    if key in reading.chat.messages:
        reading.chat.messages[key].stop_reason = finish
    outcome = "success" if finish == "stop" else None
    if error:
        outcome = "interrupted" if error.get("name") == _ABORTED else "error"
    if outcome is None or info.get("summary") is True:
        return
    problem = string(fields(error.get("data")).get("message")) or string(error.get("name"))
    answered = Answered(outcome=outcome, model=string(info.get("modelID")), problem=problem)
    reading.add(answered, message.place, time_of(info, "completed"))


def _replies(info: Fields, name: str, reading: Reading) -> Replies:
    model, provider = string(info.get("modelID")), string(info.get("providerID"))
    for value, known in ((model, reading.chat.models), (provider, reading.chat.providers)):
        if value is not None and value not in known:
            known.append(value)
    return Replies(reading.chat, name, Message(model, provider))


def _read_part(part: LoggedPart, reading: Reading, replies: Replies) -> None:
    kind = part.values.get("type")
    handler = _HANDLERS.get(kind) if isinstance(kind, str) else None
    if handler is None:
        known = f"“{kind[:80]}”" if isinstance(kind, str) else json_words(kind)[:80]
        text = f"Parts of the type {known} are not known here: they were passed over."
        reading.problems.count("unknown-record", text, part.place, lost=True)
    else:
        handler(part, reading, replies)


def _read_text(part: LoggedPart, reading: Reading, replies: Replies) -> None:
    text = part.values.get("text")
    if not isinstance(text, str) or not text.strip():
        return
    at = _time_of_words(part.values)
    if reading.info.get("summary") is True:
        reading.add(Compacted(summary=text, trigger=reading.compacting), part.place, at)
        reading.compacting = None
    elif part.values.get("synthetic") is True:
        reading.add(Noted(topic="system", text=text), part.place, at)
    else:
        said = Said(text=text, message=replies.for_words(), started=time_of(part.values, "start"))
        reading.add(said, part.place, at)


def _read_thought(part: LoggedPart, reading: Reading, replies: Replies) -> None:
    text = part.values.get("text")
    words = text if isinstance(text, str) else ""
    if words.strip() or fields(part.values.get("metadata")):
        thought = Thought(text=words, message=replies.for_words(), started=time_of(part.values, "start"))
        reading.add(thought, part.place, _time_of_words(part.values))


def _time_of_words(values: Fields) -> int | None:
    return time_of(values, "end") or time_of(values, "start")


def _read_file(part: LoggedPart, reading: Reading, replies: Replies) -> None:
    reading.add(Said(text="", parts=[file_of(part.values)], message=replies.for_words()), part.place)


def _read_step(part: LoggedPart, reading: Reading, replies: Replies) -> None:
    replies.end_step()


def _read_patch(part: LoggedPart, reading: Reading, _replies: Replies) -> None:
    """The files that a step changed, but for those of which a call says it: what is left, a command changed."""
    paths = [path for path in map(string, items(part.values.get("files"))) if path and path not in reading.changed]
    if paths:
        name = f"{part.place.file}-{part.place.number}-{len(reading.chat.events)}"
        files = [FileChange(path) for path in paths]
        reading.add(FilesChanged(id=string(part.values.get("id")) or name, files=files), part.place)


def _read_retry(part: LoggedPart, reading: Reading, _replies: Replies) -> None:
    error = fields(part.values.get("error"))
    said = string(fields(error.get("data")).get("message")) or string(error.get("name"))
    reading.add(
        Noted(topic="retry", text=said or "The model was asked again."), part.place, time_of(part.values, "created")
    )


def _read_mention(part: LoggedPart, reading: Reading, _replies: Replies) -> None:
    name = string(part.values.get("name"))
    if name is not None:
        reading.add(Noted(topic="agent", text=f"@{name}"), part.place)


def _pass_over(_part: LoggedPart, _reading: Reading, _replies: Replies) -> None:
    """A snapshot is the hash of files elsewhere: there is nothing in it to read."""


_HANDLERS: dict[str, Callable[[LoggedPart, Reading, Replies], None]] = {
    "text": _read_text,
    "reasoning": _read_thought,
    "file": _read_file,
    "tool": read_tool,
    "step-start": _read_step,
    "step-finish": _read_step,
    "patch": _read_patch,
    "retry": _read_retry,
    "agent": _read_mention,
    "snapshot": _pass_over,
}
"""The types of parts of an assistant's message; a user's may have those of `_read_other` as well."""
