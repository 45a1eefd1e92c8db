"""The command line: words in, words out. A module a command; each loads what it needs when it runs."""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module

import click

from trailbook import __version__
from trailbook.failures import INTERRUPTED, USAGE, Stopped

COMMANDS = {
    "build": "build",
    "check": "check",
    "export": "export",
    "find": "find",
    "list": "listing",
    "preview": "preview",
    "show": "show",
}
"""Each command and its module."""


class Commands(click.Group):
    """The commands, loaded when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One of them; None for another name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"trailbook.cli.{COMMANDS[cmd_name]}").command
        return command


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="trailbook", message="%(prog)s %(version)s")
def trailbook() -> None:
    """How did the agent get there? Offline reports, notes and trajectories from the logs that agents keep.

    LOGS are files or folders with logs, a chat's id, or the beginning of one; without any, the places are searched in
    which each agent keeps its logs. Nothing is sent anywhere, and keys and personal details are taken out.
    """


def main() -> None:
    """Run the command line and end with its exit status."""
    # What is read of a log is needed to the end: looking for garbage in it over and over takes a tenth of the time.
    gc.set_threshold(200_000, 50, 50)
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line; returns the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        status = trailbook.main(arguments, prog_name="trailbook", standalone_mode=False)
        sys.stdout.flush()
    except Stopped as stopped:
        return _say(stopped.sentence, stopped.status)
    except click.UsageError as error:
        error.show()
        return USAGE
    except click.ClickException as error:
        return _say(error.format_message(), USAGE)
    except (click.Abort, KeyboardInterrupt):
        return _say("Interrupted. What was finished stays.", INTERRUPTED)
    except BrokenPipeError:
        # Who read us has seen enough (`| head`); nothing more can be said.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status if isinstance(status, int) else 0


def _say(sentence: str, status: int) -> int:
    from trailbook.terminal import line

    click.echo(f"trailbook: {line(sentence)}", err=True)
    return status
