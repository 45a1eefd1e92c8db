"""What was found, left out and passed over, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from trailbook.readers import reader
from trailbook.stores import Skipped, Survey
from trailbook.terminal import line
from trailbook.wording import counted

_VERDICTS = {
    "copy": ("copy", "copies"),
    "passed over": ("passed over", "passed over"),
    "not recognised": ("not recognised", "not recognised"),
    "unreadable": ("unreadable", "unreadable"),
}


def lines_of_survey(survey: Survey, left_out: Mapping[str, int]) -> Iterator[str]:
    """What a survey came to, a line each: the places looked at, the sums, and each file that could not be read."""
    there = [look for look in survey.looked if look.exists]
    yield from (f"{look.product}: {counted(look.chats, 'chat')} in {look.path}" for look in there)
    absent = {look.product: None for look in survey.looked if look.product not in {each.product for each in there}}
    if absent:
        yield f"Nothing where {', '.join(absent)} keep theirs."
    products = Counter(reader(chat.reader).PRODUCT for chat in survey.chats)
    chats = counted(len(survey.chats), "chat")
    if products and not survey.looked:
        chats += f" ({', '.join(f'{number:,} {product}' for product, number in products.most_common())})"
    parts = [chats, *_verdicts(survey.skipped)]
    yield f"{counted(survey.files, 'file')}: {', '.join(parts)}."
    if left_out:
        yield line_of_left_out(left_out)
    yield from map(line_of_file, survey.unread)


def line_of_left_out(left_out: Mapping[str, int]) -> str:
    """How many chats were left out, and by what."""
    total = counted(sum(left_out.values()), "chat")
    reasons = (
        f"{number:,} {'by' if why.startswith('--') else 'with'} {why}" for why, number in sorted(left_out.items())
    )
    return f"Left out: {total} ({', '.join(reasons)})."


def line_of_file(skipped: Skipped) -> str:
    """A file that is no chat, and why."""
    return line(f"{skipped.path}: {skipped.verdict}: {skipped.why}")


def _verdicts(skipped: Iterable[Skipped]) -> Iterator[str]:
    counts = Counter(item.verdict for item in skipped)
    for verdict, (one, many) in _VERDICTS.items():
        if counts[verdict]:
            yield f"{counts[verdict]:,} {one if counts[verdict] == 1 else many}"
