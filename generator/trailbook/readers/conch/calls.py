"""Tool calls, what came back, and the calls that a script made."""

from __future__ import annotations

from trailbook import json_text
from trailbook.chat import JSON, Called, Label, Noted, Part, Returned, Text
from trailbook.readers.conch.reading import Fields, Handler, Logged, Reading
from trailbook.readers.values import json_words

NOT_RUN = frozenset(("declined", "expired", "refused"))
"""Approvals that say that the call did not run, whatever its status says."""
STOPPED = "Stopped."
"""What Conch writes as the result of every call that was open when its turn was interrupted."""

_APPROVALS = NOT_RUN | {"allowed", "always"}
_STATUSES = frozenset(("pending", "running", "success", "error", "declined"))
_WENT_WELL = {"success": True, "error": False, "declined": False}


def _started(reading: Reading, line: Fields) -> None:
    arguments, raw = _arguments(line.values.get("input"))
    event = Called(
        id=line.identity("toolUseId"),
        name=line.words("name") or "unknown",
        arguments=arguments,
        raw=raw,
        label=_label(line),
    )
    known = reading.calls.get(event.id)
    if known is not None and (known.name, known.arguments, known.raw) == (event.name, arguments, raw):
        reading.problems.count("repeated-record", "An event stands in the log again: it was read once.", line.place)
        return
    if known is not None:
        reading.problems.count("repeated-id", "Several calls have one id.", line.place)
        reading.results.pop(event.id, None)
    _add_call(reading, event)


def _add_call(reading: Reading, event: Called) -> None:
    reading.calls[event.id] = event
    reading.completed = None
    reading.add(event)


def _finished(reading: Reading, line: Fields) -> None:
    identity, approval = line.identity("toolUseId"), line.one_of("approval", _APPROVALS)
    status, output = line.one_of("status", _STATUSES), line.text("output")
    declined = approval if approval in NOT_RUN else None
    event = Returned(
        call=identity,
        parts=_parts(output),
        ok=False if declined else _WENT_WELL.get(status or ""),
        duration=line.milliseconds("durationMs"),
        not_run=declined,
        label=_label(line),
    )
    if not _add_result(reading, line, event, (status, output, approval)):
        return
    if output == STOPPED and event.ok is False and declined is None:
        reading.stopped.append(event)
    if line.values.get("view") is not None:
        reading.problems.count("left-out", "Cards that Conch draws from a result (`view`) are not kept.", line.place)
    _note_where(reading, line, event.call)
    _note_effects(reading, line, event.call)


def _add_result(reading: Reading, line: Fields, event: Returned, logged: Logged) -> bool:
    """Add a result to the call it answers; False for one that says again what was said."""
    identity = event.call
    if identity is None or identity not in reading.calls:
        text = f"The result of {identity} answers no call in this log."
        reading.problems.add("orphan-result", text, line.place)
        event.call = event.linked = None
        reading.add(event)
        return True
    before = reading.results.setdefault(identity, set())
    if logged in before:
        reading.problems.count("repeated-record", "An event stands in the log again: it was read once.", line.place)
        return False
    if before:
        reading.problems.count("second-result", "A call has several results: they stand together.", line.place)
    before.add(logged)
    reading.add(event)
    return True


def _note_where(reading: Reading, line: Fields, call: str | None) -> None:
    where = line.inner("where")
    if where.values:
        kind, name = where.words("kind"), where.words("name")
        reading.add(Noted(topic="where", text=f"Ran in {name or kind or 'another place'}", detail=kind, call=call))


def _note_effects(reading: Reading, line: Fields, call: str | None) -> None:
    # Changed files have events of their own.
    for effect in line.inner("label").each("effects"):
        text = effect.words("text")
        if text and effect.text("kind") != "file":
            reading.add(Noted(topic="effect", text=text, detail=effect.words("target"), call=call))


def _script_run(reading: Reading, line: Fields) -> None:
    identity, call = line.identity("runId"), line.words("toolUseId")
    linked = call in reading.calls
    note = reading.scripts.get(identity)
    if note is None:
        note = reading.scripts[identity] = Noted(topic="script", text="", call=call)
        reading.add(note)
    calls, stop = line.whole("calls"), line.words("stop")
    said = [line.words("state"), None if calls is None else f"{calls:,} call{'' if calls == 1 else 's'}"]
    said.append(f"stopped by {stop}" if stop else None)
    note.text = f"{line.words('title') or 'A script'}: {', '.join(part for part in said if part)}"
    # The script itself is an argument of the call that ran it.
    whole = [line.words("note"), line.words("error"), line.words("result"), None if linked else line.words("script")]
    note.detail = "\n\n".join(part for part in whole if part) or note.detail
    note.call = call or note.call


def _script_call(reading: Reading, line: Fields) -> None:
    identity, status = line.identity("callId"), line.one_of("status", _STATUSES)
    if identity not in reading.calls:
        run = line.words("runId")
        script = reading.scripts.get(run or "")
        arguments, raw = _arguments_in(line.text("input"))
        event = Called(
            id=identity,
            name=line.words("tool") or "unknown",
            arguments=arguments,
            raw=raw,
            label=_label(line),
            within=script.call if script is not None and script.call else run,
            step=line.whole("step"),
        )
        _add_call(reading, event)
    if status not in _WENT_WELL:
        return
    output = line.text("output")
    result = Returned(
        call=identity,
        parts=_parts(output),
        ok=_WENT_WELL[status or ""],
        duration=line.milliseconds("durationMs"),
        not_run="declined" if status == "declined" else None,
    )
    _add_result(reading, line, result, (status, output))


def _arguments(value: JSON) -> tuple[dict[str, JSON], str | None]:
    """The arguments as an object, or as the raw text where they are none."""
    if value is None:
        return {}, None
    return (value, None) if isinstance(value, dict) else ({}, json_words(value))


def _arguments_in(text: str | None) -> tuple[dict[str, JSON], str | None]:
    """As `_arguments`, of a JSON text, which may be cut."""
    if not text:
        return {}, None
    try:
        value = json_text.parse(text.encode("utf-8"))
    except ValueError:
        return {}, text
    return (value, None) if isinstance(value, dict) else ({}, text)


def _parts(output: str | None) -> list[Part]:
    return [Text(output)] if output else []


def _label(line: Fields) -> Label | None:
    label = line.inner("label")
    if not label.values:
        return None
    return Label(
        label.words("family"),
        label.words("doing"),
        label.words("done"),
        label.words("outcome"),
        label.words("subject"),
        label.flag("failed"),
    )


def _progress(reading: Reading, line: Fields) -> None:
    text = "How far a call has come (`tool.progress`) is not kept: its result says more."
    reading.problems.count("left-out", text, line.place)


HANDLERS: dict[str, Handler] = {
    "tool.started": _started,
    "tool.finished": _finished,
    "tool.progress": _progress,
    "script.run": _script_run,
    "script.call": _script_call,
}
