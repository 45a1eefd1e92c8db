"""A file checked against the log that it was written of, whoever wrote it: which chat is which, and what differs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from trailbook.comparison import Comparison
from trailbook.failures import NOTHING, Stopped
from trailbook.fidelity import compare
from trailbook.ledger import Ledger, keep_nothing
from trailbook.readers import Found, reader
from trailbook.stores import survey


@dataclass(slots=True, frozen=True)
class Counted:
    """A chat in a log or in a file, with its ledger."""

    found: Found
    ledger: Ledger


@dataclass(slots=True, frozen=True)
class Checked:
    """What came of one chat."""

    written: Found
    log: Found | None
    """The chat of the log that it was compared with; None where the log has no such chat."""
    comparison: Comparison | None


def count(found: Found) -> Counted:
    """Count what is in a chat. Raises readers.Unreadable, OSError."""
    return Counted(found, reader(found.reader).count(found, keep_nothing))


def compare_counted(log: Counted, written: Counted) -> Comparison:
    """Compare a chat of a log with what was written of it. The log may be counted once for all its files.

    Raises readers.Unreadable, second_reading.Changed, OSError.
    """
    return compare(
        log.ledger,
        written.ledger,
        written.found.reader,
        lambda keep: reader(log.found.reader).count(log.found, keep),
        lambda keep: reader(written.found.reader).count(written.found, keep),
    )


def check(file: Path, against: Path) -> Iterator[Checked]:
    """Every chat in `file`, compared with the chat of `against` (a file or a folder of logs) that it was made of.

    Raises failures.Stopped where one of the two holds no chat, readers.Unreadable, second_reading.Changed, OSError.
    """
    yield from check_chats(_chats(file), [count(found) for found in _chats(against)])


def check_chats(chats: Iterable[Found], logs: Sequence[Counted]) -> Iterator[Checked]:
    """As `check`, for chats that are found already and logs that are counted. Raises what `check` raises."""
    written = [count(found) for found in chats]
    left = list(logs)
    for chat in written:
        log = _made_of(chat, left, alone=len(written) == len(logs) == 1)
        if log is not None:
            left = [other for other in left if other is not log]
        comparison = compare_counted(log, chat) if log is not None else None
        yield Checked(chat.found, log.found if log is not None else None, comparison)


def _chats(path: Path) -> list[Found]:
    result = survey([path])
    if not result.chats:
        why = next((f": {skipped.why}" for skipped in result.skipped), "")
        raise Stopped(f"No chat was found in {path}{why}.", NOTHING)
    return result.chats


def _made_of(written: Counted, logs: list[Counted], *, alone: bool) -> Counted | None:
    """The chat of the log that a written one was made of: by its id, else the one with which it shares most."""
    for log in logs:
        if written.ledger.chat is not None and written.ledger.chat in (log.found.id, log.ledger.chat):
            return log
    shared = [len(_digests(written) & _digests(log)) for log in logs]
    best = max(shared, default=0)
    if alone or best:
        return logs[shared.index(best)] if logs else None
    return None


def _digests(counted: Counted) -> set[bytes]:
    return {entry.digest for entry in counted.ledger.entries if entry.size}
