"""What stands in no exchange of a prompt and its reply: strict training formats take nothing else.

Their readers drop a whole example where turns do not alternate, so what was said before anyone asked, what nobody
replied to at the end, and thinking that came to no word and no call are left out and declared.
"""

from __future__ import annotations

from trailbook.ledger import Entry, Ledger

_REPLY = ("answer", "call")


def outside_exchanges(ledger: Ledger) -> set[int]:
    """The identities of the entries of a log that stand in no exchange."""
    entries = ledger.entries
    asked = [at for at, entry in enumerate(entries) if entry.kind == "prompt"]
    replied = [at for at, entry in enumerate(entries) if entry.kind in _REPLY]
    first = asked[0] if asked else len(entries)
    last = replied[-1] if replied else -1
    outside = {id(entry) for entry in entries[:first] if entry.kind not in ("prompt", "system")}
    outside |= {id(entry) for entry in entries[last + 1 :] if entry.kind in ("prompt", "image", "thought")}
    return outside | {id(entry) for entry in _lone_thoughts(entries)}


def _lone_thoughts(entries: list[Entry]) -> list[Entry]:
    """Thoughts that are all there is of a message of the model."""
    spoken = {entry.message for entry in entries if entry.kind in _REPLY}
    lone: list[Entry] = []
    waiting: list[Entry] = []
    for entry in entries:
        if entry.kind == "thought":
            if entry.message is None:
                waiting.append(entry)
            elif entry.message not in spoken:
                lone.append(entry)
        elif entry.kind in _REPLY:
            waiting = []
        elif entry.kind == "prompt":
            lone += waiting
            waiting = []
    return lone + waiting
