"""The index as a person filters and follows it, in both browsers, from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

SHOWN = "[...document.querySelectorAll('.r')].filter(e => e.getClientRects().length).length"
COUNT = "document.querySelector('.count').innerText.trim()"


def test_a_filter_leaves_the_chats_it_names(browser: Any, examples: Path) -> None:
    browser.open((examples / "index.html").as_uri())
    every = browser.read("document.querySelectorAll('.r').length")
    assert browser.read(SHOWN) == every
    assert browser.read(COUNT) == f"{every} chats"
    failed = "[...document.querySelectorAll('.filters label')].find(e => e.innerText.startsWith('Something failed'))"
    wanted = int(browser.read(f"{failed.replace('innerText', 'textContent')}.querySelector('small').textContent"))
    browser.click(".filters details:has(#f0) summary")
    browser.click(
        "#f0" if browser.read("document.querySelector('#f0').parentElement.textContent").startswith("Some") else "#f1"
    )
    assert browser.read(SHOWN) == wanted
    browser.click("button[type=reset]")
    assert browser.read(SHOWN) == every
    assert browser.messages() == []


def test_a_chat_is_opened_at_what_did_not_work(browser: Any, examples: Path) -> None:
    browser.open((examples / "index.html").as_uri())
    browser.click("a.bad")
    browser.pause(0.5)
    step = browser.read("location.hash.slice(1)")
    assert browser.read("document.activeElement.id") == step
    assert browser.read(f"document.querySelector('#{step}').parentElement.querySelector('.failed') !== null")


def test_a_file_leads_to_the_step_that_changed_it(browser: Any, examples: Path) -> None:
    browser.open((examples / "files.html").as_uri())
    browser.click("a.step")
    browser.pause(0.5)
    assert "/reports/" in browser.read("location.pathname")
    shown = browser.read("document.activeElement.closest('.st').querySelector('.det').textContent")
    assert "What changed" in shown or "Files" in shown


def test_filters_are_driven_by_keyboard_with_visible_focus(browser: Any, examples: Path) -> None:
    browser.open((examples / "index.html").as_uri())
    every = browser.read(SHOWN)
    reached = ""
    while reached != "SUMMARY":
        browser.key("Tab")
        reached = browser.read("document.activeElement.tagName")
        assert browser.read("getComputedStyle(document.activeElement).outlineStyle") != "none"
    browser.key("Enter")
    while reached != "INPUT":
        browser.key("Tab")
        reached = browser.read("document.activeElement.tagName")
    browser.key("ArrowDown")
    wanted = int(browser.read("document.activeElement.parentElement.querySelector('small').textContent"))
    assert browser.read(SHOWN) == wanted < every
    assert browser.read(COUNT) == f"of {every} chats"


def test_in_a_narrow_window_filters_open_inside_it(browser: Any, examples: Path) -> None:
    browser.size(390, 800)
    browser.open((examples / "index.html").as_uri())
    for number in range(browser.read("document.querySelectorAll('.filters details').length")):
        browser.click(f".filters details:nth-of-type({number + 1}) > summary")
        assert browser.read("document.querySelector('.filters details[open]') !== null")
        assert browser.read("document.documentElement.scrollWidth <= innerWidth")
    browser.size(1280, 900)
