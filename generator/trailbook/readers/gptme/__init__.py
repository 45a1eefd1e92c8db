"""gptme: a folder a chat, whose calls stand in the text of its messages."""

from trailbook.readers.gptme.finding import find
from trailbook.readers.gptme.ledger import count
from trailbook.readers.gptme.places import PLACES
from trailbook.readers.gptme.reader import read

PRODUCT = "gptme"

__all__ = ["PLACES", "PRODUCT", "count", "find", "read"]
