"""`trailbook find`: words in the chats as all may see them, with the link to the step."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from conftest import EXAMPLES
from trailbook.cli import run

CHAT = "c_7k2m9q4x1b8d"
"""The example whose step 9 edits invoice.py; its first prompt has the words "since Monday"."""
LOGS = str(EXAMPLES / "conch")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built") / "site"
    assert run(["build", "--logs", LOGS, "--out", str(folder), "--tz", "UTC", "--yes", "--quiet"]) == 0
    return folder


def found(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capfd.readouterr()
    status = run(["find", *arguments, "--logs", LOGS, "--tz", "UTC"])
    printed = capfd.readouterr()
    return status, printed.out, printed.err


@pytest.mark.parametrize(
    ("words", "steps"),
    [
        (["SINCE monday"], [1]),
        (["since  Monday"], [1]),
        (["Monday", "since"], [1]),
        (["round(line.net * VAT, 2)"], [6, 9]),
        (["round(sum(line.net", "round(line.net * VAT"], [9]),
        (["There", "rounds **every line**"], [8]),
    ],
)
def test_a_step_is_found_that_has_all_the_words(
    capfd: pytest.CaptureFixture[str], words: list[str], steps: list[int]
) -> None:
    status, out, _err = found(capfd, *words)
    head, *rows = out.splitlines()
    assert status == 0
    assert head.startswith("Fix the invoice rounding test · 8 Oct 2026, 09:00 · " + CHAT)
    assert [int(row.split()[0]) for row in rows] == steps


def test_each_step_comes_with_its_link(capfd: pytest.CaptureFixture[str], site: Path) -> None:
    _status, out, _err = found(capfd, "round(sum(line.net", "round(line.net * VAT", "--out", str(site))
    link = urlsplit(re.findall(r"file://\S+", out)[0])
    page = Path(unquote(link.path)).read_text("utf-8")
    assert link.fragment == "s9"
    assert f'id="{link.fragment}"' in page


def test_what_is_taken_out_is_not_found(capfd: pytest.CaptureFixture[str]) -> None:
    logged = next(Path(LOGS).rglob(f"{CHAT}.jsonl")).read_text("utf-8")
    number = re.findall(r"\+1[ 0-9()-]{9,}\d|\+\d[ 0-9]{8,}\d", logged)[0]
    assert found(capfd, number)[0] == 1
    assert found(capfd, number, "--no-redact")[0] == 0
    assert found(capfd, "[phone]")[0] == 0


def test_nothing_found_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    assert found(capfd, "xyzzy", "plugh") == (1, "", "trailbook: No step has xyzzy and plugh.\n")


def test_a_folder_that_is_not_ours_is_said(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, _out, err = found(capfd, "Monday", "--out", str(tmp_path))
    assert status == 2
    assert "holds no reports that trailbook built" in err
