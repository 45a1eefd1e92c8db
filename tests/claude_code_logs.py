"""Small logs of Claude Code for tests, record by record, and the reader's chat against the counter's ledger."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import Any

from trailbook.chat import (
    Asked,
    Called,
    Chat,
    Compacted,
    Event,
    Image,
    Noted,
    Part,
    Place,
    Returned,
    Said,
    Thought,
    Usage,
    text_of,
)
from trailbook.ledger import Ledger, digest_of_arguments, digest_of_bytes, digest_of_text, keep_nothing, plain
from trailbook.readers import HEAD_BYTES, Found, Passed, claude_code
from trailbook.timeline import make_timeline

SAMPLE = Path(__file__).parent / "data" / "claude_code" / "projects" / "-home-user-orchard"
SESSION = "5f0c2f7e-1111-4222-8333-444455556666"
GIF = base64.b64decode("R0lGODlhAQABAAAAACw=")
GIF_TEXT = base64.b64encode(GIF).decode()
START = 1_792_314_000_000

Log = list[dict[str, Any]]


# --- small logs, record by record


def record(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "sessionId": "s", **fields}


def user(content: Any, **fields: Any) -> dict[str, Any]:
    return record("user", message={"role": "user", "content": content}, **fields)


def model(
    *blocks: Any, key: str = "msg_1", tokens: Any = None, stop: str | None = None, **fields: Any
) -> dict[str, Any]:
    usage = {"input_tokens": 1, "output_tokens": 2} if tokens is None else tokens
    message = {"id": key, "role": "assistant", "model": "model-x", "content": list(blocks), "stop_reason": stop}
    return record("assistant", message={**message, "usage": usage}, **fields)


def result(call: str, content: Any, outcome: Any = None, *, error: bool | None = None, **fields: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call, "content": content}
    if error is not None:
        block["is_error"] = error
    return user([block], toolUseResult=outcome, **fields)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(identity: str = "t1", name: str = "Bash", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": identity, "name": name, "input": arguments}


def picture(data: Any = GIF_TEXT, media_type: Any = "image/gif") -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


def queued(prompt: Any, **fields: Any) -> dict[str, Any]:
    return record("attachment", attachment={"type": "queued_command", "prompt": prompt, **fields})


def chained(records: Log) -> Log:
    """The records with ids, times and parents as the agent gives them, where they have none of their own."""
    chain: Log = []
    parent = None
    for number, item in enumerate(records, 1):
        time = f"2026-10-18T09:{number // 60:02}:{number % 60:02}.000Z"
        chain.append({"uuid": f"u{number}", "parentUuid": parent, "timestamp": time, **item})
        parent = chain[-1]["uuid"]
    return chain


def write(path: Path, records: Log, *, chain: bool = True) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = chained(records) if chain else records
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def find(path: Path) -> list[Found] | Passed | None:
    with path.open("rb") as stream:
        return claude_code.find(path, stream.read(HEAD_BYTES))


def found_in(path: Path) -> Found:
    answer = find(path)
    assert isinstance(answer, list), answer
    assert len(answer) == 1
    return answer[0]


def read_file(path: Path) -> Chat:
    return claude_code.read(found_in(path), UTC)


def read(folder: Path, *records: dict[str, Any]) -> Chat:
    """The chat of a small log, whose ledger is counted and compared with it on the way."""
    path = write(folder / "s.jsonl", list(records))
    chat = read_file(path)
    assert_counted_alike(chat, claude_code.count(found_in(path), keep_nothing))
    return chat


def of(chat: Chat, kind: type[Any]) -> list[Any]:
    return [event for event in chat.events if isinstance(event, kind)]


def prompts(chat: Chat) -> list[str]:
    return [event.text for event in of(chat, Asked) if event.injected is None and event.branch is None]


def injected(chat: Chat) -> list[tuple[str, str]]:
    return [(event.injected, event.text) for event in of(chat, Asked) if event.injected is not None]


def notes(chat: Chat) -> list[tuple[str, str, str | None]]:
    return [(event.topic, event.text, event.detail) for event in of(chat, Noted)]


def reports(chat: Chat) -> dict[str, int]:
    return {report.kind: report.count for report in chat.diagnostics}


# --- the reader against the counter


def assert_counted_alike(chat: Chat, ledger: Ledger) -> None:
    """What the reader tells of a log is what the counter, which shares nothing with it, finds there."""
    own, aside = told(chat)
    assert Counter(own) == Counter(counted(ledger.entries))
    assert Counter(aside) == Counter(counted(ledger.aside))
    assert (make_timeline(chat).totals.usage or Usage()) == (ledger.usage or Usage())
    below = {subagent.chat: subagent for subagent in ledger.subagents}
    assert {subagent.id: subagent.started_by for subagent in chat.subagents} == {
        name: subagent.started_by for name, subagent in below.items()
    }
    for subagent in chat.subagents:
        assert_counted_alike(subagent, below[subagent.id])


def counted(entries: list[Any]) -> Iterator[tuple[Any, ...]]:
    for entry in entries:
        # A compaction's summary stands on another line than its boundary.
        place = None if entry.injected else entry.place
        ok = (entry.ok, entry.not_run) if entry.kind == "result" else None
        yield entry.kind, place, entry.digest, entry.id, entry.name, ok, entry.message, entry.injected, entry.images


def told(chat: Chat) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    own: list[tuple[Any, ...]] = []
    aside: list[tuple[Any, ...]] = []
    for event in chat.events:
        (aside if event.branch or event.inherited else own).extend(pieces(event))
    return own, aside


def pieces(event: Event) -> Iterator[tuple[Any, ...]]:
    place = event.place
    words = getattr(event, "text", "") or ""
    if isinstance(event, Asked):
        images = [part for part in event.parts if isinstance(part, Image)]
        if plain(words) or images:
            asked = (None, None, None, None, event.injected is not None, len(images))
            yield "prompt", None if event.injected else place, digest_of_text(words), *asked
        yield from pictures(place, None, event.parts)
    elif isinstance(event, Said | Thought):
        if plain(words):
            kind = "answer" if isinstance(event, Said) else "thought"
            yield kind, place, digest_of_text(words), None, None, None, event.message, False, 0
        yield from pictures(place, None, event.parts if isinstance(event, Said) else [])
    elif isinstance(event, Called):
        arguments = event.raw if event.raw is not None else event.arguments
        yield "call", place, digest_of_arguments(arguments), event.id, event.name, None, None, False, 0
    elif isinstance(event, Returned):
        images = [part for part in event.parts if isinstance(part, Image)]
        ok = (event.ok, event.not_run is not None)
        digest = digest_of_text(text_of(event.parts))
        yield "result", place, digest, event.call, None, ok, None, False, len(images)
        yield from pictures(place, event.call, event.parts)
    elif isinstance(event, Compacted) and plain(event.summary or ""):
        yield "prompt", None, digest_of_text(event.summary or ""), None, None, None, None, True, 0


def pictures(place: Place | None, call: str | None, parts: list[Part]) -> Iterator[tuple[Any, ...]]:
    for part in parts:
        if isinstance(part, Image):
            digest = digest_of_bytes(part.data) if part.data else b""
            yield "image", place, digest, call, None, None, None, False, 0
