"""Secrets on command lines: sign-ins and passwords behind options."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trailbook.redaction.assignments import value_at
from trailbook.redaction.finding import Finding, key, text_at
from trailbook.redaction.labels import KEY, PASSWORD, says_secret
from trailbook.redaction.values import is_placeholder, is_secret_value, is_stand_in


def login_option(data: bytes, _start: int, position: int) -> Iterator[Finding]:
    """The sign-in behind `-u`: name and password."""
    value = value_at(data, position, setting=True)
    if value is None:
        return
    name, colon, password = text_at(data, value.start, value.end).partition(":")
    if colon and len(password) > 2 and not is_placeholder(name) and not is_stand_in(password):
        yield from key(data, value.start, value.end)


def given_password(data: bytes, _start: int, position: int) -> Iterator[Finding]:
    """What a command is given as a password, whatever it is."""
    value = value_at(data, position, setting=True)
    if value and value.end - value.start > 2:
        text = text_at(data, value.start, value.end)
        if not text.startswith("-") and not is_stand_in(text):
            yield from key(data, value.start, value.end)


def glued_password(data: bytes, start: int, position: int) -> Iterator[Finding]:
    """A password that follows its option without a blank (`mysql -pPASSWORD`)."""
    if data[position : position + 1].strip():
        yield from given_password(data, start, position)


def option(data: bytes, start: int, position: int) -> Iterator[Finding]:
    """The value of an option whose name says secret (`--api-key VALUE`)."""
    name = text_at(data, start, position).strip(" \t\"'`[,(-")
    value = value_at(data, position, setting=False)
    sureness = says_secret(name) or (KEY if name.endswith("key") else 0)
    if value is None or not sureness:
        return
    if is_secret_value(text_at(data, value.start, value.end), sureness, quoted=value.quoted, capital=False):
        yield from key(data, value.start, value.end)


_SETTING = re.compile(rb"[A-Za-z0-9_.:-]{1,80}(?:[ \t]{1,4}|=)(?:--?(?:body|value|v|b)[ \t=]{1,4})?")


def setting(data: bytes, _start: int, position: int) -> Iterator[Finding]:
    """The value of a setting whose name says secret (`setx API_KEY VALUE`, `aws configure set … VALUE`)."""
    found = _SETTING.match(data, position - 1)
    if found is None:
        return
    name = text_at(data, *found.span()).split()[0].partition("=")[0]
    value = value_at(data, found.end(), setting=False)
    sureness = says_secret(name)
    if value is None or not sureness:
        return
    if is_secret_value(text_at(data, value.start, value.end), sureness, quoted=value.quoted, capital=name.isupper()):
        yield from key(data, value.start, value.end)


def sql_password(data: bytes, start: int, position: int) -> Iterator[Finding]:
    """The password in an SQL statement (`IDENTIFIED BY '…'`)."""
    capital = data[start:position].isupper()  # in prose and code the same words are written small
    if data[position - 1 : position] == b"'":
        position -= 1
    value = value_at(data, position, setting=False)
    if value is None or not value.quoted:
        return
    if is_secret_value(text_at(data, value.start, value.end), PASSWORD, quoted=True, capital=capital):
        yield from key(data, value.start, value.end)
