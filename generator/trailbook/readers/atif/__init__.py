"""ATIF, the Agent Trajectory Interchange Format, versions 1.0 to 1.8: one trajectory in a file, or one a line."""

from trailbook.readers import Places
from trailbook.readers.atif.finding import find
from trailbook.readers.atif.ledger import count
from trailbook.readers.atif.reader import read

PRODUCT = "ATIF"
PLACES = Places(logs=list, stores=list)

__all__ = ["PLACES", "PRODUCT", "count", "find", "read"]
