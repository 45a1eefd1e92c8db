"""What the work left behind: files, pages, tasks, memories; and how its turns ended."""

from __future__ import annotations

from dataclasses import astuple

from trailbook.chat import (
    Answered,
    Browsed,
    Compacted,
    Cost,
    FileChange,
    FilesChanged,
    HandedOff,
    Made,
    Noted,
    Remembered,
    Usage,
)
from trailbook.readers.conch.reading import Fields, Handler, Reading

_CHANGES = frozenset(("created", "changed", "deleted"))
_ENDED = frozenset(("done", "unverified", "failed", "stopped", "interrupted"))
_TASK_STATES = _ENDED | {"queued", "running", "needs-you"}
_BROWSER_STATES = frozenset(("running", "done", "error"))
_OUTCOMES = frozenset(("success", "interrupted", "error"))


def _files_changed(reading: Reading, line: Fields) -> None:
    changes = [
        FileChange(path, change.one_of("kind", _CHANGES) or "changed")
        for change in line.each("files")
        if (path := change.words("path"))
    ]
    event = FilesChanged(
        id=line.identity("changeSetId"), label=line.words("label"), files=changes, call=line.words("toolUseId")
    )
    reading.add(event)


def _artifact(reading: Reading, line: Fields) -> None:
    event = Made(
        id=line.identity("artifactId"),
        version=line.whole("version"),
        title=line.words("title") or "",
        kind=line.words("kind"),
        action=line.words("action"),
        note=line.words("note"),
    )
    reading.add(event)


def _remembered(reading: Reading, line: Fields) -> None:
    memory = line.inner("memory")
    text, kind = memory.text("content") or "", memory.words("kind") or "fact"
    reading.add(Remembered(id=memory.identity("id"), text=text, kind=kind))


def _task(reading: Reading, line: Fields) -> None:
    identity = line.identity("taskId")
    event = reading.tasks.get(identity)
    if event is None:
        event = reading.tasks[identity] = HandedOff(id=identity, title="")
        reading.add(event)
    event.title = line.words("title") or event.title
    event.kind = line.words("kind") or event.kind
    event.state = line.one_of("state", _TASK_STATES) or event.state
    event.summary = line.words("summary") or event.summary
    event.by = line.words("by") or event.by
    event.ended = reading.at if event.state in _ENDED else None


def _browser_step(reading: Reading, line: Fields) -> None:
    step = line.inner("step")
    identity = step.identity("stepId")
    event = reading.browsed.get(identity)
    if event is None:
        event = reading.browsed[identity] = Browsed(id=identity)
        reading.add(event)
    event.action = step.words("action") or event.action
    event.label = step.words("label") or event.label
    event.url = step.words("url") or event.url
    event.title = step.words("title") or event.title
    event.shot = step.words("shot") or event.shot
    # The first versions logged a step once, when it was done, and only the agent's.
    event.status = step.one_of("status", _BROWSER_STATES) or "done"
    event.by = "you" if step.text("by") == "user" else event.by


def _compacted(reading: Reading, line: Fields) -> None:
    trigger = {True: "manual", False: "auto", None: None}[line.flag("asked")]
    reading.add(Compacted(summary=line.words("summary"), trigger=trigger))


def _completed(reading: Reading, line: Fields) -> None:
    outcome, usage = line.one_of("outcome", _OUTCOMES), line.inner("usage")
    number = line.whole("seq")
    for result in reading.stopped if outcome == "interrupted" else []:
        result.not_run = "stopped"
    reading.stopped.clear()
    _note_ends(reading, line)
    event = Answered(
        id=None if number is None else str(number),
        outcome=outcome,
        usage=_usage(usage),
        cost=_cost(line, usage),
        model=line.words("model"),
        engine=line.words("engine"),
        problem=line.words("error") or line.words("problem"),
        duration=usage.milliseconds("durationMs"),
    )
    reading.completed = outcome == "success" if outcome else None
    reading.add(event)


def _note_ends(reading: Reading, line: Fields) -> None:
    paused, restarted = line.inner("paused"), line.inner("restarted")
    if paused.values:
        reason = paused.words("reason")
        reading.add(Noted(topic="paused", text=paused.words("message") or "It paused", detail=reason))
    if restarted.values:
        went_on = "went on after it" if restarted.flag("resumed") else "did not go on after it"
        reading.add(Noted(topic="restarted", text=f"Conch was restarted during this turn, which {went_on}"))


def _usage(logged: Fields) -> Usage | None:
    """Conch's input tokens include what was read from and written to the cache, as ours do."""
    usage = Usage(
        prompt_tokens=logged.whole("inputTokens"),
        output_tokens=logged.whole("outputTokens"),
        cached_tokens=logged.whole("cachedInputTokens"),
        cache_write_tokens=logged.whole("cacheWriteTokens"),
    )
    return usage if any(part is not None for part in astuple(usage)) else None


def _cost(line: Fields, usage: Fields) -> Cost | None:
    cost = line.inner("cost")
    if cost.values:
        return Cost(cost.number("usd"), cost.words("billing"), cost.number("savedUsd"))
    # Older logs have the turn's cost among its tokens.
    usd = usage.number("costUsd")
    return None if usd is None else Cost(usd)


HANDLERS: dict[str, Handler] = {
    "files.changed": _files_changed,
    "artifact": _artifact,
    "memory.saved": _remembered,
    "task": _task,
    "browser.step": _browser_step,
    "context.compacted": _compacted,
    "turn.completed": _completed,
}
