"""Where OpenCode keeps its sessions (harnesses.md E)."""

from __future__ import annotations

import os
from pathlib import Path

from trailbook.readers import Places


def _data() -> Path:
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "opencode"


def _logs() -> list[Path]:
    return [_data() / "opencode.db", _data() / "storage"]


def _stores() -> list[Path]:
    home = Path.home()
    return [_data(), home / ".local" / "share" / "opencode", home / ".config" / "opencode"]


PLACES = Places(logs=_logs, stores=_stores)
