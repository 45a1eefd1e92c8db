"""Hermes Agent: sessions in its database, in what `hermes sessions export` writes, and in snapshots of one session."""

from trailbook.readers import on_demand
from trailbook.readers.hermes.finding import find
from trailbook.readers.hermes.places import PLACES

PRODUCT = "Hermes"

__all__ = ["PLACES", "PRODUCT", "find"]
__getattr__ = on_demand(__name__)
