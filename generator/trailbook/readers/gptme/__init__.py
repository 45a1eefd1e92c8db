"""gptme: a folder a chat, whose calls stand in the text of its messages."""

from trailbook.readers import on_demand
from trailbook.readers.gptme.finding import find
from trailbook.readers.gptme.places import PLACES

PRODUCT = "gptme"

__all__ = ["PLACES", "PRODUCT", "find"]
__getattr__ = on_demand(__name__)
