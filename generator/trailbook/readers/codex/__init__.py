"""Codex: rollouts, one JSON-lines file a thread, sometimes compressed."""

from trailbook.readers import on_demand
from trailbook.readers.codex.finding import find
from trailbook.readers.codex.places import PLACES

PRODUCT = "Codex"

__all__ = ["PLACES", "PRODUCT", "find"]
__getattr__ = on_demand(__name__)
