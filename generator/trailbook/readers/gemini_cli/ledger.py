"""What is in a session of Gemini CLI's, counted straight from its records on a path of its own."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from trailbook import json_text
from trailbook.chat import JSON, Place, Usage
from trailbook.ledger import Entry, Keep, Ledger, arguments_of, entry_of_call, entry_of_image, entry_of_text
from trailbook.readers import Found, Unreadable
from trailbook.readers.gemini_cli.log import records_in
from trailbook.readers.lines import Problems

_Fields = dict[str, JSON]
_OK: dict[JSON, bool] = {"success": True, "error": False, "cancelled": False}
_INJECTED = ("<session_context>", "<hook_context>")
_KNOWN = ("user", "gemini", "info", "error", "warning")


def count(found: Found, keep: Keep) -> Ledger:
    """The session's ledger, with its subagents'. Raises Unreadable, OSError."""
    folder = found.path.parent
    files: dict[str, list[tuple[Place, JSON]]] = {"": []}
    for path in found.inputs:
        name = path.relative_to(folder).as_posix()
        records = files[""] if path.parent == folder else files.setdefault(name, [])
        try:
            for record in records_in(path, Problems()):
                records.append((Place(name, record.place.number, record.place.unit), record.value))
        except Unreadable:
            if path.parent == folder:
                raise
    sessions = [_Session(records, keep) for records in files.values()]
    root, *others = (session for session in sessions if session.known or session is sessions[0])
    _attach(root, others)
    return root.ledger


@dataclass(slots=True)
class _Line:
    """A message as the log last has it."""

    place: Place
    message: _Fields
    undone: bool = False
    renewed: bool = False


class _Session:
    """One session's messages, in the order in which they were first written, and its ledger."""

    def __init__(self, records: Iterable[tuple[Place, JSON]], keep: Keep) -> None:
        self.identity: JSON = None
        self.lines: list[_Line] = []
        self.active: dict[object, _Line] = {}
        """The messages that were not taken back, by their ids (by a number of their own where they have none)."""
        for place, value in records:
            if isinstance(value, dict):
                self._take(value, place)
        self.known = any(line.message.get("type") in _KNOWN for line in self.lines)
        self.ledger = Ledger(self.identity if isinstance(self.identity, str) else None)
        counter = _Counter(keep, _calls_in(self.lines), self.ledger)
        for line in self.lines:
            counter.count(line)
        self.agents = counter.agents
        self.ledger.usage = counter.usage

    def _take(self, value: _Fields, place: Place) -> None:
        update = value.get("$set")
        if "$rewindTo" in value:
            self._take_back(value["$rewindTo"])
        elif isinstance(update, dict):
            if isinstance(update.get("messages"), list):
                self._renew(_list(update["messages"]), place)
        elif _text(value.get("sessionId")) and _text(value.get("projectHash")):
            if self.identity in (None, value["sessionId"]):
                self.identity = value["sessionId"]
                for message in _list(value.get("messages")):
                    self._write(_dict(message), place)
        elif _text(value.get("type")):
            self._write(value, place)

    def _write(self, message: _Fields, place: Place, *, renewed: bool = False) -> None:
        key: object = _text(message.get("id")) or len(self.lines)
        if key in self.active:
            self.active[key].message, self.active[key].place = message, place
        else:
            self.active[key] = _Line(place, message, renewed=renewed)
            self.lines.append(self.active[key])

    def _take_back(self, identity: JSON) -> None:
        known = isinstance(identity, str) and identity in self.active
        while self.active:
            key, line = self.active.popitem()
            line.undone = True
            if known and key == identity:
                return

    def _renew(self, messages: list[JSON], place: Place) -> None:
        kept = {_text(_dict(message).get("id")) for message in messages} - {None}
        before = len(self.active)
        self.active = {key: line for key, line in self.active.items() if key in kept}
        shortened = len(self.active) < before
        for message in messages:
            self._write(_dict(message), place, renewed=shortened)


def _calls_in(lines: list[_Line]) -> tuple[set[str], set[str]]:
    """The ids of the calls that messages list, and of those that have a result there."""
    listed: set[str] = set()
    answered: set[str] = set()
    for line in lines:
        for call in map(_dict, _list(line.message.get("toolCalls"))):
            identity = _text(call.get("id"))
            if identity:
                listed.add(identity)
                if call.get("result") is not None and call["result"] != []:
                    answered.add(identity)
    return listed, answered


def _attach(root: _Session, others: list[_Session]) -> None:
    """Subagents under the session whose call names them; under the root where none does, or where they go in a ring."""
    starters: dict[str, tuple[_Session, str]] = {}
    for session in (root, *others):
        for agent, call in session.agents.items():
            starters[agent] = (session, call)
    above: dict[int, _Session] = {}
    for session in others:
        parent, call = starters.get(session.ledger.chat or "", (root, ""))
        step: _Session | None = parent
        while step is not None and step is not session:
            step = above.get(id(step))
        if step is session:
            parent, call = root, ""
        above[id(session)] = parent
        session.ledger.started_by = call or None
        parent.ledger.subagents.append(session.ledger)


@dataclass(slots=True)
class _Counter:
    keep: Keep
    calls: tuple[set[str], set[str]]
    ledger: Ledger
    usage: Usage | None = None
    agents: dict[str, str] = field(default_factory=dict)
    times: dict[str, int] = field(default_factory=dict)
    waiting: dict[str, list[str]] = field(default_factory=dict)
    number: int = 0

    def count(self, line: _Line) -> None:
        self.number += 1
        to = self.ledger.aside if line.undone else self.ledger.entries
        if line.message.get("type") == "user":
            to.extend(self._user(line))
        elif line.message.get("type") == "gemini":
            to.extend(self._gemini(line.message, line.place))
            self._add_tokens(_dict(line.message.get("tokens")))

    def _user(self, line: _Line) -> Iterator[Entry]:
        parts = _parts(line.message.get("content"))
        for part in parts:
            if "functionResponse" in part:
                identity = _text(_dict(part["functionResponse"]).get("id"))
                if identity not in self.calls[1]:
                    waiting = self.waiting.get(identity or "")
                    yield from self._result([part], identity, waiting.pop(0) if waiting else None, None, line.place)
        text, pictures, files = _read(parts)
        if text.strip() or pictures or files:
            entry = entry_of_text("prompt", line.place, text, self.keep)
            entry.injected = line.renewed or text.lstrip().startswith(_INJECTED)
            yield from _with_pictures(entry, pictures)

    def _gemini(self, message: _Fields, place: Place) -> Iterator[Entry]:
        parts = _parts(message.get("content"))
        listed = [thought for thought in _list(message.get("thoughts")) if thought]
        thoughts: list[JSON] = [_thought(each) for each in listed]
        if not listed:
            thoughts = [part.get("text") for part in parts if part.get("thought") is True]
        words = [*(("thought", text) for text in thoughts), ("answer", _read(parts)[0])]
        for kind, text in words:
            if isinstance(text, str) and text.strip():
                entry = entry_of_text(kind, place, text, self.keep)
                entry.message = str(self.number)
                yield entry
        calls = [_dict(call) for call in _list(message.get("toolCalls"))]
        for call in calls:
            yield from self._call(call, place)
        for part in parts:
            call = _dict(part.get("functionCall"))
            if (
                "functionCall" in part
                and _text(call.get("id")) not in self.calls[0]
                and not (calls and "id" not in call)
            ):
                yield from self._call(call, place)

    def _call(self, values: _Fields, place: Place) -> Iterator[Entry]:
        logged, name, agent = _text(values.get("id")), _text(values.get("name")), _text(values.get("agentId"))
        base = logged or f"message-{place.number}"
        self.times[base] = self.times.get(base, 0) + 1
        call = base if self.times[base] == 1 else f"{base}__{self.times[base]}"
        self.waiting.setdefault(base, []).append(call)
        if agent is not None:
            self.agents.setdefault(agent, call)
        yield entry_of_call(place, call, name or "unknown_tool", arguments_of(values.get("args")), self.keep)
        status = _text(values.get("status"))
        yield from self._result(_parts(values.get("result")), logged, call, _OK.get(status), place, listed=True)

    def _result(
        self,
        parts: list[_Fields],
        logged: str | None,
        call: str | None,
        ok: bool | None,
        place: Place,
        *,
        listed: bool = False,
    ) -> Iterator[Entry]:
        responses = [_dict(part.get("functionResponse")) for part in parts if "functionResponse" in part]
        several = logged is not None and logged in [response.get("id") for response in responses]
        texts: list[str] = []
        pictures: list[bytes | None] = []
        files = 0
        for part in parts:
            response = _dict(part.get("functionResponse"))
            if "functionResponse" not in part:
                text, more, others = _read([part])
                texts += [text] if text else []
            elif several and response.get("id") != logged:
                continue
            else:
                spoken = _response(response.get("response"))
                texts += [spoken] if spoken else []
                _, more, others = _read(_parts(response.get("parts")))
            pictures += more
            files += others
        if listed and ok is None and not texts and not pictures and not files:
            return
        entry = entry_of_text("result", place, "\n".join(texts), self.keep)
        entry.id, entry.ok = call, ok
        yield from _with_pictures(entry, pictures)

    def _add_tokens(self, tokens: _Fields) -> None:
        """Cached tokens are inside the input; thoughts are billed as output."""
        sent, made, cached, thoughts, tool = (
            _whole(tokens.get(key)) for key in ("input", "output", "cached", "thoughts", "tool")
        )
        if sent is None and made is None:
            return
        usage = self.usage = self.usage or Usage()
        usage.prompt_tokens = _sum(usage.prompt_tokens, None if sent is None else sent + (tool or 0))
        usage.output_tokens = _sum(usage.output_tokens, None if made is None else made + (thoughts or 0))
        usage.cached_tokens = _sum(usage.cached_tokens, cached)
        usage.reasoning_tokens = _sum(usage.reasoning_tokens, thoughts)


def _with_pictures(entry: Entry, pictures: list[bytes | None]) -> Iterator[Entry]:
    entry.images = len(pictures)
    yield entry
    for picture in pictures:
        yield entry_of_image(entry.place, entry.id, picture)


def _thought(thought: JSON) -> str:
    told = [thought] if isinstance(thought, str) else [_dict(thought).get(key) for key in ("subject", "description")]
    return " — ".join(word for word in told if isinstance(word, str) and word)


def _response(value: JSON) -> str:
    words = value["output"] if isinstance(value, dict) and "output" in value else value
    if isinstance(words, str):
        return words
    return "" if words is None or words == {} else json_text.dump(words).decode("utf-8")


def _read(parts: list[_Fields]) -> tuple[str, list[bytes | None], int]:
    """The words of some parts, the bytes of their pictures, and how many files there are beside."""
    text = "".join(
        words for part in parts if isinstance(words := part.get("text"), str) and part.get("thought") is not True
    )
    pictures: list[bytes | None] = []
    files = 0
    for part in parts:
        data, file = part.get("inlineData"), part.get("fileData")
        source = data if isinstance(data, dict) else file if isinstance(file, dict) else None
        if source is None:
            continue
        kind = _text(source.get("mimeType"))
        if (kind or "").startswith("image/") or (kind is None and source is data):
            pictures.append(_bytes(source.get("data")) if source is data else None)
        else:
            files += 1
    return text, pictures, files


def _bytes(data: JSON) -> bytes | None:
    try:
        return base64.b64decode(data, validate=True) if isinstance(data, str) else None
    except (binascii.Error, ValueError):
        return None


def _parts(content: JSON) -> list[_Fields]:
    listed = content if isinstance(content, list) else [] if content is None else [content]
    return [{"text": part} if isinstance(part, str) else _dict(part) for part in listed]


def _dict(value: JSON) -> _Fields:
    return value if isinstance(value, dict) else {}


def _list(value: JSON) -> list[JSON]:
    return value if isinstance(value, list) else []


def _text(value: JSON) -> str | None:
    return value if isinstance(value, str) and value else None


def _whole(value: JSON) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else one + other
