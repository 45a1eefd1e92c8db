"""Secrets that tell by the name they are given: `API_KEY=…`, `"password": "…"`, `x-token: …`, `<secret>…</secret>`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import re2

from trailbook.redaction.finding import Finding
from trailbook.redaction.labels import KEY, says_secret
from trailbook.redaction.patterns import BYTES
from trailbook.redaction.values import is_secret_value

_NAME = (
    r"(?:pass(?:word|wd|phrase|code|wort)?|kennwort|pwd|\bpw|[_-]pw|secret|token|credentials?|auth|sig|signature|"
    r"jwt|connection[_ -]?string|api[_ -]?key|"
    r"(?:access|secret|private|account|shared|auth|encryption|signing|master|license|deploy|storage|subscription|consumer|"
    r"service|webhook|hmac|jwt|ssh|client|admin|app|application|root|vault|crypt|cipher|encrypt|integration|write|project|"
    r"bot|rest|ingest|security|control|host|[A-Z0-9]_)[_ -]?key)[A-Za-z0-9_-]{0,16}"
)
_CLOSED = r"(?:\\{0,8}[\"'`]|&quot;|&#34;|%22)?\]?"
_JOINT = (
    r"[ \t]{0,2}:[ \t]?[A-Za-z][\w.\[\]<>| ]{0,24}[ \t]?="  # token: str = …
    r"|[ \t]{0,8}(?:===?|!==?|=>|:=|\?\?=|\|\|=|[:=]|%3D|%3A|&#61;)"
    r"|,\s{0,40}\\{0,8}[\"']?value\\{0,8}[\"']?[ \t]{0,2}[:=]"  # {"name": "API_KEY", "value": …
    r"|\s{1,40}value[ \t]{0,2}[:=]"  # <add key="ApiKey" value=…, and the same over two lines of YAML
    r"|[ \t]{0,2},"  # setenv("API_KEY", …
    r"|>|&gt;"  # <password>…
    r"|[ \t]{0,8}\|"  # | API_KEY | … |
)
_PROSE = r"[ \t]{1,2}(?:is|was|ist|lautet|est|es)(?: now| still)?:?[ \t]"

ASSIGNMENT = re2.compile(rf"(?i)({_NAME}){_CLOSED}(?:({_PROSE})|({_JOINT}))[ \t]{{0,8}}".encode(), BYTES)

_NAME_BEFORE = re.compile(rb"[A-Za-z0-9_.\-]{0,48}$")
_CAPITALS = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$")
_LONGEST_TESTED = 2_048

_QUOTE = re.compile(rb"(?:[bfruBFRU]{1,2}(?=[\"']))?(\\{0,8}[\"'`]|&quot;|&#34;|%22)")
_QUOTED = {
    b'"': re.compile(rb"(?:[^\"\\\n\r]|\\.){1,2048}", re.DOTALL),
    b'\\"': re.compile(rb"[^\"\n\r]{1,2048}"),
    b"'": re.compile(rb"[^'\n\r]{1,2048}"),
    b"`": re.compile(rb"[^`\n\r]{1,2048}"),
    b"&quot;": re.compile(rb"(?:[^\"&\n\r]|&(?!quot;)){1,2048}"),
    b"&#34;": re.compile(rb"(?:[^\"&\n\r]|&(?!#34;)){1,2048}"),
    b"%22": re.compile(rb"(?:[^\"%\s]|%(?!22)){1,2048}"),
}
_BARE = re.compile(rb"[^\s\"'`,;(){}<>\[\]\\|&]{1,2048}")
_BARE_IN_SETTING = re.compile(rb"[^\s\"'`;<>\\|]{1,2048}")
_MORE = re.compile(rb"[^\s\"'`,;(){}<>\[\]\\|&]*")


class _Value(NamedTuple):
    """What stands behind a name; its quotes are not in it."""

    start: int
    end: int
    quoted: bool


def find_assignments(data: bytes) -> Iterator[Finding]:
    """The values of names that say secret. Only the value goes: its name, its quotes and what is around them stay."""
    position = 0
    while found := ASSIGNMENT.search(data, position):
        position = found.end()
        if data[found.start(1) - 1 : found.end(1) + 1] == b"[password]":
            continue  # no name: what redaction left
        name = _name_that_ends(data, *found.span(1))
        sureness = says_secret(name)
        if not sureness or name.endswith(("uthorization", "UTHORIZATION")):
            continue  # a header's scheme and value are looked at where headers are
        if found.end(2) >= 0:
            finding = _in_prose(data, position, sureness)
        else:
            finding = _assigned(data, position, name, sureness, data[found.start(3) : position])
        if finding:
            yield finding
            position = finding.end


def is_secret_under(name: str, value: str) -> bool:
    """Whether a value that stands in a JSON object under a name is a secret as a whole."""
    sureness = says_secret(name)
    capital = bool(_CAPITALS.match(name))
    return bool(sureness) and is_secret_value(value[:_LONGEST_TESTED], sureness, quoted=True, capital=capital)


def _name_that_ends(data: bytes, start: int, end: int) -> str:
    before = _NAME_BEFORE.search(data, max(0, start - 48), start)
    first = before.start() if before else start
    return data[first:end].decode("latin-1").strip(".-").replace(" ", "_")


def _assigned(data: bytes, position: int, name: str, sureness: int, joint: bytes) -> Finding | None:
    # DB_PASSWORD = …, PGPASSWORD=…
    capital = name.isupper() and joint == b"="
    joint = joint.strip()
    capital = capital or (bool(_CAPITALS.match(name)) and joint in (b"=", b":", b"%3D"))
    value = value_at(data, position, setting=capital and joint == b"=")
    if value is None or (joint == b"," and not value.quoted):
        return None
    if joint in (b",", b">", b"&gt;", b"|"):
        sureness = min(sureness, KEY)  # these join all sorts of things
    text = data[value.start : value.end].decode("utf-8", "surrogateescape")
    if not is_secret_value(text, sureness, quoted=value.quoted or joint in (b">", b"&gt;"), capital=capital):
        return None
    if not value.quoted and data[value.end : value.end + 1] in (b"(", b"[") and text.isidentifier():
        return None
    end = value.end
    if end - value.start >= _LONGEST_TESTED and (rest := _MORE.match(data, end)):
        end = rest.end()
    return Finding(value.start, end, "key", data[value.start : end])


def _in_prose(data: bytes, position: int, sureness: int) -> Finding | None:
    """A value in a sentence: `the password is …`. Only what no word is."""
    value = value_at(data, position, setting=False)
    if value is None:
        return None
    text = data[value.start : value.end].decode("utf-8", "surrogateescape")
    mixed = any(c.isdigit() for c in text) and any(c.isalpha() for c in text)
    if not mixed or len(text) < 8 or not is_secret_value(text, sureness, quoted=value.quoted, capital=False):
        return None
    return Finding(value.start, value.end, "key", data[value.start : value.end])


def value_at(data: bytes, position: int, *, setting: bool) -> _Value | None:
    """The value that starts here, in quotes or bare; `setting` when it runs to the next blank, commas and all."""
    quote = _QUOTE.match(data, position)
    if quote is None:
        return _bare(data, position, setting=setting)
    mark, start = quote.group(1), quote.end()
    kind = mark if mark in _QUOTED else b'\\"' if mark.endswith(b'"') else mark[-1:]
    found = _QUOTED[kind].match(data, start)
    if found is None:
        return None
    # An escaped quote closes with one that is escaped as often; those escapes are not the value's.
    end = found.end() if len(mark) == 1 else start + len(found.group().rstrip(b"\\"))
    return _Value(start, end, True) if end > start else None


def _bare(data: bytes, position: int, *, setting: bool) -> _Value | None:
    found = (_BARE_IN_SETTING if setting else _BARE).match(data, position)
    if found is None:
        return None
    value = found.group().rstrip(b".,:;)" if setting else b".,:;)!?")
    return _Value(position, position + len(value), False) if value else None
