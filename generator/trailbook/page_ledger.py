"""What stands in a report or a note: its steps counted again from the bytes, each by its kind and call.

A page shortens and renders words, so there is nothing in it to compare them by: its entries have no digests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import unescape
from urllib.parse import unquote

from trailbook.chat import Place
from trailbook.ledger import Entry, Ledger

# Everything a chat says is escaped in a page, so that only the page itself can begin a list item.
_STEP = re.compile(r'<li class="st c-[a-z]+"((?: [a-z-]+="[^"]*")*)')
_DATA = re.compile(r' data-([a-z]+)="([^"]*)"')
_KINDS = {"asked": "prompt", "said": "answer", "thought": "thought", "tool": "call"}

# A note's own lines, which nothing that a chat says can look like: its words have no headings and no comments.
_FENCE = re.compile(r"`{3,}(?=[^`]*$)")
_STEP_OF_NOTE = re.compile(r"\[//\]: # \((asked|said|thought|call|result)(?: (\S*) (answered|unanswered))?\)")
_SHORTENED = re.compile(r"\*… .*\*")


def count_report(pages: Iterable[tuple[str, bytes]]) -> Ledger:
    """The steps of a report over all its parts, each given with its name.

    What stands on a branch or is inherited is aside; the steps of subagents that have no page of their own are in
    ledgers of their own. `not_carried` counts the bodies that are shortened.
    """
    ledger = Ledger()
    below: dict[str, Ledger] = {}
    shortened = 0
    for name, page in pages:
        for number, step in enumerate(_STEP.finditer(page.decode("utf-8")), 1):
            data = {key: unescape(value) for key, value in _DATA.findall(step.group(1))}
            chat = _below(unquote(data["chat"]), below) if "chat" in data else ledger
            entries = chat.aside if "branch" in data or "inherited" in data else chat.entries
            entries.extend(_entries(data, Place(name, number, "step")))
            shortened += int(data.get("shortened", "0"))
    if shortened:
        ledger.not_carried["shortened"] = shortened
    ledger.subagents = list(below.values())
    return ledger


def _below(chat: str, below: dict[str, Ledger]) -> Ledger:
    return below.setdefault(chat, Ledger(chat))


def count_note(name: str, note: bytes) -> Ledger:
    """The steps of a note; branches stand among the rest. `not_carried` counts the bodies that are shortened."""
    ledger = Ledger()
    shortened = 0
    for number, line in _outside_fences(note.decode("utf-8")):
        step = _STEP_OF_NOTE.fullmatch(line)
        if step is not None:
            kind, call, answered = step.groups()
            data = {"kind": "tool", "call": call or "", "answered": "yes" if answered == "answered" else "no"}
            data = data if kind == "call" else {"result": ""} if kind == "result" else {"kind": kind}
            ledger.entries.extend(_entries(data, Place(name, number)))
        shortened += _SHORTENED.fullmatch(line) is not None
    if shortened:
        ledger.not_carried["shortened"] = shortened
    return ledger


def _entries(data: dict[str, str], place: Place) -> Iterator[Entry]:
    kind, call = _KINDS.get(data.get("kind", "")), data.get("call")
    call = unquote(call) if call is not None else None
    if "result" in data:
        yield Entry("result", place, b"")
    elif kind is not None:
        yield Entry(kind, place, b"", id=call, injected="injected" in data)
        if data.get("answered") == "yes":
            yield Entry("result", place, b"", id=call)


def _outside_fences(text: str) -> Iterator[tuple[int, str]]:
    fence = ""
    for number, line in enumerate(text.split("\n"), 1):
        opened = _FENCE.match(line)
        if not fence and opened is not None:
            fence = opened.group()
        elif fence and line == fence:
            fence = ""
        elif not fence:
            yield number, line
