"""What is in a chat, counted from its sessions' raw messages; nothing here is shared with what makes events of them.

Which sessions are one chat is taken from the lineage; which messages a compression kept, which were taken back, and
which a branch copied is found here again, in ways of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from trailbook.chat import JSON, Place, Usage
from trailbook.ledger import (
    Entry,
    Keep,
    Ledger,
    arguments_of,
    entry_of_call,
    entry_of_image,
    entry_of_text,
)
from trailbook.readers import Found, Unreadable
from trailbook.readers.hermes.ledger_copies import copied_from_parent, is_undone, kept_among
from trailbook.readers.hermes.ledger_words import (
    Raw,
    bytes_in,
    content_in,
    id_in,
    inline_thought,
    is_note,
    json_in,
    list_in,
    object_in,
    outcome_in,
    parted,
    thought_in,
)
from trailbook.readers.hermes.lineage import Family
from trailbook.readers.hermes.store import Row, Store, opened
from trailbook.readers.lines import Problems

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
    inherited = copied_from_parent(store, family, read[0][0], read[0][1])
    kept = kept_among(rows)
    for number, row in enumerate(rows):
        counter.to = counter.ledger.aside if is_undone(row) or number < inherited else counter.ledger.entries
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
        text, pictures, files = content_in(values.get("content"))
        summary = None
        if role in ("user", "assistant"):
            text, summary = parted(text)
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
            self.to.append(entry_of_image(place, call, bytes_in(picture)))

    def _prompt(self, row: Row, text: str, pictures: list[JSON], files: int) -> None:
        entry = self._say("prompt", row.place, text, len(pictures), files)
        if entry is not None:
            entry.injected = row.values.get("observed") in (1, True) or is_note(text)
        self._picture(row.place, pictures, None)
        sent = row.values.get("api_content")
        if isinstance(sent, str) and sent.strip() and sent.strip() != text.strip():
            self._inject(row.place, sent.replace(text, "", 1) if text.strip() else sent)

    def _reply(self, row: Row, text: str, pictures: list[JSON], files: int) -> None:
        first = len(self.to)
        inline, words = inline_thought(text)
        thought = thought_in(row.values) or inline
        self._say("thought", row.place, thought)
        if inline.strip() != thought.strip():
            self._say("thought", row.place, inline)
        if not words.strip():
            items = [object_in(item) for item in list_in(json_in(row.values.get("codex_message_items")))]
            words = "\n".join(said for item in items if (said := content_in(item.get("content"))[0]))
        self._say("answer", row.place, words, len(pictures), files)
        self._picture(row.place, pictures, None)
        self._calls(row)
        for entry in self.to[first:]:
            entry.message = f"{row.place.file} {row.place.number}"

    def _calls(self, row: Row) -> None:
        self.recent = []
        key = f"row-{row.place.number}" if row.place.unit == "row" else f"{row.place.file}-{row.place.number}"
        calls = [call for call in list_in(json_in(row.values.get("tool_calls"))) if isinstance(call, dict) and call]
        for order, call in enumerate(calls, 1):
            function = object_in(call.get("function")) or call
            logged = id_in(call.get("id")) or id_in(call.get("call_id"))
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
        entry.ok, entry.not_run = outcome_in(row.values, text)
        self.to.append(entry)
        self._picture(row.place, pictures, call)

    def _answered(self, row: Row) -> str | None:
        logged, tool = id_in(row.values.get("tool_call_id")), row.values.get("tool_name")
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
