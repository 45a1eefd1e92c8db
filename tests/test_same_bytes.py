"""The same logs come to the same bytes, whatever process builds them, and whenever."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from conftest import EXAMPLES
from trailbook import stores

FORMATS = ("openai", "sharegpt", "atif", "trajectory-v1")


def built(logs: Path, folder: Path, seed: str) -> dict[str, bytes]:
    """All files of a build by a process of its own, with its own order of hashes and its own state."""
    state = {"XDG_STATE_HOME": str(folder.parent / f"state-{seed}"), "PYTHONHASHSEED": seed, "TZ": "UTC"}
    words = ["build", str(logs), "--out", str(folder), "--yes", "--images", *(f"--format={name}" for name in FORMATS)]
    run = subprocess.run(
        [sys.executable, "-m", "trailbook", *words], env={**os.environ, **state}, capture_output=True, check=False
    )
    assert run.returncode == 0, run.stderr.decode()
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and stores.OWN not in path.parts]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_two_builds_of_the_same_logs_give_the_same_bytes(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    for agent in ("conch", "claude_code", "codex", "trajectory_v1"):
        shutil.copytree(EXAMPLES / agent, logs / agent)
    one = built(logs, tmp_path / "one", "1")
    assert len(one) > 50
    for number, path in enumerate(sorted(path for path in logs.rglob("*") if path.is_file())):
        data = path.read_bytes()
        path.unlink()
        path.write_bytes(data)  # written anew, at another time and in another order on the disk
        os.utime(path, (1_800_000_000 - number, 1_800_000_000 - number))
    assert built(logs, tmp_path / "two", "2") == one
