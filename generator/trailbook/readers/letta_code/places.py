"""Where Letta Code keeps its transcripts."""

from __future__ import annotations

from pathlib import Path

from trailbook.readers import Places


def _home() -> Path:
    return Path.home() / ".letta"


PLACES = Places(logs=lambda: [_home() / "transcripts"], stores=lambda: [_home()])
