"""Cursor: captured transcripts, one JSON-lines file a chat; its own databases are named and not read."""

from trailbook.readers import on_demand
from trailbook.readers.cursor.finding import find
from trailbook.readers.cursor.places import PLACES

PRODUCT = "Cursor"

__all__ = ["PLACES", "PRODUCT", "find"]
__getattr__ = on_demand(__name__)
