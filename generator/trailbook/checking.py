"""A file checked against the log that it was written of, whoever wrote it: which chat is which, and what differs."""

from __future__ import annotations

from collections import Counter
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
    made_of = _made_of(written, logs, alone=len(written) == len(logs) == 1)
    for number, chat in enumerate(written):
        log = made_of.get(number)
        comparison = compare_counted(log, chat) if log is not None else None
        yield Checked(chat.found, log.found if log is not None else None, comparison)


def _chats(path: Path) -> list[Found]:
    result = survey([path])
    if not result.chats:
        why = next((f": {skipped.why}" for skipped in [*result.unread, *result.skipped]), "")
        raise Stopped(f"No chat was found in {path}{why}.", NOTHING)
    return result.chats


def _made_of(written: Sequence[Counted], logs: Sequence[Counted], *, alone: bool) -> dict[int, Counted]:
    """The chats of the log that the written ones were made of, by the latter's numbers.

    A chat is known by its id; else it is the one with which it shares most, whose words may all be redacted: then the
    shape is all that they share.
    """
    if alone:
        return {0: logs[0]}
    found: dict[int, Counted] = {}
    left = list(logs)
    for traits in (_names, _digests, _shape):
        of_log = [(log, traits(log)) for log in left]
        for number, chat in enumerate(written):
            if number in found:
                continue
            own = traits(chat)
            shared = [(own & theirs).total() for _, theirs in of_log]
            best = max(shared, default=0)
            if best:
                found[number], _ = of_log.pop(shared.index(best))
        left = [log for log, _ in of_log]
    return found


def _names(counted: Counted) -> Counter[object]:
    return Counter({counted.found.id, counted.ledger.chat} - {None})


def _digests(counted: Counted) -> Counter[object]:
    return Counter(entry.digest for entry in counted.ledger.entries if entry.size)


def _shape(counted: Counted) -> Counter[object]:
    return Counter((entry.kind, entry.name, entry.ok) for entry in counted.ledger.entries)
