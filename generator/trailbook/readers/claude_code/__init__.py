"""Claude Code: one JSON-lines file a session, its subagents and long outputs in a folder of the same name beside it.

The format is internal to the agent and has no specification; what is read here was seen in logs up to version 2.1.
"""

from trailbook.readers import on_demand
from trailbook.readers.claude_code.finding import find
from trailbook.readers.claude_code.places import PLACES

PRODUCT = "Claude Code"

__all__ = ["PLACES", "PRODUCT", "find"]
__getattr__ = on_demand(__name__)
