"""Every file that was changed, with the chats and steps that changed it: who touched this, and why?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from trailbook.formats import Output, Piece
from trailbook.themes import Theme
from trailbook.wording import counted, date_and_time
from trailbook.writers.index.rows import Row
from trailbook.writers.report import policy

PAGE_BYTES = 2_400_000
"""Estimated bytes of one page of files."""


@dataclass(slots=True)
class Touch:
    """One chat that changed a file, newest first."""

    title: str
    when: str
    href: str
    steps: list[tuple[int, str]]
    more: int
    why: str
    """What a person had asked, where the title does not say it."""


@dataclass(slots=True)
class Changed:
    """One file."""

    path: str
    project: str
    touches: list[Touch] = field(default_factory=list)

    def size(self) -> int:
        """About how many bytes it takes on the page."""
        return (
            160
            + 2 * len(self.path)
            + sum(220 + len(each.title) + 2 * len(each.why) + 110 * len(each.steps) for each in self.touches)
        )


@dataclass(slots=True)
class Folder:
    """The files of one project."""

    name: str
    files: list[Changed]
    count: str


def write_files(rows: Sequence[Row], output: Output, theme: Theme) -> list[Piece]:
    """`files.html`, and further parts where one page would be too large; nothing where no file was changed."""
    files = _files(rows, output)
    if not files:
        return []
    parts = _share_out(files)
    left_out = sum(row.more_files for row in rows)
    names = ["files.html" if number == 1 else f"files-{number}.html" for number in range(1, len(parts) + 1)]
    style = theme.styles["index"]
    return [
        Piece(
            name,
            theme.render(
                "files.html",
                policy=policy(style.source, images=False),
                style=style.text,
                folders=_folders(part),
                total=counted(len(files), "file"),
                left_out=f"{counted(left_out, 'more file')} of long chats are not listed." if left_out else "",
                pages=names,
                page=name,
            ),
        )
        for name, part in zip(names, parts, strict=True)
    ]


def _files(rows: Sequence[Row], output: Output) -> list[Changed]:
    found: dict[tuple[str, str], Changed] = {}
    for row in sorted(rows, key=lambda each: (-(each.started or 0), each.stem)):
        for path, steps, more, why in row.files:
            touch = Touch(
                row.title,
                date_and_time(row.started, output.zone),
                quote(row.report or row.note, safe="/"),
                [(number, f"reports/{quote(address, safe='#')}" if address else "") for number, address in steps],
                more,
                why,
            )
            found.setdefault((row.project, path), Changed(path, row.project)).touches.append(touch)
    return sorted(found.values(), key=lambda each: (each.project.casefold(), each.path.casefold(), each.path))


def _share_out(files: list[Changed]) -> list[list[Changed]]:
    parts: list[list[Changed]] = [[]]
    filled = 0
    for each in files:
        size = each.size()
        if filled + size > PAGE_BYTES and parts[-1]:
            parts.append([])
            filled = 0
        parts[-1].append(each)
        filled += size
    return parts


def _folders(files: Sequence[Changed]) -> list[Folder]:
    grouped: dict[str, list[Changed]] = {}
    for each in files:
        grouped.setdefault(each.project, []).append(each)
    return [
        Folder(name or "No working folder", of_one, counted(len(of_one), "file")) for name, of_one in grouped.items()
    ]
