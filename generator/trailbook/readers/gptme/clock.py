"""gptme's times: local ones without a zone, and the record of events that may tell which zone it was."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo

from trailbook.readers.gptme.folder import ChatFiles
from trailbook.readers.gptme.history import events_of
from trailbook.readers.lines import Problems
from trailbook.readers.values import fields, moment

_STEP = timedelta(minutes=15)
_MOST = timedelta(hours=15)


def zone_of_events(files: ChatFiles, zone: tzinfo) -> tzinfo | None:
    """The zone that the log's times are in, by its record of events; None where that does not tell.

    An event has both: when it was written, in UTC, and the local time that its message was made at. The message is the
    older of the two (it may have waited for hours), so the largest difference is the nearest. It is the person's
    `zone` where that was as far from UTC then, because that one knows when the clocks change.
    """
    best: tuple[timedelta, datetime] | None = None
    for _, event in events_of(files, Problems()):
        local = _local(fields(fields(event.get("payload")).get("message")).get("timestamp"))
        written, naive = moment(event.get("ts"), UTC)
        if local is None or written is None or naive:
            continue
        ahead = local - datetime.fromtimestamp(written / 1000, UTC).replace(tzinfo=None)
        if abs(ahead) <= _MOST and (best is None or ahead > best[0]):
            best = ahead, local
    if best is None:
        return None
    offset = round(best[0] / _STEP) * _STEP
    return zone if best[1].replace(tzinfo=zone).utcoffset() == offset else timezone(offset)


def _local(value: object) -> datetime | None:
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return time if time is not None and time.tzinfo is None else None
