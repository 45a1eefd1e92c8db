"""`trailbook export`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trailbook.cli import options as shared

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trailbook.bundling import Bundle
    from trailbook.redaction.context import Context


@click.command(name="export")
@click.argument("chats", nargs=-1, metavar="[CHAT]...")
@click.option("--out", "-o", type=click.Path(path_type=Path), help="The folder to save in (default: Downloads).")
@click.option("--format", "format_name", default="report", type=click.Choice(shared.FORMATS), help="What to make.")
@shared.what_options
@shared.redaction_options
@shared.tz_option
@shared.theme_option
@shared.full_option
@shared.images_option
@shared.estimate_option
@shared.trajectory_options
@shared.dask_option
@shared.yes_option
@shared.quiet_option
def command(chats: tuple[str, ...], out: Path | None, format_name: str, yes: bool, quiet: bool, **options: Any) -> int:
    """Save one chat, or several, as one file.

    CHAT is an id, the beginning of one, or a path. Without any, all chats that the options choose are saved, at most
    the newest 500. The file is named for the agent, the title and the day; one that is there is never replaced.
    --to takes a folder to save in, too. With --dask there are as many files as it takes: part-00000.jsonl, …
    """
    from trailbook import bundling
    from trailbook.cli import account
    from trailbook.failures import NOT_CONFIRMED, NOTHING, WORK_LOST, Stopped
    from trailbook.terminal import line

    if out is None and options["until"] and not _is_day(options["until"]):
        out, options["until"] = Path(options["until"]), None
    if options["dask"]:
        return _in_parts(chats, out, format_name, yes, quiet, options)
    chosen = shared.choose(chats, options)
    folder = out or bundling.default_folder()
    bundling.refuse(folder)
    if not chosen.survey.chats:
        raise shared.nothing_found(chosen.survey)
    output = shared.output_of(chosen, options, (format_name,))
    made = bundling.bundle(chosen.chats, format_name, output, folder, alone=len(chats) == 1 and len(chosen.chats) == 1)
    made.left_out.update(chosen.left_out)
    shared.say(map(account.line_of_file, chosen.unread), err=True)
    shared.say(made.failed, err=True)
    if not made.sources:
        shared.say(_left_out(made), err=True)
        raise Stopped("No chat is left to save. Try other chats, or other options.", NOTHING)
    if made.unsafe:
        # Before anything of it is shown: the secret may stand in the file's name.
        kinds = ", ".join(f"{count} {kind}" for kind, count in made.unsafe.items())
        raise Stopped(f"Nothing was saved: secrets were still in the file ({kinds}).", made.status)
    if not quiet:
        shared.say(_preview(made, folder, output.context))
    if not yes and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Stopped("Nothing was saved: there is no terminal to ask on. Add --yes to save.", NOT_CONFIRMED)
    if not yes and not click.confirm("Save it?", default=True):
        raise Stopped("Nothing was saved.", NOT_CONFIRMED)
    path, recounted = bundling.save(made, folder)
    click.echo(line(f"Saved as {path}"))
    if recounted.lost or not quiet:
        shared.say(map(line, recounted.lines), err=recounted.lost)
    return WORK_LOST if recounted.lost else chosen.status(made.status)


def _in_parts(
    chats: tuple[str, ...], out: Path | None, format_name: str, yes: bool, quiet: bool, options: dict[str, Any]
) -> int:
    """Save the chats as a folder of parts, made by a cluster."""
    from trailbook import cluster, parts, site
    from trailbook.cli import account, progress, summary
    from trailbook.failures import USAGE, Stopped

    if out is None:
        raise Stopped("Say where to: --out FOLDER, which every worker sees.", USAGE)
    if not yes:
        raise Stopped("--dask saves without asking. Look first with `trailbook preview`, then add --yes.", USAGE)
    chosen = shared.choose(chats, options)
    site.refuse(out)
    if not chosen.survey.chats:
        raise shared.nothing_found(chosen.survey)
    output = shared.output_of(chosen, options, (format_name,))
    with cluster.executor(options["dask"]) as executor, progress.told(out, quiet=quiet) as told:
        made = parts.export(chosen.chats, format_name, output, out, told=told, executor=executor)
    made.left_out.update(chosen.left_out)
    shared.say(map(account.line_of_file, chosen.unread), err=True)
    shared.say(summary.lines_of_parts_troubles(made), err=True)
    if not quiet:
        shared.say(summary.lines_of_parts(made, out, output.context))
    return chosen.status(made.status)


def _is_day(text: str) -> bool:
    """Whether `--to` names a day; else it names a folder."""
    from datetime import UTC

    from trailbook.filters import day_end

    try:
        return not Path(text).expanduser().is_dir() and day_end(text, UTC) is not None
    except (ValueError, OverflowError):
        return False


def _preview(made: Bundle, folder: Path, context: Context | None) -> Iterator[str]:
    from trailbook.bundling import MOST
    from trailbook.cli.summary import lines_of_removed
    from trailbook.terminal import line
    from trailbook.wording import counted, size

    yield f"{counted(len(made.sources), 'chat')}, {counted(made.steps, 'step')}."
    yield from _left_out(made)
    if made.more:
        yield f"The newest {MOST:,} only; {made.more:,} older ones are not in it."
    yield from lines_of_removed(made.removed, context)
    yield line(f"{folder / made.pieces[0].name} ({size(sum(len(piece.data) for piece in made.pieces))})")


def _left_out(made: Bundle) -> Iterator[str]:
    from trailbook.cli.account import line_of_left_out

    if made.left_out:
        yield line_of_left_out(made.left_out)
