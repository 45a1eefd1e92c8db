"""Words on a terminal: nothing that a chat says may steer it."""

from __future__ import annotations

import re
import unicodedata

_SEQUENCES = re.compile(
    "\x1b\\[[0-?]*[ -/]*[@-~]"  # colours and moves
    "|\x1b[\\]PX^_][^\n]*?(?:\x1b\\\\|\x07|\x9c|$)"  # titles, links, device strings, up to their end or the line's
    "|\x9b[0-?]*[ -/]*[@-~]"
    "|\x1b[ -/]*[0-~]",
    re.MULTILINE,
)
_SHOWN = {"\u200c", "\u200d"}
"""Joiners that words of some scripts and pictures are made with; they move nothing."""


def plain(text: str) -> str:
    """A text without escape sequences; other control, bidi and invisible characters are shown as what they are."""
    text = _SEQUENCES.sub("", text.replace("\r\n", "\n"))
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible(char) for char in text)


def line(text: str) -> str:
    """As `plain`, on one line."""
    return " ".join(plain(text).split())


def _visible(char: str) -> str:
    if char in "\n\t" or char in _SHOWN:
        return char
    category = unicodedata.category(char)
    if category == "Cc":
        return chr(0x2400 + ord(char)) if ord(char) < 0x20 else "\ufffd"
    if category in {"Cf", "Zl", "Zp"}:
        return f"⟨U+{ord(char):04X}⟩"
    return "\ufffd" if category in {"Cs", "Co", "Cn"} else char
