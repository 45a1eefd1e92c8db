"""A report or a note that lacks a step of the log is found out, whatever the step was."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC
from functools import cache
from pathlib import Path

import pytest

from conftest import EXAMPLES
from trailbook.bundling import bundle
from trailbook.chat import Agent, Called, Chat, Place, Returned, Said, Text
from trailbook.comparison import Comparison
from trailbook.formats import Output, Sheet
from trailbook.ledger import Entry, Ledger, keep_nothing
from trailbook.making import make_chat
from trailbook.page_fidelity import compare_pages, compare_whole_page
from trailbook.page_ledger import count_note, count_report
from trailbook.readers import Found, reader
from trailbook.recounting import recount_page
from trailbook.stores import survey
from trailbook.writers.markdown import write_note
from trailbook.writers.report import write_report

Pages = dict[str, bytes]


@cache
def examples() -> list[Found]:
    return survey([EXAMPLES]).chats


def pages_of(found: Found) -> tuple[Ledger, Pages, dict[str, str]]:
    made = make_chat(found, Output(zone=UTC))
    ledger = reader(found.reader).count(found, keep_nothing)
    return ledger, {piece.name: piece.data for piece in made.pieces}, made.stems


def compared(found: Found, change: Callable[[str, str], str] = lambda name, page: page) -> dict[str, Comparison]:
    """What came of the chat's own pages after `change` changed each."""
    ledger, pages, stems = pages_of(found)
    changed = {name: change(name, page.decode()).encode() for name, page in pages.items()}
    return dict(compare_pages(ledger, changed, stems))


def slug() -> Found:
    return next(found for found in examples() if found.path == EXAMPLES / "atif" / "slug.json")


@pytest.mark.parametrize("found", examples(), ids=lambda found: found.id[:24])
def test_every_page_of_every_example_has_a_step_for_everything(found: Found) -> None:
    comparisons = compared(found)
    assert {name.partition("/")[0] for name in comparisons} == {"reports", "notes"}
    assert [(name, loss.text) for name, each in comparisons.items() for loss in each.losses] == []


@pytest.mark.parametrize("source", sorted({found.reader for found in examples()}))
@pytest.mark.parametrize("format_name", ["report", "markdown"])
def test_one_file_of_all_the_chats_of_an_agent_has_a_step_for_everything(source: str, format_name: str) -> None:
    chosen = [found for found in examples() if found.reader == source]
    made = bundle(chosen, format_name, Output(zone=UTC), Path(), alone=len(chosen) == 1)
    recounted = recount_page(made.pieces[0].name, made.pieces[0].data, format_name, made.sources)
    assert (recounted.lost, recounted.lines[1:]) == (False, [])


def test_a_subagent_that_stands_in_no_call_has_a_step_and_its_own_on_an_exported_page() -> None:
    below = Chat("below/1", "s", Agent("A", None, "P"), events=[Said(text="Looked", place=Place("b", 1))])
    chat = Chat("c", "s", Agent("A", None, "P"), events=[Said(text="Done", place=Place("a", 1))], subagents=[below])
    (page,) = write_report(chat, Sheet(Output(zone=UTC), "c", alone=True))
    assert b"Handed on, by no call that the log names" in page.data
    log = Ledger("c", [Entry("answer", Place("a", 1), b"")])
    log.subagents = [Ledger("below/1", [Entry("answer", Place("b", 1), b"")])]
    assert compare_whole_page([log], count_report([("c", page.data)]), "report").losses == []
    without = page.data.replace(b' data-kind="said" data-chat', b' data-kind="noted" data-chat')
    assert without != page.data
    lost = compare_whole_page([log], count_report([("c", without)]), "report").losses
    assert [loss.kind for loss in lost] == ["answer"]
    log.subagents.append(Ledger("gone", [Entry("call", Place("b", 2), b"", id="t")]))
    lost = compare_whole_page([log], count_report([("c", page.data)]), "report").losses
    assert [loss.text for loss in lost] == ["The call of t has no step."]


def test_the_sentence_counts_the_chats_own_calls_and_its_results_without_one() -> None:
    sentences = {name.partition("/")[0]: each.sentence() for name, each in list(compared(slug()).items())[:2]}
    assert sentences == {"reports": "4 of 4 calls, 6 of 6 results", "notes": "4 of 4 calls, 6 of 6 results"}


def test_subagents_have_pages_of_their_own() -> None:
    assert [each.expected["call"] for each in compared(slug()).values()] == [4, 4, 1, 1]


def _without(pattern: str) -> Callable[[str, str], str]:
    def change(_name: str, page: str) -> str:
        return re.sub(pattern, "", page, count=1)

    return change


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("prompt", _without(r'<li class="st c-you" data-kind="asked"|\[//\]: # \(asked\)')),
        ("answer", _without(r'<li class="st c-say" data-kind="said"|\[//\]: # \(said\)')),
        ("thought", _without(r'<li class="st c-think" data-kind="thought"|\[//\]: # \(thought\)')),
        ("call", _without(r' data-call="call_read_1"|\[//\]: # \(call call_read_1 answered\)')),
        ("result", _without(r'(?<=data-answered=")yes|(?<=call_read_1 )answered(?=\))')),
        ("result", _without(r' data-result=""|\[//\]: # \(result\)')),
    ],
)  # fmt: skip
def test_a_step_that_is_missing_is_found_in_both(kind: str, change: Callable[[str, str], str]) -> None:
    report, note = list(compared(slug(), change).values())[:2]
    assert {kind} <= {loss.kind for loss in report.losses}
    assert {kind} <= {loss.kind for loss in note.losses}


def test_a_step_that_the_log_has_not_is_found() -> None:
    def twice(_name: str, page: str) -> str:
        return page.replace("[//]: # (said)", "[//]: # (said)\n\n[//]: # (said)", 1)

    parcels = next(found for found in examples() if found.path.name == "parcels.jsonl")
    report, note = compared(parcels, twice).values()
    assert (report.losses, [loss.text for loss in note.losses]) == ([], ["There are 1 answers more than in the log."])


def test_what_a_chat_says_cannot_pass_for_a_step(tmp_path: Path) -> None:
    said = 'x\n<li class="st c-say" data-kind="said">\n[//]: # (said)\n```\n[//]: # (thought)\n```'
    log = tmp_path / "chat.jsonl"
    log.write_text(json.dumps({"messages": [{"role": role, "content": said} for role in ("user", "assistant")]}))
    (found,) = survey([log]).chats
    for each in compared(found).values():
        assert each.losses == []
        assert (each.found["prompt"], each.found["answer"], each.found["thought"]) == (1, 1, 0)


def test_a_subagent_without_pages_is_found() -> None:
    ledger, pages, stems = pages_of(slug())
    own = stems[next(iter(stems))]
    left = {name: page for name, page in pages.items() if own in name}
    assert len(left) == 2
    lost = [loss.kind for _, each in compare_pages(ledger, left, stems) for loss in each.losses]
    assert lost == ["subagent", "subagent"]


@pytest.mark.parametrize(
    "call", ["a\tb\x1b[31m", "\u202eid", 'x" data-kind="said', "50%2e", "a\nb", "é", "%", "<b>&amp;"]
)
def test_a_call_is_known_by_any_id_and_what_is_no_fence_hides_no_step(call: str) -> None:
    chat = Chat("c", "conch", Agent("Pearl", None, "Conch"))
    chat.events = [
        Said(text="```x``y```"),
        Called(id=call, name="Read"),
        Returned(call=call, parts=[Text("``` ```")], ok=True),
        Said(text="Done."),
    ]
    sheet = Sheet(Output(), "page")
    (report,) = write_report(chat, sheet)
    (note,) = write_note(chat, sheet)
    ledgers = [count_report([("page", report.data)]), count_note("note", note.data)]
    for ledger in ledgers:
        assert [(entry.kind, entry.id) for entry in ledger.entries] == [
            ("answer", None),
            ("call", call),
            ("result", call),
            ("answer", None),
        ]
