"""Conch: one JSON-lines file a chat, an index of all chats beside it, agents and settings in files of their own.

The format has no version line; what is read here are all event types of its public source, and the older shapes.
"""

from trailbook.readers.conch.finding import find
from trailbook.readers.conch.home import PLACES
from trailbook.readers.conch.ledger import count
from trailbook.readers.conch.reader import read

PRODUCT = "Conch"

__all__ = ["PLACES", "PRODUCT", "count", "find", "read"]
