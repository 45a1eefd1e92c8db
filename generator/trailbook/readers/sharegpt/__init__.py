"""ShareGPT conversations in three dialects: as Hermes writes them, as LLaMA-Factory reads them, and plain ones."""

from trailbook.readers import Places, on_demand
from trailbook.readers.sharegpt.finding import find

PRODUCT = "ShareGPT"
PLACES = Places(logs=list, stores=list)

__all__ = ["PLACES", "PRODUCT", "find"]
__getattr__ = on_demand(__name__)
