"""Which sessions are one chat, and what the others are to it.

One column, `parent_session_id`, stands for four different things (harnesses.md A2): a session that goes on after the
context was compressed, a branch that a person made, the work of a subagent, and a fresh start after a reset. A marker
in `model_config` tells them apart; it is inherited, so it counts only where it names the parent that the column names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trailbook import json_text
from trailbook.readers.values import Fields, fields, number, string

_MARKERS = {"_branched_from": "branch", "_delegate_from": "subagent", "_reset_from": "reset"}
_DEEPEST = 32
"""Subagents below subagents that are followed; what lies deeper is a chat by itself."""


@dataclass(slots=True)
class Family:
    """The sessions of one chat, and of the subagents below it."""

    segments: list[str]
    """In order: the first session, and those that went on where the one before was compressed."""
    relation: str | None = None
    """What the first one is to its parent: `branch`, `subagent`, `reset`, `unknown`; None where it has none."""
    parent: str | None = None
    """The session that it says it comes from."""
    subagents: list[Family] = field(default_factory=list)

    @property
    def id(self) -> str:
        """The chat's id: that of its first session, which stays when the chat is compressed again."""
        return self.segments[0]

    def sessions(self) -> list[str]:
        """All its sessions, those of its subagents as well."""
        return self.segments + [session for subagent in self.subagents for session in subagent.sessions()]


def families(sessions: Mapping[str, Fields]) -> dict[str, Family]:
    """The chats that some sessions make, by the chats' ids."""
    kin = _Kin(sessions, {session: relation_of(about, sessions) for session, about in sessions.items()})
    kin.find_children()
    taken = set(kin.following.values()) | {child for children in kin.below.values() for child in children}
    # Sessions that name each other in a circle are nobody's beginning: they come last, and the first one begins.
    order = [*(session for session in sessions if session not in taken), *sessions]
    return {session: kin.family(session) for session in order if session not in kin.seen}


def relation_of(about: Fields, sessions: Mapping[str, Fields]) -> str | None:
    """What a session is to its parent: `continuation`, `branch`, `subagent`, `reset`, `unknown`; None without one."""
    parent = _parent(about)
    if parent is None:
        return None
    config = _config(about)
    for marker, relation in _MARKERS.items():
        if config.get(marker) == parent:
            return relation
    source, above = about.get("source"), sessions.get(parent)
    if source == "subagent":
        return "subagent"
    if above is None or above is about:
        return "unknown"
    if above.get("end_reason") == "compression" and source != "tool":
        return "continuation"
    if above.get("end_reason") == "branched" and (number(about.get("started_at")) or 0) >= (
        number(above.get("ended_at")) or 0
    ):
        return "branch"
    return "subagent"


def _parent(about: Fields) -> str | None:
    """The parent's id; of a subagent whose parent was deleted, the id that it was marked with."""
    return string(about.get("parent_session_id")) or string(_config(about).get("_delegate_from"))


def _config(about: Fields) -> Fields:
    config = about.get("model_config")
    if isinstance(config, str):
        try:
            return fields(json_text.parse(config.encode("utf-8", "replace")))
        except ValueError:
            return {}
    return fields(config)


def _weight(session: str, about: Fields) -> tuple[bool, float, str]:
    # As Hermes chooses: one that was itself compressed, else the latest.
    return about.get("end_reason") == "compression", number(about.get("started_at")) or 0.0, session


@dataclass(slots=True)
class _Kin:
    sessions: Mapping[str, Fields]
    relations: dict[str, str | None]
    following: dict[str, str] = field(default_factory=dict)
    """For each compressed session the one that goes on from it."""
    below: dict[str, list[str]] = field(default_factory=dict)
    """The subagents of each session."""
    seen: set[str] = field(default_factory=set)

    def find_children(self) -> None:
        claims: dict[str, list[str]] = {}
        for session, relation in self.relations.items():
            parent = _parent(self.sessions[session])
            if parent in self.sessions and parent is not None and relation in ("continuation", "subagent"):
                (claims if relation == "continuation" else self.below).setdefault(parent, []).append(session)
        for parent, claimants in claims.items():
            *others, chosen = sorted(claimants, key=lambda session: _weight(session, self.sessions[session]))
            self.following[parent] = chosen
            self.relations.update(dict.fromkeys(others, "branch"))

    def family(self, session: str, depth: int = 0) -> Family:
        relation = self.relations[session]
        family = Family([], None if relation == "continuation" else relation)
        family.parent = _parent(self.sessions[session]) if family.relation else None
        at: str | None = session
        while at is not None and at not in self.seen:
            self.seen.add(at)
            family.segments.append(at)
            at = self.following.get(at)
        for segment in family.segments if depth < _DEEPEST else []:
            for child in self.below.get(segment, []):
                if child not in self.seen:
                    family.subagents.append(self.family(child, depth + 1))
        return family
