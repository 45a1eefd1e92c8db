"""The index as pages: ordered, shared out by month where there are too many, with totals that add up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import quote

from trailbook import zones
from trailbook.chat import JSON
from trailbook.formats import Output, Piece
from trailbook.themes import Theme, load_theme
from trailbook.wording import ORIGIN_WORDS, counted, date_and_time, duration, file_name, money, tokens
from trailbook.writers.index.activity import make_activity
from trailbook.writers.index.facets import make_facets, month_of
from trailbook.writers.index.files import write_files
from trailbook.writers.index.rows import Row, from_json
from trailbook.writers.report import policy

MOST_ROWS = 5_000
"""Chats on one page; of more, each month has a page of its own."""

CHUNK = 50
"""Rows that the browser lays out together, once they come into view."""

MOST_SKIPPED = 2_000

Each = TypeVar("Each")

_LAST = float("-inf")

ORDERS: tuple[tuple[str, str, Callable[[Row], tuple[float, str]]], ...] = (
    ("index.html", "Newest", lambda row: (-(row.started if row.started is not None else _LAST), row.stem)),
    ("index-longest.html", "Longest", lambda row: (-(row.duration or 0), row.stem)),
    ("index-dearest.html", "Dearest", lambda row: (-(row.usd or 0), row.stem)),
    ("index-failures.html", "Most failures", lambda row: (-row.failed, row.stem)),
)


@dataclass(slots=True)
class Entry:
    """One chat as the page shows it."""

    title: str
    href: str
    prompt: str
    when: str
    words: list[str]
    """Agent, models, project, origin."""
    figures: list[str]
    failed: str
    """How much did not work, in words."""
    failed_href: str
    note: str
    gone: bool
    classes: str = ""
    below: list[Entry] = field(default_factory=list)
    """The chats that it handed work to."""


@dataclass(slots=True)
class Link:
    words: str
    href: str
    here: bool = False
    note: str = ""


def write_index(rows: list[JSON], skipped: list[JSON], output: Output) -> list[Piece]:
    """All pages over the chats: `index.html`, the same in other orders, `files.html`, and a page a month where there
    are more than `MOST_ROWS` chats. `skipped` are the files that are no chats: path, verdict and why of each.
    """
    theme = load_theme(output.theme)
    known = [row for row in map(from_json, rows) if row is not None]
    stems = {row.stem for row in known}
    top = [row for row in known if row.parent not in stems]
    below: dict[str, list[Row]] = {}
    for row in known:
        if row.parent in stems and row.parent is not None:
            below.setdefault(row.parent, []).append(row)
    index = _Index(known, top, below, output, theme)
    pieces = index.by_month(skipped) if len(top) > MOST_ROWS else index.in_orders(skipped)
    return [*pieces, *write_files(known, output, theme)]


@dataclass(slots=True)
class _Index:
    known: list[Row]
    """Every chat; each counts once, whoever it worked for."""
    top: list[Row]
    below: dict[str, list[Row]]
    output: Output
    theme: Theme

    def in_orders(self, skipped: list[JSON]) -> list[Piece]:
        """One page an order, each with every chat."""
        orders = [each for each in ORDERS if each[0] == "index.html" or self._is_worth(each[1])]
        pieces = []
        for name, words, key in orders:
            links = [Link(other, href, here=href == name) for href, other, _key in orders] if len(orders) > 1 else []
            page = self._page(sorted(self.top, key=key), words, links, [], skipped)
            pieces.append(Piece(name, page))
        return pieces

    def by_month(self, skipped: list[JSON]) -> list[Piece]:
        """A first page with the months, and a page for each, in parts where a month has more than `MOST_ROWS`."""
        newest = sorted(self.top, key=ORDERS[0][2])
        months: dict[str, list[Row]] = {}
        for row in newest:
            months.setdefault(month_of(row.started, self.output.zone), []).append(row)
        named: list[tuple[str, str, list[Row]]] = []
        for month, rows in months.items():
            for number, part in enumerate(_batches(rows, MOST_ROWS), 1):
                suffix = f" ({number})" if len(rows) > MOST_ROWS else ""
                named.append((f"index-{_slug(month)}{f'-{number}' if suffix else ''}.html", month + suffix, part))
        links = [Link(words, name, note=counted(len(rows), "chat")) for name, words, rows in named]
        pieces = [Piece("index.html", self._page([], "", [], links, skipped))]
        for name, words, rows in named:
            here = [Link(link.words, link.href, link.href == name, link.note) for link in links]
            pieces.append(Piece(name, self._page(rows, words, [Link("All months", "index.html")], here, [])))
        return pieces

    def _is_worth(self, order: str) -> bool:
        """Whether an order says anything: two chats or more of which that is known."""
        if order == "Longest":
            return sum(bool(row.duration) for row in self.top) > 1
        if order == "Dearest":
            return sum(bool(row.usd) for row in self.top) > 1
        return sum(bool(row.failed) for row in self.top) > 1

    def _page(
        self, rows: Sequence[Row], order: str, orders: list[Link], months: list[Link], skipped: list[JSON]
    ) -> bytes:
        facets, classes = make_facets(rows, self.output.zone)
        entries = [self._entry(row) for row in rows]
        for entry, of_row in zip(entries, classes, strict=True):
            entry.classes = of_row
        counted_rows = [each for row in rows for each in self._with_below(row)] if rows else self.known
        style = self.theme.styles["index"]
        shown = [_skipped(item) for item in skipped[:MOST_SKIPPED]]
        return self.theme.render(
            "index.html",
            policy=policy(style.source, images=False),
            style=style.text,
            order=order,
            orders=orders,
            months=months,
            totals=_totals(counted_rows),
            activity=make_activity(counted_rows, self.output.zone),
            facets=facets,
            chunks=_batches(entries, CHUNK),
            count=len(entries),
            files=any(row.files for row in self.known),
            skipped=shown,
            more_skipped=max(len(skipped) - MOST_SKIPPED, 0),
            zone=zones.name_of(self.output.zone),
        )

    def _with_below(self, row: Row, depth: int = 0) -> list[Row]:
        if depth > 20:
            return [row]
        return [row, *(each for child in self.below.get(row.stem, ()) for each in self._with_below(child, depth + 1))]

    def _entry(self, row: Row, depth: int = 0) -> Entry:
        zone = self.output.zone
        figures = [
            "" if row.duration is None else duration(row.duration),
            counted(row.steps, "step"),
            "" if row.tokens is None else f"{tokens(row.tokens)} tokens",
            money(row.usd, estimated=bool(row.estimated_from)),
            counted(len(row.files) + row.more_files, "file") if row.files else "",
        ]
        words = [row.agent, ", ".join(row.models[:3]), file_name(row.project), ORIGIN_WORDS.get(row.origin, "")]
        below = sorted(self.below.get(row.stem, ()), key=lambda each: (each.started or 0, each.stem))
        return Entry(
            title=row.title,
            href=_href(row.report or row.note),
            prompt=row.prompt,
            when=date_and_time(row.started, zone),
            words=[word for word in words if word],
            figures=[figure for figure in figures if figure],
            failed=f"{row.failed:,} didn’t work" if row.failed else "",
            failed_href=_href(f"reports/{row.first_failed}") if row.first_failed else "",
            note=_href(row.note) if row.report else "",
            gone=row.gone,
            below=[] if depth > 20 else [self._entry(child, depth + 1) for child in below],
        )


def _totals(rows: Sequence[Row]) -> list[tuple[str, str, str]]:
    """Everything, added up: what is known of each, what it comes to, and what has to be said beside it."""
    handed_on = sum(row.parent is not None for row in rows)
    subagents = f"and {counted(handed_on, 'subagent')}" if handed_on else ""
    spent = sum(row.usd or 0 for row in rows)
    used = sum(row.tokens or 0 for row in rows)
    lasted = sum(row.duration or 0 for row in rows)
    waited = sum(row.waiting for row in rows)
    failed = sum(row.failed for row in rows)
    found = [
        ("Chats", f"{len(rows) - handed_on:,}", subagents),
        ("Time", duration(lasted) if lasted else "", ""),
        ("Waiting for you", duration(waited) if waited else "", ""),
        ("Steps", f"{sum(row.steps for row in rows):,}", ""),
        ("Tokens", tokens(used) if used else "", ""),
        ("Cost", money(spent) if spent else "", _estimated(rows)),
        ("Didn’t work", f"{failed:,}" if failed else "", ""),
    ]
    return [each for each in found if each[1]]


def _estimated(rows: Sequence[Row]) -> str:
    tables = sorted({row.estimated_from for row in rows if row.usd})
    if not any(tables):
        return ""
    partly = "" if all(tables) else "partly "
    return f"{partly}estimated by {', '.join(filter(None, tables))}"


def _batches(items: list[Each], size: int) -> list[list[Each]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def _skipped(item: JSON) -> tuple[str, str]:
    if not isinstance(item, list) or len(item) != 3:
        return str(item), ""
    path, verdict, why = (str(part) for part in item)
    return path, f"{verdict}: {why}" if why else verdict


def _slug(month: str) -> str:
    return month.lower().replace(" ", "-")


def _href(path: str) -> str:
    return quote(path, safe="/#")
