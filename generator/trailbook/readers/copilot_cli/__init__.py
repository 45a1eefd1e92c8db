"""GitHub Copilot CLI: sessions, one file of events each."""

from trailbook.readers import on_demand
from trailbook.readers.copilot_cli.finding import find
from trailbook.readers.copilot_cli.places import PLACES

PRODUCT = "Copilot CLI"

__all__ = ["PLACES", "PRODUCT", "find"]
__getattr__ = on_demand(__name__)
