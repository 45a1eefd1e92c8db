"""OpenAI chat files, as fine-tuning takes them: one chat a line, or one in a JSON document, or an array of them."""

from trailbook.readers import Places
from trailbook.readers.openai.finding import find
from trailbook.readers.openai.ledger import count
from trailbook.readers.openai.reader import read

PRODUCT = "OpenAI chat"
PLACES = Places(logs=list, stores=list)

__all__ = ["PLACES", "PRODUCT", "count", "find", "read"]
