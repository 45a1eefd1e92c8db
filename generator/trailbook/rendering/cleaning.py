"""Text made visible and harmless: control, invisible and direction characters shown, everything escaped."""

from __future__ import annotations

import re

from markupsafe import Markup
from markupsafe import escape as escape_markup

_FILLERS = frozenset("\u115f\u1160\u3164\uffa0")
"""Letters that show nothing; Unicode counts them as printable."""

# CSI; OSC (a title, a link) up to its end or the end of its line; DCS, SOS, PM, APC likewise; the two-character ones.
ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)(?P<arguments>[0-?]*)[ -/]*(?P<final>[@-~]|$|(?=[^ -~]))"
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c\n]*(?:\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
"""A terminal's escape sequences, also those that were cut off."""

STARTS_ESCAPE = re.compile(r"[\x1b\x90\x98\x9b\x9d-\x9f]")

_ASCII_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_ALWAYS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b{joiners}\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0\ufff9-\ufffb\ufdd0-\ufdef\ud800-\udfff\U000e0000-\U000e0fff"
    + "".join(f"{chr(plane * 0x10000 + 0xFFFE)}{chr(plane * 0x10000 + 0xFFFF)}" for plane in range(17))
)
_HIDDEN = re.compile(f"[{_ALWAYS.format(joiners=chr(0x200C) + chr(0x200D))}]")
_HIDDEN_IN_PROSE = re.compile(f"[{_ALWAYS.format(joiners='')}]")


def clean(text: str, *, prose: bool = False) -> str:
    """The text with every character that hides, reorders or controls shown instead of doing so.

    A terminal's escape sequences go. Line ends become `\\n`; C0 controls become their pictures (␀), all others their
    number (⟨U+202E⟩). With `prose` the two joiners stay, because emoji families and Persian or Indic words need them.
    The result encodes as UTF-8 and comes back unchanged from an HTML parser once escaped.
    """
    if text.isascii() and not _ASCII_CONTROL.search(text):
        return text
    if text.isprintable() and _FILLERS.isdisjoint(text):
        return text
    if STARTS_ESCAPE.search(text):
        text = ESCAPE.sub("", text)
    text = text.replace("\r\n", "\n")
    return (_HIDDEN_IN_PROSE if prose else _HIDDEN).sub(_visible, text)


def escape(text: str, *, prose: bool = False) -> Markup:
    """Cleaned text as HTML, for text and quoted attributes."""
    return escape_markup(clean(text, prose=prose))


def text_html(text: str, *, prose: bool = False) -> str:
    """Cleaned text as HTML for the content of elements, never for attributes: quotes stand as they are."""
    return escape_text(clean(text, prose=prose))


def escape_text(text: str) -> str:
    """Text that is clean already as the content of an element."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _visible(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"
