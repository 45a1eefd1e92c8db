"""OpenCode: sessions in a database (before that, in a folder of JSON files), and the documents of `opencode export`."""

from trailbook.readers import on_demand
from trailbook.readers.opencode.finding import find
from trailbook.readers.opencode.places import PLACES

PRODUCT = "OpenCode"

__all__ = ["PLACES", "PRODUCT", "find"]
__getattr__ = on_demand(__name__)
