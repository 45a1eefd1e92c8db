"""Fuzzes every target, some at a time, and says how often each ran: `python tests/fuzzing/run.py --seconds 600`.

Run it with a Python that has atheris and this package. What is found lies in `found/`; put it into `cases/TARGET/`,
and it is tried in every run of the tests from then on.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

SLOWEST = 5
"""Seconds that one input may take."""
MOST_MEMORY = 2_000
"""Megabytes, the fuzzer's own included."""
LONGEST = 65_536
"""Bytes of an input."""


def fuzz(name: str, seconds: int, seed: int, found: Path, corpus: Path) -> tuple[str, int, int, str]:
    """Fuzz one target; gives its name, how often it ran, its status, and what it said last."""
    command = [
        sys.executable, str(HERE / "fuzz.py"), name, f"-max_total_time={seconds}", f"-seed={seed}",
        f"-timeout={SLOWEST}", f"-rss_limit_mb={MOST_MEMORY}", f"-max_len={LONGEST}", "-print_final_stats=1",
        "-reload=0", f"-artifact_prefix={found}/{name}-", str(corpus),
    ]  # fmt: skip
    ended = subprocess.run(command, capture_output=True, check=False)
    said = (ended.stdout + ended.stderr).decode("utf-8", "replace")
    runs = re.search(r"stat::number_of_executed_units:\s*(\d+)", said)
    return name, int(runs[1]) if runs else 0, ended.returncode, said[-6_000:]


def main() -> int:
    """Fuzz the targets that are named, or all; the status is 1 when something was found."""
    from fuzzing.targets import TARGETS, seeds_of

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", choices=[[], *TARGETS], help="default: all")
    parser.add_argument("--seconds", type=int, default=10, help="for each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--found", type=Path, default=HERE / "found")
    chosen = parser.parse_args()
    chosen.found.mkdir(parents=True, exist_ok=True)
    total, failed = 0, 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(chosen.at_once) as pool:
        tasks = []
        for name in chosen.targets or TARGETS:
            corpus = Path(folder, name)
            corpus.mkdir()
            for number, seed in enumerate(seeds_of(name)):
                (corpus / str(number)).write_bytes(seed[:LONGEST])
            tasks.append(pool.submit(fuzz, name, chosen.seconds, chosen.seed, chosen.found, corpus))
        for task in tasks:
            name, runs, status, said = task.result()
            total += runs
            failed += status != 0
            print(f"{name:<16} {runs:>10,} {'ok' if status == 0 else 'FOUND SOMETHING'}", flush=True)
            if status != 0:
                print(said, flush=True)
    print(f"{total:,} executions of {len(tasks)} targets, {failed} found something")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
