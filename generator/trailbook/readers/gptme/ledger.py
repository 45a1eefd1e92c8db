"""What is in a chat, counted from its raw records.

What a call is, only a parser of gptme's text can tell, and there is one (`written_calls`, `speech`), checked against
gptme's own; which message answers which call is `linking`'s word. Everything else, which messages there are, what
becomes of each, tokens and pictures, is counted here on a path of its own.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from trailbook.chat import JSON, Usage
from trailbook.ledger import Entry, Keep, Ledger, entry_of_call, entry_of_image, entry_of_text
from trailbook.readers import Found
from trailbook.readers.gptme.folder import ChatFiles, files_of, settings_of, subagents_of
from trailbook.readers.gptme.linking import Link, OpenCall, links
from trailbook.readers.gptme.log_lines import Line, line_of, lines_of
from trailbook.readers.gptme.naming import id_of
from trailbook.readers.gptme.speech import Reasoning, pieces
from trailbook.readers.gptme.writing import writing_of
from trailbook.readers.gptme.written_calls import Writing, WrittenCall, calls_in
from trailbook.readers.lines import Problems, read_records

_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp")
_MAGIC = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8")
_NOT_RUN = (
    "Execution declined by user",
    "Nothing was executed: the whole command was rejected.",
    "' was not executed",
    "' is not available for execution",
)
_FAILED_REQUEST = "LLM request failed:"
_TOKENS = {
    "input_tokens": ("prompt_tokens",),
    "cache_read_tokens": ("prompt_tokens", "cached_tokens"),
    "cache_creation_tokens": ("prompt_tokens", "cache_write_tokens"),
    "output_tokens": ("output_tokens",),
    "reasoning_tokens": ("reasoning_tokens",),
}


def count(found: Found, keep: Keep) -> Ledger:
    """The ledger of a chat, those of its subagents beside it. Raises OSError."""
    return _count(found.path, found.id, keep, ())


def _count(log: Path, name: str, keep: Keep, above: tuple[Path, ...]) -> Ledger:
    files = files_of(log)
    active, summaries, elsewhere = _messages(files)
    ledger = Ledger(chat=name)
    counter = _Counter(ledger, keep, files, writing_of(active, settings_of(files, Problems())))
    counter.sequence(active, ledger.entries)
    ledger.entries += [entry_of_text("system", line.place, line.content, keep) for line in summaries]
    for lines in elsewhere:
        counter.sequence(lines, ledger.aside)
    for child in subagents_of(log):
        if child not in (*above, log) and len(above) < 16:
            ledger.subagents.append(_count(child, id_of(child), keep, (*above, log)))
    return ledger


# --- which messages there are


def _messages(files: ChatFiles) -> tuple[list[Line], list[Line], list[list[Line]]]:
    """The active path, the summaries that the model went on from, and what only other files have."""
    nothing = Problems()
    active, summaries = lines_of(files.log, nothing), list[Line]()
    if files.full_log is not None:
        active, summaries = _with_full_log(lines_of(files.full_log, nothing), active)
    known = Counter(_identity(line) for line in active)
    elsewhere = []
    branches = [(path.stem, lines_of(path, nothing, name=files.name(path))) for path in files.branches]
    for _, lines in sorted(branches, key=lambda item: (-len(item[1]), item[0])):
        elsewhere.append(_new(lines, known))
    if files.events is not None:
        appended = []
        for record in read_records(files.events, nothing):
            event = record.value if isinstance(record.value, dict) else {}
            payload = event.get("payload")
            message = payload.get("message") if isinstance(payload, dict) else None
            line = line_of(message, record.place) if event.get("type") == "message_append" else None
            if line is not None:
                appended.append(line)
        commands = ("user", "/")
        elsewhere.append([line for line in _new(appended, known) if (line.role, line.content[:1]) != commands])
    return active, summaries, elsewhere


def _with_full_log(full: list[Line], short: list[Line]) -> tuple[list[Line], list[Line]]:
    def known_by(line: Line) -> object:
        return (line.role, line.timestamp, line.call_id) if line.timestamp else _identity(line)

    position = {known_by(line): number for number, line in enumerate(full)}
    order = [(number, 0, line) for number, line in enumerate(full)]
    last = -1
    for number, line in enumerate(short, 1):
        if known_by(line) in position:
            last = position[known_by(line)]
        else:
            order.append((last, number, line))
    order.sort(key=lambda item: item[:2])
    active, summaries, summing_up = list[Line](), list[Line](), True
    for _, added, line in order:
        summing_up = not added or (summing_up and line.role == "system" and line.call_id is None)
        (summaries if added and summing_up else active).append(line)
    return active, summaries


def _new(lines: list[Line], known: Counter[object]) -> list[Line]:
    """The messages that are not known yet; they are from then on."""
    left = known.copy()
    new = []
    for line in lines:
        if left[_identity(line)] > 0:
            left[_identity(line)] -= 1
        else:
            new.append(line)
    known.update(_identity(line) for line in new)
    return new


def _identity(line: Line) -> object:
    return line.role, line.content, line.timestamp


# --- what they hold


@dataclass(slots=True)
class _Counter:
    ledger: Ledger
    keep: Keep
    files: ChatFiles
    writing: Writing
    seen: Counter[str] = field(default_factory=Counter)

    def sequence(self, lines: list[Line], entries: list[Entry]) -> None:
        """Count messages that follow each other; a branch's go to another list than the active path's."""
        taken = {at: self._calls(lines, at) for at, line in enumerate(lines) if line.role == "assistant"}
        linked = links(
            lines, {at: [OpenCall(ids[id(c)], c.id, c.name) for c in calls] for at, (calls, ids) in taken.items()}
        )
        begun = False
        for at, line in enumerate(lines):
            begun = begun or line.role != "system" or line.call_id is not None or line.shown_only
            if line.role == "assistant":
                entries += self._assistant(line, *taken[at])
                self._tokens(line.metadata or {})
            elif line.role == "user":
                entries += self._prompt(line)
            elif not begun:
                entries.append(entry_of_text("system", line.place, line.content, self.keep))
            else:
                entries += self._system(line, linked[at])

    def _calls(self, lines: list[Line], at: int) -> tuple[list[WrittenCall], dict[int, str]]:
        behind = at + 1
        while behind < len(lines) and lines[behind].role == "system" and not _is_loose(lines[behind]):
            behind += 1
        visible = behind < len(lines) and _is_loose(lines[behind])
        calls = calls_in(lines[at].content, self.writing, answered=visible)
        place = lines[at].place
        stem = place.file.removesuffix(".jsonl")
        prefix = f"gptme-{place.number}" if stem == "conversation" else f"gptme-{stem}-{place.number}"
        ids = {}
        for index, call in enumerate(sorted(calls, key=lambda call: call.start), 1):
            base = call.id or f"{prefix}-{index}"
            self.seen[base] += 1
            ids[id(call)] = base if self.seen[base] == 1 else f"{base}__{self.seen[base]}"
        return calls, ids

    def _assistant(self, line: Line, calls: list[WrittenCall], ids: dict[int, str]) -> list[Entry]:
        entries = []
        block = _dict((line.metadata or {}).get("anthropic_compaction_block")).get("content")
        if isinstance(block, str) and block:
            entries.append(entry_of_text("system", line.place, block, self.keep))
        for piece in pieces(line.content, calls):
            if isinstance(piece, WrittenCall):
                arguments: JSON = piece.arguments if piece.raw is None else piece.raw
                entries.append(entry_of_call(line.place, ids[id(piece)], piece.name, arguments, self.keep))
            elif piece.text.strip():
                kind = "thought" if isinstance(piece, Reasoning) else "answer"
                entry = entry_of_text(kind, line.place, piece.text, self.keep)
                entry.message = f"{line.place.file}:{line.place.number}"
                entries.append(entry)
        return entries

    def _prompt(self, line: Line) -> list[Entry]:
        images = self._images(line, None)
        entry = entry_of_text("prompt", line.place, line.content, self.keep)
        entry.images = len(images)
        entry.injected = (
            line.hidden
            or line.shown_only
            or "compaction_checkpoint_view" in (line.metadata or {})
            or line.content.startswith(("<system>", "You appear stuck", "Completion verification failed"))
        )
        return [entry, *images] if line.content.strip() or images else []

    def _system(self, line: Line, link: Link) -> list[Entry]:
        if not link.result:
            told = not line.shown_only and not line.content.startswith(_FAILED_REQUEST)
            return [entry_of_text("system", line.place, line.content, self.keep)] if told else []
        call = link.call.id if link.call else None
        images = self._images(line, call)
        entry = entry_of_text("result", line.place, line.content, self.keep)
        entry.id, entry.images, entry.not_run = call, len(images), _says_not_run(line.content)
        entries = [entry, *images]
        for other in link.stopped:
            stopped = entry_of_text("result", line.place, "", self.keep)
            stopped.id, stopped.not_run = other.id, True
            entries.append(stopped)
        return entries

    def _images(self, line: Line, call: str | None) -> list[Entry]:
        hashes = dict(line.hashes)
        found = []
        for path in line.files:
            address = path.split("?")[0] if "://" in path else path
            if address.lower().endswith(_PICTURES):
                copy = self.files.copies.get(hashes.get(path, "")[:16])
                found.append(entry_of_image(line.place, call, _picture(copy) if copy else None))
        return found

    def _tokens(self, metadata: dict[str, JSON]) -> None:
        counts = _dict(metadata.get("usage")) if "usage" in metadata else metadata
        for name, ours in _TOKENS.items():
            value = counts.get(name)
            if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
                usage = self.ledger.usage = self.ledger.usage or Usage()
                for attribute in ours:
                    setattr(usage, attribute, (getattr(usage, attribute) or 0) + value)


def _is_loose(line: Line) -> bool:
    """Whether it may be a result without an id."""
    return line.role == "system" and not (line.hidden or line.shown_only or line.call_id)


def _says_not_run(text: str) -> bool:
    whole = text.strip()
    return (
        whole == _NOT_RUN[0]
        or whole.endswith(_NOT_RUN[1])
        or (text.startswith("Tool '") and any(words in text.split("\n")[0] for words in _NOT_RUN[2:]))
    )


def _picture(copy: Path) -> bytes | None:
    """The copy's bytes, where they are a picture's."""
    try:
        data = copy.read_bytes()
    except OSError:
        return None
    return data if data.startswith(_MAGIC) or (data[:4] == b"RIFF" and data[8:12] == b"WEBP") else None


def _dict(value: JSON) -> dict[str, JSON]:
    return value if isinstance(value, dict) else {}
