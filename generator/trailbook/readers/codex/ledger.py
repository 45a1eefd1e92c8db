"""What is in a rollout, counted from its raw lines on a path of its own."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from trailbook import json_text
from trailbook.chat import JSON, Place, Usage
from trailbook.ledger import Entry, Keep, Ledger, bytes_of_data_url, entry_of_call, entry_of_image, entry_of_text
from trailbook.readers import Found
from trailbook.readers.codex.rollouts import RolloutLine, lines_of
from trailbook.readers.lines import Problems

_CALLS = {
    "function_call": None,
    "custom_tool_call": None,
    "local_shell_call": "local_shell",
    "web_search_call": "web_search",
    "tool_search_call": "tool_search",
    "image_generation_call": "image_generation",
}
_OUTPUTS = frozenset(("function_call_output", "custom_tool_call_output", "tool_search_output"))
_CONTEXT = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<permissions instructions>",
    "<turn_context>",
    "<turn_aborted>",
    "<skill>",
    "<user_shell_command>",
)


def count(found: Found, keep: Keep) -> Ledger:
    """The ledger of a thread, those of the threads it spawned beside it. Raises Unreadable, OSError."""
    ledgers = {ledger.chat: (ledger, parent) for ledger, parent in (_count_file(path, keep) for path in found.inputs)}
    for ledger, parent in ledgers.values():
        if parent in ledgers and ledger.chat != found.id:
            ledgers[parent][0].subagents.append(ledger)
    return ledgers[found.id][0] if found.id in ledgers else next(iter(ledgers.values()))[0]


def _count_file(path: Path, keep: Keep) -> tuple[Ledger, str | None]:
    lines = list(lines_of(path, Problems()))
    metas = [line.payload for line in lines if line.kind == "session_meta"]
    identity = _text(metas[0].get("id")) if metas else None
    ledger = Ledger(chat=identity or path.name.rsplit(".jsonl", 1)[0])
    start = _first_own_line(lines) if len(metas) > 1 or (metas and metas[0].get("forked_from_id")) else 0
    counter = _Counter(ledger, keep, _spoken_in_items(lines))
    for index, line in enumerate(lines):
        counter.take(line, own=index >= start)
    return ledger, _parent(metas[0]) if metas else None


@dataclass(slots=True)
class _Counter:
    ledger: Ledger
    keep: Keep
    spoken: Counter[tuple[str, str]]
    calls: list[str] = field(default_factory=list)
    waiting: dict[str, list[str]] = field(default_factory=dict)
    total: dict[str, int] = field(default_factory=dict)
    turns: list[int] = field(default_factory=list)
    own: bool = True

    def take(self, line: RolloutLine, *, own: bool) -> None:
        self.own = own
        kind = line.payload.get("type")
        if line.kind == "response_item":
            self._item(line, kind)
        elif line.kind == "event_msg" and kind == "token_count":
            self._tokens(line.payload.get("info"))
        elif line.kind == "event_msg" and kind == "thread_rolled_back":
            self._roll_back(line.payload.get("num_turns"))
        elif line.kind == "event_msg":
            self._spoken_event(line, kind)

    def _add(self, entry: Entry) -> None:
        (self.ledger.entries if self.own else self.ledger.aside).append(entry)

    def _item(self, line: RolloutLine, kind: JSON) -> None:
        payload = line.payload
        if kind == "message" and payload.get("role") in ("user", "assistant"):
            self._message(line.place, "prompt" if payload.get("role") == "user" else "answer", payload.get("content"))
        elif kind == "reasoning":
            pieces = [_text(_dict(piece).get("text")) for piece in _pieces(payload)]
            self._words("thought", line.place, "\n\n".join(piece for piece in pieces if piece))
        elif kind in _CALLS:
            self._call(line, str(kind))
        elif kind in _OUTPUTS:
            self._output(line)

    def _message(self, place: Place, kind: str, content: JSON) -> None:
        blocks = [content] if isinstance(content, str) else content if isinstance(content, list) else []
        own: list[str] = []
        for block in blocks:
            text = block if isinstance(block, str) else _dict(block).get("text")
            if not isinstance(text, str):
                continue
            if kind == "prompt" and text.lstrip().startswith(_CONTEXT):
                self._words(kind, place, text, injected=True)
            else:
                own.append(text)
        pictures = [_dict(block).get("image_url") for block in blocks if _dict(block).get("type") == "input_image"]
        self._speech(kind, place, "\n".join(own), pictures)

    def _speech(self, kind: str, place: Place, text: str, pictures: list[JSON]) -> None:
        if kind == "prompt" and (text or pictures):
            self.turns.append(len(self.ledger.entries))
        self._words(kind, place, text, images=len(pictures))
        for picture in pictures:
            self._add(entry_of_image(place, None, bytes_of_data_url(picture)))

    def _words(self, kind: str, place: Place, text: str, *, images: int = 0, injected: bool = False) -> None:
        if text.strip() or images:
            entry = entry_of_text(kind, place, text, self.keep)
            entry.images, entry.injected = images, injected
            self._add(entry)

    def _call(self, line: RolloutLine, kind: str) -> None:
        payload = line.payload
        logged = _text(payload.get("call_id")) or (_text(payload.get("id")) if kind != "function_call" else None)
        name = _CALLS[kind] or (_text(payload.get("namespace")) or "") + (_text(payload.get("name")) or "unknown")
        arguments: JSON = payload.get("arguments")
        if kind == "custom_tool_call":
            arguments = {"input": payload.get("input")}
        elif kind in ("local_shell_call", "web_search_call"):
            arguments = _dict(payload.get("action"))
        elif kind == "image_generation_call":
            revised = _text(payload.get("revised_prompt"))
            arguments = {"prompt": revised} if revised else {}
        if isinstance(arguments, str):
            arguments = _object_in(arguments)
        base = logged or f"line-{line.place.number}"
        self.calls.append(base)
        times = self.calls.count(base)
        call = base if times == 1 else f"{base}__{times}"
        self.waiting.setdefault(base, []).append(call)
        self._add(entry_of_call(line.place, call, name, {} if arguments is None else arguments, self.keep))
        if kind == "image_generation_call" and _text(payload.get("result")):
            self._result(line.place, call, "", [f"data:image/png;base64,{payload['result']}"])

    def _output(self, line: RolloutLine) -> None:
        waiting = self.waiting.get(_text(line.payload.get("call_id")) or "")
        call = waiting.pop(0) if waiting else None
        output = line.payload.get("output")
        if "output" not in line.payload:
            output = json_text.dump(line.payload.get("tools")).decode()
        elif isinstance(output, dict):
            content = output.get("content")
            output = content if isinstance(content, str) else json_text.dump(output).decode()
        blocks: list[JSON] = output if isinstance(output, list) else [output]
        texts = [block if isinstance(block, str) else _dict(block).get("text") for block in blocks]
        pictures = [_dict(block).get("image_url") for block in blocks if _dict(block).get("type") == "input_image"]
        self._result(line.place, call, "\n".join(text for text in texts if isinstance(text, str)), pictures)

    def _result(self, place: Place, call: str | None, text: str, pictures: list[JSON]) -> None:
        entry = entry_of_text("result", place, text, self.keep)
        entry.id, entry.images = call, len(pictures)
        self._add(entry)
        for picture in pictures:
            self._add(entry_of_image(place, call, bytes_of_data_url(picture)))

    def _spoken_event(self, line: RolloutLine, kind: JSON) -> None:
        item = _dict(line.payload.get("item"))
        if kind == "item_completed":
            kind = {"UserMessage": "user_message", "AgentMessage": "agent_message"}.get(str(item.get("type")))
            content = item.get("content")
            texts = [_text(_dict(block).get("text")) for block in content] if isinstance(content, list) else []
            text = "\n".join(text for text in texts if text)
        else:
            text = _text(line.payload.get("message")) or _text(line.payload.get("text")) or ""
        speaker = {"user_message": "prompt", "agent_message": "answer", "agent_reasoning": "thought"}.get(str(kind))
        if speaker is None:
            return
        if self.spoken[speaker, text.strip()] > 0:
            self.spoken[speaker, text.strip()] -= 1
        elif speaker == "thought":
            self._words(speaker, line.place, text)
        else:
            images = line.payload.get("images")
            self._speech(speaker, line.place, text, images if isinstance(images, list) else [])

    def _roll_back(self, turns: JSON) -> None:
        if isinstance(turns, int) and turns > 0 and self.turns:
            start = self.turns[-min(turns, len(self.turns))]
            self.ledger.aside.extend(self.ledger.entries[start:])
            del self.ledger.entries[start:]
            self.turns = [turn for turn in self.turns if turn < start]

    def _tokens(self, info: JSON) -> None:
        """The running total grows; what a fork replays is where the own count starts; a drop starts anew."""
        total = {
            name: value
            for name, value in _dict(_dict(info).get("total_token_usage")).items()
            if isinstance(value, int) and not isinstance(value, bool)
        }
        if not total:
            return
        before = {} if any(value < self.total.get(name, 0) for name, value in total.items()) else self.total
        self.total = total
        if not self.own:
            return
        usage = self.ledger.usage = self.ledger.usage or Usage()
        for name, ours in _TOKENS.items():
            if name in total:
                setattr(usage, ours, (getattr(usage, ours) or 0) + total[name] - before.get(name, 0))


_TOKENS = {
    "input_tokens": "prompt_tokens",
    "output_tokens": "output_tokens",
    "cached_input_tokens": "cached_tokens",
    "cache_write_input_tokens": "cache_write_tokens",
    "reasoning_output_tokens": "reasoning_tokens",
}


def _first_own_line(lines: list[RolloutLine]) -> int:
    """The first turn that starts with another stamp than the replay's, or in it with nothing said after it."""
    metas = [index for index, line in enumerate(lines) if line.kind == "session_meta"]
    start = metas[1] if len(metas) > 1 else metas[0]
    moment = (lines[start].timestamp or "")[:19]
    replay = start
    while replay + 1 < len(lines) and (lines[replay + 1].timestamp or "")[:19] == moment:
        replay += 1
    spoken = [index for index in range(start, replay + 1) if _speaks(lines[index])]
    turns = [index for index, line in enumerate(lines) if line.payload.get("type") in ("task_started", "turn_started")]
    if not spoken:
        return 0
    return next((turn for turn in turns if turn > spoken[-1]), replay + 1)


def _speaks(line: RolloutLine) -> bool:
    return line.kind == "response_item" or line.payload.get("type") in (
        "user_message",
        "agent_message",
        "task_complete",
    )


def _spoken_in_items(lines: list[RolloutLine]) -> Counter[tuple[str, str]]:
    spoken: Counter[tuple[str, str]] = Counter()
    for line in lines:
        payload = line.payload
        if line.kind != "response_item":
            continue
        if payload.get("type") == "reasoning":
            spoken.update(("thought", (_text(_dict(piece).get("text")) or "").strip()) for piece in _pieces(payload))
        elif payload.get("type") == "message":
            content = payload.get("content")
            blocks = [content] if isinstance(content, str) else content if isinstance(content, list) else []
            texts = [block if isinstance(block, str) else _text(_dict(block).get("text")) for block in blocks]
            own = [text for text in texts if text and not text.lstrip().startswith(_CONTEXT)]
            spoken["prompt" if payload.get("role") == "user" else "answer", "\n".join(own).strip()] += 1
    return spoken


def _parent(meta: dict[str, JSON]) -> str | None:
    spawn = _dict(_dict(_dict(meta.get("source")).get("subagent")).get("thread_spawn"))
    return _text(spawn.get("parent_thread_id")) or _text(meta.get("parent_thread_id"))


def _pieces(payload: dict[str, JSON]) -> list[JSON]:
    summary, content = payload.get("summary"), payload.get("content")
    return (summary if isinstance(summary, list) else []) + (content if isinstance(content, list) else [])


def _object_in(text: str) -> JSON:
    try:
        value = json_text.parse(text.encode("utf-8", "replace"))
    except ValueError:
        return text
    return value if isinstance(value, dict) else text


def _dict(value: JSON) -> dict[str, JSON]:
    return value if isinstance(value, dict) else {}


def _text(value: JSON) -> str | None:
    return value if isinstance(value, str) and value else None
