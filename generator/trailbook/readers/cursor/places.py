"""Where Cursor keeps its chats (harnesses.md E); captures of them are files that lie anywhere."""

from __future__ import annotations

from pathlib import Path

from trailbook.readers import Places


def _store() -> Path:
    return Path.home() / ".cursor"


PLACES = Places(logs=lambda: [_store() / "chats"], stores=lambda: [_store()])
