"""A session of 10 MB to ATIF, nothing taken out, here and by `atif-make` 0.10.0, turn by turn in one run.

`python3 tests/benchmarks/trajectories.py [LOG]`, with Python 3.12 or later: makes an environment for each, and the log
with the generator beside the checkout (`../shared/tools/gen_log.py`). Prints, as the least of nine (other work on the
machine only adds), the conversion alone (read, write, save; both loaded already) and the whole process; and the command
`export`, which also counts again what it wrote and compares it with the log, as nothing else does.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
GENERATOR = ROOT.parent / "shared" / "tools" / "gen_log.py"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "trailbook-benchmarks"
ROUNDS = 9

OURS = """
import gc, sys, time
from datetime import UTC
from pathlib import Path
from trailbook.readers import reader
from trailbook.writers.atif import write_atif
from trailbook.writers.written import Options

gc.set_threshold(200_000, 50, 50)  # as the command line does

def convert(log, out):
    claude = reader("claude_code")
    with log.open("rb") as stream:
        (found,) = claude.find(log, stream.read(65536))
    out.write_bytes(write_atif([claude.read(found, UTC)], Options(out.name, atif_version="1.7")).data)
"""
THEIRS = """
import sys, time
from pathlib import Path
from atif_make.cli import main

def convert(log, out):
    main(["convert", "-q", "-o", str(out), str(log)])
"""
TIMED = """
log, out, rounds = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
for _ in range(rounds):
    start = time.perf_counter()
    convert(log, out)
    spent = time.perf_counter() - start
print(spent)
"""


def environment(name: str, package: str) -> Path:
    """The programs of an environment with one package, made when it is not there."""
    place = CACHE / name
    if not (place / "made").exists():
        venv.create(place, with_pip=True, clear=True)
        subprocess.run([place / "bin" / "pip", "install", "--quiet", package], check=True)
        (place / "made").touch()
    return place / "bin"


def alone(python: Path, script: str, log: Path, out: Path) -> float:
    """Seconds for one conversion, the third in its process."""
    command = [python, "-c", script + TIMED, log, out, "3"]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def whole(*command: str | Path) -> float:
    """Seconds for a process from its start to its end."""
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def main(log: Path | None, folder: Path) -> None:
    """Measure and print."""
    ours, theirs = environment("trajectories", f"-e{ROOT}"), environment("atif-make", "atif-make==0.10.0")
    if log is None:
        log = folder / "session.jsonl"
        subprocess.run([sys.executable, GENERATOR, "-o", log, "--bytes", "10M"], check=True, capture_output=True)
    export = [ours / "trailbook", "export", log, "--format", "atif", "--no-redact", "--yes", "--quiet", "--out", folder]
    measures = {
        "conversion alone": (
            lambda: alone(ours / "python", OURS, log, folder / "ours.json"),
            lambda: alone(theirs / "python", THEIRS, log, folder / "theirs.json"),
        ),
        "whole process": (
            lambda: whole(ours / "python", "-c", OURS + TIMED, log, folder / "ours.json", "1"),
            lambda: whole(theirs / "atif-make", "convert", "-q", "-o", folder / "theirs.json", log),
        ),
        "export, counted again": (
            lambda: whole(*export),
            lambda: whole(theirs / "atif-make", "convert", "-q", "-o", folder / "theirs.json", log),
        ),
    }
    print("| what | here | atif-make | ratio |\n|---|---|---|---|")
    for what, (here, there) in measures.items():
        here(), there()
        pairs = [(here(), there()) for _ in range(ROUNDS)]
        one, other = (min(times) for times in zip(*pairs, strict=True))
        print(f"| {what} | {one:.2f} s | {other:.2f} s | {one / other:.2f} |")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(Path(sys.argv[1]) if len(sys.argv) > 1 else None, Path(scratch))
