"""ShareGPT conversations in three dialects: as Hermes writes them, as LLaMA-Factory reads them, and plain ones."""

from trailbook.readers import Places
from trailbook.readers.sharegpt.finding import find
from trailbook.readers.sharegpt.ledger import count
from trailbook.readers.sharegpt.reader import read

PRODUCT = "ShareGPT"
PLACES = Places(logs=list, stores=list)

__all__ = ["PLACES", "PRODUCT", "count", "find", "read"]
