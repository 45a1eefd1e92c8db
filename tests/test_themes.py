"""Themes: found, checked, overridden file by file; the stylesheet of a kind of page is one and constant."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import ROOT
from full_chat import each_of_its_own, full_chat
from pages import faults, parse
from trailbook.failures import USAGE, Stopped
from trailbook.formats import Output, Sheet
from trailbook.themes import default_folder, load_theme
from trailbook.writers.batch import write_batch
from trailbook.writers.index import row_of, write_index
from trailbook.writers.report import write_report

PLAIN = default_folder().parent / "plain"


def test_the_default_theme_is_found_from_a_checkout() -> None:
    assert default_folder() == ROOT / "themes" / "nacre"


def test_every_page_of_the_plain_theme_is_sound_and_has_every_step() -> None:
    sheet = Sheet(Output(theme=PLAIN), "report", subagents={"below": "below"})
    chat = full_chat(each_of_its_own)
    (page,) = write_report(chat, sheet)
    assert faults(page.data) == []
    assert len([item for item in parse(page.data).iter("li") if item.get("data-kind")]) == 24
    assert not list(parse(page.data).iter("input"))
    assert faults(write_batch([chat], sheet)) == []
    for piece in write_index([row_of(chat, sheet)], [], sheet.output):
        assert faults(piece.data) == []


def test_a_folder_with_only_a_stylesheet_is_a_theme(tmp_path: Path) -> None:
    style = (default_folder() / "style.css").read_text().replace("#faf9f7", "#f0f0ff")
    (tmp_path / "style.css").write_text(style)
    theme = load_theme(tmp_path)
    assert "#f0f0ff" in theme.styles["report"].text
    assert theme.styles["report"].source != load_theme(None).styles["report"].source
    (page,) = write_report(full_chat(each_of_its_own), Sheet(Output(theme=tmp_path), "report"))
    assert faults(page.data) == []


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        (None, "There is no folder"),
        ({}, "is no theme"),
        ({"notes.txt": "x"}, "is no theme"),
        (
            {"step.html": "{% macro step(view, near) %}{{ view.nothing }}{% endmacro %}"},
            "A template of the theme is wrong",
        ),
        ({"report.html": "{% if %}"}, r"A template of the theme is wrong \(report.html, line 1\)"),
        ({"step.html": "{% macro other() %}{% endmacro %}"}, "has no macro step"),
        ({"style.css": "</style><script>"}, "would end the stylesheet"),
        ({"style.css": b"\xff"}, "could not be read"),
    ],
)
def test_a_folder_that_is_no_theme_is_refused_in_a_sentence(
    tmp_path: Path, files: dict[str, str | bytes] | None, sentence: str
) -> None:
    folder = tmp_path / "theme"
    if files is not None:
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(Stopped, match=sentence) as stopped:
        write_report(full_chat(each_of_its_own), Sheet(Output(theme=folder), "report"))
    assert stopped.value.status == USAGE


def test_no_chat_changes_a_stylesheet() -> None:
    styles = set()
    for words in ("a", "}*{color:red}", "</style>"):
        (page,) = write_report(full_chat(lambda _name, words=words: words), Sheet(Output(), "report"))  # type: ignore[misc]
        styles.add(re.search(rb"<style>.*?</style>", page.data, re.DOTALL)[0])  # type: ignore[index]
    assert len(styles) == 1


def test_a_stylesheet_loads_nothing() -> None:
    for theme in (load_theme(None), load_theme(PLAIN)):
        for style in theme.styles.values():
            assert not re.search(r"url\(|@import|@font-face", style.text)


@pytest.mark.parametrize(
    "code",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ chat.title.format.__globals__ }}",
        "{{ cycler.__init__.__globals__.os.system('touch ran') }}",
    ],
)
def test_a_theme_of_somebody_else_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "theme").mkdir()
    (tmp_path / "theme" / "report.html").write_text(code)
    with pytest.raises(Stopped, match="theme is wrong"):
        write_report(full_chat(each_of_its_own), Sheet(Output(theme=tmp_path / "theme"), "report"))
    assert not (tmp_path / "ran").exists()
