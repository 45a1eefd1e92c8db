"""Numbers in plain words, at the places where they change their form."""

from __future__ import annotations

from datetime import UTC, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from trailbook import wording

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        (-5, "0s"),
        (0, "0s"),
        (1, "0.1s"),
        (4_240, "4.2s"),
        (9_949, "9.9s"),
        (9_950, "10s"),
        (37_600, "38s"),
        (59_499, "59s"),
        (59_500, "1m 00s"),
        (192_000, "3m 12s"),
        (239_700, "4m 00s"),
        (3_599_499, "59m 59s"),
        (3_599_500, "1h 00m"),
        (3_840_000, "1h 04m"),
        (7_190_000, "2h 00m"),
        (360_000_000, "100h 00m"),
    ],
)
def test_durations(milliseconds: int, words: str) -> None:
    assert wording.duration(milliseconds) == words


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "0"),
        (950, "950"),
        (999, "999"),
        (1_000, "1.0k"),
        (18_240, "18.2k"),
        (999_949, "999.9k"),
        (999_950, "1.0M"),
        (1_234_567, "1.2M"),
        (1_999_960_000, "2,000.0M"),
    ],
)
def test_tokens(number: int, words: str) -> None:
    assert wording.tokens(number) == words


@pytest.mark.parametrize(
    ("usd", "words"),
    [
        (None, ""),
        (0.0, ""),
        (float("nan"), ""),
        (float("inf"), ""),
        (0.0049, "<$0.01"),
        (0.005, "$0.01"),
        (0.0312, "$0.03"),
        (1_234.5, "$1,234.50"),
        (-0.5, "-$0.50"),
    ],
)
def test_money(usd: float | None, words: str) -> None:
    assert wording.money(usd) == words


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1, "1 byte"),
        (812, "812 bytes"),
        (4_096, "4.1 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (3_400_000, "3.4 MB"),
        (2_500_000_000, "2.5 GB"),
    ],
)
def test_sizes(number: int, words: str) -> None:
    assert wording.size(number) == words


def test_dates_in_the_persons_zone() -> None:
    moment = 1_791_450_000_000  # 2026-10-08 09:00 UTC
    assert wording.date(moment, UTC) == "8 October 2026"
    assert wording.date_and_time(moment, BERLIN) == "8 Oct 2026, 11:00"
    assert wording.date_and_time(1_798_761_599_000, timezone(timedelta(hours=14))) == "1 Jan 2027, 13:59"


@pytest.mark.parametrize(
    ("zone", "name"),
    [
        (BERLIN, "CEST, UTC+02:00"),
        (UTC, "UTC"),
        (timezone(timedelta(hours=-3, minutes=-30)), "UTC-03:30"),
        (timezone(timedelta(hours=1), "Here"), "Here, UTC+01:00"),
    ],
)
def test_zones(zone: timezone, name: str) -> None:
    assert wording.zone_name(1_791_450_000_000, zone) == name


@pytest.mark.parametrize("moment", [None, 10**18, -(10**18), 10**400])
def test_a_time_outside_the_calendar_is_no_date(moment: int | None) -> None:
    assert (wording.date(moment, UTC), wording.date_and_time(moment, BERLIN)) == ("", "")


def test_one_line_of_a_long_text() -> None:
    assert wording.line(" a\n\tb\r\n c ") == "a b c"
    assert wording.line("x" * 300) == "x" * 300
    assert wording.line("x" * 301) == "x" * 299 + "…"
    assert wording.line(" " * 5_000 + "word" + "\n" * 5_000) == "word"
    assert wording.line("one two three", 8) == "one two…"


def test_shortening_between_words() -> None:
    assert wording.shorten("look at the totals", 48) == "look at the totals"
    assert wording.shorten("look at the invoice totals", 22) == "look at the invoice…"
    assert wording.shorten("look " + "x" * 50, 20) == "look " + "x" * 15 + "…"


@pytest.mark.parametrize(
    ("paths", "words"),
    [
        ([], "files"),
        (["src/a.py"], "a.py"),
        (["src/a.py", "src/a.py"], "a.py"),
        (["a.py", "C:\\work\\b.py"], "a.py and b.py"),
        (["a", "b", "c", "d/"], "a and 3 more"),
    ],
)
def test_names_of_files(paths: list[str], words: str) -> None:
    assert wording.names_of_files(paths) == words


@pytest.mark.parametrize(
    ("path", "short"),
    [
        ("/Users/ada/work/a.py", "work/a.py"),
        ("/home/ada/a.py", "a.py"),
        ("C:\\Users\\Ada\\work\\a.py", "work/a.py"),
        ("~/work/a.py", "work/a.py"),
        ("/var/home/x/a.py", "/var/home/x/a.py"),
        ("src/a.py", "src/a.py"),
        ("/home/ada", "/home/ada"),
        ("~", "~"),
    ],
)
def test_paths_without_the_home_folder(path: str, short: str) -> None:
    assert wording.without_home(path) == short


def test_every_kind_and_status_has_its_word() -> None:
    from trailbook.timeline import KINDS

    assert set(wording.KIND_WORDS) == set(KINDS)
    assert set(wording.STATUS_WORDS) == {"done", "failed", "declined", "waiting"}
