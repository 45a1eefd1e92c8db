"""What is looked for letter by letter: known secrets, learned keys, homes, logins and hosts, names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from ahocorasick_rs import BytesAhoCorasick

from trailbook.redaction import homes, names
from trailbook.redaction import spellings as secret_spellings
from trailbook.redaction.context import Context
from trailbook.redaction.finding import Finding
from trailbook.redaction.view import character_after, character_before, encoded, stands_alone

WHOLE_WORD = 16
"""A learned key with fewer characters is only taken where it is no part of a longer word."""

_LIST_OF_FILES = re.compile(rb"[-dlbcps][rwxsStT-]{9}\S?\s+\d+ ?$")


@dataclass(slots=True, frozen=True)
class Literal:
    """One spelling, and where it counts."""

    kind: str
    thing: bytes
    rule: str
    """`anywhere`, `word` (no part of a longer word), `name` (likewise, but `_` ends a word), `path`, `folder name`,
    `login` (before an `@`), `owner` (in a list of files)."""
    last: int = 0
    """For a home folder: bytes of its last part, which goes by itself where the whole stands inside another path."""


class Literals:
    """Finds any number of spellings in one pass."""

    def __init__(self, spelled: Iterable[tuple[str, Literal]]) -> None:
        table: dict[bytes, Literal] = {}
        for spelling, literal in spelled:
            if spelling:
                table.setdefault(encoded(spelling), literal)
        self._literals = list(table.values())
        self._automaton = BytesAhoCorasick(list(table)) if table else None

    def find(self, data: bytes) -> Iterator[Finding]:
        """Every place of every literal that counts there; places may overlap."""
        if self._automaton is None:
            return
        for index, start, end in self._automaton.find_matches_as_indexes(data, overlapping=True):
            literal = self._literals[index]
            found = _RULES[literal.rule](data, start, end, literal)
            if found:
                yield found


def _anywhere(_data: bytes, start: int, end: int, literal: Literal) -> Finding:
    return Finding(start, end, literal.kind, literal.thing)


def _word(data: bytes, start: int, end: int, literal: Literal) -> Finding | None:
    return Finding(start, end, literal.kind, literal.thing) if stands_alone(data, start, end) else None


def _name(data: bytes, start: int, end: int, literal: Literal) -> Finding | None:
    alone = stands_alone(data, start, end, underscore=False)
    return Finding(start, end, literal.kind, literal.thing) if alone else None


def _path(data: bytes, start: int, end: int, literal: Literal) -> Finding | None:
    if _goes_on(data, end):
        return None
    before = character_before(data, start)
    if before.isalnum() or before in ("_", ".", "~", "-", "]"):
        return Finding(end - literal.last, end, "name", literal.thing) if literal.last else None
    return Finding(start, end, literal.kind, literal.thing)


def _goes_on(data: bytes, end: int) -> bool:
    """Whether a folder's name goes on: /home/mira in /home/miranda, /home/mira.old, /home/mira-2."""
    after = character_after(data, end)
    if after in ("", "\\"):
        return False
    return after.isalnum() or after == "_" or (after in ".-+@" and character_after(data, end + 1).isalnum())


def _folder_name(data: bytes, start: int, end: int, literal: Literal) -> Finding | None:
    after = character_after(data, end)
    if after.isalnum() or after == "_" or character_before(data, start).isalnum():
        return None
    return Finding(start, end, literal.kind, literal.thing)


def _login(data: bytes, start: int, end: int, literal: Literal) -> Finding | None:
    before = character_before(data, start)
    if before.isalnum() or before in ("_", ".", "-", "/") or not character_after(data, end).isalnum():
        return None
    return Finding(start, end - 1, literal.kind, literal.thing)


def _owner(data: bytes, start: int, end: int, literal: Literal) -> Finding | None:
    if not _LIST_OF_FILES.search(data, max(0, start - 40), start):
        return None
    return Finding(start + 1, end - 1, literal.kind, literal.thing)


_RULES = {
    "anywhere": _anywhere,
    "word": _word,
    "name": _name,
    "path": _path,
    "folder name": _folder_name,
    "login": _login,
    "owner": _owner,
}


@lru_cache(maxsize=8)
def literals_of(context: Context, more_homes: tuple[str, ...]) -> Literals:
    """All that a context knows; `more_homes` are those that the chats themselves tell of."""
    return Literals(_spelled(context, more_homes))


def _spelled(context: Context, more_homes: tuple[str, ...]) -> Iterator[tuple[str, Literal]]:
    yield from spelled_secrets(context.secrets, "password")
    for email in context.emails:
        for form in (email, email.lower(), email.replace("@", "%40"), email.replace("@", "\\u0040")):
            yield form, Literal("email", encoded(email.lower()), "word")
    for home in dict.fromkeys((*context.homes, *more_homes)):
        yield from _spelled_home(home)
    yield from _spelled_account(context)
    for name, person in names.persons(context.names).items():
        rule = "anywhere" if names.is_written_without_spaces(name) else "name"
        for form in names.spellings(name):
            yield form, Literal("name", encoded(person), rule)


def spelled_secrets(
    secrets: Iterable[str], kind: str, shortest: int = secret_spellings.BOUNDED
) -> Iterator[tuple[str, Literal]]:
    """Every spelling of some secrets; one of fewer characters than `shortest` counts as a whole word only."""
    for secret in secrets:
        thing = encoded(secret)
        for form in secret_spellings.spellings(secret):
            yield form, Literal(kind, thing, "word" if len(form) < shortest else "anywhere")
        for form in secret_spellings.encodings(secret):
            yield form, Literal(kind, thing, "anywhere")


def _spelled_home(home: str) -> Iterator[tuple[str, Literal]]:
    thing = encoded(home.rstrip("/\\"))
    generic = len([part for part in re.split(r"[\\/]+", home) if part]) < 2
    for form, last in homes.spellings(home):
        is_path = form.startswith(("/", "\\", "%")) or form[1:2] in (":", "%")
        size = 0 if generic else len(encoded(form[len(form) - last :]))
        yield form, Literal("home", thing, "path" if is_path else "folder name", size)


def _spelled_account(context: Context) -> Iterator[tuple[str, Literal]]:
    for login in context.logins:
        thing = encoded(login)
        yield f"{login}@", Literal("name", thing, "login")
        yield f" {login} ", Literal("name", thing, "owner")
        for host in context.hosts:
            yield f"{login}@{host}", Literal("name", thing, "word")
    for host in context.hosts:
        for form in (host, host.lower()):
            yield form, Literal("name", encoded(host), "word")
