"""Where OpenClaw keeps its sessions."""

from __future__ import annotations

import os
from pathlib import Path

from trailbook.readers import Places

_FORMER = (".clawdbot", ".moltbot", ".moldbot")


def _folders() -> list[Path]:
    """The agent's own folders: the one the environment names comes first, then the default one and its former names."""
    chosen = os.environ.get("OPENCLAW_STATE_DIR")
    usual = [Path.home() / name for name in (".openclaw", *_FORMER)]
    return [Path(chosen).expanduser(), *usual] if chosen else usual


def _logs() -> list[Path]:
    return [folder / "agents" for folder in _folders()]


PLACES = Places(logs=_logs, stores=_folders)
