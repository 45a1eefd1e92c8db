"""Chats made by hand, event by event, for what a single test is about."""

from __future__ import annotations

from typing import Any

from trailbook.chat import Agent, Asked, Called, Chat, Image, Returned, Said, Text, Thought

START = 1_791_450_000_000
"""8 October 2026, 09:00 UTC."""

PICTURE = Image("image/png", b"\x89PNG\r\n\x1a\nsmall", None, 13, None, "shot.png")


def chat(*events: Any, **more: Any) -> Chat:
    agent = Agent("Pearl", "1.2", "Conch")
    return Chat(**{"id": "c_1", "source": "conch", "agent": agent, "events": list(events), **more})


def asked(text: str = "Go.", at: int | None = None, **more: Any) -> Asked:
    return Asked(**{"id": f"ask-{text[:8]}", "text": text, "at": at, **more})


def said(text: str, message: str | None = None, **more: Any) -> Said:
    return Said(text=text, message=message, **more)


def thought(text: str, message: str | None = None, **more: Any) -> Thought:
    return Thought(text=text, message=message, **more)


def called(id_: str, message: str | None = None, name: str = "run", **more: Any) -> Called:
    return Called(**{"id": id_, "name": name, "arguments": {"of": id_}, "message": message, **more})


def returned(call: str | None, text: str = "", ok: bool | None = True, **more: Any) -> Returned:
    parts = more.pop("parts", [Text(text)] if text else [])
    return Returned(call=call, parts=parts, ok=ok, **more)
