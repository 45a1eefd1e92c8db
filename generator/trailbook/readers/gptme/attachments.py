"""Files that hang on a message: gptme keeps a copy of each in the chat's own folder."""

from __future__ import annotations

import re
from pathlib import Path, PureWindowsPath

from trailbook.chat import File, Image, Part
from trailbook.readers.gptme.log_lines import Line
from trailbook.readers.images import image_from_bytes

_PICTURES = frozenset((".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp"))
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


def attachments_of(line: Line, copies: dict[str, Path]) -> list[Part]:
    """The pictures and files of a message, in order.

    Only the copy is ever read: the path in the log is that of another time, perhaps of another machine.
    """
    hashes = dict(line.hashes)
    return [_part(path, copies.get(hashes.get(path, "")[:16])) for path in line.files]


def _part(path: str, copy: Path | None) -> Part:
    address = path.split("?")[0] if _SCHEME.match(path) else path
    name = PureWindowsPath(address).name or path
    is_picture = PureWindowsPath(address).suffix.lower() in _PICTURES
    try:
        if not is_picture:
            return File(name=name, size=copy.stat().st_size if copy else None, reference=path)
        picture = image_from_bytes(copy.read_bytes(), None) if copy else Image()
    except OSError:
        return Image(name=name, reference=path, problem="its copy could not be read")
    picture.name, picture.reference = name, path
    return picture
