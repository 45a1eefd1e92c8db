"""Which message of a log answers which call.

A result has the call's id only in the `tool` format, and there not always; else it is any message that comes between
the call and what the model says next. The rules are the format sheet's §1.4.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, replace

from trailbook.readers.gptme.log_lines import Line
from trailbook.readers.values import fields

_INTERRUPTED = ("Interrupted by user", "Interrupted")  # the latter before 0.27
_DECLINED = "Execution declined by user"
_NEAR = 64
"""How many calls on a result is looked for that its first words fit."""
_HEADS: tuple[tuple[re.Pattern[str], tuple[str, ...], bool], ...] = tuple(
    (re.compile(pattern), tools, last)
    for pattern, tools, last in (
        (r"Ran (?:allowlisted )?command:|Command (?:timed out|killed)", ("shell",), True),
        (r"Started background|Promoted to background", ("shell",), True),
        (r"Command interrupted|Shellcheck found", ("shell",), False),
        (r"Executed code block|Exception during execution|Viewing image", ("ipython",), True),
        (r"Saved to|Cannot save to", ("save",), True),
        (r"Appended to|Cannot append to", ("append",), True),
        (r"Patch successfully applied", ("patch", "patch_many", "morph"), True),
        (r"`{3,}\S[^\n]*\n[ \t]*\d+\t", ("read",), True),
        (r"Task complete", ("complete",), True),
    )
)
"""How results begin, of which tools, and whether such a message is a call's last one."""
_NOTICES = (
    *("# ", "<agent-instructions", "<workspace-agent", "[UNTRUSTED", "Background shell job #", "Watch "),
    *("⏳ Subagent", "✅ Subagent", "❌ Subagent", "LLM request failed:", "Stopped: reached max steps"),
)


@dataclass(slots=True, frozen=True)
class OpenCall:
    """A call that waits for its result."""

    id: str
    """The chat's id for it."""
    logged: str | None
    name: str


@dataclass(slots=True, frozen=True)
class Link:
    """What a system message is: the result of a call; of no call (an orphan); or no result (`result` is False)."""

    result: bool = False
    call: OpenCall | None = None
    how: str | None = None
    """`id`, `order` or `inferred`."""
    stopped: tuple[OpenCall, ...] = ()
    """Calls that were not run because of what this message says."""


def links(lines: list[Line], calls: dict[int, list[OpenCall]]) -> dict[int, Link]:
    """A link for every system message, by its number (from 0) in `lines`; `calls` by the assistant's message's."""
    found: dict[int, Link] = {}
    waiting: dict[str, deque[OpenCall]] = {}
    at = 0
    while at < len(lines):
        opened = calls.get(at, [])
        for logged in {call.logged for call in opened if call.logged is not None}:
            waiting[logged] = deque(call for call in opened if call.logged == logged)
        end = at + 1
        while end < len(lines) and lines[end].role == "system":
            end += 1
        first = at if lines[at].role == "system" else at + 1
        _link_run(lines, range(first, end), opened, waiting, found)
        at = end
    return found


def is_notice(line: Line) -> bool:
    """Whether a message is nothing that a tool gave back."""
    return line.shown_only or line.hidden or line.content.startswith(_NOTICES)


def is_interruption(text: str) -> bool:
    """Whether a message says that the person stopped the call."""
    return text.strip() in _INTERRUPTED


def is_refusal(text: str) -> bool:
    """Whether a message says that the person did not let the call run."""
    return text.strip() == _DECLINED


@dataclass(slots=True)
class _Run:
    """The calls without ids of one message, while its results are dealt out."""

    calls: list[OpenCall]
    current: int = 0
    over: bool = False
    """Whether the current call has its last result."""
    interrupted: bool = False
    broke_off: int | None = None
    """The number of the message that ended it all; a message after it is what another call gave back after all."""

    def deal(self, at: int, line: Line) -> Link:
        """The call that the next message answers."""
        tools, last = _head(line.content)
        begin = self.current + self.over
        near = range(begin, min(begin + _NEAR, len(self.calls))) if tools else ()
        fitting = next((number for number in near if self.calls[number].name in tools), None)
        if fitting is not None:
            self.current = fitting
        elif self.over and self.calls[self.current].name not in tools and self.current + 1 < len(self.calls):
            self.current += 1
        self.over = last
        self.interrupted = is_interruption(line.content)
        self.broke_off = at if self.interrupted or is_refusal(line.content) else None
        sure = len(self.calls) == 1 or fitting is not None
        return Link(True, self.calls[self.current], "order" if sure else "inferred")


def _link_run(
    lines: list[Line],
    numbers: range,
    opened: list[OpenCall],
    waiting: dict[str, deque[OpenCall]],
    found: dict[int, Link],
) -> None:
    """Link the messages between two things that the model said."""
    idless = [call for call in opened if call.logged is None]
    run = _Run(_that_ran(lines[numbers.start - 1], idless) if idless else [])
    loose: list[int] = []
    """Messages without an id that may belong to the next one that has one."""
    for at in numbers:
        line = lines[at]
        if line.call_id is not None and not line.shown_only:
            call = _by_id(line.call_id, waiting)
            found[at] = Link(True, call, "id" if call else None)
            for earlier in loose if call else ():
                found[earlier] = Link(True, call, "order")
            loose.clear()
        elif is_notice(line):
            found[at] = Link()
        elif run.calls and not run.interrupted:
            found[at] = run.deal(at, line)
        else:
            found[at] = Link()
            loose.append(at)
    if run.broke_off is not None:
        link = found[run.broke_off]
        behind = idless[idless.index(link.call) + 1 :] if link.call else []
        found[run.broke_off] = replace(link, stopped=tuple(behind))


def _by_id(logged: str, waiting: dict[str, deque[OpenCall]]) -> OpenCall | None:
    """The call that waits under an id; the last one keeps waiting, for a tool may give back several messages."""
    calls = waiting.get(logged)
    if not calls:
        return None
    return calls.popleft() if len(calls) > 1 else calls[0]


def _that_ran(line: Line, idless: list[OpenCall]) -> list[OpenCall]:
    """The calls without ids, less those of which gptme's own clock says that they did not run."""
    times = fields(fields((line.metadata or {}).get("timings")).get("tool_ms_by_name"))
    return [call for call in idless if call.name in times] or idless


def _head(text: str) -> tuple[tuple[str, ...], bool]:
    for pattern, tools, last in _HEADS:
        if pattern.match(text):
            return tools, last
    return (), True
