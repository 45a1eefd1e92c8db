"""ATIF, the Agent Trajectory Interchange Format, versions 1.0 to 1.8: one trajectory in a file, or one a line."""

from trailbook.readers import Places, on_demand
from trailbook.readers.atif.finding import find

PRODUCT = "ATIF"
PLACES = Places(logs=list, stores=list)

__all__ = ["PLACES", "PRODUCT", "find"]
__getattr__ = on_demand(__name__)
