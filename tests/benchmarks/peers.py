"""trailbook and its peers on the same logs, in one run: `python tests/benchmarks/peers.py [--rounds 3] [--small]`.

Makes an environment for the peers and one for trailbook (Python 3.12 or later), and logs with the generator beside
the checkout (`../shared/tools/gen_log.py`, seed 7), and prints the table: medians, ratios within the run. Nothing else
should run on the machine. `--small` leaves out the two logs of 100 MB.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from browser.browsers import Chromium

ROOT = Path(__file__).resolve().parent.parent.parent
GENERATOR = ROOT.parent / "shared" / "tools" / "gen_log.py"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "trailbook-benchmarks"
PEERS = ("claude-code-transcripts==0.6", "claude-code-log==1.7.0", "ai-replay==0.5.1", "atif-make==0.10.0")
SMALL_CHAT = (
    {"type": "user", "message": {"role": "user", "content": "Rename the field {n} in the orders table."}},
    {
        "type": "assistant",
        "message": {
            "id": "msg_1",
            "role": "assistant",
            "model": "model-x",
            "content": [{"type": "text", "text": "Done: it is called total_{n} now."}],
            "usage": {"input_tokens": 900, "output_tokens": 40},
        },
    },
)


class Bench:
    """Where things lie, and how often each is measured."""

    def __init__(self, folder: Path, rounds: int) -> None:
        self.folder = folder
        self.rounds = rounds
        self.environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        self.environment["XDG_STATE_HOME"] = str(folder / "state")
        self.ours = _environment("ours", f"{ROOT}[prices]") / "trailbook"
        self.peers = _environment("peers", *PEERS)

    def time(self, command: list[str | Path], clean: Path | None = None) -> float:
        """Seconds on the clock, the median of the rounds; `clean` is removed before each."""
        return statistics.median(self._once(command, clean) for _round in range(self.rounds))

    def _once(self, command: list[str | Path], clean: Path | None) -> float:
        if clean is not None:
            shutil.rmtree(clean, ignore_errors=True)
        begin = time.monotonic()
        subprocess.run(command, check=True, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return time.monotonic() - begin

    def memory(self, command: list[str | Path], clean: Path) -> int:
        """Bytes that all processes of a command have at most, shared pages counted once."""
        shutil.rmtree(clean, ignore_errors=True)
        run = subprocess.Popen(
            command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        most = 0
        while run.poll() is None:
            most = max(most, _memory_of(run.pid))
            time.sleep(0.05)
        return most


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--small", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), given.rounds)
        print("| work | trailbook | peer | ratio | reach |\n|---|---|---|---|---|")
        _version(bench)
        _session(bench, "10M")
        if not given.small:
            _session(bench, "100M")
        _sessions(bench)
        _chats(bench)


def _row(work: str, ours: float, peer: str, theirs: float | None, reach: str) -> None:
    ratio = f"{ours / theirs:.2f}×" if theirs else ""
    beside = f"{peer} {theirs:.2f} s" if theirs else ""
    print(f"| {work} | {ours:.2f} s | {beside} | {ratio} | {reach} |", flush=True)


def _version(bench: Bench) -> None:
    ours = bench.time([bench.ours, "--version"])
    theirs = bench.time([bench.peers / "claude-code-transcripts", "--version"])
    _row("`--version`", ours, "claude-code-transcripts", theirs, "≤0.12 s, ≤0.2×")


def _session(bench: Bench, size: str) -> None:
    log, out = bench.folder / f"{size}.jsonl", bench.folder / "out"
    _generate(log, "--bytes", size)
    transcripts: list[str | Path] = [bench.peers / "claude-code-transcripts", "json", log, "-o", out]
    build: list[str | Path] = [bench.ours, "build", log, "--out", out, "--yes", "--quiet"]
    theirs = bench.time(transcripts, out)
    _row(f"one session of {size}B", bench.time(build, out), "claude-code-transcripts", theirs, "≤1.0×")
    if size == "10M":
        bare = bench.time([*build, "--no-redact", "--no-notes"], out)
        _row("… without redaction, report only", bare, "claude-code-transcripts", theirs, "≤0.6×")
    else:
        ours, peer = bench.memory(build, out), bench.memory(transcripts, out)
        print(f"| … peak memory | {ours >> 20} MiB | {peer >> 20} MiB | {ours / peer:.2f}× | ≤1.0× |", flush=True)
    made = bench.folder / "atif"
    export: list[str | Path] = [bench.ours, "export", log, "--format", "atif", "--no-redact", "--yes", "--quiet"]
    made.mkdir(exist_ok=True)
    ours = bench.time([*export, "--out", made])
    theirs = bench.time([bench.peers / "atif-make", "convert", "-q", "-o", made / "theirs.json", log])
    _row(f"{size}B to ATIF, no redaction", ours, "atif-make", theirs, "≤1.0×")
    shutil.rmtree(made)


def _sessions(bench: Bench) -> None:
    logs, out = bench.folder / "projects", bench.folder / "site"
    _generate(logs, "--sessions", "200", "--bytes", "512K", "--projects", "8")
    build: list[str | Path] = [bench.ours, "build", logs, "--out", out, "--yes", "--quiet"]
    ours = bench.time(build, out)
    theirs = bench.folder / "theirs"
    transcripts = bench.time([bench.peers / "claude-code-transcripts", "all", "-s", logs, "-o", theirs, "-q"], theirs)
    _row("200 sessions, 106 MB, cold", ours, "claude-code-transcripts", transcripts, "≤0.8×")
    log: list[str | Path] = [bench.peers / "claude-code-log", "convert", logs, "--all-projects", "-o", theirs]
    bench.environment["CLAUDE_CODE_LOG_CACHE"] = str(bench.folder / "cache")
    _row("200 sessions, 106 MB, cold", ours, "claude-code-log", bench.time([*log, "--no-cache"], theirs), "≤0.25×")
    subprocess.run(build, check=True, env=bench.environment)
    _row("the same again, nothing changed", bench.time(build), "", None, "≤0.3 s")
    session = sorted(logs.rglob("*.jsonl"))[0]
    times = []
    for number in range(bench.rounds):
        last = json.loads(session.read_text().splitlines()[-1])
        with session.open("a") as stream:
            stream.write(json.dumps({**last, "uuid": f"appended-{number}"}) + "\n")
        times.append(bench.time(build) if bench.rounds == 1 else bench._once(build, None))
    _row("the same, one session appended", statistics.median(times), "", None, "≤0.6 s")


def _chats(bench: Bench) -> None:
    """Small chats: how a build grows, and how the index of 5,000 opens."""
    seconds = {}
    for count in (1_000, 5_000):
        logs, out = bench.folder / f"{count}", bench.folder / f"site-{count}"
        _small_chats(logs, count)
        seconds[count] = bench._once([bench.ours, "build", logs, "--out", out, "--yes", "--quiet"], None)
        _row(f"{count:,} small chats", seconds[count], "", None, "linear")
    browser = Chromium()
    try:
        begin = time.monotonic()
        browser.open((bench.folder / "site-5000" / "index.html").as_uri(), settle=0)
        _row("the index of 5,000 chats opens", time.monotonic() - begin, "", None, "≤1.5 s")
    finally:
        browser.close()
    size = min(page.stat().st_size for page in (bench.folder / "site-5000" / "reports").iterdir())
    print(f"| a report of two steps | {size:,} bytes | | | ≤32 kB (one step) |")


def _small_chats(folder: Path, count: int) -> None:
    folder.mkdir()
    for number in range(count):
        session = f"00000000-0000-4000-8000-{number:012d}"
        at = f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}T09:{number % 60:02}:00Z"
        lines = []
        for index, record in enumerate(SMALL_CHAT):
            text = json.dumps({**record, "uuid": f"{session}-{index}", "sessionId": session, "timestamp": at})
            lines.append(text.replace("{n}", str(number)))
        (folder / f"{session}.jsonl").write_text("\n".join(lines) + "\n")


def _generate(out: Path, *options: str) -> None:
    if not GENERATOR.is_file():
        sys.exit(f"The generator of logs is not at {GENERATOR}. Put it there.")
    command = [sys.executable, GENERATOR, "-o", out, "--seed", "7", *options]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)


def _environment(name: str, *packages: str) -> Path:
    """The folder of an environment's programs; made when it is not there, trailbook's own each time."""
    folder = CACHE / name
    programs = folder / "bin"
    made: Callable[[], bool] = (folder / "made").is_file
    if made() and name != "ours":
        return programs
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    install = [programs / "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade"]
    subprocess.run([*install, *packages], check=True)
    (folder / "made").touch()
    return programs


def _memory_of(group: int) -> int:
    """Bytes of all processes of a session, each shared page counted once."""
    total = 0
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(status.read_text().rpartition(")")[2].split()[3]) == group:
                lines = status.with_name("smaps_rollup").read_text().splitlines()
                total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024
        except (OSError, ValueError, StopIteration):
            continue
    return total


if __name__ == "__main__":
    main()
