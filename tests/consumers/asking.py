"""Asking a consumer: its own Python runs one of the `read_*.py` here, and its answer comes back as JSON."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from conftest import skip_unless_required
from consumers.environments import python_of
from trailbook.chat import Called, Chat
from trailbook.readers import Found
from trajectories import chats, read_again, write


def ask(environment: str, script: str, request: Any) -> Any:
    """What a script says in an environment; the test is skipped where that is not made, unless it is required."""
    python = python_of(environment)
    if python is None:
        skip_unless_required("consumers", f"{environment} is not made: run tests/consumers/environments.py")
    with tempfile.TemporaryDirectory() as home:
        # Some write into the home folder as soon as they are loaded, and some would ask the network.
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LC_ALL", "TMPDIR")}
        asked = subprocess.run(
            [str(python), str(Path(__file__).parent / script)],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            env=kept | {"HOME": home, "HERMES_HOME": f"{home}/hermes", "HF_HUB_OFFLINE": "1", "PYTHONUTF8": "1"},
            check=False,
        )
    assert asked.returncode == 0, asked.stderr[-4_000:]
    return json.loads(asked.stdout.splitlines()[-1])


def written(format_name: str, folder: Path, **how: Any) -> dict[Path, Found]:
    """Every chat, a file each; without those for which the format has no place."""
    files = {}
    for number, found in enumerate(chats()):
        stem = re.sub(r"\W+", "-", f"{number}-{found.reader}-{found.id[:24]}")
        path = write([read_again(found)], format_name, folder, stem, **how)
        if path is not None:
            files[path] = found
    assert len(files) > 10
    return files


def calls_of(chat: Chat) -> list[tuple[str, Any]]:
    """The calls of a chat's path, inherited ones too, with their arguments."""
    return [
        (event.name, event.arguments if event.raw is None else {"_raw": event.raw})
        for event in chat.events
        if isinstance(event, Called) and not (event.branch or event.within)
    ]
