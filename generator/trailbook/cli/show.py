"""`trailbook show`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from trailbook.cli.options import estimate_option, redaction_options, tz_option, what_options

if TYPE_CHECKING:
    from datetime import tzinfo

    from rich.console import Console

    from trailbook.chat import Chat
    from trailbook.timeline import Step, Timeline


@click.command(name="show")
@click.argument("chat")
@what_options
@redaction_options
@tz_option
@estimate_option
@click.option("--json", "as_json", is_flag=True, help="Print the timeline as JSON.")
def command(chat: str, as_json: bool, **options: Any) -> None:
    """Show one chat's timeline.

    CHAT is an id, the beginning of one, or a path.
    """
    from trailbook.cli.options import choose, only_chat, output_of
    from trailbook.failures import Stopped
    from trailbook.making import read_redacted
    from trailbook.staging import reason
    from trailbook.timeline import make_timeline

    chosen = choose((chat,), options)
    found = only_chat(chosen, chat)
    try:
        shown, _removed = read_redacted(found, output_of(chosen, options, ()))
    except Exception as error:
        if isinstance(error, Stopped):
            raise
        raise Stopped(reason(error, found)) from None
    timeline = make_timeline(shown)
    if as_json:
        click.echo(_json(timeline))
    else:
        _print(shown, timeline, chosen.zone)


def _json(timeline: Timeline) -> str:
    import json
    import re

    from trailbook import json_text
    from trailbook.writers.timeline_json import timeline_json

    text = json_text.dump(timeline_json(timeline), indent=2).decode("utf-8")
    # JSON leaves characters as they are that a terminal may obey, or that show nothing.
    return re.sub(
        "[\x7f-\x9f\xad\u0600-\u0605\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
        "\U000e0000-\U000e0fff]",
        lambda found: json.dumps(found.group())[1:-1],
        text,
    )


def _print(chat: Chat, timeline: Timeline, zone: tzinfo) -> None:
    from rich.console import Console
    from rich.text import Text

    from trailbook.terminal import line
    from trailbook.wording import counted, date_and_time, duration, money, tokens

    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    console.print(Text(line(timeline.title), "bold"))
    totals, usage = timeline.totals, timeline.totals.usage
    spent = (usage.prompt_tokens or 0) + (usage.output_tokens or 0) if usage else 0
    facts = [
        line(chat.agent.name or chat.agent.product),
        date_and_time(timeline.started, zone),
        duration(totals.duration) if totals.duration is not None else "",
        counted(len(timeline.steps), "step"),
        f"{tokens(spent)} tokens" if spent else "",
        money(totals.usd) + (f" (estimated by {totals.estimated_from})" if totals.usd and totals.estimated else ""),
    ]
    console.print(Text(" · ".join(fact for fact in facts if fact), "dim"))
    for step in timeline.steps:
        _print_step(console, step, timeline.started)
    for diagnostic in chat.diagnostics:
        where = (
            f" ({diagnostic.place.file}, {diagnostic.place.unit} {diagnostic.place.number})" if diagnostic.place else ""
        )
        console.print(Text(line(f"{diagnostic.text}{where}"), "yellow"))


def _print_step(console: Console, step: Step, started: int | None) -> None:
    from textwrap import indent

    from rich.text import Text

    from trailbook.terminal import line, plain
    from trailbook.wording import KIND_WORDS, STATUS_WORDS, duration

    elapsed = duration(max(0, step.at - started)) if step.at is not None and started is not None else ""
    words = step.kind in ("asked", "said")
    row = Text(f"{elapsed:>8}  ")
    who = line(step.injected).capitalize() if step.injected else KIND_WORDS[step.kind]
    row.append(who if words else line(step.title), "bold" if words else "")
    if step.duration:
        row.append(f" · took {duration(step.duration)}", "dim")
    if step.status and step.status != "done":
        row.append(f" · {STATUS_WORDS[step.status]}", "red")
    if step.detail:
        row.append(f" · {line(step.detail)}", "dim")
    console.print(row)
    if words and step.text:
        console.print(Text(indent(plain(step.text), " " * 10)))
