"""One chat, all the way: read, redacted, written as bytes, searched for secrets. What every build and export does.

`make_chat` is pure but for reading the log, and picklable with all it is given and gives, so that it runs in a worker
on any executor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import tzinfo

from trailbook import formats, names, prices
from trailbook.chat import JSON, Chat, Diagnostic, with_subagents
from trailbook.filters import left_out_when_read
from trailbook.formats import FORMATS, NOTHING_IN_IT, TRAJECTORIES, Given, Output, Piece, Sheet
from trailbook.readers import Found, reader
from trailbook.redaction.removed import Removed
from trailbook.redaction.replacing import redact, redact_text
from trailbook.redaction.verifying import Secrets, secrets_of, verify
from trailbook.timeline import Timeline, title_of


@dataclass(slots=True)
class Made:
    """What came of one chat."""

    left_out: str | None = None
    """Why nothing was written: the option that leaves it out, or that there is nothing in it."""
    pieces: list[Piece] = field(default_factory=list)
    rows: list[JSON] = field(default_factory=list)
    """What the index says of it and its subagents."""
    stems: dict[str, str] = field(default_factory=dict)
    removed: Removed = field(default_factory=Removed)
    unsafe: dict[str, int] = field(default_factory=dict)
    """Secrets that were still in a file, by kind; then there are no pieces."""
    steps: int = 0
    diagnostics: list[Diagnostic] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    """The names of the pages among the pieces whose steps are marked; another theme need not mark them."""
    trajectories: list[str] = field(default_factory=list)
    """The names of the trajectory files among the pieces."""
    no_file: list[str] = field(default_factory=list)
    """The formats as which nothing was written, because they have no place for what is in the chat."""
    fidelity: list[str] = field(default_factory=list)
    """One line a file: what of the log stands in it."""
    lost: bool = False
    """Whether a file lacks something that its format carries."""


def make_chat(found: Found, output: Output, given: Given | None = None) -> Made:
    """Read a chat, take out what is to be taken out, and write it in each of the output's formats.

    Raises readers.Unreadable, OSError.
    """
    chat, removed = read_redacted(found, output)
    why = left_out_when_read(chat, output.wanted) or (None if chat.events else NOTHING_IN_IT)
    if why is not None:
        return Made(why)
    made = Made(stems=stems(chat, given or Given(), output.zone), removed=removed)
    for each, sheet in _sheets(chat, made, output):
        made.steps += len(sheet.timeline_of(each).steps)
        made.diagnostics += each.diagnostics
        for name in output.formats:
            if each is chat or FORMATS[name].each:
                _add(made, name, FORMATS[name].write(each, sheet), output)
        if output.formats:
            made.rows.append(formats.row_of(each, sheet))
    if output.context is not None:
        made.unsafe = unsafe(made.pieces, secrets_of(output.context, removed))
    if made.unsafe:
        made.pieces, made.pages, made.trajectories, made.no_file = [], [], [], []
    return made


def read_redacted(found: Found, output: Output) -> tuple[Chat, Removed]:
    """A chat as all may see it that is made of it, and what was taken out. Raises readers.Unreadable, OSError."""
    chat = read(found, output)
    return (chat, Removed()) if output.context is None else redact(chat, output.context)


def read(found: Found, output: Output) -> Chat:
    """A chat as its log has it, with an estimate of its cost where that is wanted and the log states none.

    Raises readers.Unreadable, OSError.
    """
    chat = reader(found.reader).read(found, output.zone)
    if output.estimate_cost:
        prices.estimate(chat)
    return chat


def unsafe(pieces: Iterable[Piece], secrets: Secrets) -> dict[str, int]:
    """The secrets that are still in what would be written, by kind."""
    counts: dict[str, int] = {}
    for piece in pieces:
        for kind, count in verify(piece.data, piece.name, secrets).items():
            counts[kind] = counts.get(kind, 0) + count
    return counts


def redacted(rows: Iterable[list[str]], output: Output) -> list[JSON]:
    """Rows of texts, redacted as chats are."""
    context = output.context
    return [[redact_text(text, context) if context else text for text in row] for row in rows]


def _add(made: Made, format_name: str, pieces: list[Piece], output: Output) -> None:
    if not pieces:
        made.no_file.append(format_name)
    elif format_name in TRAJECTORIES:
        made.trajectories.append(pieces[0].name)
    elif FORMATS[format_name].marked and output.theme is None:
        made.pages += [piece.name for piece in pieces]
    made.pieces += pieces


def stems(chat: Chat, given: Given, zone: tzinfo) -> dict[str, str]:
    """The names of a redacted chat's files and of its subagents', without endings, by the path of their ids.

    They stand in the order of `with_subagents`.
    """
    digits = given.digits or names.digests([(chat.source, chat.id)], {})[chat.source, chat.id]
    found: dict[str, str] = {}
    for key, each in zip(paths_of(chat), with_subagents(chat), strict=True):
        own = digits if each is chat else names.subagent_digits(chat.source, key)
        found[key] = given.stems.get(key) or names.stem(title_of(each), each.started, own, zone)
    return found


def paths_of(chat: Chat) -> list[str]:
    """What tells a chat and its subagents apart, in the order of `with_subagents`: `id`, `id/subagent's id`."""
    keys: dict[str, None] = {}
    for path in _paths(chat, ()):
        key = "/".join(path)
        while key in keys:
            key += "+"  # two subagents of one id
        keys[key] = None
    return list(keys)


def _paths(chat: Chat, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    path = (*above, chat.id)
    yield path
    for subagent in chat.subagents:
        yield from _paths(subagent, path)


def _sheets(chat: Chat, made: Made, output: Output) -> Iterator[tuple[Chat, Sheet]]:
    """The chat and its subagents, each with what its writers are told."""
    each = list(with_subagents(chat))
    stem_of = {id(one): stem for one, stem in zip(each, made.stems.values(), strict=True)}
    parent_of = {id(below): stem_of[id(one)] for one in each for below in one.subagents}
    timelines: dict[int, Timeline] = {}
    for one in each:
        below = {subagent.id: stem_of[id(subagent)] for subagent in one.subagents}
        yield one, Sheet(output, stem_of[id(one)], parent_of.get(id(one)), below, made.removed, timelines=timelines)
