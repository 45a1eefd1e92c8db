"""Each written file is counted again from its bytes and compared with the log, before it is put in its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trailbook.checking import Counted, check_chats, count
from trailbook.comparison import Comparison, merged
from trailbook.fidelity import compare
from trailbook.ledger import Ledger
from trailbook.page_fidelity import compare_pages, compare_whole_page
from trailbook.page_ledger import count_note, count_report
from trailbook.readers import HEAD_BYTES, Found, Unreadable, reader
from trailbook.second_reading import Changed
from trailbook.stores import survey


@dataclass(slots=True)
class Recounted:
    """What came of comparing files with their logs."""

    lines: list[str] = field(default_factory=list)
    """One a file: what of the log stands in it; and one for each thing that does not."""
    lost: bool = False
    """Whether a file lacks something that its format carries."""


def recount(files: Iterable[Path], logs: Sequence[Found]) -> Recounted:
    """Compare written files with the logs that they were made of."""
    result = Recounted()
    try:
        counted = [count(found) for found in logs]
        for path in files:
            _compare(path, counted, result)
    except (Changed, Unreadable, OSError) as error:
        result.lines.append(f"The files could not be compared with the log: {error}")
        result.lost = True
    return _unless_changed(result, logs)


def recount_nothing(format_name: str, logs: Sequence[Found]) -> Recounted:
    """What came of chats of which a format's writer made no file: they must be such that it has no place for them."""
    result = Recounted()
    try:
        compared = [compare(count(found).ledger, Ledger(), _reader_of(format_name), None, None) for found in logs]
        whole = merged(compared, format_name)
        result.lines = [f"No file as {format_name}: {whole.sentence()}", *(loss.text for loss in whole.losses)]
        result.lost = not whole.complete
    except (Unreadable, OSError) as error:
        result.lines.append(f"What was not written as {format_name} could not be compared with the log: {error}")
        result.lost = True
    return _unless_changed(result, logs)


def _reader_of(format_name: str) -> str:
    return format_name.replace("-", "_")


def recount_pages(pages: Mapping[str, bytes], stems: Mapping[str, str], log: Found) -> Recounted:
    """Compare the reports and notes of one chat and its subagents with its log, as `page_fidelity.compare_pages`.

    Only what is lost has a line: a folder has very many pages.
    """
    result = Recounted()
    try:
        for name, comparison in compare_pages(count(log).ledger, pages, stems):
            if not comparison.complete:
                result.lines += [f"{name}: {comparison.sentence()}", *(loss.text for loss in comparison.losses)]
                result.lost = True
    except (Unreadable, OSError) as error:
        result.lines.append(f"The pages could not be compared with the log: {error}")
        result.lost = True
    return _unless_changed(result, [log])


def recount_page(name: str, data: bytes, format_name: str, logs: Sequence[Found]) -> Recounted:
    """Compare one report or note of some chats, exported by itself, with their logs."""
    result = Recounted()
    try:
        page = count_report([(name, data)]) if format_name == "report" else count_note(name, data)
        comparison = compare_whole_page([count(found).ledger for found in logs], page, format_name)
        result.lines = [f"{name}: {comparison.sentence()}", *(loss.text for loss in comparison.losses)]
        result.lost = not comparison.complete
    except (Unreadable, OSError) as error:
        result.lines.append(f"{name} could not be compared with the log: {error}")
        result.lost = True
    return _unless_changed(result, logs)


def _unless_changed(result: Recounted, logs: Sequence[Found]) -> Recounted:
    if result.lost and any(_has_changed(found) for found in logs):
        return Recounted(
            ["The log went on while it was read, so what was written of it could not be compared with it."]
        )
    return result


def _compare(path: Path, logs: Sequence[Counted], result: Recounted) -> None:
    written = survey([path])
    if not written.chats:
        result.lines.append(f"{path.name}: no chat can be read back from it.")
        result.lost = True
        return
    compared: list[Comparison] = []
    left = list(logs)
    for checked in check_chats(written.chats, logs):
        if checked.comparison is None:
            result.lines.append(f"{path.name}: {checked.written.id} is no chat of the log.")
            result.lost = True
        else:
            compared.append(checked.comparison)
            left = [log for log in left if log.found is not checked.log]
    format_name = written.chats[0].reader
    # A chat of which nothing was written must be one that the format has no place for.
    compared += [compare(log.ledger, Ledger(), format_name, None, None) for log in left]
    whole = merged(compared, format_name)
    result.lines.append(f"{path.name}: {whole.sentence()}")
    result.lines += [loss.text for loss in whole.losses]
    result.lost = result.lost or not whole.complete


def _has_changed(found: Found) -> bool:
    """Whether a log is no longer as it was found."""
    try:
        with found.path.open("rb") as stream:
            again = reader(found.reader).find(found.path, stream.read(HEAD_BYTES))
    except (Unreadable, OSError):
        return True
    return not isinstance(again, list) or found.fingerprint not in {chat.fingerprint for chat in again}
