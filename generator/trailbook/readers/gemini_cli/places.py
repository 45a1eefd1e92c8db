"""Where Gemini CLI keeps its sessions (harnesses.md E)."""

from __future__ import annotations

from pathlib import Path

from trailbook.readers import Places


def _store() -> Path:
    return Path.home() / ".gemini"


PLACES = Places(logs=lambda: [_store() / "tmp"], stores=lambda: [_store()])
