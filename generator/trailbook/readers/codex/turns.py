"""Turns of a rollout: where they begin and end, what was taken back or shortened, and what they cost."""

from __future__ import annotations

from trailbook.chat import Answered, Asked, Branch, Compacted
from trailbook.readers.codex.reading import Handlers, Reading
from trailbook.readers.codex.tokens import usage_of
from trailbook.readers.values import Fields, fields, items, json_words, string, whole


def _context(reading: Reading, payload: Fields) -> None:
    reading.model = reading.responses.model = string(payload.get("model")) or reading.model
    if reading.model and not reading.inherited and reading.model not in reading.chat.models:
        reading.chat.models.append(reading.model)


def _begin(reading: Reading, _payload: Fields) -> None:
    reading.responses.close()
    reading.failure = None
    reading.chat.completed = None


def _end(reading: Reading, payload: Fields) -> None:
    aborted = reading.line.type == "turn_aborted"
    reading.responses.close()
    reading.chat.completed = not aborted and reading.failure is None
    ended = reading.failure
    if ended is None:
        ended = Answered(outcome="interrupted" if aborted else "success")
        reading.add(ended)
    ended.id = string(payload.get("turn_id"))
    ended.duration = whole(payload.get("duration_ms"))
    _describe(reading, ended)
    reading.failure = None


def _fail(reading: Reading, payload: Fields) -> None:
    reading.chat.completed = False
    reading.failure = Answered(outcome="error", problem=string(payload.get("message")) or json_words(payload))
    _describe(reading, reading.failure)
    reading.add(reading.failure)


def _describe(reading: Reading, ended: Answered) -> None:
    ended.model = reading.model
    ended.engine = reading.chat.providers[0] if reading.chat.providers else None


def _count(reading: Reading, payload: Fields) -> None:
    added = reading.counter.added(fields(payload.get("info")))
    if added is not None and not reading.inherited and reading.number not in reading.repeats.tokens:
        reading.responses.spend(added)


def _record(reading: Reading, payload: Fields) -> None:
    """One response's tokens; a response that is recorded again, and another thread's, are not counted here."""
    usage, response = usage_of(fields(payload.get("usage"))), string(payload.get("response_id"))
    thread = string(payload.get("thread_id"))
    if usage is None or reading.inherited or response in reading.recorded or thread not in (None, reading.chat.id):
        return
    if response is not None:
        reading.recorded.add(response)
    reading.responses.spend(usage)


def _roll_back(reading: Reading, payload: Fields) -> None:
    """The last turns were taken back: they stay, as an abandoned branch."""
    turns, chat = whole(payload.get("num_turns")) or 0, reading.chat
    prompts = [
        index
        for index, event in enumerate(chat.events)
        if isinstance(event, Asked) and event.injected is None and event.branch is None
    ]
    if not turns or not prompts:
        return
    branch = f"rolled-back-{reading.line.place.number}"
    chat.branches[branch] = Branch(branch, left_at=reading.line.place)
    for event in chat.events[prompts[-min(turns, len(prompts))] :]:
        event.branch = event.branch or branch
    chat.completed = None


def _compact(reading: Reading, payload: Fields) -> None:
    """The line and the event of one compaction stand side by side: it is one."""
    summary = string(payload.get("message"))
    last = reading.chat.events[-1] if reading.chat.events else None
    if isinstance(last, Compacted) and last.branch is None and (summary is None or last.summary is None):
        if summary is not None:
            last.summary, last.place, last.at = summary, reading.line.place, reading.at
        return
    reading.responses.close()
    reading.add(Compacted(summary=summary))


def _notice(reading: Reading, payload: Fields) -> None:
    text = string(payload.get("message")) or string(payload.get("text")) or json_words(payload)
    reading.note(reading.line.type.replace("_", " "), text)


def _review(reading: Reading, payload: Fields) -> None:
    hint = string(payload.get("user_facing_hint"))
    found = string(fields(payload.get("review_output")).get("overall_explanation"))
    findings = items(fields(payload.get("review_output")).get("findings"))
    if reading.line.type == "entered_review_mode":
        reading.note("review", f"Review of {hint}" if hint else "Review", None if hint else json_words(payload))
    else:
        reading.note("review", found or "End of the review", json_words(findings) if findings else None)


def _rename(reading: Reading, payload: Fields) -> None:
    reading.chat.title = string(payload.get("thread_name")) or reading.chat.title


def _pass_over(_reading: Reading, _payload: Fields) -> None:
    return


_SAYING_NOTHING = {
    "response_item": (
        "ghost_snapshot",  # copies for undo
        "compaction",  # an encrypted blob beside the `compacted` line
        "compaction_summary",
        "context_compaction",
    ),
    "event_msg": (
        "agent_reasoning_section_break",
        "collab_agent_interaction_end",
        "collab_close_end",
        "collab_resume_end",
        "collab_waiting_end",
        "dynamic_tool_call_request",
        "exec_command_begin",
        "mcp_tool_call_begin",
        "patch_apply_begin",
        "token_usage",
        "turn_diff",
        "view_image_tool_call",
        "web_search_begin",
    ),
    "session_meta": ("",),
    "state": ("",),
    "world_state": ("",),
    "security_risk_score": ("",),
    "inter_agent_communication_metadata": ("",),
}
"""What repeats others or is for the harness alone."""

_NOTICES = ("warning", "stream_error", "background_event", "deprecation_notice", "plan", "model_reroute")

HANDLERS: Handlers = {
    **{(kind, name): _pass_over for kind, names in _SAYING_NOTHING.items() for name in names},
    **{("event_msg", name): _notice for name in _NOTICES},
    ("turn_context", ""): _context,
    ("token_usage_record", ""): _record,
    ("compacted", ""): _compact,
    ("event_msg", "token_count"): _count,
    ("event_msg", "task_started"): _begin,
    ("event_msg", "turn_started"): _begin,
    ("event_msg", "task_complete"): _end,
    ("event_msg", "turn_complete"): _end,
    ("event_msg", "turn_aborted"): _end,
    ("event_msg", "error"): _fail,
    ("event_msg", "thread_rolled_back"): _roll_back,
    ("event_msg", "context_compacted"): _compact,
    ("event_msg", "entered_review_mode"): _review,
    ("event_msg", "exited_review_mode"): _review,
    ("event_msg", "thread_name_updated"): _rename,
}
