"""Cursor: captured transcripts, one JSON-lines file a chat; its own databases are named and not read."""

from trailbook.readers.cursor.finding import find
from trailbook.readers.cursor.ledger import count
from trailbook.readers.cursor.places import PLACES
from trailbook.readers.cursor.reader import read

PRODUCT = "Cursor"

__all__ = ["PLACES", "PRODUCT", "count", "find", "read"]
