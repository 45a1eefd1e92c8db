"""Hostile logs of every format: the examples with payloads in all their fields, and what trailbook makes of them."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path

from conftest import EXAMPLES
from hostile.payloads import TEMPLATES, payload
from hostile.planting import Change, fields_of, plant
from trailbook import pool, stores
from trailbook.chat import Chat, with_subagents
from trailbook.formats import TRAJECTORIES, Output
from trailbook.readers import Found, Unreadable, reader
from trailbook.staging import Failed, Order, Staged, stage

AGENTS = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())

Words = dict[str, int]
"""The number of the payload that stands for a string."""


@dataclass(slots=True)
class Log:
    """The logs of one agent with payloads in some of their fields."""

    agent: str
    folder: Path
    fields: set[str]
    pairs: set[tuple[str, int]] = field(default_factory=set)
    """Which template stands in which field."""


@dataclass(slots=True)
class Fields:
    """The fields of an agent's example logs, by what is left of a chat when a payload stands there."""

    words: set[str]
    """The chats have the same events with a payload in the place of the string."""
    endings: set[str]
    """They have the same events with a payload behind the string."""
    kinds: set[str]
    """With a payload there the format knows a record no more: its types, its roles."""


def replaced(value: str, words: str) -> str:
    return words


def followed(value: str, words: str) -> str:
    return f"{value} {words}"


KINDS_AT_ONCE = 4
"""In so many fields that say a kind there are payloads at once; with more, nothing of a chat might be known."""

HOW = {"in the place of": replaced, "behind": followed}


def changing(log: Log, how: str, first: int) -> Change:
    """Payloads for the fields of a log: equal strings become equal ones, numbered from `first` in the order met."""
    numbers: Words = {}

    def change(field_: str, value: str) -> str:
        if field_ not in log.fields:
            return value
        number = numbers.setdefault(value, first + len(numbers))
        log.pairs.add((field_, number % len(TEMPLATES)))
        return HOW[how](value, payload(number))

    return change


def sorted_fields(agent: str, folder: Path) -> Fields:
    """What kind of field each is, tried out one by one."""
    logs = EXAMPLES / agent
    before = _events(logs)
    fields = Fields(set(), set(), set())
    for number, name in enumerate(fields_of(logs)):
        for how in HOW:
            log = Log(agent, folder / f"{agent}-{number}-{how}", {name})
            plant(logs, log.folder, changing(log, how, number))
            kept = _events(log.folder) == before
            shutil.rmtree(log.folder)
            if kept:
                (fields.words if how == "in the place of" else fields.endings).add(name)
                break
        else:
            fields.kinds.add(name)
    return fields


def _events(folder: Path) -> Counter[str]:
    events: Counter[str] = Counter()
    for found in stores.survey([folder]).chats:
        try:
            chat = reader(found.reader).read(found, UTC)
        except Unreadable:
            events["unreadable"] += 1
            continue
        for each in with_subagents(chat):
            events["chat"] += 1
            events.update(type(event).__name__ for event in each.events)
    return events


def logs_of(agent: str, fields: Fields, top: Path) -> Iterator[Log]:
    """The hostile logs of an agent: three with payloads everywhere, and some with payloads where a kind is said."""
    logs = EXAMPLES / agent
    start = len(TEMPLATES) * AGENTS.index(agent)
    for number, how in enumerate(["in the place of", "behind", "in the place of"]):
        log = Log(agent, top / f"{number}" / agent, fields.words | (fields.endings if how == "behind" else set()))
        plant(logs, log.folder, changing(log, how, start + number * 41))
        yield log
    kinds = sorted(fields.kinds)
    apart = -(-len(kinds) // KINDS_AT_ONCE)
    for number in range(apart):
        # Fields of one record stand beside one another: what is planted at once is far apart.
        log = Log(agent, top / "kinds" / f"{agent}-{number}", set(kinds[number::apart]))
        plant(logs, log.folder, changing(log, "in the place of", start + number))
        yield log


# --- what is made of them


@dataclass(slots=True, frozen=True)
class Attack:
    """One agent to be attacked, below a folder."""

    agent: str
    top: Path


@dataclass(slots=True)
class Attacked:
    """What came of one agent."""

    fields: Fields
    logs: list[Log] = field(default_factory=list)
    made: list[tuple[Log, Found, Staged | Failed]] = field(default_factory=list)
    skipped: list[stores.Skipped] = field(default_factory=list)


def attack(task: Attack) -> Attacked:
    """Make everything of every hostile log of an agent that differs from the example itself."""
    fields = sorted_fields(task.agent, task.top / "tried")
    attacked = Attacked(fields)
    as_ever = [_read(found) for found in stores.survey([EXAMPLES / task.agent]).chats]
    for log in logs_of(task.agent, fields, task.top):
        attacked.logs.append(log)
        survey = stores.survey([log.folder])
        attacked.skipped += survey.skipped
        for found in survey.chats:
            if log.fields <= fields.kinds and _read(found) in as_ever:
                continue
            which = log.folder.parent.name
            formats = ("report", "markdown", *(TRAJECTORIES if which == "0" else ()))
            output = Output(formats=formats, zone=UTC, images=which == "2")
            folder = task.top / "made" / f"{task.agent}-{len(attacked.made)}"
            attacked.made.append((log, found, stage(Order(found, output, folder=folder))))
    return attacked


def _read(found: Found) -> Chat | None:
    try:
        return reader(found.reader).read(found, UTC)
    except Unreadable:
        return None


def attack_all(top: Path) -> dict[str, Attacked]:
    """Attack every agent, one process a core."""
    results = dict(pool.each(attack, [Attack(agent, top) for agent in AGENTS]))
    for task, result in results.items():
        if isinstance(result, Exception):
            raise AssertionError(f"The logs of {task.agent} could not be attacked.") from result
    return {task.agent: result for task, result in results.items() if isinstance(result, Attacked)}
