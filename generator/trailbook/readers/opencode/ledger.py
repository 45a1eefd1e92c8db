"""What is in a session of OpenCode, counted straight from its records on a path of its own."""

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
from trailbook.readers import Found
from trailbook.readers.opencode.finding import load
from trailbook.readers.opencode.sessions import LoggedMessage, Session

_Record = dict[str, JSON]

_PICTURE = re.compile(r"image/[a-z0-9][a-z0-9.+-]{0,60}")
_NOT_RUN = ("The user rejected permission to use this", "The user has specified a rule which prevents you from using")


def count(found: Found, keep: Keep) -> Ledger:
    """The session's ledger, those of the sessions that it started beside it. Raises Unreadable, OSError."""
    return _count(load(found), keep)


def _count(session: Session, keep: Keep) -> Ledger:
    counter = _Counter(Ledger(session.id), keep, session)
    counter.count()
    for child in session.children:
        ledger = _count(child, keep)
        ledger.started_by = counter.started.get(child.id)
        counter.ledger.subagents.append(ledger)
    return counter.ledger


@dataclass(slots=True)
class _Counter:
    ledger: Ledger
    keep: Keep
    session: Session
    calls: dict[str, int] = field(default_factory=dict)
    started: dict[str, str] = field(default_factory=dict)
    system: JSON = None
    aside: bool = False
    reply: int = 0
    """The number of the model's message that is being counted."""
    called: bool = False

    def count(self) -> None:
        revert = _dict(self.session.info.get("revert"))
        left, part = revert.get("messageID"), revert.get("partID")
        reverted = False
        copies = self._copies()
        for number, message in enumerate(self.session.messages):
            here = isinstance(left, str) and left != "" and message.info.get("id") == left
            ids = [logged.values.get("id") for logged in message.parts]
            cut = ids.index(part) if here and message.info.get("role") == "assistant" and part in ids else None
            reverted = reverted or (here and cut is None)
            self.aside = reverted or number < copies
            self._message(message, cut)
            reverted = reverted or here
            if number >= copies:
                self._tokens(message)

    def _copies(self) -> int:
        """How many messages a fork begins with that are older than it is."""
        begun = _time(self.session.info)
        times = [_time(message.info) for message in self.session.messages]
        own = (at for at, time in enumerate(times) if begun is None or time is None or time >= begun)
        return next(own, len(times))

    def _message(self, message: LoggedMessage, cut: int | None) -> None:
        self._end_reply()
        if message.info.get("role") == "user":
            self._prompt(message)
        elif message.info.get("role") == "assistant":
            for at, part in enumerate(message.parts):
                self.aside = self.aside or at == cut
                self._piece(part.values, part.place, summary=message.info.get("summary") is True)

    def _add(self, *entries: Entry) -> None:
        (self.ledger.aside if self.aside else self.ledger.entries).extend(entries)

    # --- prompts

    def _prompt(self, message: LoggedMessage) -> None:
        system = message.info.get("system")
        if isinstance(system, str) and system and system != self.system:
            self.system = system
            self._words("system", system, message.place)
        own = [part for part in message.parts if _is_own(part.values)]
        texts = [part.values.get("text") for part in own]
        pictures = [picture for part in own for picture in _pictures(part.values)]
        if own:
            text = "\n".join(text for text in texts if isinstance(text, str))
            entry = entry_of_text("prompt", own[0].place, text, self.keep)
            entry.images = len(pictures)
            self._add(entry, *(entry_of_image(own[0].place, None, picture) for picture in pictures))
        for part in message.parts:
            kind, text_of_part = part.values.get("type"), part.values.get("text")
            if kind == "text" and not _is_own(part.values):
                if isinstance(text_of_part, str) and text_of_part.strip() and part.values.get("ignored") is not True:
                    entry = entry_of_text("prompt", part.place, text_of_part, self.keep)
                    entry.injected = True
                    self._add(entry)
            elif kind == "subtask":
                asked = part.values.get("prompt")
                self._add(entry_of_text("prompt", part.place, asked if isinstance(asked, str) else "", self.keep))
            elif kind not in ("text", "file"):
                self._piece(part.values, part.place, summary=False)

    # --- replies

    def _piece(self, part: _Record, place: Place, *, summary: bool) -> None:
        kind, text = part.get("type"), part.get("text")
        if kind == "text" and (summary or part.get("synthetic") is True):
            self._words("system", text, place)
        elif kind in ("text", "reasoning"):
            if isinstance(text, str) and (text.strip() or (kind == "reasoning" and _dict(part.get("metadata")))):
                self._begin_words()
                self._words("answer" if kind == "text" else "thought", text, place)
        elif kind == "file":
            self._begin_words()
            self._add(*(entry_of_image(place, None, picture) for picture in _pictures(part)))
        elif kind == "tool":
            self.called = True
            self._tool(part, place)
        elif kind in ("step-start", "step-finish"):
            self._end_reply()

    def _begin_words(self) -> None:
        """A message of the model has its words before its calls."""
        if self.called:
            self._end_reply()

    def _end_reply(self) -> None:
        self.reply += 1
        self.called = False

    def _words(self, kind: str, text: JSON, place: Place) -> None:
        if isinstance(text, str) and text.strip():
            entry = entry_of_text(kind, place, text, self.keep)
            entry.message = f"{self.reply}" if kind in ("answer", "thought") else None
            self._add(entry)

    def _tool(self, part: _Record, place: Place) -> None:
        state, tool, logged = _dict(part.get("state")), part.get("tool"), part.get("callID")
        call = logged if isinstance(logged, str) and logged else f"{place.unit}-{place.number}"
        self.calls[call] = self.calls.get(call, 0) + 1
        if self.calls[call] > 1:
            call = f"{call}__{self.calls[call]}"
        name = tool if isinstance(tool, str) and tool else "unknown_tool"
        arguments = arguments_of(state.get("input") or state.get("raw") or None)
        self._add(entry_of_call(place, call, name, arguments, self.keep))
        metadata = _dict(state.get("metadata"))
        started = metadata.get("sessionId")
        if isinstance(started, str) and started:
            self.started.setdefault(started, call)
        status, output, error = state.get("status"), state.get("output"), state.get("error")
        if status in ("completed", "error") or output is not None or error is not None:
            said = _dict(error).get("message")
            text = _spelled(output if output is not None else said if isinstance(said, str) else error)
            attached = state.get("attachments")
            pictures = [
                picture
                for item in (attached if isinstance(attached, list) else [])
                for picture in _pictures(_dict(item))
            ]
            entry = entry_of_text("result", place, text, self.keep)
            entry.id, entry.images, entry.not_run = call, len(pictures), status == "error" and text.startswith(_NOT_RUN)
            if status in ("completed", "error"):
                failed = status == "error" or name == "invalid" or _is_failure(metadata.get("exit"))
                entry.ok = not failed
            self._add(entry, *(entry_of_image(place, call, picture) for picture in pictures))

    # --- tokens

    def _tokens(self, message: LoggedMessage) -> None:
        if message.info.get("role") != "assistant":
            return
        steps = [part.values.get("tokens") for part in message.parts if part.values.get("type") == "step-finish"]
        counted = [tokens for tokens in steps if _tokens_in(tokens)]
        own = message.info.get("tokens")
        for tokens in counted if len(counted) > 1 else [own] if _tokens_in(own) else counted:
            found = _tokens_in(tokens)
            usage = self.ledger.usage = self.ledger.usage or Usage()
            fresh, output = found.get("input"), found.get("output")
            parts = {
                "prompt_tokens": None if fresh is None else fresh + found.get("read", 0) + found.get("write", 0),
                "output_tokens": None if output is None else output + found.get("reasoning", 0),
                "cached_tokens": found.get("read"),
                "cache_write_tokens": found.get("write"),
                "reasoning_tokens": found.get("reasoning"),
            }
            for name, number in parts.items():
                if number is not None:
                    setattr(usage, name, (getattr(usage, name) or 0) + number)


def _tokens_in(tokens: JSON) -> dict[str, int]:
    """The five counts of some `tokens`; none where all of them are 0."""
    cache = _dict(_dict(tokens).get("cache"))
    logged = {name: _dict(tokens).get(name) for name in ("input", "output", "reasoning")}
    logged |= {name: cache.get(name) for name in ("read", "write")}
    counts = {
        name: number
        for name, number in logged.items()
        if isinstance(number, int) and not isinstance(number, bool) and number >= 0
    }
    return counts if any(counts.values()) else {}


def _is_own(part: _Record) -> bool:
    if part.get("type") == "text":
        return part.get("synthetic") is not True and part.get("ignored") is not True
    return part.get("type") == "file"


def _is_failure(status: JSON) -> bool:
    return isinstance(status, int) and not isinstance(status, bool) and status != 0


def _pictures(part: _Record) -> list[bytes | None]:
    """The bytes of a part that is a picture; [None] where the log has not got them."""
    mime = part.get("mime")
    named = isinstance(mime, str) and _PICTURE.fullmatch(mime)
    return [bytes_of_data_url(part.get("url"))] if named and part else []


def _time(info: _Record) -> float | None:
    created = _dict(info.get("time")).get("created")
    if isinstance(created, bool) or not isinstance(created, int | float) or not 0 < created <= 8.64e15:
        return None
    return int(created)


def _spelled(value: JSON) -> str:
    return value if isinstance(value, str) else "" if value is None else json_text.dump(value).decode("utf-8")


def _dict(value: JSON) -> _Record:
    return value if isinstance(value, dict) else {}
