"""The records of a rollout file, of whatever age: plain or compressed, in envelopes or bare."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from trailbook.chat import Place
from trailbook.readers import HEAD_BYTES, Unreadable
from trailbook.readers.lines import Problems, Record, read_stream
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

_ID = re.compile(r"rollout-.*?-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl")


@dataclass(slots=True)
class RolloutLine:
    """One line, whatever its age, as today's envelope."""

    place: Place
    kind: str
    """The envelope's type; the bare format of 2025 is put into today's envelopes."""
    payload: Fields
    timestamp: str | None


def id_in_name(path: Path) -> str | None:
    """The thread's id in a rollout's file name."""
    match = _ID.match(path.name)
    return match.group(1) if match else None


def lines_of(path: Path, problems: Problems) -> Iterator[RolloutLine]:
    """Every line of a rollout file. Raises Unreadable (compressed and not to be opened), OSError."""
    with path.open("rb") as raw:
        stream: BinaryIO = raw
        if raw.peek(4)[:4] == ZSTD_MAGIC:
            data, whole = _decompressed(path, raw)
            stream = BytesIO(data)
            if not whole:
                problems.add("cut-file", f"{path.name} ends in the middle of its compressed data.", lost=True)
        for record in read_stream(stream, problems, name=path.name):
            line = _as_line(record)
            if line is None:
                problems.count("unknown-record", "A line that is no record of Codex was passed over.", record.place)
            else:
                yield line


def head_lines(head: bytes, path: Path) -> list[RolloutLine]:
    """The whole lines in a file's first bytes; what is wrong with them is said when the file is read."""
    if head[:4] == ZSTD_MAGIC:
        with path.open("rb") as raw:
            head = _decompressed(path, raw, HEAD_BYTES)[0]
    whole = head[: head.rfind(b"\n") + 1] or head
    lines = (_as_line(record) for record in read_stream(BytesIO(whole), Problems(), name=path.name))
    return [line for line in lines if line is not None]


def _decompressed(path: Path, raw: BinaryIO, most: int | None = None) -> tuple[bytes, bool]:
    """The plain bytes of a compressed rollout (Codex compresses cold ones), and whether they are all there.

    With `most`, about that many bytes from the beginning. Raises Unreadable.
    """
    try:
        import zstandard
    except ImportError:
        raise Unreadable(
            f"{path} is compressed, and this installation cannot open it: install trailbook with its extra 'zstd'."
        ) from None
    pieces: list[bytes] = []
    size = 0
    frame = zstandard.ZstdDecompressor().decompressobj()
    try:
        while chunk := raw.read(65_536):
            while chunk:
                pieces.append(frame.decompress(chunk))
                size += len(pieces[-1])
                chunk = frame.unused_data if frame.eof else b""
                if chunk:
                    frame = zstandard.ZstdDecompressor().decompressobj()
            if most is not None and size >= most:
                break
    except zstandard.ZstdError:
        raise Unreadable(f"{path} is damaged: its compressed data cannot be opened.") from None
    return b"".join(pieces), frame.eof


def _as_line(record: Record) -> RolloutLine | None:
    value = fields(record.value)
    kind, timestamp = string(value.get("type")), string(value.get("timestamp"))
    if kind in ENVELOPES or (kind is not None and isinstance(value.get("payload"), dict)):
        return RolloutLine(record.place, kind, fields(value.get("payload")), timestamp)
    if kind is not None:  # the format of 2025: a bare item
        return RolloutLine(record.place, "response_item", value, timestamp)
    if value.get("record_type") == "state":
        return RolloutLine(record.place, "state", value, timestamp)
    if string(value.get("id")) and "timestamp" in value:  # the format of 2025: its first line
        return RolloutLine(record.place, "session_meta", value, timestamp)
    return None
