"""Conch's home folder: where the logs lie, and the files beside them that say what a log does not."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from trailbook.chat import JSON, Origin
from trailbook.readers import Names, Places
from trailbook.readers.lines import Problems, read_document
from trailbook.readers.values import Fields, fields, items, number, string

CONVERSATIONS = "conversations"
INDEX = "index.json"

_LAST_MOMENT = 8.64e15
"""The last millisecond that a calendar has where Conch runs."""
_FIRST_AGENT = "ag_conch"
_ORIGINS = {
    "routine": "routineId",
    "task": "taskId",
    "artifact": "artifactId",
    "channel": "channelId",
    "client": "clientId",
}
"""Origins by their kind, with the field that has the id. A peer's chat counts as one that a person started."""


@dataclass(slots=True, frozen=True)
class Index:
    """What `index.json` says of the chats beside it."""

    records: dict[str, Fields] = field(default_factory=dict)
    problem: str | None = None
    """Why it says nothing: one sentence, or None."""


@dataclass(slots=True, frozen=True)
class Agents:
    """The agents that a person made, by id, and which one answers when nobody chose."""

    names: dict[str, str] = field(default_factory=dict)
    default: str | None = None


def index_file(log: Path) -> Path:
    """The index of the chats in a log's folder; it need not exist."""
    return log.parent / INDEX


def agents_file(log: Path) -> Path | None:
    """The list of agents of the home that a log lies in; None where a log lies by itself. It need not exist."""
    folder = log.parent.parent / "agents"
    return folder / "agents.json" if log.parent.name == CONVERSATIONS and not folder.is_symlink() else None


def settings_file(log: Path) -> Path | None:
    """The settings of the home that a log lies in; None where a log lies by itself. They need not exist."""
    return log.parent.parent / "settings.json" if log.parent.name == CONVERSATIONS else None


def index_of(log: Path) -> Index:
    """The index beside a log. A missing or damaged one is no error: it has no records, and says why."""
    path = index_file(log)
    try:
        stat = path.stat()
        return _index(path, stat.st_mtime_ns, stat.st_size)
    except FileNotFoundError:
        return Index(problem=f"There is no {INDEX} beside the log")
    except OSError as error:
        return Index(problem=f"{INDEX} cannot be read ({(error.strerror or 'unknown error').lower()})")


def agents_of(log: Path) -> Agents:
    """The agents of the home that a log lies in; none where they are missing or damaged."""
    path = agents_file(log)
    if path is None:
        return Agents()
    try:
        stat = path.stat()
        return _agents(path, stat.st_mtime_ns, stat.st_size)
    except OSError:
        return Agents()


def agent_id(record: Fields | None, agents: Agents, last_in_log: str | None) -> str | None:
    """Which agent a chat belongs to: the index says it, or without one the log's last `agent` event."""
    chosen = string(record.get("agentId")) if record is not None else last_in_log
    if chosen in agents.names:
        return chosen
    if chosen is None and _FIRST_AGENT in agents.names:
        return _FIRST_AGENT
    return agents.default if agents.default in agents.names else chosen


def origin_of(record: Fields | None) -> Origin:
    """How a chat came to be; the log itself does not say it."""
    logged = fields(record.get("origin")) if record is not None else {}
    kind = string(logged.get("kind")) or "chat"
    name = string(logged.get("name")) or string(logged.get("channel"))
    if kind not in _ORIGINS:
        return Origin("chat", string(logged.get("clientId")), name)
    return Origin(kind, string(logged.get(_ORIGINS[kind])), name)


def moment(value: JSON) -> int | None:
    """Epoch milliseconds; None for what is no time that a calendar has."""
    time = value if type(value) is int else number(value)
    return int(time) if time is not None and 0 <= time <= _LAST_MOMENT else None


@lru_cache(maxsize=4)
def _index(path: Path, _changed: int, _size: int) -> Index:
    # One home lists every chat in one file: it is read once, not once a chat.
    try:
        value = read_document(path, Problems())
    except ValueError:
        return Index(problem=f"{INDEX} is damaged")
    if not isinstance(value, list):
        return Index(problem=f"{INDEX} is no list of chats")
    records = {}
    for record in map(fields, value):
        chat = string(record.get("id"))
        if chat is not None:
            records[chat] = record
    return Index(records)


@lru_cache(maxsize=4)
def _agents(path: Path, _changed: int, _size: int) -> Agents:
    try:
        value = fields(read_document(path, Problems()))
    except ValueError:
        return Agents()
    names = {}
    for agent in map(fields, items(value.get("agents"))):
        identity, name = string(agent.get("id")), string(agent.get("name"))
        if identity and name:
            names[identity] = name
    return Agents(names, string(value.get("defaultId")))


def _homes() -> list[Path]:
    usual = Path.home() / ".conch"
    chosen = os.environ.get("CONCH_HOME")
    return [usual] if not chosen or Path(chosen) == usual else [Path(chosen), usual]


def names_in(settings: Path | None) -> tuple[str, ...]:
    """The person whose settings these are, and the people they told Conch about; nobody where there are none."""
    if settings is None:
        return ()
    try:
        stat = settings.stat()
        return _names(settings, stat.st_mtime_ns, stat.st_size)
    except OSError:
        return ()


@lru_cache(maxsize=4)
def _names(path: Path, _changed: int, _size: int) -> tuple[str, ...]:
    try:
        settings = fields(read_document(path, Problems()))
    except ValueError:
        return ()
    profile = fields(settings.get("profile"))
    people = [fact.get("text") for fact in map(fields, items(profile.get("facts"))) if fact.get("kind") == "person"]
    return tuple(dict.fromkeys(name for name in map(string, [profile.get("name"), *people]) if name))


PLACES = Places(
    logs=lambda: [home / CONVERSATIONS for home in _homes()[:1]],
    stores=_homes,
    allowed=lambda: [home / "workspace" for home in _homes()],
    names=lambda: Names(names=names_in(_homes()[0] / "settings.json")),
)
