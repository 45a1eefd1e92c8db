"""Events that are no work of their own: notices, plans, offers, other agents' words. Each becomes one note."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from trailbook.chat import Called, Noted, Said, Thought
from trailbook.readers.conch.reading import Fields, Handler, Reading


@dataclass(slots=True, frozen=True)
class Form:
    """How an event becomes a note. `{a.b}` stands for a field; a note without words is named by its topic."""

    topic: str
    text: str
    detail: str = ""
    call: str = "toolUseId"
    """The field with the id of the call that it belongs to."""


FORMS: dict[str, Form] = {
    "narration": Form("narration", "{text}"),
    "story.titled": Form("story", "{headline}", "{outcome}", call="storyId"),
    "memory.forgotten": Form("memory", "Forgot something", "{content}"),
    "learning.decided": Form("learning", "What it learned was {state}"),
    "taint": Form("taint", "Took in what {source.label} says", "{source.kind}"),
    "notice": Form("notice", "{message}", "{code}"),
    "spend.notice": Form("spending", "{message}", "{kind}"),
    "skill.used": Form("skill", "Used the skill {title}", "{by}"),
    "skill.hold.ended": Form("skill", "Let go of the skill {title}", "{reason}"),
    "turn.held": Form("held", "Waited before it began: {reason}"),
    "turn.routed": Form("model", "{message}", "{from} → {to}: {reason}"),
    "context.cleared": Form("context", "The agent no longer sees what stands above"),
    "context.restored": Form("context", "The agent sees again what stood above"),
    "routine": Form("routine", "{title}", "{action}"),
    "standing.order": Form("standing order", "{text}"),
    "integration.issue": Form("app", "{name}: {message}", "{state}"),
    "integration.suggestion": Form("offer", "{name}: {description}"),
    "integration.suggestion.dismissed": Form("offer", "{catalogId}: dismissed"),
    "offer": Form("offer", "{offer.name}: {offer.description}", "{offer.why}"),
    "offer.resolved": Form("offer", "An offer was {outcome}"),
    "conch-app.offer": Form("app", "{offer.manifest.name}: {offer.manifest.tagline}", "{offer.message}"),
    "conch-app.share": Form("app", "Shared {share.name}"),
}

_FIELD = re.compile(r"\{([\w.]+)\}")
_MARKS = {"done": "x", "active": "~"}


def _note(form: Form) -> Handler:
    def handle(reading: Reading, line: Fields) -> None:
        text = _filled(form.text, line) or form.topic
        reading.add(Noted(topic=form.topic, text=text, detail=_filled(form.detail, line), call=line.words(form.call)))

    return handle


def _filled(pattern: str, line: Fields) -> str | None:
    """The pattern with its fields filled in; None where not one of them has words, or there is nothing to say."""
    found: list[str] = []

    def value(match: re.Match[str]) -> str:
        *path, key = match.group(1).split(".")
        inner = line
        for step in path:
            inner = inner.inner(step)
        found.append(inner.words(key) or "")
        return found[-1]

    filled = _FIELD.sub(value, pattern)
    if found and not any(found):
        return None
    return filled.strip(" :→") or None


def _title(reading: Reading, line: Fields) -> None:
    title = line.words("title")
    if title:
        reading.title = title
        reading.add(Noted(topic="title", text=title))


def _options(reading: Reading, line: Fields) -> None:
    options = line.inner("options")
    reading.engine = options.words("engine") or reading.engine
    chosen = [f"{key}: {value}" for key, value in options.values.items() if isinstance(value, str | bool | int)]
    reading.add(Noted(topic="options", text=", ".join(chosen) or "The usual options"))


def _goal(reading: Reading, line: Fields) -> None:
    goal = line.words("goal")
    reading.add(Noted(topic="goal", text=goal or "The goal was dropped"))


def _memory_decided(reading: Reading, line: Fields) -> None:
    text = "Kept a memory" if line.flag("kept") else "Did not keep a memory"
    reading.add(Noted(topic="memory", text=text, detail=line.words("content")))


def _learned(reading: Reading, line: Fields) -> None:
    for item in line.each("items"):
        states = [word for word in (item.words("change"), item.words("state")) if word]
        was = item.words("was")
        detail = ", ".join(states) + (f"\nBefore: {was}" if was else "")
        reading.add(Noted(topic="learning", text=item.words("text") or "Learned something", detail=detail or None))


def _looked(reading: Reading, line: Fields) -> None:
    query, chats = line.words("query"), line.each("chats")
    verb = "Read other chats" if line.text("action") == "read" else "Searched other chats"
    rows = []
    for chat in chats:
        rows.append(chat.words("title") or chat.words("id") or "")
        rows += [f"  {found.words('who') or ''}: {found.words('text') or ''}" for found in chat.each("lines")]
    text = f"{verb} for “{query}”" if query else verb
    reading.add(Noted(topic="chats", text=text, detail="\n".join(rows) or None))


def _restored(reading: Reading, line: Fields) -> None:
    text = "Did a change again" if line.text("direction") == "redo" else "Took a change back"
    paths = [path for path in (change.words("path") for change in line.each("files")) if path]
    reading.add(Noted(topic="files", text=text, detail="\n".join(paths) or None))


def _agent(reading: Reading, line: Fields) -> None:
    identity, name, before = line.words("agentId"), line.words("name"), line.inner("from")
    for each, named in ((identity, name), (before.words("agentId"), before.words("name"))):
        if each and named:
            reading.agents[each] = named
    if reading.speaker is None and name and before.words("name"):
        # Now it is known who answered up to here.
        for event in reading.events:
            if isinstance(event, Said | Thought | Called):
                event.by = before.words("name")
    reading.agent = identity or reading.agent
    reading.speaker = name or reading.speaker
    reading.add(Noted(topic="agent", text=f"{name or identity or 'Another agent'} answers from here"))


def _round(reading: Reading, line: Fields) -> None:
    speakers = [name for name in (speaker.words("name") for speaker in line.each("speakers")) if name]
    turns = line.whole("turns")
    said = [line.words("state"), None if turns is None else f"{turns} turns", line.words("reason")]
    text = "A round of agents: " + ", ".join(part for part in said if part)
    reading.add(Noted(topic="round", text=text, detail=", ".join(speakers) or None))


def _peer(reading: Reading, line: Fields) -> None:
    detail = "It failed" if line.flag("failed") else None
    event = Noted(topic="peer", text=line.words("text") or "", detail=detail)
    event.by = line.words("name")
    reading.add(event)


def _needs_apps(reading: Reading, line: Fields) -> None:
    names = [name for name in (need.words("name") for need in line.each("needs")) if name]
    model = line.inner("model").words("label")
    reading.add(Noted(topic="needs", text=f"It needs {', '.join(names) or 'an app'}", detail=model))


def _replies(reading: Reading, line: Fields) -> None:
    offered = [text for text in (reply.words("text") for reply in line.each("replies")) if text]
    reading.add(Noted(topic="replies", text="It offered replies", detail="\n".join(offered) or None))


def _plan(reading: Reading, line: Fields) -> None:
    steps = line.each("steps")
    rows = [f"[{_MARKS.get(step.text('status') or '', ' ')}] {step.words('title') or ''}" for step in steps]
    done = sum(step.text("status") == "done" for step in steps)
    reading.add(Noted(topic="plan", text=f"Plan: {done} of {len(steps)} done", detail="\n".join(rows) or None))


def _live(reading: Reading, line: Fields) -> None:
    text = f"What a chat shows while it runs (`{line.name}`) is not kept."
    reading.problems.count("left-out", text, line.place)


def _nothing(reading: Reading, line: Fields) -> None:
    """The end of a message: the events around it say the same."""


_MORE: dict[str, Callable[[Reading, Fields], None]] = {
    "title": _title,
    "options": _options,
    "goal": _goal,
    "memory.decided": _memory_decided,
    "learning.noted": _learned,
    "chats.looked": _looked,
    "files.restored": _restored,
    "agent": _agent,
    "round": _round,
    "peer.message": _peer,
    "turn.needs-apps": _needs_apps,
    "replies": _replies,
    "plan": _plan,
    "status": _live,
    "turn.usage": _live,
    "assistant.done": _nothing,
}

HANDLERS: dict[str, Handler] = {**{kind: _note(form) for kind, form in FORMS.items()}, **_MORE}
