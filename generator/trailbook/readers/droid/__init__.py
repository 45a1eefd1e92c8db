"""Droid (Factory): sessions, one JSON-lines file each."""

from trailbook.readers import on_demand
from trailbook.readers.droid.finding import find
from trailbook.readers.droid.places import PLACES

PRODUCT = "Droid"

__all__ = ["PLACES", "PRODUCT", "find"]
__getattr__ = on_demand(__name__)
