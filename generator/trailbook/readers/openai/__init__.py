"""OpenAI chat files, as fine-tuning takes them: one chat a line, or one in a JSON document, or an array of them."""

from trailbook.readers import Places, on_demand
from trailbook.readers.openai.finding import find

PRODUCT = "OpenAI chat"
PLACES = Places(logs=list, stores=list)

__all__ = ["PLACES", "PRODUCT", "find"]
__getattr__ = on_demand(__name__)
