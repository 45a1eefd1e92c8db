"""Numbers and names in plain words: durations, tokens, money, dates, sizes, kinds of steps."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo
from math import isfinite

from trailbook.chat import Cost

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)

KIND_WORDS = {
    "asked": "You asked",
    "thought": "Thought",
    "said": "Said",
    "tool": "Used a tool",
    "approval": "Asked you",
    "files": "Changed files",
    "browser": "Browsed",
    "task": "Handed off",
    "made": "Made something",
    "remembered": "Remembered",
    "problem": "Problem",
    "noted": "Note",
}
"""What a step of each kind is called where it stands by itself."""

FAMILY_WORDS = {
    "explore": "Looked around",
    "edit": "Edited",
    "run": "Ran a command",
    "verify": "Checked",
    "ship": "Shipped",
    "research": "Researched",
    "browse": "Browsed",
    "connect": "Used an app",
    "make": "Made something",
    "plan": "Planned",
    "delegate": "Handed off",
    "remember": "Remembered",
    "other": "Used a tool",
}
"""What each family of tools does."""

STATUS_WORDS = {"done": "Done", "failed": "Didn’t work", "declined": "Not done", "waiting": "Still going"}

ORIGIN_WORDS = {
    "routine": "A routine’s run",
    "task": "A task in the background",
    "channel": "From a chat app",
    "client": "From another app",
    "artifact": "Refreshing a page it made",
    "subagent": "Work that was handed off",
}
"""How a chat came to be, where no person started it."""


def duration(milliseconds: int) -> str:
    """A length of time: `4.2s`, `38s`, `3m 12s`, `1h 04m`. Anything above 0 is at least `0.1s`."""
    if milliseconds <= 0:
        return "0s"
    if milliseconds < 9_950:
        return f"{max(milliseconds / 1_000, 0.1):.1f}s"
    seconds = (milliseconds + 500) // 1_000
    if seconds < 60:
        return f"{seconds}s"
    if seconds < 3_600:
        return f"{seconds // 60}m {seconds % 60:02d}s"
    minutes = (seconds + 30) // 60
    return f"{minutes // 60}h {minutes % 60:02d}m"


def tokens(number: int) -> str:
    """A number of tokens: `950`, `18.2k`, `1.2M`."""
    if number < 1_000:
        return str(number)
    if number < 999_950:
        return f"{number / 1_000:.1f}k"
    tenths = (number + 50_000) // 100_000
    return f"{tenths // 10:,}.{tenths % 10}M"


def money(usd: float | None, *, estimated: bool = False) -> str:
    """Dollars: `$0.06`, `<$0.01`, estimated `~$0.06`; nothing for 0 and for what is not known."""
    if not usd or not isfinite(usd):
        return ""
    about = "~" if estimated else ""
    if usd < 0:
        return f"{about}-${-usd:,.2f}"
    return f"{about}${usd:,.2f}" if usd >= 0.005 else f"{about}<$0.01"


def money_of(cost: Cost | None) -> str:
    """What was paid: nothing on a plan."""
    return "" if cost is None or cost.billing == "plan" else money(cost.usd, estimated=cost.estimated_from is not None)


def size(number_of_bytes: int) -> str:
    """A size: `812 bytes`, `4.1 kB`, `3.4 MB`, `1.2 GB` (steps of 1,000)."""
    if number_of_bytes < 1_000:
        return counted(number_of_bytes, "byte")
    if number_of_bytes < 999_950:
        return f"{number_of_bytes / 1_000:.1f} kB"
    if number_of_bytes < 999_950_000:
        return f"{number_of_bytes / 1_000_000:.1f} MB"
    return f"{number_of_bytes / 1_000_000_000:.1f} GB"


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: `1 step`, `1,204 steps`; `many` where the plural is not one + s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def date(milliseconds: int | None, zone: tzinfo) -> str:
    """A day: `8 October 2026`; nothing for a time that is unknown or outside the calendar."""
    moment = _moment(milliseconds, zone)
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}" if moment else ""


def date_and_time(milliseconds: int | None, zone: tzinfo) -> str:
    """A moment: `8 Oct 2026, 09:20`; nothing for a time that is unknown or outside the calendar."""
    moment = _moment(milliseconds, zone)
    if moment is None:
        return ""
    return f"{moment.day} {MONTHS[moment.month - 1][:3]} {moment.year}, {moment.hour:02d}:{moment.minute:02d}"


def zone_name(milliseconds: int | None, zone: tzinfo) -> str:
    """The zone as of a moment, with its distance from UTC: `CEST, UTC+02:00`; `UTC` for UTC itself."""
    moment = _moment(milliseconds, zone) or datetime.fromtimestamp(0, zone)
    offset = moment.utcoffset() or timedelta()
    minutes = abs(round(offset.total_seconds() / 60))
    sign = "-" if offset < timedelta() else "+"
    distance = f"UTC{sign}{minutes // 60:02d}:{minutes % 60:02d}" if minutes else "UTC"
    name = moment.tzname() or distance
    return name if name == distance or name.startswith(("UTC", "+", "-")) else f"{name}, {distance}"


def line(text: str, limit: int = 300) -> str:
    """A text as one line: white space squeezed, and of a long one the beginning with an ellipsis."""
    words = " ".join(text[: 4 * limit].split())
    if len(words) <= limit and len(text) > 4 * limit:
        words = " ".join(text.split())
    return words if len(words) <= limit else words[: limit - 1].rstrip() + "…"


def shorten(words: str, limit: int) -> str:
    """The beginning of a line, cut between words where one ends in its second half, with an ellipsis."""
    if len(words) <= limit:
        return words
    cut = words[:limit]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit // 2 else cut).rstrip() + "…"


def file_name(path: str) -> str:
    """The last part of a path, of whatever system."""
    return path.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or path


def names_of_files(paths: Sequence[str]) -> str:
    """Paths as people say them: `a.py`, `a.py and b.py`, `a.py and 2 more`."""
    names = [file_name(path) for path in dict.fromkeys(paths)]
    if not names:
        return "files"
    if len(names) == 1:
        return names[0]
    return f"{names[0]} and {names[1]}" if len(names) == 2 else f"{names[0]} and {len(names) - 1:,} more"


def without_home(path: str) -> str:
    """A path from the person's own folder on: `/home/ada/work/a.py` and `~/work/a.py` are `work/a.py`."""
    parts = path.replace("\\", "/").split("/")
    if parts[0] == "~" and len(parts) > 1:
        return "/".join(parts[1:])
    at_home = len(parts) > 3 and parts[1].lower() in ("home", "users") and parts[0] in ("", "C:", "c:")
    return "/".join(parts[3:]) if at_home else path


def _moment(milliseconds: int | None, zone: tzinfo) -> datetime | None:
    if milliseconds is None:
        return None
    try:
        return datetime.fromtimestamp(milliseconds / 1_000, zone)
    except (OverflowError, OSError, ValueError):
        return None
