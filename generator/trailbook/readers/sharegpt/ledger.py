"""What is in one ShareGPT conversation, counted straight from its turns, in any of three dialects.

Hermes writes calls and results as tagged JSON inside the words; LLaMA-Factory as turns of their own (`function_call`,
`observation`); the plain dialect has neither. None of them has the id of a call beside the call: a call and its result
are paired by their order, and the id that Hermes writes beside the result is then the call's too.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field

from trailbook import json_text
from trailbook.chat import JSON, Place
from trailbook.ledger import Entry, Keep, Ledger, arguments_of, digest_of_arguments, entry_of_call, entry_of_written
from trailbook.readers import Found
from trailbook.readers.lines import Problems
from trailbook.readers.pieces import again, parse, place_of
from trailbook.stand_ins import is_no_result, take_prompts

_PROMPT = ("human", "user")
_REPLY = ("gpt", "assistant", "bing", "chatgpt", "bard", "model")
_RESULT = ("tool", "observation", "tool_response", "function_response")
_CALL = ("function_call", "tool_call")


def count(found: Found, keep: Keep) -> Ledger:
    """The conversation's ledger. Raises Unreadable, OSError."""
    piece = again(found, arrays=True)
    value = parse(found.path, piece, Problems())
    turns = value.get("conversations") if isinstance(value, dict) else None
    counter = _Counter(keep)
    for number, turn in enumerate(turns if isinstance(turns, list) else [], 1):
        if isinstance(turn, dict):
            counter.turn(turn, place_of(found.path, piece, number))
    return counter.ledger


@dataclass(slots=True)
class _Counter:
    keep: Keep
    ledger: Ledger = field(default_factory=Ledger)
    waiting: deque[Entry] = field(default_factory=deque)
    """Calls that have no result yet, in order."""
    ids: set[str] = field(default_factory=set)
    """The ids that results gave to calls."""

    def turn(self, turn: dict[str, JSON], place: Place) -> None:
        role = turn.get("from", turn.get("role"))
        value = turn.get("value", turn.get("content"))
        text = value if isinstance(value, str) else _text(value)
        if role in _RESULT:
            self._results(text, place)
        elif role in _PROMPT:
            self.waiting.clear()
            self._say("prompt", text, place)
        elif role in _CALL or role in _REPLY:
            self.waiting.clear()
            self._reply(text, place, called=role in _CALL)
        elif text.strip():
            self._say("system", text, place)

    def _say(self, kind: str, text: str, place: Place) -> Entry:
        entry, pictures = entry_of_written(kind, place, text, self.keep)
        self.ledger.left_out("image", pictures)
        self.ledger.entries.append(entry)
        return entry

    def _reply(self, text: str, place: Place, *, called: bool) -> None:
        calls, rest = _turn_of_calls(text) if called else ([], text)
        thought, words = _thought_and_words(rest)
        if not calls:
            words, calls = _words_and_blocks(words, "tool_call")
        for kind, said in (("thought", thought), ("answer", words)):
            if said.strip():
                self._say(kind, said, place)
        for order, call in enumerate(calls, 1):
            entry = entry_of_call(
                place,
                f"turn-{place.number}-{order}",
                str(call.get("name")),
                arguments_of(call.get("arguments")),
                self.keep,
            )
            self.ledger.entries.append(entry)
            self.waiting.append(entry)

    def _results(self, text: str, place: Place) -> None:
        words, blocks = _words_and_blocks(text, "tool_response")
        if not blocks:
            results: list[JSON] = [words]
            parsed = _parsed(words) if len(self.waiting) > 1 else None
            if isinstance(parsed, list) and len(parsed) == len(self.waiting):
                results = parsed
            blocks = [{"content": result} for result in results]
        for block in blocks:
            call = self.waiting.popleft() if self.waiting else None
            logged = block.get("tool_call_id")
            if call is not None and isinstance(logged, str) and logged and logged not in self.ids:
                call.id = logged
                self.ids.add(logged)
            self._result(block.get("content"), place, call.id if call is not None else None)

    def _result(self, content: JSON, place: Place, call: str | None) -> None:
        text = content if isinstance(content, str) else _text(content) if _is_parts(content) else None
        if text is None:
            entry = entry_of_call(place, None, "", content, self.keep)
            digest = digest_of_arguments(content)
            self.ledger.entries.append(Entry("result", place, digest, id=call, text=entry.text, size=entry.size))
            return
        result, prompts = take_prompts(text)
        if not is_no_result(result):
            self._say("result", result, place).id = call
        for prompt, person in prompts:
            self._say("prompt" if person else "system", prompt, place)


def _thought_and_words(text: str) -> tuple[str, str]:
    body = text.lstrip()
    if not body.startswith("<think>"):
        return "", text
    thought, closed, words = body.removeprefix("<think>").partition("</think>")
    return (thought, words) if closed else ("", text)


def _words_and_blocks(text: str, tag: str) -> tuple[str, list[dict[str, JSON]]]:
    """The words, and the JSON blocks that stand after them, each between two lines that hold nothing but its tag."""
    lines = text.rstrip().split("\n")
    blocks: deque[dict[str, JSON]] = deque()
    while len(lines) >= 3 and lines[-1] == f"</{tag}>" and lines[-3] == f"<{tag}>":
        block = _parsed(lines[-2])
        if not isinstance(block, dict):
            break
        blocks.appendleft(block)
        del lines[-3:]
    if blocks or f"<{tag}>" not in text:
        return "\n".join(lines), list(blocks)
    return _loosely(text, tag)


def _loosely(text: str, tag: str) -> tuple[str, list[dict[str, JSON]]]:
    """The same for other writers, whose blocks stand anywhere and over several lines."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    words, blocks, after = [], [], 0
    while (start := text.find(opening, after)) >= 0 and (end := text.find(closing, start)) >= 0:
        block = _parsed(text[start + len(opening) : end])
        if not isinstance(block, dict):
            return text, []
        blocks.append(block)
        words.append(text[after:start])
        after = end + len(closing)
    return "".join([*words, text[after:]]), blocks


_TAGGED = re.compile("<tool_call>(.*?)</tool_call>\n?", re.DOTALL)
_THINKING = re.compile(r"\s*<think>.*?</think>", re.DOTALL)


def _turn_of_calls(text: str) -> tuple[list[dict[str, JSON]], str]:
    """The calls of a `function_call` turn, and what else is in it; none where it holds no call.

    LLaMA-Factory reads the first tagged block, else all that follows the thinking; several calls are a list.
    """
    tagged = _TAGGED.search(text)
    thinking = None if tagged else _THINKING.match(text)
    start = thinking.end() if thinking else 0
    value = _parsed(tagged.group(1) if tagged else text[start:])
    calls = value if isinstance(value, list) else [value]
    found = [call for call in calls if isinstance(call, dict) and "name" in call]
    if not found or len(found) < len(calls):
        return [], text
    return found, text[: tagged.start()] + text[tagged.end() :] if tagged else text[:start]


def _parsed(text: str) -> JSON:
    try:
        return json_text.parse(text.strip().encode("utf-8", "replace"))
    except ValueError:
        return None


def _is_parts(content: JSON) -> bool:
    return (
        isinstance(content, list)
        and bool(content)
        and all(isinstance(part, dict) and part.get("type") == "text" for part in content)
    )


def _text(content: JSON) -> str:
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))
