"""OpenCode: sessions in a database (before that, in a folder of JSON files), and the documents of `opencode export`."""

from trailbook.readers.opencode.finding import find
from trailbook.readers.opencode.ledger import count
from trailbook.readers.opencode.places import PLACES
from trailbook.readers.opencode.reader import read

PRODUCT = "OpenCode"

__all__ = ["PLACES", "PRODUCT", "count", "find", "read"]
