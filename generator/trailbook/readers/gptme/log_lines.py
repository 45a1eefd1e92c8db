"""The lines of a gptme log: one message each, as `Message.to_dict` writes it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from trailbook.chat import JSON, Place
from trailbook.readers.lines import Problems, read_records
from trailbook.readers.values import Fields, fields, items, string

ROLES = ("system", "user", "assistant")
_REMINDERS = ("<system>", "You appear stuck", "Completion verification failed")
KNOWN = frozenset(
    (
        *("role", "content", "timestamp", "files", "file_hashes", "pinned", "hide", "quiet", "ui_only"),
        *("ephemeral_ttl", "call_id", "metadata"),
    )
)


@dataclass(slots=True)
class Line:
    """One message of a log."""

    place: Place
    role: str
    content: str
    """The text; an assistant's with `\\n` line ends, as gptme parses it."""
    timestamp: str | None = None
    call_id: str | None = None
    hidden: bool = False
    """True for what gptme does not show to the person; the model reads it."""
    shown_only: bool = False
    """True for what gptme shows to the person and does not send to the model."""
    files: tuple[str, ...] = ()
    hashes: tuple[tuple[str, str], ...] = ()
    """Path → the name of the copy in the chat's own folder `files`."""
    metadata: Fields | None = None

    @property
    def key(self) -> tuple[str, str, str | None]:
        """What a message is known by in another file of its chat."""
        return self.role, self.content, self.timestamp


def lines_of(path: Path, problems: Problems, *, name: str | None = None) -> list[Line]:
    """Every message in a file, in its order; what is none goes to `problems`. Raises OSError."""
    lines: list[Line] = []
    seen: set[tuple[object, ...]] = set()
    for record in read_records(path, problems, name=name):
        line = line_of(record.value, record.place)
        if line is None:
            problems.add(
                "unknown-record", "A line that is no message of gptme was passed over.", record.place, lost=True
            )
            continue
        same = (*line.key, line.call_id)
        if line.timestamp and same in seen:
            problems.count(
                "repeated-record", "A message stands in the log more than once; it is read once.", line.place
            )
            continue
        seen.add(same)
        lines.append(line)
        for key in fields(record.value):
            if key not in KNOWN:
                problems.count("unknown-field", f"Fields named “{key[:60]}” are not known.", record.place, lost=True)
    return lines


def line_of(value: JSON, place: Place) -> Line | None:
    """The message that a raw record is; None for one without a known role and a text."""
    raw = fields(value)
    role, content = raw.get("role"), raw.get("content")
    if role not in ROLES or not isinstance(role, str) or not isinstance(content, str):
        return None
    return Line(
        place=place,
        role=role,
        content=content.replace("\r\n", "\n").replace("\r", "\n") if role == "assistant" else content,
        timestamp=string(raw.get("timestamp")),
        call_id=string(raw.get("call_id")),
        hidden=raw.get("hide") is True,
        shown_only=raw.get("ui_only") is True,
        files=tuple(_texts(items(raw.get("files")))),
        hashes=tuple((path, copy) for path, copy in fields(raw.get("file_hashes")).items() if isinstance(copy, str)),
        metadata=fields(raw.get("metadata")),
    )


def injected_by(line: Line) -> str | None:
    """A word for what put a user's message there, where no person wrote it."""
    if "compaction_checkpoint_view" in (line.metadata or {}):
        return "compaction"
    if line.hidden or line.shown_only:
        return "context"
    return "reminder" if line.content.startswith(_REMINDERS) else None


def _texts(values: Iterable[JSON]) -> Iterable[str]:
    return (value for value in values if isinstance(value, str) and value)
