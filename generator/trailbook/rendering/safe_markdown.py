"""A chat's words as Markdown that means what it meant and nothing more, in whatever program reads it.

The words are parsed and written anew: so nothing in them can load, run, pose as the note's own headings, or end a
fence that is around them, with HTML switched on or off.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from markdown_it.token import Token

from trailbook.rendering.ansi import plain_terminal_text
from trailbook.rendering.cleaning import clean
from trailbook.rendering.code import LEXERS
from trailbook.rendering.markdown import parse_markdown

_RUN = {"`": re.compile("`+"), "~": re.compile("~+")}
_SPECIAL = re.compile(r"[\\`*<>\[\]|~$^]|(?<![^\W_])_|_(?![^\W_])|&(?=[#\w])|%(?=%)|=(?==)|#(?=\w)|!(?=\[)")
_LINE_START = re.compile(r"^([ \t]*)([#+=-]|\d{1,9}(?=[.)]))", re.MULTILINE)
_BARE_BAR = re.compile(r"(?<!\\)\|")
_RUNS_AS_CODE = re.compile(r"\s*\$?=")
_FENCE_LANGUAGES = frozenset(LEXERS) | {"diff", "text", "console", "ini", "makefile", "markdown", "md", "perl", "csv"}


# Where none of this stands, words can be left as they are: no link, picture, HTML, table, heading, fence or formula.
_CAN_DO_MORE = re.compile(
    r"[<\[\]\\$%|~^#=&]|```|`\s*\$?=|^(?: {4}|\t)|^[ \t]*[-=]{2,}[ \t]*$|^[ \t]*[*_-][*_ \t-]+$", re.MULTILINE
)


def safe_markdown(text: str) -> str:
    """Words as Markdown of our own making: paragraphs, lists, quotes, code, tables, links to http, https and mailto.

    Headings become bold lines, pictures the words `[image: alt · address]`, everything else that could mean something
    is escaped. Words that are too long to be parsed stand in a fence. Ends without a line end.
    """
    if not _CAN_DO_MORE.search(text):
        return clean(text, prose=True).strip()
    tokens = parse_markdown(text)
    if tokens is None:
        return fenced(text)
    return "\n".join(_blocks(tokens)).strip("\n")


def escape_markdown(text: str) -> str:
    """Any text as Markdown that reads as that text, on one line or several."""
    text = _SPECIAL.sub(r"\\\g<0>", clean(text, prose=True))
    return _LINE_START.sub(_escape_start, text)


def inline(text: str) -> str:
    """Any text as one line of Markdown."""
    return escape_markdown(" ".join(text.split()))


def inline_code(text: str) -> str:
    """Any text as a code span; as escaped text where a note program would run it (`= …`, `$= …`)."""
    text = " ".join(clean(text).split("\n"))
    if not text.strip() or _RUNS_AS_CODE.match(text):
        return escape_markdown(text)
    ticks = "`" * (_longest_run(text, "`") + 1)
    space = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def fenced(text: str, language: str = "") -> str:
    """Any text in a fence longer than every run of backticks in it, escape sequences removed."""
    text = clean(plain_terminal_text(text)).strip("\n")
    fence = "`" * max(3, _longest_run(text, "`") + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def quoted(markdown: str) -> str:
    """Markdown as a quotation."""
    return "\n".join(f"> {line}" if line else ">" for line in markdown.split("\n"))


def _longest_run(text: str, character: str) -> int:
    return max((len(run) for run in _RUN[character].findall(text)), default=0)


def _escape_start(match: re.Match[str]) -> str:
    start, sign = match.groups()
    return f"{start}{sign}\\" if sign.isdecimal() else f"{start}\\{sign}"


# --- blocks: each yields lines, and blocks are set apart by an empty one


def _blocks(tokens: Sequence[Token]) -> Iterator[str]:
    index = 0
    while index < len(tokens):
        end = _end_of(tokens, index)
        yield from _BLOCKS.get(tokens[index].type, _other)(tokens[index : end + 1])
        yield ""
        index = end + 1


def _end_of(tokens: Sequence[Token], index: int) -> int:
    """The index of the token that closes this one."""
    depth = 0
    for at in range(index, len(tokens)):
        depth += tokens[at].nesting
        if depth <= 0:
            return at
    return len(tokens) - 1


def _paragraph(tokens: Sequence[Token]) -> Iterator[str]:
    yield from _inline(tokens[1].children or []).split("\n")


def _heading(tokens: Sequence[Token]) -> Iterator[str]:
    words = _inline(tokens[1].children or []).replace("\n", " ").replace("**", "").strip()
    if words:
        yield f"**{words}**"


def _code(tokens: Sequence[Token]) -> Iterator[str]:
    language = tokens[0].info.strip().split(" ")[0].lower() if tokens[0].info else ""
    yield from fenced(tokens[0].content, language if language in _FENCE_LANGUAGES else "").split("\n")


def _quote(tokens: Sequence[Token]) -> Iterator[str]:
    yield from quoted("\n".join(_blocks(tokens[1:-1])).strip("\n")).split("\n")


def _list(tokens: Sequence[Token]) -> Iterator[str]:
    ordered = tokens[0].type == "ordered_list_open"
    number = int(tokens[0].attrs.get("start", 1)) if ordered else 0
    index = 1
    while index < len(tokens) - 1:
        end = _end_of(tokens, index)
        lines = "\n".join(_blocks(tokens[index + 1 : end])).strip("\n").split("\n")
        sign = f"{number}." if ordered else "*"
        indent = " " * (len(sign) + 1)
        yield f"{sign} {lines[0]}".rstrip()
        yield from (indent + line if line else "" for line in lines[1:])
        number, index = number + 1, end + 1


def _table(tokens: Sequence[Token]) -> Iterator[str]:
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(_BARE_BAR.sub(r"\|", _inline(token.children or []).replace("\n", " ")))
    for number, row in enumerate(rows):
        yield f"| {' | '.join(row)} |"
        if number == 0:
            yield "|" + " --- |" * len(row)


def _rule(_tokens: Sequence[Token]) -> Iterator[str]:
    yield "* * *"


def _other(tokens: Sequence[Token]) -> Iterator[str]:
    yield from escape_markdown("".join(token.content for token in tokens)).split("\n")


_BLOCKS: dict[str, Callable[[Sequence[Token]], Iterator[str]]] = {
    "paragraph_open": _paragraph,
    "heading_open": _heading,
    "fence": _code,
    "code_block": _code,
    "blockquote_open": _quote,
    "bullet_list_open": _list,
    "ordered_list_open": _list,
    "table_open": _table,
    "hr": _rule,
}

# --- inline

_MARKS = {"em_open": "*", "em_close": "*", "strong_open": "**", "strong_close": "**", "s_open": "~~", "s_close": "~~"}


def _inline(tokens: Sequence[Token]) -> str:
    pieces: list[str] = []
    address = ""
    for token in tokens:
        if token.type in ("text", "text_special", "html_inline"):
            pieces.append(_SPECIAL.sub(r"\\\g<0>", token.content))
        elif token.type == "code_inline":
            pieces.append(inline_code(token.content))
        elif token.type == "softbreak":
            pieces.append("\n")
        elif token.type == "hardbreak":
            pieces.append("\\\n")
        elif token.type in _MARKS:
            pieces.append(_MARKS[token.type])
        elif token.type == "link_open":
            address = str(token.attrs.get("href", ""))
            pieces.append("[")
        elif token.type == "link_close":
            pieces.append(f"](<{_address(address)}>)")
        elif token.type == "image":
            pieces.append(_image(token))
    return _LINE_START.sub(_escape_start, "".join(pieces))


def _image(token: Token) -> str:
    words = "".join(child.content for child in token.children or ())
    told = " · ".join(part for part in (words, str(token.attrs.get("src", ""))) if part)
    return inline(f"[image: {told}]")


def _address(address: str) -> str:
    return re.sub(r"[<>\\\s\x00-\x1f]", lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), address)
