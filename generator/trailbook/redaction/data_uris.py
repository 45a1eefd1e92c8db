"""Text inside `data:` addresses (`data:text/…;base64,…`), which has to be decoded before anything is found in it."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote_from_bytes, unquote_to_bytes

SIGN = "data:"

DEEPEST = 3
"""How many addresses inside one another are looked into."""

_TEXT = re.compile(
    r"(data:(?:text/[\w.+-]{1,80}|application/(?:[\w.-]{1,60}\+)?(?:json|xml|javascript|ecmascript|yaml|x-yaml|toml|sql|x-sh)"
    r"|image/svg\+xml)(?:;[\w.=+\" -]{1,80}){0,4},)([^\s\"'<>()\\`]*)",
    re.IGNORECASE,
)


@dataclass(slots=True, frozen=True)
class DataUri:
    """An address whose data is text."""

    head: str
    """Up to the comma."""
    data: str
    """As it stands in the address."""
    text: str
    """What it says."""
    charset: str

    def saying(self, text: str) -> str:
        """The address of another text, encoded in the same way."""
        data = text.encode(self.charset, "replace")
        if _is_base64(self.head):
            return self.head + base64.b64encode(data).decode()
        return self.head + quote_from_bytes(data, safe="!$&*+,-./:;=?@_~%20[]")


def replaced(text: str, replace: Callable[[str], str], depth: int = DEEPEST) -> str:
    """The text with what is outside such addresses, and what each of them says, replaced; the same where nothing is."""
    pieces: list[str] = []
    last = 0
    for found in _TEXT.finditer(text) if depth else ():
        uri = _decoded(found[1], found[2])
        if uri is not None:
            new = replaced(uri.text, replace, depth - 1)
            pieces += [replace(text[last : found.start()]), found.group() if new == uri.text else uri.saying(new)]
            last = found.end()
    pieces.append(replace(text[last:]))
    new = "".join(pieces)
    return text if new == text else new


def _is_base64(head: str) -> bool:
    return head.lower().rstrip(", ").endswith(";base64")


def _decoded(head: str, data: str) -> DataUri | None:
    raw = unquote_to_bytes(data)
    if _is_base64(head):
        raw = raw.rstrip(b"=")
        try:
            raw = base64.b64decode(
                raw + b"=" * (-len(raw) % 4), altchars=b"-_" if re.search(rb"[-_]", raw) else None, validate=True
            )
        except (binascii.Error, ValueError):
            return None
    for charset in ("utf-8", "latin-1"):
        try:
            return DataUri(head, data, raw.decode(charset), charset)
        except UnicodeDecodeError:
            continue
    return None
