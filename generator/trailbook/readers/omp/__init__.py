"""OMP (Oh My Pi): as Pi, with titles above the header and subagents in a folder of the session's name."""

import os
from functools import partial
from pathlib import Path

from trailbook.readers import Places, on_demand
from trailbook.readers.openclaw.finding import find_session

PRODUCT = "OMP"

find = partial(find_session, "omp")


def _home() -> Path:
    return Path(os.environ.get("PI_CODING_AGENT_DIR") or Path.home() / ".omp" / "agent").expanduser()


def _logs() -> list[Path]:
    return [_home() / "sessions"]


def _stores() -> list[Path]:
    return [_home(), Path.home() / ".omp"]


PLACES = Places(logs=_logs, stores=_stores)

__all__ = ["PLACES", "PRODUCT", "find"]
__getattr__ = on_demand("trailbook.readers.openclaw")
