"""Keys and tokens that tell by their own shape: vendors' prefixes, JSON web tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator

import re2

from trailbook.redaction.finding import Finding
from trailbook.redaction.patterns import BYTES
from trailbook.redaction.values import is_placeholder, is_wordy
from trailbook.redaction.vendors import VENDOR_KEYS

_LEFT = r"(?:^|[^A-Za-z0-9]|\\[nrtbfv]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|%[0-9a-fA-F]{2}|\\033)"
_JWT = (
    r"eyJ[A-Za-z0-9_-]{8,}(?:\.|%2E)eyJ[A-Za-z0-9_-]{8,}(?:(?:\.|%2E)[A-Za-z0-9_-]*)*"
    r"|eyJ[A-Za-z0-9_-]{16,}\.\.?[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}[A-Za-z0-9_.-]*"
)

SHAPE = re2.compile(f"{_LEFT}(?:{_JWT}|{'|'.join(VENDOR_KEYS)})".encode(), BYTES)
_BEFORE = re.compile(rb"\\(?:[nrtbfv]|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|033)|%[0-9a-fA-F]{2}|[^A-Za-z0-9]|")

_FIXED_LENGTH = re.compile(rb"(?:AKIA|ASIA|ABIA|ACCA|SK[0-9a-f]{32}$|[0-9a-f]{32}-us|LTAI|AIza|dapi|key-|fc-)")
_IN_BASE64 = re.compile(rb"[A-Za-z0-9+/]{24,}[+/]$")
_CERTAIN = re.compile(r"AKIA|ASIA|ABIA|ACCA|AGE-|hf_")
"""Keys that may be all letters of one case and are keys all the same."""


def find_shapes(data: bytes) -> Iterator[Finding]:
    """Keys and tokens by their shape; a prefix alone, a masked key and a placeholder are none."""
    for found in SHAPE.finditer(data):
        start, end = found.span()
        if before := _BEFORE.match(data, start):
            start = before.end()
        text = data[start:end].decode("latin-1")
        if _IN_BASE64.search(data, max(0, start - 32), start):
            continue
        if _FIXED_LENGTH.match(data, start, end) and data[end : end + 1].isalnum():
            continue
        if is_placeholder(text) or (is_wordy(text[:200]) and not _CERTAIN.match(text)):
            continue
        end = _over_wrap(data, start, end)
        yield Finding(start, end, "key", _squeezed(data[start:end]))


# --- a key that a terminal broke over two lines

_NEXT_LINE = re.compile(rb"(?:\r?\n|\\n)[ \t]{0,40}([A-Za-z0-9_+/=.-]{4,})(?=\s|$|[\"'`\\])")
_SCREEN = 60


def _over_wrap(data: bytes, start: int, end: int) -> int:
    """Where a key really ends: on the next line too, when it fills its line like text that a terminal broke."""
    line = data.rfind(b"\n", 0, start) + 1
    rest = _NEXT_LINE.match(data, end)
    if rest is None or end - line < _SCREEN:
        return end
    text = rest.group(1).decode("latin-1")
    return rest.end(1) if not is_wordy(text) else end


def _squeezed(key: bytes) -> bytes:
    return re.sub(rb"\s+|\\n", b"", key)
