"""Phone and card numbers, and what else is told from them: public network addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import re2

from trailbook.redaction.finding import Finding
from trailbook.redaction.network import find_ipv4, find_ipv6
from trailbook.redaction.patterns import BYTES
from trailbook.redaction.view import character_after, character_before

NUMBER = re2.compile(
    rb"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}"
    rb"|[23][0-9A-Fa-f]{3}:(?:[0-9A-Fa-f]{0,4}:){1,6}[0-9A-Fa-f]{0,4}"
    rb"|\d{4}[ -]\d{4}[ -]\d{4}[ -]\d{4}(?:[ -]\d{1,3})?|3[47]\d\d[ -]\d{6}[ -]\d{5}"
    rb"|3[068]\d\d[ -]\d{6}[ -]\d{4}|\d{13,19}"
    rb"|\+\(?\d[\d ().\x2f-]{5,22}\d"
    rb"|\(\d{3}\) ?\d{3}[-. ]\d{4}|\d{3}[-.]\d{3}[-.]\d{4}"
    rb"|(?i:phone|mobile|telephone|\btel|\bcell|\bfax|whatsapp|handy|\bcall me|sms)(?:[ _-]?(?:number|no|nr))?"
    rb"[\"'.]?[ \t]{0,3}[:=]?[ \t]{0,3}[\"']?\(?0?\d[\d ().\x2f-]{6,18}\d",
    BYTES,
)
_LABELLED = re.compile(rb"\(?\d[\d ().\x2f-]{6,18}\d$")
_CHAIN = re.compile(rb"[\d.]+")
_GROUPS = re.compile(rb"[ ().\x2f-]+")


def find_numbers(data: bytes) -> Iterator[Finding]:
    """Card and phone numbers, public addresses."""
    position = 0
    while found := NUMBER.search(data, position):
        start, end = found.span()
        finding = _number(data, start, end)
        if finding:
            yield finding
            position = finding.end
        else:
            position = _next_start(data, start, end)


def _next_start(data: bytes, start: int, end: int) -> int:
    """Where to go on behind what was no number as a whole: a chain of dots is none anywhere, else at its next group."""
    if b"." in data[start:end] and (chain := _CHAIN.match(data, start)):
        return chain.end()
    group = _GROUPS.search(data, start + 1, end)
    return group.end() if group else end


def _number(data: bytes, start: int, end: int) -> Finding | None:
    first = data[start]
    if first == 0x2B:
        return _international(data, start, end)
    if chr(first).isalpha() and not re.match(rb"[23A-Fa-f0-9]{4}:", data[start : start + 5]):
        return _labelled_phone(data, start, end)
    text = data[start:end]
    if b":" in text:
        return find_ipv6(data, start, end)
    if text.count(b".") == 3:
        return find_ipv4(data, start, end)
    digits = sum(0x30 <= byte <= 0x39 for byte in text)
    return _card(data, start, end) if digits >= 13 else _american(data, start, end)


# --- cards


def _card(data: bytes, start: int, end: int) -> Finding | None:
    if _is_glued(data, start, end):
        return None
    digits = re.sub(rb"\D", b"", data[start:end])
    if _is_card(digits.decode()):
        return Finding(start, end, "card", digits)
    if len(digits) > 16 and b" " in data[start:end]:
        return _card(data, start, start + 19)
    return None


def _is_glued(data: bytes, start: int, end: int) -> bool:
    """Whether digits are a part of something longer: a hash, a fraction, an id."""
    before, after = character_before(data, start), character_after(data, end)
    if before.isalnum() or after.isalnum() or before in ("_", ".") or after == "_":
        return True
    if before == "-" and character_before(data, start - 1).isalnum():
        return True
    return after in (".", "-") and character_after(data, end + 1).isalnum()


_ISSUERS = (
    ("4", (13, 16, 19)),
    *((str(prefix), (16,)) for prefix in (*range(51, 56), *range(2221, 2721), *range(3528, 3590))),
    *((prefix, (15,)) for prefix in ("34", "37")),
    *((prefix, (16, 17, 18, 19)) for prefix in ("6011", "65", *map(str, range(644, 650)), "62")),
    *((prefix, (14,)) for prefix in ("36", "38", "39", *map(str, range(300, 306)))),
)
_LENGTHS: dict[str, tuple[int, ...]] = dict(_ISSUERS)


def _is_card(digits: str) -> bool:
    lengths = next((_LENGTHS[digits[:size]] for size in (1, 2, 3, 4) if digits[:size] in _LENGTHS), ())
    return len(digits) in lengths and len(set(digits)) > 1 and _luhn(digits)


def _luhn(digits: str) -> bool:
    doubled = (sum(divmod(int(digit) * 2, 10)) for digit in digits[-2::-2])
    return (sum(doubled) + sum(int(digit) for digit in digits[-1::-2])) % 10 == 0


# --- phones


def _international(data: bytes, start: int, end: int) -> Finding | None:
    before = character_before(data, start)
    if before.isalnum() or before in ("+", "_", ".", ")", "]"):
        return None
    while end > start and not _valid_phone(data[start:end].decode()):
        # A longer run of digits may only begin with a number: try without its last groups.
        groups = list(_GROUPS.finditer(data, start + 1, end))
        end = groups[-1].start() if groups and groups[-1].start() - start > 7 else start
    if end == start or character_after(data, end).isalnum():
        return None
    return Finding(start, end, "phone", b"+" + re.sub(rb"\D", b"", data[start:end]))


@lru_cache(maxsize=4_096)
def _valid_phone(text: str) -> bool:
    import phonenumbers

    try:
        return bool(phonenumbers.is_valid_number(phonenumbers.parse(text, None)))
    except phonenumbers.NumberParseException:
        return False


def _american(data: bytes, start: int, end: int) -> Finding | None:
    digits = re.sub(rb"\D", b"", data[start:end])
    before = character_before(data, start)
    if _is_glued(data, start, end) or before in ("/", ":", "+", "-", "#", "$", "@") or not _is_nanp(digits.decode()):
        return None
    return Finding(start, end, "phone", b"+1" + digits)


def _is_nanp(digits: str) -> bool:
    return digits[0] in "23456789" and digits[3] in "23456789" and digits[1:3] != "11" and digits[4:6] != "11"


def _labelled_phone(data: bytes, start: int, end: int) -> Finding | None:
    number = _LABELLED.search(data, start, end)
    if number is None or _is_glued(data, number.start(), end):
        return None
    text = number.group()
    digits = re.sub(rb"\D", b"", text)
    separated = bool(_GROUPS.search(text.strip(b"()")))
    labelled = data[start : number.start()].rstrip(b"\"' \t")[-1:] in (b":", b"=")
    if not 9 <= len(digits) <= 13 or not (separated or labelled) or re.match(rb"(?:19|20)\d\d-\d\d-\d\d", text):
        return None
    return Finding(number.start(), end, "phone", digits)
