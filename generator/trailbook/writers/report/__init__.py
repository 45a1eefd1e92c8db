"""The report: a chat as pages that read like a story and replay without a script."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import quote

from markupsafe import Markup

from trailbook import pool
from trailbook.axis import Axis, fold, tallies
from trailbook.chat import Chat
from trailbook.formats import Piece, Sheet
from trailbook.rendering.clipping import BODY_LIMIT
from trailbook.rendering.code import HIGHLIGHTED, Budget
from trailbook.themes import Theme, load_theme
from trailbook.timeline import Timeline
from trailbook.wording import duration
from trailbook.writers.report.overview import Address, agent_name, make_overview, subagent_section
from trailbook.writers.report.parts import Part, gather, share_out, turn_starts
from trailbook.writers.report.steps import Showing, spelled, step_view
from trailbook.writers.report.track import cell_title, make_track, nearest_steps, place_on_axis
from trailbook.writers.report.views import Cell, Neighbours, Section, StepView

__all__ = ["make_views", "policy", "report_addresses", "write_report"]

SLICE = 250
"""Steps that are laid out together."""

PAGE_BYTES = 3_000_000
"""What a page weighs at most; a longer chat goes on in parts."""

SURE_TO_FIT = 2_200_000
"""Bytes of steps that fit on any page, whatever its head says."""

MARGIN = 50_000
"""Bytes that are left free for what differs between a page's parts, and for the wrapping of its chunks."""

TURN_BYTES = 500
"""What the heading of a turn weighs at most."""


@dataclass(slots=True, frozen=True)
class Laid:
    """A chat's steps as HTML, and the pages that they are shared out over."""

    timeline: Timeline
    axis: Axis
    views: list[StepView]
    html: list[Markup]
    parts: list[Part]
    size: int
    """Bytes of all steps."""


def write_report(chat: Chat, sheet: Sheet) -> list[Piece]:
    """The pages of a (redacted) chat: `reports/<stem>.html`, and further parts where one page would exceed 3 MB.

    With `sheet.alone` it is one page, whatever its size. Raises Stopped where the theme is wrong.
    """
    theme = load_theme(sheet.output.theme)
    laid = _lay_out(chat, sheet)
    return [
        Piece(f"reports/{_file(sheet.stem, part.number)}", _page(chat, sheet, theme, laid, part)) for part in laid.parts
    ]


def report_addresses(chat: Chat, sheet: Sheet) -> list[str]:
    """For each step of the chat the page and the place on it: `<stem>-2.html#s150`."""
    parts = _lay_out(chat, sheet).parts
    _last.clear()
    return [
        f"{_file(sheet.stem, part.number)}#s{index + 1}" for part in parts for index in range(part.start, part.stop)
    ]


_last: list[tuple[Chat, Sheet, Laid]] = []


def _lay_out(chat: Chat, sheet: Sheet) -> Laid:
    """The chat laid out; kept from `write_report` to `report_addresses`, which follows it for the same chat."""
    if _last and _last[0][0] is chat and _last[0][1] is sheet:
        return _last[0][2]
    timeline = sheet.timeline_of(chat)
    axis = fold(timeline)
    theme = load_theme(sheet.output.theme)
    showing, words = _showing(chat, timeline, sheet), tallies(timeline)
    slices = slices_of(len(timeline.steps))
    done = pool.shared_out(
        lambda number: _lay_out_slice(timeline, axis, words, showing, theme, slices[number]), len(slices)
    )
    views = [view for some, _html in done for view in some]
    html = [each for _some, some in done for each in some]
    sizes = [len(each.encode()) for each in html]
    laid = Laid(timeline, axis, views, html, [Part(1, 0, len(html))], sum(sizes))
    if not sheet.alone and laid.size > SURE_TO_FIT:
        room = PAGE_BYTES - MARGIN - len(_page(chat, sheet, theme, laid, Part(0, 0, 0)))
        starts = turn_starts(timeline.steps)
        wrapped = [size + (TURN_BYTES if index in starts else 0) for index, size in enumerate(sizes)]
        laid = replace(laid, parts=share_out(wrapped, starts, max(room, SURE_TO_FIT)))
    _last[:] = [(chat, sheet, laid)]
    return laid


def slices_of(steps: int) -> list[range]:
    """The steps of a chat in slices that are laid out by themselves, on several cores where there are some."""
    return [range(first, min(first + SLICE, steps)) for first in range(0, steps, SLICE)]


def _lay_out_slice(
    timeline: Timeline, axis: Axis, words: list[str], showing: Showing, theme: Theme, steps: range
) -> tuple[list[StepView], list[Markup]]:
    """Some steps as the templates show them, on the axis, and as HTML."""
    budget = Budget(HIGHLIGHTED * len(steps) // len(timeline.steps))
    views = [step_view(timeline.steps[index], index + 1, replace(showing, budget=budget)) for index in steps]
    for index, view in zip(steps, views, strict=True):
        view.tally = words[index]
        view.coarse, view.fine = place_on_axis(axis.positions[index])
        view.gap = f"{duration(axis.breaks[index])} pause" if index in axis.breaks else ""
    step_html = theme.macro("step.html", "step")
    return views, [step_html(view, Neighbours(view.number - 1, view.number + 1)) for view in views]


def make_views(chat: Chat, timeline: Timeline, sheet: Sheet) -> list[StepView]:
    """Every step as the templates show it, without its place on an axis."""
    showing = _showing(chat, timeline, sheet)
    return [step_view(step, number, showing) for number, step in enumerate(timeline.steps, 1)]


def _showing(chat: Chat, timeline: Timeline, sheet: Sheet) -> Showing:
    return Showing(
        zone=sheet.output.zone,
        started=timeline.started,
        agent=agent_name(chat),
        limit=None if sheet.output.full else BODY_LIMIT,
        images=sheet.output.images,
        budget=Budget(),
        chats={subagent.id: _subagent(subagent, sheet) for subagent in chat.subagents},
        subagent=chat.started_by is not None,
        turns=timeline.turns,
    )


def _subagent(subagent: Chat, sheet: Sheet) -> Section:
    """A subagent where it was started: linked where it has a page, with its steps where it has none."""
    timeline = sheet.timeline_of(subagent)
    stem = None if sheet.alone else sheet.subagents.get(subagent.id)
    steps = Markup()
    if stem is None:
        views = make_views(subagent, timeline, replace(sheet, subagents={}))
        for view in views:
            view.data.append(("chat", spelled(subagent.id)))
        steps = load_theme(sheet.output.theme).macro("pieces.html", "plain")(views, "")
    return subagent_section(subagent, timeline, stem, steps)


def _page(chat: Chat, sheet: Sheet, theme: Theme, laid: Laid, part: Part) -> bytes:
    timeline, views, parts = laid.timeline, laid.views, laid.parts
    part_of = {index + 1: each.number for each in parts for index in range(each.start, each.stop)}

    def address(number: int) -> str:
        page = "" if part_of.get(number) == part.number else quote(_file(sheet.stem, part_of[number]))
        return f"{page}#s{number}"

    shown = list(laid.html)
    step_html = theme.macro("step.html", "step")
    for index in {part.start, part.stop - 1} if part.stop > part.start else set():
        shown[index] = step_html(views[index], _neighbours(index + 1, part, len(views), address))
    track = make_track(timeline, laid.axis)
    agent = agent_name(chat)
    track.cells = [
        Cell(
            index + 1,
            None if part.start <= index < part.stop else address(index + 1),
            cell_title(timeline.steps[index], index + 1, len(views), agent),
        )
        for index in (nearest_steps(laid.axis) if views else ())
    ]
    style = theme.styles["report"]
    return theme.render(
        "report.html",
        title=timeline.title,
        policy=policy(style.source, images=sheet.output.images),
        style=style.text,
        track=track,
        chunks=gather(timeline, part, shown.__getitem__),
        overview=make_overview(chat, timeline, sheet, address, laid.size if sheet.alone else 0),
        tally=views[-1].tally if views else "",
        part=part.number,
        parts=[quote(_file(sheet.stem, each.number)) for each in parts],
        first=part.start + 1,
        last=part.stop,
        total=len(views),
        last_address=address(len(views)) if views else "",
        note=f"../notes/{quote(sheet.stem)}.md" if "markdown" in sheet.output.formats and not sheet.alone else "",
    )


def policy(style_source: str, *, images: bool) -> str:
    """The page's own security policy: this one stylesheet and nothing else."""
    pictures = " img-src data:;" if images else ""
    return f"default-src 'none'; style-src {style_source};{pictures} base-uri 'none'; form-action 'none'"


def _neighbours(number: int, part: Part, total: int, address: Address) -> Neighbours:
    def lead(other: int) -> int | str | None:
        if not 1 <= other <= total:
            return None
        return other if part.start < other <= part.stop else address(other)

    return Neighbours(lead(number - 1), lead(number + 1))


def _file(stem: str, number: int) -> str:
    return f"{stem}.html" if number == 1 else f"{stem}-{number}.html"
