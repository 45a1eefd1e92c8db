"""The report: nothing of the chat is missing, nothing in it can act, and every step has its address."""

from __future__ import annotations

import json
import re
from datetime import UTC
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from full_chat import START, each_of_its_own, full_chat
from pages import faults, name_of, parse
from trailbook import pool
from trailbook.chat import (
    Agent,
    Asked,
    Called,
    Chat,
    Diagnostic,
    Event,
    FileChange,
    FilesChanged,
    Image,
    Place,
    Returned,
    Said,
    Text,
)
from trailbook.formats import Output, Sheet
from trailbook.redaction.removed import Removed
from trailbook.rendering.cleaning import clean
from trailbook.writers.batch import write_batch
from trailbook.writers.report import report_addresses, write_report

PAYLOADS: list[str] = json.loads((Path(__file__).parent.parent / "data" / "payloads.json").read_text())
PAGES_OF_TEXT = ("x" * 99 + "\n") * 80
PNG = b"\x89PNG\r\n\x1a\nrest"


def sheet_of(stem: str = "report", **more: Any) -> Sheet:
    output = {name: more.pop(name) for name in ("full", "images") if name in more}
    return Sheet(Output(zone=UTC, **output), stem, **more)


def chat_of(*events: Event, **more: Any) -> Chat:
    return Chat(id="c1", source="conch", agent=Agent("Pearl", None, "Conch"), events=list(events), **more)


def pages_of(chat: Chat, **more: Any) -> dict[str, Any]:
    return {piece.name: parse(piece.data) for piece in write_report(chat, sheet_of(**more))}


def page_of(chat: Chat, **more: Any) -> Any:
    (page,) = pages_of(chat, **more).values()
    return page


def words(element: Any) -> str:
    return "".join(element.itertext())


def steps_of(page: Any) -> list[Any]:
    """The steps of a page, the whole run (step 0) not among them."""
    return [item for item in page.iter("li") if item.get("data-kind")]


def find(page: Any, class_: str) -> list[Any]:
    return [element for element in page.iter() if class_ in (element.get("class") or "").split()]


def calls(count: int, result: str) -> list[Event]:
    events: list[Event] = [Asked(id="u", text="Go on", at=START)]
    for number in range(count):
        at = START + number * 1_000
        events.append(Called(id=f"call{number}", name="Bash", arguments={"command": f"echo {number}"}, at=at))
        events.append(Returned(call=f"call{number}", parts=[Text(result)], ok=True, at=at + 500))
    return events


# --- nothing can act


@pytest.mark.parametrize("payload", PAYLOADS)
def test_nothing_that_a_chat_says_can_run_load_or_break_out(payload: str) -> None:
    chat = full_chat(lambda _name: payload)
    sheet = sheet_of(parent="parent", subagents={chat.subagents[0].id: "below"}, images=True)
    for piece in write_report(chat, sheet):
        assert faults(piece.data, images=True) == []
    assert faults(write_batch([chat, chat], sheet), images=True) == []


def test_every_word_of_a_chat_stands_in_its_report() -> None:
    page = page_of(full_chat(each_of_its_own))
    shown = words(page)
    said: list[str] = []
    full_chat(lambda name: said.append(each_of_its_own(name)) or each_of_its_own(name))  # type: ignore[func-returns-value]
    # Ids stand in the data of steps; of a label the words for its outcome are shown; the rest begins with a capital.
    elsewhere = {
        "asked.id",
        "call.id",
        "label.doing",
        "label.subject",
        "message.model",
        "engine",
        "topic",
        "injected.what",
    }
    missing = {name for name in said if name not in shown} - {each_of_its_own(name) for name in elsewhere}
    assert missing == set()


@pytest.mark.parametrize("payload", [text for text in PAYLOADS if "\n" not in text and "\r" not in text])
def test_text_is_read_as_it_stands(payload: str) -> None:
    events = [
        Asked(id="u", text="Go", at=START),
        Called(id=payload, name=payload, raw=f"<{payload}>", at=START),
        Returned(call=payload, parts=[Text(f"|{payload}|")], ok=True, at=START),
    ]
    page = page_of(chat_of(*events, title=f"-{payload}-", cwd=f"/{payload}/"))
    title = " ".join(f"-{payload}-".split())
    assert words(page.find(".//h1")) == clean(title, prose=True)
    assert words(page.find(".//title")) == clean(title, prose=True)
    shown = [words(pre).lstrip("\n") for pre in page.iter("pre")]
    assert clean(f"<{payload}>") in shown
    assert clean(f"|{payload}|") in shown
    assert unquote(steps_of(page)[1].get("data-call")) == payload.encode("utf-8", "replace").decode()
    assert clean(f"/{payload}/", prose=True) in [words(bdi) for bdi in page.iter("bdi")]


# --- nothing is missing


def test_each_step_says_its_kind_and_its_call() -> None:
    page = page_of(
        chat_of(
            Asked(id="u", text="Fix it", at=START),
            Asked(id="r", text="Mind the rules", injected="reminder", at=START),
            Called(id="t1", name="Read", arguments={"file_path": "a.py"}, at=START),
            Called(id="t2", name="Bash", arguments={"command": "ls"}, at=START),
            Returned(call="t1", parts=[Text("x = 1")], ok=True, at=START + 1_000),
            Returned(call="gone", parts=[Text("late")], linked=None, at=START + 2_000),
            Said(text="Done", at=START + 3_000),
        )
    )
    told = [
        {name[5:]: value for name, value in step.attrib.items() if name.startswith("data-")} for step in steps_of(page)
    ]
    assert told == [
        {"kind": "asked"},
        {"kind": "asked", "injected": "reminder"},
        {"kind": "tool", "call": "t1", "answered": "yes"},
        {"kind": "tool", "call": "t2", "answered": "no"},
        {"kind": "noted", "result": "gone"},
        {"kind": "said"},
    ]


def test_a_long_result_is_shortened_and_counted_unless_it_is_wanted_whole() -> None:
    result = "".join(f"line {number}\n" for number in range(5_000))
    chat = chat_of(*calls(1, result))
    page = page_of(chat)
    (step,) = [step for step in steps_of(page) if step.get("data-call")]
    assert step.get("data-shortened") == "1"
    shown = "".join(words(pre).lstrip("\n") for pre in step.iter("pre") if pre.get("class") == "terminal")
    left_out = int(re.search(r"([\d,]+) characters\)", words(find(step, "cut")[0]))[1].replace(",", ""))  # type: ignore[index]
    assert len(shown) + left_out == len(result)
    assert shown.startswith("line 0\n")
    assert shown.endswith("line 4999\n")
    whole = page_of(chat, full=True)
    assert result in words(whole)
    assert not find(whole, "cut")


def test_a_step_says_where_it_stands_in_the_log() -> None:
    page = page_of(
        chat_of(
            Called(id="t", name="Bash", arguments={"command": "ls"}, place=Place("c1.jsonl", 1_204), at=START),
            Returned(call="t", parts=[Text("a")], linked="order", place=Place("c1.jsonl", 1_209), at=START),
        )
    )
    facts = {words(div[0]): words(div[1]) for div in steps_of(page)[0].find(".//dl")}
    assert facts["In the log"] == "line 1,204, result in line 1,209 of c1.jsonl"
    assert facts["Result paired by"] == "order"


def test_branches_and_what_is_inherited_are_folded() -> None:
    page = page_of(
        chat_of(
            Asked(id="a", text="From the parent", inherited=True, at=START),
            Asked(id="b", text="First try", at=START),
            Said(text="Left", branch="aside", at=START),
            Said(text="Kept", at=START),
        )
    )
    folds = [
        words(details.find("summary")) for details in page.iter("details") if "turn" in _class_above(page, details)
    ]
    assert folds == ["Taken over from the chat this one continues · 1 step", "Abandoned branch · 2 steps"]
    kinds = [(step.get("data-inherited"), step.get("data-branch")) for step in steps_of(page)]
    assert kinds == [("yes", None), (None, None), (None, "aside"), (None, "aside"), (None, None)]


def _class_above(page: Any, element: Any) -> str:
    above = {child: parent for parent in page.iter() for child in parent}
    return above[element].get("class") or ""


# --- the head


def test_the_head_tells_the_chat_by_its_figures() -> None:
    chat = full_chat(each_of_its_own)
    removed = Removed()
    removed.count("email", b"1")
    output = Output(zone=UTC, context=object())  # type: ignore[arg-type]
    page = parse(write_report(chat, Sheet(output, "report", removed=removed))[0].data)
    overview = find(page, "overview")[0]
    figures = {words(div[0]): words(div[1]) for div in find(overview, "figures")[0]}
    assert figures["Tokens read"] == "1.2k 1.0k from cache"
    assert figures["Tokens written"] == "34"
    assert figures["Cost"] == "$0.02"
    assert figures["Waiting for you"] == "0.5s"
    assert figures["Handed on to"] == "1 subagent"
    about = {words(div[0]): words(div[1]) for div in find(overview, "about")[0]}
    assert about["Taken out"] == "1 email address."
    assert about["Working folder"] == "the cwd"
    assert about["Forked from"] == "the parent"
    assert about["Open it again"] == "agent --resume 'the reopen'"
    assert "8 Oct 2026, 09:00" in words(overview)
    assert "(UTC)" in words(overview)


def test_without_redaction_the_head_says_so() -> None:
    assert "redaction switched off" in words(page_of(chat_of(Asked(id="u", text="Hi", at=START))))


def test_a_parent_and_its_subagent_link_each_other() -> None:
    chat = full_chat(each_of_its_own)
    above = page_of(chat, subagents={"below": "2026-10-08-sub-1a2b3c"})
    links = [link.get("href") for link in find(above, "chat")[0].iter("a")]
    assert links == ["2026-10-08-sub-1a2b3c.html"]
    below = page_of(chat.subagents[0], parent="2026-10-08-top-4d5e6f")
    assert "2026-10-08-top-4d5e6f.html" in [link.get("href") for link in below.iter("a")]


def test_in_an_exported_report_a_subagents_steps_stand_where_it_was_started() -> None:
    page = page_of(full_chat(each_of_its_own), alone=True)
    (section,) = find(page, "chat")
    nested = steps_of(section)
    assert [step.get("data-chat") for step in nested] == ["below"] * 24
    assert len(steps_of(page)) == 48
    assert not list(section.iter("a"))


# --- the replay


def test_every_step_has_a_radio_a_row_a_tally_and_an_address() -> None:
    page = page_of(full_chat(each_of_its_own), subagents={"below": "below"})
    steps = steps_of(page)
    radios = [step.find("input") for step in steps]
    assert [radio.get("id") for radio in radios] == [f"s{number}" for number in range(1, len(steps) + 1)]
    assert {radio.get("name") for radio in radios} == {"s"}
    ids = [element.get("id") for element in page.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    for label in page.iter("label"):
        assert label.get("for") is None or label.get("for") in ids
    for link in page.iter("a"):
        if link.get("href").startswith("#"):
            assert link.get("href")[1:] in ids
    tallies = [words(span) for span in page.iter("span") if (span.get("id") or "").startswith("t")]
    assert tallies[-1].startswith("In all: ")
    assert tallies[1].startswith("By here: ")
    chunks = [len(chunk.findall("./ol/li")) for chunk in find(page, "turn")]
    assert max(chunks) <= 25


def test_a_page_with_one_step_is_small() -> None:
    (page,) = write_report(chat_of(Asked(id="u", text="Hi", at=START)), sheet_of())
    assert len(page.data) <= 32_000


def test_a_report_is_the_same_however_many_cores_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "```python\n" + "def total(lines: list[int]) -> int:\n    return sum(lines)  # all\n" * 9 + "```"
    said = [Said(text=f"{number}:\n\n{code}", at=START + number) for number in range(700)]
    made = []
    for cores in (1, 2):
        monkeypatch.setattr(pool, "_own_cores", cores)
        made.append(write_report(chat_of(*said), sheet_of()))
    assert made[0] == made[1]
    highlighted = [b'class="p-k"' in step for step in made[0][0].data.split(b"<li ")]
    assert any(highlighted)
    assert not all(highlighted[2:])


def test_a_long_chat_goes_on_in_parts_and_every_address_holds() -> None:
    chat = chat_of(*calls(1_000, PAGES_OF_TEXT))
    sheet = sheet_of("long")
    pieces = write_report(chat, sheet)
    assert [piece.name for piece in pieces] == [
        "reports/long.html",
        *(f"reports/long-{part}.html" for part in (2, 3, 4)),
    ]
    assert max(len(piece.data) for piece in pieces) <= 3_000_000
    pages = {piece.name.removeprefix("reports/"): parse(piece.data) for piece in pieces}
    ids = {name: {element.get("id") for element in page.iter() if element.get("id")} for name, page in pages.items()}
    for name, page in pages.items():
        for link in page.iter("a"):
            target, _, step = link.get("href").partition("#")
            if target.startswith("../"):
                continue
            assert not step or step in ids[target or name], (name, link.get("href"))
    addresses = report_addresses(chat, sheet)
    assert len(addresses) == 1_001
    for address in addresses:
        target, _, step = address.partition("#")
        assert step in ids[target]
    told = [int(words(step.find("label").find("b"))) for page in pages.values() for step in steps_of(page)]
    assert told == list(range(1, 1_002))


def test_no_single_step_or_head_makes_a_page_too_large() -> None:
    long, deep = "p" * 3_000, {}
    for _ in range(1_000):
        deep = {"a": deep}
    arguments: Any = {
        "deep": deep,
        "todos": [{"content": long, "status": "done"}] * 2_000,
        **{f"argument {number}": number for number in range(500)},
        **{f"text {number}": "line\n" * 3_000 for number in range(50)},
    }
    chat = chat_of(
        Called(id="t", name=long, arguments=arguments, at=START),
        FilesChanged(id="f", files=[FileChange(f"{number}{long}") for number in range(20_000)], at=START),
        Asked(id="u", text="See", parts=[Image(reference=long)] * 2_000, at=START),
        diagnostics=[Diagnostic("damaged-line", long)] * 5_000,
        cwd=long,
        models=[long] * 500,
    )
    (piece,) = write_report(chat, sheet_of())
    assert len(piece.data) <= 3_000_000
    page = parse(piece.data)
    shown = words(page)
    for told in (
        "… and 1,600 more",
        "… and 19,600 more",
        "… and 19,800 more",
        "… and 4,800 more",
        "more pieces left out",
    ):
        assert told in shown
    assert faults(piece.data) == []


def test_an_exported_report_is_one_page_whatever_its_size() -> None:
    (piece,) = write_report(chat_of(*calls(900, PAGES_OF_TEXT)), sheet_of(alone=True))
    assert len(piece.data) > 3_000_000


def test_parts_are_split_where_a_turn_begins() -> None:
    events = [
        event
        for turn in range(30)
        for event in [Asked(id=f"u{turn}", text=f"Turn {turn}", at=START), *calls(20, PAGES_OF_TEXT)[1:]]
    ]
    pieces = write_report(chat_of(*events), sheet_of())
    assert len(pieces) > 1
    for piece in pieces[1:]:
        assert steps_of(parse(piece.data))[0].get("data-kind") == "asked"


def test_a_chat_without_times_or_steps_has_a_page() -> None:
    for events in ([], [Asked(id="u", text="Hi")], [Said(text="Hello")]):
        (piece,) = write_report(chat_of(*events), sheet_of())
        assert faults(piece.data) == []


def test_the_same_chat_gives_the_same_bytes() -> None:
    one, other = full_chat(each_of_its_own), full_chat(each_of_its_own)
    assert write_report(one, sheet_of()) == write_report(other, sheet_of())


# --- views of tools


def step_with(**arguments: Any) -> Any:
    chat = chat_of(
        Called(id="t", name="some_tool", arguments=arguments, at=START),
        Returned(call="t", parts=[Text("out")], ok=True, exit_status=3, at=START),
    )
    return steps_of(page_of(chat))[0]


def test_a_command_is_shown_as_one_with_its_exit_status() -> None:
    step = step_with(command=["bash", "-lc", "ls | wc -l"], timeout_ms=500)
    (command,) = [pre for pre in step.iter("pre") if pre.get("class") == "code"]
    assert words(command).strip() == "ls | wc -l"
    assert "exit status 3" in words(step)
    assert "timeout ms" in words(step)


def test_a_to_do_list_is_a_list() -> None:
    step = step_with(todos=[{"content": "Read", "status": "completed"}, {"content": "Write", "status": "in_progress"}])
    (listed,) = [ul for ul in step.iter("ul") if ul.get("class") == "checklist"]
    assert [(item.get("class"), words(item)) for item in listed] == [("done", "Done: Read"), ("begun", "Begun: Write")]


def test_arguments_are_readable_and_never_a_dump() -> None:
    step = step_with(filter={"any": ["a", {"b": None}], "on": True}, note="first\nsecond")
    shown = {pre.get("aria-label").partition(",")[0]: words(pre).lstrip("\n") for pre in step.iter("pre")}
    assert shown["Filter"] == "any:\n  - a\n  - b: nothing\non: yes"
    assert shown["Note"] == "first\nsecond"


def test_a_file_that_was_read_has_its_numbers_beside_it() -> None:
    chat = chat_of(
        Called(id="t", name="Read", arguments={"file_path": "/a/b.py"}, at=START),
        Returned(call="t", parts=[Text("     9→import os\n    10→x = 'y'")], ok=True, at=START),
    )
    (step,) = steps_of(page_of(chat))
    (code,) = step.iter("code")
    assert words(code) == "import os\nx = 'y'"
    assert words(find(step, "gutter")[0]) == "9\n10\n"


def test_pictures_are_left_out_unless_they_are_wanted() -> None:
    chat = chat_of(Asked(id="u", text="See", parts=[Image("image/png", PNG, name="run.png")], at=START))
    assert not list(page_of(chat).iter("img"))
    page = page_of(chat, images=True)
    (picture,) = page.iter("img")
    assert picture.get("src") == "data:image/png;base64,iVBORw0KGgpyZXN0"
    assert "img-src data:" in page.find("head")[0].get("content")


def test_several_chats_on_one_page_have_addresses_of_their_own() -> None:
    chats = [chat_of(*calls(3, "x"), title=f"Chat {number}") for number in (1, 2)]
    page = parse(write_batch(chats, sheet_of("batch")))
    assert [words(title) for title in page.iter("h2")] == ["Chat 1", "Chat 2"]
    ids = [element.get("id") for element in page.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert len(steps_of(page)) == 8
    assert not [element for element in page.iter() if name_of(element.tag) == "input"]
