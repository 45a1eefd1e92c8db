"""Where Hermes keeps its sessions: one database for each profile, and snapshots beside it (harnesses.md A2)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from trailbook.readers import Places

DATABASE = "state.db"
SNAPSHOTS = "sessions"


def _usual_home() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "hermes"
    return Path.home() / ".hermes"


def _homes() -> list[Path]:
    """The home that the environment names, the usual one, and those of their profiles."""
    named = os.environ.get("HERMES_HOME")
    roots = [Path(named).expanduser(), _usual_home()] if named else [_usual_home()]
    return [home for root in roots for home in (root, *sorted((root / "profiles").glob("*")))]


def _logs() -> list[Path]:
    return [home / name for home in _homes() for name in (DATABASE, SNAPSHOTS)]


PLACES = Places(logs=_logs, stores=_homes)
