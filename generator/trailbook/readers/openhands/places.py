"""Where nothing may be written for OpenHands' sake; its conversations are documents that a person saved anywhere."""

from __future__ import annotations

from pathlib import Path

from trailbook.readers import Places

PLACES = Places(logs=list, stores=lambda: [Path.home() / ".openhands"])
