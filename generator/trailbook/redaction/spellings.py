"""How a secret is spelled where it was encoded: percent, JSON, HTML, shell, hex, base64."""

from __future__ import annotations

import base64
import html
import json
import shlex
import unicodedata
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

BOUNDED = 12
"""A spelling with fewer characters is only taken where it is no part of a longer word."""
_SHORTEST_PIECE = 8
"""Characters of a piece of base64 that are enough to tell."""


def spellings(secret: str) -> set[str]:
    """Every spelling in which a secret can be told from what stands beside it, itself among them."""
    found = {form for each in _forms(secret) for form in (each, *_escaped(each))}
    return {form for form in found if len(form) >= len(secret)}


def encodings(secret: str) -> set[str]:
    """What a secret looks like inside a longer text in hex or base64: it may stand between any letters."""
    found: set[str] = set()
    for data in (secret.encode("utf-8", "replace"), secret.encode("utf-16-le", "replace")):
        found.update((data.hex(), data.hex().upper(), *_base64_pieces(data)))
    return found


def _forms(secret: str) -> Iterator[str]:
    yield secret
    if not secret.isascii():
        yield from (unicodedata.normalize("NFC", secret), unicodedata.normalize("NFD", secret))
    if len(secret) >= BOUNDED:
        yield from (secret.upper(), secret.lower())
        if "\n" in secret:
            yield secret.replace("\n", "\r\n")
    if " " in secret:
        yield from (secret.replace(" ", joint) for joint in ("\u00a0", "  ", "\n", "-", "_"))


def _escaped(text: str) -> Iterator[str]:
    percent = quote(text, safe="")
    yield from (percent, _lower_percent(percent), quote(percent, safe=""))
    yield from (
        quote(text, safe="!'()*~"),
        quote(text, safe="/"),
        quote(text, safe=";,/?:@&=+$!*'()#~"),
        quote_plus(text),
    )
    yield text.replace(" ", "+")
    yield from _json_escaped(text)
    yield text.replace("/", "\\/")
    yield from _html_escaped(text)
    yield shlex.quote(text)[1:-1] if "'" in text else text
    yield "".join(f"\\{c}" if c in '"$`\\!' else c for c in text)
    yield "".join(f"\\{c}" if not (c.isalnum() or c in "_-./:@%+,=") else c for c in text)
    yield from (
        repr(text)[1:-1],
        text.replace("\\", "\\\\"),
        text.replace("'", "\\'"),
        text.replace("'", "''"),
        text.replace('"', '""'),
    )


def _json_escaped(text: str) -> Iterator[str]:
    for ascii_only in (False, True):
        once = twice = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        for _ in range(2):
            twice = json.dumps(twice, ensure_ascii=ascii_only)[1:-1]
            yield twice
        yield from (once, json.dumps(once)[1:-1], once.replace("/", "\\/"))
        # Go and others also escape what HTML would read.
        yield once.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
        yield once.replace("&", "\\u0026").replace("<", "\\u003C").replace(">", "\\u003E").replace("'", "\\u0027")


def _html_escaped(text: str) -> Iterator[str]:
    named = html.escape(text, quote=False)
    yield named
    for double in ("&quot;", "&#34;", "&#x22;", '"'):
        for single in ("&#x27;", "&#39;", "&apos;", "'"):
            yield named.replace('"', double).replace("'", single)
    yield named.replace("&amp;", "&#38;").replace('"', "&#34;").replace("'", "&#39;")


def _lower_percent(text: str) -> str:
    parts = text.split("%")
    return parts[0] + "".join(f"%{part[:2].lower()}{part[2:]}" for part in parts[1:])


def _base64_pieces(data: bytes) -> Iterator[str]:
    """The whole in base64, and the characters that stand for these bytes alone at each place in a longer text."""
    for shift in range(3):
        whole = base64.b64encode(b"\0" * shift + data).decode()
        pieces = [whole[(shift * 8 + 5) // 6 : (shift + len(data)) * 8 // 6]]
        if shift == 0:
            pieces += [whole, whole.rstrip("=")]
        for piece in pieces:
            if len(piece) >= _SHORTEST_PIECE:
                yield from (piece, piece.replace("+", "-").replace("/", "_"), piece.replace("/", "\\/"))
