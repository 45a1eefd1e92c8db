"""Which events only say again what an item says: `response_item` is the record (format sheet D, Xuanwo/xurl#63).

An event repeats an item of the same turn that says the same, and each item is repeated once: a person who asks the
same thing twice asked twice (gbasin/agentboard#149).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from trailbook.chat import Image, Text
from trailbook.readers.codex.contents import injected_by, own_words, parts_of
from trailbook.readers.codex.rollouts import RolloutLine
from trailbook.readers.values import fields, items, string

Said = tuple[str, str]
"""Who, and what, without white space."""

SPEAKERS = {"user_message": "user", "agent_message": "assistant"}
THOUGHTS = ("agent_reasoning", "agent_reasoning_raw_content")
TURN_STARTS = ("task_started", "turn_started")

_HIDDEN = ("oai-mem-citation", "proposed_plan")
"""What the model writes for the harness; the event of its answer has it not."""


@dataclass(slots=True)
class Repeats:
    """What of a rollout is said twice, by the numbers of its lines."""

    lines: set[int] = field(default_factory=set)
    """Events that say nothing of their own."""
    searches: dict[int, str] = field(default_factory=dict)
    """Web searches without an id of their own, with the id that their event has."""
    ended: set[str] = field(default_factory=set)
    """Ids of the searches and pictures whose event was seen."""
    tokens: set[int] = field(default_factory=set)
    """Counters of turns whose tokens are recorded response by response."""


def find_repeats(lines: list[RolloutLine]) -> Repeats:
    """What of a rollout's lines is said twice."""
    found = Repeats()
    for turn in _turns(lines):
        _compare_speech(lines, turn, found)
        _compare_searches(lines, turn, found)
        if any(lines[number].kind == "token_usage_record" for number in turn):
            found.tokens |= {number for number in turn if lines[number].is_event("token_count")}
    return found


def words_of_event(line: RolloutLine) -> str:
    """What an event of a message or a thought says."""
    if "content" in line.payload:
        return "\n".join(part.text for part in parts_of(line.payload["content"]) if isinstance(part, Text))
    return string(line.payload.get("message")) or string(line.payload.get("text")) or ""


def command_of(line: RolloutLine) -> str:
    """The command of an event, as a person types it."""
    command = line.payload.get("command")
    return (string(items(command)[-1]) or "" if items(command) else string(command) or "").strip()


def _turns(lines: list[RolloutLine]) -> Iterator[range]:
    start = 0
    for number, line in enumerate(lines):
        if line.is_event(*TURN_STARTS):
            yield range(start, number)
            start = number
    yield range(start, len(lines))


def _compare_speech(lines: list[RolloutLine], turn: range, found: Repeats) -> None:
    written = Counter(said for number in turn for said in _said_by_item(lines[number]))
    for number in turn:
        said = _said_by_event(lines[number])
        if said is not None and written[said] > 0:
            written[said] -= 1
            found.lines.add(number)


def _said_by_item(line: RolloutLine) -> Iterator[Said]:
    payload = line.payload
    if line.kind == "inter_agent_communication":
        yield "agent", _bare(string(payload.get("content")) or "")
    if line.kind != "response_item":
        return
    if line.type == "reasoning":
        for piece in items(payload.get("summary")) + items(payload.get("content")):
            yield "thought", _bare(string(fields(piece).get("text")) or "")
    elif line.type == "message":
        parts = parts_of(payload.get("content"))
        own, speaker = own_words(parts), string(payload.get("role")) or ""
        if own or any(isinstance(part, Image) for part in parts):
            yield speaker, _bare(own)
        for part in parts:
            if isinstance(part, Text) and (word := injected_by(part.text)):
                command = part.text.partition("<command>")[2].partition("</command>")[0]
                yield ("shell", _bare(command)) if word == "command" else (speaker, _bare(part.text))


def _said_by_event(line: RolloutLine) -> Said | None:
    if line.is_event(*SPEAKERS):
        return SPEAKERS[line.type], _bare(words_of_event(line))
    if line.is_event(*THOUGHTS):
        return "thought", _bare(words_of_event(line))
    if line.is_event("exec_command_end") and line.payload.get("source") == "user_shell":
        return "shell", _bare(command_of(line))
    if line.kind == "response_item" and line.type == "agent_message":
        return "agent", _bare(words_of_event(line))
    return None


def _bare(text: str) -> str:
    for tag in _HIDDEN:
        first, *others = text.split(f"<{tag}>")
        text = first + "".join(other.partition(f"</{tag}>")[2] for other in others)
    return "".join(text.split())


def _compare_searches(lines: list[RolloutLine], turn: range, found: Repeats) -> None:
    ends: dict[str, int] = {}
    for number in turn:
        if lines[number].is_event("web_search_end", "image_generation_end"):
            identity = string(lines[number].payload.get("call_id")) or f"line {number}"
            if identity in found.ended:
                found.lines.add(number)
            else:
                ends[identity] = number
                found.ended.add(identity)
    nameless: list[int] = []
    for number in turn:
        line = lines[number]
        if line.kind == "response_item" and line.type in ("web_search_call", "image_generation_call"):
            identities = [string(line.payload.get("id")), string(line.payload.get("call_id"))]
            known = next((identity for identity in identities if identity in ends), None)
            if known is not None:
                found.lines.add(ends.pop(known))
            elif identities[0] is None and line.type == "web_search_call":
                nameless.append(number)
    searches = [(identity, end) for identity, end in ends.items() if lines[end].type == "web_search_end"]
    for number, (identity, end) in zip(nameless, searches, strict=False):
        found.lines.add(end)
        if identity != f"line {end}":
            found.searches[number] = identity
