"""What comes out before anything is derived, and the one pass that takes it out.

context = load_context(names=..., secret_files=...)
chat, removed = redact(chat, context)
left = verify(file_bytes, file_name, secrets_of(context, removed))
"""

from trailbook.redaction.context import Context, UnreadableSecrets, load_context
from trailbook.redaction.removed import KINDS, Removed
from trailbook.redaction.replacing import redact, redact_all, redact_text
from trailbook.redaction.verifying import Secrets, secrets_of, verify

__all__ = [
    "KINDS",
    "Context",
    "Removed",
    "Secrets",
    "UnreadableSecrets",
    "load_context",
    "redact",
    "redact_all",
    "redact_text",
    "secrets_of",
    "verify",
]
