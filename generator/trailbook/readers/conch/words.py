"""What was asked, thought and said."""

from __future__ import annotations

from trailbook.chat import Asked, File, Image, Message, Part, Said, Thought
from trailbook.readers.conch.reading import Fields, Handler, Reading


def _asked(reading: Reading, line: Fields) -> None:
    identity, text = line.identity("messageId"), line.text("text") or ""
    if (identity, text) in reading.asked:
        reading.problems.count("repeated-record", "An event stands in the log again: it was read once.", line.place)
        return
    reading.asked.add((identity, text))
    reading.completed = None
    reading.add(Asked(id=identity, text=text, parts=list(map(_part, line.each("attachments")))))


def _part(attachment: Fields) -> Part:
    # The bytes of attachments lie outside the log; its id is all that points to them.
    reference, name = attachment.text("id"), attachment.words("name")
    media_type, size = attachment.words("mimeType"), attachment.whole("size")
    if attachment.text("kind") == "image":
        return Image(media_type, size=size, reference=reference, name=name)
    return File(name, media_type, size, reference, attachment.words("transcript"))


def _delta(reading: Reading, line: Fields) -> None:
    text, message = line.text("delta"), line.text("messageId")
    kind = {"text": Said, "thinking": Thought}.get(line.text("kind") or "")
    if kind is None:
        what = "Words that are neither an answer nor a thought were passed over."
        reading.problems.count("unknown-record", what, line.place, lost=True)
        return
    if not text:
        return
    identity = ":".join(part for part in (message, _number(line)) if part is not None) or None
    piece = reading.piece
    if piece is not None and type(piece) is kind and piece.message == message:
        # A message is logged in pieces; adjacent ones are one, with the last one's number and time.
        reading.words.append(text)
        piece.id, piece.at = identity, reading.at if reading.at is not None else piece.at
        return
    reading.end_piece()
    piece = kind(text=text, id=identity, message=message, started=reading.before)
    if message is not None:
        reading.messages.setdefault(message, Message())
    reading.piece, reading.words = piece, [text]
    reading.completed = None
    reading.add(piece)


def _number(line: Fields) -> str | None:
    number = line.whole("seq")
    return None if number is None else str(number)


HANDLERS: dict[str, Handler] = {"user.message": _asked, "assistant.delta": _delta}
