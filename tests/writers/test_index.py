"""The index: every chat stands in it once, its totals add up, its filters and orders and the page of files hold."""

from __future__ import annotations

import json
import re
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from full_chat import START, each_of_its_own, full_chat
from pages import faults, parse
from trailbook.chat import JSON
from trailbook.formats import Output, Sheet
from trailbook.themes import FACETS
from trailbook.writers.index import row_of, write_index

PAYLOADS: list[str] = json.loads((Path(__file__).parent.parent / "data" / "payloads.json").read_text())
OUTPUT = Output(zone=UTC)
DAY = 86_400_000


def row(stem: str, **more: Any) -> dict[str, JSON]:
    return {
        "stem": stem,
        "title": f"Chat {stem}",
        "report": f"reports/{stem}.html",
        "started": START,
        "steps": 1,
        **more,
    }


def pages_of(*rows: dict[str, JSON], skipped: list[JSON] | None = None) -> dict[str, Any]:
    pieces = write_index(list(rows), skipped or [], OUTPUT)
    for piece in pieces:
        assert faults(piece.data) == [], piece.name
        assert len(piece.data) <= 3_000_000
    return {piece.name: parse(piece.data) for piece in pieces}


def words(element: Any) -> str:
    return "".join(element.itertext())


def find(page: Any, class_: str) -> list[Any]:
    return [element for element in page.iter() if class_ in (element.get("class") or "").split()]


def titles(page: Any) -> list[str]:
    return [words(find(item, "what")[0][0]) for item in find(page, "r")]


def totals(page: Any) -> dict[str, str]:
    return {words(div[0]): words(div[1]) for div in find(page, "totals")[0]}


def test_a_row_says_what_a_chat_came_to() -> None:
    sheet = Sheet(OUTPUT, "2026-10-08-the-title-1a2b3c")
    told = row_of(full_chat(each_of_its_own), sheet)
    assert told == {
        "stem": "2026-10-08-the-title-1a2b3c",
        "title": "the title",
        "prompt": "the asked",
        "agent": "the agent",
        "models": ["the model"],
        "project": "the cwd",
        "origin": "routine",
        "started": START + 1_000,
        "duration": 20_000,
        "waiting": 500,
        "steps": 24,
        "failed": 2,
        "tokens": 1_234,
        "usd": 0.02,
        "first_failed": "2026-10-08-the-title-1a2b3c.html#s7",
        "files": [
            ("the path", [(12, "2026-10-08-the-title-1a2b3c.html#s12")], 0, "the command"),
            ("b", [(12, "2026-10-08-the-title-1a2b3c.html#s12")], 0, "the command"),
            ("the path bare", [(13, "2026-10-08-the-title-1a2b3c.html#s13")], 0, "the command"),
        ],
        "lost": 2,
        "report": "reports/2026-10-08-the-title-1a2b3c.html",
        "note": "notes/2026-10-08-the-title-1a2b3c.md",
    }


@pytest.mark.parametrize("payload", PAYLOADS)
def test_nothing_in_the_index_can_act(payload: str) -> None:
    sheet = Sheet(OUTPUT, "report", parent="above")
    rows = [
        row_of(full_chat(lambda _name: payload), sheet),
        row("b", project=payload, models=[payload], origin=payload),
    ]
    pieces = write_index(rows, [[payload, payload, payload]], OUTPUT)
    for piece in pieces:
        assert faults(piece.data) == [], piece.name


def test_the_newest_stands_first_and_each_order_is_a_page() -> None:
    pages = pages_of(
        row("old", started=START, duration=9_000, usd=0.5, failed=1),
        row("new", started=START + DAY, duration=1_000, usd=0.1, failed=2),
        row("undated", started=None, duration=5_000, usd=0.9),
    )
    assert titles(pages["index.html"]) == ["Chat new", "Chat old", "Chat undated"]
    assert titles(pages["index-longest.html"]) == ["Chat old", "Chat undated", "Chat new"]
    assert titles(pages["index-dearest.html"]) == ["Chat undated", "Chat old", "Chat new"]
    assert titles(pages["index-failures.html"]) == ["Chat new", "Chat old", "Chat undated"]
    for name, page in pages.items():
        links = [link.get("href") for link in page.find(".//nav").iter("a")]
        assert set(links) == {other for other in pages if other != name}


def test_totals_count_each_chat_once() -> None:
    pages = pages_of(
        row("a", duration=60_000, tokens=1_000, usd=0.5, failed=1, steps=10),
        row("b", duration=30_000, tokens=500, usd=0.25, steps=5),
        row("a1", parent="a", duration=10_000, tokens=100, usd=0.05, steps=2),
    )
    assert totals(pages["index.html"]) == {
        "Chats": "2 and 1 subagent",
        "Time": "1m 40s",
        "Steps": "17",
        "Tokens": "1.6k",
        "Cost": "$0.80",
        "Didn’t work": "1",
    }


def test_subagents_are_folded_under_their_parents() -> None:
    page = pages_of(row("a"), row("a1", parent="a"), row("a2", parent="a1"), row("lost", parent="not here"))[
        "index.html"
    ]
    assert titles(page) == ["Chat a", "Chat lost"]
    (top, _lost) = find(page, "r")
    assert words(top.find("details/summary")) == "1 subagent"
    assert [words(find(item, "what")[0][0]) for item in top.iter("li") if item is not top] == ["Chat a1", "Chat a2"]


def test_every_row_has_the_class_of_each_of_its_values() -> None:
    pages = pages_of(
        row("a", agent="Conch", models=["m", "n"], failed=1),
        row("b", agent="Codex", models=["n"], started=START - 40 * DAY),
        row("c", agent="Conch", models=[], origin="routine"),
    )
    page = pages["index.html"]
    values = {
        words(label.find("bdi")): label.find("input").get("id")
        for label in page.iter("label")
        if label.find("bdi") is not None
    }
    classes = {words(find(item, "what")[0][0]): set(item.get("class").split()) - {"r"} for item in find(page, "r")}
    of_a = {"Conch", "m", "n", "Something failed", "Chats", "October 2026"}
    assert classes["Chat a"] == {values[value] for value in of_a}
    assert classes["Chat b"] == {values[value] for value in ("Codex", "n", "All worked", "Chats", "August 2026")}
    assert classes["Chat c"] == {
        values[value] for value in ("Conch", "Unknown", "All worked", "Routines", "October 2026")
    }
    style = words(page.find(".//style"))
    for value in values.values():
        assert f".filters:has(#{value}:checked)~.list .r:not(.{value}){{display:none}}" in style
    counts = {
        words(label.find("bdi")): words(label.find("small"))
        for label in page.iter("label")
        if label.find("bdi") is not None
    }
    assert (counts["Conch"], counts["n"], counts["Something failed"]) == ("2", "2", "1")


def test_more_values_than_the_stylesheet_knows_share_one() -> None:
    pages = pages_of(*(row(f"c{number}", agent=f"agent {number:03}") for number in range(FACETS["a"] + 5)))
    values = [
        label for label in pages["index.html"].iter("label") if (label.find("input").get("id") or "").startswith("a")
    ]
    assert len(values) == FACETS["a"] + 1  # all, and as many as there are rules for
    assert words(values[-1]).split() == ["Others", "6"]


def test_what_is_no_chat_is_accounted_for() -> None:
    page = pages_of(row("a"), skipped=[["/logs/x.txt", "not recognised", "no known format"]])["index.html"]
    assert [words(item) for item in find(page, "skipped")[0].iter("li")] == [
        "/logs/x.txt not recognised: no known format"
    ]
    assert words(find(page, "skipped")[0].find("summary")) == "1 file that are no chats of their own"


def test_a_chat_whose_log_is_gone_says_so() -> None:
    assert "its log is gone" in words(pages_of(row("a", gone=True))["index.html"])


def test_activity_has_a_bar_a_day() -> None:
    page = pages_of(row("a"), row("b"), row("c", started=START + 2 * DAY), row("d", started=None))["index.html"]
    bars = [words(bar[0]) for bar in find(page, "activity")[0].iter() if bar.get("height") and bar.get("y")]
    assert bars == ["8 Oct 2026: 2 chats", "10 Oct 2026: 1 chat"]


def test_the_page_of_files_says_which_chat_and_step_changed_what() -> None:
    pages = pages_of(
        row(
            "old",
            files=[["src/a.py", [[3, "old.html#s3"], [9, "old-2.html#s9"]], 2, "Make it count once"]],
            project="/work/shop",
        ),
        row("new", files=[["src/a.py", [[1, "new.html#s1"]], 0]], project="/work/shop", started=START + DAY),
        row("other", files=[["src/a.py", [[2, "other.html#s2"]], 0]], project="/work/till"),
    )
    page = pages["files.html"]
    folders = {words(folder.find("summary/h2")): folder for folder in find(page, "folder")}
    assert list(folders) == ["/work/shop", "/work/till"]
    (changed,) = find(folders["/work/shop"], "touched")[0]
    assert words(find(changed, "path")[0]) == "src/a.py"
    assert [link.get("href") for link in changed.iter("a")] == [
        "reports/new.html", "reports/new.html#s1", "reports/old.html", "reports/old.html#s3", "reports/old-2.html#s9",
    ]  # fmt: skip
    assert "and 2 more" in words(changed)
    assert [words(why) for why in find(changed, "why")] == ["Make it count once"]
    assert "files.html" in [link.get("href") for link in pages["index.html"].iter("a")]


def test_beyond_five_thousand_chats_each_month_has_a_page_and_the_counts_add_up() -> None:
    rows = [row(f"c{number:05}", title="t", started=START + (number % 60) * DAY) for number in range(6_000)]
    pages = pages_of(*rows)
    months = {words(item): item[0].get("href") for item in find(pages["index.html"], "months")[0]}
    assert list(months) == ["December 2026 600 chats", "November 2026 3,000 chats", "October 2026 2,400 chats"]
    assert totals(pages["index.html"])["Chats"] == "6,000"
    counted = {name: len(find(page, "r")) for name, page in pages.items()}
    assert counted == {
        "index.html": 0,
        "index-december-2026.html": 600,
        "index-november-2026.html": 3_000,
        "index-october-2026.html": 2_400,
    }


def test_five_thousand_chats_stand_on_one_page() -> None:
    rows = [
        row(
            f"2026-10-08-fix-the-invoice-rounding-test-{number:06}",
            prompt="x" * 140,
            agent="Claude Code",
            models=["model-x"],
            tokens=1,
            usd=1.0,
            duration=1,
        )
        for number in range(5_000)
    ]
    assert len(find(pages_of(*rows)["index.html"], "r")) == 5_000


def test_no_chats_and_unknown_rows_have_a_page() -> None:
    assert "No chats here." in words(pages_of()["index.html"])
    assert titles(pages_of(row("a", unheard="of"), {"no": "stem"})["index.html"]) == ["Chat a"]  # type: ignore[dict-item]
    assert re.search(r"\b1 chat\b", words(pages_of(row("a"))["index.html"]))
