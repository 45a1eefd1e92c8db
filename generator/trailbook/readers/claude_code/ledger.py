"""What is in a session, counted from its raw lines: nothing here is shared with the reader."""

from __future__ import annotations

import base64
import binascii
import re
from pathlib import Path

from trailbook import json_text
from trailbook.chat import JSON, Place, Usage
from trailbook.ledger import (
    Entry,
    Keep,
    Ledger,
    bytes_of_data_url,
    entry_of_call,
    entry_of_image,
    entry_of_text,
    plain,
)
from trailbook.readers import Found
from trailbook.readers.claude_code.ledger_records import (
    Line,
    Raw,
    Talk,
    append,
    blocks_in,
    chains,
    divide,
    identities_in,
    identity,
    is_by_program,
    is_injected,
    is_prompt,
    is_queued_by_person,
    key_of,
    load,
    mark_abandoned,
    named_key,
    plain_words,
    reaches_model,
    text_in,
    words_in,
)
from trailbook.readers.claude_code.ledger_subagents import hang
from trailbook.readers.files import read_own

_NOT_RUN = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action",
    "Permission for this tool use was denied",
    "Permission to use ",
    "[Request interrupted by user",
    "<tool_use_error>Cancelled:",
)
_PICTURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8")


def count(found: Found, keep: Keep) -> Ledger:
    """The ledger of a session, its subagents' ledgers in it. Raises OSError."""
    others = [path for path in found.inputs if path.suffix == ".jsonl" and path != found.path]
    earlier = identities_in([path for path in others if not path.name.startswith("agent-")])
    main = Talk(Ledger(chat=found.id))
    inline: dict[str, list[Line]] = {}
    load(main, found.path, found.path.name, None if found.origin == "subagent" else inline)
    for line in main.lines:
        line.copied = bool(line.raw.get("forkedFrom")) or (bool(earlier) and identity(line.raw) in earlier)
    counter = _Counter(keep, {path.name: path for path in found.inputs if path.parent.name == "tool-results"})
    counter.count(main)
    talks = _subagents(found, [path for path in others if path.name.startswith("agent-")], inline)
    _mark_context(main, list(talks.values()))
    for talk in talks.values():
        counter.count(talk)
    hang(main, talks)
    return main.ledger


def _subagents(found: Found, files: list[Path], inline: dict[str, list[Line]]) -> dict[Path, Talk]:
    """The subagents' records: those in files of their own, then those in the session's file."""
    talks: dict[Path, Talk] = {}
    for path in files:
        name = path.relative_to(found.path.parent).as_posix() if path.is_relative_to(found.path.parent) else path.name
        short = path.stem.removeprefix("agent-")
        taken = {talk.ledger.chat for talk in talks.values()}
        talk = talks[path] = Talk(Ledger(chat=name if short in taken else short))
        load(talk, path, name, None)
        append(talk, inline.pop(short, []))
    for key, lines in chains(inline).items():
        talk = talks[Path(key)] = Talk(Ledger(chat=key), inline=lines[0].place.number)
        append(talk, lines)
    return talks


def _mark_context(main: Talk, talks: list[Talk]) -> None:
    """Mark what a subagent has of the session's own records, because it was given the chat so far."""
    if not talks:
        return
    known = {identity(line.raw) for line in main.lines if text_in(line.raw.get("uuid"))}
    messages = set(_usages(main.lines))
    for talk in talks:
        for line in talk.lines:
            named = text_in(line.raw.get("uuid")) is not None and identity(line.raw) in known
            line.copied = bool(line.raw.get("forkedFrom")) or named or named_key(line.raw) in messages


class _Counter:
    def __init__(self, keep: Keep, outputs: dict[str, Path]) -> None:
        self.keep = keep
        self.outputs = outputs
        self.to: list[Entry] = []
        self.above: set[str | None] = set()
        """The ids of the records above the one at hand."""

    def count(self, talk: Talk) -> None:
        """Fill the ledger of one chat."""
        for index, line in enumerate(talk.lines):
            line.prompt = line.raw.get("type") == "user" and is_prompt(talk.lines, index)
        mark_abandoned(talk.lines)
        self.above = set()
        for index, line in enumerate(talk.lines):
            self.to = talk.ledger.aside if line.copied or line.abandoned else talk.ledger.entries
            kind = line.raw.get("type")
            if kind == "user":
                self._user(talk, index, line)
            elif kind == "assistant":
                self._assistant(talk, line)
            elif kind == "attachment":
                self._attachment(talk.lines, index)
            if uuid := text_in(line.raw.get("uuid")):
                self.above.add(uuid)
        for entry in (*talk.ledger.entries, *talk.ledger.aside):
            if entry.kind in ("result", "image") and entry.id not in talk.calls:
                entry.id = None
        talk.ledger.usage = _sum([usage for usage, copied in _usages(talk.lines).values() if not copied])

    def _user(self, talk: Talk, index: int, line: Line) -> None:
        message = line.raw.get("message")
        if not isinstance(message, dict):
            return
        blocks = blocks_in(message.get("content"))
        results = [block for block in blocks if isinstance(block, dict) and block.get("type") == "tool_result"]
        outcome = line.raw.get("toolUseResult")
        for block in results:
            self._result(line.place, block)
            agent = text_in(outcome.get("agentId")) if isinstance(outcome, dict) and len(results) == 1 else None
            if agent and (call := text_in(block.get("tool_use_id"))):
                talk.agents.setdefault(agent, call)
        texts = [text for block in blocks if (text := words_in(block))]
        pictures = [block for block in blocks if isinstance(block, dict) and block.get("type") == "image"]
        if line.raw.get("isCompactSummary") is True:
            self._words("prompt", line.place, "\n".join(texts), injected=True)
            return
        if results and not texts:
            call = text_in(results[-1].get("tool_use_id"))
            self._images(line.place, call, pictures)
            return
        if line.raw.get("isVisibleInTranscriptOnly") is not True:
            self._said(talk.lines, index, texts, pictures, injected=is_injected(line.raw))

    def _said(self, lines: list[Line], index: int, texts: list[str], pictures: list[Raw], *, injected: bool) -> None:
        place = lines[index].place
        own, apart = [], []
        command = None
        for text in texts:
            rest, put_in, typed = divide(text)
            own.append(rest)
            apart += put_in
            command = typed or command
        words = "\n".join(text for text in own if text)
        self._words("prompt", place, words, injected=injected, pictures=pictures)
        if command is not None and not injected and reaches_model(lines, index):
            self._words("prompt", place, command)
        for text in apart:
            self._words("prompt", place, text, injected=True)

    def _attachment(self, lines: list[Line], index: int) -> None:
        line = lines[index]
        body = line.raw.get("attachment")
        if not isinstance(body, dict):
            return
        if body.get("type") == "hook_additional_context":
            texts = [text for block in blocks_in(body.get("content")) if (text := plain_words(block))]
            self._words("prompt", line.place, "\n".join(texts), injected=True)
        elif body.get("type") == "queued_command" and text_in(body.get("source_uuid")) not in self.above:
            blocks = blocks_in(body.get("prompt"))
            texts = [text for block in blocks if (text := plain_words(block))]
            pictures = [block for block in blocks if isinstance(block, dict) and block.get("type") == "image"]
            self._said(lines, index, texts, pictures, injected=not is_queued_by_person(body))

    def _assistant(self, talk: Talk, line: Line) -> None:
        message = line.raw.get("message")
        if not isinstance(message, dict) or is_by_program(line.raw):
            return
        key = key_of(line)
        for number, block in enumerate(blocks_in(message.get("content")), 1):
            if isinstance(block, str):
                self._words("answer", line.place, block, message=key)
            if not isinstance(block, dict):
                continue
            kind = block.get("type")
            if kind == "text":
                self._words("answer", line.place, text_in(block.get("text")) or "", message=key)
            elif kind == "thinking":
                self._words("thought", line.place, text_in(block.get("thinking")) or "", message=key)
            elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
                self._call(talk, line.place, block, key, number)
            elif kind == "image":
                self._images(line.place, None, [block])
            elif isinstance(kind, str) and kind.endswith("_tool_result"):
                self._result(line.place, block)

    def _call(self, talk: Talk, place: Place, block: Raw, key: str, number: int) -> None:
        call = text_in(block.get("id")) or f"{place.file}:{place.number}:{number}"
        name = text_in(block.get("name")) or "unknown"
        arguments = block.get("input")
        if arguments is None:
            arguments = {}
        elif not isinstance(arguments, str | dict):
            arguments = json_text.dump(arguments).decode()
        before = talk.calls.get(call)
        if before is not None and before[1:3] == (arguments, key):
            return
        talk.calls.setdefault(call, (name, arguments, key, place.number))
        self.to.append(entry_of_call(place, call, name, arguments, self.keep))

    def _result(self, place: Place, block: Raw) -> None:
        content = block.get("content")
        blocks = blocks_in(content)
        if content is not None and not isinstance(content, str | list | dict):
            blocks = [json_text.dump(content).decode()]
        texts = [text for text in (self._result_words(piece) for piece in blocks) if text is not None]
        pictures = [piece for piece in blocks if isinstance(piece, dict) and piece.get("type") == "image"]
        entry = entry_of_text("result", place, "\n".join(texts), self.keep)
        entry.id, entry.ok = text_in(block.get("tool_use_id")), block.get("is_error") is not True
        entry.not_run = not entry.ok and bool(texts) and texts[0].startswith(_NOT_RUN)
        self.to.append(entry)
        self._images(place, entry.id, pictures)

    def _result_words(self, block: JSON) -> str | None:
        text = block
        if isinstance(block, dict):
            kind, text = block.get("type"), block.get("text")
            if kind in ("image", "document"):
                return None
            if kind != "text":
                text = None
        if not isinstance(text, str):
            return json_text.dump(block).decode()
        saved = re.search("Full output saved to: (.*)", text) if text.startswith("<persisted-output>") else None
        path = self.outputs.get(saved[1].strip().replace("\\", "/").rpartition("/")[2]) if saved else None
        try:
            return read_own(path).decode("utf-8", "replace") if path else text
        except OSError:
            return text

    def _words(
        self,
        kind: str,
        place: Place,
        text: str,
        *,
        message: str | None = None,
        injected: bool = False,
        pictures: list[Raw] | None = None,
    ) -> None:
        if plain(text) or pictures:
            entry = entry_of_text(kind, place, text, self.keep)
            entry.message, entry.injected, entry.images = message, injected, 0
            self.to.append(entry)
            self._images(place, None, pictures or [])

    def _images(self, place: Place, call: str | None, pictures: list[Raw]) -> None:
        """Pictures, and their number on the prompt or the result that they follow."""
        if not pictures:
            return
        owner = next((entry for entry in reversed(self.to) if entry.kind in ("prompt", "result")), None)
        if owner is not None and owner.place == place:
            owner.images += len(pictures)
        self.to += [entry_of_image(place, call, _bytes_of(picture)) for picture in pictures]


# --- tokens


def _usages(lines: list[Line]) -> dict[str, tuple[Raw, bool]]:
    """The usage of each API message, from its line with the highest output, and whether it is copied."""
    best: dict[str, tuple[Raw, bool]] = {}
    for line in lines:
        message = line.raw.get("message")
        if line.raw.get("type") != "assistant" or not isinstance(message, dict) or is_by_program(line.raw):
            continue
        key, usage = key_of(line), message.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        known, copied = best.setdefault(key, ({}, line.copied))
        if usage and (_number(usage, "output_tokens") or 0) >= (_number(known, "output_tokens") or 0):
            best[key] = usage, copied
    return best


def _sum(usages: list[Raw]) -> Usage | None:
    totals: dict[str, int] = {}
    for usage in usages:
        fresh, written = _number(usage, "input_tokens"), usage.get("cache_creation")
        parts = {
            "output_tokens": _number(usage, "output_tokens"),
            "cached_tokens": _number(usage, "cache_read_input_tokens"),
            "cache_write_tokens": _number(usage, "cache_creation_input_tokens"),
            "cache_write_hour_tokens": _number(written, "ephemeral_1h_input_tokens"),
        }
        if fresh is not None:
            parts["prompt_tokens"] = fresh + (parts["cached_tokens"] or 0) + (parts["cache_write_tokens"] or 0)
        for name, number in parts.items():
            if number is not None:
                totals[name] = totals.get(name, 0) + number
    return Usage(**totals) if any(usages) else None


def _number(usage: JSON, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _bytes_of(block: Raw) -> bytes | None:
    source = block.get("source")
    source = source if isinstance(source, dict) else {}
    if "url" in source or source.get("type") == "url":
        data, kind = bytes_of_data_url(source.get("url")), str(source.get("url"))[5:].partition(";")[0]
    elif source.get("file_id") or not isinstance(source.get("data"), str):
        return None
    else:
        kind = str(source.get("media_type"))
        try:
            data = base64.b64decode(str(source["data"]), validate=True)
        except (binascii.Error, ValueError):
            return None
    if data and (data.startswith(_PICTURES) or data[8:12] == b"WEBP" or re.fullmatch(r"image/[a-z0-9.+-]+", kind)):
        return data
    return None
