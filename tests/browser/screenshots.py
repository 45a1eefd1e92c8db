"""Pictures of the example pages, light and dark, wide and narrow: `python tests/browser/screenshots.py FOLDER`.

Without a folder: the README's two small ones, in `tests/browser/pictures/`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from browser.browsers import Chromium

ROOT = Path(__file__).resolve().parent.parent.parent
SIZES = ((1280, 860), (390, 800))
SCHEMES = ("light", "dark")
PICTURES = Path(__file__).parent / "pictures"
SMALL = (1080, 640)


def main(folder: Path | None) -> None:
    """Build the example logs and take each page's picture (of a report also at one of its steps), or the README's."""
    with tempfile.TemporaryDirectory() as made:
        site = Path(made) / "site"
        build = [sys.executable, "-m", "trailbook", "build", "--logs", str(ROOT / "example_logs"), "--out", str(site)]
        subprocess.run([*build, "--tz", "UTC", "--yes", "--quiet"], check=True)
        browser = Chromium()
        try:
            _take_small(browser, site) if folder is None else _take_all(browser, site, folder)
        finally:
            browser.close()


def _take_small(browser: Chromium, site: Path) -> None:
    PICTURES.mkdir(exist_ok=True)
    browser.size(*SMALL)
    browser.open(next(site.glob("reports/*fix-the-invoice*.html")).as_uri())
    browser.click("#l9")
    browser.pause(0.3)
    browser.picture(PICTURES / "report.png")
    browser.open((site / "index.html").as_uri())
    browser.picture(PICTURES / "index.png")


def _take_all(browser: Chromium, site: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for page in sorted(site.rglob("*.html")):
        for step in ("", "#l9") if page.parent.name == "reports" else ("",):
            _take(browser, page, step, folder)


def _take(browser: Chromium, page: Path, step: str, folder: Path) -> None:
    for scheme in SCHEMES:
        browser.media("", prefers_color_scheme=scheme)
        for width, height in SIZES:
            browser.size(width, height)
            browser.open(page.as_uri())
            if step and browser.read(f"!!document.querySelector('{step}')"):
                browser.click(step)
                browser.pause(0.3)
            browser.picture(folder / f"{page.stem}{step.replace('#l', '-step-')}-{width}-{scheme}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
