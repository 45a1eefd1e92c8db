"""The ledger: what is in a log or in a written file, counted by itself, so that the two can be compared.

Each log format has a `ledger.py` beside its reader that fills one straight from the raw records, on a path of its own
(design §5); `fidelity.py` compares two of them.

What a counter fills in, so that two of them count alike:

- one entry for each piece as it stands in the file: a block of words, a thought, a call, a result. Pieces that belong
  to one message of the model's API carry the same `message`; the comparison joins them, a counter need not;
- no entry for words or thoughts without any visible character (a signature, an encrypted thought);
- a result's words are its text blocks joined by line breaks; pictures and files say nothing, they are counted;
- an image is an entry of its own, directly after the prompt or the result that it belongs to;
- what was put in the person's mouth is a prompt with `injected`;
- what else the model read (a system prompt, the summary of a compaction) may be an entry of the kind `system`: it is
  never missed, but explains what stands in a written file;
- what the model did not read (notices, counters) is no entry.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b

from trailbook import json_text
from trailbook.chat import JSON, Place, Usage
from trailbook.stand_ins import RAW_ARGUMENTS, take_marks

KINDS = ("prompt", "answer", "thought", "call", "result", "image", "system")


@dataclass(slots=True)
class Entry:
    """One thing that is in the log: a prompt, an answer, a thought, a call, a result or an image."""

    kind: str
    place: Place
    digest: bytes
    """Of the words, the arguments or the image's bytes; see `digest_of_text` and `digest_of_arguments`. Empty for an
    image whose bytes are not there, and for arguments or words that a page shows shortened."""
    id: str | None = None
    """The call's id, for calls, results and a result's images."""
    name: str | None = None
    """The tool's name, for calls."""
    ok: bool | None = None
    """For results: whether the log says that it went well."""
    images: int = 0
    """For results and prompts: how many images belong to it."""
    text: str | None = None
    """The raw text itself (a call's arguments as canonical JSON), kept only where the counter was asked to."""
    message: str | None = None
    """For answers and thoughts: the API message that this is a piece of, where the log names it."""
    injected: bool = False
    """For prompts: True when no person wrote it (a reminder, context, a hook, a compaction's summary)."""
    not_run: bool = False
    """For results: True when the log says that the call never ran (declined, refused, expired, stopped)."""
    size: int = 0
    """Characters of the text, so that only so much is kept at a time; 0 where the counter does not say."""


@dataclass(slots=True)
class Ledger:
    """What one chat holds on its active path, its subagents' ledgers beside it."""

    chat: str | None = None
    """The chat's id, where the file has one."""
    entries: list[Entry] = field(default_factory=list)
    usage: Usage | None = None
    """The chat's own tokens by the format's rule, subagents not counted; None where the file has none."""
    aside: list[Entry] = field(default_factory=list)
    """What stands outside the active path: abandoned branches and inherited parts."""
    subagents: list[Ledger] = field(default_factory=list)
    not_carried: dict[str, int] = field(default_factory=dict)
    """In the ledger of a written file: what the file itself says it left out, counted by kind."""
    stated: Usage | None = None
    """The total that the file states beside the parts that `usage` adds up, where it states one."""
    started_by: str | None = None
    """In a subagent's ledger: the id of the call that started it, where the file says so."""

    def left_out(self, kind: str, count: int) -> None:
        """Say that the file itself says what it left out."""
        if count:
            self.not_carried[kind] = self.not_carried.get(kind, 0) + count

    def of(self, kind: str) -> list[Entry]:
        """The entries of one kind, in order."""
        return [entry for entry in self.entries if entry.kind == kind]


Keep = Callable[[Place], bool]
"""Says for which places a counter keeps the raw text (only a few: a ledger of a large log must stay small)."""


def digest_of_text(text: str) -> bytes:
    """The digest by which two texts are compared: trailing white space and kinds of line ends make no difference."""
    return blake2b(plain(text).encode("utf-8", "replace"), digest_size=16).digest()


def plain(text: str) -> str:
    """A text as it is compared: line ends as `\\n`, no white space around it."""
    return text.replace("\r\n", "\n").strip()


def digest_of_arguments(arguments: JSON) -> bytes:
    """The digest by which the arguments of two calls are compared: keys in any order, every digit counted."""
    return blake2b(json_text.canonical(arguments), digest_size=16).digest()


def digest_of_bytes(data: bytes) -> bytes:
    """The digest by which two images are compared."""
    return blake2b(data, digest_size=16).digest()


def keep_nothing(_place: Place) -> bool:
    """The ordinary first count: digests only."""
    return False


def entry_of_text(kind: str, place: Place, text: str, keep: Keep) -> Entry:
    """The entry of a prompt, an answer, a thought or a result, by its text."""
    kept = text if keep(place) else None
    return Entry(kind, place, digest_of_text(text), text=kept, size=len(text))


def entry_of_written(kind: str, place: Place, text: str, keep: Keep) -> tuple[Entry, int]:
    """The entry of a text in a written file, where marks stand for pictures and files; and how many for pictures.

    The marks are no part of what is compared, but kept they are: a log's own words may look like one.
    """
    bare, pictures = take_marks(text)
    entry = entry_of_text(kind, place, bare, keep)
    entry.text = text if entry.text is not None else None
    return entry, pictures


def entry_of_call(place: Place, call: str | None, name: str, arguments: JSON, keep: Keep) -> Entry:
    """The entry of a call. `arguments` is the object, or the raw text where the log's arguments were no JSON object."""
    if isinstance(arguments, dict) and list(arguments) == [RAW_ARGUMENTS]:
        arguments = arguments[RAW_ARGUMENTS]
    canonical = json_text.canonical(arguments)
    kept = canonical.decode("utf-8", "replace") if keep(place) else None
    digest = blake2b(canonical, digest_size=16).digest()
    return Entry("call", place, digest, id=call, name=name, text=kept, size=len(canonical))


def entry_of_image(place: Place, call: str | None, data: bytes | None) -> Entry:
    """The entry of an image; `call` is the id of the call whose result it belongs to, None for a prompt's."""
    return Entry("image", place, digest_of_bytes(data) if data else b"", id=call, size=len(data or b""))


def arguments_of(value: JSON) -> JSON:
    """A call's arguments as a counter hands them to `entry_of_call`: an object, else the text of what is none.

    A text that spells an object is that object; nothing at all is an empty one.
    """
    if value is None:
        return {}
    if not isinstance(value, str):
        return value if isinstance(value, dict) else json_text.dump(value).decode("utf-8")
    try:
        parsed = json_text.parse(value.encode("utf-8", "replace"))
    except ValueError:
        return value
    return parsed if isinstance(parsed, dict) else value


def bytes_of_data_url(url: JSON) -> bytes | None:
    """The bytes that a `data:…;base64,` address holds; None for any other address and for damaged ones."""
    if not isinstance(url, str) or not url.startswith("data:"):
        return None
    head, _, data = url.partition(",")
    try:
        return base64.b64decode(data, validate=True) if head.endswith(";base64") else None
    except (binascii.Error, ValueError):
        return None
