"""The names of what is written: they sort by date, read well in a file browser, and never change once given."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import datetime, tzinfo
from hashlib import sha256

LONGEST = 60
"""Characters of a title that a name keeps."""
LONGEST_BYTES = 150
"""Bytes of a title that a name keeps: with date, digits and ending it stays below the 255 that file systems take."""

_NOT_IN_NAMES = re.compile(r"[\\/:*?\"<>|#%&{}$!'`@+=~^\[\]]+")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
"""Names that Windows keeps for devices, whatever their ending."""


def digests(chats: Iterable[tuple[str, str]], given: Mapping[tuple[str, str], str]) -> dict[tuple[str, str], str]:
    """The hexadecimal digits that tell each chat (source, id) apart in its file names: six, more where two are alike.

    `given` are the digits of chats that have files already; those never change.
    """
    digits = dict(given)
    taken = set(given.values())
    for chat in sorted(set(chats) - set(given)):
        digest = sha256("\n".join(chat).encode("utf-8", "replace")).hexdigest()
        length = 6
        while digest[:length] in taken and length < len(digest):
            length += 2
        digits[chat] = digest[:length]
        taken.add(digest[:length])
    return digits


def stem(title: str | None, started: int | None, digits: str, zone: tzinfo) -> str:
    """The name of a chat's files without their ending, such as `2026-10-08-fix-the-invoice-rounding-test-3fa9c1`.

    `started` is in epoch milliseconds; the day is the one in `zone`. `title` has been through redaction.
    """
    return "-".join(part for part in (day(started, zone) or "undated", slug(title), digits) if part)


def subagent_digits(source: str, path: str) -> str:
    """The digits of a subagent's files; `path` are the ids from the chat at the top down to it, joined by `/`."""
    return sha256(f"{source}\n{path}".encode("utf-8", "replace")).hexdigest()[:6]


def slug(title: str | None) -> str:
    """The words of a title in lower case, joined by hyphens; letters of every script stay."""
    text = unicodedata.normalize("NFKC", title or "").lower()
    words = "".join(char if _is_letter(char) else " " for char in text).split()
    return _shortened("-".join(words)).strip("-")


def export_name(heading: str, title: str | None, day: str) -> str:
    """An exported file's name without its ending: `Conch – Fix the invoice rounding test – 2026-10-08`.

    `heading` is the agent's product, or `Conch chats` for a batch, which has no `title`; `day` the day of saving.
    """
    parts = (
        [cleaned(heading, "Chats"), day] if title is None else [cleaned(heading, "Chat"), cleaned(title, "Chat"), day]
    )
    return " – ".join(parts)


def cleaned(title: str, otherwise: str) -> str:
    """A redacted title as a part of a file name on every system (conch.md §5); `otherwise` where nothing is left."""
    text = unicodedata.normalize("NFKC", title)
    text = "".join(" " if _is_space(char) else char for char in text if _is_space(char) or not _is_hidden(char))
    text = " ".join(_NOT_IN_NAMES.sub(" ", text).split())
    text = _shortened(text.strip(". ")).strip(". ")
    return otherwise if not text or _RESERVED.fullmatch(text) else text


def numbered(name: str, number: int) -> str:
    """The name that is tried when `name` is taken: `Chat.html` → `Chat 2.html`."""
    base, dot, ending = name.rpartition(".")
    return f"{base} {number}{dot}{ending}" if dot and base else f"{name} {number}"


def day(at: int | None, zone: tzinfo) -> str | None:
    """The day of a time (epoch milliseconds) in a zone as `2026-10-08`; None where no calendar has it."""
    if at is None:
        return None
    try:
        return datetime.fromtimestamp(at / 1000, zone).date().isoformat()
    except (OverflowError, OSError, ValueError):
        return None


def _shortened(text: str) -> str:
    text = text[:LONGEST]
    return text.encode("utf-8", "replace")[:LONGEST_BYTES].decode("utf-8", "ignore")


def _is_letter(char: str) -> bool:
    """A letter, a digit, or a mark that belongs to one (vowel signs, say)."""
    return char.isalnum() or unicodedata.category(char).startswith("M")


def _is_space(char: str) -> bool:
    return char.isspace() and char not in "\x1c\x1d\x1e\x1f\x85"


def _is_hidden(char: str) -> bool:
    """Control, format, private and surrogate characters, and code points that are none."""
    return unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Cn"}
