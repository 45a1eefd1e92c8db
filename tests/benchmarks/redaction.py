"""How fast redaction is: over a log, both passes on one core, and over texts made to slow it down.

  PYTHONPATH=tests python -m benchmarks.redaction LOG

LOG is a log of any agent that trailbook reads; the larger the better. The person of the benchmark has two secrets, two
names and, as home folder, the one that the log itself tells of.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from time import process_time

from redaction.hostile import REPEATS, repeated
from redaction.known_person import MIRA
from trailbook.readers import HEAD_BYTES, Found, reader, readers
from trailbook.redaction.context import Context
from trailbook.redaction.replacing import redact, redact_text

ROUNDS = 5
HOSTILE = 200_000


def best_of(rounds: int, work: Callable[[], object]) -> float:
    """Seconds of processor time, the least of some runs."""
    times = []
    for _ in range(rounds):
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times)


def found_in(log: Path) -> Found:
    head = log.read_bytes()[:HEAD_BYTES]
    for _, each in readers():
        found = each.find(log, head)
        if isinstance(found, list) and found:
            return found[0]
    sys.exit(f"{log} is no log that trailbook reads.")


def main(log: Path) -> None:
    found = found_in(log)
    chat = reader(found.reader).read(found, UTC)
    home = str(Path(chat.cwd).parent) if chat.cwd else "/home/mira"
    person = Context(names=MIRA.names, emails=MIRA.emails, secrets=MIRA.secrets, homes=(home,), logins=MIRA.logins)
    seconds = best_of(ROUNDS, lambda: redact(chat, person))
    megabytes = log.stat().st_size / 1e6
    out = redact(chat, person)[1].sentence()
    print(f"{log.name}: {megabytes:.1f} MB in {seconds:.2f} s, {megabytes / seconds:.1f} MB/s; out came {out}")
    slowest = sorted(((hostile_time(name), name) for name in REPEATS), reverse=True)
    print(f"{len(slowest)} hostile texts of {HOSTILE:,} characters, the slowest:")
    for seconds, name in slowest[:5]:
        print(f"  {name}: {seconds:.2f} s")


def hostile_time(name: str) -> float:
    text = repeated(name, HOSTILE)
    return best_of(1, lambda: redact_text(text, MIRA))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
