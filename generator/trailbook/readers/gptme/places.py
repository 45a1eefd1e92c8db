"""Where gptme keeps its logs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from trailbook.readers import Places


def _logs() -> list[Path]:
    chosen = os.environ.get("GPTME_LOGS_HOME")
    return [Path(chosen).expanduser()] if chosen else [folder / "logs" for folder in _data_folders()]


def _data_folders() -> list[Path]:
    """gptme's data folders: the one the environment names, else the usual one and the system's own."""
    chosen = os.environ.get("XDG_DATA_HOME")
    if chosen:
        return [Path(chosen) / "gptme"]
    folders = [Path.home() / ".local" / "share" / "gptme"]
    if sys.platform == "darwin":
        folders.append(Path.home() / "Library" / "Application Support" / "gptme")
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        base = Path(local) if local else Path.home() / "AppData" / "Local"
        folders += [base / "gptme" / "gptme", base / "gptme"]
    return folders


def _stores() -> list[Path]:
    return list(dict.fromkeys([*_logs(), *_data_folders(), Path.home() / ".config" / "gptme"]))


PLACES = Places(logs=_logs, stores=_stores)
