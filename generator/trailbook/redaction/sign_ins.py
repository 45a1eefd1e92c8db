"""Secrets in addresses: a sign-in before the host, a webhook's path, a signature among the parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trailbook.redaction.finding import Finding, key, text_at
from trailbook.redaction.values import is_placeholder, is_stand_in, is_wordy, looks_random


def sign_in(data: bytes, start: int, end: int) -> Iterator[Finding]:
    """The sign-in of an address, name and password: what stands between `://` and `@`."""
    login = data[start:end].rindex(b"/") + 1 + start
    text = text_at(data, login, end - 1)
    name, colon, password = text.partition(":")
    if not colon:
        if looks_random(name, 12):
            yield from key(data, login, end - 1)
        return
    if password and not is_stand_in(password) and not is_placeholder(name):
        yield from key(data, login, end - 1)


_WEBHOOK = re.compile(rb"[A-Za-z0-9_@.\-]{4,128}(?:\\?/[A-Za-z0-9_.\-]{4,128}){0,4}")


def webhook(data: bytes, _start: int, position: int) -> Iterator[Finding]:
    """The path of a webhook, which is all the secret it has."""
    found = _WEBHOOK.match(data, position)
    text = text_at(data, *found.span()) if found else ""
    if found and not is_placeholder(text) and not is_wordy(text):
        yield from key(data, *found.span())


_PARAMETER = re.compile(rb"[^\s\"'`&#<>\\]{16,4096}")


def parameter(data: bytes, _start: int, position: int) -> Iterator[Finding]:
    """A parameter of an address that looks drawn by chance: a signature, a one-time code."""
    found = _PARAMETER.match(data, position)
    if found and looks_random(text_at(data, *found.span()).removesuffix("%3D"), 20):
        yield from key(data, *found.span())
