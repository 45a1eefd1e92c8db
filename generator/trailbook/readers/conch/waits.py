"""What the run waited for: permissions, questions, and whatever else a person had to do before it went on."""

from __future__ import annotations

from trailbook.chat import Noted, Permission
from trailbook.readers.conch.reading import Fields, Handler, Reading
from trailbook.readers.values import json_words

_DECISIONS = frozenset(("allow", "allow-always", "deny", "expired"))
_CAPPED = "capped"


def _permission_requested(reading: Reading, line: Fields) -> None:
    title, summary, call = line.words("title"), line.words("summary"), line.words("toolUseId")
    vault, browser, script = line.inner("vault"), line.inner("browser"), line.inner("script")
    details = [
        summary if title else None,
        line.words("detail"),
        line.words("cost"),
        line.words("caution"),
        line.words("taint"),
        _joined(browser, "action", "title", "url"),
        _joined(vault, "action", "itemTitle", "fieldLabel", "reason"),
        _joined(script, "title"),
    ]
    arguments = line.values.get("input")
    if call is None and arguments:
        # With a call, its own arguments say it.
        details.append(json_words(arguments))
    _wait(
        reading,
        Permission(
            id=line.identity("permissionId"),
            title=title or summary or line.words("toolName") or "",
            detail="\n".join(part for part in details if part) or None,
            call=call,
        ),
    )


def _permission_resolved(reading: Reading, line: Fields) -> None:
    kept = line.inner("kept").words("tool")
    answer = f"Kept for {kept}" if kept else None
    _settle(reading, line, line.identity("permissionId"), line.one_of("decision", _DECISIONS), answer)


def _question(reading: Reading, line: Fields) -> None:
    question = line.inner("question")
    asked = question.each("fields")
    labels = [label for label in (each.words("label") for each in asked) if label]
    title = question.words("title")
    details = [f"{each.words('label') or ''}: {choices}" for each in asked if (choices := _choices(each))]
    if title:
        details = details or labels
    event = Permission(
        id=question.identity("questionId"),
        title=title or " · ".join(labels),
        detail="\n".join(details) or None,
        question=True,
    )
    _wait(reading, event)


def _choices(asked: Fields) -> str:
    return " / ".join(label for label in (option.words("label") for option in asked.each("options")) if label)


def _question_answered(reading: Reading, line: Fields) -> None:
    answer = line.inner("answer")
    values = answer.values.get("values")
    text = answer.words("text") or (json_words(values) if values else None)
    decision = "answered" if answer.values else "dismissed"
    _settle(reading, line, line.identity("questionId"), decision, text)


def _handoff(reading: Reading, line: Fields) -> None:
    handoff = line.inner("handoff")
    decision = {"done": "answered", "cancelled": "dismissed"}.get(handoff.text("state") or "")
    answer = "It went on by itself" if handoff.flag("auto") else None
    reason = handoff.words("reason") or "It handed you the browser"
    _wait_or_settle(reading, line, handoff.identity("handoffId"), decision, answer, reason, handoff.words("url"))


def _vault(reading: Reading, line: Fields) -> None:
    request = line.inner("request")
    decision = {"done": "answered", "declined": "dismissed", "expired": "expired"}.get(request.text("state") or "")
    wanted = "Save a password" if request.text("kind") == "save" else "Unlock the passwords"
    detail = _joined(request, "title", "site", "reason")
    _wait_or_settle(reading, line, request.identity("requestId"), decision, None, wanted, detail)


def _capped(reading: Reading, line: Fields) -> None:
    limit, whose = line.number("limitUsd"), line.words("limit")
    title = f"This {whose or 'chat'} reached its spending limit" + ("" if limit is None else f" of ${limit:,.2f}")
    spent = line.number("spentUsd")
    reading.waits.pop(_CAPPED, None)
    event = Permission(id=_CAPPED, title=title, detail=None if spent is None else f"${spent:,.2f} spent", question=True)
    _wait(reading, event)
    event.id = f"{_CAPPED}-{line.place.number}"


def _capped_settled(reading: Reading, line: Fields) -> None:
    outcome = line.words("outcome")
    _settle(reading, line, _CAPPED, "dismissed" if outcome == "stopped" else "answered", outcome)


def _wait(reading: Reading, event: Permission) -> None:
    known = reading.waits.get(event.id)
    if known is not None:
        # The same question again, in other words: the last ones count, the wait began with the first.
        known.title, known.detail = event.title or known.title, event.detail or known.detail
        return
    reading.waits[event.id] = event
    reading.add(event)


def _wait_or_settle(
    reading: Reading,
    line: Fields,
    identity: str,
    decision: str | None,
    answer: str | None,
    title: str,
    detail: str | None,
) -> None:
    """One event that is logged at every change: the first that waits opens a wait, the one that settles it ends it."""
    if decision is None:
        _wait(reading, Permission(id=identity, title=title, detail=detail, question=True))
    elif identity in reading.waits:
        _settle(reading, line, identity, decision, answer)
    else:
        reading.add(Noted(topic="request", text=title, detail=detail))


def _settle(reading: Reading, line: Fields, identity: str, decision: str | None, answer: str | None) -> None:
    event = reading.waits.get(identity)
    if event is None:
        text = f"An answer was given to {identity}, which was not asked in this log."
        reading.problems.add("orphan-answer", text, line.place)
        said = ": ".join(part for part in (decision, answer) if part)
        reading.add(Noted(topic="answer", text=said or "Answered"))
        return
    event.answered, event.decision, event.answer = reading.at, decision, answer


def _joined(each: Fields, *keys: str) -> str | None:
    return " · ".join(text for text in (each.words(key) for key in keys) if text) or None


HANDLERS: dict[str, Handler] = {
    "permission.requested": _permission_requested,
    "permission.resolved": _permission_resolved,
    "question": _question,
    "question.answered": _question_answered,
    "browser.handoff": _handoff,
    "vault.request": _vault,
    "turn.capped": _capped,
    "turn.capped.settled": _capped_settled,
}
