"""What a message or a result holds: a text, a part of Gemini's API, or several of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from trailbook.chat import JSON, File, Image, Part, Text
from trailbook.readers.images import image_from_base64, named_type
from trailbook.readers.values import Fields, fields, json_words, string

_BESIDE = frozenset({"thought", "thoughtSignature", "videoMetadata", "partMetadata"})
"""What a part has beside what it is."""


def parts_in(content: JSON) -> list[Fields]:
    """A content's parts; a bare text is one."""
    listed = content if isinstance(content, list) else [] if content is None else [content]
    return [{"text": part} if isinstance(part, str) else fields(part) for part in listed]


def words_of(content: JSON) -> str:
    """The words of a content; its texts are pieces of one, as Gemini CLI itself joins them."""
    return "".join(text for part in parts_in(content) if (text := text_in(part)) is not None)


def text_in(part: Fields) -> str | None:
    """A part's words; None for any other part, and for a thought."""
    text = part.get("text")
    return text if isinstance(text, str) and part.get("thought") is not True else None


def attachment_in(part: Fields) -> Image | File | None:
    """A picture or a file that is a part; None for any other part."""
    data, file = part.get("inlineData"), part.get("fileData")
    if isinstance(data, dict):
        media_type, content = string(data.get("mimeType")), string(data.get("data"))
        if media_type is None or media_type.startswith("image/"):
            return image_from_base64(content, media_type)
        size = len(content) * 3 // 4 - content[-2:].count("=") if content else None
        return File(string(data.get("displayName")), media_type, size)
    if isinstance(file, dict):
        media_type, reference = string(file.get("mimeType")), string(file.get("fileUri"))
        if media_type is not None and media_type.startswith("image/"):
            return Image(media_type=named_type(media_type), reference=reference)
        return File(string(file.get("displayName")), media_type, None, reference)
    return None


def name_of(part: Fields) -> str:
    """What a part that is not known calls itself."""
    return ", ".join(sorted(part.keys() - _BESIDE)[:3]) or "nothing"


def result_parts(result: JSON, call: str | None, report: Callable[[Fields], None]) -> Iterator[Part]:
    """The parts of what came back from a call; `report` is told of each that is not known.

    A result may hold the responses of the calls beside it, too: then only its own counts.
    """
    parts = parts_in(result)
    responses = [fields(part["functionResponse"]) for part in parts if "functionResponse" in part]
    own = call is not None and any(response.get("id") == call for response in responses)
    for part in parts:
        attachment, text = attachment_in(part), text_in(part)
        if "functionResponse" in part:
            response = fields(part["functionResponse"])
            if not own or response.get("id") == call:
                yield from _response_parts(response, report)
        elif attachment is not None:
            yield attachment
        elif text is not None:
            if text:
                yield Text(text)
        else:
            report(part)


def _response_parts(response: Fields, report: Callable[[Fields], None]) -> Iterator[Part]:
    value = response.get("response")
    words = fields(value).get("output") if "output" in fields(value) else value
    if isinstance(words, str):
        if words:
            yield Text(words)
    elif words is not None and words != {}:
        yield Text(json_words(words))
    for part in parts_in(response.get("parts")):
        attachment = attachment_in(part)
        if attachment is not None:
            yield attachment
        else:
            report(part)
