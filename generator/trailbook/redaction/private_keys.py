"""Private-key blocks: whole, cut, indented, numbered, in a diff, escaped in JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator

import re2

from trailbook.redaction.finding import Finding
from trailbook.redaction.patterns import BYTES

PEM = re2.compile(rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----", BYTES)
_LONGEST_BLOCK = 20_000
_BEGIN, _END = b"-----BEGIN ", re.compile(rb"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_BODY = re.compile(
    rb"(?:(?:\s|\\+[nr]|[+>|#*\-\"',]|\d{1,6}(?:\xe2\x86\x92|[:|\t]))*"
    rb"(?:[A-Za-z0-9+/]{16,}={0,2}|(?:Proc-Type|DEK-Info|Version|Comment|Hash)[^\n\\]{0,200}|=?[A-Za-z0-9+/]{4,}={0,2}(?=\s|\\|$)))*"
)


def find_private_keys(data: bytes) -> Iterator[Finding]:
    """Private-key blocks, whole; one that was cut goes as far as its lines do. Certificates and public keys stay."""
    position = 0
    while found := PEM.search(data, position):
        start, after = found.span()
        near = data[after : after + _LONGEST_BLOCK]
        finish = _END.search(data, after, after + _LONGEST_BLOCK) if b"-----END" in near else None
        next_begin = data.find(_BEGIN, after, after + _LONGEST_BLOCK)
        if finish and not 0 <= next_begin < finish.start():
            position = finish.end()
        else:
            body = _BODY.match(data, after, after + _LONGEST_BLOCK)
            position = body.end() if body else after
        if position - after > 20:
            yield Finding(start, position, "key", re.sub(rb"[^A-Za-z0-9+/=]", b"", data[after:position])[:4_000])
