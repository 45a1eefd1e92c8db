"""What is in a rollout, counted from its raw lines on a path of its own."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from trailbook import json_text
from trailbook.chat import JSON, Place, Usage
from trailbook.ledger import (
    Entry,
    Keep,
    Ledger,
    arguments_of,
    bytes_of_data_url,
    entry_of_call,
    entry_of_image,
    entry_of_text,
)
from trailbook.readers import Found, Unreadable
from trailbook.readers.codex.ledger_forks import first_own_line
from trailbook.readers.codex.ledger_items import (
    Raw,
    end_of_call,
    is_context,
    is_picture,
    items_of,
    raw,
    text,
    text_of_content,
    thought_pieces,
    well,
)
from trailbook.readers.codex.rollouts import RolloutLine, lines_of
from trailbook.readers.lines import Problems

_NAMES = {
    "local_shell_call": "local_shell",
    "web_search_call": "web_search",
    "tool_search_call": "tool_search",
    "image_generation_call": "image_generation",
}
_CALLS = ("function_call", "custom_tool_call", *_NAMES)
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "tool_search_output")
_TOKENS = {
    "input_tokens": "prompt_tokens",
    "output_tokens": "output_tokens",
    "cached_input_tokens": "cached_tokens",
    "cache_write_input_tokens": "cache_write_tokens",
    "reasoning_output_tokens": "reasoning_tokens",
}
_STATED = re.compile(r"(?:^|\n)(?:Process exited with code|Exit code:) (-?\d+)(?:\n|$)")
_HEADS = (
    "Chunk ID: ",
    "Command: ",
    "Wall time: ",
    "Process exited ",
    "Exit code: ",
    "Total output lines: ",
)
_STOPPED = re.compile(r"(Wall time: \S+ seconds\n)?aborted( by user[^\n]*)?\s*", re.IGNORECASE)
_NOT_RUN = (
    *("exec command rejected by user", "patch rejected by user", "rejected by user"),
    *("user rejected MCP tool call", "user cancelled MCP tool call"),
)
_NOT_ALLOWED = ("patch rejected: ", "This action was rejected due to unacceptable risk", "approval policy is ")
_FAILURES = (
    *("failed to parse function arguments", "apply_patch verification failed", "unsupported call: "),
    *("unsupported custom tool call: ", "exec_command failed for ", "write_stdin failed: "),
    "unable to locate image at ",
)


def count(found: Found, keep: Keep) -> Ledger:
    """The ledger of a thread, those of the threads it spawned below it. Raises Unreadable, OSError."""
    main = _count_file(found.path, keep)
    counted = {main.ledger.chat: main}
    for path in found.inputs[1:]:
        try:
            counting = _count_file(path, keep)
        except (OSError, Unreadable):
            continue
        parent = counted.get(counting.parent, main)
        if counted.setdefault(counting.ledger.chat, counting) is counting:
            counting.ledger.started_by = next(
                (parent.spawned[key] for key in counting.keys if key in parent.spawned), None
            )
            parent.ledger.subagents.append(counting.ledger)
    return main.ledger


def _count_file(path: Path, keep: Keep) -> _Counting:
    lines = list(lines_of(path, Problems()))
    meta = next((line.payload for line in lines if line.kind == "session_meta"), {})
    named = re.search(r"-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl", path.name)
    identity = text(meta.get("id")) or (named.group(1) if named else path.name.partition(".")[0])
    spawn = raw(raw(raw(meta.get("source")).get("subagent")).get("thread_spawn"))
    path_of_agent = text(spawn.get("agent_path")) or ""
    counting = _Counting(
        Ledger(chat=identity),
        keep,
        parent=text(spawn.get("parent_thread_id")) or text(meta.get("parent_thread_id")),
        keys=(identity, path_of_agent, path_of_agent.rpartition("/")[2]),
    )
    _see_ends(lines, counting)
    start = first_own_line(lines)
    recorded = _recorded_turns(lines)
    for number, (line, items) in enumerate(zip(lines, items_of(lines), strict=True)):
        counting.own = number >= start
        for item in items:
            counting.take(line.place, item)
        counting.take_rest(line, recorded=number in recorded)
    return counting


def _see_ends(lines: list[RolloutLine], counting: _Counting) -> None:
    for line in lines:
        end = end_of_call(line)
        call = text(end.get("call_id")) if end else None
        if end and call:
            counting.ends[call].append(well(end))
        elif line.payload.get("type") in ("collab_agent_spawn_end", "sub_agent_activity"):
            call = text(line.payload.get("call_id")) or text(line.payload.get("event_id"))
            for key in ("new_thread_id", "agent_thread_id", "agent_path"):
                if call and (agent := text(line.payload.get(key))):
                    counting.spawned.setdefault(agent, call)


@dataclass(slots=True)
class _Counting:
    """One thread's ledger while its lines are counted."""

    ledger: Ledger
    keep: Keep
    parent: str | None = None
    keys: tuple[str, ...] = ()
    """By which the call that spawned it may name it."""
    own: bool = True
    calls: dict[str, int] = field(default_factory=dict)
    waiting: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    names: dict[str, str] = field(default_factory=dict)
    ends: defaultdict[str, list[tuple[bool | None, bool]]] = field(default_factory=lambda: defaultdict(list))
    """How the calls of an id went, by the events at their ends, in order."""
    spawned: dict[str, str] = field(default_factory=dict)
    turns: list[int] = field(default_factory=list)
    total: dict[str, int] = field(default_factory=dict)
    responses: set[str] = field(default_factory=set)

    def take(self, place: Place, item: Raw) -> None:
        kind = item.get("type")
        if kind == "message":
            self._message(place, item)
        elif kind == "reasoning":
            pieces = [raw(piece).get("text") for piece in thought_pieces(item)]
            self._words("thought", place, "\n\n".join(piece for piece in pieces if isinstance(piece, str)))
        elif kind == "agent_message":
            texts = text_of_content(item.get("content")) or [text(item.get("message")) or ""]
            self._words("prompt", place, "\n".join(texts), injected=True)
        elif kind in _CALLS:
            self._call(place, item, str(kind))
        elif kind in _OUTPUTS:
            self._output(place, item)

    def take_rest(self, line: RolloutLine, *, recorded: bool) -> None:
        payload, kind = line.payload, line.payload.get("type")
        if line.kind == "compacted":
            self._words("prompt", line.place, text(payload.get("message")) or "", injected=True)
        elif line.kind == "token_usage_record":
            self._record(payload)
        elif line.kind == "event_msg" and kind == "token_count":
            self._count(raw(payload.get("info")), recorded=recorded)
        elif line.kind == "event_msg" and kind == "thread_rolled_back":
            self._roll_back(payload.get("num_turns"))

    def _add(self, entry: Entry) -> None:
        (self.ledger.entries if self.own else self.ledger.aside).append(entry)

    # --- words

    def _message(self, place: Place, item: Raw) -> None:
        role, content = item.get("role"), item.get("content")
        texts = text_of_content(content)
        if role not in ("user", "assistant"):
            self._words("prompt", place, "\n".join(texts), injected=True)
            return
        kind = "prompt" if role == "user" else "answer"
        own = [words for words in texts if kind == "answer" or not is_context(words)]
        for words in texts:
            if kind == "prompt" and is_context(words):
                self._words(kind, place, words, injected=True)
        pictures = _pictures(content)
        if kind == "prompt" and (own or pictures):
            self.turns.append(len(self.ledger.entries))
        self._words(kind, place, "\n".join(own), images=len(pictures))
        for picture in pictures:
            self._add(entry_of_image(place, None, bytes_of_data_url(picture)))

    def _words(self, kind: str, place: Place, words: str, *, images: int = 0, injected: bool = False) -> None:
        if words.strip() or (images and kind == "prompt"):
            entry = entry_of_text(kind, place, words, self.keep)
            entry.images, entry.injected = images, injected
            self._add(entry)

    # --- calls

    def _call(self, place: Place, item: Raw, kind: str) -> None:
        own_id = None if kind in ("function_call", "custom_tool_call", "tool_search_call") else text(item.get("id"))
        first, second = text(item.get("call_id")), own_id
        if kind in ("web_search_call", "image_generation_call"):
            first, second = own_id, first if kind == "image_generation_call" else None
        logged = first or second
        call = self._fresh(logged or f"line-{place.number}")
        name = _NAMES.get(kind) or _name(item)
        arguments = _arguments(item, kind)
        self.names[call] = name
        self._add(entry_of_call(place, call, name, arguments, self.keep))
        if name.endswith("spawn_agent") and (task := text(raw(arguments).get("task_name"))):
            self.spawned.setdefault(task, call)
        if kind == "image_generation_call" and text(item.get("result")):
            ok = True if item.get("status") == "completed" else None
            self._result(place, call, "", [f"data:image/png;base64,{item['result']}"], (ok, False))

    def _fresh(self, base: str) -> str:
        times = self.calls[base] = self.calls.get(base, 0) + 1
        call = base if times == 1 else f"{base}__{times}"
        self.waiting[base].append(call)
        return call

    def _output(self, place: Place, item: Raw) -> None:
        logged = text(item.get("call_id"))
        waiting = self.waiting[logged] if logged else []
        call = waiting.pop(0) if waiting else None
        output = item.get("output") if "output" in item else json_text.dump(item.get("tools")).decode()
        failed = isinstance(output, dict) and output.get("success") is False
        if isinstance(output, dict):
            content = output.get("content")
            output = content if isinstance(content, str) else json_text.dump(output).decode()
        elif not isinstance(output, str | list | None):
            output = json_text.dump(output).decode()
        texts = text_of_content(output)
        ok, not_run = (False, False) if failed else _stated(texts[0] if texts else "")
        if isinstance(went := item.get("went"), list):  # the result is the event's
            ok, not_run = went[0] is True if went[0] is not None else None, went[1] is True
        elif call and logged and self.ends[logged]:
            known, declined = self.ends[logged].pop(0)
            ok, not_run = ok if known is None else known, not_run or declined
        words = "\n".join(texts)
        self._result(place, call, words, _pictures(output), (ok, not_run))
        if call and self.names[call].endswith("spawn_agent"):
            self._see_spawned(call, words)

    def _result(
        self, place: Place, call: str | None, words: str, pictures: list[JSON], went: tuple[bool | None, bool]
    ) -> None:
        entry = entry_of_text("result", place, words, self.keep)
        entry.id, entry.images = call, len(pictures)
        entry.ok, entry.not_run = went
        self._add(entry)
        for picture in pictures:
            self._add(entry_of_image(place, call, bytes_of_data_url(picture)))

    def _see_spawned(self, call: str, words: str) -> None:
        answer = arguments_of(words)
        for key in ("agent_id", "thread_id", "task_name"):
            if agent := text(raw(answer).get(key)):
                self.spawned.setdefault(agent, call)

    def _roll_back(self, turns: JSON) -> None:
        if isinstance(turns, int) and not isinstance(turns, bool) and turns > 0 and self.turns:
            left = self.turns[-min(turns, len(self.turns)) :]
            start = left[0]
            self.ledger.aside.extend(self.ledger.entries[start:])
            del self.ledger.entries[start:]
            del self.turns[-len(left) :]

    # --- tokens

    def _count(self, info: Raw, *, recorded: bool) -> None:
        """The running total grows; what a fork replays is where the own count starts; a drop starts anew."""
        total = _numbers(raw(info.get("total_token_usage")))
        if not total:
            self._spend(_numbers(raw(info.get("last_token_usage"))), recorded)
            return
        lower = any(total.get(name, 0) < self.total.get(name, 0) for name in ("input_tokens", "output_tokens"))
        before = {} if lower else self.total
        self.total = total
        added = {name: max(0, value - before.get(name, 0)) for name, value in total.items()}
        self._spend(added if any(added.values()) else {}, recorded)

    def _record(self, payload: Raw) -> None:
        response, thread = text(payload.get("response_id")), text(payload.get("thread_id"))
        if thread in (None, self.ledger.chat) and response not in self.responses:
            self._spend(_numbers(raw(payload.get("usage"))), False)
            if response and self.own and _numbers(raw(payload.get("usage"))):
                self.responses.add(response)

    def _spend(self, numbers: dict[str, int], elsewhere: bool) -> None:
        if numbers and self.own and not elsewhere:
            usage = self.ledger.usage = self.ledger.usage or Usage()
            for name, value in numbers.items():
                ours = _TOKENS[name]
                setattr(usage, ours, (getattr(usage, ours) or 0) + value)


def _name(item: Raw) -> str:
    name, space = text(item.get("name")) or "unknown", text(item.get("namespace")) or ""
    return space + ("." if space and space[-1].isalnum() else "") + name


def _arguments(item: Raw, kind: str) -> JSON:
    if kind == "custom_tool_call":
        return {"input": item.get("input")}
    if kind in ("local_shell_call", "web_search_call"):
        return raw(item.get("action"))
    if kind == "image_generation_call":
        revised = text(item.get("revised_prompt"))
        return {"prompt": revised} if revised else {}
    return arguments_of(item.get("arguments"))


def _pictures(content: JSON) -> list[JSON]:
    blocks = [content] if isinstance(content, dict) else content if isinstance(content, list) else []
    return [raw(block).get("image_url") for block in blocks if is_picture(block)]


def _stated(words: str) -> tuple[bool | None, bool]:
    """What an output says of how its call went, and whether it says that the call was never run."""
    if words.startswith("{"):
        value = raw(arguments_of(words))
        status = raw(value.get("metadata")).get("exit_code") if "output" in value else None
        return (status == 0, False) if isinstance(status, int) and not isinstance(status, bool) else (None, False)
    if len(words) <= 400 and (
        _STOPPED.fullmatch(words) or words.strip() in _NOT_RUN or words.strip().startswith(_NOT_ALLOWED)
    ):
        return False, True
    if words.startswith(_FAILURES):
        return False, False
    if not words.startswith(_HEADS):
        return None, False
    match = _STATED.search("\n".join(words.partition("\nOutput:")[0].split("\n", 8)[:8]))
    return (match.group(1) == "0", False) if match else (None, False)


def _numbers(values: Raw) -> dict[str, int]:
    return {
        name: value
        for name in _TOKENS
        if isinstance(value := values.get(name), int) and not isinstance(value, bool) and value >= 0
    }


def _recorded_turns(lines: list[RolloutLine]) -> set[int]:
    """The numbers of the lines of turns whose tokens are recorded response by response."""
    found: set[int] = set()
    turn: list[int] = []
    for number, line in enumerate([*lines, None]):
        if line is None or line.payload.get("type") in ("task_started", "turn_started"):
            if any(lines[one].kind == "token_usage_record" for one in turn):
                found.update(turn)
            turn = []
        turn.append(number)
    return found
