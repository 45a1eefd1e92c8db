"""Secrets in headers: `Authorization`, `Bearer …`, cookies."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from trailbook.redaction.finding import Finding, key, text_at
from trailbook.redaction.values import is_placeholder, is_wordy, looks_random

_CREDENTIAL = re.compile(rb"[^\s\"'`,;<>\\(){}|]{6,4096}")
_ENCODED = re.compile(rb"[A-Za-z0-9+/_-]{8,4096}={0,2}")


def bearer(data: bytes, _start: int, position: int) -> Iterator[Finding]:
    """The token behind `Bearer`, wherever that word stands."""
    found = _CREDENTIAL.match(data, position)
    if found:
        text = found.group().rstrip(b".:!?").decode("utf-8", "surrogateescape")
        if len(text) >= 10 and not is_placeholder(text) and not is_wordy(text):
            yield from key(data, position, position + len(text.encode("utf-8", "surrogateescape")))


def basic(data: bytes, _start: int, position: int) -> Iterator[Finding]:
    """The sign-in behind `Basic`: base64 of a name, a colon and a password, which no other word is."""
    found = _ENCODED.match(data, position)
    if found and _is_encoded_login(found.group()):
        yield from key(data, position, found.end())


def _is_encoded_login(data: bytes) -> bool:
    padded = data.rstrip(b"=") + b"=" * (-len(data.rstrip(b"=")) % 4)
    try:
        plain = base64.b64decode(padded, altchars=b"-_" if re.search(rb"[-_]", data) else None, validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in plain and plain.isascii() and plain.decode("ascii").isprintable()


_SCHEME = re.compile(
    rb"(?i)(?:bearer|basic|token|key|apikey|negotiate|ntlm|digest|aws4-hmac-sha256|sso-key|splunk|[a-z-]{3,20})[ \t]+"
)
_DETAILS = re.compile(
    rb"(?i)(?:response|signature|cnonce|oauth_token|oauth_signature|secret|token)=\\?\"?([^\s\"',\\]{8,512})"
)
_LINE = re.compile(rb"[^\n\r]{0,2000}")


def authorization(data: bytes, _start: int, position: int) -> Iterator[Finding]:
    """What an `Authorization` header holds, by its scheme, which stays."""
    scheme = _SCHEME.match(data, position)
    name = scheme.group().strip().lower() if scheme else b""
    if name in (b"digest", b"aws4-hmac-sha256", b"oauth"):
        line = _LINE.match(data, position)
        for detail in _DETAILS.finditer(data, position, line.end() if line else position):
            yield from key(data, *detail.span(1))
        return
    found = _CREDENTIAL.match(data, scheme.end() if scheme else position)
    if found is None:
        return
    text = found.group().decode("utf-8", "surrogateescape")
    if name == b"basic":
        yield from basic(data, position, found.start())
    elif len(text) >= 8 and not is_wordy(text) and not is_placeholder(text):
        yield from key(data, *found.span())


_COOKIE = re.compile(rb"[ \t]*([^\s=;,\"'\\]{1,80})=([^\s;,\"'\\]{0,4096})(?:;|$|(?=[\s\"'\\,]))")
_SESSION = re.compile(r"(?i)sess|sid$|^sid|auth|token|jwt|csrf|xsrf|login|remember|identity|secure|ticket")


def cookie(data: bytes, _start: int, position: int) -> Iterator[Finding]:
    """The values of cookies that look drawn by chance; those of a session may be shorter."""
    while found := _COOKIE.match(data, position):
        name, value = (text_at(data, *found.span(group)) for group in (1, 2))
        shortest = 8 if _SESSION.search(name) else 16
        if looks_random(value, shortest) or (
            shortest == 8 and len(value) >= 24 and not is_placeholder(value) and not is_wordy(value)
        ):
            yield from key(data, *found.span(2))
        position = found.end()
        if data[position - 1 : position] != b";":
            return
