"""JSON in and out: no digit changes, and no text takes the parser down."""

from __future__ import annotations

import random
import string
from decimal import Decimal

import orjson
import pytest

from trailbook import json_text
from trailbook.chat import JSON

NUMBERS = [
    (b"12345678901234567890", 12345678901234567890),
    (b"123456789012345678901234567890", 123456789012345678901234567890),
    (b"-9223372036854775809", -9223372036854775809),
    (b"-9999999999999999999", -9999999999999999999),
    (b"9007199254740993", 9007199254740993),
    (b"0.1", 0.1),
    (b"0.10000000000000001", Decimal("0.10000000000000001")),
    (b"3.141592653589793238462643383279", Decimal("3.141592653589793238462643383279")),
    (b"9007199254740993.0", Decimal("9007199254740993.0")),
    (b"1e400", Decimal("1e400")),
    (b"-1E+400", Decimal("-1e400")),
    (b"1e-400", Decimal("1e-400")),
    (b"3e-324", Decimal("3e-324")),
    (b"5e-324", 5e-324),
    (b"1.5e300", 1.5e300),
    (b"1e9999999999999999999999", "1e9999999999999999999999"),
    (b"NaN", "NaN"),
    (b"Infinity", "Infinity"),
    (b"-Infinity", "-Infinity"),
]


@pytest.mark.parametrize(("text", "value"), NUMBERS, ids=[text.decode() for text, _ in NUMBERS])
@pytest.mark.parametrize("frame", [b"%s", b"[%s]", b'{"a":%s}', b'{"a":"1234567890123456", "b":[1.5,\t%s ]}'])
def test_a_number_keeps_every_digit(text: bytes, value: JSON, frame: bytes) -> None:
    read = json_text.parse(frame % text)
    inner = read
    while isinstance(inner, dict | list):
        inner = list(inner.values() if isinstance(inner, dict) else inner)[-1]
    assert inner == value
    assert type(inner) is type(value)
    assert json_text.parse(json_text.dump(read)) == read
    assert json_text.parse(json_text.dump(read, indent=2)) == read
    assert json_text.parse(json_text.canonical(read)) == read


def test_an_integer_longer_than_python_converts_keeps_every_digit() -> None:
    digits = b"7" * 20_000
    assert json_text.dump(json_text.parse(b"[%s]" % digits)) == b"[%s]" % digits


def test_what_orjson_reads_exactly_is_read_the_same_way() -> None:
    random.seed(7)
    for _ in range(300):
        value = _random_value(0)
        data = orjson.dumps(value)
        assert json_text.parse(data) == value
        assert json_text.dump(value) == data
        assert json_text.dump(value, indent=2) == orjson.dumps(value, option=orjson.OPT_INDENT_2)


def test_the_exact_writer_writes_what_orjson_writes() -> None:
    # A 70-bit integer beside them sends every other value down the slow way.
    plain: JSON = {"b": [1, "é\n\x00", {}, [], True, None, -0.5, {"z": 1, "a": []}], "a": ""}
    assert json_text.dump([plain, 2**70]) == b"[" + orjson.dumps(plain) + b",1180591620717411303424]"
    assert json_text.canonical({"z": 2**70, "a": {"y": 1, "b": 2}}) == b'{"a":{"b":2,"y":1},"z":1180591620717411303424}'
    indented = json_text.dump({"a": [1, {}], "b": 2**70}, indent=2)
    assert indented == b'{\n  "a": [\n    1,\n    {}\n  ],\n  "b": 1180591620717411303424\n}'


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'{"a":[', b'["]",'])
def test_nesting_of_ten_thousand_levels_is_refused_not_fatal(opening: bytes) -> None:
    with pytest.raises(json_text.TooDeep):
        json_text.parse(opening * 10_000)
    with pytest.raises(json_text.TooDeep):
        list(json_text.parse_glued(b"{}" + opening * 10_000))


def test_nesting_as_deep_as_is_carried_goes_in_and_out() -> None:
    # The long integer keeps orjson out, on both ways.
    data = b"[1180591620717411303424," * (json_text.DEEPEST - 1) + b"[]" + b"]" * (json_text.DEEPEST - 1)
    value = json_text.parse(data)
    assert json_text.dump(value) == data
    assert json_text.canonical(value) == data
    assert json_text.replace_lone_surrogates(value) == value
    assert json_text.parse(json_text.dump(value, indent=2)) == value


def test_brackets_in_strings_are_no_levels() -> None:
    value: JSON = [2**70, "[" * 5_000 + '"{' * 5_000, {"\\" * 9 + '"' + "[" * 2_000: 1}]
    assert json_text.parse(json_text.dump(value)) == value


def test_lone_surrogates_are_found_and_replaced() -> None:
    value = json_text.parse(rb'{"a\ud800":["x\udc00y","\ud83d\ude00"],"b":2}')
    assert json_text.has_lone_surrogates(value)
    mended = json_text.replace_lone_surrogates(value)
    assert mended == {"a\ufffd": ["x\ufffdy", "😀"], "b": 2}
    assert not json_text.has_lone_surrogates(mended)
    assert json_text.dump(value) == json_text.dump(mended)


BROKEN = [
    (b"", 0),
    (b'{"a":1', 6),
    (b'{"a":1}x', 7),
    ('{"é":1}x'.encode(), 8),
    (b'{"a":1,\xff}', 7),
    (b"nul", 0),
    (b'{"a":1}{"a":2}', 7),
]


@pytest.mark.parametrize(("text", "at"), BROKEN)
def test_what_is_not_json_says_where(text: bytes, at: int) -> None:
    with pytest.raises(json_text.NotJSON) as raised:
        json_text.parse(text)
    assert raised.value.at == at


GLUED = [
    (b'{"a":1}{"a":2}', [{"a": 1}, {"a": 2}]),
    (b'\0\0{"a":1}\0{"a":2} \0', [{"a": 1}, {"a": 2}]),
    (b'{"a":1}{"a":"cu', [{"a": 1}, 12]),
    (b'{"a":"cut{"a":2}{"a":3}', [11, {"a": 2}, {"a": 3}]),
    ('{"é":"cut{"é":2}'.encode(), [12, {"é": 2}]),
    (b'{"a":{"b":1}', [12]),
    (b"rubbish", [0]),
    (b" \0 ", []),
]


@pytest.mark.parametrize(("text", "expected"), GLUED)
def test_glued_values_are_each_read_and_damage_is_told(text: bytes, expected: list[JSON]) -> None:
    """A number stands for damage at that byte."""
    read = [item.at if isinstance(item, json_text.NotJSON) else item for item in json_text.parse_glued(text)]
    assert read == expected


def _random_value(depth: int) -> JSON:
    kind = random.randrange(8 if depth < 4 else 5)
    if kind == 0:
        return random.choice([None, True, False])
    if kind == 1:
        return random.randrange(-(2**63), 2**64)
    if kind == 2:
        return random.choice([0.0, 1e22, 1.25, -3.5e-7, 123456.789, 1e100])
    if kind in (3, 4):
        return "".join(random.choices(string.printable + "é😀\u2028", k=random.randrange(20)))
    if kind == 5:
        return [_random_value(depth + 1) for _ in range(random.randrange(5))]
    return {str(number): _random_value(depth + 1) for number in range(random.randrange(5))}
