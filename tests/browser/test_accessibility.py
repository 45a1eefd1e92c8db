"""axe-core finds nothing on any kind of page, in light and dark, and text keeps its contrast under the veil."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from conftest import skip_unless_required

RUN = """axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    resultTypes: ['violations']}).then(r => r.violations.map(v => v.id + ': ' + v.nodes.slice(0, 3).map(
    n => n.html.slice(0, 160) + ' ' + n.any.concat(n.all).map(c => c.message).join(' ').slice(0, 200))))"""

COLOUR = "getComputedStyle(document.documentElement).getPropertyValue('%s')"


@pytest.fixture(scope="module")
def axe() -> str:
    """The source of axe-core, which a package of test tools brings."""
    spec = find_spec("axe_playwright_python")
    if spec is None or spec.origin is None:
        skip_unless_required("browsers", "axe-playwright-python is not installed")
        return ""
    return (Path(spec.origin).parent / "axe.min.js").read_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("state", ["", "#l3", "#all", "#play", "narrow"])
def test_axe_finds_nothing_on_a_report(chromium: Any, examples: Path, axe: str, scheme: str, state: str) -> None:
    chromium.media("", prefers_color_scheme=scheme)
    chromium.size(390 if state == "narrow" else 1280, 900)
    largest = sorted((examples / "reports").glob("*.html"), key=lambda path: -path.stat().st_size)[0]
    chromium.open(largest.as_uri())
    if state.startswith("#"):
        chromium.click(state)
    if state == "#play":
        chromium.click("#hold")
    chromium.read(f"{axe};1")
    assert chromium.read(RUN) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index.html", "files.html", "batch.html", "plain.html"])
def test_axe_finds_nothing_on_the_other_pages(chromium: Any, examples: Path, axe: str, scheme: str, name: str) -> None:
    chromium.media("", prefers_color_scheme=scheme)
    chromium.size(1280, 900)
    chromium.open((examples / name).as_uri())
    if name == "index.html":
        chromium.click(".filters summary")
    chromium.read(f"{axe};1")
    assert chromium.read(RUN) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("theme", ["nacre", "plain"])
def test_words_can_be_read_also_where_they_are_dimmed(chromium: Any, scheme: str, theme: str, examples: Path) -> None:
    page = examples / "plain.html" if theme == "plain" else next(examples.glob("reports/*.html"))
    chromium.media("", prefers_color_scheme=scheme)
    chromium.open(page.as_uri())
    paper, veil = chromium.read(f"[{COLOUR % '--bg'}, {COLOUR % '--veil'}]")
    dimmed = float(veil.rstrip("%")) / 100
    for name in ("--ink", "--quiet", "--fail"):
        ink = chromium.read(COLOUR % name)
        assert contrast(_channels(ink), _channels(paper)) >= 4.5, name
        through = [
            over * dimmed + under * (1 - dimmed) for over, under in zip(*map(_channels, (paper, ink)), strict=True)
        ]
        assert contrast(through, _channels(paper)) >= 4.5, f"{name} under the veil"
    for name in ("--you", "--think", "--say", "--tool", "--edit", "--wait", "--fail"):
        assert contrast(_channels(chromium.read(COLOUR % name)), _channels(paper)) >= 3, name


def contrast(one: list[float], other: list[float]) -> float:
    """The contrast of two colours (channels from 0 to 1) as WCAG 2.2 defines it."""
    lighter, darker = sorted(map(_luminance, (one, other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(channels: list[float]) -> float:
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _channels(colour: str) -> list[float]:
    digits = colour.strip().lstrip("#")
    digits = "".join(digit * 2 for digit in digits) if len(digits) == 3 else digits
    return [int(digits[start : start + 2], 16) / 255 for start in (0, 2, 4)]
