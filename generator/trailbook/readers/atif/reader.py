"""An ATIF trajectory as a chat."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import tzinfo
from pathlib import Path

from trailbook.chat import (
    JSON,
    Agent,
    Asked,
    Called,
    Chat,
    Compacted,
    Cost,
    File,
    Message,
    Noted,
    Part,
    Place,
    Returned,
    Said,
    Text,
    Thought,
    Tool,
    Usage,
)
from trailbook.readers import Found, Unreadable
from trailbook.readers.arguments import read_arguments
from trailbook.readers.atif.finding import beside, is_trajectory, text_of
from trailbook.readers.images import image_from_bytes, image_from_url
from trailbook.readers.lines import Problems
from trailbook.readers.pairing import Pairing
from trailbook.readers.pieces import again, objects_of, parse, place_of
from trailbook.readers.values import Fields, fields, items, moment, number, string, truth, whole


def read(found: Found, zone: tzinfo) -> Chat:
    """The trajectory as a chat, its embedded subagents below it. Raises Unreadable, OSError."""
    problems = Problems()
    piece = again(found, arrays=True)
    value = parse(found.path, piece, problems)
    if not is_trajectory(value):
        raise Unreadable(f"{found.path.name} is not an ATIF trajectory.")
    source = _Source(place_of(found.path, piece, 1), found.path.parent, zone, problems)
    chat = _chat(fields(value), source)
    chat.id = found.id
    chat.diagnostics = problems.found
    return chat


@dataclass(slots=True)
class _Source:
    """Where a trajectory stands, and how what is in it is read."""

    first: Place
    folder: Path
    zone: tzinfo
    problems: Problems


@dataclass(slots=True)
class _Reading:
    """One trajectory while it is read."""

    chat: Chat
    source: _Source
    model: str | None
    pairing: Pairing = field(default_factory=Pairing)
    started: dict[str, str] = field(default_factory=dict)
    """Subagents' ids with the ids of the calls that started them."""


def _chat(trajectory: Fields, source: _Source) -> Chat:
    agent = fields(trajectory.get("agent"))
    more = fields(agent.get("extra"))
    name = string(agent.get("name")) or "agent"
    chat = Chat(
        id=string(trajectory.get("trajectory_id")) or source.first.file,
        source="atif",
        agent=Agent(name=name, version=_version(agent.get("version")), product=name),
        cwd=string(more.get("cwd")),
        git_branch=string(more.get("git_branch")),
        tools=[tool for each in items(agent.get("tool_definitions")) if (tool := _tool(fields(each)))],
    )
    reading = _Reading(chat, source, string(agent.get("model_name")))
    for place, step in enumerate(objects_of(trajectory.get("steps"), "A step", source.first, source.problems), 1):
        _read_step(step, replace(source.first, number=place), reading)
    _read_totals(fields(trajectory.get("final_metrics")), chat)
    _read_subagents(trajectory, reading)
    times = [event.at for event in chat.events if event.at is not None]
    chat.started, chat.ended = min(times, default=None), max(times, default=None)
    chat.models = list(dict.fromkeys(message.model for message in chat.messages.values() if message.model))
    return chat


def _version(value: JSON) -> str | None:
    version = string(value)
    return None if version == "unknown" else version


def _tool(value: Fields) -> Tool | None:
    function = fields(value.get("function")) or value
    name = string(function.get("name"))
    return Tool(name, string(function.get("description")), function.get("parameters")) if name else None


def _read_step(step: Fields, place: Place, reading: _Reading) -> None:
    at, naive = moment(step.get("timestamp"), reading.source.zone)
    reading.chat.naive_times = reading.chat.naive_times or naive
    inherited = step.get("is_copied_context") is True
    kind = step.get("source")
    first = len(reading.chat.events)
    key = None
    if kind == "agent":
        key = _read_reply(step, place, reading)
    elif kind == "user":
        _read_prompt(step, place, reading)
    else:
        _read_system(step, place, reading)
        if kind != "system":
            text = f"A step has the source {kind!r}; it is read as one of the system."
            reading.source.problems.count("unknown-record", text, place)
    _read_calls(step, place, key, reading)
    _read_results(step, place, reading)
    for event in reading.chat.events[first:]:
        event.at, event.inherited = at, inherited


def _read_prompt(step: Fields, place: Place, reading: _Reading) -> None:
    message = step.get("message")
    extra = fields(step.get("extra"))
    reading.chat.events.append(
        Asked(
            id=f"step-{place.number}",
            text=text_of(message),
            parts=_parts(message, reading.source, words=False),
            injected=string(extra.get("injected")),
            place=place,
        )
    )


def _read_system(step: Fields, place: Place, reading: _Reading) -> None:
    text = text_of(step.get("message"))
    extra = fields(step.get("extra"))
    chat = reading.chat
    if fields(extra.get("context_management")).get("type") == "compaction":
        chat.events.append(Compacted(summary=text or None, place=place))
    elif not chat.events and chat.system_prompt is None and text:
        chat.system_prompt = text
    elif text:
        topic = string(extra.get("topic")) or "system"
        parts = _parts(step.get("message"), reading.source, words=False)
        chat.events.append(Noted(topic=topic, text=text, parts=parts, place=place))


def _read_reply(step: Fields, place: Place, reading: _Reading) -> str | None:
    """Read what the agent thought and said; returns the key of its message, where the step was an inference."""
    chat = reading.chat
    key = None
    if step.get("llm_call_count") != 0:
        key = f"step-{place.number}"
        chat.messages[key] = _message(step, reading)
    thought, message = step.get("reasoning_content"), step.get("message")
    if isinstance(thought, str) and thought:
        chat.events.append(Thought(text=thought, place=place, message=key))
    parts = _parts(message, reading.source, words=False)
    if text_of(message) or parts:
        chat.events.append(Said(text=text_of(message), parts=parts, place=place, message=key))
    return key


def _read_calls(step: Fields, place: Place, key: str | None, reading: _Reading) -> None:
    calls = objects_of(step.get("tool_calls"), "A call", place, reading.source.problems)
    for order, call in enumerate(calls, 1):
        logged = reading.pairing.call(string(call.get("tool_call_id")), f"step-{place.number}-{order}")
        arguments, raw = read_arguments(call.get("arguments"))
        name = string(call.get("function_name")) or "unknown_tool"
        called = Called(id=logged, name=name, arguments=arguments, raw=raw, place=place, message=key)
        reading.chat.events.append(called)


def _message(step: Fields, reading: _Reading) -> Message:
    metrics = fields(step.get("metrics"))
    more = fields(metrics.get("extra"))
    usage = Usage(
        prompt_tokens=whole(metrics.get("prompt_tokens")),
        output_tokens=whole(metrics.get("completion_tokens")),
        cached_tokens=whole(metrics.get("cached_tokens")),
        cache_write_tokens=whole(more.get("cache_creation_input_tokens")),
        reasoning_tokens=whole(more.get("reasoning_tokens")),
    )
    usd = number(metrics.get("cost_usd"))
    return Message(
        model=string(step.get("model_name")) or reading.model,
        usage=usage if usage != Usage() else None,
        cost=Cost(usd=usd) if usd is not None else None,
        stop_reason=string(fields(step.get("extra")).get("stop_reason")),
    )


def _read_results(step: Fields, place: Place, reading: _Reading) -> None:
    results = fields(step.get("observation")).get("results")
    for result in objects_of(results, "A result", place, reading.source.problems):
        call = reading.pairing.result(string(result.get("source_call_id")))
        extra = fields(result.get("extra"))
        failed = truth(extra.get("is_error", extra.get("tool_result_is_error")))
        reading.chat.events.append(
            Returned(
                call=call,
                parts=_parts(result.get("content"), reading.source, words=True),
                ok=None if failed is None else not failed,
                linked="id" if call else None,
                exit_status=whole(extra.get("exit_code")),
                place=place,
            )
        )
        if call is None:
            text = "A result answers no call of the trajectory; it is shown by itself."
            reading.source.problems.count("orphan-result", text, place)
        for reference in map(fields, items(result.get("subagent_trajectory_ref"))):
            child = string(reference.get("trajectory_id"))
            if child and call:
                reading.started[child] = call


def _parts(content: JSON, source: _Source, *, words: bool) -> list[Part]:
    if isinstance(content, str):
        return [Text(content)] if words and content else []
    return [part for each in items(content) if (part := _part(fields(each), source, words=words)) is not None]


def _part(block: Fields, source: _Source, *, words: bool) -> Part | None:
    kind, text = block.get("type"), block.get("text")
    if kind == "text":
        return Text(text) if words and isinstance(text, str) else None
    where = fields(block.get("source"))
    path, media_type = string(where.get("path")), string(where.get("media_type"))
    if kind != "image":
        return File(media_type=media_type, reference=path)
    file = beside(source.folder, path) if path else None
    if file is None:
        return image_from_url(path)
    return replace(image_from_bytes(file.read_bytes(), media_type), name=path)


def _read_totals(metrics: Fields, chat: Chat) -> None:
    """The totals, where no step has figures of its own."""
    if not any(message.usage for message in chat.messages.values()):
        usage = Usage(
            prompt_tokens=whole(metrics.get("total_prompt_tokens")),
            output_tokens=whole(metrics.get("total_completion_tokens")),
            cached_tokens=whole(metrics.get("total_cached_tokens")),
        )
        chat.usage = usage if usage != Usage() else None
    usd = number(metrics.get("total_cost_usd"))
    if usd is not None and not any(message.cost for message in chat.messages.values()):
        chat.cost = Cost(usd=usd)


def _read_subagents(trajectory: Fields, reading: _Reading) -> None:
    children = trajectory.get("subagent_trajectories")
    for order, child in enumerate(objects_of(children, "A subagent", reading.source.first, reading.source.problems), 1):
        first = replace(reading.source.first, file=f"{reading.source.first.file}/{order}")
        subagent = _chat(child, replace(reading.source, first=first))
        subagent.started_by = reading.started.get(subagent.id)
        subagent.origin.kind = "subagent"
        reading.chat.subagents.append(subagent)
