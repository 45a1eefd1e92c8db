"""A session's entries, one after the other, as events."""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo

from trailbook import json_text
from trailbook.chat import (
    JSON,
    Answered,
    Asked,
    Called,
    Chat,
    Compacted,
    Message,
    Noted,
    Part,
    Place,
    Returned,
    Said,
    Text,
    Thought,
    text_of,
)
from trailbook.readers.lines import Problems, Record
from trailbook.readers.openclaw.contents import cost_of, exit_status_of, parts_of, patch_of, ran_by_person, usage_of
from trailbook.readers.pairing import Pairing
from trailbook.readers.values import (
    Fields,
    blocks,
    fields,
    items,
    json_words,
    moment,
    moment_of_milliseconds,
    string,
    truth,
    whole,
)

Event = Answered | Asked | Called | Compacted | Noted | Returned | Said | Thought

_ENDS = {"stop": "success", "error": "error", "aborted": "interrupted"}
_CALLS = frozenset(("toolcall", "tooluse", "functioncall"))
_FRAME = frozenset(("type", "id", "parentId", "timestamp"))


class Transcript:
    """Turns the entries of one session into the events of its chat."""

    def __init__(self, chat: Chat, problems: Problems, zone: tzinfo) -> None:
        self.chat = chat
        self.spawned: dict[str, str] = {}
        """What names a subagent's session (its key, its file's name) → the call that spawned it."""
        self._problems = problems
        self._zone = zone
        self._pairing = Pairing()
        self._calls: dict[str, Called] = {}
        self._results: dict[str, Returned] = {}
        self._facts: list[Fields] = []
        self._said: set[str] = set()
        """What the model said since the person last asked."""
        self._place: Place | None = None
        self._key = ""
        self._at: int | None = None
        self._branch: str | None = None
        self._inherited = False

    def take(self, entry: Record, branch: str | None, *, inherited: bool) -> None:
        """Add what one entry says."""
        value = fields(entry.value)
        self._place, self._branch, self._inherited = entry.place, branch, inherited
        self._key = self._fresh_key(string(value.get("id")) or f"entry-{entry.place.number}")
        self._at = self._time_of(value)
        if self._at is not None and not inherited:
            self.chat.started = min(self.chat.started or self._at, self._at)
            self.chat.ended = max(self.chat.ended or self._at, self._at)
        kind = string(value.get("type")) or ""
        handler = _ENTRIES.get(kind)
        if handler is not None:
            handler(self, value)
        else:
            text = f"Entries of the type {json_words(kind)} are not known; they are notes here."
            self._problems.count("unknown-record", text, entry.place)
            self._note(kind or "entry", json_words({key: each for key, each in value.items() if key not in _FRAME}))

    def finish(self) -> None:
        """What is only known at the end: facts that stand in entries of their own."""
        for facts in self._facts:
            result = self._results.get((string(facts.get("toolCallId")) or "").partition("|")[0])
            if result is not None:
                result.duration = whole(facts.get("durationMs")) if result.duration is None else result.duration
                status = exit_status_of(facts, "")
                result.exit_status = status if result.exit_status is None else result.exit_status

    def _fresh_key(self, base: str) -> str:
        key, times = base, 1
        while key in self.chat.messages:
            times += 1
            key = f"{base}__{times}"
        return key

    def _time_of(self, value: Fields) -> int | None:
        at, naive = moment(value.get("timestamp"), self._zone)
        self.chat.naive_times |= naive
        at = moment_of_milliseconds(fields(value.get("message")).get("timestamp")) if at is None else at
        if at is None and value.get("timestamp") is not None:
            text = "An entry's time could not be read; it has none."
            self._problems.count("bad-time", text, self._place, lost=True)
        return at

    # --- messages

    def _message(self, value: Fields) -> None:
        message = fields(value.get("message"))
        role = string(message.get("role")) or ""
        handler = _ROLES.get(role)
        if handler is not None:
            handler(self, message)
            return
        text = f"Messages of the role {json_words(role)} are not known; they are notes here."
        self._problems.count("unknown-record", text, self._place)
        self._note(role or "message", text_of(parts_of(message.get("content"))) or json_words(dict(message)))

    def _user(self, message: Fields) -> None:
        injected = "reminder" if message.get("synthetic") is True else None
        if injected is None:
            self._said.clear()
        self._ask(parts_of(message.get("content")), injected)

    def _ask(self, parts: list[Part], injected: str | None, by: str | None = None) -> None:
        attached: list[Part] = [part for part in parts if not isinstance(part, Text)]
        self._add(Asked(id=self._key, text=text_of(parts), parts=attached, injected=injected, by=by))

    def _system(self, message: Fields) -> None:
        parts = parts_of(message.get("content"))
        attached: list[Part] = [part for part in parts if not isinstance(part, Text)]
        self._add(Noted(topic="system", text=text_of(parts), parts=attached))

    def _assistant(self, message: Fields) -> None:
        if message.get("provider") == "openclaw" and message.get("model") == "delivery-mirror":
            self._mirror(message)
            return
        self._count(message)
        before = len(self.chat.events)
        for index, block in enumerate(blocks(message.get("content"))):
            self._block(block, index)
        stop = string(message.get("stopReason")) or ""
        problem = string(message.get("errorMessage"))
        if stop in _ENDS:
            if self._branch is None:
                self.chat.completed = stop == "stop"
            self._add(Answered(id=self._key, outcome=_ENDS[stop], problem=problem, message=self._key))
        elif len(self.chat.events) == before:
            self._add(Noted(topic="notice", text="An answer without content.", detail=problem, message=self._key))

    def _block(self, block: JSON, index: int) -> None:
        values, piece = fields(block), f"{self._key}:{index}"
        kind = (string(values.get("type")) or "").lower()
        if kind == "thinking":
            signature = string(values.get("thinkingSignature"))
            hidden = values.get("redacted") is True
            thought = Thought(text=string(values.get("thinking")) or "", id=piece, message=self._key)
            thought.signature, thought.encrypted = (None, signature) if hidden else (signature, None)
            self._add(thought)
        elif kind == "redactedthinking":
            self._add(Thought(text="", id=piece, encrypted=string(values.get("data")), message=self._key))
        elif kind in _CALLS:
            self._call(values, index)
        elif isinstance(block, str) or kind == "image" or isinstance(values.get("text"), str):
            self._say(parts_of([block]), piece)
        else:
            text = f"Blocks of the type {json_words(kind)} are not known; they are notes here."
            self._problems.count("unknown-record", text, self._place)
            self._add(Noted(topic=kind or "block", text=json_words(block), message=self._key))

    def _say(self, parts: list[Part], piece: str) -> None:
        text = text_of(parts)
        attached: list[Part] = [part for part in parts if not isinstance(part, Text)]
        self._said.add(text.strip())
        if text or attached:
            self._add(Said(text=text, id=piece, parts=attached, message=self._key))

    def _mirror(self, message: Fields) -> None:
        """What was sent out; it repeats what the model said, unless something else than the model sent it."""
        text = text_of(parts_of(message.get("content")))
        if text.strip() in self._said:
            self._note("delivery", "Delivered what was said")
            return
        self.chat.messages[self._key] = Message()
        self._add(Said(text=text, id=self._key, message=self._key))

    def _count(self, message: Fields) -> None:
        model, provider = string(message.get("model")), string(message.get("provider"))
        usage = fields(message.get("usage"))
        self.chat.messages[self._key] = Message(
            model=model,
            provider=provider,
            usage=usage_of(usage),
            cost=cost_of(usage),
            stop_reason=string(message.get("stopReason")),
            extra={key: message[key] for key in ("api", "responseModel", "responseId") if string(message.get(key))},
        )
        if model and not self._inherited and model not in self.chat.models:
            self.chat.models.append(model)
        if provider and not self._inherited and provider not in self.chat.providers:
            self.chat.providers.append(provider)

    # --- calls and results

    def _call(self, values: Fields, index: int) -> None:
        logged = (string(values.get("id")) or "").partition("|")[0]
        call = self._pairing.call(logged or None, f"{self._key}:{index}")
        given = next((values[key] for key in ("arguments", "input", "parameters") if key in values), None)
        arguments = fields(given)
        raw = None if isinstance(given, dict | None) else given if isinstance(given, str) else json_words(given)
        name = string(values.get("name")) or "unknown"
        event = Called(id=call, name=name, arguments=arguments, raw=raw, message=self._key)
        self._calls[call] = event
        self._add(event)
        for task in items(arguments.get("tasks")):
            if child := string(fields(task).get("id")):
                self.spawned.setdefault(child, call)

    def _result(self, message: Fields) -> None:
        # `call_x|fc_y` and `call_x` name one call (openclaw/openclaw#24649).
        call = self._pairing.result((string(message.get("toolCallId")) or "").partition("|")[0] or None)
        if call is None:
            self._problems.count("orphan-result", "A result answers no call.", self._place)
        parts = parts_of(message.get("content"))
        details = fields(message.get("details"))
        failed = truth(message.get("isError"))
        text = text_of(parts)
        event = Returned(
            call=call,
            parts=parts,
            ok=None if failed is None else not failed,
            duration=whole(details.get("durationMs")),
            linked="id" if call else None,
            exit_status=exit_status_of(details, text),
            patch=patch_of(details),
        )
        self._add(event)
        if call is not None:
            self._results[call] = event
            self._note_spawned(call, details, text)

    def _note_spawned(self, call: str, details: Fields, text: str) -> None:
        for told in (details, _object_in(text)):
            if child := string(told.get("childSessionKey")):
                self.spawned.setdefault(child, call)
        for result in items(details.get("results")):
            if child := string(fields(result).get("id")):
                self.spawned.setdefault(child, call)

    def _execution(self, message: Fields) -> None:
        """A command that the person ran; the model is told, unless the person kept it from it (`!!ls`)."""
        if message.get("excludeFromContext") is True:
            command = string(message.get("command")) or string(message.get("code")) or ""
            self._add(Noted(topic="command", text=f"!!{command}", detail=string(message.get("output"))))
            return
        self._ask([Text(ran_by_person(message)), *parts_of(message.get("images"))], "command")

    def _extension(self, message: Fields) -> None:
        self._ask(parts_of(message.get("content")), "extension", string(message.get("customType")))

    def _mention(self, message: Fields) -> None:
        """Files that the person named with `@`, as the model is given them."""
        parts: list[Part] = []
        for file in map(fields, items(message.get("files"))):
            content = string(file.get("content"))
            inner = f"\n{content}\n" if content else "\n"
            parts.append(Text(f'<file path="{string(file.get("path")) or ""}">{inner}</file>'))
            parts += parts_of(file.get("image"))
        self._ask(parts, "file")

    # --- other entries

    def _custom(self, value: Fields) -> None:
        if value.get("customType") == "tool_execution" and string(value.get("toolCallId")):
            self._facts.append(value)
            return
        rest = {key: each for key, each in value.items() if key not in _FRAME and key != "customType"}
        detail = json_words(rest) if rest else None
        self._add(Noted(topic="extension", text=string(value.get("customType")) or "extension", detail=detail))

    def _compaction(self, value: Fields) -> None:
        self._add(
            Compacted(
                summary=string(value.get("summary")),
                tokens_before=whole(value.get("tokensBefore")),
                tokens_after=whole(value.get("tokensAfter")),
            )
        )

    def _reset(self, _value: Fields) -> None:
        self._add(Compacted(trigger="reset"))

    def _branch_summary(self, value: Fields) -> None:
        self._add(Asked(id=self._key, text=string(value.get("summary")) or "", injected="branch summary"))

    def _model_change(self, value: Fields) -> None:
        model = string(value.get("modelId")) or string(value.get("model")) or "unknown"
        provider = string(value.get("provider"))
        self._note("model", f"Model: {provider}/{model}" if provider else f"Model: {model}")

    def _thinking_level(self, value: Fields) -> None:
        self._note("thinking level", f"Thinking: {string(value.get('thinkingLevel')) or 'off'}")

    def _label(self, value: Fields) -> None:
        label = string(value.get("label"))
        self._note("label", f"Label: {label}" if label else "Label taken off")

    def _mode(self, value: Fields) -> None:
        rest = {key: each for key, each in value.items() if key not in _FRAME}
        topic = str(value.get("type")).removesuffix("_change").replace("_", " ")
        self._note(topic, f"{topic.capitalize()}: {string(value.get('mode')) or json_words(rest)}")

    def _init(self, value: Fields) -> None:
        self.chat.system_prompt = string(value.get("systemPrompt")) or self.chat.system_prompt
        self.chat.agent.version = string(value.get("cliVersion")) or self.chat.agent.version

    def _side_use(self, value: Fields) -> None:
        """A use of a model beside the chat (for a title, say), which was paid for all the same."""
        self._count(value)
        purpose = string(value.get("purpose")) or "A use of the model beside the chat"
        self._add(Noted(topic="model use", text=purpose, message=self._key))

    def _note(self, topic: str, text: str) -> None:
        self._add(Noted(topic=topic, text=text))

    def _add(self, event: Event) -> None:
        event.at, event.place = self._at, self._place
        event.branch, event.inherited = self._branch, self._inherited
        self.chat.events.append(event)


def _object_in(text: str) -> Fields:
    """The object that a result's text spells, or an empty one."""
    if not text.startswith("{"):
        return {}
    try:
        return fields(json_text.parse(text.encode("utf-8", "replace")))
    except ValueError:
        return {}


_Handler = Callable[[Transcript, Fields], None]

_ENTRIES: dict[str, _Handler] = {
    "message": Transcript._message,
    "compaction": Transcript._compaction,
    "reset": Transcript._reset,
    "reset_boundary": Transcript._reset,
    "branch_summary": Transcript._branch_summary,
    "custom": Transcript._custom,
    "custom_message": Transcript._extension,
    "model_change": Transcript._model_change,
    "thinking_level_change": Transcript._thinking_level,
    "label": Transcript._label,
    "mode_change": Transcript._mode,
    "service_tier_change": Transcript._mode,
    "ttsr_injection": Transcript._mode,
    "session_init": Transcript._init,
    "model_usage": Transcript._side_use,
    "credential_pin": lambda _transcript, _value: None,  # which account is billed
    "session_info": lambda _transcript, _value: None,  # the title
    "title": lambda _transcript, _value: None,
    "title_change": lambda _transcript, _value: None,
}
_ROLES: dict[str, _Handler] = {
    "user": Transcript._user,
    "assistant": Transcript._assistant,
    "toolResult": Transcript._result,
    "bashExecution": Transcript._execution,
    "pythonExecution": Transcript._execution,
    "custom": Transcript._extension,
    "hookMessage": Transcript._extension,
    "fileMention": Transcript._mention,
    "developer": Transcript._system,
    "system": Transcript._system,
    "branchSummary": Transcript._branch_summary,
    "compactionSummary": Transcript._compaction,
}
