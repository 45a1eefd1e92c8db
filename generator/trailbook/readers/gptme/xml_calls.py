"""Calls written as XML: `<tool-use><shell>…</shell></tool-use>` and `<function_calls><invoke name="shell">…`.

Where a whole text is well-formed, what gptme ran is known exactly. Where it is not, gptme with lxml ran it all the
same, without lxml not: a result that follows tells which.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from xml.etree import ElementTree

_GROUPS = (
    ("<tool-use>", "</tool-use>", re.compile(r"<([A-Za-z_][\w.-]*)((?:\s[^<>]*)?)(/?)>")),
    ("<function_calls>", "</function_calls>", re.compile(r"<(invoke)((?:\s[^<>]*)?)(/?)>")),
)
_ATTRIBUTE = re.compile(r"""([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_CDATA = re.compile(r"\s*<!\[CDATA\[(.*?)\]\]>\s*", re.DOTALL)


@dataclass(slots=True)
class Element:
    """A call as an element of a text, from `start` up to `end`."""

    name: str
    values: list[str]
    """The values of its attributes, in order."""
    text: str
    start: int
    end: int
    tag: int
    """Where its own tag begins; `start` and `end` take in the tags around it."""


def xml_calls(text: str, *, answered: bool) -> list[Element]:
    """The calls in a text; `answered` says that results follow it."""
    elements = [element for group in _GROUPS for element in _children(text, *group)]
    if not elements:
        return []
    known = _well_formed(text)
    if known is None:
        return _in_order(text, elements) if answered else []
    if len(known) == len(elements):
        for element, (name, values, words) in zip(elements, known, strict=True):
            element.name, element.values, element.text = name, values, words
    return _in_order(text, elements) if known else []


def _in_order(text: str, elements: list[Element]) -> list[Element]:
    """As gptme runs them: by where their name first stands in the text, so that one tool's calls come together."""
    first = {shape: text.find(shape) for shape in {_shape(text, element) for element in elements}}
    return sorted(elements, key=lambda element: first[_shape(text, element)])


def _shape(text: str, element: Element) -> str:
    named = text.startswith("<invoke", element.tag) and element.name != "invoke"
    return f'<invoke name="{element.name}"' if named else f"<{element.name}"


def _children(text: str, opening: str, closing: str, child: re.Pattern[str]) -> Iterator[Element]:
    at = 0
    while (begin := text.find(opening, at)) >= 0:
        end = text.find(closing, begin)
        if end < 0:
            return
        at = begin + len(opening)
        elements = []
        while (match := child.search(text, at, end)) is not None:
            name, attributes, empty = match.groups()
            stop = match.end() if empty else _end(text, name, match.end(), end)
            inner = "" if empty else text[match.end() : stop].removesuffix(f"</{name}>")
            elements.append(_element(name, attributes, inner, match.start(), stop))
            at = stop
        at = end + len(closing)
        if elements and not text[begin + len(opening) : elements[0].start].strip():
            elements[0].start = begin
        if elements and not text[elements[-1].end : end].strip():
            elements[-1].end = at
        yield from elements


def _end(text: str, name: str, at: int, most: int) -> int:
    """Where an element ends: behind its closing tag, elements of its own name within it counted."""
    depth = 1
    for match in re.compile(rf"<(/?){re.escape(name)}(?=[\s>])[^>]*>").finditer(text, at, most):
        depth += -1 if match.group(1) else 1
        if depth == 0:
            return match.end()
    closing = text.find(f"</{name}>", at, most)
    return closing + len(name) + 3 if closing >= 0 else most


def _element(name: str, attributes: str, inner: str, start: int, end: int) -> Element:
    cdata = _CDATA.fullmatch(inner)
    words = (cdata.group(1) if cdata else unescape(inner)).strip()
    pairs = [(key, unescape(double or single)) for key, double, single in _ATTRIBUTE.findall(attributes)]
    if name == "invoke":
        called = next((value for key, value in pairs if key == "name"), "")
        pairs = [(key, value) for key, value in pairs if key != "name"]
        name = called or name
    return Element(name, [value for _, value in pairs], words, start, end, start)


def _well_formed(text: str) -> list[tuple[str, list[str], str]] | None:
    """Name, attributes' values and words of each call, as an XML parser has them; None for a text that is no XML."""
    try:
        tree = ElementTree.fromstring(f"<root>{text}</root>")
    except (ElementTree.ParseError, ValueError, RecursionError):
        return None
    found = []
    for group in tree.findall(".//tool-use"):
        found += [(child.tag, list(child.attrib.values()), _words(child)) for child in group]
    for group in tree.findall(".//function_calls"):
        for call in group.findall(".//invoke"):
            name = call.get("name")
            if name:
                values = [value for key, value in call.attrib.items() if key != "name"]
                found.append((name, values, _words(call)))
    return found


def _words(element: ElementTree.Element) -> str:
    return "".join(element.itertext()).strip()
