"""The replay as a person drives it, by keyboard and pointer, in both browsers, from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

CHOSEN = "(document.querySelector('.st > input:checked') || {}).id"
FOCUSED = "document.activeElement.id"
VISIBLE_DETAILS = """[...document.querySelectorAll('.st > .det')].filter(e => e.getClientRects().length)
    .map(e => e.parentElement.querySelector('input').id)"""
TALLY = """[...document.querySelectorAll('.now > p > span')].filter(e => { const b = e.getBoundingClientRect();
    return b.height && b.top >= 0 && b.top < innerHeight && getComputedStyle(e).visibility == 'visible'; })
    .map(e => e.textContent)"""
ON_TOP = """(() => { const b = document.elementFromPoint(innerWidth - 120, innerHeight - 60).closest('.st');
    return b && b.querySelector('input').id; })()"""


@pytest.fixture
def page(examples: Path) -> str:
    """The report of a chat with more than twenty steps and several turns."""
    pages = sorted((examples / "reports").glob("*.html"), key=lambda path: -path.stat().st_size)
    return pages[0].as_uri()


def steps(browser: Any) -> int:
    return int(browser.read("document.querySelectorAll('li[data-kind]').length"))


def test_a_page_opens_at_the_whole_run(browser: Any, page: str) -> None:
    browser.open(page)
    assert browser.read(CHOSEN) == "s0"
    assert browser.read(VISIBLE_DETAILS) == ["s0"]
    (tally,) = browser.read(TALLY)
    assert tally.startswith("In all: ")
    assert f"{steps(browser)} of {steps(browser)} steps" in tally
    assert browser.messages() == []


def test_arrow_keys_step_and_wrap(browser: Any, page: str) -> None:
    browser.open(page)
    browser.click("#l1")
    assert browser.read(CHOSEN) == "s1"
    browser.key("ArrowDown")
    browser.key("ArrowDown")
    assert browser.read(CHOSEN) == "s3"
    assert browser.read(VISIBLE_DETAILS) == ["s3"]
    (tally,) = browser.read(TALLY)
    assert tally.startswith("By here: ")
    assert f"3 of {steps(browser)} steps" in tally
    browser.key("ArrowUp")
    assert browser.read(CHOSEN) == "s2"
    for _ in range(3):
        browser.key("ArrowUp")
    assert browser.read(CHOSEN) == f"s{steps(browser)}"
    assert browser.messages() == []


def test_the_axis_the_turns_and_the_buttons_lead_to_steps(browser: Any, page: str) -> None:
    browser.open(page)
    browser.click(".cells > :last-child")
    assert browser.read(CHOSEN) == f"s{steps(browser)}"
    browser.click(".turn:not(.first) .jump label")
    first = browser.read("document.querySelector('.turn:not(.first) .jump label').htmlFor")
    assert browser.read(CHOSEN) == first
    browser.click(f"#{first} ~ .now label[title='Next step']")
    assert browser.read(CHOSEN) == f"s{int(first[1:]) + 1}"
    browser.click("button[type=reset]")
    assert browser.read(CHOSEN) == "s0"


def test_an_address_opens_at_its_step(browser: Any, page: str) -> None:
    browser.open(f"{page}#s5")
    assert browser.read(FOCUSED) == "s5"
    assert browser.read(ON_TOP) == "s5"
    assert any("5 of" in tally for tally in browser.read(TALLY))
    browser.key("ArrowDown")
    assert browser.read(CHOSEN) == "s6"
    assert browser.read(ON_TOP) == "s6"


def test_later_steps_are_dimmed(browser: Any, page: str) -> None:
    browser.open(page)
    browser.click("#l2")
    above = "document.querySelector('#s2 ~ .veil').getBoundingClientRect().top"
    assert browser.read(f"{above} >= document.querySelector('#l2').getBoundingClientRect().bottom - 1")
    assert browser.read(f"{above} <= document.querySelector('#l3').getBoundingClientRect().top + 1")


def test_play_goes_through_the_steps_and_can_be_held(browser: Any, page: str) -> None:
    browser.open(page)
    browser.click("#l1")
    browser.click("#play")
    seen = set()
    for _ in range(12):
        browser.pause(0.3)
        seen.update(number.split(" of ")[0].rsplit(" ", 1)[-1] for number in browser.read(TALLY))
    assert {"1", "2", "3"} <= seen
    browser.click("#hold")
    held = browser.read(TALLY)
    browser.pause(1.7)
    assert browser.read(TALLY) == held
    browser.click("#play")
    assert browser.read(CHOSEN) == "s1"
    assert browser.messages() == []


@pytest.mark.parametrize(("speed", "least"), [("x2", 3), ("x4", 5)])
def test_play_is_as_fast_as_is_asked(chromium: Any, page: str, speed: str, least: int) -> None:
    chromium.open(page)
    chromium.click("#l1")
    chromium.click("#play")
    chromium.click(f"#{speed}")
    chromium.pause(2)
    chromium.click("#hold")
    (tally,) = chromium.read(TALLY)
    assert least <= int(tally.split(" of ")[0].rsplit(" ", 1)[-1]) <= 2 * least


def test_play_on_an_abandoned_branch_goes_on_with_the_run(browser: Any, examples: Path) -> None:
    path = next(path for path in sorted(examples.glob("reports/*.html")) if "Abandoned branch" in path.read_text())
    browser.open(path.as_uri())
    browser.click(".aside summary")
    aside = browser.read("[...document.querySelector('.aside').querySelectorAll('.st > input')].map(e => e.id)")
    browser.click(f"#l{aside[-1][1:]}")
    browser.click("#play")
    seen = set()
    for _ in range(9):
        seen.update(int(tally.split(" of ")[0].rsplit(" ", 1)[-1]) for tally in browser.read(TALLY))
        browser.pause(0.3)
    last = int(aside[-1][1:])
    assert {last, last + 1} <= seen
    browser.click("#play")


def test_what_is_folded_opens_by_key_and_by_pointer(browser: Any, page: str) -> None:
    browser.open(page)
    is_open = "document.querySelector('.overview details').open"
    browser.click(".overview summary")
    assert browser.read(is_open)
    assert browser.read("document.activeElement.tagName") == "SUMMARY"
    browser.key("Enter")
    assert not browser.read(is_open)
    browser.key("Enter")
    assert browser.read(is_open)


def test_an_address_inside_a_fold_opens_it(browser: Any, examples: Path) -> None:
    path = next(path for path in sorted(examples.glob("reports/*.html")) if "Abandoned branch" in path.read_text())
    browser.open(path.as_uri())
    step = browser.read("document.querySelector('.aside .st:nth-child(2) > input').id")
    browser.open(f"{path.as_uri()}#{step}")
    assert browser.read("document.querySelector('.aside details').open")
    assert browser.read(FOCUSED) == step
    assert browser.read(ON_TOP) == step


def test_a_step_that_is_jumped_to_lies_clear_of_the_stage(browser: Any, parts: list[Path]) -> None:
    browser.open(parts[0].as_uri())
    clear = """(() => { const row = document.querySelector('.st > input:checked + .row').getBoundingClientRect();
        const stage = document.querySelector('.stage').getBoundingClientRect();
        return row.top >= stage.bottom && row.bottom <= innerHeight; })()"""
    for cell in (30, 3, 20):
        browser.read(f"document.querySelectorAll('.cells > label')[{cell}].click()")
        browser.pause(0.3)
        assert browser.read(clear), cell


def test_a_long_run_goes_on_in_parts_with_one_axis(browser: Any, parts: list[Path]) -> None:
    assert len(parts) > 1
    browser.open(parts[0].as_uri())
    marks = browser.read("document.querySelector('.axis svg').innerHTML")
    browser.click(".cells > a:last-child")
    browser.pause(2)
    assert browser.read("location.pathname").endswith(parts[-1].name)
    assert browser.read(FOCUSED) == "s901"
    assert browser.read("document.querySelector('.axis svg').innerHTML") == marks
    browser.click(".parts a")
    browser.pause(2)
    assert browser.read("location.pathname").endswith(parts[0].name)
    assert browser.messages() == []


def test_all_details_open_in_the_list(browser: Any, page: str) -> None:
    browser.open(page)
    browser.click("#all")
    shown = "[...document.querySelectorAll('li[data-kind]:not([data-branch]):not([data-inherited]) > .det')]"
    assert browser.read(f"{shown}.every(e => getComputedStyle(e).display == 'block')")


def test_everything_is_reached_by_keyboard(browser: Any, page: str) -> None:
    browser.open(page)
    reached = []
    for _ in range(12):
        browser.key("Tab")
        reached.append(browser.read(f"{FOCUSED} || document.activeElement.className || document.activeElement.tagName"))
    assert reached[0] == "skip"
    assert {"play", "all", "s0"} <= set(reached)
    outline = browser.read("getComputedStyle(document.querySelector(':focus-visible')).outlineStyle")
    assert outline != "none"


def test_no_page_scrolls_sideways_says_a_word_or_loads_a_thing(browser: Any, examples: Path) -> None:
    reports = sorted(examples.glob("reports/*.html"))
    # Firefox takes long to change its window: of the reports it sees some.
    for path in [*examples.glob("*.html"), *(reports if browser.name == "chromium" else reports[::6])]:
        browser.open(path.as_uri(), 0.02)
        for width in (390, 1280):
            browser.size(width, 900)
            assert browser.read("document.documentElement.scrollWidth <= innerWidth"), (path, width)
        assert browser.read("performance.getEntriesByType('resource').length") == 0, path
        assert browser.messages() == [], path


@pytest.mark.parametrize("width", [1280, 390])
def test_a_word_without_an_end_stays_inside(chromium: Any, unbroken: Path, width: int) -> None:
    chromium.size(width, 900)
    chromium.open(unbroken.as_uri())
    wide = """[...document.querySelectorAll('.det, .det *')].filter(e => e.scrollWidth > e.clientWidth + 1
        && e.clientWidth && !e.closest('pre') && getComputedStyle(e).overflowX != 'hidden')
        .map(e => e.outerHTML.slice(0, 120))"""
    for state in ("#l7", "#l12", "#all"):
        chromium.click(state)
        assert chromium.read(wide) == []
    chromium.size(1280, 900)


def test_nothing_hostile_runs_or_loads(browser: Any, hostile: list[Path]) -> None:
    for path in hostile:
        browser.open(path.as_uri(), 0.02)
        assert browser.read("document.title != 'PWNED' && !document.scripts.length"), path
        assert browser.read("document.body.lastElementChild.tagName") == "MAIN", path
        assert browser.read("performance.getEntriesByType('resource').length") == 0, path
        assert browser.messages() == [], path
        if browser.name == "chromium":
            assert set(browser.requests()) <= {path.as_uri(), "about:blank"}, path


def test_on_paper_everything_is_open(chromium: Any, page: str) -> None:
    chromium.open(page)
    chromium.media("print")
    assert chromium.read(
        "[...document.querySelectorAll('.st > .det')].every(e => getComputedStyle(e).display == 'block')"
    )
    shown = (
        "[...document.querySelectorAll('details')].every(e => e.lastElementChild.getBoundingClientRect().height > 0)"
    )
    assert chromium.read(shown)
    assert chromium.read("getComputedStyle(document.querySelector('.stage')).position") == "static"
    chromium.media()


def test_on_a_narrow_screen_the_step_lies_below_the_list(chromium: Any, page: str) -> None:
    chromium.size(390, 800)
    chromium.open(page)
    assert chromium.read("getComputedStyle(document.querySelector('#s0 ~ .det')).position") == "static"
    chromium.click("#l2")
    bottom = chromium.read("document.querySelector('#s2 ~ .det').getBoundingClientRect().bottom")
    assert bottom == 800
    row = chromium.read("document.querySelector('#l2').getBoundingClientRect().bottom")
    assert row <= chromium.read("document.querySelector('#s2 ~ .det').getBoundingClientRect().top")
    chromium.size(1280, 900)


def test_in_forced_colours_every_state_still_shows(chromium: Any, page: str) -> None:
    chromium.media("", forced_colors="active")
    chromium.open(page)
    chromium.click("#l2")
    assert chromium.read("getComputedStyle(document.querySelector('#l2')).outlineStyle") == "solid"
    assert chromium.read("getComputedStyle(document.querySelector('#s2 ~ .veil')).display") == "none"
    ink, paper = (f"getComputedStyle(document.querySelector('{what}'))" for what in (".axis path[class]", "body"))
    assert chromium.read(f"{ink}.fill != {paper}.backgroundColor")
    chromium.media()


def test_without_motion_no_row_glides(chromium: Any, page: str) -> None:
    chromium.media("", prefers_reduced_motion="reduce")
    chromium.open(page)
    assert chromium.read("getComputedStyle(document.querySelector('.row')).transitionDuration") == "0s"
    chromium.media()
