"""Letta Code: transcripts, one JSON-lines file a conversation."""

from trailbook.readers.letta_code.finding import find
from trailbook.readers.letta_code.ledger import count
from trailbook.readers.letta_code.places import PLACES
from trailbook.readers.letta_code.reader import read

PRODUCT = "Letta Code"

__all__ = ["PLACES", "PRODUCT", "count", "find", "read"]
