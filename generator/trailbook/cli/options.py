"""The options that several commands have, and what they come to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from trailbook.failures import DONE, SOME_FAILED, USAGE, Stopped

if TYPE_CHECKING:
    from trailbook.filters import Wanted
    from trailbook.formats import Output
    from trailbook.readers import Found
    from trailbook.redaction.context import Context
    from trailbook.settings import Settings
    from trailbook.stores import Skipped, Survey

Command = TypeVar("Command", bound=Callable[..., Any])

TRAJECTORIES = ("openai", "sharegpt", "atif", "trajectory-v1")
FORMATS = ("report", "markdown", *TRAJECTORIES)
"""The names in `formats.FORMATS`, here again so that `--help` need not load it."""


def _together(*decorators: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


_PATH = click.Path(path_type=Path)

what_options = _together(
    click.option("--logs", "places", multiple=True, type=_PATH, help="Where to look, instead of the agents' places."),
    click.option("--from", "since", metavar="DAY", help="Only chats that went on at or after this day (2026-10-08)."),
    click.option("--to", "until", metavar="DAY", help="Only chats that were started by the end of this day."),
    click.option("--agent", "agents", multiple=True, metavar="NAME", help="Only this agent's chats."),
    click.option(
        "--provider", "providers", multiple=True, metavar="NAME", help="Only chats with this engine or vendor."
    ),
    click.option("--source", "sources", multiple=True, metavar="NAME", help="Only logs of this format."),
    click.option("--project", "projects", multiple=True, metavar="NAME", help="Only this working folder, or its name."),
    click.option("--no-automatic", is_flag=True, help="Leave out what ran by itself: routines, tasks, pages, apps."),
)
"""Which chats."""

redaction_options = _together(
    click.option("--name", "names", multiple=True, metavar="NAME", help="A person's name to take out, too."),
    click.option("--secrets", "secrets", multiple=True, type=_PATH, help="A file of known secrets (.env) to take out."),
    click.option("--number", is_flag=True, help="Give the same value the same number: [email 2]."),
    click.option("--no-redact", is_flag=True, help="Take nothing out, this once."),
)
"""What is taken out."""

tz_option = click.option(
    "--tz", metavar="ZONE", help="The time zone, such as Europe/Berlin (default: this computer's)."
)
yes_option = click.option("--yes", "-y", is_flag=True, help="Write without asking.")
quiet_option = click.option("--quiet", "-q", is_flag=True, help="Say only what went wrong.")
theme_option = click.option("--theme", type=_PATH, help="A folder with a theme of your own.")
full_option = click.option("--full", is_flag=True, help="Long texts whole, not shortened to head and tail.")
images_option = click.option("--images", is_flag=True, help="Keep images; what they show cannot be taken out.")
estimate_option = click.option(
    "--estimate-cost", is_flag=True, help="List-price estimates where the log states no cost."
)
trajectory_options = _together(
    click.option(
        "--atif-version", default="1.8", type=click.Choice(("1.8", "1.7")), help="1.7 for readers that stop there."
    ),
    click.option(
        "--sharegpt-dialect",
        default="hermes",
        type=click.Choice(("hermes", "llamafactory")),
        help="Whose ShareGPT: Hermes Agent's or LLaMA-Factory's.",
    ),
)
"""How trajectories are written."""
dask_option = click.option("--dask", metavar="ADDRESS", help="Work on this Dask cluster (tcp://scheduler:8786).")


@dataclass(slots=True, frozen=True)
class Chosen:
    """The chats that a command line asks for."""

    survey: Survey
    chats: list[Found]
    left_out: dict[str, int]
    """How many chats each option left out."""
    wanted: Wanted
    zone: tzinfo
    settings: Settings
    unread: list[Skipped]
    """What lies where the chats were looked for and could not be looked into."""

    def status(self, status: int) -> int:
        """The exit status of a run that else ended with `status`."""
        return SOME_FAILED if status == DONE and self.unread else status


def choose(what: tuple[str, ...], options: dict[str, Any]) -> Chosen:
    """The chats that are asked for by LOGS and the options of `what_options` and `tz_option`.

    Raises Stopped for a path or an id that is not there, a day or zone that is none.
    """
    from collections import Counter

    from trailbook import filters, settings, zones

    set_ = settings.load()
    try:
        zone = zones.zone_of(options["tz"] or set_.tz)
    except ValueError as error:
        raise Stopped(str(error), USAGE) from None
    wanted = filters.Wanted(
        _moment(filters.day_start, options["since"], zone),
        _moment(filters.day_end, options["until"], zone),
        options["agents"],
        options["providers"],
        options["sources"],
        options["projects"],
        not options["no_automatic"],
    )
    found, picked, unread = _find(what, options["places"] or set_.logs)
    left_out: Counter[str] = Counter()
    chats = []
    for chat in picked:
        why = filters.left_out(chat, wanted)
        if why is None:
            chats.append(chat)
        else:
            left_out[why] += 1
    return Chosen(found, chats, left_out, wanted, zone, set_, unread)


def only_chat(chosen: Chosen, what: str) -> Found:
    """The one chat that CHAT means. Raises Stopped where it means none, or several."""
    if not chosen.survey.chats:
        raise nothing_found(chosen.survey)
    if not chosen.chats:
        raise Stopped(f"No chat in {what} is one that you asked for ({', '.join(chosen.left_out)}).")
    if len(chosen.chats) > 1:
        some = ", ".join(chat.id for chat in chosen.chats[:3])
        raise Stopped(
            f"{what} holds {len(chosen.chats):,} chats: {some} … Name one by its id, with --logs {what}.", USAGE
        )
    return chosen.chats[0]


def output_of(chosen: Chosen, options: dict[str, Any], formats: tuple[str, ...]) -> Output:
    """What is to be written, by the options. Raises Stopped."""
    from trailbook import prices
    from trailbook.formats import Output

    if options.get("estimate_cost"):
        prices.table()
    theme = options.get("theme") or chosen.settings.theme
    if theme is not None and not theme.is_dir():
        raise Stopped(f"There is no theme folder {theme}. Check --theme.", USAGE)
    return Output(
        formats=formats,
        zone=chosen.zone,
        context=None if options["no_redact"] else context_of(chosen, options),
        wanted=chosen.wanted,
        theme=theme,
        full=options.get("full", False),
        images=options.get("images", False),
        atif_version=options.get("atif_version", "1.8"),
        sharegpt_dialect=options.get("sharegpt_dialect", "hermes"),
        estimate_cost=options.get("estimate_cost", False),
    )


def context_of(chosen: Chosen, options: dict[str, Any]) -> Context:
    """What is known of the person, from the command line, `trailbook.toml`, the agents' settings and this computer.

    Raises Stopped for a file of secrets that cannot be read.
    """
    from trailbook import known
    from trailbook.redaction.context import UnreadableSecrets

    try:
        return known.context_of(
            chosen.survey.chats,
            names=[*options["names"], *chosen.settings.names],
            secret_files=[*options["secrets"], *chosen.settings.secrets],
            number=options["number"],
        )
    except UnreadableSecrets as error:
        raise Stopped(str(error), USAGE) from None


def redaction_of(chosen: Chosen, options: dict[str, Any]) -> Callable[[str], str]:
    """What makes one text of a log that was not read fit to be seen."""
    from trailbook.redaction.replacing import redact_glimpse

    if options["no_redact"]:
        return str
    context = context_of(chosen, options)
    return lambda text: redact_glimpse(text, context) if text else text


def tell_survey(chosen: Chosen, *, quiet: bool) -> None:
    """Print what was found; quietly only what could not be looked into."""
    from trailbook.cli import account

    if quiet:
        say(map(account.line_of_file, chosen.unread), err=True)
    else:
        say(account.lines_of_survey(chosen.survey, chosen.left_out))


def say(lines: Iterable[str], *, err: bool = False) -> None:
    """Print lines."""
    for each in lines:
        click.echo(each, err=err)


def nothing_found(survey: Survey) -> Stopped:
    """The sentence for a survey without a chat."""
    if survey.looked:
        products = ", ".join(dict.fromkeys(look.product for look in survey.looked))
        return Stopped(f"No chats were found where {products} keep theirs. Name a file or a folder with logs.")
    if not survey.files and not survey.skipped:
        return Stopped("There are no files there. Name a file or a folder with logs.")
    return Stopped(f"No chat was recognised{_told_of(survey)}. Name a file or a folder with an agent's logs.")


def _told_of(survey: Survey) -> str:
    """How many files were looked at, and of the one that tells most why it is no chat."""
    from trailbook.wording import counted

    files = f" in {counted(survey.files, 'file')}" if survey.files else ""
    if not survey.skipped:
        return files
    telling = {"unreadable": 0, "not recognised": 1}
    most = min(survey.skipped, key=lambda item: telling.get(item.verdict, 2))
    return f"{files} ({most.path}: {most.why})"


def _find(what: tuple[str, ...], places: tuple[Path, ...]) -> tuple[Survey, list[Found], list[Skipped]]:
    """The survey, the chats of it that LOGS name, and what could not be looked into where they were looked for.

    Ids are looked up in `places`, else where the agents keep logs; what is unreadable there is no matter.
    """
    from trailbook import stores

    paths = [Path(item) for item in what if Path(item).expanduser().exists()]
    ids = [item for item in what if not Path(item).expanduser().exists()]
    if not ids and (paths or places):
        found = stores.survey(paths or places)
        return found, found.chats, found.unread
    if not ids:
        found = stores.survey_places()
        return found, found.chats, found.unread
    found = stores.survey([*paths, *(places or stores.places())])
    below = [path.expanduser().resolve() for path in paths]
    named = {stores.source_of(_by_id(id_, found.chats)) for id_ in ids}

    def is_below(path: Path) -> bool:
        return any(path.is_relative_to(folder) for folder in below)

    chats = [chat for chat in found.chats if stores.source_of(chat) in named or is_below(chat.path)]
    return found, chats, [skipped for skipped in found.unread if is_below(skipped.path)]


def _by_id(beginning: str, chats: list[Found]) -> Found:
    exact = [chat for chat in chats if chat.id == beginning]
    matches = exact or [chat for chat in chats if chat.id.startswith(beginning)]
    if not matches:
        what = "file or folder" if re.search(r"[/\\]|^[.~]", beginning) else "file, and no chat with the id"
        raise Stopped(f"There is no {what} {beginning}. `trailbook list` shows the chats.")
    if len(matches) > 1:
        some = ", ".join(f"{chat.id} ({chat.reader})" for chat in matches[:3])
        raise Stopped(f"{len(matches)} chats start with {beginning}: {some}. Write more of the id, or the path.", USAGE)
    return matches[0]


def _moment(of_day: Callable[[str, tzinfo], int], text: str | None, zone: tzinfo) -> int | None:
    if not text:
        return None
    try:
        return of_day(text, zone)
    except (ValueError, OverflowError):
        raise Stopped(f"{text} is no day. Write one as 2026-10-08.", USAGE) from None
