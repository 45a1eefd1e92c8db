"""Small logs of gptme for tests, message by message, and the reader's chat against the counter's ledger."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

from claude_code_logs import pieces
from trailbook.chat import Chat, Compacted, Returned, Usage
from trailbook.ledger import Entry, Ledger, keep_nothing
from trailbook.readers import HEAD_BYTES, Found, Passed, gptme
from trailbook.timeline import make_timeline

DATA = Path(__file__).parent / "data" / "gptme"
START = datetime(2026, 10, 12, 9)

Log = list[dict[str, Any]]


def system(content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "system", "content": content, **fields}


def result(call: str, content: str, **fields: Any) -> dict[str, Any]:
    return system(content, call_id=call, **fields)


def user(content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **fields}


def model(content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **fields}


def stamped(*messages: dict[str, Any]) -> Log:
    """The messages, a second apart where they say no time of their own."""
    times = ((START + timedelta(seconds=number)).isoformat(timespec="microseconds") for number in range(len(messages)))
    return [{"timestamp": time, **message} for time, message in zip(times, messages, strict=True)]


def write_lines(path: Path, records: Log) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def write(folder: Path, *messages: dict[str, Any], settings: str = "") -> Path:
    """A chat's folder with its log; gives the log."""
    path = write_lines(folder / "2026-10-12-small" / "conversation.jsonl", stamped(*messages))
    if settings:
        (path.parent / "config.toml").write_text(f"[chat]\n{settings}\n")
    return path


def find(path: Path) -> list[Found] | Passed | None:
    return gptme.find(path, path.read_bytes()[:HEAD_BYTES])


def found_in(path: Path) -> Found:
    found = find(path)
    assert isinstance(found, list), found
    return found[0]


def read_file(path: Path, zone: tzinfo = UTC) -> Chat:
    """The chat of a log; what the reader tells is what the counter finds."""
    found = found_in(path)
    chat = gptme.read(found, zone)
    assert_counted_alike(chat, gptme.count(found, keep_nothing))
    return chat


def read(folder: Path, *messages: dict[str, Any], settings: str = "") -> Chat:
    return read_file(write(folder, *messages, settings=settings))


def of(chat: Chat, kind: type[Any]) -> list[Any]:
    return [event for event in chat.events if isinstance(event, kind)]


def answered(chat: Chat) -> list[tuple[str | None, str | None, str]]:
    """Each result: its call, how it was linked, the first line of what it says."""
    return [
        (event.call, event.linked, event.parts[0].text.split("\n")[0] if event.parts else f"({event.not_run})")
        for event in of(chat, Returned)
    ]


def reports(chat: Chat) -> dict[str, int]:
    return {report.kind: report.count for report in chat.diagnostics}


def assert_counted_alike(chat: Chat, ledger: Ledger) -> None:
    """What the reader tells of a log is what the counter finds in its lines."""
    own, aside = [], []
    for event in chat.events:
        if not isinstance(event, Compacted):
            (aside if event.branch else own).extend((*piece[:6], *piece[7:]) for piece in pieces(event))
    assert Counter(own) == Counter(_counted(ledger.entries))
    assert Counter(aside) == Counter(_counted(ledger.aside))
    assert (make_timeline(chat).totals.usage or Usage()) == (ledger.usage or Usage())
    assert [subagent.id for subagent in chat.subagents] == [subagent.chat for subagent in ledger.subagents]
    for subagent, counted in zip(chat.subagents, ledger.subagents, strict=True):
        assert_counted_alike(subagent, counted)


def _counted(entries: list[Entry]) -> Iterator[tuple[Any, ...]]:
    for entry in entries:
        if entry.kind != "system":
            ok = (entry.ok, entry.not_run) if entry.kind == "result" else None
            place = None if entry.injected else entry.place
            yield entry.kind, place, entry.digest, entry.id, entry.name, ok, entry.injected, entry.images
