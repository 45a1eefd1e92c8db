"""Pictures and other files that a message or a result has with it."""

from __future__ import annotations

import re

from trailbook.chat import JSON, File, Image
from trailbook.readers.images import image_from_base64, named_type
from trailbook.readers.values import Fields, fields, string

_MEDIA_TYPE = re.compile(r"[a-z]{1,20}/[a-z0-9][a-z0-9.+-]{0,80}")


def file_of(values: Fields) -> Image | File:
    """The picture or file of a `file` part (`mime`, `filename`, `url`); nothing is ever opened or fetched."""
    name, url = string(values.get("filename")), string(values.get("url"))
    data = _data_of(url)
    reference = string(fields(values.get("source")).get("path")) if data is not None else url
    media_type = named_type(values.get("mime"))
    if media_type is None:
        return File(name=name, media_type=_named(values.get("mime")), reference=reference)
    if data is None:
        return Image(media_type=media_type, reference=reference, name=name)
    image = image_from_base64(data, media_type)
    image.name, image.reference = name, reference
    return image


def _data_of(url: str | None) -> str | None:
    """The base64 text of a `data:` address."""
    head, _, data = (url or "").partition(",")
    return data if head.startswith("data:") and head.endswith(";base64") else None


def _named(mime: JSON) -> str | None:
    return mime if isinstance(mime, str) and _MEDIA_TYPE.fullmatch(mime) else None
