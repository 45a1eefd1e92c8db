"""The calls that gptme's own parser finds are those that are found here, and its results are results here."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from conftest import EXAMPLES
from consumers.asking import ask
from gptme_logs import DATA, of, read_file
from trailbook.chat import Called, Returned
from trailbook.readers.gptme.folder import files_of, settings_of
from trailbook.readers.gptme.log_lines import lines_of
from trailbook.readers.gptme.written_calls import Writing, WrittenCall, calls_in
from trailbook.readers.lines import Problems

FORMS = ("markdown", "tool", "xml")
FENCES = [
    *("```", "````", "`````", "``````", "```shell", "```ipython", "```py", "```python", "```save my a.py", "```text"),
    *("````append n.md", "``````shell", "```<think>", "``` ", "```'''", "```js x", "```read x", "```todo", "```bash"),
    *("<think>", "</think>", "<thinking>", "</thinking>", "a <think> b", "p </think>", "words", "", "  "),
    *("cat <<'EOF' > f", "EOF", "cat << X", "X", "<<-END", "END", "a <<< b", "echo $((1 << 3))", "<< 3", "# it's"),
    *("s='", "'", '"', 'echo "a << b"', '"""', "'''", 'x = """', "s = 'abc \\", "$'a\\'b'", "echo \\# not"),
]
CALLS = [
    *('@shell(c1): {"command": "ls"}', '@save(c2): {"path": "a", "content": "x\\n```\\n } {"}', "  @shell(c3): {}"),
    *('@a.b c(d:1.2): {"x": [1, {"y": null}], "n": 12345678901234567890}', '@x(id|2): {"a":1}', '@bad(c4): {"a": '),
    *('@shell(c5): \n{"k": "v"}', '@q(c7): {"a": "x \\" y"}', "@f(c8): {}", "@f(c9): []", "@f(c10): words"),
]
TAGS = [
    *("<tool-use>", "</tool-use>", "<shell>ls &amp; x</shell>", '<save args="a b.py">x &lt; y</save>', "<todo/>"),
    *("<function_calls>", "</function_calls>", '<invoke name="ipython">1</invoke>', "<shell>a && b</shell>"),
]


def texts() -> list[tuple[str, str]]:
    """Texts of lines that look like the beginnings and ends of calls, the same at each run."""
    chance = random.Random(20_261_201)
    made = []
    for number in range(6_000):
        form = FORMS[number % 3]
        lines = FENCES + CALLS if form == "tool" else FENCES if form == "markdown" else TAGS + CALLS
        made.append(("\n".join(chance.choice(lines) for _ in range(chance.randint(1, 12))), form))
    return made


def theirs(use: list[Any], form: str) -> tuple[Any, ...]:
    """One of gptme's calls, without the tool's name that it leaves in a path's argument."""
    name, args, content, kwargs, identity = use
    if args is None:
        return name, None, None, kwargs, identity
    words = " ".join(args).strip()
    if name in ("save", "append", "patch") and form != "xml":
        words = words.partition(" ")[2].strip()
    return name, words, content, None, None


def ours(call: WrittenCall) -> tuple[Any, ...]:
    if call.id is not None:
        return call.name, None, None, call.arguments, call.id
    return call.name, call.line, call.body, None, None


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    asked = {"texts": texts(), "logs": [[str(log), form] for log, form in logs()]}
    return ask("gptme", "read_gptme.py", asked)  # type: ignore[no-any-return]


def logs() -> list[tuple[Path, str]]:
    found = sorted([*DATA.glob("*/conversation.jsonl"), *(EXAMPLES / "gptme").glob("logs/*/conversation.jsonl")])
    return [(log, str(settings_of(files_of(log), Problems())["tool_format"])) for log in found]


def test_any_text_has_the_calls_that_gptme_finds_in_it(told: dict[str, Any]) -> None:
    different = []
    for (text, form), uses in zip(texts(), told["texts"], strict=True):
        found = [ours(call) for call in calls_in(text, Writing(form))]
        expected = [theirs(use, form) for use in uses]
        if found != expected:
            different.append((form, text, found, expected))
    assert sum(map(len, told["texts"])) > 1_000
    assert different == []


REPR = ["toolu_05A"]
"""Arguments as Python prints them: gptme ends them at a `}` in a string."""


def test_every_log_has_the_calls_that_gptme_finds_in_it(told: dict[str, Any]) -> None:
    better = []
    for (log, form), messages in zip(logs(), told["logs"], strict=True):
        lines = lines_of(log, Problems())
        assert len(lines) == len(messages)
        for line, (uses, _) in zip(lines, messages, strict=True):
            calls = calls_in(line.content, Writing(form)) if line.role == "assistant" else []
            for call, use in zip(calls, uses, strict=True):
                if ours(call) != theirs(use, form):
                    better.append(call.id)
                    assert (call.name, call.id) == (use[0], use[4])
    assert better == REPR


def test_a_result_here_is_one_for_gptme(told: dict[str, Any]) -> None:
    for (log, _), messages in zip(logs(), told["logs"], strict=True):
        if (log.parent / "subagent-meta.json").exists():
            continue  # read with the chat that started it
        chat = read_file(log)
        results = {event.place.number - 1 for event in of(chat, Returned) if event.parts}
        gptmes = {at for at, (_, result) in enumerate(messages) if result}
        assert results <= gptmes
        # gptme takes every message after a call for one, and notices come there too.
        extra = {json.loads(line)["content"][:9] for at, line in enumerate(log.open()) if at in gptmes - results}
        assert extra <= {"✅ Subagen", "old note"}
        assert len(of(chat, Called)) == sum(len(uses) for uses, _ in messages)
