"""`trailbook preview`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from trailbook.cli import options as shared


@click.command(name="preview")
@click.argument("logs", nargs=-1)
@shared.what_options
@shared.redaction_options
@shared.tz_option
@shared.quiet_option
def command(logs: tuple[str, ...], quiet: bool, **options: Any) -> int:
    """Show what would be written and taken out; write nothing."""
    from trailbook import site
    from trailbook.cli import progress, summary

    chosen = shared.choose(logs, options)
    if not chosen.survey.chats:
        raise shared.nothing_found(chosen.survey)
    shared.tell_survey(chosen, quiet=quiet)
    plan = site.Plan(Path(), chosen.survey, chosen.chats, shared.output_of(chosen, options, ()))
    with progress.told(None, quiet=quiet) as told:
        built = site.preview(plan, told)
    shared.say(summary.lines_of_preview(built, plan.output.context))
    shared.say(summary.lines_of_left_out(built))
    shared.say(summary.lines_of_troubles(built), err=True)
    return chosen.status(built.status)
