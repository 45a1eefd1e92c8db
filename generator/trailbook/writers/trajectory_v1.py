"""trajectory-v1: one JSON array of records a chat, in letta-ai/trajectory's strict form (its schema, §3).

The closed schema has no place for tokens, money, the models of single messages, or pictures that a person sent: those
stand in a file beside it, `….meta.json`. A tool's pictures stand in its result as `data:` addresses where asked for.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import PurePosixPath

from trailbook import json_text
from trailbook.chat import JSON, Chat, Image, Part, Usage
from trailbook.messages import (
    AnyMessage,
    AssistantMessage,
    Call,
    Conversation,
    Result,
    UnlinkedResult,
    UserMessage,
)
from trailbook.writers.written import (
    Options,
    Written,
    conversations_of,
    is_portable,
    left_out_pictures,
    moment,
    words_of,
)

Fields = dict[str, JSON]

_NO_TIME = "1970-01-01T00:00:00.000Z"


def write_trajectory_v1(chats: Iterable[Chat], options: Options) -> Written:
    """Write chats, already redacted, one array a line.

    Beside it lies its name with `.meta.json` for its ending: one object a line, for the chat on the same line.
    """
    written = Written(b"")
    lines: list[bytes] = []
    about: list[bytes] = []
    for chat in chats:
        for _, conversation in conversations_of(chat, options, written):
            written.leave_out("subagent", len(chat.subagents))
            records = _Records(chat, conversation, options.images, written)
            if records.add_all():
                lines.append(json_text.dump(list[JSON](records.all)) + b"\n")
                about.append(json_text.dump(_about(chat, conversation, records)) + b"\n")
    written.data = b"".join(lines)
    if about:
        written.sidecars[f"{PurePosixPath(options.name).stem}.meta.json"] = b"".join(about)
    return written


@dataclass(slots=True)
class _Records:
    """The records of one chat while they are made, and what has no place in them."""

    chat: Chat
    conversation: Conversation
    images: bool
    written: Written
    all: list[Fields] = field(default_factory=list)
    messages: list[JSON] = field(default_factory=list)
    pictures: list[JSON] = field(default_factory=list)
    untimed: list[JSON] = field(default_factory=list)
    """Numbers of the records whose time the log does not have; they bear the time before them."""
    time: str = _NO_TIME

    def add_all(self) -> bool:
        """Make every record; False when the chat has nothing for one."""
        messages = self.conversation.messages
        self.time = next((time for message in messages if (time := moment(_at(message)))), _NO_TIME)
        self.all.append(_meta(self.chat))
        if self.chat.system_prompt:
            self._add("system", self.chat.system_prompt, self.chat.started)
        person = any(isinstance(message, UserMessage) and message.injected is None for message in messages)
        for message in messages:
            if isinstance(message, AssistantMessage):
                self._add_reply(message)
            elif isinstance(message, UnlinkedResult):
                self._add("observation", self._words("", message.result.parts), message.result.at)
            else:
                asked = isinstance(message, UserMessage) and (message.injected is None or not person)
                text = self._words(message.text, message.parts)
                if text or asked:
                    self._add("user" if asked else "observation", text, message.at)
        return len(self.all) > 1

    def _add(self, role: str, content: str | None, at: int | None, **more: JSON) -> None:
        time = moment(at)
        if time is None:
            self.untimed.append(len(self.all) + 1)
        self.time = time or self.time
        self.all.append({"role": role, **more, "content": content, "timestamp": self.time})

    def _add_reply(self, message: AssistantMessage) -> None:
        first = len(self.all) + 1
        if message.thinking.strip():
            self._add("reasoning", message.thinking, message.at)
        words = self._words(message.text, message.parts)
        if words.strip():
            self._add("assistant", words, message.at)
        for call in message.calls:
            arguments = json_text.dump(call.arguments).decode("utf-8")
            made: Fields = {"id": call.id, "name": call.name, "args": arguments}
            self._add("assistant", None, call.at or message.at, tool_calls=[made])
        for call in message.calls:
            self._add_result(call)
        self._describe(message, first)

    def _add_result(self, call: Call) -> None:
        result = call.result
        more: Fields = {"tool_call_id": call.id}
        if result.ok is not None:
            more["ok"] = result.ok
        content = self._result_words(result)
        self._add("tool", content, result.at or call.at, **more)

    def _result_words(self, result: Result) -> str:
        if not self.images or not any(map(is_portable, result.parts)):
            return self._words("", result.parts)
        pieces: list[str] = []
        for part in result.parts:
            if isinstance(part, Image) and is_portable(part):
                self._list(part)
                data = base64.b64encode(part.data or b"").decode("ascii")
                pieces.append(f"data:{part.media_type};base64,{data}")
            else:
                pieces.append(self._words("", [part]))
        return "\n".join(pieces)

    def _words(self, text: str, parts: list[Part]) -> str:
        self.written.leave_out("image", left_out_pictures(parts, images=False))
        for part in parts:
            if isinstance(part, Image):
                self._list(part)
        return words_of(text, parts)

    def _list(self, image: Image) -> None:
        digest = image.sha256 or (sha256(image.data).hexdigest() if image.data else None)
        told = _known(
            name=image.name,
            media_type=image.media_type,
            size=image.size,
            sha256=digest,
            reference=image.reference,
            problem=image.problem,
        )
        self.pictures.append({"record": len(self.all) + 1, **told})

    def _describe(self, message: AssistantMessage, first: int) -> None:
        cost = message.cost
        if message.copied or not (message.id or message.model or message.usage or cost or message.outcome):
            return
        self.messages.append(
            _known(
                first_record=first,
                records=len(self.all) + 1 - first,
                id=message.id,
                model=message.model,
                stop_reason=message.stop_reason,
                usage=_usage(message.usage),
                cost_usd=cost.usd if cost and cost.billing != "plan" and not cost.estimated_from else None,
                billing=cost.billing if cost else None,
                estimated_cost_usd=cost.usd if cost and cost.estimated_from else None,
                cost_source=cost.estimated_from if cost else None,
                outcome=message.outcome,
                problem=message.problem,
            )
        )


def _at(message: AnyMessage) -> int | None:
    return message.result.at if isinstance(message, UnlinkedResult) else message.at


def _meta(chat: Chat) -> Fields:
    source = "-".join((chat.agent.product or chat.source).lower().split())
    model = chat.models[-1] if chat.models else None
    return {
        "role": "meta",
        "source": source or chat.source,
        **_known(cwd=chat.cwd, git_branch=chat.git_branch, model=model),
    }


def _about(chat: Chat, conversation: Conversation, records: _Records) -> Fields:
    return _known(
        chat=chat.id,
        title=chat.title,
        agent=_known(name=chat.agent.name or None, version=chat.agent.version),
        usage=_usage(conversation.usage),
        usage_in_no_message=_usage(conversation.unplaced),
        cost_usd=None if conversation.estimated else conversation.usd,
        cost_usd_in_no_message=None if conversation.estimated else conversation.unplaced_usd,
        estimated_cost_usd=conversation.usd if conversation.estimated else None,
        cost_source=conversation.estimated_from,
        messages=records.messages or None,
        images=records.pictures or None,
        records_without_time=records.untimed or None,
        subagents=[subagent.id for subagent in chat.subagents] or None,
    )


def _usage(usage: Usage | None) -> JSON:
    if usage is None:
        return None
    return _known(
        prompt_tokens=usage.prompt_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cached_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        cache_write_hour_tokens=usage.cache_write_hour_tokens,
        reasoning_tokens=usage.reasoning_tokens,
    )


def _known(**values: JSON) -> Fields:
    """The fields that are known."""
    return {key: value for key, value in values.items() if value is not None}
