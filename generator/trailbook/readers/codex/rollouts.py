"""The lines of a rollout file, of whatever age: plain or compressed, in envelopes or bare."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import Any, BinaryIO, cast

from trailbook.chat import JSON, Place
from trailbook.readers import Unreadable
from trailbook.readers.files import open_own
from trailbook.readers.lines import Problems, read_stream
from trailbook.readers.values import Fields, fields, string

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"

ENVELOPES = frozenset(
    (
        "session_meta",
        "turn_context",
        "response_item",
        "event_msg",
        "compacted",
        "token_usage_record",
        "world_state",
        "inter_agent_communication",
        "inter_agent_communication_metadata",
        "retained_context",
        "security_risk_score",
        "realtime_item",
    )
)
"""The types of a line `{timestamp, type, payload}`."""

BARE_ITEMS = frozenset(
    ("message", "reasoning", "function_call", "function_call_output", "local_shell_call", "custom_tool_call")
)
"""What may stand in the format of 2025, whose lines have no envelope."""

_NAME = re.compile(r"rollout-.*?-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl(?:\.zst)?")
_CHUNK = 4_096
"""Compressed bytes that are opened at a time: a few of them can hold very many."""


@dataclass(slots=True)
class RolloutLine:
    """One line, whatever its age, as today's envelope."""

    place: Place
    kind: str
    """The envelope's type; the bare format of 2025 is put into today's envelopes."""
    payload: Fields
    timestamp: str | None

    @property
    def type(self) -> str:
        """The payload's own type (of an item, of an event); empty where it has none."""
        return string(self.payload.get("type")) or ""

    def is_event(self, *types: str) -> bool:
        """Whether it is an event of one of these types."""
        return self.kind == "event_msg" and self.type in types


def id_in_name(path: Path) -> str | None:
    """The thread's id in a rollout's file name; None for a file of another name."""
    match = _NAME.fullmatch(path.name)
    return match.group(1) if match else None


def lines_of(path: Path, problems: Problems, *, most: int | None = None) -> Iterator[RolloutLine]:
    """Every line of a rollout file; with `most`, those that begin in its first so many bytes.

    Raises Unreadable for a compressed file that cannot be opened, OSError.
    """
    with open_own(path) as raw:
        compressed = _Decompressed(path, raw) if raw.peek(4)[:4] == ZSTD_MAGIC else None
        stream: BinaryIO = raw if compressed is None else cast("BinaryIO", BufferedReader(compressed))
        for record in read_stream(stream, problems, name=path.name):
            line = as_line(record.value, record.place)
            if line is not None:
                yield line
            else:
                text = "A line that is no record of Codex was passed over."
                problems.count("unknown-record", text, record.place, lost=True)
            if most is not None and stream.tell() > most:
                return
        if compressed is not None and not compressed.whole:
            problems.add("cut-file", f"{path.name} ends in the middle of its compressed data.", lost=True)


def as_line(value: JSON, place: Place) -> RolloutLine | None:
    """A record as a line of a rollout; None for a record that is none."""
    record = fields(value)
    kind, timestamp = string(record.get("type")), string(record.get("timestamp"))
    if kind is not None and isinstance(record.get("payload"), dict):
        return RolloutLine(place, kind, fields(record["payload"]), timestamp)
    if kind is not None and kind not in ENVELOPES:  # the format of 2025: a bare item
        return RolloutLine(place, "response_item", record, timestamp)
    if record.get("record_type") == "state":
        return RolloutLine(place, "state", record, timestamp)
    if kind is None and string(record.get("id")) and "timestamp" in record:  # the format of 2025: its first line
        return RolloutLine(place, "session_meta", record, timestamp)
    return None


class _Decompressed(RawIOBase):
    """The plain bytes of a compressed rollout (Codex compresses cold ones), as far as they can be had."""

    def __init__(self, path: Path, raw: BinaryIO) -> None:
        self._frames = _frames(path)
        self._frame = self._frames()
        self._raw = raw
        self._rest = memoryview(b"")
        self._damaged = False
        self._position = 0

    @property
    def whole(self) -> bool:
        """Whether everything was there; known at the end."""
        return not self._damaged and bool(self._frame.eof)

    def readable(self) -> bool:
        """It is a stream to read from."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with plain bytes; 0 at the end."""
        while not self._rest and (chunk := self._raw.read(_CHUNK)):
            self._rest = memoryview(b"".join(self._open(chunk)))
        taken = min(len(self._rest), len(buffer))
        buffer[:taken] = self._rest[:taken]
        self._rest = self._rest[taken:]
        self._position += taken
        return taken

    def tell(self) -> int:
        """How many plain bytes were read."""
        return self._position

    def _open(self, chunk: bytes) -> Iterator[bytes]:
        import zstandard

        while chunk and not self._damaged:
            if self._frame.eof:
                self._frame = self._frames()
            try:
                yield self._frame.decompress(chunk)
            except zstandard.ZstdError:
                self._damaged = True
            chunk = self._frame.unused_data if self._frame.eof else b""


def _frames(path: Path) -> Any:
    """What makes an opener of compressed data, one for each frame. Raises Unreadable."""
    try:
        import zstandard
    except ImportError:
        raise Unreadable(
            f"{path} is compressed, and this installation cannot open it: install trailbook with its extra 'zstd'."
        ) from None
    return zstandard.ZstdDecompressor().decompressobj
