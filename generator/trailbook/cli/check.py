"""`trailbook check`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(name="check")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--against", required=True, type=click.Path(path_type=Path), help="The log that FILE was made of.")
def command(file: Path, against: Path) -> int:
    """Compare a trajectory file with the log it was made of.

    Whoever wrote it: each call, result, word, image and token of the log is looked for. Exit status 5 when something is
    missing that the format could carry.
    """
    from trailbook.checking import check
    from trailbook.failures import NOTHING, WORK_LOST, Stopped
    from trailbook.readers import Unreadable
    from trailbook.terminal import line

    status = 0
    try:
        for checked in check(file, against):
            if checked.comparison is None:
                click.echo(line(f"{checked.written.id}: no such chat in {against}."))
                status = WORK_LOST
                continue
            click.echo(line(f"{checked.written.id}: {checked.comparison.sentence()}"))
            for loss in checked.comparison.losses:
                where = f" ({loss.place.file}, {loss.place.unit} {loss.place.number})" if loss.place else ""
                click.echo("  " + line(f"{loss.text}{where}"))
            status = status if checked.comparison.complete else WORK_LOST
    except (Unreadable, OSError) as error:
        raise Stopped(str(error), NOTHING) from None
    return status
