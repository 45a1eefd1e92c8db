"""Gemini CLI: sessions, each a JSON document or JSON lines, its subagents' files beside it."""

from trailbook.readers import on_demand
from trailbook.readers.gemini_cli.finding import find
from trailbook.readers.gemini_cli.places import PLACES

PRODUCT = "Gemini CLI"

__all__ = ["PLACES", "PRODUCT", "find"]
__getattr__ = on_demand(__name__)
