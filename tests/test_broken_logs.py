"""Logs that broke other tools, written anew in small: what a person finds of each in every file that is made of it."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from claude_code_logs import GIF_TEXT, Log, call, chained, found_in, model, picture, result, text, user
from pages import faults, parse
from trailbook.formats import TRAJECTORIES, Output
from trailbook.making import Made, make_chat

DEBRIS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""What no page, note or terminal may be handed: control characters and halves of surrogate pairs."""
HALF = re.compile("[\ud800-\udfff]")
INJECTED = 'image/png" onerror="window.PWNED=1'
CONTEXT = "\x1b[1mContext Usage\x1b[22m\n\x1b[38;2;136;136;136m⛁ \x1b[39m12k/200k \x1b[31m(6%)\x1b[0m\x1b[?25h"

CASES: dict[str, tuple[Log, list[str], list[str]]] = {
    # name: the log, what each page and note says, what none of them may show
    "halves of surrogate pairs": (  # daaain/claude-code-log#16
        [user("show it"), model(call("t1", command="cat x")), result("t1", "ok \ud83d cut \udcb2 end")],
        ["ok \ufffd cut \ufffd end"],
        [],
    ),
    "control characters": (  # anthropics/claude-code#94055
        [
            user("read it"),
            model(call("t1", command="cat x")),
            result("t1", "A\0B\aC\x1b]0;NEW-NAME\aD\bE, then"),
        ],
        ["E, then"],
        ["NEW-NAME"],
    ),
    "a streamed message": (  # ccusage/ccusage#901
        [
            user("explain"),
            model(text("Part one."), tokens={"input_tokens": 4, "output_tokens": 1}),
            model(call("t1", "Glob", pattern="README*"), tokens={"input_tokens": 4, "output_tokens": 427}),
            result("t1", "README.md"),
        ],
        ["Part one.", "README.md", "431 tokens"],
        ["436 tokens"],
    ),
    "fences in fences": (  # specstoryai/getspecstory#241
        [
            user("cat it"),
            model(call("t1", command="cat x")),
            result("t1", "```js\n1\n````\n~~~\n```"),
            model(text("AFTER-THE-FENCE **bold**"), key="m2"),
        ],
        ["AFTER-THE-FENCE"],
        ["\\`"],
    ),
    "attributes in a picture": (  # earendil-works/pi#3811
        [
            user([picture(GIF_TEXT + '" onload="window.PWNED=1', INJECTED), text("look")]),
            model(text("ok")),
        ],
        ["look", "its base64 data is damaged"],
        ["<img", "PWNED"],
    ),
    "a subagent's lines between": (  # daaain/claude-code-log#51
        [
            user("audit"),
            model(call("t1", "Task", description="scan", prompt="scan it")),
            user("scan it", isSidechain=True, uuid="s1", parentUuid=None),
            model(call("g1", "Grep", pattern="hit"), key="m_s", isSidechain=True, uuid="s2", parentUuid="s1"),
            result("g1", "hit-in-sidechain", isSidechain=True, uuid="s3", parentUuid="s2"),
            result("t1", [text("found 1")], parentUuid="u2"),
        ],
        ["audit", "found 1", "hit-in-sidechain"],
        [],
    ),
    "colours of a local command": (  # simonw/claude-code-transcripts#51
        [
            user("<command-name>/context</command-name>\n<command-args></command-args>"),
            user(f"<local-command-stdout>{CONTEXT}</local-command-stdout>"),
            user("thanks"),
            model(text("np")),
        ],
        ["/context", "Context Usage", "12k/200k (6%)", "thanks"],
        ["[1m", "[0m", "[?25h", "38;2"],
    ),
    "pictures from elsewhere": (  # anthropics/claude-code#17452
        [
            user(
                [
                    picture("REDACTED/REDACTED/iVBORw0KGgo", "image/png"),
                    {"type": "image", "source": {"type": "url", "url": "https://example.invalid/a.png"}},
                ]
            ),
            model(text("I see nothing")),
        ],
        ["its base64 data is damaged", "https://example.invalid/a.png", "I see nothing"],
        ["<img", "](https://example.invalid"],
    ),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Made, list[str], list[str]]:
    records, shown, hidden = CASES[request.param]
    path = tmp_path / "s.jsonl"
    lines = [json.dumps(line) for line in chained(records)]
    path.write_text("\ufeff" + "\r\n".join(lines) + '\n{"type":"user","uuid":"z","mess', encoding="utf-8")
    output = Output(("report", "markdown", *sorted(TRAJECTORIES)), UTC)
    return make_chat(found_in(path), output), shown, hidden


def test_every_file_of_a_broken_log_is_whole(case: tuple[Made, list[str], list[str]]) -> None:
    made, shown, hidden = case
    assert made.no_file == []
    assert {each.kind for each in made.diagnostics} >= {"byte-order-mark", "crlf", "damaged-line"}
    pages = {piece.name: piece.data for piece in made.pieces if piece.name.endswith(".html")}
    notes = {piece.name: piece.data for piece in made.pieces if piece.name.endswith(".md")}
    assert len(pages) == len(notes) == len(made.rows)
    for of_one_kind in (
        {name: "".join(parse(page).find("body").itertext()) for name, page in pages.items()},
        {name: html.unescape(note.decode()) for name, note in notes.items()},
    ):
        everything = "\n".join(of_one_kind.values())
        assert not DEBRIS.search(everything)
        assert [words for words in shown if words not in everything] == []
        assert [words for words in hidden if words in everything] == []
    assert [fault for page in pages.values() for fault in faults(page)] == []
    for piece in made.pieces:
        if piece.name.endswith((".json", ".jsonl")):
            documents = [piece.data] if piece.name.endswith(".json") else piece.data.splitlines()
            halves = [words for one in documents for words in strings(json.loads(one)) if HALF.search(words)]
            assert halves == []


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for each in [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []:
        yield from strings(each)
