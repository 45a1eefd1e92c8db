"""What is in a chat, counted from its sessions' raw messages; nothing here is shared with what makes events of them.

Which sessions are one chat is taken from the lineage; which messages a compression kept, which were taken back, and
which a branch copied is found here again, in ways of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

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
from trailbook.readers.hermes.lineage import Family
from trailbook.readers.hermes.store import Row, Store, opened
from trailbook.readers.lines import Problems

Raw = dict[str, JSON]

_SUMMARY = re.compile(r"\s*\[CONTEXT (?:COMPACTION|SUMMARY)")
_MERGED = re.compile(r"\[PRIOR CONTEXT [^\]]*\](.*?)\[END OF PRIOR CONTEXT [^\]]*\](.*)", re.DOTALL)
_THOUGHT = re.compile(r"\s*<(think|REASONING_SCRATCHPAD)>(.*?)</\1>", re.DOTALL)
_NOTE = re.compile(r"\[(?:System(?: note)?:|IMPORTANT:|Note:|Background process|Cron delivery:)")
_REPORT = re.compile(r"\[(?:ASYNC DELEGATION|Continuing toward)")
_SKILL = re.compile(r'\[IMPORTANT: The user has invoked the "')
_TOKENS = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens")


def count(found: Found, keep: Keep) -> Ledger:
    """The ledger of a chat, those of its subagents beside it. Raises Unreadable, OSError."""
    store = opened(found.path)
    family = store.families.get(found.id)
    if family is None:
        raise Unreadable(f"{found.path.name} holds no chat {found.id} that can be read.")
    return _count(store, family, keep)


def _count(store: Store, family: Family, keep: Keep) -> Ledger:
    read = [store.read(session, Problems()) for session in family.segments]
    counter = _Counter(Ledger(chat=family.id), keep)
    counter.described = any(isinstance(about.get("system_prompt"), str) and about["system_prompt"] for about, _ in read)
    counter.ledger.usage = _usage([about for about, _ in read])
    rows = [row for _, messages in read for row in messages]
    inherited = _copied_from_parent(store, family, read[0][0], read[0][1])
    kept = _kept(rows)
    for number, row in enumerate(rows):
        counter.to = counter.ledger.aside if _is_undone(row) or number < inherited else counter.ledger.entries
        counter.message(row, number in kept)
        counter.described = True
    counter.ledger.subagents = [_count(store, child, keep) for child in family.subagents]
    return counter.ledger


@dataclass(slots=True)
class _Counter:
    ledger: Ledger
    keep: Keep
    described: bool = False
    """Whether a system message can be no system prompt: the log has one, or it is not the first message."""
    to: list[Entry] = field(default_factory=list)
    times: dict[str, int] = field(default_factory=dict)
    """How often a call's id came."""
    open: dict[str, list[str]] = field(default_factory=dict)
    """The calls without a result, by the id that the log has for them."""
    recent: list[tuple[str, str, str, bool]] = field(default_factory=list)
    """The calls of the last reply: ours, the log's id, the tool, whether the log has an id."""

    def message(self, row: Row, kept: bool) -> None:
        role, values = row.values.get("role"), row.values
        text, pictures, files = _content(values.get("content"))
        summary = None
        if role in ("user", "assistant"):
            text, summary = _parted(text)
        if not kept and (summary is None or text):
            if role == "user":
                self._prompt(row, text, pictures, files)
            elif role == "assistant":
                self._reply(row, text, pictures, files)
            elif role == "tool":
                self._result(row, text, pictures)
            elif role == "system":
                self._system(row.place, text)
        if summary is not None and (text or not kept):
            self._inject(row.place, summary)

    def _system(self, place: Place, text: str) -> None:
        if self.described:
            self._inject(place, text)
        else:
            self._say("system", place, text)

    def _inject(self, place: Place, text: str) -> None:
        entry = self._say("prompt", place, text)
        if entry is not None:
            entry.injected = True

    def _say(self, kind: str, place: Place, text: str, pictures: int = 0, files: int = 0) -> Entry | None:
        if not text.strip() and not pictures and not files:
            return None
        entry = entry_of_text(kind, place, text, self.keep)
        entry.images = pictures
        self.to.append(entry)
        return entry

    def _picture(self, place: Place, pictures: list[JSON], call: str | None) -> None:
        for picture in pictures:
            self.to.append(entry_of_image(place, call, _bytes(picture)))

    def _prompt(self, row: Row, text: str, pictures: list[JSON], files: int) -> None:
        entry = self._say("prompt", row.place, text, len(pictures), files)
        if entry is not None:
            entry.injected = row.values.get("observed") in (1, True) or _is_note(text)
        self._picture(row.place, pictures, None)
        sent = row.values.get("api_content")
        if isinstance(sent, str) and sent.strip() and sent.strip() != text.strip():
            self._inject(row.place, sent.replace(text, "", 1) if text.strip() else sent)

    def _reply(self, row: Row, text: str, pictures: list[JSON], files: int) -> None:
        first = len(self.to)
        inline, words = _inline_thought(text)
        thought = _thought(row.values) or inline
        self._say("thought", row.place, thought)
        if inline.strip() != thought.strip():
            self._say("thought", row.place, inline)
        if not words.strip():
            items = [_dict(item) for item in _list(_json(row.values.get("codex_message_items")))]
            words = "\n".join(said for item in items if (said := _content(item.get("content"))[0]))
        self._say("answer", row.place, words, len(pictures), files)
        self._picture(row.place, pictures, None)
        self._calls(row)
        for entry in self.to[first:]:
            entry.message = f"{row.place.file} {row.place.number}"

    def _calls(self, row: Row) -> None:
        self.recent = []
        key = f"row-{row.place.number}" if row.place.unit == "row" else f"{row.place.file}-{row.place.number}"
        calls = [call for call in _list(_json(row.values.get("tool_calls"))) if isinstance(call, dict) and call]
        for order, call in enumerate(calls, 1):
            function = _dict(call.get("function")) or call
            logged = _id(call.get("id")) or _id(call.get("call_id"))
            base = logged or f"{key}-{order}"
            self.times[base] = self.times.get(base, 0) + 1
            ours = base if self.times[base] == 1 else f"{base}__{self.times[base]}"
            name = function.get("name")
            tool = name if isinstance(name, str) and name else "unknown_tool"
            arguments = arguments_of(function.get("arguments"))
            self.to.append(entry_of_call(row.place, ours, tool, arguments, self.keep))
            self.open.setdefault(base, []).append(ours)
            self.recent.append((ours, base, tool, logged is not None))

    def _result(self, row: Row, text: str, pictures: list[JSON]) -> None:
        call = self._answered(row)
        entry = entry_of_text("result", row.place, text, self.keep)
        entry.id, entry.images = call, len(pictures)
        entry.ok, entry.not_run = _outcome(row.values, text)
        self.to.append(entry)
        self._picture(row.place, pictures, call)

    def _answered(self, row: Row) -> str | None:
        logged, tool = _id(row.values.get("tool_call_id")), row.values.get("tool_name")
        if logged and self.open.get(logged):
            call = self.open[logged].pop(0)
            self.recent = [other for other in self.recent if other[0] != call]
            return call
        for other in self.recent:
            ours, base, name, named = other
            if (logged is None or not named) and (not isinstance(tool, str) or not tool or tool == name):
                self.recent.remove(other)
                waiting = self.open[base]
                return waiting.pop(0) if waiting else ours
        return None


# --- the tokens


def _usage(abouts: list[Raw]) -> Usage | None:
    usage: Usage | None = None
    for about in abouts:
        numbers = {name: _number(about.get(name)) for name in _TOKENS}
        if not any(numbers.values()):
            continue
        usage = usage or Usage()
        fresh, read, written, output, reasoning = (numbers[name] for name in _TOKENS)
        if fresh is not None:
            usage.prompt_tokens = (usage.prompt_tokens or 0) + fresh + (read or 0) + (written or 0)
        for name, value in (
            ("cached_tokens", read),
            ("cache_write_tokens", written),
            ("output_tokens", output),
            ("reasoning_tokens", reasoning),
        ):
            if value is not None:
                setattr(usage, name, (getattr(usage, name) or 0) + value)
    return usage


def _number(value: JSON) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


# --- what stands twice


def _is_undone(row: Row) -> bool:
    return row.values.get("active") in (0, False) and row.values.get("compacted") not in (1, True)


def _kept(rows: list[Row]) -> set[int]:
    """The numbers of messages that stand before already, because a compression kept them.

    They stand around a summary, or at the beginning of what goes on: as in what was compressed, the first ones first.
    """
    numbers = [number for number, row in enumerate(rows) if not _is_undone(row)]
    marks = [_mark(rows[number]) for number in numbers]
    beginnings = _beginnings([rows[number] for number in numbers], marks)
    kept: set[int] = set()
    for order, start in enumerate(beginnings[1:], 1):
        end = beginnings[order + 1] if order + 1 < len(beginnings) else len(numbers)
        old, new = marks[beginnings[order - 1] : start], marks[start:end]
        head = 0
        while head < min(len(old), len(new)) and old[head] == new[head]:
            head += 1
        kept.update(range(start, start + head))
        for at in range(head, len(new)):
            prior, summary = _parted(_content(rows[numbers[start + at]].values.get("content"))[0])
            if summary is None or (new[at] in old and not prior):
                continue
            rest = new[at if prior else at + 1 :]
            sizes = range(min(len(old), len(rest), 1_000), 0, -1)
            size = next((size for size in sizes if old[len(old) - size :] == rest[:size]), 0)
            first = start + at + (0 if prior else 1)
            kept.update(range(first, first + size))
            break
    return {numbers[at] for at in kept}


def _beginnings(rows: list[Row], marks: list[str]) -> list[int]:
    found = [0]
    archived = [row.values.get("compacted") in (1, True) for row in rows]
    told = [_parted(_content(row.values.get("content"))[0])[1] is not None for row in rows]
    seen: dict[tuple[str, JSON], int] = {}
    for at, row in enumerate(rows):
        if at and (row.place.file != rows[at - 1].place.file or (archived[at - 1] and not archived[at])):
            found.append(at)
        elif told[at] and archived[at] and at and (any(told[found[-1] : at]) or found == [0]):
            start = at
            while start - 1 > found[-1] and _is_stored_with(rows, marks, start - 1, at, found[-1], seen):
                start -= 1
            if start > found[-1]:
                found.append(start)
        seen.setdefault((marks[at], _second(row)), at)
    return found


def _is_stored_with(
    rows: list[Row], marks: list[str], at: int, summary: int, floor: int, seen: dict[tuple[str, JSON], int]
) -> bool:
    one, other = rows[at].values.get("timestamp"), rows[summary].values.get("timestamp")
    if isinstance(one, int | float) and isinstance(other, int | float) and abs(one - other) < 1:
        return True
    return floor <= seen.get((marks[at], _second(rows[at])), at) < at


def _second(row: Row) -> JSON:
    value = row.values.get("timestamp")
    return round(value * 1000) if isinstance(value, int | float) and abs(value) < 1e11 else None


def _mark(row: Row) -> str:
    """What a message is known again by: the call that it answers, the calls that it makes, else its words."""
    values = row.values
    role, answers = str(values.get("role")), _id(values.get("tool_call_id"))
    if role == "tool" and answers:
        return f"tool {answers}"
    calls = [_dict(call) for call in _list(_json(values.get("tool_calls"))) if _dict(call)]
    names = []
    for call in calls:
        function = _dict(call.get("function")) or call
        told = f"{function.get('name')} {function.get('arguments')}"
        names.append(_id(call.get("id")) or _id(call.get("call_id")) or told)
    if names:
        return f"{role} calls {json_text.dump(list[JSON](names)).decode()}"
    prior, summary = _parted(_content(values.get("content"))[0])
    words = (prior or summary or "").replace("[Attached image — stripped after compression]", "")
    return f"{role} says {words.strip()}"


def _copied_from_parent(store: Store, family: Family, about: Raw, rows: list[Row]) -> int:
    """How many of a branch's first messages stand in its parent, in the same order, from before it was made."""
    if family.relation != "branch" or family.parent not in store.sessions or family.parent is None:
        return 0
    made = about.get("started_at")
    _, parents = store.read(family.parent, Problems())
    if isinstance(made, int | float):
        parents = [row for row in parents if not _is_later(row, made + 1)]
    marks = [_mark(row) for row in parents]
    at = 0
    for copied, row in enumerate(rows):
        try:
            at = marks.index(_mark(row), at) + 1
        except ValueError:
            return copied
    return len(rows)


def _is_later(row: Row, moment: float) -> bool:
    time = row.values.get("timestamp")
    return isinstance(time, int | float) and time > moment


# --- what a message says


def _parted(text: str) -> tuple[str, str | None]:
    """The message without the summary that was put into it, and the summary."""
    merged = _MERGED.match(text)
    if merged:
        return merged.group(1).strip(), merged.group(2).strip()
    return ("", text) if _SUMMARY.match(text) else (text, None)


def _is_note(text: str) -> bool:
    alone = _NOTE.match(text) and text.rstrip().endswith("]") and "]\n\n" not in text and not _SKILL.match(text)
    return bool(alone or _REPORT.match(text))


def _inline_thought(text: str) -> tuple[str, str]:
    thoughts, end = [], 0
    while found := _THOUGHT.match(text, end):
        thoughts.append(found.group(2).strip("\n"))
        end = found.end()
    return "\n\n".join(thought for thought in thoughts if thought.strip()), text[end:]


def _thought(values: Raw) -> str:
    for name in ("reasoning", "reasoning_content"):
        text = values.get(name)
        if isinstance(text, str) and text.strip():
            return text
    details = [_dict(item) for item in _list(_json(values.get("reasoning_details")))]
    found = [
        next((v for k in ("text", "thinking", "summary") if (v := d.get(k)) and isinstance(v, str)), None)
        for d in details
    ]
    texts = [text for text in found if text]
    if not texts:
        for item in _list(_json(values.get("codex_reasoning_items"))):
            said = [_dict(piece).get("text") for piece in _list(_dict(item).get("summary"))]
            texts += [text for text in said if isinstance(text, str) and text]
    return "\n\n".join(texts)


def _content(value: JSON) -> tuple[str, list[JSON], int]:
    """The words of a message's content, its pictures, and how many other files it has."""
    if isinstance(value, str) and value.startswith("\0json:"):
        content = _json(value[6:])
        value = value[1:] if content is None else content
    if isinstance(value, dict) and "content" in value:
        value = value["content"]
    if isinstance(value, str):
        return value, [], 0
    if value is not None and not isinstance(value, list | dict):
        return json_text.dump(value).decode(), [], 0
    texts: list[str] = []
    pictures: list[JSON] = []
    files = 0
    for block in value if isinstance(value, list) else [value] if value is not None else []:
        text = block if isinstance(block, str) else _dict(block).get("text")
        kind = _dict(block).get("type")
        if isinstance(text, str):
            texts.append(text)
        elif kind in ("image_url", "input_image", "image"):
            pictures.append(block)
        elif kind in ("input_audio", "audio", "file", "input_file"):
            files += 1
        else:
            texts.append(json_text.dump(block).decode())
    return "\n".join(texts), pictures, files


def _bytes(picture: JSON) -> bytes | None:
    block = _dict(picture)
    source = _dict(block.get("source"))
    if source.get("type") == "base64":
        return bytes_of_data_url(f"data:{source.get('media_type')};base64,{source.get('data')}")
    address = block.get("image_url", source.get("url"))
    return bytes_of_data_url(address.get("url") if isinstance(address, dict) else address)


def _outcome(values: Raw, text: str) -> tuple[bool | None, bool]:
    """Whether a result says that its call went well, and whether the call never ran."""
    data = _dict(_json(text.strip())) if text.lstrip().startswith("{") else {}
    code, success = data.get("exit_code"), data.get("success")
    blocked = data.get("status") == "blocked" and "exit_code" in data
    if values.get("effect_disposition") in ("denied", "none") or blocked:
        return False, True
    if isinstance(code, int) and not isinstance(code, bool):
        return code == 0, False
    if isinstance(success, bool):
        return success, False
    if (isinstance(data.get("error"), str) and data["error"]) or text.startswith("Error"):
        return False, False
    return (True if "bytes_written" in data else None), False


def _id(value: JSON) -> str | None:
    return (value.split("|")[0] or value) if isinstance(value, str) and value else None


def _json(value: JSON) -> JSON:
    if not isinstance(value, str):
        return value
    try:
        return json_text.parse(value.encode("utf-8", "replace"))
    except ValueError:
        return None


def _dict(value: JSON) -> Raw:
    return value if isinstance(value, dict) else {}


def _list(value: JSON) -> list[JSON]:
    return value if isinstance(value, list) else []
