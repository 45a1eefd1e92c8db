"""One thread's lines, one after the other, as events.

`response_item` is the record; an `event_msg` counts only for what the items do not have (Xuanwo/xurl#63).
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Callable
from datetime import tzinfo

from trailbook import json_text
from trailbook.chat import (
    Answered,
    Asked,
    Branch,
    Called,
    Chat,
    Compacted,
    FileChange,
    FilesChanged,
    Image,
    Noted,
    Part,
    Returned,
    Said,
    Text,
    Thought,
    text_of,
)
from trailbook.readers.codex.contents import exit_status_of, images_of, injected_by, output_parts, parts_of
from trailbook.readers.codex.rollouts import RolloutLine
from trailbook.readers.codex.tokens import Counter, Responses, usage_of
from trailbook.readers.images import image_from_base64
from trailbook.readers.lines import Problems
from trailbook.readers.pairing import Pairing
from trailbook.readers.values import Fields, fields, items, json_words, moment, string, truth, whole

EventOfChat = Answered | Asked | Called | Compacted | FilesChanged | Noted | Returned | Said | Thought

_SPEAKERS = {"user_message": "user", "agent_message": "assistant", "UserMessage": "user", "AgentMessage": "assistant"}
_WITHOUT_WORDS = frozenset(
    (
        "ghost_snapshot",  # copies for undo
        "compaction",  # an encrypted blob beside the `compacted` line
        "world_state",
        "security_risk_score",
        "state",
        "image_generation_end",  # repeats the item
        "web_search_end",  # read for its id
        "sub_agent_activity",
        "mcp_tool_call_begin",
        "exec_command_begin",
        "patch_apply_begin",
        "web_search_begin",
    )
)


class Thread:
    """Turns the lines of one rollout into the events of its chat."""

    def __init__(self, chat: Chat, problems: Problems, zone: tzinfo, lines: list[RolloutLine]) -> None:
        self.chat = chat
        self.spawned: dict[str, str] = {}
        """Subagent's id → the call that spawned it."""
        self._problems = problems
        self._zone = zone
        self._pairing = Pairing()
        self._counter = Counter()
        self._responses = Responses(chat)
        self._records_usage = any(line.kind == "token_usage_record" for line in lines)
        self._written = Tally(_speech_of_items(lines))
        self._searches = [
            string(line.payload.get("call_id")) for line in lines if line.payload.get("type") == "web_search_end"
        ]
        self._facts: dict[str, Fields] = {}
        self._calls: dict[str, Called] = {}
        self._results: dict[str, Returned] = {}
        self._line = lines[0]
        self._at: int | None = None
        self._inherited = False
        self._model: str | None = None

    def take(self, line: RolloutLine, *, inherited: bool) -> None:
        """Add what one line says; `inherited` for a line that only replays the parent."""
        self._line, self._inherited = line, inherited
        self._at, naive = moment(line.timestamp, self._zone)
        self.chat.naive_times |= naive
        if self._at is not None and not inherited:
            self.chat.started = min(self.chat.started or self._at, self._at)
            self.chat.ended = max(self.chat.ended or self._at, self._at)
        kind = line.kind
        if kind in ("response_item", "event_msg"):
            kind = string(line.payload.get("type")) or ""
        handler = _HANDLERS.get((line.kind, kind)) or _HANDLERS.get((line.kind, None))
        if handler is not None:
            handler(self, line.payload)
        elif kind not in _WITHOUT_WORDS and line.kind != "session_meta":
            name = json_words(kind)
            self._problems.count("unknown-record", f"Records of the type {name} are not known.", line.place)

    def finish(self) -> None:
        """What is only known at the end: outputs that stand in events alone."""
        for call, facts in self._facts.items():
            if call in self._calls and call not in self._results and "aggregated_output" in facts:
                self._return(call, [Text(string(facts.get("aggregated_output")) or "")], ok=None)
            if call in self._results:
                _add_facts(self._results[call], facts)

    # --- messages

    def _message(self, payload: Fields) -> None:
        role, parts = payload.get("role"), parts_of(payload.get("content"))
        if role == "assistant":
            self._say(parts)
        elif role == "user":
            self._ask(parts)
        else:
            self._note("system", text_of(parts))

    def _ask(self, parts: list[Part]) -> None:
        self._responses.close()
        words = [part for part in parts if isinstance(part, Text)]
        for part in words:
            if word := injected_by(part.text):
                self._add_prompt(part.text, [], word)
        own = [part.text for part in words if injected_by(part.text) is None]
        attached: list[Part] = [part for part in parts if not isinstance(part, Text)]
        if own or attached:
            self._add_prompt("\n".join(own), attached, None)

    def _add_prompt(self, text: str, parts: list[Part], injected: str | None) -> None:
        identity = f"line-{self._line.place.number}" + (f"-{injected}" if injected else "")
        self._add(Asked(id=identity, text=text, parts=parts, injected=injected))

    def _say(self, parts: list[Part]) -> None:
        attached: list[Part] = [part for part in parts if not isinstance(part, Text)]
        self._add(Said(text=text_of(parts), parts=attached, message=self._responses.key()))

    def _think(self, payload: Fields) -> None:
        pieces = [fields(piece).get("text") for piece in items(payload.get("summary")) + items(payload.get("content"))]
        text = "\n\n".join(piece for piece in pieces if isinstance(piece, str))
        encrypted = string(payload.get("encrypted_content"))
        self._add(Thought(text=text, encrypted=encrypted, message=self._responses.key()))

    def _speech_event(self, payload: Fields) -> None:
        """A message that an event repeats; the event counts where no item has the same words."""
        kind = string(payload.get("type")) or ""
        text = string(payload.get("message")) or ""
        self._speak(_SPEAKERS[kind], text, images_of(payload.get("images")))

    def _thought_event(self, payload: Fields) -> None:
        text = string(payload.get("text")) or ""
        if text and not self._is_written("thought", text):
            self._add(Thought(text=text, message=self._responses.key()))

    def _completed_item(self, payload: Fields) -> None:
        item = fields(payload.get("item"))
        kind = string(item.get("type")) or ""
        if kind in _SPEAKERS:
            parts = parts_of(item.get("content"))
            self._speak(_SPEAKERS[kind], text_of(parts), [part for part in parts if not isinstance(part, Text)])
        else:
            name = json_words(kind)
            self._problems.count(
                "unknown-record", f"Items of the type {name} are not known.", self._line.place, lost=True
            )

    def _speak(self, speaker: str, text: str, attached: list[Part]) -> None:
        if self._is_written(speaker, text):
            return
        if speaker == "user":
            self._ask([Text(text), *attached] if text else attached)
        elif text or attached:
            self._say([Text(text), *attached])

    def _is_written(self, speaker: str, text: str) -> bool:
        key = (speaker, text.strip())
        if self._written[key] > 0:
            self._written[key] -= 1
            return True
        return False

    # --- calls and results

    def _function_call(self, payload: Fields) -> None:
        name = (string(payload.get("namespace")) or "") + (string(payload.get("name")) or "unknown")
        arguments, raw = _arguments(payload.get("arguments"))
        self._call(string(payload.get("call_id")), name, arguments, raw)

    def _custom_call(self, payload: Fields) -> None:
        name = string(payload.get("name")) or "unknown"
        self._call(string(payload.get("call_id")), name, {"input": payload.get("input")}, None)

    def _shell_call(self, payload: Fields) -> None:
        identity = string(payload.get("call_id")) or string(payload.get("id"))
        self._call(identity, "local_shell", fields(payload.get("action")), None)

    def _search_call(self, payload: Fields) -> None:
        identity = string(payload.get("id")) or (self._searches.pop(0) if self._searches else None)
        ran = payload.get("status") == "completed" or None
        self._call(identity, "web_search", fields(payload.get("action")), None, ran=ran)

    def _tool_search_call(self, payload: Fields) -> None:
        arguments, raw = _arguments(payload.get("arguments"))
        self._call(string(payload.get("call_id")), "tool_search", arguments, raw)

    def _image_call(self, payload: Fields) -> None:
        prompt: Fields = {"prompt": payload["revised_prompt"]} if string(payload.get("revised_prompt")) else {}
        call = self._call(string(payload.get("id")), "image_generation", prompt, None)
        if string(payload.get("result")):
            picture: Image = image_from_base64(payload.get("result"), "image/png")
            self._return(call, [picture], ok=payload.get("status") == "completed" or None)

    def _call(
        self, logged: str | None, name: str, arguments: Fields, raw: str | None, *, ran: bool | None = None
    ) -> str:
        call = self._pairing.call(logged, f"line-{self._line.place.number}")
        event = Called(id=call, name=name, arguments=arguments, raw=raw, ran=ran, message=self._responses.key())
        self._calls[call] = event
        self._add(event)
        return call

    def _output(self, payload: Fields) -> None:
        output = payload.get("output", payload.get("tools"))
        call = self._pairing.result(string(payload.get("call_id")))
        if call is None:
            self._problems.count("orphan-result", "A result answers no call.", self._line.place)
        parts: list[Part] = output_parts(output) if "output" in payload else [Text(json_words(output))]
        self._return(call, parts, ok=_success_of(payload))

    def _return(self, call: str | None, parts: list[Part], *, ok: bool | None) -> None:
        status = exit_status_of(parts)
        event = Returned(
            call=call,
            parts=parts,
            ok=status == 0 if ok is None and status is not None else ok,
            exit_status=status,
            linked="id" if call else None,
        )
        self._add(event)
        self._responses.close()
        if call is not None:
            self._results[call] = event
            self._note_spawned(call, text_of(parts))

    def _note_spawned(self, call: str, text: str) -> None:
        if self._calls[call].name.endswith("spawn_agent") and text.startswith("{"):
            try:
                answer = fields(json_text.parse(text.encode("utf-8", "replace")))
            except ValueError:
                return
            child = string(answer.get("agent_id")) or string(answer.get("thread_id"))
            if child:
                self.spawned[child] = call

    def _call_facts(self, payload: Fields) -> None:
        """What only an event knows of a call: how long it took, how it ended, what it changed."""
        call = string(payload.get("call_id"))
        if call is None:
            return
        if call not in self._calls:
            self._call(call, *_call_of_event(payload), None)
        self._facts[call] = payload
        changes = fields(payload.get("changes"))
        if changes and payload.get("success") is not False:
            files = [_file_change(path, fields(change)) for path, change in changes.items()]
            self._add(FilesChanged(files=files, call=call))

    # --- turns and tokens

    def _turn_context(self, payload: Fields) -> None:
        self._model = self._responses.model = string(payload.get("model")) or self._model
        if self._model and not self._inherited and self._model not in self.chat.models:
            self.chat.models.append(self._model)

    def _turn_start(self, _payload: Fields) -> None:
        self._responses.close()

    def _turn_end(self, payload: Fields) -> None:
        aborted = payload.get("type") == "turn_aborted"
        self._responses.close()
        self.chat.completed = not aborted
        self._add(
            Answered(
                id=string(payload.get("turn_id")),
                outcome="interrupted" if aborted else "success",
                model=self._model,
                engine=self.chat.providers[0] if self.chat.providers else None,
                duration=whole(payload.get("duration_ms")),
            )
        )

    def _token_count(self, payload: Fields) -> None:
        added = self._counter.added(fields(payload.get("info")))
        if added is not None and not self._records_usage and not self._inherited:
            self._responses.spend(added)

    def _token_record(self, payload: Fields) -> None:
        usage = usage_of(fields(payload.get("usage")))
        if usage is not None and not self._inherited:
            self._responses.spend(usage)

    def _roll_back(self, payload: Fields) -> None:
        """The last turns were taken back: they stay, as an abandoned branch."""
        turns = whole(payload.get("num_turns")) or 0
        prompts = [
            index
            for index, event in enumerate(self.chat.events)
            if isinstance(event, Asked) and event.injected is None and event.branch is None
        ]
        if not turns or not prompts:
            return
        branch = f"rolled-back-{self._line.place.number}"
        self.chat.branches[branch] = Branch(branch, left_at=self._line.place)
        for event in self.chat.events[prompts[-min(turns, len(prompts))] :]:
            event.branch = event.branch or branch

    def _compacted(self, payload: Fields) -> None:
        summary = string(payload.get("message"))
        last = self.chat.events[-1] if self.chat.events else None
        if summary is None and isinstance(last, Compacted):
            return  # the event that repeats the line before it
        self._add(Compacted(summary=summary))

    # --- the rest

    def _notice(self, payload: Fields) -> None:
        topic = string(payload.get("type")) or self._line.kind
        text = string(payload.get("message")) or string(payload.get("text")) or json_words(dict(payload))
        self._note(topic.replace("_", " "), text)

    def _note(self, topic: str, text: str) -> None:
        self._add(Noted(topic=topic, text=text))

    def _add(self, event: EventOfChat) -> None:
        event.at, event.place, event.inherited = self._at, self._line.place, self._inherited
        self.chat.events.append(event)


def _speech_of_items(lines: list[RolloutLine]) -> list[tuple[str, str]]:
    """Who said what in the items, so that the events that repeat it are known."""
    speech: list[tuple[str, str]] = []
    for line in lines:
        if line.kind != "response_item":
            continue
        if line.payload.get("type") == "message":
            texts = [part.text for part in parts_of(line.payload.get("content")) if isinstance(part, Text)]
            own = [text for text in texts if injected_by(text) is None]
            speech.append((str(line.payload.get("role")), "\n".join(own).strip()))
        elif line.payload.get("type") == "reasoning":
            for piece in items(line.payload.get("summary")) + items(line.payload.get("content")):
                speech.append(("thought", (string(fields(piece).get("text")) or "").strip()))
    return speech


def _arguments(value: object) -> tuple[Fields, str | None]:
    """A call's arguments as an object, or the raw text where they are none."""
    if isinstance(value, dict):
        return value, None
    if not isinstance(value, str):
        return {}, None
    try:
        parsed = json_text.parse(value.encode("utf-8", "replace"))
    except ValueError:
        return {}, value
    return (parsed, None) if isinstance(parsed, dict) else ({}, value)


def _call_of_event(payload: Fields) -> tuple[str, Fields]:
    """Name and arguments of a call that stands in no item."""
    invocation = fields(payload.get("invocation"))
    if invocation:
        return f"mcp__{invocation.get('server')}__{invocation.get('tool')}", fields(invocation.get("arguments"))
    if "command" in payload:
        return "exec_command", {"command": payload["command"]}
    return "apply_patch", {"changes": payload.get("changes")}


def _success_of(payload: Fields) -> bool | None:
    success = truth(payload.get("success"))
    output = payload.get("output")
    if isinstance(output, dict):
        success = truth(output.get("success")) if success is None else success
    if isinstance(output, str) and output.startswith(("failed to parse function arguments", "aborted by user")):
        return False
    return success


def _file_change(path: str, change: Fields) -> FileChange:
    kind = {"add": "created", "delete": "deleted"}.get(string(change.get("type")) or "", "changed")
    return FileChange(path, kind, string(change.get("unified_diff")))


def _add_facts(result: Returned, facts: Fields) -> None:
    status, success = facts.get("exit_code"), truth(facts.get("success"))
    if isinstance(status, int) and not isinstance(status, bool):
        result.exit_status, result.ok = status, status == 0
    elif success is not None:
        result.ok = success
    duration = fields(facts.get("duration"))
    seconds, nanoseconds = whole(duration.get("secs")), whole(duration.get("nanos"))
    if seconds is not None:
        result.duration = seconds * 1000 + (nanoseconds or 0) // 1_000_000
    patches = [string(fields(change).get("unified_diff")) for change in fields(facts.get("changes")).values()]
    result.patch = "\n".join(patch.rstrip("\n") for patch in patches if patch) or None


_HANDLERS: dict[tuple[str, str | None], Callable[[Thread, Fields], None]] = {
    ("response_item", "message"): Thread._message,
    ("response_item", "reasoning"): Thread._think,
    ("response_item", "function_call"): Thread._function_call,
    ("response_item", "function_call_output"): Thread._output,
    ("response_item", "custom_tool_call"): Thread._custom_call,
    ("response_item", "custom_tool_call_output"): Thread._output,
    ("response_item", "local_shell_call"): Thread._shell_call,
    ("response_item", "web_search_call"): Thread._search_call,
    ("response_item", "tool_search_call"): Thread._tool_search_call,
    ("response_item", "tool_search_output"): Thread._output,
    ("response_item", "image_generation_call"): Thread._image_call,
    ("response_item", "agent_message"): Thread._notice,
    ("event_msg", "user_message"): Thread._speech_event,
    ("event_msg", "agent_message"): Thread._speech_event,
    ("event_msg", "agent_reasoning"): Thread._thought_event,
    ("event_msg", "agent_reasoning_raw_content"): Thread._thought_event,
    ("event_msg", "item_completed"): Thread._completed_item,
    ("event_msg", "exec_command_end"): Thread._call_facts,
    ("event_msg", "patch_apply_end"): Thread._call_facts,
    ("event_msg", "mcp_tool_call_end"): Thread._call_facts,
    ("event_msg", "token_count"): Thread._token_count,
    ("event_msg", "task_started"): Thread._turn_start,
    ("event_msg", "turn_started"): Thread._turn_start,
    ("event_msg", "task_complete"): Thread._turn_end,
    ("event_msg", "turn_complete"): Thread._turn_end,
    ("event_msg", "turn_aborted"): Thread._turn_end,
    ("event_msg", "thread_rolled_back"): Thread._roll_back,
    ("event_msg", "context_compacted"): Thread._compacted,
    ("event_msg", "entered_review_mode"): Thread._notice,
    ("event_msg", "exited_review_mode"): Thread._notice,
    ("event_msg", "error"): Thread._notice,
    ("event_msg", "warning"): Thread._notice,
    ("event_msg", "stream_error"): Thread._notice,
    ("event_msg", "background_event"): Thread._notice,
    ("turn_context", "turn_context"): Thread._turn_context,
    ("token_usage_record", "token_usage_record"): Thread._token_record,
    ("compacted", "compacted"): Thread._compacted,
    ("inter_agent_communication", "inter_agent_communication"): Thread._notice,
}
