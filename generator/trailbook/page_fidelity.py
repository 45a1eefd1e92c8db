"""A report or a note compared with the log: every prompt, answer, thought, call and result has its step.

Words are shortened there and rendered, so they are counted; calls and results are told apart by the call's id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from trailbook.comparison import WORDS, Comparison, Loss, merged
from trailbook.ledger import Entry, Ledger, digest_of_text
from trailbook.page_ledger import count_note, count_report

_NOTHING = digest_of_text("")


def compare_page(log: Ledger, page: Ledger, format_name: str) -> Comparison:
    """Compare a log with the page of it, the log's subagents left alone: they have pages of their own.

    A note leaves out what another chat has already; both may show more thoughts than have words (encrypted ones).
    """
    comparison = Comparison(format_name, shortened=page.not_carried.get("shortened", 0))
    shown = [*page.entries, *page.aside]
    everything = [*log.entries, *log.aside]
    needed = log.entries if format_name == "markdown" else everything
    for kind in ("prompt", "answer", "thought"):
        most = None if kind == "thought" else len(_of(everything, kind))
        _compare_counts(kind, len(_of(needed, kind)), most, len(_of(shown, kind)), comparison)
    for kind in ("call", "result"):
        _compare_ids(kind, _ids(needed, kind), _ids(everything, kind), _ids(shown, kind), comparison)
    return comparison


def compare_whole_page(logs: Sequence[Ledger], page: Ledger, format_name: str) -> Comparison:
    """Compare some chats with the one page of all of them, which a report's subagents stand on too; a note has no place
    for them.
    """
    comparison = compare_page(_merged(logs), page, format_name)
    below = _by_chat(logs)
    if format_name == "markdown":
        comparison.not_carried["subagent"] = len(below)
        return comparison
    shown = {subagent.chat: subagent for subagent in page.subagents}
    of_subagents = [compare_page(below[chat], shown.get(chat, Ledger()), format_name) for chat in below]
    of_subagents += [compare_page(Ledger(), shown[chat], format_name) for chat in shown if chat not in below]
    return merged([comparison, *of_subagents], format_name)


def _by_chat(logs: Iterable[Ledger]) -> dict[str | None, Ledger]:
    """The subagents below some chats, by their ids; those of one id as one."""
    found: dict[str | None, list[Ledger]] = {}
    for log in logs:
        for ledger in _below(log):
            found.setdefault(ledger.chat, []).append(ledger)
    return {chat: _merged(ledgers) for chat, ledgers in found.items()}


def _below(log: Ledger) -> Iterable[Ledger]:
    for subagent in log.subagents:
        yield subagent
        yield from _below(subagent)


def _merged(logs: Iterable[Ledger]) -> Ledger:
    whole = Ledger()
    for log in logs:
        whole.entries += log.entries
        whole.aside += log.aside
    return whole


def compare_pages(
    log: Ledger, pages: Mapping[str, bytes], stems: Mapping[str, str]
) -> Iterable[tuple[str, Comparison]]:
    """The reports and notes of a chat and its subagents, each with what came of comparing it.

    `pages` are the files of a folder by their paths; `stems` their names by the path of chat ids, the chat's own first.
    """
    chat, *_ = stems
    folders = {name.partition("/")[0] for name in pages}
    for key, ledger in _each(log, chat):
        stem = stems.get(key)
        report = _parts(pages, stem)
        if report:
            yield report[0][0], compare_page(ledger, count_report(report), "report")
        elif "reports" in folders:
            yield key, _without_page(ledger, "report")
        note = pages.get(f"notes/{stem}.md")
        if note is not None:
            yield f"notes/{stem}.md", compare_page(ledger, count_note(f"{stem}.md", note), "markdown")
        elif "notes" in folders:
            yield key, _without_page(ledger, "markdown")


def _without_page(ledger: Ledger, format_name: str) -> Comparison:
    comparison = Comparison(format_name)
    _lose("subagent", f"The chat {ledger.chat} has no page in the format {format_name}.", comparison)
    return comparison


def _parts(pages: Mapping[str, bytes], stem: str | None) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    name = f"reports/{stem}.html"
    while name in pages:
        found.append((name, pages[name]))
        name = f"reports/{stem}-{len(found) + 1}.html"
    return found


def _each(log: Ledger, key: str) -> Iterable[tuple[str, Ledger]]:
    yield key, log
    for subagent in log.subagents:
        yield from _each(subagent, f"{key}/{subagent.chat}")


def _of(entries: list[Entry], kind: str) -> list[Entry]:
    """The entries that have a step of their own: what a harness said may stand in a note, and says nothing of work."""
    return [entry for entry in entries if entry.kind == kind and not entry.injected]


def _compare_counts(kind: str, expected: int, most: int | None, found: int, comparison: Comparison) -> None:
    comparison.expected[kind] = expected
    comparison.found[kind] = min(found, expected)
    if found < expected:
        _lose(kind, f"{expected - found} of {expected} {WORDS[kind][1]} have no step.", comparison)
    elif most is not None and found > most:
        _lose(kind, f"There are {found - most} {WORDS[kind][1]} more than in the log.", comparison)


def _ids(entries: list[Entry], kind: str) -> Counter[str | None]:
    """The ids of calls, or of the calls that have a result; one that comes again is told apart by its number."""
    if kind == "result":
        answered = {entry.id for entry in entries if entry.kind == "result"}
        ids = [entry.id for entry in entries if entry.kind == "call" and entry.id in answered]
        orphans = [None for entry in entries if entry.kind == "result" and entry.id not in set(ids)]
        return Counter([*_told_apart(ids), *orphans])
    return Counter(_told_apart([entry.id for entry in entries if entry.kind == "call"]))


def _told_apart(ids: list[str | None]) -> list[str | None]:
    seen: Counter[str | None] = Counter()
    found: list[str | None] = []
    for logged in ids:
        seen[logged] += 1
        found.append(logged if logged is None or seen[logged] == 1 else f"{logged}__{seen[logged]}")
    return found


def _compare_ids(
    kind: str,
    needed: Counter[str | None],
    everything: Counter[str | None],
    shown: Counter[str | None],
    comparison: Comparison,
) -> None:
    missing = list((needed - shown).elements())
    added = list((shown - everything).elements())
    comparison.expected[kind] = needed.total()
    comparison.found[kind] = needed.total() - len(missing)
    for call in missing:
        _lose(kind, f"The {kind} of {call} has no step.", comparison)
    for call in added:
        _lose(kind, f"There is a {kind} of {call} that the log has not.", comparison)


def _lose(kind: str, text: str, comparison: Comparison) -> None:
    comparison.losses.append(Loss(kind, text))
