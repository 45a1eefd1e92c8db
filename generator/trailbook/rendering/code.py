"""Code with its parts marked by class, through Pygments, bounded in size and time."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from trailbook.rendering.cleaning import clean, escape_text, text_html

if TYPE_CHECKING:
    from pygments.lexer import Lexer

LONGEST = 8_000
"""Characters of one block that are highlighted. Pygments is quadratic on hostile text: 8 KB take at most 2.5 s."""

DEADLINE_SECONDS = 0.25
"""How long one block may take; looked at between tokens. Only hostile text comes near it."""

# Names people and file names use → Pygments' lexer. Lexers with slow cases (make, yaml, console, perl, …) are left out.
LEXERS = {
    "bash": "bash", "sh": "bash", "shell": "bash", "zsh": "bash",
    "c": "c", "h": "c", "cpp": "cpp", "cc": "cpp", "hpp": "cpp", "c++": "cpp",
    "cs": "csharp", "csharp": "csharp", "css": "css", "scss": "scss",
    "dockerfile": "docker", "docker": "docker", "ex": "elixir", "exs": "elixir", "elixir": "elixir",
    "go": "go", "golang": "go", "graphql": "graphql", "hs": "haskell", "haskell": "haskell",
    "html": "html", "htm": "html", "svelte": "html", "vue": "html", "java": "java",
    "js": "javascript", "mjs": "javascript", "cjs": "javascript", "jsx": "javascript", "javascript": "javascript",
    "json": "json", "jsonc": "json", "jsonl": "json", "kt": "kotlin", "kotlin": "kotlin", "lua": "lua",
    "php": "php", "py": "python", "pyi": "python", "python": "python", "python3": "python", "pycon": "pycon",
    "rb": "ruby", "ruby": "ruby", "rs": "rust", "rust": "rust", "sql": "sql", "swift": "swift", "toml": "toml",
    "ts": "typescript", "tsx": "typescript", "typescript": "typescript", "xml": "xml", "svg": "xml",
    "yaml": "yaml", "yml": "yaml",
}  # fmt: skip

# Pygments' short class → the one letter the stylesheet knows; by longest prefix. Everything else is left plain.
_LETTERS = {
    "k": "k", "ow": "k", "c": "c", "s": "s", "m": "m", "l": "m", "nf": "f", "nc": "f", "nd": "f", "fm": "f",
    "nt": "k", "na": "f", "nb": "b", "bp": "b", "gp": "c", "kt": "b", "kc": "m", "cp": "b",
}  # fmt: skip


def language_of(name: str | None) -> str | None:
    """The language of a fence's info string or a file's name, None where it is not one that is highlighted."""
    if not name:
        return None
    word = name.strip().lower().rsplit("/", 1)[-1].rsplit(".", 1)[-1].split(" ")[0].split("{")[0]
    return LEXERS.get(word)


HIGHLIGHTED = 60_000
"""Characters of a report that are highlighted at most."""


@dataclass(slots=True)
class Budget:
    """How many characters of a report are still highlighted; what comes after them stays plain."""

    left: int = HIGHLIGHTED


def code_html(text: str, language: str | None, budget: Budget) -> str:
    """Code as HTML: cleaned, escaped, its keywords, strings and comments in `<span class="p-k">` and the like.

    `language` is a value of `LEXERS`, or None for plain. Text over `LONGEST` characters, or beyond the budget, stays
    plain.
    """
    if language is None or len(text) > min(LONGEST, budget.left):
        return text_html(text)
    budget.left -= len(text)
    return _highlighted(text, language)


@lru_cache(maxsize=256)
def _highlighted(text: str, language: str) -> str:
    text = clean(text)
    lexer, letters = _lexer(language)
    stop = time.monotonic() + DEADLINE_SECONDS
    pieces: list[str] = []
    letter, start = "", 0
    for number, (at, kind, value) in enumerate(lexer.get_tokens_unprocessed(text)):
        found = letters.get(kind)
        if found is None:
            found = letters[kind] = _letter(kind)
        if found != letter and not value.isspace():
            _add(pieces, letter, text[start:at])
            letter, start = found, at
            if number & 31 == 0 and time.monotonic() > stop:
                return escape_text(text)
    _add(pieces, letter, text[start:])
    return "".join(pieces)


@lru_cache(maxsize=64)
def _lexer(language: str) -> tuple[Lexer, dict[object, str]]:
    """A language's lexer, and the letters of the kinds of tokens that it has shown so far."""
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(language), {}


def _letter(kind: object) -> str:
    """The stylesheet's letter for a kind of token; empty for plain."""
    from pygments.token import STANDARD_TYPES

    token: Any = kind
    while token is not None and token not in STANDARD_TYPES:
        token = token.parent
    short = STANDARD_TYPES.get(token, "")
    return _LETTERS.get(short[:2]) or _LETTERS.get(short[:1]) or ""


def _add(pieces: list[str], letter: str, text: str) -> None:
    if text:
        escaped = escape_text(text)
        pieces.append(f'<span class="p-{letter}">{escaped}</span>' if letter else escaped)
