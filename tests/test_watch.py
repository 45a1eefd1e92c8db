"""`build --watch`: the folder follows the logs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from claude_code_logs import model, text, user, write
from test_site import heed_interrupts
from trailbook.cli import run, watching

pytest.importorskip("watchfiles")


def wait_for(folder: Path, count: int, again: Callable[[], object] = lambda: None) -> list[str]:
    """The names of the reports when there are so many; `again` is done each second until then."""
    for tenth in range(600):
        if tenth % 10 == 0:
            again()
        found = sorted(path.name for path in (folder / "reports").glob("*.html"))
        if len(found) == count:
            return found
        time.sleep(0.1)
    raise AssertionError(f"{count} reports were expected in {folder}")


def test_a_new_log_is_built_and_an_interrupt_ends_it(tmp_path: Path) -> None:
    logs, folder = tmp_path / "logs", tmp_path / "logs" / "site"
    write(logs / "one.jsonl", [user("First"), model(text("Done"))])
    command = [sys.executable, "-m", "trailbook", "build", logs, "--out", folder, "--yes", "--watch"]
    environment = os.environ | {"XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path)}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    program = subprocess.Popen(command, env=environment, preexec_fn=heed_interrupts, **pipes)
    try:
        wait_for(folder, 1)
        second = [user("Second"), model(text("Done"))]
        # Watching begins some time after the first build: a change before that is seen with the next one.
        assert any("second" in name for name in wait_for(folder, 2, lambda: write(logs / "two.jsonl", second)))
    finally:
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=30)
    assert program.returncode == 130, (out, err)


def test_what_it_writes_itself_is_no_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filters = []
    monkeypatch.setattr("watchfiles.watch", lambda *_places, watch_filter, **_more: filters.append(watch_filter) or [])
    assert list(watching.changes([tmp_path], tmp_path / "site")) == []
    (counts,) = filters
    assert counts(1, str(tmp_path / "one.jsonl"))
    assert not counts(1, str(tmp_path / "site" / "index.html"))


def test_it_must_be_told_not_to_ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["build", str(tmp_path), "--out", str(tmp_path / "site"), "--watch"]) == 2
    assert "Add --yes" in capsys.readouterr().err
