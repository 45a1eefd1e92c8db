"""A `tool` part: a call and what came back, in one."""

from __future__ import annotations

from trailbook.chat import JSON, Called, FileChange, FilesChanged, Part, Returned, Text
from trailbook.readers.arguments import read_arguments
from trailbook.readers.opencode.files import file_of
from trailbook.readers.opencode.reading import Reading, Replies
from trailbook.readers.opencode.sessions import LoggedPart, time_of
from trailbook.readers.values import Fields, fields, items, json_words, string

_DECLINED = "The user rejected permission to use this specific tool call"
_REFUSED = "The user has specified a rule which prevents you from using this specific tool call"
_INVALID = "invalid"
"""The tool that stands for a call that OpenCode could not run: of a tool that is not there, or with damaged arguments.
Its `input` says of which tool and why."""
_OPEN = ("pending", "running")


def read_tool(part: LoggedPart, reading: Reading, replies: Replies) -> None:
    """Read a call, and its result where it has come back: one that was still running when the log ends has none."""
    values = part.values
    state = fields(values.get("state"))
    call = reading.pairing.call(string(values.get("callID")), f"{part.place.unit}-{part.place.number}")
    name = string(values.get("tool"))
    if name is None:
        text = "A call does not say of which tool; it is called unknown_tool."
        reading.problems.count("missing-name", text, part.place)
    arguments, raw = read_arguments(state.get("input") or state.get("raw") or None)
    called = Called(id=call, name=name or "unknown_tool", arguments=arguments, raw=raw, message=replies.for_call())
    reading.add(called, part.place, time_of(state, "start"))
    session = string(fields(state.get("metadata")).get("sessionId"))
    if session is not None:
        reading.started.setdefault(session, call)
    _read_result(part, call, state, reading)


def _read_result(part: LoggedPart, call: str, state: Fields, reading: Reading) -> None:
    status = string(state.get("status"))
    output, error = state.get("output"), state.get("error")
    if status not in ("completed", "error") and output is None and error is None:
        if status not in _OPEN:
            text = f"Calls with the status “{(status or '')[:80]}” are not known here: whether one came back is not."
            reading.problems.count("unknown-record", text, part.place, lost=True)
        return
    words = output if output is not None else _message_of(error)
    text = words if isinstance(words, str) else "" if words is None else json_words(words)
    metadata = fields(state.get("metadata"))
    exit_status = metadata.get("exit")
    exit_status = exit_status if isinstance(exit_status, int) and not isinstance(exit_status, bool) else None
    ok = {"completed": not exit_status and part.values.get("tool") != _INVALID, "error": False}.get(status or "")
    start, end = time_of(state, "start"), time_of(state, "end")
    returned = Returned(
        call=call,
        parts=[*([Text(text)] if text else []), *_attachments(state)],
        ok=ok,
        duration=end - start if start is not None and end is not None and end >= start else None,
        not_run=_not_run(text) if status == "error" else None,
        exit_status=exit_status,
        patch=string(metadata.get("diff")),
    )
    reading.add(returned, part.place, end)
    change = _change_of(metadata) if ok else None
    if change is not None:
        reading.changed.add(change.path)
        reading.add(FilesChanged(files=[change], call=call), part.place, end)


def _attachments(state: Fields) -> list[Part]:
    return [file_of(attached) for attached in map(fields, items(state.get("attachments"))) if attached]


def _message_of(error: JSON) -> JSON:
    """An error's words: it is a text, or an object that has them as its `message`."""
    message = error.get("message") if isinstance(error, dict) else None
    return message if isinstance(message, str) else error


def _not_run(text: str) -> str | None:
    if text.startswith(_DECLINED):
        return "declined"
    return "refused" if text.startswith(_REFUSED) else None


def _change_of(metadata: Fields) -> FileChange | None:
    """The file that an edit (`filediff`) or a write (`filepath`, `exists`) says it changed."""
    edited = fields(metadata.get("filediff"))
    path = string(edited.get("file"))
    if path is not None:
        return FileChange(path, patch=string(edited.get("patch")) or string(metadata.get("diff")))
    path, existed = string(metadata.get("filepath")), metadata.get("exists")
    if path is None or not isinstance(existed, bool):
        return None
    return FileChange(path, "changed" if existed else "created", string(metadata.get("diff")))
