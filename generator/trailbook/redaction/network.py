"""Public network addresses. Private, loopback, shared, documentation ranges and version numbers are none."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache

from trailbook.redaction.finding import Finding
from trailbook.redaction.view import character_after, character_before

_RESOLVERS = frozenset(("8.8.8.8", "8.8.4.4", "1.1.1.1", "1.0.0.1", "9.9.9.9", "149.112.112.112"))
_DOCUMENTED = tuple(
    ipaddress.ip_network(network)
    for network in (
        "192.0.2.0/24",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "198.18.0.0/15",
        "192.88.99.0/24",
        "192.0.0.0/24",
    )
)
_VERSION_BEFORE = re.compile(
    rb"(?i)(?:[=~^<>!]=?\s?|[\w)]@|\bv(?:er)?\.?\s?|[a-z]/|[a-z]-|[a-z_]\(\"?|[\d.]\d -> |\d to "
    rb"|(?:version|release|revision|build|sections?|chapter|clause|oid|schema|sdk|driver|cuda|cudnn|chrome|chromium|firefox"
    rb"|safari|edge?|opera|windows|linux|kernel|rev|\xc2\xa7)[\w()\"':=/ -]{0,14})$"
)
_VERSION_LINE = re.compile(
    rb"(?i)(?:versions?|upgrad\w{1,3}|downgrad\w{1,3})\b[^\n.]{0,40}$|\bv\d+(?:\.\d+)+[^\n]{0,24}$"
)
_SMALL = 32
"""Four numbers that are all below this are rather a version or a section than an address."""
_PORT = re.compile(rb":\d{2,5}\b")
_ADDRESS_BEFORE = re.compile(
    rb"(?i)(?:\bip|host|addr(?:ess)?|server|peer|from|remote|client|for)[\w\"' ]{0,8}[=:]\s?[\"']?$|://$|@$"
    rb"|\b(?:ip|host|ssh|ping|from|address)\s$"
)


def find_ipv4(data: bytes, start: int, end: int) -> Finding | None:
    """The public address that a span of four numbers is, None where it is another or a version."""
    text = data[start:end].decode()
    before, after = character_before(data, start), character_after(data, end)
    if before.isalnum() or before in ("_", ".") or after.isalnum() or after == "_":
        return None
    if (after == "." and character_after(data, end + 1).isdigit()) or (
        after == "-" and character_after(data, end + 1).isalnum()
    ):
        return None
    if before == "-" and character_before(data, start - 1).isalnum():
        return None
    if not _is_public(text) or (_is_version(data, start, text) and not _is_located(data, start, end)):
        return None
    return Finding(start, end, "address", text.encode())


def _is_version(data: bytes, start: int, text: str) -> bool:
    """Whether four numbers are rather a version or a section of a text: small ones, or behind such a word."""
    if text.endswith(".0.0") or max(map(int, text.split("."))) < _SMALL:
        return True
    if _VERSION_LINE.search(data, max(0, start - 64), start):
        return True
    return bool(_VERSION_BEFORE.search(data, max(0, start - 28), start))


def _is_located(data: bytes, start: int, end: int) -> bool:
    """Whether what stands around four numbers says that they are an address."""
    return bool(_ADDRESS_BEFORE.search(data, max(0, start - 28), start) or _PORT.match(data, end))


def find_ipv6(data: bytes, start: int, end: int) -> Finding | None:
    """The public address that a span of groups is."""
    before = character_before(data, start)
    if before.isalnum() or before in (":", "_", "."):
        return None
    text = data[start:end].decode()
    for candidate in (text, text.rstrip(":"), text[:-1]):
        if not character_after(data, start + len(candidate)).isalnum() and _is_public(candidate):
            return Finding(start, start + len(candidate), "address", candidate.lower().encode())
    return None


@lru_cache(maxsize=4_096)
def _is_public(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        return address in _IPV6 and address not in _IPV6_DOCUMENTED and (address.is_global or address in _SIX_TO_FOUR)
    if (
        text in _RESOLVERS
        or address.is_multicast
        or address.is_reserved
        or any(address in each for each in _DOCUMENTED)
    ):
        return False
    return address.is_global


_IPV6 = ipaddress.ip_network("2000::/3")
_IPV6_DOCUMENTED = ipaddress.ip_network("2001:db8::/32")
_SIX_TO_FOUR = ipaddress.ip_network("2002::/16")
