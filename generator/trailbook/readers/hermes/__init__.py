"""Hermes Agent: sessions in its database, in what `hermes sessions export` writes, and in snapshots of one session."""

from trailbook.readers.hermes.finding import find
from trailbook.readers.hermes.ledger import count
from trailbook.readers.hermes.places import PLACES
from trailbook.readers.hermes.reader import read

PRODUCT = "Hermes"

__all__ = ["PLACES", "PRODUCT", "count", "find", "read"]
