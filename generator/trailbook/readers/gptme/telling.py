"""The messages of a log as events."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path

from trailbook.chat import (
    Answered,
    Asked,
    Called,
    Chat,
    Compacted,
    Event,
    Label,
    Noted,
    Part,
    Returned,
    Said,
    Text,
    Thought,
)
from trailbook.readers.gptme.attachments import attachments_of
from trailbook.readers.gptme.linking import Link, OpenCall, links
from trailbook.readers.gptme.log_lines import Line, injected_by
from trailbook.readers.gptme.outcomes import outcome_of
from trailbook.readers.gptme.speech import Piece, Reasoning, Words, pieces
from trailbook.readers.gptme.tokens import message_of
from trailbook.readers.gptme.written_calls import Writing, WrittenCall, calls_in
from trailbook.readers.lines import Problems
from trailbook.readers.pairing import Pairing
from trailbook.readers.values import fields, moment, number, string

EventOfChat = Answered | Asked | Called | Compacted | Noted | Returned | Said | Thought

_CUT_OFF = ("... ^C Interrupted", " [INTERRUPTED]")
_COMPACTED = "🔄 Auto-compacted"
_FAILED_REQUEST = "LLM request failed:"
_DONE = re.compile(r"Task complete")


@dataclass(slots=True)
class _Spoken:
    """An assistant's message, taken apart."""

    pieces: list[Piece]
    calls: list[OpenCall]
    """In the order in which they run."""
    ids: dict[int, str]
    """The chat's id of each call, by the call's identity."""


@dataclass(slots=True)
class Teller:
    """Tells the messages of one chat, a sequence of them (the active path, a branch) at a time."""

    chat: Chat
    writing: Writing
    zone: tzinfo
    copies: dict[str, Path]
    problems: Problems
    zone_known: bool = False
    """True when the log itself says which zone its times are in."""
    _pairing: Pairing = field(default_factory=Pairing)
    _latest: int | None = None

    def tell(self, lines: list[Line], *, branch: str | None = None) -> list[list[EventOfChat]]:
        """The events of some messages that follow each other, by message."""
        spoken = {at: self._take_apart(lines, at) for at, line in enumerate(lines) if line.role == "assistant"}
        linked = links(lines, {at: message.calls for at, message in spoken.items()})
        self._latest = None
        told = []
        for at, line in enumerate(lines):
            if at in spoken:
                events = self._assistant(line, spoken[at])
            elif line.role == "user":
                events = [self._user(line)]
            else:
                events = self._system(line, linked[at])
            self._stamp(events, line, branch)
            told.append(events)
        self._time_calls(lines, spoken, told)
        return told

    def time_of(self, line: Line) -> int | None:
        """When a message was made, epoch milliseconds."""
        return moment(line.timestamp, self.zone)[0]

    def _stamp(self, events: list[EventOfChat], line: Line, branch: str | None) -> None:
        at, naive = moment(line.timestamp, self.zone)
        self.chat.naive_times |= naive and not self.zone_known
        if at is not None:
            if line.role == "assistant":
                self._latest = max(self._latest or at, at)
            self.chat.started = min(self.chat.started or at, at)
            self.chat.ended = max(self.chat.ended or at, at)
        for event in events:
            event.at, event.place, event.branch = at, line.place, branch

    # --- what the model said

    def _take_apart(self, lines: list[Line], at: int) -> _Spoken:
        line = lines[at]
        calls = calls_in(line.content, self.writing, answered=_is_answered(lines, at))
        message = _Spoken(pieces(line.content, calls), [], {})
        for index, call in enumerate(sorted(calls, key=lambda call: call.start), 1):
            otherwise = f"gptme-{_number(line)}-{index}"
            message.ids[id(call)] = self._pairing.call(call.id, otherwise)
        message.calls = [OpenCall(message.ids[id(call)], call.id, call.name) for call in calls]
        return message

    def _assistant(self, line: Line, message: _Spoken) -> list[EventOfChat]:
        key = _key(line)
        self._note_message(key, line)
        events: list[EventOfChat] = []
        summary = string(fields((line.metadata or {}).get("anthropic_compaction_block")).get("content"))
        if summary:
            events.append(Compacted(summary=summary, trigger="auto"))
        events += [self._piece(piece, message, key, line) for piece in message.pieces]
        if line.content.rstrip().endswith(_CUT_OFF):
            events.append(Answered(outcome="interrupted", model=self.chat.messages[key].model))
        return events

    def _piece(self, piece: Piece, message: _Spoken, key: str, line: Line) -> EventOfChat:
        if isinstance(piece, Words):
            return Said(text=piece.text, message=key)
        if isinstance(piece, Reasoning):
            return Thought(text=piece.text, signature=piece.signature, encrypted=piece.encrypted, message=key)
        self._report_arguments(piece, line)
        return Called(id=message.ids[id(piece)], name=piece.name, arguments=piece.arguments, raw=piece.raw, message=key)

    def _report_arguments(self, call: WrittenCall, line: Line) -> None:
        if call.by_python:
            self.problems.count(
                "python-arguments", "A call's arguments are written as Python prints them; they were read.", line.place
            )
        if call.raw is not None:
            self.problems.count("raw-arguments", "A call's arguments are no JSON; they stand as written.", line.place)

    def _note_message(self, key: str, line: Line) -> None:
        message = self.chat.messages[key] = message_of(line.metadata or {})
        if message.model and message.model not in self.chat.models:
            self.chat.models.append(message.model)
        if message.provider and message.provider not in self.chat.providers:
            self.chat.providers.append(message.provider)

    # --- what a person said, and what gptme said

    def _user(self, line: Line) -> Asked:
        at = self.time_of(line)
        early = at is not None and self._latest is not None and at < self._latest
        injected = injected_by(line)
        return Asked(
            id=_key(line),
            text=line.content,
            parts=attachments_of(line, self.copies),
            injected=injected,
            queued=early and injected is None,
        )

    def _system(self, line: Line, link: Link) -> list[EventOfChat]:
        parts = attachments_of(line, self.copies)
        if link.result:
            return self._returned(line, link, parts)
        if line.content.startswith(_FAILED_REQUEST):
            return [Answered(outcome="error", problem=line.content)]
        notice = Noted(topic="notice" if line.shown_only else "system", text=line.content, parts=parts)
        if line.shown_only and line.content.startswith(_COMPACTED):
            return [Compacted(trigger="auto"), notice]
        return [notice]

    def _returned(self, line: Line, link: Link, attached: list[Part]) -> list[EventOfChat]:
        if link.call is None:
            self.problems.count("orphan-result", "A result answers no call.", line.place)
        tool = link.call.name if link.call else None
        outcome = outcome_of(tool, line.content)
        events: list[EventOfChat] = [
            Returned(
                call=link.call.id if link.call else None,
                parts=[Text(line.content), *attached],
                linked=link.how,
                not_run=outcome.not_run,
                exit_status=outcome.exit_status,
                label=Label(failed=True) if outcome.failed else None,
            )
        ]
        for call in link.stopped:
            events.append(Returned(call=call.id, linked="inferred", not_run="stopped"))
        if tool == "complete" and _DONE.match(line.content):
            events.append(Answered(outcome="success"))
        return events

    # --- how long calls took

    def _time_calls(self, lines: list[Line], spoken: dict[int, _Spoken], told: list[list[EventOfChat]]) -> None:
        """Durations by tool, where a message called the tool once."""
        durations: dict[str, int] = {}
        for at, message in spoken.items():
            timings = fields(fields((lines[at].metadata or {}).get("timings")).get("tool_ms_by_name"))
            names = [call.name for call in message.calls]
            for call in message.calls:
                took = number(timings.get(call.name))
                if took is not None and took >= 0 and names.count(call.name) == 1:
                    durations[call.id] = round(took)
        results = (event for events in told for event in events if isinstance(event, Returned))
        for last in {event.call: event for event in results if event.call}.values():
            if last.not_run is None:
                last.duration = durations.get(last.call or "")


def _key(line: Line) -> str:
    """A message's name in the chat."""
    return f"line-{_number(line)}"


def _number(line: Line) -> str:
    """A message's line, with the file's name where that is not the usual one."""
    name = line.place.file.removesuffix(".jsonl")
    return f"{line.place.number}" if name == "conversation" else f"{name}-{line.place.number}"


def _is_answered(lines: list[Line], at: int) -> bool:
    """Whether something that a tool may have given back, without an id, comes before the model goes on."""
    for behind in range(at + 1, len(lines)):
        line = lines[behind]
        if line.role != "system":
            return False
        if not line.hidden and not line.shown_only and line.call_id is None:
            return True
    return False


def outcome_at_end(events: Sequence[Event]) -> bool | None:
    """Whether the chat's last turn ended well, as far as the log says."""
    for event in reversed(events):
        if event.branch is None and isinstance(event, Answered):
            return event.outcome == "success"
        if event.branch is None and not isinstance(event, Noted | Compacted):
            return None
    return None
