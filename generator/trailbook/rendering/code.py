"""Code with its parts marked by class, through Pygments, bounded in size and time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import lru_cache

from trailbook.rendering.cleaning import clean, escape

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


@lru_cache(maxsize=2_048)
def code_html(text: str, language: str | None) -> str:
    """Code as HTML: cleaned, escaped, its keywords, strings and comments in `<span class="p-k">` and the like.

    `language` is a value of `LEXERS`, or None for plain. Text over `LONGEST` characters stays plain.
    """
    if language is None or len(text) > LONGEST:
        return escape(text)
    stop = time.monotonic() + DEADLINE_SECONDS
    pieces: list[str] = []
    letter: str | None = None
    run: list[str] = []
    for kind, value in _tokens(clean(text), language):
        if time.monotonic() > stop:
            return escape(text)
        if kind != letter and not value.isspace():
            _add(pieces, letter, run)
            letter, run = kind, []
        run.append(value)
    _add(pieces, letter, run)
    return "".join(pieces)


def _tokens(text: str, language: str) -> Iterator[tuple[str | None, str]]:
    for kind, value in _lexer(language).get_tokens(text):
        yield _letter(kind), value


@lru_cache(maxsize=64)
def _lexer(language: str):  # type: ignore[no-untyped-def]  # Pygments' own types differ by version
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(language, stripnl=False, ensurenl=False)


@lru_cache(maxsize=512)
def _letter(kind: object) -> str | None:
    from pygments.token import STANDARD_TYPES

    token = kind
    while token is not None and token not in STANDARD_TYPES:
        token = getattr(token, "parent", None)
    short = STANDARD_TYPES.get(token, "")  # type: ignore[call-overload]
    for length in (2, 1):
        if short[:length] in _LETTERS:
            return _LETTERS[short[:length]]
    return None


def _add(pieces: list[str], letter: str | None, run: list[str]) -> None:
    if not run:
        return
    text = escape("".join(run))
    pieces.append(f'<span class="p-{letter}">{text}</span>' if letter else text)
