"""The pages over all chats: the index in several orders, and which chats changed which files."""

from trailbook.writers.index.pages import write_index
from trailbook.writers.index.rows import Row, row_of

__all__ = ["Row", "row_of", "write_index"]
