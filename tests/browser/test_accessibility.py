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
@pytest.mark.parametrize("name", ["index.html", "files.html", "batch.html"])
def test_axe_finds_nothing_on_the_other_pages(chromium: Any, examples: Path, axe: str, scheme: str, name: str) -> None:
    chromium.media("", prefers_color_scheme=scheme)
    chromium.size(1280, 900)
    chromium.open((examples / name).as_uri())
    chromium.read(f"{axe};1")
    assert chromium.read(RUN) == []
