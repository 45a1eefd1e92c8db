"""The messages of a session as events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import tzinfo

from trailbook.chat import (
    JSON,
    Asked,
    Called,
    Chat,
    Compacted,
    Event,
    FilesChanged,
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
from trailbook.readers.arguments import read_arguments
from trailbook.readers.hermes.calls import bare, calls_in
from trailbook.readers.hermes.contents import (
    command_of,
    injected_by,
    parsed,
    parts_of,
    reply_in_items,
    sealed_thought_of,
    take_summary,
    take_thoughts,
    thought_of,
    words_of,
)
from trailbook.readers.hermes.results import outcome_of
from trailbook.readers.hermes.store import Row
from trailbook.readers.lines import Problems
from trailbook.readers.pairing import Pairing
from trailbook.readers.values import Fields, moment, moment_of_seconds, string


@dataclass(slots=True)
class _Waiting:
    """A call of the last reply that has no result yet."""

    call: str
    base: str
    """What `Pairing` knows it by."""
    name: str
    named: bool
    """Whether the log has an id for it."""


@dataclass(slots=True)
class Conversation:
    """Takes the messages of a chat in order, and fills the chat with events."""

    chat: Chat
    problems: Problems
    zone: tzinfo
    model: str | None = None
    """The model of the session at hand, where it had one only."""
    branch: str | None = None
    """The branch that the message at hand stands on."""
    inherited: bool = False
    """Whether the message at hand was copied from the chat that this one was branched from."""
    _pairing: Pairing = field(default_factory=Pairing)
    _waiting: list[_Waiting] = field(default_factory=list)
    _calls: dict[str, Called] = field(default_factory=dict)
    _first: bool = True
    _row: Row | None = None
    _at: int | None = None

    def take(self, row: Row, *, kept: bool) -> None:
        """Take a message. Of one that was `kept` by a compression, and stands before already, only the summary."""
        self._row, self._at = row, self._time(row.values.get("timestamp"))
        role, values = row.values.get("role"), row.values
        prior, summary = take_summary(words_of(values.get("content"))) if role in ("user", "assistant") else ("", None)
        if kept:
            self.problems.count(
                "kept-message", "Messages that a compression kept stand in the log twice; each is told once.", row.place
            )
        elif summary is None or prior:
            handler = _HANDLERS.get(role) if isinstance(role, str) else None
            (handler or Conversation._unknown)(self, values, prior if summary is not None else None)
        if summary is not None and (prior or not kept):
            self._emit(Compacted(summary=summary))
        self._first = False

    def compacted(self, row: Row) -> None:
        """Say that the context was compressed before a message, though the log has no summary."""
        self._row, self._at = row, self._time(row.values.get("timestamp"))
        self._emit(Compacted())

    def _time(self, value: JSON) -> int | None:
        if isinstance(value, str):
            at, naive = moment(value, self.zone)
            self.chat.naive_times = self.chat.naive_times or naive
            return at
        return moment_of_seconds(value)

    def _emit(self, event: Event) -> None:
        event.at, event.branch, event.inherited = self._at, self.branch, self.inherited
        event.place = self._place()
        self.chat.events.append(event)  # type: ignore[arg-type]

    def _key(self) -> str:
        return self._row.key if self._row else ""

    # --- by role

    def _user(self, values: Fields, prior: str | None) -> None:
        parts = parts_of(values.get("content"))
        text = text_of(parts) if prior is None else prior
        asked = Asked(id=self._key(), text=text, parts=[part for part in parts if not isinstance(part, Text)])
        asked.injected, asked.command = injected_by(values, text), command_of(text)
        said = text.strip() or asked.parts
        self._emit(asked if said else Noted(topic="notice", text="A message without content."))
        added = _added(text, values.get("api_content"))
        if added:
            self._emit(Asked(id=f"{self._key()}-sent", text=added, injected="context"))

    def _assistant(self, values: Fields, prior: str | None) -> None:
        key = self._key()
        stop = string(values.get("finish_reason"))
        self.chat.messages.setdefault(key, Message(model=self.model, stop_reason=stop))
        first = len(self.chat.events)
        parts = parts_of(values.get("content"))
        inline, words = take_thoughts(text_of(parts) if prior is None else prior)
        thought = thought_of(values) or inline
        self._think(values, thought, key)
        if inline.strip() and inline.strip() != thought.strip():
            self._emit(Thought(text=inline, message=key))
        words = words if words.strip() else reply_in_items(values)
        others: list[Part] = [part for part in parts if not isinstance(part, Text)]
        if words.strip() or others:
            self._emit(Said(text=words, parts=others, message=key))
        self._call(values, key)
        if len(self.chat.events) == first:
            self._emit(Noted(topic="notice", text="An answer without content."))

    def _think(self, values: Fields, thought: str, key: str) -> None:
        sealed = sealed_thought_of(values)
        if thought.strip() or sealed:
            self._emit(Thought(text=thought if thought.strip() else "", encrypted=sealed, message=key))

    def _call(self, values: Fields, key: str) -> None:
        logged, self._waiting = calls_in(values), []
        if values.get("tool_calls") and not logged and parsed(values.get("tool_calls")) != []:
            self.problems.add("damaged-calls", "The calls of a message could not be read.", self._place(), lost=True)
        for order, call in enumerate(logged, 1):
            base = call.id or f"{key}-{order}"
            arguments, raw = read_arguments(call.arguments)
            event = Called(id=self._pairing.call(call.id, base), name=call.name, arguments=arguments, raw=raw)
            event.message = key
            self._emit(event)
            self._calls[event.id] = event
            self._waiting.append(_Waiting(event.id, base, call.name, call.id is not None))

    def _tool(self, values: Fields, _prior: str | None) -> None:
        call, linked = self._answered(bare(values.get("tool_call_id")), string(values.get("tool_name")))
        if call is None:
            self.problems.count(
                "orphan-result", "A result answers no call of the chat; it is shown by itself.", self._place()
            )
        parts = parts_of(values.get("content"))
        asked = self._calls.get(call) if call is not None else None
        tool = asked.name if asked else string(values.get("tool_name"))
        arguments = asked.arguments if asked else {}
        outcome = outcome_of(text_of(parts), string(values.get("effect_disposition")), tool, arguments)
        returned = Returned(call=call, parts=parts, ok=outcome.ok, linked=linked, not_run=outcome.not_run)
        returned.exit_status, returned.patch = outcome.exit_status, outcome.patch
        self._emit(returned)
        if outcome.changes and call is not None:
            self._emit(FilesChanged(files=outcome.changes, call=call))

    def _answered(self, logged: str | None, tool: str | None) -> tuple[str | None, str | None]:
        """The call that a result answers, and how that is known."""
        call = self._pairing.result(logged)
        if call is not None:
            self._waiting = [waiting for waiting in self._waiting if waiting.call != call]
            return call, "id"
        # A result's id says nothing where the calls have none: only their order does (letta-ai/trajectory#9).
        open_ = [waiting for waiting in self._waiting if logged is None or not waiting.named]
        chosen = next((waiting for waiting in open_ if tool is None or waiting.name == tool), None)
        if chosen is None:
            return None, None
        self._waiting.remove(chosen)
        return self._pairing.result(chosen.base), "order"

    def _system(self, values: Fields, _prior: str | None) -> None:
        text = words_of(values.get("content"))
        if self._first and not self.chat.system_prompt:
            self.chat.system_prompt = text
        elif text.strip():
            self._emit(Noted(topic="system", text=text))

    def _about_session(self, _values: Fields, _prior: str | None) -> None:
        """A row of Hermes's own, which says of the session what its columns say."""

    def _unknown(self, values: Fields, _prior: str | None) -> None:
        role = values.get("role")
        self.problems.count(
            "unknown-record", f"Messages of the unknown role “{role}” are shown as notes.", self._place()
        )
        self._emit(
            Noted(topic=role if isinstance(role, str) and role else "message", text=words_of(values.get("content")))
        )

    def _place(self) -> Place | None:
        return self._row.place if self._row else None


_HANDLERS: dict[str, Callable[[Conversation, Fields, str | None], None]] = {
    "user": Conversation._user,
    "assistant": Conversation._assistant,
    "tool": Conversation._tool,
    "system": Conversation._system,
    "session_meta": Conversation._about_session,
}


def _added(text: str, sent: JSON) -> str:
    """What the model was sent with a prompt and the person did not write (memories, what a plugin found)."""
    if not isinstance(sent, str) or not sent.strip() or sent.strip() == text.strip():
        return ""
    return sent.replace(text, "", 1).strip() if text.strip() else sent
