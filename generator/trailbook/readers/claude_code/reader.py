"""A session of Claude Code as a `Chat`."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path

from trailbook.chat import Agent, Answered, Asked, Called, Chat, Event, Message, Origin, Returned, Said, Thought
from trailbook.readers import Found, Unreadable
from trailbook.readers.claude_code.copies import identity, records_in
from trailbook.readers.claude_code.handlers import HANDLERS
from trailbook.readers.claude_code.subagents import Subagent, read_subagents
from trailbook.readers.claude_code.transcript import Copied, Transcript, gather
from trailbook.readers.lines import read_records
from trailbook.readers.values import string

_SOURCE = "claude_code"
_PRODUCT = "Claude Code"


@dataclass(slots=True)
class _Inputs:
    """The files of a session, by what they are."""

    agents: list[Path] = field(default_factory=list)
    outputs: dict[str, Path] = field(default_factory=dict)
    earlier: list[Path] = field(default_factory=list)
    """Sessions that this one goes on from; their records are copied into it."""


def read(found: Found, zone: tzinfo) -> Chat:
    """The session as a chat, its subagents' chats in it. Raises Unreadable when it holds no messages, OSError."""
    inputs = _sorted(found)
    earlier = records_in(inputs.earlier)
    copied = Copied(earlier=earlier, identity=identity if earlier else None)
    main = Transcript(zone, inputs.outputs, copied, sidechain=found.origin == "subagent")
    gather(read_records(found.path, main.problems), main, HANDLERS)
    agents = read_subagents(main, inputs.agents, found.path.parent)
    if not main.events and not agents:
        raise Unreadable(f"{found.path} holds no messages of Claude Code; check that it is a session's log.")
    chat = _chat(main, found.id)
    chat.parent, chat.forked = main.copied_from, main.forked
    if found.origin == "subagent":
        chat.origin = Origin(kind="subagent")
        chat.parent = main.facts.get("sessionId")
    elif "sessionId" in main.facts:
        chat.reopen = ["claude", "--resume", main.facts["sessionId"]]
    _hang(chat, main, agents)
    return chat


def _sorted(found: Found) -> _Inputs:
    inputs = _Inputs()
    for path in found.inputs:
        if path == found.path or path.name.endswith(".meta.json"):
            continue
        if path.parent.name == "tool-results":
            inputs.outputs[path.name] = path
        elif path.name.startswith("agent-"):
            inputs.agents.append(path)
        else:
            inputs.earlier.append(path)
    return inputs


def _hang(chat: Chat, main: Transcript, agents: list[Subagent]) -> None:
    """Make each subagent's chat, and hang it below the one that started it."""
    chats = {id(main): chat}
    for agent in agents:
        chats[id(agent.transcript)] = _subagent_chat(agent)
    for agent in agents:
        chats[id(agent.home or main)].subagents.append(chats[id(agent.transcript)])


def _subagent_chat(agent: Subagent) -> Chat:
    chat = _chat(agent.transcript, agent.id)
    call = agent.home.calls[agent.call] if agent.home is not None and agent.call is not None else None
    arguments = call.arguments if call is not None else {}
    kind = string(agent.about.get("agentType")) or string(arguments.get("subagent_type"))
    chat.agent.name = kind or _PRODUCT
    chat.title = string(agent.about.get("description")) or string(arguments.get("description")) or chat.title
    chat.origin = Origin(kind="subagent", name=kind)
    chat.started_by = agent.call
    return chat


def _chat(transcript: Transcript, name: str) -> Chat:
    facts = transcript.facts
    messages = transcript.messages.all()
    branch = facts.get("gitBranch")
    return Chat(
        id=name,
        source=_SOURCE,
        agent=Agent(name=_PRODUCT, version=facts.get("version"), product=_PRODUCT),
        title=transcript.title(),
        cwd=facts.get("cwd"),
        git_branch=branch if branch != "HEAD" else None,
        started=transcript.first,
        ended=transcript.last,
        events=transcript.events,  # type: ignore[arg-type]
        messages=messages,
        branches=transcript.branches,
        models=list(dict.fromkeys(message.model for message in messages.values() if message.model)),
        completed=_completed(transcript.events, messages),
        naive_times=transcript.naive,
        diagnostics=transcript.problems.found,
    )


def _completed(events: list[Event], messages: dict[str, Message]) -> bool | None:
    """Whether the last turn ended well, by the last thing that says so on the active path."""
    for event in reversed(events):
        if event.branch is not None:
            continue
        if isinstance(event, Answered) and event.outcome is not None:
            return event.outcome == "success"
        if isinstance(event, Said | Thought | Called):
            stop = messages[event.message].stop_reason if event.message in messages else None
            return True if stop in ("end_turn", "stop_sequence") else None
        if isinstance(event, Returned) or (isinstance(event, Asked) and event.injected is None):
            return None
    return None
