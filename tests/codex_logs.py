"""Small rollouts of Codex for tests, line by line, and the reader's chat against the counter's ledger."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
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
from trailbook.readers import HEAD_BYTES, Found, Passed, codex
from trailbook.timeline import make_timeline

SAMPLE = Path(__file__).parent / "data" / "codex"
THREAD = "0199d100-0000-7000-8000-0000000000aa"
CHILD = "0199d100-0000-7000-8000-0000000000bb"
GIF = base64.b64decode("R0lGODlhAQABAAAAACw=")
GIF_URL = "data:image/gif;base64," + base64.b64encode(GIF).decode()
START = datetime(2026, 10, 8, 9, 30, tzinfo=UTC)

Log = list[dict[str, Any]]


# --- small logs, line by line


def meta(thread: str = THREAD, **fields: Any) -> dict[str, Any]:
    about = {"id": thread, "cwd": "/home/sam/orchard", "cli_version": "0.144.1", "source": "cli"}
    return {"type": "session_meta", "payload": {**about, **fields}}


def spawned(thread: str = CHILD, parent: str = THREAD, **fields: Any) -> dict[str, Any]:
    """The first line of a thread that an agent spawned."""
    spawn = {"parent_thread_id": parent, "depth": 1, "agent_nickname": "Gauss", "agent_role": "explorer"}
    return meta(thread, forked_from_id=parent, source={"subagent": {"thread_spawn": spawn}}, **fields)


def item(kind: str, /, **fields: Any) -> dict[str, Any]:
    return {"type": "response_item", "payload": {"type": kind, **fields}}


def event(kind: str, /, **fields: Any) -> dict[str, Any]:
    return {"type": "event_msg", "payload": {"type": kind, **fields}}


def turn_item(kind: str, /, **fields: Any) -> dict[str, Any]:
    return event("item_completed", thread_id=THREAD, turn_id="t1", item={"type": kind, "id": "i1", **fields})


def user(*blocks: Any) -> dict[str, Any]:
    return item("message", role="user", content=[_block(block, "input_text") for block in blocks])


def answer(*blocks: Any) -> dict[str, Any]:
    return item("message", role="assistant", content=[_block(block, "output_text") for block in blocks])


def _block(block: Any, kind: str) -> Any:
    return {"type": kind, "text": block} if isinstance(block, str) else block


def picture(url: Any = GIF_URL) -> dict[str, Any]:
    return {"type": "input_image", "image_url": url}


def call(identity: Any = "c1", name: str = "exec_command", arguments: Any = '{"cmd":"ls"}') -> dict[str, Any]:
    return item("function_call", name=name, arguments=arguments, call_id=identity)


def output(identity: Any = "c1", words: Any = "done") -> dict[str, Any]:
    return item("function_call_output", call_id=identity, output=words)


def begin(turn: str = "t1") -> dict[str, Any]:
    return event("task_started", turn_id=turn)


def end(turn: str = "t1", **fields: Any) -> dict[str, Any]:
    return event("task_complete", turn_id=turn, **fields)


def tokens(prompt: int, out: int, cached: int = 0, **info: Any) -> dict[str, Any]:
    """A counter's snapshot: the thread's totals so far."""
    total = {"input_tokens": prompt, "cached_input_tokens": cached, "output_tokens": out, "reasoning_output_tokens": 0}
    return event("token_count", info={"total_token_usage": total, **info})


def stamped(records: Log) -> Log:
    """The lines with times a second apart, where they have none of their own."""
    return [
        {"timestamp": at(seconds), **record} if "timestamp" not in record else record
        for seconds, record in enumerate(records)
    ]


def at(seconds: float) -> str:
    """A time, in seconds from the start of the log."""
    return (START + timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def path_of(folder: Path, thread: str = THREAD, day: str = "2026-10-08") -> Path:
    return folder / "sessions" / day.replace("-", "/") / f"rollout-{day}T09-30-00-{thread}.jsonl"


def write(path: Path, records: Log) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in stamped(records)), encoding="utf-8")
    return path


def find(path: Path) -> list[Found] | Passed | None:
    with path.open("rb") as stream:
        return codex.find(path, stream.read(HEAD_BYTES))


def found_in(path: Path) -> Found:
    found = find(path)
    assert isinstance(found, list), found
    assert len(found) == 1
    return found[0]


def read_file(path: Path) -> Chat:
    """The chat of a rollout, whose ledger is counted and compared with it on the way."""
    found = found_in(path)
    chat = codex.read(found, UTC)
    assert_counted_alike(chat, codex.count(found, keep_nothing))
    return chat


def read(folder: Path, *records: dict[str, Any]) -> Chat:
    """The chat of a small log, behind a first line of its own where it has none."""
    own = [] if records and records[0].get("type") == "session_meta" else [meta()]
    return read_file(write(path_of(folder), [*own, *records]))


def of(chat: Chat, kind: type[Any]) -> list[Any]:
    return [event for event in chat.events if isinstance(event, kind)]


def own(chat: Chat) -> list[Event]:
    return [event for event in chat.events if not event.inherited and event.branch is None]


def prompts(chat: Chat) -> list[str]:
    return [event.text for event in own(chat) if isinstance(event, Asked) and event.injected is None]


def injected(chat: Chat) -> list[tuple[str | None, str]]:
    return [(event.injected, event.text) for event in of(chat, Asked) if event.injected is not None]


def answers(chat: Chat) -> list[str]:
    return [event.text for event in own(chat) if isinstance(event, Said)]


def notes(chat: Chat) -> list[tuple[str, str, str | None]]:
    return [(event.topic, event.text, event.detail) for event in of(chat, Noted)]


def results(chat: Chat) -> list[tuple[str | None, str]]:
    return [(event.call, text_of(event.parts)) for event in of(chat, Returned)]


def reports(chat: Chat) -> dict[str, int]:
    return {report.kind: report.count for report in chat.diagnostics}


def usage_of(chat: Chat) -> Usage | None:
    return make_timeline(chat).totals.usage


# --- the reader against the counter


def assert_counted_alike(chat: Chat, ledger: Ledger) -> None:
    """What the reader tells of a log is what the counter finds there."""
    assert ledger.chat == chat.id
    told_own = [piece for event in own(chat) for piece in pieces(event)]
    told_aside = [piece for event in chat.events if event.branch or event.inherited for piece in pieces(event)]
    assert Counter(told_own) == Counter(counted(ledger.entries))
    assert Counter(told_aside) == Counter(counted(ledger.aside))
    assert (usage_of(chat) or Usage()) == (ledger.usage or Usage())
    below = {subagent.chat: subagent for subagent in ledger.subagents}
    assert {subagent.id: subagent.started_by for subagent in chat.subagents} == {
        name: subagent.started_by for name, subagent in below.items()
    }
    for subagent in chat.subagents:
        assert_counted_alike(subagent, below[subagent.id])


def counted(entries: list[Any]) -> Iterator[tuple[Any, ...]]:
    for entry in entries:
        ok = (entry.ok, entry.not_run) if entry.kind == "result" else None
        yield entry.kind, entry.place, entry.digest, entry.id, entry.name, ok, entry.injected, entry.images


def pieces(event: Event) -> Iterator[tuple[Any, ...]]:
    place = event.place
    words = getattr(event, "text", "") or ""
    if isinstance(event, Asked):
        images = sum(isinstance(part, Image) for part in event.parts)
        if plain(words) or images:
            yield "prompt", place, digest_of_text(words), None, None, None, event.injected is not None, images
        yield from pictures(place, None, event.parts)
    elif isinstance(event, Said | Thought):
        if plain(words):
            kind = "answer" if isinstance(event, Said) else "thought"
            images = 0 if isinstance(event, Thought) else sum(isinstance(part, Image) for part in event.parts)
            yield kind, place, digest_of_text(words), None, None, None, False, images
        yield from pictures(place, None, event.parts if isinstance(event, Said) else [])
    elif isinstance(event, Compacted) or (isinstance(event, Noted) and event.topic == "system"):
        context = event.summary if isinstance(event, Compacted) else event.text
        if plain(context or ""):
            yield "prompt", place, digest_of_text(context or ""), None, None, None, True, 0
    elif isinstance(event, Called):
        arguments = event.raw if event.raw is not None else event.arguments
        yield "call", place, digest_of_arguments(arguments), event.id, event.name, None, False, 0
    elif isinstance(event, Returned):
        images = sum(isinstance(part, Image) for part in event.parts)
        ok = (event.ok, event.not_run is not None)
        yield "result", place, digest_of_text(text_of(event.parts)), event.call, None, ok, False, images
        yield from pictures(place, event.call, event.parts)


def pictures(place: Place | None, call: str | None, parts: list[Part]) -> Iterator[tuple[Any, ...]]:
    for part in parts:
        if isinstance(part, Image):
            digest = digest_of_bytes(part.data) if part.data else b""
            yield "image", place, digest, call, None, None, False, 0
