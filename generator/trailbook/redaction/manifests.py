"""The values of a Kubernetes Secret, which are base64 under any name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trailbook.redaction.finding import Finding, key, text_at
from trailbook.redaction.values import is_wordy

_MANIFEST = 1_200
_ENTRY = re.compile(
    rb"(?:\n|\\n)[ \t]{1,8}[A-Za-z0-9._-]{1,80}:[ \t]{1,4}[\"']?([A-Za-z0-9+/]{8,4096}={0,2})[\"']?(?=\s|\\n|$)"
)
_ENTRY_IN_JSON = re.compile(rb"\"[A-Za-z0-9._-]{1,80}\\{0,4}\":\s?\\{0,4}\"([A-Za-z0-9+/]{8,4096}={0,2})\\{0,4}\"")
_STOP = re.compile(rb"(?:\n|\\n)[A-Za-z-]|kind\\{0,4}[\"']?:")
"""Where a manifest's block of data ends at the latest: a line that is not indented, the next object."""
_DATA = re.compile(rb"\b(?:string)?[dD]ata\\{0,4}[\"']?:")


def manifest(data: bytes, start: int, position: int) -> Iterator[Finding]:
    """The values of a Kubernetes Secret, which are base64."""
    near = data[max(0, start - _MANIFEST) : position + _MANIFEST]
    if b"ata" not in near:
        return
    block = _DATA.search(data, position, position + _MANIFEST) or _DATA.search(data, max(0, start - _MANIFEST), start)
    if block is None:
        return
    end = min(len(data), block.end() + 4 * _MANIFEST)
    if block.start() < position:
        end = start
    elif stop := _STOP.search(data, block.end(), end):
        end = stop.start()
    entries = _ENTRY_IN_JSON if data[block.end() - 2 : block.end() - 1] in (b'"', b"'") else _ENTRY
    for entry in entries.finditer(data, block.end(), end):
        if not is_wordy(text_at(data, *entry.span(1))):
            yield from key(data, *entry.span(1))
