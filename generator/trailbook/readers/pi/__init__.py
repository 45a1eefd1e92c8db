"""Pi: sessions as files of JSON lines, one folder for each working folder. The entries are OpenClaw's."""

import os
from functools import partial
from pathlib import Path

from trailbook.readers import Places, on_demand
from trailbook.readers.openclaw.finding import find_session

PRODUCT = "Pi"

find = partial(find_session, "pi")


def _home() -> Path:
    return Path(os.environ.get("PI_CODING_AGENT_DIR") or Path.home() / ".pi" / "agent").expanduser()


def _logs() -> list[Path]:
    chosen = os.environ.get("PI_CODING_AGENT_SESSION_DIR")
    return [*([Path(chosen).expanduser()] if chosen else []), _home() / "sessions"]


def _stores() -> list[Path]:
    return [*_logs(), _home(), Path.home() / ".pi"]


PLACES = Places(logs=_logs, stores=_stores)

__all__ = ["PLACES", "PRODUCT", "find"]
__getattr__ = on_demand("trailbook.readers.openclaw")
