"""Pictures in logs: the bytes where the log has them, else what it says of them. Nothing is ever fetched."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re

from trailbook.chat import JSON, Image

_MEDIA_TYPE = re.compile(r"image/[a-z0-9][a-z0-9.+-]{0,60}")
_MAGIC = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))


def image_from_url(url: JSON) -> Image:
    """The picture of a `data:` URL; any other address is a reference."""
    if not isinstance(url, str) or not url:
        return Image(problem="the log has no address for it")
    if not url.startswith("data:"):
        return Image(reference=url)
    head, _, data = url[5:].partition(",")
    return image_from_base64(data, head.partition(";")[0])


def image_from_base64(data: JSON, media_type: JSON) -> Image:
    """The picture of a base64 text and the media type that the log gives.

    The type is what the bytes say, for logs call a JPEG a PNG (anthropics/claude-code#17452), and where they say
    nothing the log's, if it is the name of a type at all (earendil-works/pi#3811).
    """
    named = named_type(media_type)
    if not isinstance(data, str) or not data:
        return Image(media_type=named, problem="the log has no data for it")
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return Image(media_type=named, problem="its base64 data is damaged")
    return image_from_bytes(content, named)


def image_from_bytes(content: bytes, media_type: str | None) -> Image:
    """The picture of its bytes; bytes of no known picture type are left out, and the picture says so."""
    known = _type_by_bytes(content) or named_type(media_type)
    if known is None:
        return Image(size=len(content), problem="it is of no known picture type")
    return Image(media_type=known, data=content, sha256=hashlib.sha256(content).hexdigest(), size=len(content))


def named_type(value: JSON) -> str | None:
    """The value when it is the name of a picture's media type, else None."""
    return value if isinstance(value, str) and _MEDIA_TYPE.fullmatch(value) else None


def _type_by_bytes(content: bytes) -> str | None:
    for start, media_type in _MAGIC:
        if content.startswith(start):
            return media_type
    return "image/webp" if content[:4] == b"RIFF" and content[8:12] == b"WEBP" else None
