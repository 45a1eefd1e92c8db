"""Which call of a log is which call of a file, and which results answer it."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass

from trailbook.alignment import gaps
from trailbook.ledger import Entry, Ledger


@dataclass(slots=True, frozen=True)
class Pair:
    """A call in the log and the same call in the file."""

    ours: Entry
    theirs: Entry


def paired(ours: list[Entry], theirs: list[Entry], *, ids: bool) -> tuple[list[Pair], list[Entry], list[Entry]]:
    """The calls that are the same, those only the log has, and those only the file has.

    With `ids` a call is known by its id, and where that comes again by its order; without, and for calls whose id was
    changed because the format needs others, by its order, its name and its arguments.
    """
    pairs: list[Pair] = []
    if ids:
        by_id: defaultdict[str | None, deque[Entry]] = defaultdict(deque)
        for call in theirs:
            by_id[call.id].append(call)
        left = []
        for call in ours:
            if call.id is not None and by_id[call.id]:
                pairs.append(Pair(call, by_id[call.id].popleft()))
            else:
                left.append(call)
        taken = {id(pair.theirs) for pair in pairs}
        ours, theirs = left, [call for call in theirs if id(call) not in taken]
    more, lost, added = _by_content(ours, theirs)
    return pairs + more, lost, added


def _by_content(ours: list[Entry], theirs: list[Entry]) -> tuple[list[Pair], list[Entry], list[Entry]]:
    pairs, lost, added = _lined_up(ours, theirs, arguments=True)
    # What is left differs in its arguments (something was taken out) or is not there at all.
    more, lost, added = _lined_up(lost, added, arguments=False)
    return pairs + more, lost, added


def _lined_up(
    ours: list[Entry], theirs: list[Entry], *, arguments: bool
) -> tuple[list[Pair], list[Entry], list[Entry]]:
    def key(call: Entry) -> tuple[str | None, bytes]:
        return call.name, call.digest if arguments else b""

    lost: list[Entry] = []
    added: list[Entry] = []
    for our_gap, their_gap in gaps([key(call) for call in ours], [key(call) for call in theirs]):
        lost += [ours[at] for at in our_gap]
        added += [theirs[at] for at in their_gap]
    missing, extra = {id(call) for call in lost}, {id(call) for call in added}
    kept = [call for call in ours if id(call) not in missing]
    others = [call for call in theirs if id(call) not in extra]
    return [Pair(one, other) for one, other in zip(kept, others, strict=True)], lost, added


def answers(ledger: Ledger) -> tuple[dict[int, list[Entry]], list[Entry]]:
    """The results of each call, by the call's identity, and the results that answer none.

    Several results for one id are one result in pieces, unless several calls have that id: then each answers one.
    """
    calls: defaultdict[str | None, list[Entry]] = defaultdict(list)
    results: defaultdict[str | None, list[Entry]] = defaultdict(list)
    for entry in ledger.entries:
        if entry.kind == "call":
            calls[entry.id].append(entry)
        elif entry.kind == "result":
            results[entry.id].append(entry)
    answered: dict[int, list[Entry]] = {}
    orphans = [result for call, found in results.items() if call is None or call not in calls for result in found]
    for call, found in results.items():
        askers = calls.get(call, []) if call is not None else []
        for number, result in enumerate(found):
            if askers:
                answered.setdefault(id(askers[min(number, len(askers) - 1)]), []).append(result)
    return answered, orphans
