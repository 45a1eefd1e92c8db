"""Whether a written value is the log's own, but for what redaction took out.

A redaction token (`[key]`, `[email 2]`, `~`, …) stands for any run of characters that such a thing may be: a key may be
long and have lines, the rest is short and on one line, so that nothing that was cut off can hide behind a token. The
text between two tokens is looked for in a few places only, so that hostile text takes no longer than any other.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from typing import Literal

from trailbook.chat import JSON
from trailbook.ledger import plain

TOKEN = re.compile(r"(\[(?:password|key|email|phone|card|address|name)(?: \d+)?\]|~)")
_LONGEST_KEY = 20_000
_LONGEST = 300
_SEVERAL_LINES = ("[password", "[key", "[name")
_MOST_PLACES, _MOST_TRIED = 16, 64
"""How many places of one piece of text are followed further, and how many are looked at."""
_MOST_KEYS = 200
"""Keys of one object that redaction may have changed and that are still compared one with another."""

Match = Literal["same", "redacted", "different"]


def match_text(raw: str, written: str) -> Match:
    """Compare two texts as `digest_of_text` does; where they differ, tokens in `written` stand for any run."""
    raw, written = plain(raw), plain(written)
    if raw == written:
        return "same"
    return "redacted" if _covers(raw, written) else "different"


def match_joined(raw: list[str], written: list[str]) -> Match:
    """Compare some pieces of the log with some of the file, wherever either cuts its text into pieces.

    White space says nothing here, since each side joins its pieces in its own way.
    """
    raw_text, written_text = ("".join("".join(pieces).split()) for pieces in (raw, written))
    if raw_text == written_text:
        return "same"
    return "redacted" if _covers(raw_text, written_text) else "different"


def match_json(raw: JSON, written: JSON) -> Match:
    """Compare two JSON values: keys in any order, every digit counted, tokens in strings and in keys."""
    if isinstance(raw, dict) and isinstance(written, dict):
        return _match_objects(raw, written)
    if isinstance(raw, list) and isinstance(written, list):
        if len(raw) != len(written):
            return "different"
        return _all(match_json(one, other) for one, other in zip(raw, written, strict=True))
    if isinstance(raw, str) and isinstance(written, str):
        # Here white space counts: an argument may be the lines of a file.
        return "same" if raw == written else "redacted" if _covers(raw, written) else "different"
    return "same" if type(raw) is type(written) and raw == written else "different"


def _match_objects(raw: dict[str, JSON], written: dict[str, JSON]) -> Match:
    if len(raw) != len(written):
        return "different"
    shared = raw.keys() & written.keys()
    found = [match_json(raw[key], written[key]) for key in shared]
    changed = [key for key in raw if key not in shared]
    if changed:
        found.append(_match_keys(raw, changed, written, [key for key in written if key not in shared]))
    return _all(found)


def _match_keys(raw: dict[str, JSON], changed: list[str], written: dict[str, JSON], others: list[str]) -> Match:
    """Objects whose keys hold something that was taken out: each changed key with the one it became."""
    if len(changed) > _MOST_KEYS:
        pairs = zip(changed, others, strict=True)
        return "redacted" if all(_same_field(raw, key, written, other) for key, other in pairs) else "different"
    for key in changed:
        fitting = next((other for other in others if _same_field(raw, key, written, other)), None)
        if fitting is None:
            return "different"
        others.remove(fitting)
    return "redacted"


def _same_field(raw: dict[str, JSON], key: str, written: dict[str, JSON], other: str) -> bool:
    return match_text(key, other) == "redacted" and match_json(raw[key], written[other]) != "different"


def _all(found: Iterable[Match]) -> Match:
    outcomes = set(found)
    if "different" in outcomes:
        return "different"
    return "redacted" if "redacted" in outcomes else "same"


def _covers(raw: str, written: str) -> bool:
    first, *rest = TOKEN.split(written)
    if not rest or not raw.startswith(first) or not raw.endswith(rest[-1]):
        return False
    # The nearest place is nearly always the right one, and following one place is far quicker than many.
    return any(_fits(raw, len(first), rest, most) for most in (1, _MOST_PLACES))


def _fits(raw: str, end: int, rest: list[str], most: int) -> bool:
    """Whether tokens and pieces, one after the other, make up `raw` from `end` on."""
    ends = [end]
    for at in range(0, len(rest) - 2, 2):
        ends = _ends(raw, rest[at + 1], rest[at], ends, most)
        if not ends:
            return False
    return _reaches(raw, ends, len(raw) - len(rest[-1]), rest[-2])


def _ends(raw: str, piece: str, token: str, ends: list[int], most: int) -> list[int]:
    """Where the piece after a token may end, given where the piece before the token may."""
    found: list[int] = []
    furthest = ends[-1] + _limit(token) + len(piece)
    start = ends[0]
    for _ in range(_MOST_TRIED):
        start = raw.find(piece, start + 1, furthest)
        if start < 0:
            break
        if _reaches(raw, ends, start, token):
            found.append(start + len(piece))
            if len(found) == most:
                break
    return found


def _reaches(raw: str, ends: list[int], start: int, token: str) -> bool:
    """Whether a token may stand for what lies between one of `ends` and `start`; the nearest is the likeliest."""
    nearest = bisect_left(ends, start) - 1
    if nearest < 0 or start - ends[nearest] > _limit(token):
        return False
    return token.startswith(_SEVERAL_LINES) or raw.find("\n", ends[nearest], start) < 0


def _limit(token: str) -> int:
    return _LONGEST_KEY if token.startswith(("[password", "[key")) else _LONGEST
