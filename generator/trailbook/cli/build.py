"""`trailbook build`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trailbook.cli import options as shared

if TYPE_CHECKING:
    from trailbook.updating import Built, Plan


@click.command(name="build")
@click.argument("logs", nargs=-1)
@click.option("--out", "-o", type=click.Path(path_type=Path), help="The folder to build; new, empty, or built before.")
@shared.what_options
@shared.redaction_options
@shared.tz_option
@shared.theme_option
@click.option("--format", "formats", multiple=True, type=click.Choice(shared.TRAJECTORIES), help="Also trajectories.")
@click.option("--no-notes", is_flag=True, help="Write no Markdown notes.")
@shared.full_option
@shared.images_option
@shared.estimate_option
@shared.trajectory_options
@click.option("--prune", is_flag=True, help="Remove the reports of chats whose log is gone.")
@click.option("--watch", is_flag=True, help="Build again whenever a log changes (with --yes).")
@shared.dask_option
@shared.yes_option
@shared.quiet_option
def command(logs: tuple[str, ...], out: Path | None, yes: bool, quiet: bool, watch: bool, **options: Any) -> int:
    """Build a folder of reports, notes and an index.

    The folder is new, empty, or one built before; then only what is out of date is made again. What was found and what
    is taken out is shown first; on a terminal you are asked, elsewhere --yes says yes.
    """
    from trailbook.cli import watching
    from trailbook.failures import USAGE, Stopped

    if not watch:
        return _build(logs, out, yes, quiet, options)[0]
    if not yes:
        raise Stopped("--watch builds without asking each time. Add --yes.", USAGE)
    watching.check()
    status, places, folder = _build(logs, out, yes, quiet, options)
    for _change in watching.changes(places, folder):
        status, _places, _folder = _build(logs, out, yes, quiet, options)
    return status


def _build(
    logs: tuple[str, ...], out: Path | None, yes: bool, quiet: bool, options: dict[str, Any]
) -> tuple[int, list[Path], Path]:
    """Build once: the exit status, the places where logs were looked for, and the folder."""
    from trailbook import cluster, site
    from trailbook.cli import progress, summary
    from trailbook.failures import NOT_CONFIRMED, USAGE, Stopped

    chosen = shared.choose(logs, options)
    folder = out or chosen.settings.out
    if folder is None:
        raise Stopped("Say where to: --out FOLDER.", USAGE)
    real = site.refuse(folder)
    if not chosen.survey.chats:
        raise shared.nothing_found(chosen.survey)
    shared.tell_survey(chosen, quiet=quiet)
    plan = site.Plan(real, chosen.survey, chosen.chats, _output(chosen, options), options["prune"])
    asked = not yes and sys.stdin.isatty() and sys.stdout.isatty()
    only_shown = not yes and not asked
    shown: list[Built] = []

    def confirm(built: Built) -> bool:
        shown.append(built)
        _show(built, plan, quiet=False)
        return click.confirm(f"Write to {folder}?", default=True)

    with cluster.executor(options["dask"]) as executor, progress.told(folder, quiet=quiet) as told:
        if only_shown:
            built = site.preview(plan, told, executor)
        else:
            built = site.build(plan, confirm if asked else None, told, executor)
    if not built.confirmed:
        raise Stopped("Nothing was written.", NOT_CONFIRMED)
    if not shown:
        _show(built, plan, quiet=yes and quiet)
    if only_shown and not built.nothing:
        raise Stopped("Nothing was written: there is no terminal to ask on. Add --yes to write.", NOT_CONFIRMED)
    shared.say(summary.lines_of_nothing(built), err=True)
    if not quiet:
        shared.say(summary.lines_of_result(built, folder))
    return chosen.status(built.status), chosen.survey.walked, real


def _show(built: Built, plan: Plan, *, quiet: bool) -> None:
    from trailbook.cli import summary

    if not quiet:
        shared.say(summary.lines_of_preview(built, plan.output.context) if built.made else ())
        shared.say(summary.lines_of_left_out(built))
    shared.say(summary.lines_of_troubles(built), err=True)


def _output(chosen: shared.Chosen, options: dict[str, Any]) -> Any:
    pages = ("report",) if options["no_notes"] else ("report", "markdown")
    trajectories = options["formats"] or chosen.settings.formats
    return shared.output_of(chosen, options, (*pages, *dict.fromkeys(trajectories)))
