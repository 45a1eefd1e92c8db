"""Several chats as one plain page, without the replay: for keeping, printing and searching."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from trailbook.chat import Chat
from trailbook.formats import Sheet
from trailbook.themes import load_theme
from trailbook.wording import counted
from trailbook.writers.report import make_views, policy
from trailbook.writers.report.overview import Overview, make_overview
from trailbook.writers.report.views import StepView


@dataclass(slots=True)
class Article:
    """One chat of the page."""

    number: int
    title: str
    overview: Overview
    views: list[StepView]


def write_batch(chats: Sequence[Chat], sheet: Sheet) -> bytes:
    """One page of all the chats, in their order; each step with its words, arguments, results and changes."""
    theme = load_theme(sheet.output.theme)
    sheet = replace(sheet, alone=True)
    style = theme.styles["batch"]
    return theme.render(
        "batch.html",
        policy=policy(style.source, images=sheet.output.images),
        style=style.text,
        articles=[_article(number, chat, sheet) for number, chat in enumerate(chats, 1)],
        total=counted(len(chats), "chat"),
    )


def _article(number: int, chat: Chat, sheet: Sheet) -> Article:
    timeline = sheet.timeline_of(chat)
    overview = make_overview(chat, timeline, sheet, lambda step: f"#c{number}s{step}")
    return Article(number, timeline.title, overview, make_views(chat, timeline, sheet))
