"""What comes with a prompt, and what comes back from a tool."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from trailbook.chat import JSON, File, Image, Part, Place, Text
from trailbook.readers.copilot_cli.events import data_of, type_of
from trailbook.readers.images import image_from_base64, named_type
from trailbook.readers.lines import Problems, Record
from trailbook.readers.values import Fields, fields, items, json_words, string, whole


@dataclass(slots=True)
class Assets:
    """The bytes that several events may refer to; each stands in an event of its own."""

    data: dict[str, JSON] = field(default_factory=dict)


def assets_in(events: Iterable[Record]) -> Assets:
    """The assets of a session by their ids."""
    assets = Assets()
    for record in events:
        data = data_of(record)
        if type_of(record.value) == "session.binary_asset" and (identity := string(data.get("assetId"))):
            assets.data[identity] = data.get("data")
    return assets


def attachments_of(data: Fields, assets: Assets, place: Place, problems: Problems) -> list[Part]:
    """The files, folders, selections and pictures that a person added to a prompt."""
    parts: list[Part] = []
    for attachment in items(data.get("attachments")):
        values = fields(attachment)
        kind = values.get("type")
        if kind == "blob" or (kind == "file" and "assetId" in values):
            parts.append(_binary(values, assets))
        elif kind in ("file", "directory"):
            parts.append(File(string(values.get("displayName")), None, None, string(values.get("path"))))
        elif kind == "selection":
            name, path, text = (string(values.get(key)) for key in ("displayName", "filePath", "text"))
            parts.append(File(name, None, None, path, text))
        else:
            _report("Attachments", kind, place, problems)
    return parts


def result_of(data: Fields, assets: Assets, place: Place, problems: Problems) -> list[Part]:
    """What came back: the result's words and pictures, and what went wrong."""
    parts: list[Part] = []
    result, error = data.get("result"), data.get("error")
    if isinstance(result, dict):
        parts += _text(result.get("content"))
        for binary in items(result.get("binaryResultsForLlm")):
            values = fields(binary)
            if values.get("type") in ("image", "resource") and {"data", "assetId", "mimeType"} & values.keys():
                parts.append(_binary(values, assets))
            else:
                _report("Results", values.get("type"), place, problems)
    else:
        parts += _text(result)
    message = error.get("message") if isinstance(error, dict) else None
    said = _text(message if isinstance(message, str) else error)
    return parts if said and said[0] in parts else parts + said


def _text(value: JSON) -> list[Part]:
    words = "" if value is None else value if isinstance(value, str) else json_words(value)
    return [Text(words)] if words else []


def _binary(values: Fields, assets: Assets) -> Part:
    media_type, name = string(values.get("mimeType")), string(values.get("displayName"))
    reference = string(values.get("assetId"))
    data = values.get("data")
    if data is None and reference is not None:
        data = assets.data.get(reference)
    if values.get("type") != "image" and named_type(media_type) is None:
        return File(name, media_type, whole(values.get("byteLength")), string(values.get("path")) or reference)
    if data is None and reference is not None:
        return Image(media_type=named_type(media_type), reference=reference, name=name)
    image = image_from_base64(data, media_type)
    image.name = name
    return image


def _report(what: str, kind: JSON, place: Place, problems: Problems) -> None:
    named = f"the type “{kind[:80]}”" if isinstance(kind, str) else "no known type"
    text = f"{what} of {named} are not known here: they were passed over."
    problems.count("unknown-part", text, place, lost=True)
