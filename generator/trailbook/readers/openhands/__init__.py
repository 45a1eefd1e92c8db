"""OpenHands: the events of a conversation, as its interface hands them out, in one JSON document."""

from trailbook.readers.openhands.finding import find
from trailbook.readers.openhands.ledger import count
from trailbook.readers.openhands.places import PLACES
from trailbook.readers.openhands.reader import read

PRODUCT = "OpenHands"

__all__ = ["PLACES", "PRODUCT", "count", "find", "read"]
