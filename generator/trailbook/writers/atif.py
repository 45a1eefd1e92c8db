"""ATIF: one JSON document a chat, as Harbor, Pier and the `atif` package read it (atif.md).

One step for each message of the model's API, its results in the same step. Subagents are embedded, and the result of
the call that started one refers to it; every document counts its own tokens only. Nothing is ever null: what is not
known is left out. Version 1.7 has the same content as 1.8, for readers that stop there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import PurePosixPath

from trailbook import json_text
from trailbook.chat import JSON, Chat, Cost, Image, Part, Usage
from trailbook.messages import (
    AnyMessage,
    AssistantMessage,
    Call,
    Conversation,
    Result,
    SystemMessage,
    UnlinkedResult,
    UserMessage,
)
from trailbook.writers.tools import parameters_of
from trailbook.writers.written import (
    MEDIA_TYPES,
    Options,
    Written,
    conversations_of,
    is_portable,
    moment,
    words_of,
)

Fields = dict[str, JSON]

VERSIONS = ("1.8", "1.7")


def write_atif(chats: Iterable[Chat], options: Options) -> Written:
    """Write chats, already redacted: one as a document over many lines, several as JSON lines.

    With images pictures lie beside the file, in a folder named after it; else a mark with type and size stands for
    each, and its step lists it with its digest.
    """
    sheet = _Sheet(options, PurePosixPath(options.name).stem, Written(b""))
    documents = [
        document
        for chat in chats
        for branch, conversation in conversations_of(chat, options, sheet.written)
        if (document := _document(chat, conversation, sheet, _id_of(chat, branch), set()))["steps"]
    ]
    if len(documents) == 1 and not options.lines:
        sheet.written.data = json_text.dump(documents[0], indent=2) + b"\n"
    else:
        sheet.written.data = b"".join(json_text.dump(document) + b"\n" for document in documents)
    return sheet.written


def _id_of(chat: Chat, branch: str | None) -> str:
    return chat.id if branch is None else f"{chat.id}-{branch}"


@dataclass(slots=True)
class _Sheet:
    """What all documents of a file share."""

    options: Options
    stem: str
    written: Written


@dataclass(slots=True)
class _Links:
    """Where the subagents of a chat hang: the id of a call, and those that it started."""

    by_call: dict[str, list[str]] = field(default_factory=dict)

    def references(self, call: str) -> list[JSON]:
        """What the result of a call says of the subagents that the call started."""
        return [{"trajectory_id": child} for child in self.by_call.get(call, [])]


def _document(chat: Chat, conversation: Conversation, sheet: _Sheet, wanted: str, taken: set[str]) -> Fields:
    """A chat as a trajectory with the id that is wanted; `taken` are ids of its siblings and of its parent."""
    identity = _free(wanted, taken)
    children, links = _children(chat, sheet, {identity})
    steps = _steps(chat, conversation, sheet, links)
    document: Fields = {
        "schema_version": f"ATIF-v{sheet.options.atif_version}",
        "session_id": chat.id,
        "trajectory_id": identity,
        "agent": _agent(chat),
        "steps": list[JSON](steps),
    }
    if chat.title:
        document["notes"] = chat.title
    document["final_metrics"] = _totals(conversation, children, len(steps))
    extra = _about(chat, conversation)
    if extra:
        document["extra"] = extra
    if children:
        document["subagent_trajectories"] = list[JSON](children)
    return document


def _children(chat: Chat, sheet: _Sheet, taken: set[str]) -> tuple[list[Fields], _Links]:
    links = _Links()
    children: list[Fields] = []
    for subagent in chat.subagents:
        _, conversation = next(conversations_of(subagent, sheet.options, sheet.written))
        child = _document(subagent, conversation, sheet, subagent.id, taken)
        identity = str(child["trajectory_id"])
        if child["steps"]:
            children.append(child)
            taken.add(identity)
        if child["steps"] and subagent.started_by is not None:
            links.by_call.setdefault(subagent.started_by, []).append(identity)
    return children, links


def _free(wanted: str, taken: set[str]) -> str:
    identity, number = wanted, 1
    while identity in taken:
        number += 1
        identity = f"{wanted}-{number}"
    return identity


def _agent(chat: Chat) -> Fields:
    product = chat.agent.product or chat.agent.name or chat.source
    agent: Fields = {"name": "-".join(product.lower().split()), "version": chat.agent.version or "unknown"}
    if chat.models:
        agent["model_name"] = chat.models[-1]
    if chat.tools:
        agent["tool_definitions"] = [
            _definition(tool.name, tool.description, parameters_of(tool)) for tool in chat.tools
        ]
    extra = _known(assistant=chat.agent.name or None, cwd=chat.cwd, git_branch=chat.git_branch)
    if extra:
        agent["extra"] = extra
    return agent


def _definition(name: str, description: str | None, parameters: JSON) -> Fields:
    return {"type": "function", "function": _known(name=name, description=description, parameters=parameters)}


def _about(chat: Chat, conversation: Conversation) -> Fields:
    """What the document says of the chat, and of what it left out."""
    # `notes` may be anything in other documents; what is called a title is one.
    origin = _known(kind=chat.origin.kind, id=chat.origin.id, name=chat.origin.name)
    left_out = _known(branches=conversation.branches or None, script_calls=conversation.script_calls or None)
    return _known(
        title=chat.title or None,
        origin=origin if chat.origin.kind != "chat" else None,
        completed=chat.completed,
        parent=chat.parent,
        not_carried=left_out or None,
    )


# --- steps


def _steps(chat: Chat, conversation: Conversation, sheet: _Sheet, links: _Links) -> list[Fields]:
    steps: list[Fields] = []
    if chat.system_prompt:
        steps.append({"step_id": 1, "source": "system", "message": chat.system_prompt})
    for message in conversation.messages:
        step = _step(message, sheet, links)
        if step is not None:
            steps.append({"step_id": len(steps) + 1, **step})
    return steps


def _step(message: AnyMessage, sheet: _Sheet, links: _Links) -> Fields | None:
    if isinstance(message, AssistantMessage):
        return _agent_step(message, sheet, links)
    if isinstance(message, UnlinkedResult):
        return _unlinked_step(message, sheet)
    step = _head(message.at, "user" if isinstance(message, UserMessage) else "system")
    step["message"] = _content(message.text, message.parts, sheet)
    _end(step, message.copied, {**_said_by(message), **_pictures(message.parts, sheet)})
    return step


def _said_by(message: UserMessage | SystemMessage) -> Fields:
    if isinstance(message, UserMessage):
        return _known(message_id=message.id, injected=message.injected, queued=message.queued or None, by=message.by)
    if message.compacted is None:
        return {}
    compaction = _known(
        type="compaction",
        boundary="replace",
        trigger=message.compacted.trigger,
        tokens_before=message.compacted.tokens_before,
        tokens_after=message.compacted.tokens_after,
    )
    return {"context_management": compaction}


def _agent_step(message: AssistantMessage, sheet: _Sheet, links: _Links) -> Fields | None:
    if not (message.text or message.parts or message.calls or message.thinking.strip() or message.usage):
        return None
    step = _head(message.at, "agent")
    if message.model:
        step["model_name"] = message.model
    step["message"] = _content(message.text, message.parts, sheet)
    if message.thinking.strip():
        step["reasoning_content"] = message.thinking
    if message.calls:
        step["tool_calls"] = [
            {"tool_call_id": call.id, "function_name": call.name, "arguments": call.arguments} for call in message.calls
        ]
        step["observation"] = {"results": [_result_of(call, sheet, links) for call in message.calls]}
    metrics = {} if message.copied else _metrics(message.usage, message.cost)
    if metrics:
        step["metrics"] = metrics
    if message.alone:
        step["llm_call_count"] = 1
    told = _known(
        message_id=message.id,
        stop_reason=message.stop_reason,
        outcome=message.outcome,
        problem=message.problem,
        by=message.by,
    )
    _end(step, message.copied, {**told, **_pictures(message.parts, sheet)})
    return step


def _unlinked_step(message: UnlinkedResult, sheet: _Sheet) -> Fields:
    step = _head(message.result.at, "system")
    step["message"] = ""
    step["observation"] = {"results": [_result(message.result, sheet)]}
    _end(step, message.copied, {})
    return step


def _head(at: int | None, source: str) -> Fields:
    timestamp = moment(at)
    return {"timestamp": timestamp, "source": source} if timestamp else {"source": source}


def _end(step: Fields, copied: bool, extra: Fields) -> None:
    if copied:
        step["is_copied_context"] = True
    if extra:
        step["extra"] = extra


# --- results and contents


def _result_of(call: Call, sheet: _Sheet, links: _Links) -> Fields:
    result = {"source_call_id": call.id, **_result(call.result, sheet)}
    references = links.references(call.id)
    if references:
        result["subagent_trajectory_ref"] = references
    return result


def _result(result: Result, sheet: _Sheet) -> Fields:
    found: Fields = {"content": _content("", result.parts, sheet)}
    extra = _known(
        is_error=None if result.ok is None else not result.ok,
        not_run=result.reason,
        exit_code=result.exit_status,
        duration_ms=result.duration,
        linked=result.linked if result.linked != "id" else None,
        timestamp=moment(result.at),
    )
    extra |= _pictures(result.parts, sheet)
    if extra:
        found["extra"] = extra
    return found


def _content(text: str, parts: list[Part], sheet: _Sheet) -> JSON:
    """A plain text, or a list of parts where there are pictures: readers lose all but one of several texts."""
    if not sheet.options.images or not any(map(is_portable, parts)):
        return words_of(text, parts)
    content: list[JSON] = []
    waiting: list[Part] = []
    for part in parts:
        if isinstance(part, Image) and is_portable(part):
            content += _text_part(text, waiting)
            content.append(_image_part(part, sheet))
            text, waiting = "", []
        else:
            waiting.append(part)
    return content + _text_part(text, waiting)


def _text_part(text: str, parts: list[Part]) -> list[JSON]:
    words = words_of(text, parts)
    return [{"type": "text", "text": words}] if words else []


def _image_part(image: Image, sheet: _Sheet) -> Fields:
    data = image.data or b""
    path = f"{sheet.stem}-images/{_digest(image)[:16]}.{MEDIA_TYPES[image.media_type or '']}"
    sheet.written.sidecars[path] = data
    return {"type": "image", "source": {"media_type": image.media_type, "path": path}}


def _pictures(parts: list[Part], sheet: _Sheet) -> Fields:
    """The list of pictures for which only a mark stands."""
    left_out = [part for part in parts if isinstance(part, Image) and not (sheet.options.images and is_portable(part))]
    if not left_out:
        return {}
    sheet.written.leave_out("image", len(left_out))
    listed: list[JSON] = [
        _known(
            name=image.name,
            media_type=image.media_type,
            size=image.size,
            sha256=_digest(image) or None,
            reference=image.reference,
            problem=image.problem,
        )
        for image in left_out
    ]
    return {"images": listed}


def _digest(image: Image) -> str:
    return image.sha256 or (sha256(image.data).hexdigest() if image.data else "")


# --- tokens and money


def _metrics(usage: Usage | None, cost: Cost | None) -> Fields:
    metrics = _known(
        prompt_tokens=usage.prompt_tokens if usage else None,
        completion_tokens=usage.output_tokens if usage else None,
        cached_tokens=usage.cached_tokens if usage else None,
        cost_usd=_stated(cost),
    )
    extra = {**_more(usage), **_billing(cost)}
    if extra:
        metrics["extra"] = extra
    return metrics


def _more(usage: Usage | None) -> Fields:
    if usage is None:
        return {}
    return _known(
        cache_creation_input_tokens=usage.cache_write_tokens,
        cache_creation_1h_input_tokens=usage.cache_write_hour_tokens,
        reasoning_tokens=usage.reasoning_tokens,
    )


def _stated(cost: Cost | None) -> float | None:
    """What was paid by the log's own word: a plan's list price and an estimate are not."""
    return None if cost is None or cost.billing == "plan" or cost.estimated_from else cost.usd


def _billing(cost: Cost | None) -> Fields:
    if cost is None:
        return {}
    estimate = cost.usd if cost.estimated_from and cost.billing != "plan" else None
    return _known(billing=cost.billing, estimated_cost_usd=estimate, cost_source=cost.estimated_from)


def _totals(conversation: Conversation, children: list[Fields], steps: int) -> Fields:
    """The document's own tokens; its money with the subagents' (as the schema has it), which adds them only there."""
    usage = conversation.usage
    own = None if conversation.estimated else conversation.usd
    costs = [own, *(_total_cost(child) for child in children)]
    known = [cost for cost in costs if cost is not None]
    totals = _known(
        total_prompt_tokens=usage.prompt_tokens if usage else None,
        total_completion_tokens=usage.output_tokens if usage else None,
        total_cached_tokens=usage.cached_tokens if usage else None,
        total_cost_usd=round(sum(known), 6) if known else None,
        total_steps=steps,
    )
    extra = _more(usage)
    # Of abandoned branches, of turns without an answer, or of a log that counts the whole chat only.
    rest = _metrics(conversation.unplaced, None if conversation.estimated else Cost(conversation.unplaced_usd))
    if rest:
        extra["in_no_step"] = rest
    if own is None and conversation.usd is not None:
        extra["estimated_cost_usd"] = round(conversation.usd, 6)
        extra["cost_source"] = conversation.estimated_from
    if extra:
        totals["extra"] = extra
    return totals


def _total_cost(child: Fields) -> float | None:
    metrics = child["final_metrics"]
    cost = metrics.get("total_cost_usd") if isinstance(metrics, dict) else None
    return cost if isinstance(cost, float | int) else None


def _known(**values: JSON) -> Fields:
    """The fields that are known."""
    return {key: value for key, value in values.items() if value is not None}
