"""The words, pictures and files of a message or a result, as an ATIF document has them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from trailbook.chat import JSON, File, Image, Part
from trailbook.readers.atif.finding import beside
from trailbook.readers.images import image_from_bytes, image_from_url
from trailbook.readers.standing_in import with_pictures
from trailbook.readers.values import Fields, fields, items, string, whole


def read_parts(content: JSON, extra: Fields, folder: Path) -> list[Part]:
    """The parts of a message or a result. `extra` may list the pictures for which only marks stand in the words."""
    whole_text: list[JSON] = [{"type": "text", "text": content}] if isinstance(content, str) and content else []
    blocks = whole_text or items(content)
    pictures = [_listed(fields(each)) for each in items(extra.get("images"))]
    texts = [text for block in map(fields, blocks) if (text := _text(block)) is not None]
    said = iter(with_pictures(texts, pictures))
    found: list[Part] = []
    for block in map(fields, blocks):
        found += next(said) if _text(block) is not None else _others(block, folder)
    return found


def _text(block: Fields) -> str | None:
    text = block.get("text")
    return text if block.get("type") == "text" and isinstance(text, str) else None


def _others(block: Fields, folder: Path) -> list[Part]:
    kind, where = block.get("type"), fields(block.get("source"))
    path, media_type = string(where.get("path")), string(where.get("media_type"))
    if kind == "text":
        return []
    if kind != "image":
        return [File(media_type=media_type, reference=path)]
    file = beside(folder, path) if path else None
    return [
        image_from_url(path) if file is None else replace(image_from_bytes(file.read_bytes(), media_type), name=path)
    ]


def _listed(told: Fields) -> Image:
    return Image(
        media_type=string(told.get("media_type")),
        sha256=string(told.get("sha256")),
        size=whole(told.get("size")),
        reference=string(told.get("reference")),
        name=string(told.get("name")),
        problem=string(told.get("problem")),
    )
