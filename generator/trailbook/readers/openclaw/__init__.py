"""OpenClaw: sessions as files of JSON lines or in a database. Pi and OMP write the same entries."""

from functools import partial

from trailbook.readers.openclaw.finding import find_session
from trailbook.readers.openclaw.ledger import count
from trailbook.readers.openclaw.places import PLACES
from trailbook.readers.openclaw.reader import read

PRODUCT = "OpenClaw"

find = partial(find_session, "openclaw")

__all__ = ["PLACES", "PRODUCT", "count", "find", "read"]
