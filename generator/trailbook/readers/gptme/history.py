"""The messages of a chat over all its files: the whole log, and what was taken back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from datetime import UTC

from trailbook.chat import Place
from trailbook.readers.gptme.folder import EVENTS, ChatFiles
from trailbook.readers.gptme.log_lines import Line, line_of, lines_of
from trailbook.readers.lines import Problems, read_records
from trailbook.readers.values import Fields, fields, moment, string

Key = tuple[str, str, str | None]


@dataclass(slots=True)
class Aside:
    """Messages of an abandoned branch that the active path has not."""

    name: str
    after: int
    """How many messages of the active path stand before the branch left it."""
    lines: list[Line]


@dataclass(slots=True)
class History:
    """A chat's messages."""

    lines: list[Line] = field(default_factory=list)
    """The active path."""
    summaries: dict[int, list[Line]] = field(default_factory=dict)
    """What the model went on from when the log was shortened by hand: behind how many messages → which."""
    asides: list[Aside] = field(default_factory=list)
    commands: dict[int, list[Line]] = field(default_factory=dict)
    """Commands to gptme itself, which are in its record of events only: likewise."""


def history_of(files: ChatFiles, problems: Problems) -> History:
    """Everything that a chat's files have, each message once. Raises OSError."""
    history = History(lines_of(files.log, problems))
    if files.full_log is not None:
        shortened = history.lines
        history = _whole(lines_of(files.full_log, problems), shortened)
    taken: Counter[Key] = Counter(line.key for line in history.lines)
    branches = [(path.stem, lines_of(path, problems, name=files.name(path))) for path in files.branches]
    # The longest first: each step back over several messages leaves a file, the later ones within the first.
    for name, lines in sorted(branches, key=lambda branch: (-len(branch[1]), branch[0])):
        _add_aside(history, name, _only_in(lines, history.lines, taken))
    if files.events is not None:
        _add_taken_back(history, files, taken, problems)
    return history


def events_of(files: ChatFiles, problems: Problems) -> Iterator[tuple[Place, Fields]]:
    """gptme's record of events, kept for recovery: `seq`, `ts` (UTC), `type`, `payload`. Raises OSError."""
    if files.events is not None:
        for record in read_records(files.events, problems, name=EVENTS):
            yield record.place, fields(record.value)


def _whole(full: list[Line], shortened: list[Line]) -> History:
    """The full log, with what only the shortened one has: the summary, and what came after where gptme lost count."""
    history = History()
    at = {_known_by(line): number for number, line in enumerate(full)}
    behind: dict[int, list[Line]] = {}
    last = -1
    for line in shortened:
        known = at.get(_known_by(line))
        if known is None:
            behind.setdefault(last, []).append(line)
        else:
            last = known
    summaries = []
    for number in range(-1, len(full)):
        if number >= 0:
            history.lines.append(full[number])
        added = behind.get(number, [])
        own = next((index for index, line in enumerate(added) if not _may_sum_up(line)), len(added))
        summaries += added[:own]
        history.lines += added[own:]
    for line in summaries:
        history.summaries.setdefault(_written_after(line, history.lines), []).append(line)
    return history


def _may_sum_up(line: Line) -> bool:
    return line.role == "system" and line.call_id is None


def _written_after(summary: Line, lines: list[Line]) -> int:
    """How many messages were there when a summary was written, by its time: it stands in front of what it sums up."""
    time, _ = moment(summary.timestamp, UTC)
    times = [moment(line.timestamp, UTC)[0] for line in lines]
    earlier = [
        number for number, other in enumerate(times, 1) if time is not None and other is not None and other < time
    ]
    return max(earlier, default=0)


def _known_by(line: Line) -> Hashable:
    # A shortened result keeps its time; without one only its words tell.
    return (line.role, line.timestamp, line.call_id) if line.timestamp else line.key


def _only_in(branch: list[Line], active: list[Line], taken: Counter[Key]) -> list[tuple[int, Line]]:
    """The messages of a branch that are nowhere else, each with how many of the active path stand before it.

    They are taken from then on.
    """
    numbers: dict[Key, int] = {}
    for number, line in enumerate(active):
        numbers.setdefault(line.key, number)
    left = Counter(taken)
    after = 0
    own = []
    for line in branch:
        if left[line.key]:
            left[line.key] -= 1
            after = numbers.get(line.key, after - 1) + 1
        else:
            own.append((after, line))
    taken.update(line.key for _, line in own)
    return own


def _add_taken_back(history: History, files: ChatFiles, taken: Counter[Key], problems: Problems) -> None:
    """What only the record of events has: undone without a branch, or lost from the log."""
    appended = []
    for place, event in events_of(files, problems):
        if string(event.get("type")) == "message_append":
            line = line_of(fields(event.get("payload")).get("message"), place)
            if line is not None:
                appended.append(line)
    own = _only_in(appended, history.lines, taken)
    for after, line in own:
        if _is_command(line):
            history.commands.setdefault(after, []).append(line)
    _add_aside(history, "events", [(after, line) for after, line in own if not _is_command(line)])


def _add_aside(history: History, name: str, own: list[tuple[int, Line]]) -> None:
    if own:
        history.asides.append(Aside(name, own[0][0], [line for _, line in own]))


def _is_command(line: Line) -> bool:
    return line.role == "user" and line.content.startswith("/")
