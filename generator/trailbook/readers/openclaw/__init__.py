"""OpenClaw: sessions as files of JSON lines or in a database. Pi and OMP write the same entries."""

from functools import partial

from trailbook.readers import on_demand
from trailbook.readers.openclaw.finding import find_session
from trailbook.readers.openclaw.places import PLACES

PRODUCT = "OpenClaw"

find = partial(find_session, "openclaw")

__all__ = ["PLACES", "PRODUCT", "find"]
__getattr__ = on_demand(__name__)
