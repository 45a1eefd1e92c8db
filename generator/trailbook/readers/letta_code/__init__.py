"""Letta Code: transcripts, one JSON-lines file a conversation."""

from trailbook.readers import on_demand
from trailbook.readers.letta_code.finding import find
from trailbook.readers.letta_code.places import PLACES

PRODUCT = "Letta Code"

__all__ = ["PLACES", "PRODUCT", "find"]
__getattr__ = on_demand(__name__)
