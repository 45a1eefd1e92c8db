"""2,000 small chats on a Dask cluster of two worker processes on this computer, beside two processes without Dask.

`python tests/benchmarks/cluster.py` prints the times per chat of an export in parts and of a build with reports and
notes, and the most memory that scheduler and client (this command's process) had for 200 and for 2,000 chats.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

WORKERS = 2
NUMBERS = (200, 2_000)
ROUNDS = 3

RUN = """
import os, resource, sys, time
from datetime import UTC
from pathlib import Path
from trailbook import Context, Output, cluster, parts, site, survey

if __name__ == "__main__":
    what, logs, folder, address = sys.argv[1:]
    found = survey([Path(logs)])
    output = Output(zone=UTC, context=Context(names=("Sam Rivera",)))
    with cluster.executor(address or None) as executor:
        start = time.perf_counter()
        if what == "export":
            made = parts.export(found.chats, "openai", output, Path(folder), executor=executor)
        else:
            made = site.build(site.Plan(Path(folder), found, found.chats, output), executor=executor)
        assert made.status == 0, made
        print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def write_logs(folder: Path, number: int) -> None:
    """So many small chats of Claude Code: a prompt, two calls with their results, an answer."""
    folder.mkdir(parents=True)
    for chat in range(number):
        session, rows = f"{chat:08x}-1111-4222-8333-444455556666", []

        def add(kind: str, content: object, session: str = session, rows: list[str] = rows) -> None:
            role = {"role": kind, "content": content}
            extra = {"id": f"m{len(rows)}", "model": "model-x", "usage": {"input_tokens": 9, "output_tokens": 7}}
            message = role | extra if kind == "assistant" else role
            at = f"2026-10-08T09:{len(rows):02}:00.000Z"
            ids = {"uuid": f"{session}-{len(rows)}", "parentUuid": f"{session}-{len(rows) - 1}" if rows else None}
            row = {"type": kind, "sessionId": session, "timestamp": at, "cwd": "/home/sam/orchard", **ids}
            rows.append(json.dumps(row | {"message": message}))

        add("user", f"Please look at invoice {chat}; Sam Rivera wrote it.")
        for call in range(2):
            command = {"command": f"grep -n total invoices/{chat}.py"}
            add("assistant", [{"type": "tool_use", "id": f"t{call}", "name": "Bash", "input": command}])
            found = f"{call}: total = round(sum(rows), 2)\n" * 20
            add("user", [{"type": "tool_result", "tool_use_id": f"t{call}", "content": found}])
        add("assistant", [{"type": "text", "text": "It **rounds once**, at the end.\n\n- one\n- two"}])
        (folder / f"{session}.jsonl").write_text("\n".join(rows) + "\n")


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, int]]:
    """A scheduler and its workers, processes of their own: the address, and the scheduler's process."""
    place = folder / f"{time.monotonic_ns()}.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    options = ["--no-dashboard", "--scheduler-file", str(place)]
    with subprocess.Popen([*command, *options], **quiet) as scheduler:  # type: ignore[call-overload]
        while not place.exists() or not place.read_text():
            time.sleep(0.1)
        address = json.loads(place.read_text())["address"]
        command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-dashboard"]
        options = ["--nworkers", str(WORKERS), "--nthreads", "1"]
        with subprocess.Popen([*command, *options], **quiet) as workers:  # type: ignore[call-overload]
            try:
                from distributed import Client

                with Client(address) as client:
                    client.wait_for_workers(WORKERS)
                yield address, scheduler.pid
            finally:
                workers.terminate()
                workers.wait()
                scheduler.terminate()


def most_memory(process: int) -> int:
    """Kilobytes that a process had at most so far (Linux)."""
    found = re.search(r"VmHWM:\s*(\d+)", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) if found else 0


def run(what: str, logs: Path, folder: Path, address: str) -> tuple[float, int]:
    """Seconds for the work, and kilobytes that the process had at most."""
    folder = folder / f"{time.monotonic_ns()}"
    environment = {**os.environ, "XDG_STATE_HOME": str(folder.parent / "state")}
    command = [sys.executable, "-c", RUN, what, str(logs), str(folder / "out"), address]
    ended = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    seconds, memory = ended.stdout.split()
    return float(seconds), int(memory)


def main(folder: Path) -> None:
    """Measure and print."""
    for number in NUMBERS:
        write_logs(folder / f"logs-{number}", number)
    print("| what | chats | here | on Dask | ratio | client | scheduler |\n|---|---|---|---|---|---|---|")
    for what in ("export", "build"):
        for number in NUMBERS:
            logs = folder / f"logs-{number}"
            with cluster(folder) as (address, scheduler):
                run(what, logs, folder, address)  # the workers load what they need
                rounds = [(run(what, logs, folder, "")[0], run(what, logs, folder, address)) for _ in range(ROUNDS)]
                memory = most_memory(scheduler)
            here, there = min(one for one, _other in rounds), min(other[0] for _one, other in rounds)
            client = max(other[1] for _one, other in rounds)
            sums = f"{1000 * here / number:.1f} ms | {1000 * there / number:.1f} ms | {there / here:.2f}"
            print(f"| {what} | {number:,} | {sums} | {client / 1024:.0f} MB | {memory / 1024:.0f} MB |", flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(Path(scratch))
