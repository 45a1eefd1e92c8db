"""Codex: rollouts, one JSON-lines file a thread, sometimes compressed."""

from trailbook.readers.codex.finding import find
from trailbook.readers.codex.ledger import count
from trailbook.readers.codex.places import PLACES
from trailbook.readers.codex.reader import read

PRODUCT = "Codex"

__all__ = ["PLACES", "PRODUCT", "count", "find", "read"]
