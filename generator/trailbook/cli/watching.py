"""Waiting until logs change, for `build --watch`."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator
from pathlib import Path

from trailbook.failures import USAGE, Stopped


def check() -> None:
    """Raise Stopped where the package that watches folders is not installed."""
    if importlib.util.find_spec("watchfiles") is None:
        raise Stopped("--watch needs the package watchfiles. Install it: pip install 'trailbook[watch]'.", USAGE)


def changes(places: Iterable[Path], own: Path) -> Iterator[None]:
    """Once for every time that something changes in or below the places; what is written below `own` does not count."""
    import watchfiles

    def is_of_logs(_change: object, path: str) -> bool:
        return not Path(path).is_relative_to(own)

    for _changed in watchfiles.watch(*places, watch_filter=is_of_logs, debounce=400, raise_interrupt=True):
        yield
