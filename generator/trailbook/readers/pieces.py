"""Trajectory files: one chat in one JSON document, or many of them in a JSON array or in JSON lines.

Every chat in such a file is a piece. A piece is known again by its bytes, so that a line can be moved and is still the
same chat, and a list of a file's chats needs no second parse to come back to one of them.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from trailbook import json_text
from trailbook.chat import JSON, Place
from trailbook.readers import Found, Unreadable
from trailbook.readers.lines import Problems, parse_document
from trailbook.readers.values import Fields, items

_BOM = b"\xef\xbb\xbf"
_LONGEST_TOKEN = 6
_GZIP = b"\x1f\x8b\x08"
_LARGEST = 1 << 30
"""Bytes that are unpacked of one file: a small one may hold any number of them."""


@dataclass(slots=True, frozen=True)
class Piece:
    """One chat's bytes in a trajectory file."""

    number: int
    """From 1; the line in JSON lines, the item in an array, 1 in a document of one chat."""
    data: bytes
    lines: bool
    """True in JSON lines, where a damaged piece is one line of many."""

    @property
    def digest(self) -> str:
        """What the piece is known by."""
        return blake2b(self.data, digest_size=16).hexdigest()


def pieces(path: Path, *, arrays: bool) -> list[Piece]:
    """The pieces of a file. `arrays` says that an array at the top holds chats (and is not a chat itself).

    Raises Unreadable for a document that is cut or damaged, OSError.
    """
    data = unzipped(path, path.read_bytes()).removeprefix(_BOM)
    if _is_lines(data):
        return [Piece(number, line, True) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    if arrays and data.lstrip()[:1] == b"[":
        value = parse(path, Piece(1, data, False), Problems())
        items = value if isinstance(value, list) else []
        return [Piece(number, json_text.dump(item), False) for number, item in enumerate(items, 1)]
    return [Piece(1, data, False)]


def unzipped(path: Path, data: bytes, most: int | None = None) -> bytes:
    """The bytes of a file, unpacked where gzip packed them (in several members, where lines were added one by one).

    Of one that is cut, what there is. With `most`, so many bytes from the beginning. Raises Unreadable.
    """
    if not data.startswith(_GZIP):
        return data
    found: list[bytes] = []
    left = _LARGEST if most is None else most
    try:
        while data.startswith(_GZIP) and left > 0:
            member = zlib.decompressobj(wbits=31)
            found.append(member.decompress(data, left))
            left -= len(found[-1])
            data = member.unused_data if member.eof else b""
    except zlib.error:
        raise Unreadable(f"{path.name} is damaged: what gzip packed in it cannot be unpacked.") from None
    if left <= 0 and most is None:
        raise Unreadable(
            f"{path.name} is larger than {_LARGEST:,} bytes when it is unpacked: unpack it and take it apart."
        )
    return b"".join(found)


def parse(path: Path, piece: Piece, problems: Problems) -> JSON:
    """The JSON value of one piece; what had to be mended in it goes to `problems`.

    Raises Unreadable, which says at which byte a cut text ends.
    """
    try:
        return parse_document(piece.data.rstrip(), Place(path.name, piece.number), problems)
    except json_text.TooDeep as error:
        raise Unreadable(f"{_where(path, piece)} is {error}: it cannot be read.") from None
    except json_text.NotJSON as error:
        raise Unreadable(_damage(path, piece, error)) from None


def again(found: Found, *, arrays: bool) -> Piece:
    """The piece that `found` was made from. Raises Unreadable when the file has changed since, OSError."""
    wanted = found.fingerprint.partition(":")[0]
    for piece in pieces(found.path, arrays=arrays):
        if piece.digest == wanted:
            return piece
    raise Unreadable(f"{found.path.name} has changed since it was listed: list it again.")


def listed(
    path: Path, reader: str, *, arrays: bool, certain: bool, describe: Callable[[JSON, Found], Found | None]
) -> list[Found] | None:
    """Every chat of a file, or None when its first whole piece is not of this format.

    `describe` adds what the list says of a chat (id, title, times) and returns None for a value that is none.
    A damaged line of many is listed too: reading it says what is wrong, so that nothing is passed over in silence.
    `certain` says that a file that cannot be read at all is of this format all the same.

    Raises Unreadable for a document of this format that is cut or damaged, OSError.
    """
    try:
        parts = pieces(path, arrays=arrays)
        return _listed(path, reader, parts, describe)
    except Unreadable:
        if certain:
            raise
        return None


def _listed(
    path: Path, reader: str, parts: list[Piece], describe: Callable[[JSON, Found], Found | None]
) -> list[Found] | None:
    found: list[Found] = []
    known = False
    for piece in parts:
        plain = _plain(path, reader, piece, several=len(parts) > 1)
        try:
            described = describe(parse(path, piece, Problems()), plain)
        except Unreadable:
            if len(parts) == 1:
                raise
            found.append(plain)
            continue
        if described is None and not known:
            return None
        known = True
        found.append(described or plain)
    return found if known else None


def _plain(path: Path, reader: str, piece: Piece, *, several: bool) -> Found:
    number = f"-{piece.number}" if several else ""
    return Found(
        reader=reader,
        id=f"{path.stem}{number}-{piece.digest[:8]}",
        path=path,
        inputs=(path,),
        fingerprint=piece.digest,
        updated=path.stat().st_mtime_ns // 1_000_000,
        size=len(piece.data),
    )


def _is_lines(data: bytes) -> bool:
    # A document printed over many lines has no whole value on any of its first lines; JSON lines have one soon.
    whole, lines = 0, 0
    for line in _first_lines(data, 3):
        lines += 1
        try:
            whole += isinstance(json_text.parse(line), (dict, list))
        except ValueError:
            continue
    return whole > 0 and (lines > 1 or b"\n" in data.strip())


def _first_lines(data: bytes, count: int) -> Iterator[bytes]:
    start = 0
    while count and start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        line = data[start:end].strip()
        start = end + 1
        if line:
            count -= 1
            yield line


def _where(path: Path, piece: Piece) -> str:
    return f"Line {piece.number} of {path.name}" if piece.lines else path.name


def _damage(path: Path, piece: Piece, error: json_text.NotJSON) -> str:
    end = len(piece.data.rstrip())
    # A string without its end runs to the end of the text; a cut escape or word stands right before it.
    if str(error).startswith("Unterminated string") or error.at >= end - _LONGEST_TOKEN:
        return f"{_where(path, piece)} is cut off: it ends at byte {end:,}, in the middle of a value."
    return f"{_where(path, piece)} is damaged at byte {error.at + 1:,}: from there on it is not JSON."


def place_of(path: Path, piece: Piece, number: int) -> Place:
    """Where the `number`th message (from 1) of a piece stands."""
    return Place(f"{path.name}:{piece.number}" if piece.lines else path.name, number, "message")


def objects_of(value: JSON, what: str, place: Place, problems: Problems) -> list[Fields]:
    """The objects in a list; what stands among them and is none is left out, and `problems` says so of `what`."""
    listed = items(value)
    found = [item for item in listed if isinstance(item, dict)]
    if len(found) < len(listed):
        problems.count("unknown-record", f"{what} is no object; it is left out.", place, lost=True)
    return found
