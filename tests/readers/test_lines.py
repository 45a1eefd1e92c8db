"""JSON lines as they lie on disks: what can be read is read, what cannot is reported with its line."""

from __future__ import annotations

import io
from decimal import Decimal
from pathlib import Path

import pytest

from trailbook import json_text
from trailbook.chat import JSON, Diagnostic, Place
from trailbook.readers.lines import Problems, read_document, read_records, read_stream

Report = tuple[str, int, int, bool]
"""Kind, line, count, lost."""

A = b'{"n":1}'
B = b'{"n":2}'
DEEP = b'{"n":' * 10_000 + b"1" + b"}" * 10_000

CASES: dict[str, tuple[bytes, list[JSON], list[Report]]] = {
    "nothing": (b"", [], []),
    "only a line end": (b"\n", [], []),
    "blank lines": (b"\n  \n" + A + b"\n\t\n", [{"n": 1}], []),
    "no line end at the end": (A + b"\n" + B, [{"n": 1}, {"n": 2}], []),
    "byte order mark": (b"\xef\xbb\xbf" + A + b"\n" + B, [{"n": 1}, {"n": 2}], [("byte-order-mark", 1, 1, False)]),
    "files put together": (
        b"\xef\xbb\xbf" + A + b"\n\xef\xbb\xbf" + B,
        [{"n": 1}, {"n": 2}],
        [("byte-order-mark", 1, 2, False)],
    ),
    "windows line ends, said once": (
        A + b"\n" + B + b"\r\n" + A + b"\r\n\r\n",
        [{"n": 1}, {"n": 2}, {"n": 1}],
        [("crlf", 2, 3, False)],
    ),
    "old mac line ends": (
        A + b"\r" + B + b"\r",
        [{"n": 1}, {"n": 2}],
        [("crlf", 1, 1, False), ("glued-line", 1, 1, False)],
    ),
    "bad utf-8": (A + b'\n{"n":"a\xffb"}\n', [{"n": 1}, {"n": "a\ufffdb"}], [("bad-utf8", 2, 1, True)]),
    "surrogates as bytes": (b'{"n":"\xed\xa0\x80"}', [{"n": "\ufffd" * 3}], [("bad-utf8", 1, 1, True)]),
    "lone surrogate": (A + b'\n{"n":"a\\uD800b"}', [{"n": 1}, {"n": "a\ufffdb"}], [("lone-surrogate", 2, 1, True)]),
    "lone surrogate in a key": (b'{"\\udfff":1}', [{"\ufffd": 1}], [("lone-surrogate", 1, 1, True)]),
    "whole pair": (b'{"n":"\\ud83d\\ude00"}', [{"n": "😀"}], []),
    "nul bytes between": (b"\0\0" + A + b"\n" + B + b"\0\n", [{"n": 1}, {"n": 2}], [("nul-bytes", 1, 2, False)]),
    "a line of nul bytes": (A + b"\n" + b"\0" * 4096, [{"n": 1}], [("nul-bytes", 2, 1, False)]),
    "raw nul and control bytes in a string": (b'{"n":"a\0b\x1bc\td"}', [{"n": "a\0b\x1bc\td"}], []),
    "glued": (A + B + b"\n" + A, [{"n": 1}, {"n": 2}, {"n": 1}], [("glued-line", 1, 1, False)]),
    "glued, one with a lone surrogate": (
        A + b'{"n":"\\ud800"}',
        [{"n": 1}, {"n": "\ufffd"}],
        [("lone-surrogate", 1, 1, True), ("glued-line", 1, 1, False)],
    ),
    "last line cut": (A + b'\n{"n":"ab', [{"n": 1}], [("damaged-line", 2, 1, True)]),
    "glued, then cut": (
        A + B + b'{"n":',
        [{"n": 1}, {"n": 2}],
        [("damaged-line", 1, 1, True), ("glued-line", 1, 1, False)],
    ),
    "a cut write and the next one after it": (
        b'{"n":"ab' + B + b"\n" + A,
        [{"n": 2}, {"n": 1}],
        [("damaged-line", 1, 1, True)],
    ),
    "two cut writes": (b'{"n":"ab{"n":[1,{"n":2}\n', [{"n": 2}], [("damaged-line", 1, 1, True)]),
    "not json": (b"hello\n" + A + b"\n# x\n", [{"n": 1}], [("damaged-line", 1, 1, True), ("damaged-line", 3, 1, True)]),
    "ten thousand levels": (A + b"\n" + DEEP + b"\n" + B, [{"n": 1}, {"n": 2}], [("too-deep", 2, 1, True)]),
    "ten thousand levels, cut": (DEEP[:20_000] + b"\n" + B, [{"n": 2}], [("too-deep", 1, 1, True)]),
    "line separators inside strings": ('{"n":"a\u2028b\x85c"}'.encode(), [{"n": "a\u2028b\x85c"}], []),
    "numbers": (
        b'{"n":[12345678901234567890,1e400,NaN,0.10000000000000001]}',
        [{"n": [12345678901234567890, Decimal("1e400"), "NaN", Decimal("0.10000000000000001")]}],
        [],
    ),
    "values that are no objects": (b"1\n[]\nnull\n", [1, [], None], []),
}


@pytest.mark.parametrize("case", CASES)
def test_what_can_be_read_is_read_and_the_rest_is_reported(case: str) -> None:
    data, values, reports = CASES[case]
    problems = Problems()
    records = list(read_stream(io.BytesIO(data), problems, name="log.jsonl"))
    assert [record.value for record in records] == values
    assert [_report(problem) for problem in problems.found] == reports
    assert {problem.place.file for problem in problems.found if problem.place} <= {"log.jsonl"}


def test_a_record_says_its_line(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(b"\n" + A + B + b"\n\r\n" + A + b"\n")
    problems = Problems()
    assert [record.place for record in read_records(path, problems)] == [
        Place("c.jsonl", number) for number in (2, 2, 4)
    ]
    assert [record.place.file for record in read_records(path, problems, name="sub/c.jsonl")] == ["sub/c.jsonl"] * 3


def test_the_damaged_byte_is_named() -> None:
    problems = Problems()
    list(read_stream(io.BytesIO(A + b'\n{"n":1}{"n":x}'), problems, name="log"))
    assert problems.found[0].text.startswith("A line is damaged at byte 13;")


def test_a_line_of_a_hundred_megabytes_is_simply_read() -> None:
    words = b"x" * 100_000_000
    problems = Problems()
    records = list(read_stream(io.BytesIO(b'{"n":"' + words + b'"}\n' + A), problems, name="log"))
    assert len(records) == 2
    assert isinstance(records[0].value, dict)
    assert records[0].value["n"] == words.decode()
    assert problems.found == []


@pytest.mark.parametrize(
    ("line", "read"),
    [
        (A * 200_000, 200_000),
        (b'"' * 400_000, 200_000),
        (b'{"n":"' + b'\\"' * 2_000_000, 0),
        (b'{"n":"' * 200_000, 0),
        (b'{"n":x' * 200_000, 0),
        (b"[" * 2_000_000, 0),
        (b'{"n":' * 200_000, 0),
    ],
    ids=["glued", "quotes", "escaped quotes", "cut strings", "cut objects", "brackets", "nested"],
)
def test_a_hostile_line_takes_one_pass(line: bytes, read: int) -> None:
    # Each of these took minutes while a parser looked at the rest of the line again for every value in it.
    problems = Problems()
    assert len(list(read_stream(io.BytesIO(line), problems, name="log"))) == read
    assert len(problems.found) == 1


def test_a_document_is_mended_like_a_line(tmp_path: Path) -> None:
    path = tmp_path / "d.json"
    path.write_bytes(b'\xef\xbb\xbf{"a":"x\xff\\ud800",\n"b":12345678901234567890123}')
    problems = Problems()
    assert read_document(path, problems) == {"a": "x\ufffd\ufffd", "b": 12345678901234567890123}
    assert [problem.kind for problem in problems.found] == ["bad-utf8", "lone-surrogate"]


def test_a_cut_document_says_at_which_byte(tmp_path: Path) -> None:
    path = tmp_path / "d.json"
    path.write_bytes(b'{"a":[1,2')
    with pytest.raises(json_text.NotJSON) as raised:
        read_document(path, Problems())
    assert raised.value.at == 9


def _report(problem: Diagnostic) -> Report:
    assert problem.place is not None
    return problem.kind, problem.place.number, problem.count, problem.lost
