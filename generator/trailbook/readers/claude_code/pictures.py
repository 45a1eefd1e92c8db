"""The blocks of a message that are no words: pictures and documents."""

from __future__ import annotations

from trailbook.chat import File, Image
from trailbook.readers.images import image_from_base64, image_from_url, named_type
from trailbook.readers.values import Fields, fields, string


def image_of(block: Fields) -> Image:
    """The picture of an `image` block; one without bytes says why, or has a reference. Nothing is fetched."""
    source = fields(block.get("source"))
    if "url" in source or source.get("type") == "url":
        return image_from_url(source.get("url"))
    file = string(source.get("file_id")) or string(source.get("path"))
    if file is not None:
        return Image(media_type=named_type(source.get("media_type")), reference=file)
    return image_from_base64(source.get("data"), source.get("media_type"))


def file_of(block: Fields) -> File:
    """A `document` block: its words where it is text, else its name, type and size."""
    source = fields(block.get("source"))
    data = string(source.get("data"))
    name, media_type = string(block.get("title")), string(source.get("media_type"))
    reference = string(source.get("url")) or string(source.get("file_id"))
    if source.get("type") == "text":
        return File(name, media_type, len(data.encode("utf-8", "replace")) if data else None, reference, data)
    size = len(data) * 3 // 4 - data[-2:].count("=") if data else None
    return File(name, media_type, size, reference)
