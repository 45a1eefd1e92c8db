"""The steps of an ATIF trajectory as events."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path

from trailbook.chat import JSON, Answered, Asked, Called, Chat, Compacted, Event, Noted, Place, Returned, Said, Thought
from trailbook.readers.arguments import read_arguments
from trailbook.readers.atif.contents import read_parts
from trailbook.readers.atif.figures import read_message
from trailbook.readers.lines import Problems
from trailbook.readers.pairing import Pairing
from trailbook.readers.pieces import objects_of
from trailbook.readers.standing_in import add_returned, words_and_others
from trailbook.readers.values import Fields, fields, items, moment, string, truth, whole

_OUTCOMES = ("success", "interrupted", "error")


@dataclass(slots=True, frozen=True)
class Source:
    """Where a trajectory stands, and how what is in it is read."""

    first: Place
    folder: Path
    zone: tzinfo
    problems: Problems


@dataclass(slots=True)
class Reading:
    """One trajectory while it is read."""

    chat: Chat
    source: Source
    model: str | None
    """That of steps that name none."""
    pairing: Pairing = field(default_factory=Pairing)
    started: dict[str, str] = field(default_factory=dict)
    """Subagents' ids with the ids of the calls that started them."""


def read_step(step: Fields, place: Place, reading: Reading) -> None:
    """Add a step's events to the chat."""
    at = _moment(step.get("timestamp"), reading)
    kind, extra = step.get("source"), fields(step.get("extra"))
    events: list[Event] = []
    key = None
    if kind == "agent":
        key = _key(step, place, reading)
        _read_reply(step, key, reading, events)
    elif kind == "user":
        events.append(_read_prompt(step, place, reading))
    else:
        _read_system(step, reading, events)
        if kind != "system":
            text = f"A step has the source {kind!r}; it is read as one of the system."
            reading.source.problems.count("unknown-record", text, place)
    _read_calls(step, place, key, reading, events)
    for event in events:
        event.at, event.by = at, string(extra.get("by"))
    _read_results(step, place, reading, events)
    outcome, problem = string(extra.get("outcome")), string(extra.get("problem"))
    if kind == "agent" and (outcome in _OUTCOMES or problem):
        events.append(Answered(outcome=outcome if outcome in _OUTCOMES else None, problem=problem))
    for event in events:
        event.place, event.inherited = place, step.get("is_copied_context") is True
    reading.chat.events += events  # type: ignore[arg-type]


def _moment(value: JSON, reading: Reading) -> int | None:
    at, naive = moment(value, reading.source.zone)
    reading.chat.naive_times = reading.chat.naive_times or naive
    return at


def _read_prompt(step: Fields, place: Place, reading: Reading) -> Asked:
    extra = fields(step.get("extra"))
    text, parts = words_and_others(read_parts(step.get("message"), extra, reading.source.folder))
    return Asked(
        id=string(extra.get("message_id")) or f"step-{place.number}",
        text=text,
        parts=parts,
        injected=string(extra.get("injected")),
        queued=extra.get("queued") is True,
    )


def _read_system(step: Fields, reading: Reading, events: list[Event]) -> None:
    extra = fields(step.get("extra"))
    text, parts = words_and_others(read_parts(step.get("message"), extra, reading.source.folder))
    management = fields(extra.get("context_management"))
    chat = reading.chat
    if management.get("type") == "compaction":
        events.append(
            Compacted(
                summary=text or None,
                trigger=string(management.get("trigger")),
                tokens_before=whole(management.get("tokens_before")),
                tokens_after=whole(management.get("tokens_after")),
            )
        )
    elif text and not parts and not chat.events and chat.system_prompt is None and not step.get("is_copied_context"):
        chat.system_prompt = text
    elif text or parts:
        events.append(Noted(topic=string(extra.get("topic")) or "system", text=text, parts=parts))


def _key(step: Fields, place: Place, reading: Reading) -> str | None:
    """The key of the message behind an agent's step; None where no inference is."""
    if step.get("llm_call_count") == 0:
        return None
    messages = reading.chat.messages
    logged = string(fields(step.get("extra")).get("message_id"))
    if logged in messages and "metrics" not in step:
        return logged
    named = logged is not None and logged not in messages
    key = logged if logged is not None and named else f"step-{place.number}"
    messages[key] = read_message(step, reading.model, named=named)
    return key


def _read_reply(step: Fields, key: str | None, reading: Reading, events: list[Event]) -> None:
    thought = step.get("reasoning_content")
    if isinstance(thought, str) and thought:
        events.append(Thought(text=thought, message=key))
    text, parts = words_and_others(read_parts(step.get("message"), fields(step.get("extra")), reading.source.folder))
    if text or parts:
        events.append(Said(text=text, parts=parts, message=key))


def _read_calls(step: Fields, place: Place, key: str | None, reading: Reading, events: list[Event]) -> None:
    calls = objects_of(step.get("tool_calls"), "A call", place, reading.source.problems)
    for order, call in enumerate(calls, 1):
        logged = reading.pairing.call(string(call.get("tool_call_id")), f"step-{place.number}-{order}")
        arguments, raw = read_arguments(call.get("arguments"))
        name = string(call.get("function_name")) or "unknown_tool"
        events.append(Called(id=logged, name=name, arguments=arguments, raw=raw, message=key))


def _read_results(step: Fields, place: Place, reading: Reading, events: list[Event]) -> None:
    results = fields(step.get("observation")).get("results")
    for result in objects_of(results, "A result", place, reading.source.problems):
        call = reading.pairing.result(string(result.get("source_call_id")))
        extra = fields(result.get("extra"))
        failed = truth(extra.get("is_error", extra.get("tool_result_is_error")))
        event = Returned(
            call=call,
            parts=read_parts(result.get("content"), extra, reading.source.folder),
            ok=None if failed is None else not failed,
            linked=(string(extra.get("linked")) or "id") if call else None,
            exit_status=whole(extra.get("exit_code")),
            duration=whole(extra.get("duration_ms")),
            at=_moment(extra.get("timestamp"), reading),
        )
        add_returned(event, events)
        if call is None:
            text = "A result answers no call of the trajectory; it is shown by itself."
            reading.source.problems.count("orphan-result", text, place)
        for reference in map(fields, items(result.get("subagent_trajectory_ref"))):
            child = string(reference.get("trajectory_id"))
            if child and call:
                reading.started[child] = call
