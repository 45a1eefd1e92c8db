"""Where Codex keeps its logs."""

from __future__ import annotations

import os
from pathlib import Path

from trailbook.readers import Places


def _home() -> Path:
    return Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")


def _logs() -> list[Path]:
    return [_home() / "sessions", _home() / "archived_sessions"]


def _stores() -> list[Path]:
    return [_home(), Path.home() / ".codex"]


PLACES = Places(logs=_logs, stores=_stores)
