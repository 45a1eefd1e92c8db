"""Logs that an agent has compressed with Zstandard; reading them needs trailbook's extra `zstd`."""

from __future__ import annotations

from pathlib import Path

from trailbook.readers import Unreadable

MAGIC = b"\x28\xb5\x2f\xfd"


def decompress(data: bytes, path: Path, most: int | None = None) -> tuple[bytes, bool]:
    """The plain bytes of compressed ones, of several frames if there are, and whether they are all there.

    With `most`, about that many bytes from the beginning. `path` is the file that errors name. Raises Unreadable.
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
        for start in range(0, len(data), 65_536):
            chunk = data[start : start + 65_536]
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
