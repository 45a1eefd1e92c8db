"""What a rule finds in a text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trailbook.redaction.removed import KINDS

RANK = {kind: rank for rank, kind in enumerate(KINDS)}
"""Where two findings overlap, the one with the lower rank names the whole."""


class Finding(NamedTuple):
    """A span of a view's bytes that has to go."""

    start: int
    end: int
    kind: str
    thing: bytes
    """What it is, the same for every spelling of it."""


def key(data: bytes, start: int, end: int) -> Iterator[Finding]:
    """A span that is a key or token; none where it is empty."""
    if end > start:
        yield Finding(start, end, "key", data[start:end])


def text_at(data: bytes, start: int, end: int) -> str:
    """What stands in a span."""
    return data[start:end].decode("utf-8", "surrogateescape")
