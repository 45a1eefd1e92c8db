"""The one place where things are taken out: a first pass that finds and learns, a second that replaces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import chain
from typing import Any

from trailbook.chat import Chat, with_subagents
from trailbook.redaction import data_uris
from trailbook.redaction.assignments import is_secret_under
from trailbook.redaction.context import Context
from trailbook.redaction.finding import Finding
from trailbook.redaction.homes import home_in
from trailbook.redaction.learning import lessons
from trailbook.redaction.literals import WHOLE_WORD, Literals, literals_of, spelled_secrets
from trailbook.redaction.patterns import TOKEN
from trailbook.redaction.removed import Removed, example_of
from trailbook.redaction.scanning import Batch, merged
from trailbook.redaction.values import looks_random
from trailbook.redaction.view import decoded, encoded
from trailbook.redaction.walking import fixed_texts, walk, walk_json

_BATCH = 1 << 20
"""Characters that are searched together."""
_MOST_ROUNDS = 12
"""How often what was replaced is searched again: a token may lay open what stood beside it."""

_TOKEN_OR_HOME = re.compile(rf"{TOKEN.pattern.replace('(?:', '(', 1)}|~(?=[/\\\\\"\\s]|$)")

_LONG = re.compile(r"[\w+/=~-]{16,}")

_KEY = "\0"
"""Stands for the name of a text that is itself the key of an object."""
_Place = tuple[str, str]
"""A text, and the name it stands under where that says secret (empty elsewhere, `_KEY` for an object's key)."""


def redact(chat: Chat, context: Context) -> tuple[Chat, Removed]:
    """The chat with its subagents, redacted, and what came out; what is found in one place goes everywhere in it.

    The chat itself is not changed: new objects stand only where something came out.
    """
    chats, removed = redact_all([chat], context)
    return chats[0], removed


def redact_all(chats: Iterable[Chat], context: Context) -> tuple[list[Chat], Removed]:
    """All the chats of one export, redacted as one: what is found in one of them goes in all of them."""
    chats = list(chats)
    texts = _Texts()
    for chat in chats:
        walk(chat, texts)
    every = [each for chat in chats for each in with_subagents(chat)]
    homes = tuple(dict.fromkeys(home for each in every if each.cwd and (home := home_in(each.cwd))))
    redaction = _Redaction(context, literals_of(context, homes))
    new = redaction.of(texts.places, chats)
    return [walk(chat, new) for chat in chats], redaction.removed


def redact_json(value: Any, context: Context) -> tuple[Any, Removed]:
    """A JSON value by itself, redacted, and what came out."""
    texts = _Texts()
    walk_json(value, texts)
    redaction = _Redaction(context, literals_of(context, ()))
    return walk_json(value, redaction.of(texts.places, ())), redaction.removed


def redact_text(text: str, context: Context) -> str:
    """One text by itself, redacted."""
    new: str = redact_json(text, context)[0]
    return new


def redact_glimpse(text: str, context: Context) -> str:
    """A title or the like of a chat that was not read: what the chat would have taught is not known, so whatever looks
    drawn by chance comes out too.
    """
    return _LONG.sub(lambda run: "[key]" if looks_random(run.group()) else run.group(), redact_text(text, context))


class _Texts:
    """What the first walk is given: it gathers every text, equal ones once, and changes none."""

    def __init__(self) -> None:
        self.places: dict[_Place, None] = {}

    def text(self, text: str, name: str) -> str:
        if data_uris.SIGN in text:
            return data_uris.replaced(text, self._plain)
        self.places[text, name] = None
        return text

    def _plain(self, text: str) -> str:
        self.places[text, ""] = None
        return text

    def keys(self, keys: list[str]) -> list[str]:
        for key in keys:
            self.places[key, _KEY] = None
        return keys


class _NewTexts:
    """What the second walk is given: the texts as they shall read."""

    def __init__(self, changed: dict[_Place, str]) -> None:
        self._changed = changed

    def text(self, text: str, name: str) -> str:
        if data_uris.SIGN in text:
            return data_uris.replaced(text, self._plain)
        return self._changed.get((text, name), text)

    def _plain(self, text: str) -> str:
        return self._changed.get((text, ""), text)

    def keys(self, keys: list[str]) -> list[str]:
        changed = self._changed
        if not any((key, _KEY) in changed for key in keys):
            return keys
        taken = {key for key in keys if (key, _KEY) not in changed}
        return [_unlike(changed[key, _KEY], taken) if (key, _KEY) in changed else key for key in keys]


def _unlike(key: str, taken: set[str]) -> str:
    """The key, with a number behind it where the object has it already."""
    new, number = key, 2
    while new in taken:
        new, number = f"{key} {number}", number + 1
    taken.add(new)
    return new


class _Redaction:
    """One redaction of any number of texts: what it learned, which numbers it gave, what came out."""

    def __init__(self, context: Context, known: Literals) -> None:
        self.removed = Removed()
        self._context = context
        self._known = known
        self._learned = Literals(())
        self._numbers: dict[str, dict[bytes, int]] = {}

    def of(self, places: dict[_Place, None], chats: Iterable[Chat]) -> _NewTexts:
        """Find, learn, find what was learned, replace; again where something was replaced, until nothing is left."""
        found = self._find(dict.fromkeys(text for text, _ in places))
        whole = {place: finding for place in places if place[1] and (finding := _whole(*place))}
        self._learn((*(each for findings in found.values() for each in findings), *whole.values()), chats)
        self._find_learned(dict.fromkeys(text for text, _ in places), found)
        # In the order of the chat, so that numbers and examples are by first appearance.
        pending = [(place, place[0]) for place in places if place[0] in found or place in whole]
        changed: dict[_Place, str] = {}
        kinds: dict[_Place, set[str]] = {}
        for _ in range(_MOST_ROUNDS):
            for place, text in pending:
                findings = [*found.get(text, ()), *([whole.pop(place)] if place in whole else ())]
                new, gone = self._replaced(text, findings, numbered=place[1] == _KEY)
                if gone:
                    changed[place] = new
                    kinds.setdefault(place, set()).update(gone)
            pending = [(place, changed[place]) for place, _ in pending if place in changed]
            found = self._find(dict.fromkeys(text for _, text in pending))
            self._find_learned(dict.fromkeys(text for _, text in pending), found)
            pending = [(place, text) for place, text in pending if text in found]
            if not pending:
                break
        for place, text in changed.items():
            self._show(text, kinds[place])
        return _NewTexts(changed)

    def _find(self, texts: Iterable[str]) -> dict[str, list[Finding]]:
        """What the rules and the known values find, for each text in which that is anything."""
        found: dict[str, list[Finding]] = {}
        for part in _batches(texts):
            batch = Batch([encoded(text) for text in part])
            for index, finding in chain(batch.find_literals(self._known), batch.find_by_rules()):
                found.setdefault(part[index], []).append(finding)
        return found

    def _find_learned(self, texts: Iterable[str], found: dict[str, list[Finding]]) -> None:
        """Add what was learned to what was found."""
        if not self.removed.learned:
            return
        for part in _batches(texts):
            for index, finding in Batch([encoded(text) for text in part]).find_literals(self._learned):
                found.setdefault(part[index], []).append(finding)

    def _learn(self, findings: Iterable[Finding], chats: Iterable[Chat]) -> None:
        keys = dict.fromkeys(finding.thing for finding in findings if finding.kind == "key")
        learned = dict.fromkeys(value for key in keys for value in lessons(key))
        if learned:
            # What the log uses as an id is no secret, and would be missing everywhere.
            ids = set[str]().union(*map(fixed_texts, chats))
            self.removed.learned = frozenset(value for value in learned if value not in ids)
            self._learned = Literals(spelled_secrets(sorted(self.removed.learned), "key", shortest=WHOLE_WORD))

    def _replaced(self, text: str, findings: list[Finding], *, numbered: bool) -> tuple[str, list[str]]:
        """The text with tokens for what was found, and the kinds that came out."""
        data = encoded(text)
        pieces: list[bytes] = []
        kinds: list[str] = []
        last = 0
        for finding in merged(data, findings):
            pieces += [data[last : finding.start], self._token(finding, numbered).encode()]
            last = finding.end
            kinds.append(finding.kind)
            self.removed.count(finding.kind, self._digest(finding))
        pieces.append(data[last:])
        return (decoded(b"".join(pieces)) if kinds else text), kinds

    def _token(self, finding: Finding, numbered: bool) -> str:
        if finding.kind == "home":
            return "~"
        if not (numbered or self._context.number):
            return f"[{finding.kind}]"
        numbers = self._numbers.setdefault(finding.kind, {})
        return f"[{finding.kind} {numbers.setdefault(finding.thing, len(numbers) + 1)}]"

    def _digest(self, finding: Finding) -> bytes:
        return blake2b(finding.thing, digest_size=16, key=self._context.salt, person=finding.kind.encode()).digest()

    def _show(self, text: str, kinds: set[str]) -> None:
        if any(self.removed.wants(kind) for kind in kinds):
            for token in _TOKEN_OR_HOME.finditer(text):
                kind = token[1] or "home"
                if kind in kinds and self.removed.wants(kind):
                    self.removed.show(kind, example_of(text, *token.span()))


def _whole(text: str, name: str) -> Finding | None:
    """A text that is a secret because of the name it stands under."""
    if name == _KEY or not is_secret_under(name, text):
        return None
    data = encoded(text)
    return Finding(0, len(data), "key", data)


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    part: list[str] = []
    size = 0
    for text in texts:
        part.append(text)
        size += len(text) + 1
        if size >= _BATCH:
            yield part
            part, size = [], 0
    if part:
        yield part
