"""Line diffs of what a call changed, bounded: no text makes them slow.

A call says which words it replaced by which, not where they stand in the file, so these diffs have no line numbers:
`@@ … @@` stands where unchanged lines are left out.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from trailbook.chat import JSON

CONTEXT = 3
"""Unchanged lines that are shown around a change."""

GAP = "@@ … @@"

MOST_EDITS = 256
"""Up to this many changed lines among those that both texts have, the diff is the shortest there is. Beyond, only lines
that stand once in both texts hold it together."""

Kept = list[tuple[int, int]]
"""Pairs of equal lines, by their numbers in the old and the new text, both rising."""

_OLD_NEW = (
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("old_str", "new_str"),
    ("oldText", "newText"),
    ("old", "new"),
)
_WRITES = frozenset(
    ("write", "writefile", "writetofile", "createfile", "create", "save", "filewrite", "append", "appendfile")
)
_CONTENT = ("content", "file_text", "contents", "text")
_PATCH = ("patch", "input", "patchText", "diff", "content")
_HEAD = re.compile(r"^--- .*\n\+\+\+ .*$", re.MULTILINE)
_PLUS = re.compile(r"^\+", re.MULTILINE)
_MINUS = re.compile(r"^-", re.MULTILINE)
_FILE_LINE = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")


def line_diff(old: str, new: str) -> str:
    """What changed between two texts: lines that start with `-`, `+` or a space; empty where nothing did."""
    before, after = _lines(old), _lines(new)
    if before and after and not before[-1] and not after[-1]:
        before.pop()
        after.pop()
    return "\n".join(_shown(before, after, _kept(before, after)))


def added(text: str, sign: str = "+") -> str:
    """A whole text as added lines."""
    lines = _lines(text)
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    return "\n".join(sign + line for line in lines)


def changed_lines(diff: str) -> tuple[int, int]:
    """How many lines a diff adds and takes away, the heads of its files not counted."""
    body = _HEAD.sub("", diff)
    return len(_PLUS.findall(body)), len(_MINUS.findall(body))


def of_call(name: str, arguments: dict[str, JSON], raw: str | None) -> str | None:
    """What a call set out to change, as its arguments say; None for calls that say nothing of the kind.

    Known are: old and new text (`old_string`/`new_string` and their other spellings, one pair or a list `edits`),
    a whole new file, and patches (`*** Begin Patch`, unified, and blocks between `<<<<<<<` and `>>>>>>>`).
    """
    edits = arguments.get("edits")
    pairs = [_pair(edit) for edit in edits] if isinstance(edits, list) else [_pair(arguments)]
    found = [line_diff(*pair) for pair in pairs if pair]
    if found:
        return f"\n{GAP}\n".join(diff for diff in found if diff) or None
    if arguments.get("command") == "insert" and isinstance(arguments.get("new_str"), str):
        return added(str(arguments["new_str"]))
    content = next((value for key in _CONTENT if isinstance(value := arguments.get(key), str)), None)
    if content is not None and (_plain(name) in _WRITES or arguments.get("command") == "create"):
        return added(content)
    command = arguments.get("command", arguments.get("cmd"))
    told = command[-1] if isinstance(command, list) and command else command
    if isinstance(told, str) and "*** Begin Patch" in told[:2_000]:
        return of_patch(told)
    if raw is not None or "patch" in name.lower():
        texts = (raw, *(arguments.get(key) for key in _PATCH))
        return next((diff for text in texts if isinstance(text, str) and (diff := of_patch(text))), None)
    return None


def of_patch(text: str) -> str | None:
    """A patch as a model writes it, in the shape of a unified diff; None when the text is no patch."""
    if "*** Begin Patch" in text[:2_000]:
        body = text.split("*** Begin Patch", 1)[1].split("*** End Patch", 1)[0]
        return "\n".join(_patch_lines(body)).strip("\n") or None
    if text.startswith(("--- ", "diff --git ", "Index: ")) and "\n@@ " in text:
        return text.rstrip("\n")
    blocks = [line_diff(old, new) for old, new in _conflicts(text)]
    return f"\n{GAP}\n".join(blocks) or None


def _conflicts(text: str) -> Iterator[tuple[str, str]]:
    """The old and new texts of blocks between `<<<<<<<`, `=======` and `>>>>>>>`."""
    old: list[str] | None = None
    new: list[str] | None = None
    for line in text.split("\n"):
        if line.startswith("<<<<<"):
            old, new = [], None
        elif old is not None and new is None and re.fullmatch(r"={5,9}", line):
            new = []
        elif old is not None and new is not None and line.startswith(">>>>>"):
            yield "\n".join(old), "\n".join(new)
            old = new = None
        elif old is not None:
            (old if new is None else new).append(line)


@lru_cache(maxsize=256)
def _plain(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())


def _patch_lines(body: str) -> Iterator[str]:
    for line in body.split("\n"):
        head = _FILE_LINE.match(line)
        if head is None:
            if not line.startswith("*** "):
                yield GAP if line == "@@" else line
            continue
        kind, path = head.groups()
        yield "--- " + ("/dev/null" if kind == "Add" else path)
        yield "+++ " + ("/dev/null" if kind == "Delete" else path)


def _pair(edit: JSON) -> tuple[str, str] | None:
    if not isinstance(edit, dict):
        return None
    for old_key, new_key in _OLD_NEW:
        old, new = edit.get(old_key), edit.get(new_key)
        if isinstance(old, str) and isinstance(new, str):
            return old, new
    return None


def _lines(text: str) -> list[str]:
    return text.split("\n") if text else []


# --- which lines stay


def _kept(before: Sequence[str], after: Sequence[str]) -> Kept:
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    head = [(number, number) for number in range(start)]
    tail = [(len(before) - number, len(after) - number) for number in range(end, 0, -1)]
    # Lines that only one text has are changed for certain: the search is among the others.
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    common = set(old) & set(new)
    old_numbers = [number for number, line in enumerate(old) if line in common]
    new_numbers = [number for number, line in enumerate(new) if line in common]
    old, new = [old[number] for number in old_numbers], [new[number] for number in new_numbers]
    middle = _shortest(old, new)
    if middle is None:
        middle = _anchors(old, new)
    found = [(start + old_numbers[one], start + new_numbers[other]) for one, other in middle]
    return head + found + tail


def _shortest(old: Sequence[str], new: Sequence[str]) -> Kept | None:
    """The pairs of the shortest edit (Myers' greedy search), or None when it takes more than `MOST_EDITS`."""
    reached = {1: 0}
    history: list[dict[int, int]] = []
    for edits in range(min(len(old) + len(new), MOST_EDITS) + 1):
        history.append(dict(reached))
        for diagonal in range(-edits, edits + 1, 2):
            down = _goes_down(reached, edits, diagonal)
            one = reached[diagonal + 1] if down else reached[diagonal - 1] + 1
            other = one - diagonal
            while one < len(old) and 0 <= other < len(new) and old[one] == new[other]:
                one, other = one + 1, other + 1
            reached[diagonal] = one
            if one >= len(old) and other >= len(new):
                return _walk_back(history, len(old), len(new))
    return None


def _goes_down(reached: dict[int, int], edits: int, diagonal: int) -> bool:
    """Whether the farthest way to a diagonal adds a line (from the one above) or takes one away."""
    return diagonal == -edits or (diagonal != edits and reached[diagonal - 1] < reached[diagonal + 1])


def _walk_back(history: list[dict[int, int]], one: int, other: int) -> Kept:
    kept: Kept = []
    for edits in range(len(history) - 1, -1, -1):
        reached = history[edits]
        diagonal = one - other
        previous = diagonal + 1 if _goes_down(reached, edits, diagonal) else diagonal - 1
        before = reached[previous] if edits else 0
        while one > before and other > before - previous:
            one, other = one - 1, other - 1
            kept.append((one, other))
        one, other = before, before - previous
    kept.reverse()
    return kept


def _anchors(old: Sequence[str], new: Sequence[str]) -> Kept:
    """The longest rising run of lines that stand exactly once in both texts."""
    once_old, once_new = Counter(old), Counter(new)
    place = {line: number for number, line in enumerate(new) if once_new[line] == 1}
    pairs = [(number, place[line]) for number, line in enumerate(old) if once_old[line] == 1 and line in place]
    tops: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, other) in enumerate(pairs):
        pile = bisect_left(tops, other)
        tops[pile : pile + 1] = [other]
        ends[pile : pile + 1] = [index]
        before.append(ends[pile - 1] if pile else -1)
    kept: Kept = []
    index = ends[-1] if ends else -1
    while index >= 0:
        kept.append(pairs[index])
        index = before[index]
    kept.reverse()
    return kept


# --- how it is shown


def _shown(before: Sequence[str], after: Sequence[str], kept: Kept) -> Iterator[str]:
    lines: list[str] = []
    one = other = 0
    for old, new in [*kept, (len(before), len(after))]:
        if one < old:
            lines.extend(["-" + line for line in before[one:old]])
        if other < new:
            lines.extend(["+" + line for line in after[other:new]])
        if old < len(before):
            lines.append(" " + before[old])
        one, other = old + 1, new + 1
    return _with_context(lines)


def _with_context(lines: Sequence[str]) -> Iterator[str]:
    shown_to = None
    for number, line in enumerate(lines):
        if line[0] == " ":
            continue
        start = max(number - CONTEXT, 0)
        if shown_to is None or start > shown_to:
            if shown_to is not None:
                yield GAP
            shown_to = start
        end = min(number + CONTEXT + 1, len(lines))
        yield from lines[shown_to:end]
        shown_to = end
