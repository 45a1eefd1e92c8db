"""GitHub Copilot CLI: sessions, one file of events each."""

from trailbook.readers.copilot_cli.finding import find
from trailbook.readers.copilot_cli.ledger import count
from trailbook.readers.copilot_cli.places import PLACES
from trailbook.readers.copilot_cli.reader import read

PRODUCT = "Copilot CLI"

__all__ = ["PLACES", "PRODUCT", "count", "find", "read"]
