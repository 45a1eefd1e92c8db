"""Where Claude Code keeps its logs, and what its settings know of the person."""

from __future__ import annotations

import os
from pathlib import Path

from trailbook import json_text
from trailbook.readers import Names, Places


def _folders() -> list[Path]:
    """The agent's own folders: the one the environment names comes first, the default ones count as well."""
    chosen = os.environ.get("CLAUDE_CONFIG_DIR")
    usual = [Path.home() / ".claude", Path.home() / ".config" / "claude"]
    return [Path(chosen).expanduser(), *usual] if chosen else usual


def _logs() -> list[Path]:
    return [folder / "projects" for folder in _folders()]


def _names() -> Names:
    """The signed-in person's name and addresses."""
    known: list[str] = []
    for folder in [Path.home(), *_folders()]:
        try:
            settings = json_text.parse((folder / ".claude.json").read_bytes())
        except (OSError, ValueError):
            continue
        account = settings.get("oauthAccount") if isinstance(settings, dict) else None
        if isinstance(account, dict):
            values = [account.get(key) for key in ("displayName", "emailAddress", "organizationName")]
            known += [value for value in values if isinstance(value, str) and value and value not in known]
    return Names(names=tuple(known))


PLACES = Places(logs=_logs, stores=_folders, names=_names)
