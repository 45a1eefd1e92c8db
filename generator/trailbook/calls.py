"""Calls with what came back: paired, settled, and told in plain words."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field

from trailbook import diffs
from trailbook.chat import Called, FilesChanged, Returned, Text, text_of
from trailbook.steps import Step, new_step, orphan_step
from trailbook.tool_wording import describe_call
from trailbook.wording import line


@dataclass(slots=True)
class Calling:
    """A call's step with what the log says of it, until its words are chosen."""

    step: Step
    called: Called
    returned: Returned | None = None
    texts: list[str] = field(default_factory=list)
    """What came back, in as many pieces as the log has it."""


class Calls:
    """Pairs calls with their results."""

    def __init__(self) -> None:
        self.all: list[Calling] = []
        self._open: defaultdict[str, deque[Calling]] = defaultdict(deque)
        self._last: dict[str, Calling] = {}

    def returned(self, event: Returned, turn: int) -> Step | None:
        """Add a result to its call's step; a step of its own for one that answers no call."""
        calling = self._calling(event.call)
        if calling is None:
            return orphan_step(event, turn)
        _answer(calling, event)
        return None

    def change_files(self, event: FilesChanged) -> bool:
        """Fold what a call changed into its step; False when there is no such call."""
        calling = self._last.get(event.call or "")
        if calling is None:
            return False
        step = calling.step
        step.files.extend(event.files)
        patches = [change.patch for change in event.files if change.patch]
        if patches and not (calling.returned and calling.returned.patch):
            step.diff = "\n".join(patches)
        return True

    def called(self, event: Called, turn: int) -> Step:
        """The step of a call, waiting for its result."""
        prefix = "script" if event.step is not None else "tool"
        step = new_step(event, turn, "tool", f"{prefix}:{event.id}", event.name, anchor=event.id)
        step.status = "done" if event.ran else "waiting"
        step.name = event.name
        step.arguments = event.arguments
        step.raw = event.raw
        step.within = event.within
        step.diff = diffs.of_call(event.name, event.arguments, event.raw)
        calling = Calling(step, event)
        self.all.append(calling)
        self._open[event.id].append(calling)
        self._last[event.id] = calling
        return step

    def _calling(self, call: str | None) -> Calling | None:
        if call is None:
            return None
        waiting = self._open.get(call)
        return waiting.popleft() if waiting else self._last.get(call)


def _answer(calling: Calling, event: Returned) -> None:
    step = calling.step
    calling.returned = event
    calling.texts.append(text_of(event.parts))
    step.parts.extend(part for part in event.parts if not isinstance(part, Text))
    step.status = _status(event)
    step.exit_status = event.exit_status if event.exit_status is not None else step.exit_status
    step.result_place, step.linked = event.place, event.linked
    step.diff = event.patch or step.diff
    if event.duration is not None:
        step.duration = event.duration
    elif event.at is not None and step.at is not None and event.at >= step.at:
        step.duration = event.at - step.at


def _status(event: Returned) -> str:
    if event.not_run is not None:
        return "declined"
    label_failed = event.label is not None and event.label.failed
    if event.ok is False or label_failed or (event.ok is None and event.exit_status):
        return "failed"
    return "done"


def word(calling: Calling) -> None:
    """Choose a call's title, detail and family: the agent's own labels first, else our words."""
    step, called, returned = calling.step, calling.called, calling.returned
    labels = [label for label in (returned and returned.label, called.label) if label]
    settled = returned is not None or called.ran is True
    step.text = "\n".join(calling.texts) if returned else None
    doing = next((label.doing for label in labels if label.doing), None)
    done = next((label.done for label in labels if label.done), None)
    title = (done or doing) if settled else (doing or done)
    outcome = next((label.outcome for label in labels if label.outcome), None) if settled else None
    subject = next((label.subject for label in labels if label.subject), None)
    step.family = next((label.family for label in labels if label.family), None)
    if not (title and step.family):
        words = describe_call(
            called.name,
            called.arguments,
            called.raw,
            status=step.status or "waiting",
            not_run=_why_not(step, returned),
            output=step.text,
            exit_status=step.exit_status,
            diff=step.diff,
        )
        step.family = step.family or words.family
        if not title:
            title = words.done if step.status != "waiting" else words.doing
            outcome, subject = outcome or words.outcome, subject or words.subject
    step.title = line(title or called.name)
    step.detail = outcome or subject
    if called.step is not None:
        step.detail = f"Step {called.step} of a script" + (f" · {step.detail}" if step.detail else "")


def _why_not(step: Step, returned: Returned | None) -> str | None:
    if returned is not None:
        return returned.not_run
    return "unanswered" if step.status == "declined" else None
