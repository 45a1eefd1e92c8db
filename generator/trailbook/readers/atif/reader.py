"""An ATIF trajectory as a chat."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import tzinfo

from trailbook.chat import JSON, Agent, Chat, Message, Origin, Tool
from trailbook.readers import Found, Unreadable
from trailbook.readers.atif.figures import read_totals
from trailbook.readers.atif.finding import is_trajectory
from trailbook.readers.atif.steps import Reading, Source, read_step
from trailbook.readers.lines import Problems
from trailbook.readers.pieces import again, objects_of, parse, place_of
from trailbook.readers.values import Fields, fields, items, string, truth


def read(found: Found, zone: tzinfo) -> Chat:
    """The trajectory as a chat, its embedded subagents below it. Raises Unreadable, OSError."""
    problems = Problems()
    piece = again(found, arrays=True)
    value = parse(found.path, piece, problems)
    if not is_trajectory(value):
        raise Unreadable(f"{found.path.name} is not an ATIF trajectory.")
    chat = _chat(fields(value), Source(place_of(found.path, piece, 1), found.path.parent, zone, problems))
    chat.id = found.id
    chat.diagnostics = problems.found
    return chat


def _chat(trajectory: Fields, source: Source) -> Chat:
    agent, extra = fields(trajectory.get("agent")), fields(trajectory.get("extra"))
    more = fields(agent.get("extra"))
    product = string(agent.get("name")) or "agent"
    name = string(more.get("assistant")) or product
    model = string(agent.get("model_name"))
    chat = Chat(
        id=string(trajectory.get("trajectory_id")) or source.first.file,
        source="atif",
        agent=Agent(name=name, version=_version(agent.get("version")), product=product),
        title=string(extra.get("title")),
        origin=_origin(fields(extra.get("origin"))),
        cwd=string(more.get("cwd")),
        git_branch=string(more.get("git_branch")),
        tools=[tool for each in items(agent.get("tool_definitions")) if (tool := _tool(fields(each)))],
        parent=string(extra.get("parent")),
        completed=truth(extra.get("completed")),
    )
    steps = objects_of(trajectory.get("steps"), "A step", source.first, source.problems)
    named = any(string(step.get("model_name")) for step in steps)
    reading = Reading(chat, source, None if named else model)
    for number, step in enumerate(steps, 1):
        read_step(step, replace(source.first, number=number), reading)
    read_totals(trajectory, chat)
    _read_subagents(trajectory, reading)
    times = [event.at for event in chat.events if event.at is not None]
    chat.started, chat.ended = min(times, default=None), max(times, default=None)
    chat.models = _models(chat.messages.values(), model)
    return chat


def _version(value: JSON) -> str | None:
    version = string(value)
    return None if version == "unknown" else version


def _origin(told: Fields) -> Origin:
    return Origin(string(told.get("kind")) or "chat", string(told.get("id")), string(told.get("name")))


def _tool(value: Fields) -> Tool | None:
    function = fields(value.get("function")) or value
    name = string(function.get("name"))
    return Tool(name, string(function.get("description")), function.get("parameters")) if name else None


def _models(messages: Iterable[Message], default: str | None) -> list[str]:
    """The models of the messages, the document's own last."""
    found = [message.model for message in messages if message.model and message.model != default]
    return [*dict.fromkeys(found), *([default] if default else [])]


def _read_subagents(trajectory: Fields, reading: Reading) -> None:
    source = reading.source
    children = objects_of(trajectory.get("subagent_trajectories"), "A subagent", source.first, source.problems)
    for order, child in enumerate(children, 1):
        first = replace(source.first, file=f"{source.first.file}/{order}")
        subagent = _chat(child, replace(source, first=first))
        subagent.started_by = reading.started.get(subagent.id)
        subagent.origin.kind = "subagent"
        reading.chat.subagents.append(subagent)
