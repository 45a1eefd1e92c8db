"""JSON in and out without a changed digit: orjson where it is exact, the standard library where it is not.

orjson rounds integers beyond 64 bits, and refuses NaN, infinities, lone surrogates and nesting over 1,024 levels.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

import orjson

from trailbook.chat import JSON

DEEPEST = 1_024
"""Levels of nesting that are carried: as deep as orjson reads. Deeper values are refused, no consumer reads them."""

# Functions that walk a value call themselves once or twice a level; calls between Python functions use no C stack.
sys.setrecursionlimit(max(sys.getrecursionlimit(), 6 * DEEPEST))

# Digits and points as 0: a number that a float may not hold shows as 16 of them, or as an exponent of three digits.
_SHAPE = bytes.maketrans(b"123456789.E", b"0000000000e")
_LONG, _SMALL = b"0" * 16, b"0e-000"
# Possessive, and with the closing quote left open, so that no text takes more than one pass.
_STRING_OR_BRACKET = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)
_BLANK = re.compile("[ \\t\\r\\n\\x00]*")
_FIRST_KEY = re.compile(r'\{"[^"\\]{1,64}":')
_TRIES = 16
"""How often the rest of a damaged text is searched for a whole value."""
_LONGEST_INTEGER = 4_000
"""Digits that Python turns into an integer and back; it refuses more, as a guard against slow conversions."""
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class NotJSON(ValueError):
    """The text is not JSON; `at` is the offset in bytes where it stops being so."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


class TooDeep(ValueError):
    """The value is nested deeper than `DEEPEST` levels."""


class NotPlain(ValueError):
    """The text is not JSON that orjson reads exactly; `parse` may still read it."""


def parse_plain(data: bytes) -> JSON:
    """Read one JSON text of the usual kind: UTF-8, no lone surrogates, no number that orjson would round.

    Raises NotPlain.
    """
    try:
        value: JSON = orjson.loads(data)
    except orjson.JSONDecodeError:
        raise NotPlain from None
    # Whatever orjson rounded has become a float, and looking for those is far cheaper than searching the text.
    if _has_float(value) and _may_be_rounded(data):
        raise NotPlain
    return value


def parse(data: bytes) -> JSON:
    """Read one JSON text (UTF-8, nothing after it).

    A number that a float would change comes back as a Decimal, NaN and the infinities as the text of their name.
    Lone surrogates come back as they are: the caller replaces and reports them (`replace_lone_surrogates`).
    Raises NotJSON, TooDeep.
    """
    try:
        return parse_plain(data)
    except NotPlain:
        return _parse_exactly(data)


def parse_glued(data: bytes) -> Iterator[JSON | NotJSON]:
    """Read the values of a text (UTF-8) in which several stand together, with blanks or NUL bytes between or without.

    Where the text is damaged, yields a NotJSON that says where, and goes on at the next whole value that starts with
    the same key as the damaged one (a write that was cut, and the next one after it). Raises NotJSON, TooDeep.
    """
    text = _decoded(data)
    _refuse_depth(data)
    position = _after_blanks(text, 0)
    measured = offset = 0
    while position < len(text):
        try:
            value, position = _DECODER.raw_decode(text, position)
        except json.JSONDecodeError as error:
            offset += _bytes(text[measured:position])
            measured = position
            yield NotJSON(error.msg, offset + _bytes(text[position : error.pos]))
            position = _next_whole(text, position)
        else:
            yield value
        position = _after_blanks(text, position)


def dump(value: JSON, *, indent: int = 0) -> bytes:
    """Write a value as UTF-8 JSON: compact, or with 2 spaces (`indent=2`); no key is reordered, no digit changes.

    Lone surrogates are written as U+FFFD, since UTF-8 has no place for them.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2 if indent else 0, default=_exact)
    except TypeError:
        return "".join(_pieces(value, indent, 0)).encode("utf-8", "replace")


def canonical(value: JSON) -> bytes:
    """The one form of a value in which equal values are equal bytes: keys sorted, compact."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS, default=_exact)
    except TypeError:
        return "".join(_pieces(_sorted(value), 0, 0)).encode("utf-8", "replace")


def has_lone_surrogates(value: JSON) -> bool:
    """Whether any string or key of the value holds half of a surrogate pair."""
    stack: list[JSON] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if _LONE_SURROGATE.search(item):
                return True
        elif isinstance(item, dict):
            stack.extend(item.keys())
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
    return False


def replace_lone_surrogates(value: JSON) -> JSON:
    """The same value with every half of a surrogate pair replaced by U+FFFD."""
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_LONE_SURROGATE.sub("\ufffd", key): replace_lone_surrogates(item) for key, item in value.items()}
    if isinstance(value, list):
        return [replace_lone_surrogates(item) for item in value]
    return value


def _parse_exactly(data: bytes) -> JSON:
    text = _decoded(data)
    _refuse_depth(data)
    try:
        value: JSON = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise NotJSON(error.msg, _bytes(text[: error.pos])) from None
    return value


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotJSON("not UTF-8", error.start) from None


def _bytes(text: str) -> int:
    return len(text.encode("utf-8"))


def _after_blanks(text: str, position: int) -> int:
    blanks = _BLANK.match(text, position)
    return blanks.end() if blanks else position


def _next_whole(text: str, damaged: int) -> int:
    """Where the next whole value starts, else the end of the text."""
    start = _FIRST_KEY.match(text, damaged)
    position = damaged
    for _ in range(_TRIES if start else 0):
        position = text.find(start.group() if start else "", position + 1)
        if position < 0:
            break
        try:
            _DECODER.raw_decode(text, position)
        except json.JSONDecodeError:
            continue
        return position
    return len(text)


def _has_float(value: JSON) -> bool:
    if type(value) is dict:
        items: Iterable[JSON] = value.values()
    elif type(value) is list:
        items = value
    else:
        return type(value) is float
    for item in items:
        kind = type(item)
        if kind is float or ((kind is dict or kind is list) and _has_float(item)):
            return True
    return False


def _may_be_rounded(data: bytes) -> bool:
    shape = data.translate(_SHAPE)
    return _LONG in shape or _SMALL in shape


def _exact_fraction(token: str) -> float | Decimal | str:
    value = float(token)
    try:
        exact = Decimal(token)
    except InvalidOperation:
        return token  # an exponent of 19 digits or more: no kind of number holds it, its text does
    return value if math.isfinite(value) and Decimal(repr(value)) == exact else exact


def _exact_integer(token: str) -> int | Decimal:
    return int(token) if len(token) <= _LONGEST_INTEGER else Decimal(token)


# strict=False: a raw control character inside a string is read, not refused (logs have them).
_DECODER = json.JSONDecoder(strict=False, parse_float=_exact_fraction, parse_int=_exact_integer, parse_constant=str)


def _exact(value: Any) -> orjson.Fragment:
    if isinstance(value, Decimal):
        return orjson.Fragment(str(value).encode())
    raise TypeError(f"not a JSON value: {type(value).__name__}")


def _refuse_depth(data: bytes) -> None:
    # The standard library's parser recurses on the C stack, so the depth is known before it starts.
    if data.count(b"[") + data.count(b"{") <= DEEPEST:
        return
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(data):
        if token.group() in b"[{":
            depth += 1
            if depth > DEEPEST:
                raise TooDeep(f"nested deeper than {DEEPEST:,} levels")
        elif token.group() in b"]}":
            depth -= 1


def _sorted(value: JSON) -> JSON:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_sorted(item) for item in value]
    return value


def _pieces(value: JSON, indent: int, depth: int) -> Iterator[str]:
    if isinstance(value, (dict, list)):
        yield from _container_pieces(value, indent, depth)
    elif isinstance(value, str):
        yield json.dumps(_LONE_SURROGATE.sub("\ufffd", value), ensure_ascii=False)
    elif isinstance(value, Decimal):
        yield str(value)
    else:
        yield json.dumps(value, allow_nan=False)


def _container_pieces(value: dict[str, JSON] | list[JSON], indent: int, depth: int) -> Iterator[str]:
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    yield opening
    line = "\n" + " " * indent * (depth + 1) if indent else ""
    items: Iterator[tuple[str | None, JSON]] = (
        iter(value.items()) if isinstance(value, dict) else ((None, item) for item in value)
    )
    for number, (key, item) in enumerate(items):
        yield "," + line if number else line
        if key is not None:
            yield json.dumps(_LONE_SURROGATE.sub("\ufffd", key), ensure_ascii=False) + (": " if indent else ":")
        yield from _pieces(item, indent, depth + 1)
    if value and indent:
        yield "\n" + " " * indent * depth
    yield closing
