"""Whether a file that is about to be kept still holds a secret."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from trailbook.redaction.context import Context
from trailbook.redaction.finding import RANK
from trailbook.redaction.literals import WHOLE_WORD, Literals, spelled_secrets
from trailbook.redaction.removed import Removed
from trailbook.redaction.view import encoded


@dataclass(slots=True, frozen=True)
class Secrets:
    """What may stand nowhere in what is written. Picklable; in memory only."""

    known: tuple[str, ...] = field(default=(), repr=False)
    learned: frozenset[str] = field(default=frozenset(), repr=False)


def secrets_of(context: Context, removed: Removed) -> Secrets:
    """What `verify` looks for: the context's secrets, and the keys that redaction found in the chat."""
    return Secrets(known=context.secrets, learned=removed.learned)


def verify(data: bytes, name: str, secrets: Secrets) -> dict[str, int]:
    """Count the secrets that stand in a file (UTF-8) or its name, by kind (`password`, `key`); empty when none does.

    The bytes are searched as they are, and with HTML's and JSON's escapes undone. Only what the chat contributed is to
    be handed in: a theme's own words are no secrets.
    """
    literals = _literals(secrets)
    found: dict[str, set[bytes]] = {}
    for text in (encoded(name), data, *_unescaped(data)):
        for finding in literals.find(text):
            found.setdefault(finding.kind, set()).add(finding.thing)
    return {kind: len(found[kind]) for kind in sorted(found, key=RANK.__getitem__)}


@lru_cache(maxsize=4)
def _literals(secrets: Secrets) -> Literals:
    learned = spelled_secrets(sorted(secrets.learned), "key", shortest=WHOLE_WORD)
    return Literals([*spelled_secrets(secrets.known, "password"), *learned])


_UNICODE_ESCAPE = re.compile(rb"\\u([0-9a-fA-F]{4})")
_SIMPLE_ESCAPES = ((b'\\"', b'"'), (b"\\/", b"/"), (b"\\n", b"\n"), (b"\\t", b"\t"), (b"\\\\", b"\\"))


def _unescaped(data: bytes) -> Iterator[bytes]:
    if b"&" in data:
        yield html.unescape(data.decode("utf-8", "replace")).encode("utf-8", "replace")
    if b"\\" in data:
        plain = _UNICODE_ESCAPE.sub(lambda found: chr(int(found[1], 16)).encode("utf-8", "replace"), data)
        for escape, character in _SIMPLE_ESCAPES:
            plain = plain.replace(escape, character)
        yield plain
