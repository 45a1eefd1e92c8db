"""Whose events are whose: the session's own and its subagents' stand in one file.

A subagent's event names it (`agentId`), or the call that started it (`parentToolCallId`, in older versions).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from trailbook.readers.copilot_cli.events import data_of, type_of
from trailbook.readers.lines import Record
from trailbook.readers.values import Fields, fields, items, string


@dataclass(slots=True)
class Stream:
    """The events of the session itself, or of one subagent."""

    name: str = ""
    """Empty for the session itself."""
    started_by: str | None = None
    """The id of the call that started a subagent, where the log says it."""
    events: list[Record] = field(default_factory=list)
    calls: set[str] = field(default_factory=set)
    """Ids of the calls that it asked for."""


def streams_of(events: Iterable[Record]) -> list[Stream]:
    """The session's own stream first, then the subagents' in the order in which they show."""
    records = list(events)
    starters = _starters(records)
    starting = {*starters.values(), *(_parent_call(record) for record in records if not _agent(record))}
    streams = {"": Stream()}
    for record in records:
        name = _name_of(record, starters)
        if name not in streams:
            streams[name] = Stream(name, name if name in starting else None)
        streams[name].calls.update(calls_of(record))
    owners = _owners(list(streams.values()))
    for record in records:
        stream = streams[_name_of(record, starters)]
        call = string(data_of(record).get("toolCallId"))
        if type_of(record.value).startswith("tool.") and call is not None and call not in stream.calls:
            # A result goes where its call is, whoever is said to have had it.
            stream = owners.get(call, stream)
        stream.events.append(record)
    return list(streams.values())


def parents_of(streams: list[Stream]) -> dict[str, Stream]:
    """By the names of the subagents' streams the one whose call started each: one that shows before it, else the
    session's own."""
    owners = _owners(streams)
    order = {stream.name: number for number, stream in enumerate(streams)}
    parents: dict[str, Stream] = {}
    for stream in streams[1:]:
        owner = owners.get(stream.started_by or "", streams[0])
        parents[stream.name] = owner if order[owner.name] < order[stream.name] else streams[0]
    return parents


def _owners(streams: list[Stream]) -> dict[str, Stream]:
    """Calls with the first stream that asked for each."""
    return {call: stream for stream in reversed(streams) for call in stream.calls}


def calls_of(record: Record) -> list[str]:
    """The ids of the calls that an event asks for."""
    if type_of(record.value) != "assistant.message":
        return []
    requests: list[Fields] = [fields(request) for request in items(data_of(record).get("toolRequests"))]
    return [call for request in requests if (call := string(request.get("toolCallId")))]


def _starters(records: list[Record]) -> dict[str, str]:
    """Agents' ids with the ids of the calls that started them."""
    asked = {(_agent(record), call) for record in records for call in calls_of(record)}
    starters: dict[str, str] = {}
    for record in records:
        agent = _agent(record)
        call = string(data_of(record).get("toolCallId")) if type_of(record.value) == "subagent.started" else None
        call = call or _parent_call(record)
        # An agent that asked for the call itself has started another with it.
        if agent and call and (agent, call) not in asked:
            starters.setdefault(agent, call)
    return starters


def _name_of(record: Record, starters: dict[str, str]) -> str:
    agent = _agent(record)
    return starters.get(agent, agent) if agent else _parent_call(record) or ""


def _agent(record: Record) -> str:
    return string(fields(record.value).get("agentId")) or ""


def _parent_call(record: Record) -> str | None:
    return string(data_of(record).get("parentToolCallId"))
