"""gptme's times: local ones without a zone, and what tells which zone it was."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from itertools import pairwise

from trailbook.readers.gptme.folder import ChatFiles
from trailbook.readers.gptme.history import events_of
from trailbook.readers.gptme.log_lines import Line
from trailbook.readers.lines import Problems
from trailbook.readers.values import fields, moment

_STEP = timedelta(minutes=15)
_MOST = timedelta(hours=15)
_LOCAL_DATE = re.compile(r"(\d{4}-\d{2}-\d{2}) [^\n()]{0,40}\(UTC(?:([+-])(\d{2}):(\d{2}))?\)")
_LONGEST_DATE = 400
"""Characters of the prompt that has nothing but the date in it."""

Clock = tuple[datetime, timedelta]
"""A local time, and how far it was ahead of UTC then."""


def zone_of_log(lines: list[Line], files: ChatFiles, zone: tzinfo) -> tzinfo | None:
    """The zone that a log's times are in, as far as it tells: by its record of events, by the few messages whose time
    has a zone, by the date in gptme's own prompt. None where nothing does.

    It is the person's `zone` where that was as far from UTC then, because that one knows when the clocks change.
    """
    clock = _ahead_in(_events(files)) or _ahead_in(_neighbours(lines)) or _date_in(lines)
    return _zone(clock, zone) if clock else None


def zone_of_prompt(lines: list[Line], zone: tzinfo) -> tzinfo:
    """The zone of the date in gptme's own prompt, the person's `zone` where there is none."""
    clock = _date_in(lines)
    return _zone(clock, zone) if clock else zone


def _zone(clock: Clock, zone: tzinfo) -> tzinfo:
    local, offset = clock
    return zone if local.replace(tzinfo=zone).utcoffset() == offset else timezone(offset)


def _ahead_in(pairs: Iterable[tuple[object, object]]) -> Clock | None:
    """How far local times are ahead of UTC, from messages' local times and when in UTC something was written later.

    A message may have waited for hours before that, so the largest difference is the nearest.
    """
    best: Clock | None = None
    for made, written in pairs:
        local = _local(made)
        at, naive = moment(written if isinstance(written, str) else None, UTC)
        if local is None or at is None or naive:
            continue
        ahead = local - datetime.fromtimestamp(at / 1000, UTC).replace(tzinfo=None)
        if abs(ahead) <= _MOST and (best is None or ahead > best[1]):
            best = local, ahead
    return (best[0], round(best[1] / _STEP) * _STEP) if best else None


def _events(files: ChatFiles) -> Iterator[tuple[object, object]]:
    for _, event in events_of(files, Problems()):
        yield fields(fields(event.get("payload")).get("message")).get("timestamp"), event.get("ts")


def _neighbours(lines: list[Line]) -> Iterator[tuple[object, object]]:
    """Each time with the one before it."""
    for before, line in pairwise(lines):
        yield before.timestamp, line.timestamp


def _date_in(lines: list[Line]) -> Clock | None:
    for line in lines:
        if line.role != "system":
            return None
        match = _LOCAL_DATE.search(line.content) if len(line.content) <= _LONGEST_DATE else None
        local = _local(match.group(1)) if match else None
        if match and local:
            ahead = timedelta(hours=int(match.group(3) or 0), minutes=int(match.group(4) or 0))
            return (local, -ahead if match.group(2) == "-" else ahead) if ahead <= _MOST else None
    return None


def _local(value: object) -> datetime | None:
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return time if time is not None and time.tzinfo is None else None
