"""Pictures of the example pages, light and dark, wide and narrow: `python tests/browser/screenshots.py FOLDER`."""

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


def main(folder: Path) -> None:
    """Build the example logs and take each page's picture; of a report also at one of its steps."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        site = Path(made) / "site"
        build = [sys.executable, "-m", "trailbook", "build", "--logs", str(ROOT / "example_logs"), "--out", str(site)]
        subprocess.run([*build, "--tz", "UTC", "--yes", "--quiet"], check=True)
        browser = Chromium()
        try:
            for page in sorted(site.rglob("*.html")):
                for step in ("", "#l9") if page.parent.name == "reports" else ("",):
                    _take(browser, page, step, folder)
        finally:
            browser.close()


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
    main(Path(sys.argv[1]))
