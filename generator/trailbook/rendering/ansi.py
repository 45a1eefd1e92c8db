"""Terminal output: colours become classes, every other escape sequence goes."""

from __future__ import annotations

import re

from trailbook.rendering.cleaning import ESCAPE, STARTS_ESCAPE, text_html

_OVERSTRIKE = re.compile(r"(?:_|([^\n]))\x08(?(1)\1|([^\n]))")
_LONGEST_ESCAPE = 256

_FLAGS = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 9: "struck"}
_FLAGS_OFF = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 29: ("struck",)}
_CUBE = (0, 95, 135, 175, 215, 255)


def plain_terminal_text(text: str) -> str:
    """Terminal output without any escape sequence; a lone carriage return becomes a line end, overstriking goes."""
    return ESCAPE.sub("", _settle(text)) if STARTS_ESCAPE.search(text) else _settle(text)


def terminal_html(text: str) -> str:
    """Terminal output as HTML: SGR colours and styles as spans with classes, nothing of any other escape.

    Classes: `a-bold a-dim a-italic a-underline a-struck`, `a-f0` … `a-f15` and `a-b0` … `a-b15` for the sixteen colours
    (256 and true colours become the nearest of them).
    """
    text = _settle(text)
    if not STARTS_ESCAPE.search(text):
        return text_html(text)
    pieces: list[str] = []
    style: dict[str, str] = {}
    position = 0
    for match in ESCAPE.finditer(text):
        _add(pieces, text[position : match.start()], style)
        position = match.end()
        if match["final"] == "m":
            _apply(style, match["arguments"])
    _add(pieces, text[position:], style)
    return "".join(pieces)


def end_of_escape(text: str, at: int) -> int:
    """`at`, or the end of the escape sequence that stands across it: where a text may be cut without debris."""
    if "\x1b" not in text:
        return at
    for match in ESCAPE.finditer(text, max(0, at - _LONGEST_ESCAPE), at + _LONGEST_ESCAPE):
        if match.start() < at < match.end():
            return match.end()
    return at


def _settle(text: str) -> str:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _OVERSTRIKE.sub(lambda match: match[1] or match[2], text) if "\x08" in text else text


def _add(pieces: list[str], text: str, style: dict[str, str]) -> None:
    if not text:
        return
    if style:
        classes = " ".join(f"a-{name}" for name in sorted(style.values()))
        pieces.append(f'<span class="{classes}">{text_html(text)}</span>')
    else:
        pieces.append(text_html(text))


def _apply(style: dict[str, str], arguments: str) -> None:
    codes = [int(code) if code.isdecimal() and len(code) < 4 else 0 for code in re.split("[;:]", arguments)]
    while codes:
        code = codes.pop(0)
        if code == 0:
            style.clear()
        elif code in _FLAGS:
            style[_FLAGS[code]] = _FLAGS[code]
        elif code in _FLAGS_OFF:
            for name in _FLAGS_OFF[code]:
                style.pop(name, None)
        else:
            _apply_colour(style, code, codes)


def _apply_colour(style: dict[str, str], code: int, rest: list[int]) -> None:
    layer = "b" if code in range(40, 50) or code >= 100 else "f"
    base = code - (10 if layer == "b" else 0)
    if base == 38:
        colour = _extended_colour(rest)
    elif 30 <= base <= 37:
        colour = base - 30
    elif 90 <= base <= 97:
        colour = base - 82
    else:
        colour = None
        if base != 39:
            return
    if colour is None:
        style.pop(layer, None)
    else:
        style[layer] = f"{layer}{colour}"


def _extended_colour(rest: list[int]) -> int | None:
    kind = rest.pop(0) if rest else 0
    if kind == 5 and rest:
        number = rest.pop(0)
        if number < 16:
            return number
        if number < 232:
            red, rest_of_cube = divmod(number - 16, 36)
            return _nearest(_CUBE[min(red, 5)], _CUBE[rest_of_cube // 6], _CUBE[rest_of_cube % 6])
        return _nearest(*[(number - 232) * 10 + 8] * 3)
    if kind == 2 and len(rest) >= 3:
        return _nearest(rest.pop(0), rest.pop(0), rest.pop(0))
    return None


def _nearest(red: int, green: int, blue: int) -> int:
    brightest = max(red, green, blue)
    if brightest - min(red, green, blue) < 40:
        return (0, 8, 7, 15)[min(brightest // 64, 3)]
    bits = sum(bit for bit, value in ((1, red), (2, green), (4, blue)) if value > brightest / 2)
    return bits + (8 if brightest > 200 else 0)
