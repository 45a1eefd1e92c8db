"""Droid (Factory): sessions, one JSON-lines file each."""

from trailbook.readers.droid.finding import find
from trailbook.readers.droid.ledger import count
from trailbook.readers.droid.places import PLACES
from trailbook.readers.droid.reader import read

PRODUCT = "Droid"

__all__ = ["PLACES", "PRODUCT", "count", "find", "read"]
