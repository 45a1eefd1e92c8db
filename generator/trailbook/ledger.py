"""The ledger: what is in a log or in a written file, counted by itself, so that the two can be compared.

Each log format has a `ledger.py` beside its reader that fills one straight from the raw records, on a path of its own
(design §5); `fidelity.py` compares two of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b

from trailbook import json_text
from trailbook.chat import JSON, Place, Usage

KINDS = ("prompt", "answer", "thought", "call", "result", "image")


@dataclass(slots=True)
class Entry:
    """One thing that is in the log: a prompt, an answer, a thought, a call, a result or an image."""

    kind: str
    place: Place
    digest: bytes
    """Of the words, the arguments or the image's bytes; see `digest_of_text` and `digest_of_arguments`."""
    id: str | None = None
    """The call's id, for calls and results."""
    name: str | None = None
    """The tool's name, for calls."""
    ok: bool | None = None
    """For results: whether the log says that it went well."""
    images: int = 0
    """For results and prompts: how many images belong to it."""
    text: str | None = None
    """The raw text itself (a call's arguments as canonical JSON), kept only where the counter was asked to."""


@dataclass(slots=True)
class Ledger:
    """What one chat holds on its active path, its subagents' ledgers beside it."""

    chat: str | None = None
    """The chat's id, where the file has one."""
    entries: list[Entry] = field(default_factory=list)
    usage: Usage | None = None
    """The chat's own tokens by the format's rule, subagents not counted; None where the file has none."""
    aside: list[Entry] = field(default_factory=list)
    """What stands outside the active path: abandoned branches and inherited parts."""
    subagents: list[Ledger] = field(default_factory=list)
    not_carried: dict[str, int] = field(default_factory=dict)
    """In the ledger of a written file: what the file itself says it left out, counted by kind."""

    def of(self, kind: str) -> list[Entry]:
        """The entries of one kind, in order."""
        return [entry for entry in self.entries if entry.kind == kind]


Keep = Callable[[Place], bool]
"""Says for which places a counter keeps the raw text (only a few: a ledger of a large log must stay small)."""


def digest_of_text(text: str) -> bytes:
    """The digest by which two texts are compared: trailing white space and kinds of line ends make no difference."""
    return blake2b("\n".join(text.split("\r\n")).strip().encode("utf-8", "replace"), digest_size=16).digest()


def digest_of_arguments(arguments: JSON) -> bytes:
    """The digest by which the arguments of two calls are compared: keys in any order, every digit counted."""
    return blake2b(json_text.canonical(arguments), digest_size=16).digest()


def digest_of_bytes(data: bytes) -> bytes:
    """The digest by which two images are compared."""
    return blake2b(data, digest_size=16).digest()


def keep_nothing(_place: Place) -> bool:
    """The ordinary first count: digests only."""
    return False
