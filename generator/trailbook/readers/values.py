"""Values of a raw record, taken as they come: a value of another type than expected counts as absent."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal

from trailbook import json_text
from trailbook.chat import JSON

Fields = dict[str, JSON]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_LAST_MILLISECOND = 8.64e15
"""The last one that a calendar in JavaScript has, in which most agents are written."""


def string(value: JSON) -> str | None:
    """The value when it is a string with something in it, else None."""
    return value if isinstance(value, str) and value else None


def fields(value: JSON) -> Fields:
    """The value when it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: JSON) -> list[JSON]:
    """The value when it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def whole(value: JSON) -> int | None:
    """The value when it is a whole number that counts something, else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def number(value: JSON) -> float | None:
    """The value when it is a finite number, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def truth(value: JSON) -> bool | None:
    """The value when it is true or false, else None."""
    return value if isinstance(value, bool) else None


def blocks(content: JSON) -> list[JSON]:
    """The content of a message or a result as a list of blocks: a bare string is one block of text."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    if isinstance(content, dict):
        return [content]
    return items(content)


def json_words(value: JSON) -> str:
    """A value that has no words of its own, spelled as JSON."""
    return json_text.dump(value).decode("utf-8")


def moment(value: JSON, zone: tzinfo) -> tuple[int | None, bool]:
    """An ISO time as epoch milliseconds (None when it is none), and whether it had no zone and was read in `zone`."""
    if not isinstance(value, str):
        return None, False
    try:
        time = datetime.fromisoformat(value)
        naive = time.tzinfo is None
        return ((time.replace(tzinfo=zone) if naive else time) - _EPOCH) // _MILLISECOND, naive
    except (ValueError, OverflowError):
        return None, False


def moment_of_seconds(value: JSON) -> int | None:
    """Epoch seconds (a whole number or a fraction) as epoch milliseconds; None when it is none."""
    seconds = number(value)
    return round(seconds * 1000) if seconds is not None and 0 < seconds < 1e11 else None


def moment_of_milliseconds(value: JSON) -> int | None:
    """Epoch milliseconds; None for what is no time that a calendar has."""
    time = value if type(value) is int else number(value)
    return int(time) if time is not None and 0 < time <= _LAST_MILLISECOND else None
