"""Records that are neither a user's nor an assistant's: system, attachments, the queue, titles, housekeeping."""

from __future__ import annotations

from trailbook.chat import JSON, Answered, Asked, Compacted, Noted, Part
from trailbook.readers.claude_code.pictures import image_of
from trailbook.readers.claude_code.prompts import take_apart
from trailbook.readers.claude_code.transcript import Transcript
from trailbook.readers.claude_code.user_records import say
from trailbook.readers.images import image_from_base64
from trailbook.readers.values import Fields, blocks, fields, items, json_words, string, whole

_ENVELOPE = frozenset(
    (
        *("uuid", "parentUuid", "logicalParentUuid", "sessionId", "timestamp", "cwd", "gitBranch", "version"),
        *("userType", "isSidechain", "isMeta", "type", "subtype", "level", "entrypoint", "slug", "agentId"),
        *("requestId", "forkedFrom", "content", "toolUseID"),
    )
)
"""What every record has, and what a note has a place of its own for."""
_GOOD_ENDS = frozenset({"end_turn", "stop_sequence"})


# --- system


def system(transcript: Transcript, record: Fields) -> None:
    """A `system` record."""
    subtype = string(record.get("subtype")) or "system"
    content = string(record.get("content")) or ""
    if subtype == "compact_boundary":
        _boundary(transcript, fields(record.get("compactMetadata")))
    elif subtype == "turn_duration":
        _turn_end(transcript, record)
    elif subtype == "local_command" and _is_command(content):
        say(transcript, [content], [], injected="context")
    elif subtype == "stop_hook_summary" and not _hooks_said_something(record):
        pass_over(transcript, record)
    else:
        rest: Fields = {key: value for key, value in record.items() if key not in _ENVELOPE and value is not None}
        topic = "hook" if "hook" in subtype else "notice"
        words = subtype.replace("_", " ")
        detail = json_words(rest) if rest else None
        transcript.emit(Noted(topic=topic, text=content or words, detail=detail, call=string(record.get("toolUseID"))))


def _is_command(content: str) -> bool:
    words = take_apart(content)
    return words.command is not None or words.output is not None


def _boundary(transcript: Transcript, details: Fields) -> None:
    transcript.emit(
        Compacted(
            trigger=string(details.get("trigger")),
            tokens_before=whole(details.get("preTokens")),
            tokens_after=whole(details.get("postTokens")),
        )
    )


def _turn_end(transcript: Transcript, record: Fields) -> None:
    """The end of a turn. That it ended well is said only where its last message says so."""
    ended = transcript.messages.stop_reason(transcript.last_message) if transcript.last_message else None
    transcript.emit(
        Answered(outcome="success" if ended in _GOOD_ENDS else None, duration=whole(record.get("durationMs")))
    )


def _hooks_said_something(record: Fields) -> bool:
    return any(record.get(key) for key in ("hookErrors", "preventedContinuation", "stopReason", "content"))


# --- attachments


def attachment(transcript: Transcript, record: Fields) -> None:
    """An `attachment` record: what the program sent along with the next message to the model."""
    body = fields(record.get("attachment"))
    kind = string(body.get("type")) or "attachment"
    if kind == "queued_command":
        _queued_command(transcript, body)
    elif kind == "hook_additional_context":
        text = "\n".join(_texts(blocks(body.get("content"))))
        if text:
            transcript.emit(Asked(id=transcript.asked_id(), text=text, injected="hook"))
    else:
        _other_attachment(transcript, record, body, kind)


def _queued_command(transcript: Transcript, body: Fields) -> None:
    """Text that was typed while the agent worked; often the only place that has it (daaain/claude-code-log#295)."""
    source = string(body.get("source_uuid"))
    if source is not None and transcript.knows(source):
        return
    origin = fields(body.get("origin")).get("kind")
    mode = body.get("commandMode")
    human = mode in (None, "prompt", "bash") and origin in (None, "human")
    prompt = blocks(body.get("prompt"))
    parts: list[Part] = [part for block in prompt if (part := _picture(block)) is not None]
    say(transcript, _texts(prompt), parts, injected=None if human else "notification", queued=True)


def _picture(block: JSON) -> Part | None:
    return image_of(block) if isinstance(block, dict) and block.get("type") == "image" else None


def _other_attachment(transcript: Transcript, record: Fields, body: Fields, kind: str) -> None:
    content = fields(body.get("content"))
    file = fields(content.get("file"))
    parts: list[Part] = []
    if content.get("type") == "image" and file:
        parts.append(image_from_base64(file.get("base64"), file.get("type")))
    words = "\n".join(_words(body, content, file))
    if not words and not parts:
        pass_over(transcript, record, of=f"attachment {kind}")
        return
    names = (body.get(key) for key in ("displayPath", "filename", "path", "planFilePath", "hookName"))
    name = next((name for name in names if isinstance(name, str) and name), kind.replace("_", " "))
    topic = "hook" if kind.startswith("hook") else "attachment"
    transcript.emit(
        Noted(topic=topic, text=name, detail=words or None, parts=parts, call=string(body.get("toolUseID")))
    )


def _words(body: Fields, content: Fields, file: Fields) -> list[str]:
    found = _texts(body.get("content")) if not content else [content.get("content"), file.get("content")]
    found += [body.get(key) for key in ("snippet", "planContent", "stdout", "stderr", "blockingError")]
    return [word for word in found if isinstance(word, str) and word]


def _texts(content: JSON) -> list[str]:
    """The texts in a value that is one, or a list of texts and text blocks."""
    if isinstance(content, str):
        return [content]
    words = [block.get("text") if isinstance(block, dict) else block for block in items(content)]
    return [word for word in words if isinstance(word, str)]


# --- the queue


def queue_operation(transcript: Transcript, record: Fields) -> None:
    """What was queued is noted until it turns up as a prompt; if it never does, the note stays."""
    text = "\n".join(_texts(blocks(record.get("content")))).strip()
    if record.get("operation") == "enqueue" and text:
        transcript.queue.setdefault(text, []).append(len(transcript.events))
        transcript.emit(Noted(topic="queued", text=text))


# --- titles and the rest


def custom_title(transcript: Transcript, record: Fields) -> None:
    """The title that the person gave; the last one counts."""
    if title := string(record.get("customTitle")):
        transcript.titles["custom"] = title


def ai_title(transcript: Transcript, record: Fields) -> None:
    """The title that the agent gave; the last one counts."""
    if title := string(record.get("aiTitle")):
        transcript.titles["ai"] = title


def summary_record(transcript: Transcript, record: Fields) -> None:
    """A `summary` names a chat by one of its records, and that may be another chat's than the file it stands in."""
    leaf, title = string(record.get("leafUuid")), string(record.get("summary"))
    if title is not None:
        transcript.summaries.append((leaf, title))


def pull_request(transcript: Transcript, record: Fields) -> None:
    """A pull request that the chat is linked to."""
    url = string(record.get("prUrl")) or string(record.get("url"))
    if url is None:
        pass_over(transcript, record)
        return
    transcript.emit(Noted(topic="pull request", text=url))


def pass_over(transcript: Transcript, record: Fields, *, of: str | None = None) -> None:
    """A record of a known type in which nobody says or does anything: counted, no event."""
    kind = of or string(record.get("type")) or "none"
    transcript.problems.count(
        "passed-record", f"Records of the type “{kind}” hold nothing that was said or done.", transcript.place
    )
