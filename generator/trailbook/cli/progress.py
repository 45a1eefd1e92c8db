"""How far a run is: a bar on a terminal, plain lines elsewhere, both on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trailbook.updating import Told
from trailbook.wording import counted, size

if TYPE_CHECKING:
    from trailbook.readers import Found

_EVERY = 5.0
"""Seconds between plain lines."""


@contextmanager
def told(folder: Path | None, *, quiet: bool) -> Iterator[Told]:
    """What a build is to tell. A short run says nothing."""

    def busy() -> None:
        click.echo(f"Another run is writing into {folder}; this one waits until it is done (Ctrl-C to stop).", err=True)

    if quiet:
        yield Told(busy)
    elif sys.stderr.isatty():
        with _bar() as bar:
            yield Told(busy, *bar)
    else:
        lines = _Lines()
        yield Told(busy, lines.begin, lines.each)


class _Lines:
    """A plain line every few seconds."""

    def begin(self, chats: int, total: int) -> None:
        """Take note of how much there is."""
        self.chats, self.total, self.done, self.read = chats, total, 0, 0
        self.said = time.monotonic()

    def each(self, found: Found) -> None:
        """Count a chat, and say how far it is when that was long ago."""
        self.done += 1
        self.read += found.size
        if time.monotonic() - self.said >= _EVERY:
            self.said = time.monotonic()
            sums = f"{self.done:,} of {counted(self.chats, 'chat')}, {size(self.read)} of {size(self.total)}"
            click.echo(sums, err=True)


@contextmanager
def _bar() -> Iterator[tuple[Callable[[int, int], None], Callable[[Found], None]]]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn("{task.fields[done]:,} of {task.fields[chats]:,} chats"),
        BarColumn(),
        TaskProgressColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", start=False, visible=False, done=0, chats=0)
        count = expected = 0

        def begin(chats: int, total: int) -> None:
            nonlocal expected
            expected = chats
            progress.update(task, total=total, chats=chats, visible=bool(chats))
            progress.start_task(task)

        def each(found: Found) -> None:
            nonlocal count
            count += 1
            progress.update(task, advance=found.size, done=count)
            if count == expected:
                progress.stop()  # a question may follow

        yield begin, each
