"""Pictures and attachments: their words, and a picture's pixels only where the person asked for them."""

from __future__ import annotations

from base64 import b64encode

from trailbook.chat import File, Image
from trailbook.rendering.cleaning import escape
from trailbook.rendering.clipping import brief
from trailbook.wording import size

LARGEST = 1_500_000
"""Bytes of one picture that stand in a page."""


def image_type(image: Image) -> str | None:
    """The picture's media type where it may be embedded: one of four, and its bytes begin as that type's do."""
    data = image.data
    if not data:
        return None
    begins = {
        "image/png": data.startswith(b"\x89PNG\r\n\x1a\n"),
        "image/jpeg": data.startswith(b"\xff\xd8\xff"),
        "image/gif": data.startswith((b"GIF87a", b"GIF89a")),
        "image/webp": data.startswith(b"RIFF") and data[8:12] == b"WEBP",
    }
    return image.media_type if image.media_type and begins.get(image.media_type) else None


def image_words(image: Image) -> str:
    """The picture in words: `[image: failing run.png · image/png · 12.0 kB]`."""
    known = image.size if image.size is not None else (len(image.data) if image.data else None)
    return _words("image", image.name, image.media_type, known, image.reference, image.problem)


def file_words(file: File) -> str:
    """An attachment in words: `[file: totals.csv · text/csv · 812 bytes]`."""
    return _words("file", file.name, file.media_type, file.size, file.reference, None)


def image_html(image: Image, *, embed: bool) -> str:
    """The picture itself as a `data:` image where `embed` says so and it is one, else its words."""
    media_type = image_type(image) if embed else None
    words = image_words(image)
    if media_type is None or image.data is None:
        return f'<p class="image">{escape(words, prose=True)}</p>'
    if len(image.data) > LARGEST:
        return f'<p class="image">{escape(words, prose=True)} (too large to stand in a page)</p>'
    alternative = escape(image.name or "Picture from the log", prose=True)
    source = f"data:{media_type};base64,{b64encode(image.data).decode()}"
    return f'<p class="image"><img alt="{alternative}" src="{source}"></p>'


def _words(what: str, name: str | None, media_type: str | None, number_of_bytes: int | None, *more: str | None) -> str:
    parts = [name, media_type, None if number_of_bytes is None else size(number_of_bytes), *more]
    told = " · ".join(brief(part) for part in parts if part)
    return f"[{what}: {told}]" if told else f"[{what}]"
