"""trajectory-v1: an array of records, as agent-trajectory and ellmer write it."""

from trailbook.readers import Places
from trailbook.readers.trajectory_v1.finding import find
from trailbook.readers.trajectory_v1.ledger import count
from trailbook.readers.trajectory_v1.reader import read

PRODUCT = "trajectory-v1"
PLACES = Places(logs=list, stores=list)

__all__ = ["PLACES", "PRODUCT", "count", "find", "read"]
