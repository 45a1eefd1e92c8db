"""A session's entries, from whatever holds them: JSON lines (compressed or not), rows of a database, a bundle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from trailbook.chat import Place
from trailbook.readers import compressed, databases
from trailbook.readers.lines import Problems, Record, read_records, read_stream, records_of_head
from trailbook.readers.openclaw import bundle, database
from trailbook.readers.values import Fields, fields, items, string

_NOWHERE = Place("", 0)


@dataclass(slots=True)
class Log:
    """What a session's store holds of it."""

    header: Fields = field(default_factory=dict)
    entries: list[Record] = field(default_factory=list)
    """Each once, in the order of the store."""
    title: str | None = None
    """The title on a line of its own above the header (OMP)."""


def records_of(path: Path, session: str, problems: Problems) -> Iterator[Record]:
    """Every record of a session, its header among them. Raises Unreadable, OSError."""
    if databases.is_database(path):
        yield from database.records(path, session, problems)
    elif path.suffix == ".zst":
        data, whole = compressed.decompress(path.read_bytes(), path)
        if not whole:
            problems.add("cut-file", f"{path.name} ends in the middle of its compressed data.", lost=True)
        yield from read_stream(BytesIO(data), problems, name=path.name)
    elif path.name == bundle.BRANCH:
        yield from bundle.records(path, problems)
    else:
        yield from read_records(path, problems)


def split(records: Iterable[Record], problems: Problems) -> Log:
    """The header apart from the entries; what is neither, or stands there twice, goes to `problems`."""
    log = Log()
    seen: dict[str, Fields] = {}
    for record in records:
        value = fields(record.value)
        kind, identity = string(value.get("type")), string(value.get("id"))
        if kind is None:
            text = "Records that are no entries of a session were passed over."
            problems.count("unknown-record", text, record.place, lost=True)
        elif kind == "session":
            _take_header(log, value, record.place, problems)
        elif kind == "title" and identity is None:
            log.title = string(value.get("title")) or log.title
        elif identity is None or _is_new(identity, value, seen, record.place, problems):
            log.entries.append(record)
    return log


def _take_header(log: Log, value: Fields, place: Place, problems: Problems) -> None:
    if not log.header:
        log.header = value
    elif value != log.header:
        problems.count("second-header", "The log has a second header; the first one counts.", place)


def _is_new(identity: str, value: Fields, seen: dict[str, Fields], place: Place, problems: Problems) -> bool:
    if identity not in seen:
        seen[identity] = value
        return True
    if seen[identity] == value:
        problems.count("repeated-record", "Entries that stand in the log more than once were read once.", place)
        return False
    problems.count("reused-id", "Two different entries have one id; both were read.", place)
    return True


def lines_in(data: bytes) -> Log:
    """The whole lines in a part of a file; what is wrong with them is said when the file is read."""
    return split((Record(_NOWHERE, value) for value in records_of_head(data)), Problems())


def first_prompt(entries: Iterable[Record]) -> str | None:
    """What a person first asked in some entries."""
    for entry in entries:
        message = fields(fields(entry.value).get("message"))
        if message.get("role") == "user" and message.get("synthetic") is not True:
            content = message.get("content")
            texts = [content] if isinstance(content, str) else [fields(block).get("text") for block in items(content)]
            asked = "\n".join(text for text in texts if isinstance(text, str)).strip()
            if asked:
                return asked
    return None


def name_in(entries: Iterable[Record]) -> str | None:
    """The name that a session was given last."""
    name = None
    for entry in entries:
        value = fields(entry.value)
        key = {"session_info": "name", "title": "title", "title_change": "title"}.get(str(value.get("type")))
        name = string(value.get(key)) or name if key else name
    return name
