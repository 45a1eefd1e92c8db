"""Reads pages as a strict HTML5 parser does, and says what in them should not be there."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import html5lib

ELEMENTS = frozenset(
    re.findall(
        r"\w+",
        """html head meta title style body main header nav article section form fieldset legend ol ul li h1 h2 h3 h4 h5
        h6 p a b i u em strong small span bdi label input button div pre code del ins s dl dt dd details summary figure
        figcaption svg g path line rect text table thead tbody tr th td blockquote hr br img footer""",
    )
)
ATTRIBUTES = frozenset(
    re.findall(
        r"[\w-]+",
        """http-equiv content charset name lang dir class id href rel title for type checked autocomplete form tabindex
        role aria-label aria-labelledby aria-hidden aria-current open start width height viewBox x y x1 x2 y1 y2 d fill
        text-anchor preserveAspectRatio alt src""",
    )
)
_NAME = r"(?:[\w.%~-]|[^\x00-\x7f])+"
ADDRESS = re.compile(
    rf"(?:https?://|mailto:)|(?:\.\./)?(?:{_NAME}/)?{_NAME}\.(?:html|md)(?:#s\d+)?$|#[a-z]\w*$", re.IGNORECASE
)


def parse(page: bytes) -> Any:
    """The page's tree; fails where the page is no valid HTML5."""
    return html5lib.HTMLParser(tree=html5lib.getTreeBuilder("etree"), strict=True, namespaceHTMLElements=False).parse(
        page
    )


def text_of(html: str, element: str = "div") -> str:
    """What a person reads of a fragment."""
    tree = html5lib.parseFragment(f"<{element}>{html}</{element}>", namespaceHTMLElements=False)
    return "".join(tree.itertext())


def name_of(tag: object) -> str:
    """An element's name without its namespace."""
    return str(tag).rpartition("}")[2]


def faults(page: bytes, *, images: bool = False) -> list[str]:
    """Everything in a page that could run, load or send something, or that is not of our making."""
    tree = parse(page)
    return [*_head_faults(tree, images), *_element_faults(tree)]


_SOUND: set[bytes] = set()
_LARGE = 500_000
"""Bytes of a page beyond which the strict parser takes too long for every page of every test."""
_ACTS = re.compile(
    rb"<(?:script|iframe|object|embed|link|base)\b"
    rb"|<[a-z]\w*(?:\s[\w:-]+(?:=\"[^\"]*\")?)*?\s(?:on\w+|srcset|style|action|src(?!=\"data:))=",
    re.I,
)
"""An element that acts, or an attribute that does: one that stands in another's value is none."""


def faults_once(page: bytes) -> list[str]:
    """As `faults`, but a page that was found sound is not read again, and of a large one only what could act counts."""
    digest = sha256(page).digest()
    if digest in _SOUND:
        return []
    if len(page) > _LARGE:
        found = [each.decode() for each in _ACTS.findall(page)]
    else:
        found = faults(page, images=b"img-src data:" in page[:1_000])
    if not found:
        _SOUND.add(digest)
    return found


def _head_faults(tree: Any, images: bool) -> Iterator[str]:
    head = tree.find("head")
    first = head[0]
    if first.get("http-equiv") != "Content-Security-Policy":
        yield "the policy does not stand first in the head"
    if len(tree.findall(".//meta[@http-equiv]")) != 1:
        yield "more than one http-equiv"
    style = "".join(tree.find(".//style").itertext())
    source = f"'sha256-{b64encode(sha256(style.encode()).digest()).decode()}'"
    pictures = " img-src data:;" if images else ""
    policy = f"default-src 'none'; style-src {source};{pictures} base-uri 'none'; form-action 'none'"
    if first.get("content") != policy:
        yield f"the policy is {first.get('content')}, not {policy}"
    if len(tree.findall(".//style")) != 1:
        yield "more than one stylesheet"


def _element_faults(tree: Any) -> Iterator[str]:
    for element in tree.iter():
        if not isinstance(element.tag, str):
            yield f"a comment: {element.text}"
            continue
        if name_of(element.tag) not in ELEMENTS:
            yield f"<{name_of(element.tag)}>"
        for name, value in element.attrib.items():
            if name not in ATTRIBUTES and not re.fullmatch(r"data-[a-z]+", name):
                yield f"{name} on <{name_of(element.tag)}>"
            if name == "href" and not ADDRESS.match(value):
                yield f"a link to {value!r}"
            if name == "src" and not re.fullmatch(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+", value):
                yield f"a source {value[:60]!r}"
