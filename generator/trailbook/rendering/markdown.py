"""An agent's Markdown as safe HTML: no raw HTML, no picture that loads, no heading that poses as the page's own."""

from __future__ import annotations

import re
from collections.abc import Callable, MutableMapping, Sequence
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from trailbook.rendering.cleaning import clean, escape, text_html
from trailbook.rendering.code import Budget, code_html, language_of

LONGEST = 64_000
"""Characters of one message that are read as Markdown; a longer one is shown as it stands."""

LONGEST_KEPT = 4_000
"""Characters of a message whose tokens are kept, because the report and the note both need them."""

LONGEST_LINK = 2_000
"""Characters of a link's address; a longer one is no link."""

_LINK = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_TABLE_RULE = re.compile(r"^[ >|:-]*-[ |:]*$", re.MULTILINE)
_ALIGNED = re.compile(r"text-align:(left|center|right)")

# Where none of this stands, Markdown means nothing but paragraphs.
_MARKED = re.compile(
    r"[*_`\[\]\\<>&!~|]|^[ \t]*(?:[#+=-]|\d+[.)])|^ |\t| $|[\r\x00\ud800-\udfff]|https?:|www\.|@",
    re.MULTILINE,
)


def markdown_html(text: str, budget: Budget) -> str:
    """One message as HTML, safe to stand in the page.

    Raw HTML is shown as text, links lead to http, https and mailto only, a picture becomes the words
    `[image: alt · address]`, headings start at `<h3>` and skip no level. What `parse_markdown` refuses is shown as it
    stands.
    """
    if is_plain(text):
        return _paragraphs(clean(text, prose=True))
    tokens = parse_markdown(text)
    if tokens is None:
        return as_it_stands(clean(text, prose=True))
    parser = _parser()
    html: str = parser.renderer.render(tokens, parser.options, {"budget": budget})
    return html


def is_plain(text: str) -> bool:
    """Whether Markdown means nothing in this text but paragraphs."""
    return not _MARKED.search(text)


def parse_markdown(text: str) -> list[Token] | None:
    """The tokens of one message, cleaned, with headings from level 3; not to be changed.

    None for what is longer than `LONGEST`, or would grow far beyond its own length (wide tables, an address defined
    once and used a thousand times).
    """
    return _parse_and_keep(text) if len(text) <= LONGEST_KEPT else _parse(text)


@lru_cache(maxsize=2_048)
def _parse_and_keep(text: str) -> list[Token] | None:
    return _parse(text)


def _parse(text: str) -> list[Token] | None:
    text = clean(text, prose=True)
    if len(text) > LONGEST or _table_grows(text):
        return None
    tokens = _parser().parse(text)
    if _addresses_grow(tokens, len(text)):
        return None
    _shift_headings(tokens)
    _demote_empty_heads(tokens)
    return tokens


def as_it_stands(text: str) -> str:
    """Words that are not read as Markdown: their own lines, wrapped."""
    return f'<pre class="words">\n{text_html(text, prose=True)}</pre>\n'


def _paragraphs(text: str) -> str:
    blocks = (block for block in re.split(r"\n\n+", text.strip("\n")) if block)
    return "".join(f'<p dir="auto">{text_html(block, prose=True)}</p>\n' for block in blocks)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("js-default", {"html": False, "linkify": False, "typographer": False, "maxNesting": 20})
    parser.disable(["linkify", "replacements", "smartquotes"], ignoreInvalid=True)
    parser.validateLink = _may_link  # type: ignore[method-assign,assignment]
    rules: dict[str, Callable[..., str]] = {
        "fence": _fence,
        "code_block": _fence,
        "image": _image,
        "link_open": _link_open,
        "table_open": _table_open,
        "table_close": _table_close,
        "th_open": _cell_open,
        "td_open": _cell_open,
        "paragraph_open": _directed,
        "heading_open": _directed,
        "list_item_open": _directed,
        "blockquote_open": _directed,
    }
    for name, rule in rules.items():
        parser.add_render_rule(name, rule)
    return parser


def _may_link(address: str) -> bool:
    return len(address) <= LONGEST_LINK and _LINK.match(address) is not None


def _shift_headings(tokens: list[Token]) -> None:
    """Headings start at level 3 (the page's own are 1 and 2) and never skip a level."""
    level = 2
    for token in tokens:
        if token.type == "heading_open":
            level = min(int(token.tag[1]) + 2, level + 1, 6)
            token.tag = f"h{level}"
        elif token.type == "heading_close":
            token.tag = f"h{level}"


def _demote_empty_heads(tokens: list[Token]) -> None:
    """The head of a column without words is an ordinary cell: nobody could be told what it heads."""
    for index, token in enumerate(tokens):
        if token.type == "th_open" and not tokens[index + 1].content:
            token.tag = tokens[index + 2].tag = "td"


def _table_grows(text: str) -> bool:
    """Whether a table has far more cells than its text has marks: every short row is filled up to the head's width."""
    if "|" not in text and "-" not in text:
        return False
    for rule in _TABLE_RULE.finditer(text):
        columns = rule.group().count("|") + 1
        end = text.find("\n\n", rule.end())
        body = text[rule.end() : end if end >= 0 else len(text)]
        if columns * (body.count("\n") + 1) > 4 * (body.count("|") + body.count("\n") + columns + 8):
            return True
    return False


def _addresses_grow(tokens: Sequence[Token], length: int) -> bool:
    written = sum(
        len(str(child.attrs.get("href", child.attrs.get("src", ""))))
        for token in tokens
        for child in token.children or ()
        if child.attrs
    )
    return written > 2 * length + 4_000


# --- rules of the renderer: (renderer, tokens, index, options, environment) → HTML

Options = MutableMapping[str, Any]


def _fence(_self: RendererHTML, tokens: Sequence[Token], index: int, _options: Options, env: Any) -> str:
    token = tokens[index]
    language = language_of(token.info.strip().split(" ")[0]) if token.info else None
    code = code_html(token.content.removesuffix("\n"), language, env["budget"])
    return f'<pre class="code" tabindex="0" role="group" aria-label="Code">\n{code}</pre>\n'


def _image(self: RendererHTML, tokens: Sequence[Token], index: int, options: Options, env: Any) -> str:
    token = tokens[index]
    words = self.renderInlineAsText(token.children, options, env) if token.children else ""  # type: ignore[arg-type]
    parts = " · ".join(part for part in (words, str(token.attrs.get("src", ""))) if part)
    return f'<span class="image">[image: {escape(parts, prose=True)}]</span>'


def _link_open(_self: RendererHTML, tokens: Sequence[Token], index: int, _options: Options, _env: object) -> str:
    address = str(tokens[index].attrs.get("href", ""))
    return f'<a href="{escape(address)}" rel="noreferrer noopener">'


def _table_open(_self: RendererHTML, _tokens: Sequence[Token], _index: int, _options: Options, _env: object) -> str:
    return '<div class="table" tabindex="0" role="group" aria-label="Table"><table>\n'


def _table_close(_self: RendererHTML, _tokens: Sequence[Token], _index: int, _options: Options, _env: object) -> str:
    return "</table></div>\n"


def _cell_open(_self: RendererHTML, tokens: Sequence[Token], index: int, _options: Options, _env: object) -> str:
    tag = tokens[index].tag
    aligned = _ALIGNED.search(str(tokens[index].attrs.get("style", "")))
    return f'<{tag} class="{aligned[1]}">' if aligned else f"<{tag}>"


def _directed(self: RendererHTML, tokens: Sequence[Token], index: int, options: Options, env: Any) -> str:
    token = tokens[index]
    if not token.hidden:
        token.attrs["dir"] = "auto"
    return self.renderToken(tokens, index, options, env)  # type: ignore[arg-type]
