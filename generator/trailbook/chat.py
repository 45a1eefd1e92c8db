"""The model: one chat as any agent's log tells it, and nothing of how it was read or will be written.

Times are integer epoch milliseconds, durations integer milliseconds, sizes bytes, usage tokens.
Unknown is None, never 0. Events stand in the order of the log, because clocks in real logs run backwards.

Strings come in two kinds, and redaction tells them apart by type alone: a plain `str` (and any string inside a
`JSON` value) is free text and goes through redaction; a `Fixed` is structure (ids, roles, model and tool names) and
is never changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated

Fixed = Annotated[str, "structure: never redacted"]

JSON = None | bool | int | float | Decimal | str | list["JSON"] | dict[str, "JSON"]
"""What a JSON text holds. A fraction that a float would round is a Decimal, so that no digit changes."""


@dataclass(slots=True, frozen=True)
class Place:
    """Where something stands in the log, so that a person can find it there.

    `file` is the name of the input, relative to the chat's own folder; `number` counts from 1.
    """

    file: Fixed
    number: int
    unit: Fixed = "line"
    """`line` in a text log, `row` in a database, `message` in a single JSON document."""


# --- content parts


@dataclass(slots=True)
class Text:
    text: str


@dataclass(slots=True)
class Image:
    """A picture. Its pixels cannot be redacted: they are kept whole or left out whole, as the person chooses."""

    media_type: Fixed | None = None
    data: bytes | None = None
    sha256: Fixed | None = None
    size: int | None = None
    reference: str | None = None
    """A path or an address where the log has no bytes. Never fetched, shown as text."""
    name: str | None = None
    problem: str | None = None
    """Why there are no bytes although the log meant to have some (damaged base64, a type that is no image)."""


@dataclass(slots=True)
class File:
    """An attachment that is not a picture."""

    name: str | None = None
    media_type: Fixed | None = None
    size: int | None = None
    reference: str | None = None
    text: str | None = None


Part = Text | Image | File


# --- what things cost


@dataclass(slots=True)
class Usage:
    """Tokens as every reader converts them: the parts of a sum are inside it.

    `prompt_tokens` includes what was read from and written to the cache, `output_tokens` includes reasoning.
    """

    prompt_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    """The part of `prompt_tokens` that was read from the cache."""
    cache_write_tokens: int | None = None
    """The part of `prompt_tokens` that was written to the cache, for any length of time."""
    cache_write_hour_tokens: int | None = None
    """The part of `cache_write_tokens` that was written for an hour (it has a price of its own)."""
    reasoning_tokens: int | None = None


@dataclass(slots=True)
class Cost:
    usd: float | None = None
    billing: Fixed | None = None
    """`metered`, `plan` (usd is then a list price that nobody pays) or `free`."""
    saved_usd: float | None = None
    estimated_from: str | None = None
    """None when the log states the cost; else the price table and its date."""


@dataclass(slots=True)
class Message:
    """One message of the model's API, over however many events the log has it."""

    model: Fixed | None = None
    provider: Fixed | None = None
    usage: Usage | None = None
    cost: Cost | None = None
    stop_reason: Fixed | None = None
    extra: dict[str, JSON] = field(default_factory=dict)
    """What else the log says of it, in the log's own words."""
    named: bool = True
    """False where the log has no id of it, and its key in `Chat.messages` only says where it stands."""
    alone: bool = True
    """False where `usage` and `cost` may be of several messages (of a turn's, say)."""


# --- events


@dataclass(slots=True, kw_only=True)
class Event:
    """One thing that happened, as the log says it."""

    at: int | None = None
    started: int | None = None
    """When it began, where the log says so and `at` is its end (words and thoughts that are logged when complete)."""
    place: Place | None = None
    by: str | None = None
    """Who, where that is not plain: an agent's or another person's name."""
    message: Fixed | None = None
    """The key in `Chat.messages` of the API message that this belongs to."""
    branch: Fixed | None = None
    """None on the active path; else the id of the abandoned branch, a key in `Chat.branches`."""
    inherited: bool = False
    """True in a part that a fork or a spawned chat replays from its parent."""


@dataclass(slots=True, kw_only=True)
class Asked(Event):
    """What a person asked, or what was put in their mouth (`injected`)."""

    id: Fixed
    text: str
    parts: list[Part] = field(default_factory=list)
    """Attachments: images and files, in order. The words stand in `text`."""
    injected: Fixed | None = None
    """None when a person wrote it; else a word for what did (`reminder`, `context`, `hook`, `compaction`, …)."""
    command: str | None = None
    """The slash command this came from, as typed."""
    queued: bool = False
    """True when it was typed while the agent was still at work."""


@dataclass(slots=True, kw_only=True)
class Thought(Event):
    text: str
    """What was thought; empty where the log has only a signature or an encrypted blob."""
    id: Fixed | None = None
    """The log's own id of this piece, unique in the chat (`message:number`); None where it has none."""
    signature: Fixed | None = None
    encrypted: Fixed | None = None


@dataclass(slots=True, kw_only=True)
class Said(Event):
    text: str
    id: Fixed | None = None
    """As in `Thought`."""
    parts: list[Part] = field(default_factory=list)


@dataclass(slots=True)
class Label:
    """Plain words that the agent itself logged for a call."""

    family: Fixed | None = None
    doing: str | None = None
    done: str | None = None
    outcome: str | None = None
    subject: str | None = None
    failed: bool | None = None


@dataclass(slots=True, kw_only=True)
class Called(Event):
    id: Fixed
    name: Fixed
    arguments: dict[str, JSON] = field(default_factory=dict)
    raw: str | None = None
    """The arguments as the log has them, where they were not a JSON object; `arguments` is then empty."""
    label: Label | None = None
    within: Fixed | None = None
    """The id of the call that made this one (a step of a script)."""
    step: int | None = None
    """Which step of the script, from 1."""
    ran: bool | None = None
    """True when the log says that it ran, though it keeps no result of its own (a model's own web search)."""


@dataclass(slots=True, kw_only=True)
class Returned(Event):
    call: Fixed | None
    """The id of the call it answers; None for a result that answers none (an orphan)."""
    parts: list[Part] = field(default_factory=list)
    ok: bool | None = None
    duration: int | None = None
    linked: Fixed | None = "id"
    """How it was paired: `id`, `order` or `inferred`; None for an orphan."""
    not_run: Fixed | None = None
    """Why the call did not run: `declined` (the person said no), `expired` (nobody answered), `refused` (a rule stopped
    it), `stopped` (the turn was interrupted); None when it ran."""
    exit_status: int | None = None
    label: Label | None = None
    patch: str | None = None
    """The log's own unified diff of what the call changed."""


@dataclass(slots=True, kw_only=True)
class Permission(Event):
    """A question that the run waited on; `at` is when it was asked."""

    id: Fixed
    title: str
    detail: str | None = None
    call: Fixed | None = None
    question: bool = False
    """True when the agent asked for words or a choice, False when it asked to be allowed something."""
    answered: int | None = None
    """When it was answered, epoch milliseconds."""
    decision: Fixed | None = None
    """`allow`, `allow-always`, `deny`, `expired`, `answered`, `dismissed`; None while it waits."""
    answer: str | None = None


@dataclass(slots=True)
class FileChange:
    path: str
    kind: Fixed = "changed"
    """`created`, `changed` or `deleted`."""
    patch: str | None = None
    """A unified diff, where the log has one."""


@dataclass(slots=True, kw_only=True)
class FilesChanged(Event):
    id: Fixed | None = None
    """The id of the change set. None: derived from a call's result, and shown as a part of that call's step."""
    label: str | None = None
    files: list[FileChange] = field(default_factory=list)
    call: Fixed | None = None


@dataclass(slots=True, kw_only=True)
class Browsed(Event):
    id: Fixed
    action: Fixed | None = None
    label: str | None = None
    url: str | None = None
    title: str | None = None
    shot: Fixed | None = None
    status: Fixed | None = None
    """`running`, `done` or `error`."""


@dataclass(slots=True, kw_only=True)
class HandedOff(Event):
    """Work given to another agent; `at` is the first sighting, the rest the last word on it."""

    id: Fixed
    title: str
    kind: Fixed | None = None
    state: Fixed | None = None
    """`queued`, `running`, `needs-you`, `done`, `unverified`, `failed`, `stopped` or `interrupted`."""
    summary: str | None = None
    call: Fixed | None = None
    ended: int | None = None


@dataclass(slots=True, kw_only=True)
class Made(Event):
    """Something made for the person: a page, a chart, a document."""

    id: Fixed
    version: int | None = None
    title: str
    kind: Fixed | None = None
    action: Fixed | None = None
    note: str | None = None


@dataclass(slots=True, kw_only=True)
class Remembered(Event):
    id: Fixed
    text: str
    kind: Fixed | None = None


@dataclass(slots=True, kw_only=True)
class Noted(Event):
    """What has no other place: notices, hooks, system text, local commands, model switches, plans."""

    topic: Fixed
    """A word or two for what it is: `notice`, `hook`, `system`, `command`, `model`, `plan`, …"""
    text: str
    detail: str | None = None
    """What came with it, such as a local command's output."""
    parts: list[Part] = field(default_factory=list)
    call: Fixed | None = None


@dataclass(slots=True, kw_only=True)
class Compacted(Event):
    """The context was shortened here; the history before it stays in the chat."""

    summary: str | None = None
    trigger: Fixed | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None


@dataclass(slots=True, kw_only=True)
class Answered(Event):
    """The end of a turn (or of one agent's round in it). A log without such records has none of these."""

    id: Fixed | None = None
    outcome: Fixed | None = None
    """`success`, `interrupted` or `error`."""
    usage: Usage | None = None
    """The turn's tokens, where the log counts by turn; None where it counts by message."""
    cost: Cost | None = None
    model: Fixed | None = None
    engine: Fixed | None = None
    problem: str | None = None
    """What went wrong, in the log's words."""
    duration: int | None = None


# --- the chat


@dataclass(slots=True)
class Agent:
    name: str = ""
    """What the person calls it; for most agents the product's name."""
    version: Fixed | None = None
    product: Fixed = ""
    """The program that kept the log: `Conch`, `Claude Code`, …"""


@dataclass(slots=True)
class Origin:
    """How a chat came to be: `chat` when a person started it, else `routine`, `task`, `channel`, `client`,
    `artifact` or `subagent`."""

    kind: Fixed = "chat"
    id: Fixed | None = None
    name: str | None = None


@dataclass(slots=True)
class Branch:
    """A part of the chat that was abandoned: the person went back and asked something else."""

    id: Fixed
    left_at: Place | None = None
    """Where the active path went another way."""
    name: str | None = None


@dataclass(slots=True)
class Tool:
    """A tool as the log declares it."""

    name: Fixed
    description: str | None = None
    parameters: JSON = None
    """A JSON Schema object, or None when the log has none."""


@dataclass(slots=True)
class Diagnostic:
    """Something that could not be read, or not be placed; never fatal, never silent."""

    kind: Fixed
    """A short stable word: `damaged-line`, `unknown-record`, `orphan-result`, `bad-utf8`, …"""
    text: str
    """One sentence for a person."""
    place: Place | None = None
    count: int = 1
    lost: bool = False
    """True when something of the log could not be carried over (it stands in the sentence what)."""


@dataclass(slots=True)
class Chat:
    id: Fixed
    source: Fixed
    """The name of the reader."""
    agent: Agent
    title: str | None = None
    origin: Origin = field(default_factory=Origin)
    cwd: str | None = None
    git_branch: str | None = None
    system_prompt: str | None = None
    tools: list[Tool] = field(default_factory=list)
    started: int | None = None
    ended: int | None = None
    events: list[
        Asked
        | Thought
        | Said
        | Called
        | Returned
        | Permission
        | FilesChanged
        | Browsed
        | HandedOff
        | Made
        | Remembered
        | Noted
        | Compacted
        | Answered
    ] = field(default_factory=list)
    messages: dict[Fixed, Message] = field(default_factory=dict)
    branches: dict[Fixed, Branch] = field(default_factory=dict)
    subagents: list[Chat] = field(default_factory=list)
    started_by: Fixed | None = None
    """In a subagent: the id of the call in the parent that started it."""
    parent: Fixed | None = None
    """The id of the chat that this one was forked from or spawned by, where that is a chat of its own."""
    forked: bool = False
    """True when `parent` was forked by a person, False when it spawned this chat."""
    models: list[Fixed] = field(default_factory=list)
    """Models in order of first use."""
    providers: list[Fixed] = field(default_factory=list)
    """Engines or model vendors in order of first use."""
    usage: Usage | None = None
    """Only where the log counts the whole chat and neither turns nor messages."""
    cost: Cost | None = None
    """Likewise."""
    completed: bool | None = None
    """True when the last turn ended well, False when it did not, None when the log does not say."""
    reopen: list[str] = field(default_factory=list)
    """The command, word by word, that opens this chat again in its agent; empty when there is none."""
    naive_times: bool = False
    """True when the log's times had no zone and were read in the person's."""
    diagnostics: list[Diagnostic] = field(default_factory=list)


def with_subagents(chat: Chat) -> Iterator[Chat]:
    """The chat and every subagent below it, parents first."""
    yield chat
    for subagent in chat.subagents:
        yield from with_subagents(subagent)


def text_of(parts: list[Part]) -> str:
    """The words of some content parts, joined by line breaks; images and files say nothing."""
    return "\n".join(part.text for part in parts if isinstance(part, Text))
