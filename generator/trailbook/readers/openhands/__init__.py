"""OpenHands: the events of a conversation, as its interface hands them out, in one JSON document."""

from trailbook.readers import on_demand
from trailbook.readers.openhands.finding import find
from trailbook.readers.openhands.places import PLACES

PRODUCT = "OpenHands"

__all__ = ["PLACES", "PRODUCT", "find"]
__getattr__ = on_demand(__name__)
