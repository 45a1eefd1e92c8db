"""Reading JSON lines as they really lie on disks: what can be read is read, what cannot is reported with its line.

Cases from public reports: byte order marks, CRLF, bad UTF-8, lone surrogates, NUL bytes, two objects glued on one line,
a last line that was cut, nesting that no parser takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import orjson

from trailbook import json_text
from trailbook.chat import JSON, Diagnostic, Place
from trailbook.readers import HEAD_BYTES
from trailbook.readers.files import open_own, read_own

_BOM = b"\xef\xbb\xbf"
_BLANKS = b" \t\r\n\x00"


@dataclass(slots=True)
class Record:
    """One JSON value of a log, and where it stands."""

    place: Place
    value: JSON


class Problems:
    """Collects diagnostics while a log is read; the same kind said once with its count where a place adds nothing."""

    def __init__(self) -> None:
        self.found: list[Diagnostic] = []
        self._counted: dict[tuple[str, str], Diagnostic] = {}

    def add(self, kind: str, text: str, place: Place | None = None, *, lost: bool = False) -> None:
        """Report one thing at one place."""
        self.found.append(Diagnostic(kind, text, place, lost=lost))

    def count(self, kind: str, text: str, place: Place | None = None, *, lost: bool = False) -> None:
        """Report a thing that may recur: the first place is kept, further ones are counted."""
        known = self._counted.get((kind, text))
        if known is None:
            known = self._counted[kind, text] = Diagnostic(kind, text, place, lost=lost)
            self.found.append(known)
        else:
            known.count += 1


def read_records(path: Path, problems: Problems, *, name: str | None = None) -> Iterator[Record]:
    """Every JSON value of a JSON-lines file, in file order; each damaged place goes to `problems`.

    `name` is how places call the file (default: its own name). Raises OSError.
    """
    with open_own(path) as stream:
        yield from read_stream(stream, problems, name=name or path.name)


def read_stream(stream: BinaryIO, problems: Problems, *, name: str) -> Iterator[Record]:
    """As `read_records`, over an open binary stream (a decompressed one, say)."""
    for number, raw in enumerate(stream, 1):
        place = Place(name, number)
        if raw.endswith((b"\r\n", b"\r")):
            problems.count("crlf", f"{name} has Windows line ends.", place)
        try:
            value = json_text.parse_plain(raw)
        except json_text.NotPlain:
            yield from _read_odd(raw, place, problems)
        else:
            yield Record(place, value)


@lru_cache(maxsize=1)
def records_of_head(head: bytes) -> tuple[dict[str, JSON], ...]:
    """The objects on the whole lines of a file's head, for telling formats apart and for a list; not to be changed.

    Read once for all the readers that are asked about a file. Numbers may be rounded.
    """
    *lines, last = head.removeprefix(_BOM).split(b"\n")
    if len(head) < HEAD_BYTES:
        lines.append(last)
    return tuple(record for line in lines if (record := first_object(line)))


def first_object(line: bytes) -> dict[str, JSON]:
    """The object that a line starts with, or an empty one. Numbers may be rounded."""
    line = line.removeprefix(_BOM).strip(_BLANKS)
    if not line.startswith(b"{"):
        return {}
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        value = next((record.value for record in read_stream(BytesIO(line), Problems(), name="")), None)
    return value if isinstance(value, dict) else {}


def read_document(path: Path, problems: Problems, *, name: str | None = None) -> JSON:
    """The one JSON value of a file.

    Raises json_text.NotJSON (its `at` is the byte where the text stops being JSON), json_text.TooDeep, OSError.
    """
    return parse_document(read_own(path).removeprefix(_BOM), Place(name or path.name, 1), problems)


def parse_document(data: bytes, place: Place, problems: Problems) -> JSON:
    """The one JSON value that some bytes hold; what was mended in it goes to `problems`.

    Raises json_text.NotJSON, json_text.TooDeep.
    """
    try:
        return json_text.parse_plain(data)
    except json_text.NotPlain:
        value = json_text.parse(_mend_utf8(data, place, problems))
    return _mend_surrogates(value, place, problems)


def _read_odd(line: bytes, place: Place, problems: Problems) -> Iterator[Record]:
    """The records of a line that is not one plain JSON value."""
    if line.startswith(_BOM):  # not only on line 1: files are put together by `cat`
        problems.count("byte-order-mark", f"{place.file} has a byte order mark.", place)
        line = line[len(_BOM) :]
    if not line.strip():
        return
    try:
        value = json_text.parse(line)
    except json_text.TooDeep:
        problems.add("too-deep", "A line is nested deeper than can be read; it was passed over.", place, lost=True)
    except json_text.NotJSON:
        yield from _read_damaged(_mend_utf8(line, place, problems), place, problems)
    else:
        yield Record(place, _mend_surrogates(value, place, problems))


def _read_damaged(line: bytes, place: Place, problems: Problems) -> Iterator[Record]:
    """What can be read of a line that is not one JSON value: every whole value in it."""
    bare = line.strip(b" \t\r\n")
    if bare.startswith(b"\0") or bare.endswith(b"\0"):
        problems.count("nul-bytes", f"{place.file} has NUL bytes between its records.", place)
    surrogates = b"\\u" in line
    read = 0
    try:
        for value in json_text.parse_glued(line):
            if isinstance(value, json_text.NotJSON):
                problems.add(
                    "damaged-line",
                    f"A line is damaged at byte {value.at + 1}; what could not be read there was passed over.",
                    place,
                    lost=True,
                )
            else:
                read += 1
                yield Record(place, _mend_surrogates(value, place, problems) if surrogates else value)
    except json_text.TooDeep:
        problems.add("too-deep", "A line is nested deeper than can be read; it was passed over.", place, lost=True)
    if read > 1:
        problems.add("glued-line", f"{read} records stand on one line; each was read.", place)


def _mend_utf8(data: bytes, place: Place, problems: Problems) -> bytes:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        problems.add("bad-utf8", "Bytes that are not UTF-8 were replaced by U+FFFD.", place, lost=True)
        return data.decode("utf-8", "replace").encode("utf-8")
    return data


def _mend_surrogates(value: JSON, place: Place, problems: Problems) -> JSON:
    if not json_text.has_lone_surrogates(value):
        return value
    problems.add("lone-surrogate", "Halves of surrogate pairs were replaced by U+FFFD.", place, lost=True)
    return json_text.replace_lone_surrogates(value)
