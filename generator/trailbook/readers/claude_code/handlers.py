"""The table of record types: a new type is one line here."""

from __future__ import annotations

from collections.abc import Mapping

from trailbook.readers.claude_code import other_records
from trailbook.readers.claude_code.assistant_records import assistant
from trailbook.readers.claude_code.transcript import Handler
from trailbook.readers.claude_code.user_records import user

HANDLERS: Mapping[str, Handler] = {
    "user": user,
    "assistant": assistant,
    "system": other_records.system,
    "attachment": other_records.attachment,
    "queue-operation": other_records.queue_operation,
    "custom-title": other_records.custom_title,
    "ai-title": other_records.ai_title,
    "summary": other_records.summary_record,
    "pr-link": other_records.pull_request,
    "progress": other_records.pass_over,
    "file-history-snapshot": other_records.pass_over,
    "file-history-delta": other_records.pass_over,
    "last-prompt": other_records.pass_over,
    "mode": other_records.pass_over,
    "permission-mode": other_records.pass_over,
    "agent-name": other_records.pass_over,
}
