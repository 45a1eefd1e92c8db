"""Events as a person reads them: one step for each that is more than a part of another."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from trailbook.chat import (
    JSON,
    Answered,
    Asked,
    Branch,
    Browsed,
    Chat,
    Compacted,
    Cost,
    Event,
    FileChange,
    FilesChanged,
    HandedOff,
    Made,
    Noted,
    Part,
    Permission,
    Place,
    Remembered,
    Returned,
    Said,
    Text,
    Thought,
    Usage,
    text_of,
)
from trailbook.wording import line, names_of_files, tokens

KINDS = (
    "asked",
    "thought",
    "said",
    "tool",
    "approval",
    "files",
    "browser",
    "task",
    "made",
    "remembered",
    "problem",
    "noted",
)


@dataclass(slots=True)
class Step:
    """One event as a person reads it. Nothing but its title is shortened; each view clips for itself."""

    id: str
    """`kind:the log's id`, unique in the timeline."""
    kind: str
    """One of `KINDS`. A question the run waited on is an `approval` whose id starts with `question:`."""
    turn: int
    title: str
    """One line of plain words; of a long text its beginning."""
    at: int | None = None
    duration: int | None = None
    family: str | None = None
    """What sort of work a tool did: explore, edit, run, verify, ship, research, browse, connect, make, plan, delegate,
    remember, other."""
    detail: str | None = None
    status: str | None = None
    """`done`, `failed`, `declined` or `waiting`; None where there is nothing to succeed in."""
    anchor: str | None = None
    """The log's own id of the thing."""
    text: str | None = None
    """All the words: what was asked, said or thought, what came back."""
    name: str | None = None
    """The tool's name."""
    arguments: dict[str, JSON] | None = None
    raw: str | None = None
    """The arguments as the log has them, where they were no JSON object."""
    diff: str | None = None
    """What it changed, as a unified diff: the log's own patch where it has one. Lines of a fragment whose place in the
    file is unknown have no numbers: `@@ … @@` stands between them."""
    files: list[FileChange] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    """Images and files that came with it, in order."""
    exit_status: int | None = None
    url: str | None = None
    shot: str | None = None
    place: Place | None = None
    result_place: Place | None = None
    """Where the result stands in the log, for a call."""
    linked: str | None = None
    """How the result was paired with its call: `id`, `order` or `inferred`."""
    by: str | None = None
    message: str | None = None
    """The key of the API message it belongs to."""
    branch: str | None = None
    inherited: bool = False
    injected: str | None = None
    """For `asked`: what put the words there, when it was not the person."""
    within: str | None = None
    """The id of the call whose script made this call."""
    subagent: str | None = None
    """The id of the subagent's chat that this call started."""
    answers: bool = True
    """False for a result that answers no call."""
    topic: str | None = None
    """For `noted`: a word for what it is (`notice`, `hook`, `compaction`, `branch`, `orphan-result`, …)."""
    usage: Usage | None = None
    """The tokens of the API message that begins with this step, where the log counts by message."""
    cost: Cost | None = None
    """Likewise."""


def step_of(event: Event, turn: int) -> Step | None:
    """The step of any event but a call; None where the event is a part of another step or says nothing."""
    maker = _MAKERS.get(type(event))
    return maker(event, turn) if maker else None


def branch_step(event: Event, turn: int, branch: Branch | None) -> Step:
    """The step that marks where an abandoned branch begins; `event` is the branch's first."""
    title = "Went another way from here, and left it"
    step = new_step(event, turn, "noted", f"noted:branch:{event.branch}", title, topic="branch", anchor=event.branch)
    step.message = None
    if branch is not None:
        step.detail = branch.name
        step.place = branch.left_at or event.place
    return step


def orphan_step(event: Returned, turn: int) -> Step:
    """The step of a result that answers no call."""
    return new_step(
        event,
        turn,
        "noted",
        f"noted:result:{event.call or where(event)}",
        "A result that answers no call",
        anchor=event.call,
        topic="orphan-result",
        text=text_of(event.parts),
        parts=[part for part in event.parts if not isinstance(part, Text)],
        exit_status=event.exit_status,
        duration=event.duration,
        status=None if event.ok is None else ("done" if event.ok else "failed"),
        answers=False,
    )


def subagent_step(subagent: Chat, turn: int) -> Step:
    """The step of a subagent that stands in no call's step."""
    title = "Handed on, by no call that the log names" if subagent.started_by is None else "Handed on"
    key = f"noted:subagent:{subagent.id}"
    return Step(key, "noted", turn, title, at=subagent.started, topic="subagent", subagent=subagent.id)


def make_ids_unique(steps: Sequence[Step]) -> None:
    """Add a number to each id that an earlier step has (a log may use an id twice)."""
    used: dict[str, int] = {}
    for step in steps:
        identity = step.id
        while step.id in used:
            used[identity] += 1
            step.id = f"{identity}~{used[identity]}"
        used[step.id] = 1


class Beginnings:
    """When words and thoughts began. A log has them when they are complete: they began when what is before them ended.

    The rule is Conch's; it holds for every log whose records carry the time of their end.
    """

    def __init__(self, events: Sequence[Event]) -> None:
        self._answers = sorted(
            event.answered for event in events if isinstance(event, Permission) and event.answered is not None
        )
        self._before: dict[tuple[str | None, bool], int] = {}

    def begin(self, step: Step, event: Event) -> None:
        """Set a step's time and duration by what is known before its event."""
        before = event.started if event.started is not None else self._known_before(event)
        if before is not None and event.at is not None and before <= event.at:
            step.at, step.duration = before, event.at - before

    def after(self, event: Event) -> None:
        """Go on to the next event of the log."""
        if event.at is not None:
            self._before[event.branch, event.inherited] = event.at

    def _known_before(self, event: Event) -> int | None:
        before = self._before.get((event.branch, event.inherited))
        if before is None or event.at is None:
            return before
        place = bisect_right(self._answers, event.at)
        return max(before, self._answers[place - 1]) if place else before


def new_step(event: Event, turn: int, kind: str, identity: str, title: str, **more: Any) -> Step:
    """A step with what every event has; `more` are further fields of `Step`."""
    return Step(
        identity,
        kind,
        turn,
        title,
        event.at,
        place=event.place,
        by=event.by,
        message=event.message,
        branch=event.branch,
        inherited=event.inherited,
        **more,
    )


def where(event: Event) -> str:
    """The number of an event's place, for the id of what has none."""
    return str(event.place.number) if event.place else "0"


def _asked(event: Asked, turn: int) -> Step:
    files: list[Part] = [part for part in event.parts if not isinstance(part, Text)]
    title = line(event.command or "") or line(event.text) or ("You sent files" if files else "You wrote")
    detail = None
    if files:
        detail = "With a file" if len(files) == 1 else f"With {len(files)} files"
    step = new_step(event, turn, "asked", f"asked:{event.id}", title, anchor=event.id, text=event.text, detail=detail)
    step.parts, step.injected = files, event.injected
    return step


def _thought(event: Thought, turn: int) -> Step | None:
    if not event.text.strip():
        if not (event.signature or event.encrypted):
            return None
        hidden = "The log does not have its words"
        return new_step(event, turn, "thought", _piece("thought", event), "Thought it through", text="", detail=hidden)
    step = new_step(event, turn, "thought", _piece("thought", event), "Thought it through", text=event.text)
    step.anchor = event.message
    return step


def _said(event: Said, turn: int) -> Step | None:
    files: list[Part] = [part for part in event.parts if not isinstance(part, Text)]
    title = line(event.text) or ("Sent files" if files else "")
    if not title:
        return None
    step = new_step(event, turn, "said", _piece("said", event), title, text=event.text, parts=files)
    step.anchor = event.message
    return step


def _piece(kind: str, event: Thought | Said) -> str:
    return f"{kind}:{event.id or f'{event.message}:{where(event)}' if event.message or event.id else where(event)}"


_DECISIONS = {
    "allow": ("You allowed it", "done"),
    "allow-always": ("You allowed it for the rest of the chat", "done"),
    "deny": ("You said no", "declined"),
    "expired": ("Nobody answered in time", "declined"),
    "answered": ("You answered", "done"),
    "dismissed": ("You left it unanswered", "declined"),
}


def _permission(event: Permission, turn: int) -> Step:
    detail, status = _DECISIONS.get(event.decision or "", ("Waiting for you", "waiting"))
    if event.answer and event.question:
        detail = f"{detail}: {line(event.answer)}"
    prefix = "question" if event.question else "approval"
    title = line(event.title) or ("It asked you something" if event.question else "It asked to go on")
    step = new_step(event, turn, "approval", f"{prefix}:{event.id}", title, detail=detail, status=status)
    step.anchor = event.call
    step.text = "\n\n".join(words for words in (event.detail, event.answer) if words) or None
    if event.answered is not None and event.at is not None:
        step.duration = max(event.answered - event.at, 0)
    return step


def _files_changed(event: FilesChanged, turn: int) -> Step:
    paths = [change.path for change in event.files]
    step = new_step(event, turn, "files", f"files:{event.id or where(event)}", "", family="edit", status="done")
    step.title = line(event.label or "") or f"Changed {names_of_files(paths)}"
    step.detail = ", ".join(paths) or None
    step.files, step.anchor = event.files, event.call
    step.diff = "\n".join(change.patch for change in event.files if change.patch) or None
    return step


def _browsed(event: Browsed, turn: int) -> Step:
    status = {"running": "waiting", "error": "failed"}.get(event.status or "", "done")
    title = line(event.label or "") or line(event.action or "") or "Used the browser"
    step = new_step(event, turn, "browser", f"browser:{event.id}", title, family="browse", status=status)
    step.detail, step.url, step.shot, step.anchor = event.title or None, event.url, event.shot, event.id
    return step


_TASK_STATUS = {
    "done": "done",
    "unverified": "done",
    "failed": "failed",
    "interrupted": "failed",
    "stopped": "declined",
}


def _handed_off(event: HandedOff, turn: int) -> Step:
    # Its end is no duration of the step: the run went on beside it.
    status = _TASK_STATUS.get(event.state or "", "waiting")
    step = new_step(event, turn, "task", f"task:{event.id}", line(f"Handed off: {event.title}"), status=status)
    step.family, step.detail, step.text, step.anchor = "delegate", event.summary, event.summary, event.call
    return step


def _made(event: Made, turn: int) -> Step:
    identity = f"made:{event.id}" if event.version is None else f"made:{event.id}:{event.version}"
    verb = "Made" if event.action == "created" else "Updated"
    step = new_step(event, turn, "made", identity, line(f"{verb} {event.title}"), family="make", status="done")
    step.text = event.note
    return step


def _remembered(event: Remembered, turn: int) -> Step:
    step = new_step(event, turn, "remembered", f"remembered:{event.id}", "Remembered something", status="done")
    step.family, step.detail, step.text = "remember", event.text, event.text
    return step


def _noted(event: Noted, turn: int) -> Step:
    title = line(event.text) or event.topic
    step = new_step(event, turn, "noted", f"noted:{event.topic}:{where(event)}", title, topic=event.topic)
    words = [event.detail] if event.text.strip() == title else [event.text, event.detail]
    step.text = "\n\n".join(text for text in words if text and text.strip()) or None
    step.parts = [part for part in event.parts if not isinstance(part, Text)]
    step.anchor = event.call
    return step


def _compacted(event: Compacted, turn: int) -> Step:
    step = new_step(
        event, turn, "noted", f"noted:compaction:{where(event)}", "Shortened what it remembers of this chat"
    )
    step.topic, step.text = "compaction", event.summary
    if event.tokens_before is not None:
        after = "" if event.tokens_after is None else f" to {tokens(event.tokens_after)}"
        step.detail = f"From {tokens(event.tokens_before)}{after} tokens"
    return step


def _answered(event: Answered, turn: int) -> Step | None:
    if event.outcome != "error":
        return None
    identity = f"problem:{event.id or where(event)}"
    step = new_step(event, turn, "problem", identity, "It stopped with a problem", status="failed")
    step.detail, step.text = event.problem, event.problem
    return step


_MAKERS: dict[type[Event], Callable[[Any, int], Step | None]] = {
    Asked: _asked,
    Thought: _thought,
    Said: _said,
    Permission: _permission,
    FilesChanged: _files_changed,
    Browsed: _browsed,
    HandedOff: _handed_off,
    Made: _made,
    Remembered: _remembered,
    Noted: _noted,
    Compacted: _compacted,
    Answered: _answered,
}
