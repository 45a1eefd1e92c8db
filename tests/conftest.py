"""What every test shares: where things lie, and which tests may not be skipped."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
"""The same examples at each run, so that a run says something of the change; HYPOTHESIS_PROFILE=default searches on."""

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "example_logs"
SHARED = ROOT.parent / "shared"
"""Further samples and cases beside the checkout; tests over them skip where they are missing."""

REQUIRED = set(os.environ.get("TRAILBOOK_REQUIRE", "").split(","))


def skip_unless_required(what: str, why: str) -> None:
    """Skip a test whose means are missing, or fail it where `what` (`browsers`, `consumers`, `dask`) is required."""
    if what in REQUIRED:
        pytest.fail(f"{what} are required here, and {why}")
    pytest.skip(why)


@pytest.fixture(autouse=True, scope="session")
def _every_page_is_sound() -> Iterator[None]:
    """Whatever page a test has written, here or in a process forked of this one, is sound: see `pages.faults`."""
    from jinja2.sandbox import SandboxedEnvironment

    from pages import faults_once
    from trailbook.themes import Theme

    render = Theme.render

    def checked(theme: Theme, template: str, **values: Any) -> bytes:
        page = render(theme, template, **values)
        if not isinstance(theme.environment, SandboxedEnvironment):
            found = faults_once(page)
            assert not found, (template, found)
        return page

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Theme, "render", checked)
        yield
