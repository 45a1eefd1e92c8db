"""Conch: one JSON-lines file a chat, an index of all chats beside it, agents and settings in files of their own.

The format has no version line; what is read here are all event types of its public source, and the older shapes.
"""

from trailbook.readers import on_demand
from trailbook.readers.conch.finding import find
from trailbook.readers.conch.home import PLACES

PRODUCT = "Conch"

__all__ = ["PLACES", "PRODUCT", "find"]
__getattr__ = on_demand(__name__)
