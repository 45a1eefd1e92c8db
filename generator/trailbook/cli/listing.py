"""`trailbook list`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trailbook.cli.options import estimate_option, redaction_options, tz_option, what_options

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import tzinfo

    from trailbook.cli.options import Chosen
    from trailbook.readers import Found
    from trailbook.staging import Order


@click.command(name="list")
@click.argument("logs", nargs=-1)
@what_options
@redaction_options
@tz_option
@estimate_option
@click.option("--files", is_flag=True, help="Also list every file that is no chat, and why.")
def command(logs: tuple[str, ...], files: bool, **options: Any) -> None:
    """List the chats, newest first, and what was found where.

    The time is a chat's start; in brackets, where the log has none, the time at which the file was changed.
    """
    from trailbook import prices
    from trailbook.cli import account
    from trailbook.cli.options import choose, nothing_found, redaction_of

    chosen = choose(logs, options)
    if not chosen.survey.chats:
        for skipped in chosen.survey.skipped if files else ():
            click.echo(account.line_of_file(skipped))
        raise nothing_found(chosen.survey)
    redact = redaction_of(chosen, options)
    chosen = _sure(chosen)
    costs = _costs(chosen) if options["estimate_cost"] else {}
    for row in _rows(chosen, redact, costs):
        click.echo(row)
    for row in account.lines_of_survey(chosen.survey, chosen.left_out):
        click.echo(row, err=True)
    if any(cost.startswith("~") for cost in costs.values()):
        click.echo(f"What stands behind ~ is estimated by {prices.table()}.", err=True)
    if files:
        for skipped in chosen.survey.skipped:
            click.echo(account.line_of_file(skipped))


def _sure(chosen: Chosen) -> Chosen:
    """The choice without the chats of which only the log itself can say that they are not wanted."""
    from trailbook import site
    from trailbook.filters import needs_reading
    from trailbook.formats import Output
    from trailbook.stores import source_of

    unsure = {source_of(chat): chat for chat in chosen.chats if needs_reading(chat, chosen.wanted)}
    if not unsure:
        return chosen
    output = Output((), chosen.zone, wanted=chosen.wanted)
    read = site.preview(site.Plan(Path(), chosen.survey, [*unsure.values()], output))
    stay = {source_of(made.found) for made in read.made}
    chats = [chat for chat in chosen.chats if source_of(chat) in stay or source_of(chat) not in unsure]
    return replace(chosen, chats=chats, left_out={**chosen.left_out, **read.left_out})


def _costs(chosen: Chosen) -> dict[tuple[str, str], str]:
    """What each chat cost, its subagents with it; estimated where its log states nothing."""
    from trailbook import pool, prices
    from trailbook.formats import Output
    from trailbook.staging import Order
    from trailbook.stores import source_of

    prices.table()
    output = Output((), chosen.zone, estimate_cost=True)
    costs = pool.each(_cost, [Order(chat, output) for chat in chosen.chats])
    return {source_of(order.found): cost for order, cost in costs if isinstance(cost, str)}


def _cost(order: Order) -> str:
    from trailbook.chat import with_subagents
    from trailbook.making import read
    from trailbook.timeline import make_timeline
    from trailbook.wording import money

    totals = [make_timeline(each).totals for each in with_subagents(read(order.found, order.output))]
    spent = sum(each.usd for each in totals if each.usd is not None)
    return money(spent, estimated=any(each.estimated for each in totals))


def _rows(chosen: Chosen, redact: Callable[[str], str], costs: dict[tuple[str, str], str]) -> list[str]:
    from trailbook.readers import reader
    from trailbook.stores import source_of
    from trailbook.terminal import line
    from trailbook.wording import file_name, shorten

    table = [
        (
            _when(chat, chosen.zone),
            reader(chat.reader).PRODUCT,
            line(chat.id),
            line(file_name(redact(chat.cwd or ""))),
            *([costs.get(source_of(chat), "")] if costs else []),
            shorten(line(redact(chat.title or "")), 80) + (f" ({chat.remark})" if chat.remark else ""),
        )
        for chat in sorted(chosen.chats, key=lambda chat: -(chat.started or chat.updated or 0))
    ]
    widths = [min(40, max((len(row[column]) for row in table), default=0)) for column in range(5 if costs else 4)]
    return [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]).rstrip()
        for row in table
    ]


def _when(chat: Found, zone: tzinfo) -> str:
    from trailbook.wording import date_and_time

    if chat.started is not None:
        return date_and_time(chat.started, zone)
    return f"({date_and_time(chat.updated, zone)})" if chat.updated is not None else ""
