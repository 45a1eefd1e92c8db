"""A chat as a person reads it: turns, steps in file order, totals."""

from __future__ import annotations

from dataclasses import dataclass, field

from trailbook.chat import JSON, Cost, FileChange, Part, Place, Usage

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
    """One event as a person reads it. Nothing in it is clipped; each view clips for itself."""

    id: str
    """`kind:the log's id`, unique in the timeline."""
    kind: str
    """One of `KINDS`. A question the run waited on is an `approval` whose id starts with `question:`."""
    turn: int
    title: str
    """One line of plain words."""
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
    """What it changed, as a unified diff: the log's own patch where it has one."""
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


@dataclass(slots=True)
class Turn:
    """From what a person asked to the end of the agent's answer."""

    index: int
    at: int | None = None
    ended: int | None = None
    outcome: str | None = None
    engine: str | None = None
    model: str | None = None
    usage: Usage | None = None
    cost: Cost | None = None
    waiting: int = 0
    """Milliseconds inside the turn in which it waited for a person."""


@dataclass(slots=True)
class Totals:
    """The chat's own figures; a subagent's stand in its own timeline."""

    duration: int | None = None
    """Milliseconds inside turns, waits included."""
    waiting: int = 0
    """Milliseconds inside turns in which it waited for a person (a union: parallel waits count once)."""
    usage: Usage | None = None
    usd: float | None = None
    """What was paid; a plan's list prices do not count. None when no turn or message states a cost."""
    estimated: bool = False
    plan_turns: int = 0
    tools: int = 0
    approvals: int = 0
    files: int = 0
    failed: int = 0


@dataclass(slots=True)
class Timeline:
    chat: str
    title: str
    origin: str
    started: int | None
    ended: int | None
    steps: list[Step] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    totals: Totals = field(default_factory=Totals)
