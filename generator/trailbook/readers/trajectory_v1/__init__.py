"""trajectory-v1: an array of records, as agent-trajectory and ellmer write it."""

from trailbook.readers import Places, on_demand
from trailbook.readers.trajectory_v1.finding import find

PRODUCT = "trajectory-v1"
PLACES = Places(logs=list, stores=list)

__all__ = ["PLACES", "PRODUCT", "find"]
__getattr__ = on_demand(__name__)
