"""What trailbook keeps on this computer between runs: random bytes that only this person has."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path

from trailbook import saving
from trailbook.failures import Stopped

_BYTES = 32


def state_folder() -> Path:
    """`$XDG_STATE_HOME/trailbook`, else where the system keeps such things."""
    if given := os.environ.get("XDG_STATE_HOME"):
        return Path(given) / "trailbook"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "trailbook"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "trailbook"
    return Path.home() / ".local" / "state" / "trailbook"


def own_bytes() -> bytes:
    """The random bytes under which a manifest's keys are made, so that a shared folder tells nothing by them.

    They are made when first needed. Where they cannot be kept they last for this run, and the next builds everything.
    """
    path = state_folder() / "key"
    known = _read(path)
    if known is not None:
        return known
    fresh = secrets.token_bytes(_BYTES)
    try:
        saving.make_folder(path.parent)
        with saving.staging(path.parent) as private:
            saving.write_new(private / "key", fresh)
            saving.place_new(private / "key", path)
    except Stopped:
        return fresh
    return _read(path) or fresh


def _read(path: Path) -> bytes | None:
    try:
        known = path.read_bytes()
    except OSError:
        return None
    return known if len(known) == _BYTES else None
