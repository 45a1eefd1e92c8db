"""A store of sessions, whatever it is: Hermes's database, an export of it, or the snapshot of one session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path

from trailbook.chat import Place
from trailbook.readers.databases import State, is_database, state_of
from trailbook.readers.hermes import database, exports
from trailbook.readers.hermes.facts import Facts
from trailbook.readers.hermes.lineage import Family, families
from trailbook.readers.lines import Problems
from trailbook.readers.values import Fields, whole


@dataclass(slots=True, frozen=True)
class Row:
    """One message of a session, as the store has it."""

    place: Place
    """The session and the message's own number: the same in the database and in what is exported of it."""
    values: Fields

    @property
    def key(self) -> str:
        """What the message is known by in a chat of several sessions."""
        return f"row-{self.place.number}" if self.place.unit == "row" else f"{self.place.file}-{self.place.number}"


@dataclass(frozen=True)
class Store:
    """The sessions of a store, and how one is read whole."""

    sessions: dict[str, Fields]
    """What is said of each session, by its id, without its messages and its system prompt."""
    load: Callable[[str, Problems], tuple[Fields, list[Fields]]]
    """What is said of a session, and its messages in order."""
    facts: Callable[[], dict[str, Facts]]
    """What a list of chats says of each session."""
    is_database: bool

    @cached_property
    def families(self) -> dict[str, Family]:
        """The sessions that are one chat together, by the chat's id."""
        return families(self.sessions)

    @cached_property
    def chat_of(self) -> dict[str, str]:
        """The id of the chat that each session is part of."""
        return {session: chat for chat, family in self.families.items() for session in family.sessions()}

    def read(self, session: str, problems: Problems) -> tuple[Fields, list[Row]]:
        """One session with its messages. Raises Unreadable, OSError."""
        about, messages = self.load(session, problems)
        return about, [Row(_place(session, number, values), values) for number, values in enumerate(messages, 1)]


def opened(path: Path) -> Store:
    """The store in a file that is known to be one. Raises Unreadable, OSError."""
    return _opened(path, state_of(path))


@lru_cache(maxsize=4)
def _opened(path: Path, _state: State) -> Store:
    if is_database(path):
        return Store(
            database.sessions_in(path),
            lambda session, _: database.session_in(path, session),
            partial(database.facts_in, path),
            is_database=True,
        )
    return Store(
        exports.sessions_in(path), partial(exports.session_in, path), partial(exports.facts_in, path), is_database=False
    )


def _place(session: str, number: int, values: Fields) -> Place:
    row = whole(values.get("id"))
    return Place(session, number, "message") if row is None else Place(session, row, "row")
