"""Pages of 20, 200 and 2,000 steps in both browsers: weight, first paint, from key to paint.

`python tests/benchmarks/pages.py` prints the table; medians of five, pages opened from a file.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from datetime import UTC
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from browser.browsers import Chromium, Firefox
from trailbook.chat import Agent, Asked, Called, Chat, Event, Returned, Said, Text
from trailbook.formats import Output, Sheet
from trailbook.writers.report import write_report

START = 1_791_450_000_000
STEPS = (20, 200, 2_000)

FIRST_PAINT = (
    "Math.round(performance.getEntriesByType('paint').find(e => e.name == 'first-contentful-paint').startTime)"
)
KEY_TO_PAINT = """new Promise(done => addEventListener('change', () => {
    const begin = performance.now(); requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin))); },
    {once: true}))"""


def chat_of(steps: int) -> Chat:
    """A chat of prompts, calls with some output and answers."""
    events: list[Event] = []
    for number in range(steps):
        at = START + number * 4_000
        if number % 20 == 0:
            events.append(Asked(id=f"u{number}", text=f"Please look at part {number} of the invoices.", at=at))
        elif number % 3 == 0:
            events.append(
                Said(text=f"Part {number} is **done**: `total()` rounds once, at the end.\n\n- one\n- two", at=at)
            )
        else:
            output = "".join(f"tests/test_invoice.py::test_{line} PASSED\n" for line in range(20))
            events.append(Called(id=f"t{number}", name="Bash", arguments={"command": f"pytest -k {number}"}, at=at))
            events.append(Returned(call=f"t{number}", parts=[Text(output)], ok=True, at=at + 2_000))
    return Chat("c", "conch", Agent("Pearl", None, "Conch"), "A run", events=events)


def main() -> None:
    """Write the pages and measure them."""
    print("| steps | browser | weight | first paint | key to paint |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for browser_kind in (Chromium, Firefox):
            browser = browser_kind()
            try:
                for steps in STEPS:
                    page = Path(folder) / f"{steps}.html"
                    pieces = write_report(chat_of(steps), Sheet(Output(zone=UTC), str(steps)))
                    page.write_bytes(pieces[0].data)
                    print(_row(browser, steps, page))
            finally:
                browser.close()


def _row(browser: Chromium | Firefox, steps: int, page: Path) -> str:
    paints, keys = [], []
    for _ in range(5):
        browser.open(page.as_uri(), 0.3)
        paints.append(browser.read(FIRST_PAINT))
        browser.click("#l3")
        browser.read(f"void (window.painted = {KEY_TO_PAINT})")
        browser.key("ArrowDown")
        keys.append(browser.read("window.painted"))
    weight = f"{page.stat().st_size / 1_000:,.0f} kB"
    return (
        f"| {steps:,} | {browser.name} | {weight} | {statistics.median(paints)} ms | {statistics.median(keys):.0f} ms |"
    )


if __name__ == "__main__":
    main()
