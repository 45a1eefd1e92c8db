"""Gemini CLI: sessions, each a JSON document or JSON lines, its subagents' files beside it."""

from trailbook.readers.gemini_cli.finding import find
from trailbook.readers.gemini_cli.ledger import count
from trailbook.readers.gemini_cli.places import PLACES
from trailbook.readers.gemini_cli.reader import read

PRODUCT = "Gemini CLI"

__all__ = ["PLACES", "PRODUCT", "count", "find", "read"]
