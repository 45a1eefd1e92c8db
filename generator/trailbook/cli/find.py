"""`trailbook find`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trailbook.cli import options as shared
from trailbook.failures import NOTHING, SOME_FAILED, USAGE, Stopped

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from trailbook.manifest import Manifest
    from trailbook.searching import Hit, Hits


@click.command(name="find")
@click.argument("words", nargs=-1, required=True)
@click.option("--out", "-o", type=click.Path(path_type=Path), help="A folder that was built, for links to its reports.")
@shared.what_options
@shared.redaction_options
@shared.tz_option
def command(words: tuple[str, ...], out: Path | None, **options: Any) -> int:
    """Find words in what was asked, said and done.

    A step is found when it has all the WORDS; several in quotes are looked for as they stand. The chats are searched
    as they would be written: what is taken out is not found. With a folder that was built (--out, or `out` in
    trailbook.toml) each step comes with the link to it.
    """
    from trailbook import manifest
    from trailbook.searching import Search, search_all

    words = tuple(word for word in words if word.strip())
    if not words:
        raise Stopped("There are no words to look for. Write some: trailbook find rounding.", USAGE)
    chosen = shared.choose((), options)
    if not chosen.survey.chats:
        raise shared.nothing_found(chosen.survey)
    output = shared.output_of(chosen, options, ())
    folder = (out or chosen.settings.out or Path()).expanduser().resolve()
    if out is not None and not manifest.is_ours(folder):
        raise Stopped(f"{out} holds no reports that trailbook built. Check --out.", USAGE)
    reports = manifest.load(folder)
    hits, failed = search_all([Search(found, words, output) for found in chosen.chats])
    for each in hits:
        shared.say(_lines(each, reports, chosen.zone))
    shared.say(failed, err=True)
    if failed:
        return SOME_FAILED
    if not hits:
        raise Stopped(f"No step has {' and '.join(words)}.", NOTHING)
    return 0


def _lines(hits: Hits, reports: Manifest, zone: tzinfo) -> Iterator[str]:
    from trailbook.terminal import line
    from trailbook.wording import counted, date_and_time

    when = date_and_time(hits.started, zone)
    yield " · ".join(filter(None, (line(hits.title), when, line(hits.path), counted(len(hits.steps), "step"))))
    pages = _pages(hits, reports)
    for hit in hits.steps:
        at = date_and_time(hit.at, zone)
        title = line(hit.title)
        excerpt = line(hit.excerpt)
        yield f"  {hit.number:>4}  " + " · ".join(filter(None, (at, title, excerpt if excerpt != title else "")))
        link = _link(hit, pages)
        if link is not None:
            yield f"        {link}"


def _pages(hits: Hits, reports: Manifest) -> list[tuple[Path, bytes]]:
    """The pages of a chat's report, where it was built."""
    entry = reports.entries.get((hits.found.reader, hits.found.id))
    stem = entry.stems.get(hits.path) if entry else None
    if entry is None or stem is None:
        return []
    names = [name for name in entry.files if name.endswith(".html") and _is_of(Path(name).stem, stem)]
    files = [path for name in names if (path := reports.folder / name).is_file()]
    return [(path, path.read_bytes()) for path in files]


def _is_of(page: str, stem: str) -> bool:
    """Whether a page is of the report with that name: itself, or a further part (`-2`)."""
    return page == stem or (page.startswith(f"{stem}-") and page[len(stem) + 1 :].isdigit())


def _link(hit: Hit, pages: list[tuple[Path, bytes]]) -> str | None:
    mark = f'id="s{hit.number}"'.encode()
    return next((f"{path.as_uri()}#s{hit.number}" for path, page in pages if mark in page), None)
