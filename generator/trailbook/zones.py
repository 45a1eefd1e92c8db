"""The time zone that times are shown in, and read in where a log does not say."""

from __future__ import annotations

import os
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def zone_of(name: str | None) -> tzinfo:
    """The zone of a name such as `Europe/Berlin` or `UTC`; without one, this machine's. Raises ValueError."""
    if name is None:
        return _here()
    if name.upper() == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"There is no time zone {name}. Give a name such as Europe/Berlin.") from None


def name_of(zone: tzinfo) -> str:
    """The name of a zone, as a page says it."""
    return zone.key if isinstance(zone, ZoneInfo) else str(zone)


def _here() -> tzinfo:
    """This machine's zone by its name, so that the same log gives the same page in summer and in winter."""
    names = [os.environ.get("TZ", "").removeprefix(":")]
    localtime = Path("/etc/localtime")
    if localtime.is_symlink():
        names.append(str(localtime.resolve()).partition("/zoneinfo/")[2])
    for name in filter(None, names):
        try:
            return zone_of(name)
        except ValueError:
            continue
    return datetime.now().astimezone().tzinfo or UTC
