"""The note: a chat as one Markdown file with front matter, for Obsidian, Joplin and whatever reads Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from urllib.parse import quote

from trailbook.chat import Chat, File, Image
from trailbook.formats import Piece, Sheet
from trailbook.rendering.cleaning import clean
from trailbook.rendering.clipping import clip
from trailbook.rendering.images import file_words, image_type, image_words
from trailbook.rendering.safe_markdown import fenced, inline, inline_code, quoted, safe_markdown
from trailbook.timeline import Step, Timeline
from trailbook.wording import STATUS_WORDS, counted, date_and_time, duration, line, money, tokens, zone_name
from trailbook.writers.report.steps import word_of

MOST_FILES = 200
"""Files of one change that a note names."""

RESULT_LIMIT = 1_200
"""Characters of a result that a note shows."""

_NOT_IN_A_TAG = re.compile(r"[^\w/-]+")
_ENDINGS = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}


@dataclass(slots=True)
class _Note:
    """What the steps of one note are written with."""

    agent: str
    sheet: Sheet
    started: int | None
    chats: dict[str, Chat]
    pictures: list[Piece] = field(default_factory=list)


def write_note(chat: Chat, sheet: Sheet) -> list[Piece]:
    """The note of a (redacted) chat, `notes/<stem>.md`, and with `images` the pictures beside it.

    Prompts and answers stand whole; a call is one line and its diff; of a result there are `RESULT_LIMIT` characters,
    the rest is counted. Nothing the chat says can break out of its place.
    """
    timeline = sheet.timeline_of(chat)
    note = _note_of(chat, timeline, sheet)
    lines = [*front_matter(chat, timeline, sheet.output.zone), "", *_body(chat, timeline, note, "#")]
    return [Piece(f"notes/{sheet.stem}.md", _bytes(lines)), *note.pictures]


def write_notes(chats: Sequence[Chat], sheet: Sheet) -> bytes:
    """Several chats as one note, each with a heading of its own."""
    lines = ["# How they did it", "", f"{counted(len(chats), 'chat')}."]
    for chat in chats:
        timeline = sheet.timeline_of(chat)
        lines += ["", *_body(chat, timeline, _note_of(chat, timeline, sheet), "##")]
    return _bytes(lines)


def front_matter(chat: Chat, timeline: Timeline, zone: tzinfo) -> list[str]:
    """What a note program can sort and search by, as YAML; what is not known is left out."""
    totals = timeline.totals
    usage = totals.usage
    agent = chat.agent.name or chat.agent.product
    values: list[tuple[str, str | None]] = [
        ("title", _string(timeline.title)),
        ("date", _day(timeline.started, zone)),
        ("started", _moment(timeline.started, zone)),
        ("ended", _moment(timeline.ended, zone)),
        ("agent", _string(agent) if agent else None),
        ("version", _string(chat.agent.version) if chat.agent.version else None),
        ("models", _strings(chat.models)),
        ("steps", str(len(timeline.steps))),
        ("failed", str(totals.failed)),
        ("tokens", _sum(usage.prompt_tokens, usage.output_tokens) if usage else None),
        ("prompt_tokens", _number(usage.prompt_tokens) if usage else None),
        ("cached_tokens", _number(usage.cached_tokens) if usage else None),
        ("output_tokens", _number(usage.output_tokens) if usage else None),
        ("cost", f"{totals.usd:.6f}".rstrip("0").rstrip(".") if totals.usd is not None else None),
        ("cost_estimated", "true" if totals.estimated else None),
        ("cost_estimated_by", _string(totals.estimated_from) if totals.estimated_from else None),
        ("project", _string(chat.cwd) if chat.cwd else None),
        ("branch", _string(chat.git_branch) if chat.git_branch else None),
        ("source", _string(chat.source)),
        ("id", _string(chat.id)),
        ("tags", _strings(_tags(chat))),
    ]
    return ["---", *(f"{name}: {value}" for name, value in values if value is not None), "---"]


def _note_of(chat: Chat, timeline: Timeline, sheet: Sheet) -> _Note:
    agent = chat.agent.name or chat.agent.product or "Agent"
    return _Note(agent, sheet, timeline.started, {subagent.id: subagent for subagent in chat.subagents})


def _bytes(lines: Sequence[str]) -> bytes:
    return ("\n".join(lines).strip("\n") + "\n").encode()


# --- front matter


def _string(text: str) -> str:
    """A YAML double-quoted string that reads back as the same text, whatever it is."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def _strings(texts: Sequence[str]) -> str:
    return f"[{', '.join(_string(text) for text in texts)}]"


def _number(number: int | None) -> str | None:
    return None if number is None else str(number)


def _sum(one: int | None, other: int | None) -> str | None:
    return None if one is None and other is None else str((one or 0) + (other or 0))


def _tags(chat: Chat) -> list[str]:
    """Words that a note program takes as tags: no spaces, not only digits."""
    words = ["trailbook", chat.agent.product or chat.source, "" if chat.origin.kind == "chat" else chat.origin.kind]
    tags = (_NOT_IN_A_TAG.sub("-", clean(word)).strip("-/").lower() for word in words)
    return [tag for tag in dict.fromkeys(tags) if tag and not tag.isdigit()]


def _in_zone(at: int | None, zone: tzinfo) -> datetime | None:
    if at is None:
        return None
    try:
        return (
            datetime.fromtimestamp(0, zone) + timedelta(milliseconds=at)
            if at < 0
            else datetime.fromtimestamp(at / 1000, zone)
        )
    except (OverflowError, OSError, ValueError):
        return None


def _day(at: int | None, zone: tzinfo) -> str | None:
    moment = _in_zone(at, zone)
    return moment.date().isoformat() if moment else None


def _moment(at: int | None, zone: tzinfo) -> str | None:
    moment = _in_zone(at, zone)
    return f'"{moment.isoformat(timespec="seconds")}"' if moment else None


# --- the body


def _body(chat: Chat, timeline: Timeline, note: _Note, level: str) -> Iterator[str]:
    yield f"{level} {inline(timeline.title)}"
    yield ""
    yield _lede(chat, timeline, note)
    if note.sheet.parent and not note.sheet.alone:
        yield ""
        yield f"Handed on by [another chat]({quote(note.sheet.parent)}.md)."
    inherited = sum(step.inherited for step in timeline.steps)
    if inherited:
        yield ""
        yield f"It goes on from another chat: {counted(inherited, 'step')} of that one are not repeated here."
    branch: str | None = None
    for step in timeline.steps:
        if step.inherited:
            continue
        if step.branch != branch:
            branch = step.branch
            yield ""
            yield f"{level}## Abandoned branch" if branch else f"{level}## Back from the branch"
        yield ""
        yield from _step(step, note, level)
    if chat.diagnostics:
        yield ""
        yield f"{level}# What could not be read, or not be placed"
        yield ""
        yield from (f"- {inline(diagnostic.text)}" for diagnostic in chat.diagnostics)


def _lede(chat: Chat, timeline: Timeline, note: _Note) -> str:
    zone = note.sheet.output.zone
    totals = timeline.totals
    usage = totals.usage
    number = (usage.prompt_tokens or 0) + (usage.output_tokens or 0) if usage else 0
    when = date_and_time(timeline.started, zone)
    parts = [
        note.agent,
        ", ".join(chat.models),
        f"{when} ({zone_name(timeline.started, zone)})" if when else "",
        "" if totals.duration is None else duration(totals.duration),
        counted(len(timeline.steps), "step"),
        f"{tokens(number)} tokens" if number else "",
        money(totals.usd) + (f" (estimated by {totals.estimated_from})" if totals.usd and totals.estimated else ""),
    ]
    return f"*{inline(' · '.join(part for part in parts if part))}*"


def _step(step: Step, note: _Note, level: str) -> Iterator[str]:
    if step.kind in ("asked", "said") and step.injected is None:
        who = word_of(step, note.agent, subagent=note.sheet.parent is not None)
        yield f"{level}# {inline(who)}{_elapsed(step, note)}"
        yield ""
        yield _mark(step.kind)
        yield ""
        yield safe_markdown(step.text or step.title)
        yield from _parts(step, note)
        return
    yield from _line(step)
    if step.kind == "tool":
        answered = "answered" if step.linked is not None or step.result_place is not None else "unanswered"
        yield from ("", _mark(f"call {quote(step.anchor or '', '|:', errors='replace')} {answered}"))
    elif step.kind == "thought" or not step.answers:
        yield from ("", _mark("thought" if step.answers else "result"))
    if step.diff:
        yield ""
        yield fenced(step.diff, "diff")
    elif step.files:
        yield ""
        yield from (f"  * {inline(line(f'{change.kind} {change.path}'))}" for change in step.files[:MOST_FILES])
        if len(step.files) > MOST_FILES:
            yield f"  * … and {len(step.files) - MOST_FILES:,} more"
    yield from _subagent(step, note)
    yield from _words(step)
    yield from _parts(step, note)


def _mark(what: str) -> str:
    """A line that no program shows, for whoever counts what stands in the note."""
    return f"[//]: # ({what})"


def _elapsed(step: Step, note: _Note) -> str:
    if step.at is None or note.started is None:
        return ""
    return f" · {duration(step.at - note.started)}"


def _line(step: Step) -> Iterator[str]:
    """A step in one line: `- Ran the tests (5.1s) — 24 passed — didn’t work`."""
    title = inline(step.title) if step.injected is None else f"{inline(word_of(step, ''))}: {inline(step.title[:120])}"
    took = f" ({duration(step.duration)})" if step.duration else ""
    detail = f" — {inline(line(step.detail))}" if step.detail and step.detail != step.text else ""
    status = f" — {STATUS_WORDS[step.status].lower()}" if step.status not in (None, "done") else ""
    name = f" {inline_code(step.name)}" if step.name and step.name.casefold() not in step.title.casefold() else ""
    yield f"- {title}{name}{took}{detail}{status}"


def _words(step: Step) -> Iterator[str]:
    text = (step.text or "").strip()
    if not text or text == step.title:
        return
    clipped = clip(text, RESULT_LIMIT)
    yield ""
    if step.kind == "thought":
        yield quoted(safe_markdown(clipped.head + ("\n\n…\n\n" + clipped.tail if clipped.tail else "")))
    else:
        yield fenced(clipped.head.rstrip("\n") + ("\n…\n" + clipped.tail if clipped.tail else ""))
    if clipped.left_out:
        yield ""
        yield f"*… {clipped.words()}.*"


def _subagent(step: Step, note: _Note) -> Iterator[str]:
    subagent = note.chats.get(step.subagent or "")
    if subagent is None:
        return
    title = inline(note.sheet.timeline_of(subagent).title)
    stem = None if note.sheet.alone else note.sheet.subagents.get(subagent.id)
    yield ""
    yield f"Handed on to [{title}]({quote(stem)}.md)." if stem else f"Handed on to *{title}*."


def _parts(step: Step, note: _Note) -> Iterator[str]:
    for part in step.parts:
        if isinstance(part, Image):
            yield ""
            yield _picture(part, note)
        elif isinstance(part, File):
            yield ""
            yield inline(file_words(part))
            if part.text:
                clipped = clip(part.text, RESULT_LIMIT)
                yield ""
                yield fenced(clipped.head + clipped.tail)
                if clipped.left_out:
                    yield from ("", f"*… {clipped.words()}.*")


def _picture(image: Image, note: _Note) -> str:
    media_type = image_type(image) if note.sheet.output.images else None
    if media_type is None or image.data is None:
        return inline(image_words(image))
    name = f"{note.sheet.stem}-{len(note.pictures) + 1}.{_ENDINGS[media_type]}"
    note.pictures.append(Piece(f"notes/{name}", image.data))
    return f"![{inline(image.name or 'Picture from the log')}]({quote(name)})"
