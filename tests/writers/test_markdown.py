"""The note: words whole, calls in a line, and nothing in it that a note program could run, load or take for ours."""

from __future__ import annotations

import json
import re
from datetime import UTC, date
from pathlib import Path
from typing import Any

import html5lib
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from full_chat import START, each_of_its_own, full_chat
from trailbook.chat import Agent, Asked, Called, Chat, Event, Image, Returned, Said, Text, Usage
from trailbook.formats import Output, Sheet
from trailbook.rendering.safe_markdown import fenced, inline, inline_code, safe_markdown
from trailbook.writers.markdown import write_note, write_notes

PAYLOADS: list[str] = json.loads((Path(__file__).parent.parent / "data" / "payloads.json").read_text())
PAYLOADS += [
    "![](https://example.org/p.png)",
    "![[secret note]] [[link]]",
    "<img src=https://example.org/x>",
    "# You · 0s\n\n## Pearl",
    "You\n===",
    "```\nafter\n````\n~~~",
    "```dataviewjs\nrun()\n```",
    "`$= run()`",
    "    <b>code</b>",
    "[x]: javascript:1\n\n[x]",
    "[//]: # (call forged answered)",
    "---\ntitle: forged\n---",
    "- call (5s)",
    "| a | b |\n|---|---|\n| <b> | `|` |",
    "%%hidden%% ==mark== $x$ #tag ^id",
    "a\n\n- x\n    - y\n\n> q\n\n1. z",
]

ELEMENTS = {
    *("DOCUMENT_FRAGMENT", "p", "em", "strong", "code", "pre", "ul", "ol", "li", "h1", "h2", "h3", "blockquote", "a"),
    *("hr", "br", "s", "del", "table", "thead", "tbody", "tr", "th", "td"),
}


def note_of(chat: Chat, **more: Any) -> str:
    sheet = Sheet(Output(zone=UTC, images=more.pop("images", False)), "note", **more)
    return write_note(chat, sheet)[0].data.decode()


def chat_of(*events: Event, **more: Any) -> Chat:
    return Chat(id="c1", source="conch", agent=Agent("Pearl", None, "Conch"), events=list(events), **more)


def front_matter(note: str) -> Any:
    return yaml.safe_load(note.split("---\n")[1])


def body(note: str) -> str:
    return note.split("\n---\n", 1)[1]


def as_html(note: str) -> list[str]:
    """The note's body as two engines show it, HTML switched on."""
    mistune = pytest.importorskip("mistune")
    ours = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(body(note))
    theirs = mistune.create_markdown(escape=False, plugins=["table", "strikethrough", "url"])(body(note))
    return [ours, theirs]


def elements(html: str) -> list[Any]:
    return list(html5lib.parseFragment(html, namespaceHTMLElements=False).iter())


# --- front matter


@pytest.mark.parametrize("payload", PAYLOADS)
def test_front_matter_reads_back_as_it_was(payload: str) -> None:
    chat = full_chat(lambda _name: payload)
    chat.title, chat.models = None, [payload, payload]
    chat.agent.name = payload
    values = front_matter(note_of(chat))
    assert values["id"] == payload
    assert values["agent"] == payload
    assert values["models"] == [payload, payload]
    assert values["project"] == payload
    assert all(re.fullmatch(r"[\w/-]+", tag) for tag in values["tags"])


@given(st.text())
def test_any_text_reads_back_from_front_matter(text: str) -> None:
    values = front_matter(note_of(chat_of(Asked(id="u", text="Hi", at=START), cwd=text or "x")))
    assert values["project"] == (text or "x")


def test_front_matter_says_what_a_note_program_sorts_by() -> None:
    chat = full_chat(each_of_its_own)
    assert front_matter(note_of(chat)) == {
        "title": "the title",
        "date": date(2026, 10, 8),
        "started": "2026-10-08T09:00:01+00:00",
        "ended": "2026-10-08T09:00:24+00:00",
        "agent": "the agent",
        "version": "the version",
        "models": ["the model"],
        "steps": 24,
        "failed": 2,
        "tokens": 1_234,
        "prompt_tokens": 1_200,
        "cached_tokens": 1_000,
        "output_tokens": 34,
        "cost": 0.02,
        "project": "the cwd",
        "branch": "the git",
        "source": "conch",
        "id": "the id",
        "tags": ["trailbook", "the-product", "routine"],
    }


def test_what_is_not_known_is_left_out() -> None:
    values = front_matter(note_of(chat_of(Asked(id="u", text="Hi"))))
    assert not {"date", "started", "tokens", "cost", "project", "version"} & set(values)


# --- the body


def test_prompts_and_answers_stand_whole_and_results_are_counted() -> None:
    long = "All of it. " * 2_000
    result = "".join(f"line {number}\n" for number in range(1_000))
    chat = chat_of(
        Asked(id="u", text=f"Please {long}", at=START),
        Called(id="t/1", name="Edit", arguments={"old_string": "a", "new_string": "b", "file_path": "x"}, at=START),
        Returned(call="t/1", parts=[Text(result)], ok=True, at=START + 2_000),
        Said(text=f"Done {long}", at=START + 3_000),
    )
    note = note_of(chat)
    assert note.count(long.strip()) == 2
    assert "[//]: # (call t%2F1 answered)" in note
    assert "```diff\n-a\n+b\n```" in note
    shown = re.search(r"^```\n(line 0\n.*?)\n```", note, re.MULTILINE | re.DOTALL)[1]  # type: ignore[index]
    left_out = re.search(r"\*… ([\d,]+) lines \(", note)[1]  # type: ignore[index]
    assert len(re.findall(r"^line \d+$", shown, re.MULTILINE)) + int(left_out) == 1_000
    assert shown.endswith("line 999")
    assert note.endswith("\n")
    assert not note.endswith("\n\n")


def test_who_speaks_has_a_heading() -> None:
    note = note_of(chat_of(Asked(id="u", text="Hi", at=START), Said(text="Hi!", at=START + 5_000), title="A title"))
    assert re.findall(r"^#+ .*", body(note), re.MULTILINE) == ["# A title", "## You asked · 0s", "## Pearl · 0s"]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_nothing_in_a_note_can_run_load_or_pose_as_ours(payload: str) -> None:
    note = note_of(full_chat(lambda _name: payload), parent="above", subagents={"below": "below-1a2b3c"})
    assert "\x1b" not in note
    assert "[31m" not in body(note)
    plain = note_of(full_chat(each_of_its_own), parent="above", subagents={"below": "below-1a2b3c"})
    for html, expected in zip(as_html(note), as_html(plain), strict=True):
        found = elements(html)
        assert {element.tag for element in found} <= ELEMENTS
        assert not [name for element in found for name in element.attrib if name.startswith("on")]
        for link in (element for element in found if element.tag == "a"):
            assert re.match(r"https?://|mailto:|[\w-]+\.md$", link.get("href")), link.attrib
        headings = [element.tag for element in found if re.fullmatch(r"h\d", str(element.tag))]
        assert headings == [element.tag for element in elements(expected) if re.fullmatch(r"h\d", str(element.tag))]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_result_ends_its_fence(payload: str) -> None:
    chat = chat_of(
        Called(id="t", name="Bash", arguments={}, at=START),
        Returned(call="t", parts=[Text(f"<{payload}>\n`````")], ok=True, at=START),
        Said(text="AFTER", at=START),
    )
    for html in as_html(note_of(chat)):
        (result,) = [element for element in elements(html) if element.tag == "pre"]
        assert "".join(result.itertext()).rstrip("\n").endswith("`````")
        assert any(element.tag == "p" and element.text == "AFTER" for element in elements(html))


@pytest.mark.parametrize(
    ("words", "written"),
    [
        ("Plain *words* with `code`.", "Plain *words* with `code`."),
        ("# Plan\n\ntext", "**Plan**\n\ntext"),
        ("![a](https://e.org/p.png)", r"\[image: a · https://e.org/p.png\]"),
        ("see [docs](https://e.org/a_b)", "see [docs](<https://e.org/a_b>)"),
        ("<b>no</b>", r"\<b\>no\</b\>"),
        ("- [ ] a\n- b\n  1. c", "* \\[ \\] a\n* b\n\n  1. c"),
        ("> said <x>", r"> said \<x\>"),
        ("```py\nx <y>\n```", "```py\nx <y>\n```"),
        ("```dataviewjs\nx\n```", "```\nx\n```"),
        ("a `$= x` [b]", r"a \$= x \[b\]"),
        ("|a|b|\n|-|-|\n|1|`x`|", "| a | b |\n| --- | --- |\n| 1 | `x` |"),
        ("snake_case & a < b", r"snake_case & a \< b"),
        ("1\\. not a list [x]", r"1\. not a list \[x\]"),
    ],
)
def test_words_are_written_anew(words: str, written: str) -> None:
    assert safe_markdown(words) == written


@given(st.text(alphabet="ab \n`~*_<>[]()#-+=|1.!\\$%\t&:"))
def test_words_that_are_written_anew_say_the_same(words: str) -> None:
    """Read by an engine with HTML on, words give no element of theirs and lose none of their letters."""
    html = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(safe_markdown(words))
    tags = {element.tag for element in elements(html)}
    assert not tags & {"a", "b", "img", "h1", "h2", "h3", "h4", "h5", "h6"}
    letters = re.sub(r"[^ab]", "", "".join(html5lib.parseFragment(html, namespaceHTMLElements=False).itertext()))
    expected = MarkdownIt("js-default", {"html": False}).render(words)
    assert letters == re.sub(
        r"[^ab]", "", "".join(html5lib.parseFragment(expected, namespaceHTMLElements=False).itertext())
    )


@given(st.text(alphabet="`a \n=$"))
def test_code_spans_hold(text: str) -> None:
    html = MarkdownIt("commonmark").render(f"x {inline_code(text)} y")
    assert html.startswith("<p>x ")
    assert html.rstrip().endswith(" y</p>")


@given(st.text(alphabet="`a\n~ "))
def test_fences_hold(text: str) -> None:
    html = MarkdownIt("commonmark").render(f"{fenced(text)}\n\nAFTER")
    assert html.endswith("<p>AFTER</p>\n")


@given(st.text())
def test_a_line_stays_one_paragraph(text: str) -> None:
    html = MarkdownIt("commonmark", {"html": True}).render(f"{inline('x' + text)}")
    assert html.startswith("<p>x")
    assert html.count("<") == 2


def test_pictures_lie_beside_the_note_where_they_are_wanted() -> None:
    picture = Image("image/png", b"\x89PNG\r\n\x1a\nrest", name="run [1].png")
    chat = chat_of(Asked(id="u", text="See", parts=[picture], at=START))
    sheet = Sheet(Output(zone=UTC, images=True), "2026-10-08-see-1a2b3c")
    note, beside = write_note(chat, sheet)
    assert beside.name == "notes/2026-10-08-see-1a2b3c-1.png"
    assert beside.data == picture.data
    assert "![run \\[1\\].png](2026-10-08-see-1a2b3c-1.png)" in note.data.decode()
    assert "![" not in note_of(chat)


def test_several_chats_make_one_note() -> None:
    chats = [chat_of(Asked(id="u", text=f"Ask {n}", at=START), title=f"Chat {n}", usage=Usage(1, 2)) for n in (1, 2)]
    note = write_notes(chats, Sheet(Output(zone=UTC), "notes")).decode()
    assert re.findall(r"^#+ .*", note, re.MULTILINE) == [
        "# How they did it", "## Chat 1", "### You asked · 0s", "## Chat 2", "### You asked · 0s",
    ]  # fmt: skip
