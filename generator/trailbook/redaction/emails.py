"""Email addresses of people."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files

import re2

from trailbook.redaction.finding import Finding
from trailbook.redaction.patterns import BYTES

EMAIL = re2.compile(
    rb"[A-Za-z0-9._+'\x80-\xff-]+(?:@|%40|\\u0040)(?:[A-Za-z0-9\x80-\xff][A-Za-z0-9\x80-\xff-]*\.)+[A-Za-z\x80-\xff][A-Za-z0-9\x80-\xff-]*",
    BYTES,
)
_AT = re.compile(rb"@|%40|\\u0040")
_DOMAIN = re.compile(rb"(?:[A-Za-z0-9\x80-\xff-]{1,63}\.){1,10}[A-Za-z\x80-\xff][A-Za-z0-9\x80-\xff-]{0,30}")
_LOCAL = re.compile(r"(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[nrtbf])?")
_NOBODY = re.compile(r"(?:git|no-?reply|do-?not-?reply|hg|svn)$", re.IGNORECASE)
_RESERVED = re.compile(
    r"(?:^|\.)(?:example\.(?:com|org|net)|example|test|invalid|localhost|local|internal|lan|localdomain)$"
)


@lru_cache(maxsize=1)
def _top_level_domains() -> frozenset[str]:
    listed = files("trailbook.redaction").joinpath("top_level_domains.txt").read_text("utf-8")
    return frozenset(name for line in listed.splitlines() if not line.startswith("#") for name in line.split())


def find_emails(data: bytes) -> Iterator[Finding]:
    """Email addresses of people; `git@…`, `noreply@…`, reserved domains and `icon@2x.png` are none."""
    position = 0
    while found := EMAIL.search(data, position):
        start, end = found.span()
        at = _AT.search(data, start, end)
        if at is None:
            break
        domain_found = _DOMAIN.match(data, at.end(), end)
        stop = domain_found.end() if domain_found else at.end()
        start, local, domain, end = _email_parts(data, start, at.start(), at.end(), stop)
        if local and domain and not _NOBODY.match(local) and not _RESERVED.search(domain):
            yield Finding(start, end, "email", f"{local}@{domain}".lower().encode("utf-8", "surrogatepass"))
            position = end
        else:
            position = at.end()


def _email_parts(data: bytes, start: int, at: int, after: int, end: int) -> tuple[int, str, str, int]:
    """Where an address really starts and ends, and its two halves; a half is empty where there is none."""
    if start and data[start - 1] == 0x5C:  # "\nkate@…": the n is no part of the name
        escape = _LOCAL.match(data[start:at].decode("latin-1"))
        start += escape.end() if escape else 0
    while start < at and data[start] in b".%'-+":
        start += 3 if data[start] == 0x25 else 1
    if at - start > 64:
        return start, "", "", end
    local = data[start:at].decode("utf-8", "replace")
    domain = data[after:end].decode("utf-8", "replace")
    while domain:
        head, _, top = domain.rpartition(".")
        if top.lower() in _top_level_domains() or (not top.isascii() and top.isalpha()):
            return start, local, domain.lower(), after + len(domain.encode())
        # "kate@corp.io.Then" may go on with another sentence's first word.
        domain = head if "." in head and top[:1].isupper() and top.isalpha() else ""
    return start, local, "", end
