"""Subagents: where their records lie in each version, and which call started which."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from trailbook import json_text
from trailbook.chat import Asked, Called
from trailbook.readers.claude_code.handlers import HANDLERS
from trailbook.readers.claude_code.transcript import Copied, Transcript
from trailbook.readers.files import read_own
from trailbook.readers.lines import Record, read_records
from trailbook.readers.values import Fields, fields, string

_STARTERS = ("Task", "Agent")
"""The tools that start a subagent, by the names of different versions."""


@dataclass(slots=True)
class Subagent:
    """One subagent of a chat, and the call that started it once that is known."""

    id: str
    transcript: Transcript
    about: Fields = field(default_factory=dict)
    """What its `.meta.json` says: agentType, description, toolUseId, parentAgentId."""
    inline: int | None = None
    """The line at which it starts, for one whose records stand in the session's own file."""
    home: Transcript | None = None
    """The transcript that started it."""
    call: str | None = None


def read_subagents(main: Transcript, files: list[Path], folder: Path) -> list[Subagent]:
    """Every subagent of a session: those with a file, then those whose records stand in the session's file."""
    groups = _inline_groups(main.sidechains)
    found: dict[str, Subagent] = {}
    for file in files:
        name = file.relative_to(folder).as_posix() if file.is_relative_to(folder) else file.name
        agent = Subagent(_fresh(file.stem.removeprefix("agent-"), name, found), _transcript(main))
        agent.about = _about(file, agent.transcript)
        _gather(file, name, groups.pop(agent.id, []), agent.transcript)
        found[agent.id] = agent
    for key, records in groups.items():
        agent = Subagent(_fresh(key, key, found), _transcript(main), inline=records[0].place.number)
        for record in records:
            agent.transcript.add(record, HANDLERS)
        found[agent.id] = agent
    for agent in found.values():
        agent.transcript.finish()
    _join(main, list(found.values()))
    return list(found.values())


def _transcript(main: Transcript) -> Transcript:
    # A subagent may have been given the chat so far, as copied records in its own file.
    return Transcript(main.zone, main.outputs, Copied(seen=main.seen, messages=main.messages), sidechain=True)


def _fresh(short: str, name: str, taken: dict[str, Subagent]) -> str:
    return short if short not in taken else name


def _about(file: Path, transcript: Transcript) -> Fields:
    path = file.with_suffix(".meta.json")
    try:
        return fields(json_text.parse(read_own(path)))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        transcript.problems.add("damaged-sidecar", f"{path.name} could not be read.", lost=True)
        return {}


def _gather(file: Path, name: str, inline: list[Record], transcript: Transcript) -> None:
    try:
        for record in read_records(file, transcript.problems, name=name):
            transcript.add(record, HANDLERS)
    except OSError:
        transcript.problems.add("unreadable-file", f"{name} could not be read to its end.", lost=True)
    for record in inline:
        transcript.add(record, HANDLERS)


# --- the oldest versions: sidechain records in the session's own file


def _inline_groups(records: list[Record]) -> dict[str, list[Record]]:
    """Sidechain records by subagent: its id where they say it, else the record their chain starts from."""
    parents = {
        uuid: string(record.value.get("parentUuid"))
        for record in records
        if isinstance(record.value, dict) and (uuid := string(record.value.get("uuid")))
    }
    roots: dict[str, str] = {}
    groups: dict[str, list[Record]] = {}
    key = "sidechain"
    for record in records:
        value = fields(record.value)
        uuid = string(value.get("uuid"))
        if agent := string(value.get("agentId")):
            key = agent
        elif uuid is not None:
            key = _root(uuid, parents, roots)
        groups.setdefault(key, []).append(record)
    return groups


def _root(uuid: str, parents: dict[str, str | None], roots: dict[str, str]) -> str:
    path: list[str] = []
    at = uuid
    while at not in roots:
        roots[at] = at  # a circle ends here
        path.append(at)
        parent = parents.get(at)
        if parent is None or parent not in parents:
            break
        at = parent
    for step in path:
        roots[step] = roots[at]
    return roots[at]


# --- which call started which subagent


def _join(main: Transcript, agents: list[Subagent]) -> None:
    homes = [main, *(agent.transcript for agent in agents)]
    claimed: set[str] = set()
    for agent in agents:
        _join_by_id(agent, homes)
        if agent.call is not None:
            claimed.add(agent.call)
    for agent in agents:
        if agent.call is None:
            _join_by_prompt(agent, homes, claimed)
    _break_circles(main, agents)
    by_id = {agent.id: agent for agent in agents}
    for agent in agents:
        if agent.home is None:
            parent = by_id.get(string(agent.about.get("parentAgentId")) or "")
            agent.home = parent.transcript if parent is not None and parent.home is not None else main
            agent.transcript.problems.add("unjoined-subagent", "The log does not say which call started this subagent.")
    for home in homes:
        _report_missing(home, by_id)


def _join_by_id(agent: Subagent, homes: list[Transcript]) -> None:
    """By the call that its sidecar names, else by the call whose result names the agent."""
    named = string(agent.about.get("toolUseId"))
    for home in homes:
        call = named if named in home.calls else home.agents.get(agent.id)
        if call is not None and call in home.calls and home is not agent.transcript:
            agent.home, agent.call = home, call
            return


def _join_by_prompt(agent: Subagent, homes: list[Transcript], claimed: set[str]) -> None:
    """By the words it was started with; one in the session's own file else by the nearest call before it."""
    prompt = next((e.text for e in agent.transcript.events if isinstance(e, Asked) and e.injected is None), "").strip()
    nearest = None
    for home in homes:
        for call in _free_calls(home, agent, claimed):
            if prompt and _prompt(call) == prompt:
                _claim(agent, home, call, claimed)
                return
            if home is homes[0] and agent.inline is not None and call.place and call.place.number < agent.inline:
                nearest = call
    if nearest is not None:
        _claim(agent, homes[0], nearest, claimed)


def _free_calls(home: Transcript, agent: Subagent, claimed: set[str]) -> Iterator[Called]:
    if home is not agent.transcript:
        for call in home.calls.values():
            if call.name in _STARTERS and call.id not in claimed:
                yield call


def _prompt(call: Called) -> str:
    return (string(call.arguments.get("prompt")) or "").strip()


def _claim(agent: Subagent, home: Transcript, call: Called, claimed: set[str]) -> None:
    agent.home, agent.call = home, call.id
    claimed.add(call.id)


def _break_circles(main: Transcript, agents: list[Subagent]) -> None:
    """Subagents that by what the log says started each other are the session's."""
    by_home = {id(agent.transcript): agent for agent in agents}
    for agent in agents:
        passed = {id(agent.transcript)}
        home = agent.home
        while home is not None and home is not main:
            if id(home) in passed:
                agent.home, agent.call = main, None
                break
            passed.add(id(home))
            home = by_home[id(home)].home


def _report_missing(home: Transcript, known: dict[str, Subagent]) -> None:
    for agent, call in home.agents.items():
        if agent not in known and call in home.calls and not home.calls[call].inherited:
            home.problems.count(
                "missing-subagent", "A subagent's own log is not here.", home.calls[call].place, lost=True
            )
