"""What a key that was found in one place teaches: the values that have to go everywhere else."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from urllib.parse import unquote

from trailbook.redaction.values import is_placeholder, is_wordy, looks_random

_SHORTEST, _LONGEST = 8, 4_000


def lessons(key: bytes) -> Iterator[str]:
    """The values to look for everywhere: the key, and the password of a sign-in (`name:password`, also in base64).

    Only what is drawn by chance: a word that somebody uses as a password would shred every text it stands in.
    """
    if not _SHORTEST <= len(key) <= _LONGEST or key.startswith(b"-----BEGIN"):
        return
    text = key.decode("utf-8", "replace")
    for value in (text, unquote(text) if "%" in text else "", *_password_of(text), *_password_of(_plain(key))):
        if _tells(value):
            yield value


def _tells(value: str) -> bool:
    if len(value) < _SHORTEST or "\ufffd" in value or not value.isprintable():
        return False
    if value.isdigit() or is_placeholder(value) or is_wordy(value):
        return False
    return looks_random(value, _SHORTEST) or any(c.isdigit() for c in value)


def _password_of(text: str) -> Iterator[str]:
    name, colon, password = text.partition(":")
    if colon and re.fullmatch(r"[\w.@+-]{0,64}", name):
        yield password
        yield unquote(password)


def _plain(key: bytes) -> str:
    if not re.fullmatch(rb"[A-Za-z0-9+/]{12,}={0,2}", key):
        return ""
    try:
        return base64.b64decode(key + b"=" * (-len(key) % 4), validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return ""
