"""Calls in the text of gptme's messages: fenced blocks, `@name(id): {…}` and XML, and everything that is none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gptme_logs import model, of, read, reports, result, system, user
from trailbook.chat import Called, Returned, Said
from trailbook.readers.gptme.fences import fences
from trailbook.readers.gptme.speech import Reasoning, pieces
from trailbook.readers.gptme.written_calls import Writing, WrittenCall, calls_in


def calls(text: str, form: str, *, answered: bool = False) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, call.arguments) for call in calls_in(text, Writing(form), answered=answered)]


def shell(command: str) -> tuple[str, dict[str, Any]]:
    return "shell", {"command": command}


# --- fenced blocks


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```shell\nls\n```", [shell("ls")]),
        ("Run\n\n```shell\nls\n```\n\nand\n\n```ipython\n1\n```", [shell("ls"), ("ipython", {"code": "1"})]),
        ("```py\n1\n```", [("ipython", {"code": "1"})]),
        ("```save my file.txt\nx\n```", [("save", {"path": "my file.txt", "content": "x"})]),
        ("```save a.txt\n```", [("save", {"path": "a.txt", "content": ""})]),
        ("```read a b.py\n```", [("read", {"path": "a b.py"})]),
        ("```read\na.py\nb.py\n```", [("read", {"content": "a.py\nb.py"})]),
        ("```patch a.py\n<<<<<<< ORIGINAL\n```", [("patch", {"path": "a.py", "patch": "<<<<<<< ORIGINAL"})]),
        ("```gh pr view 3\n```", [("gh", {"command": "pr view 3"})]),
        ("```complete\n```", [("complete", {})]),
        ("```todo\nadd x\n```", [("todo", {"content": "add x"})]),
        ("```bash\nls\n```\n```sh\nls\n```\n```python\n1\n```\n```a.py\n1\n```", []),
        (" ```shell\nls\n```", []),
        ("~~~shell\nls\n~~~", []),
        ("```shell\nls", []),
        ("````shell\nls\n```\n````", [shell("ls\n```")]),
        (
            "```append n.md\n```sh\nls\n```\nmore\n```",
            [("append", {"path": "n.md", "content": "```sh\nls\n```\nmore"})],
        ),
        ("```shell\ncat <<'EOF' > n.md\n```\nx\n```\nEOF\n```", [shell("cat <<'EOF' > n.md\n```\nx\n```\nEOF")]),
        ("```shell\necho 'a\n```\nb'\n```", [shell("echo 'a\n```\nb'")]),
        ("```shell\necho $((1 << 3))\n```\nafter", [shell("echo $((1 << 3))")]),
        ("```shell\ncat <<< x # <<EOF\n```\nEOF", [shell("cat <<< x # <<EOF")]),
        ('```ipython\ns = """\n```\n"""\n```', [("ipython", {"code": 's = """\n```\n"""'})]),
        ("``````shell\nls\n```", [shell("ls")]),
        ("```shell\na\n``````shell\nb\n```", [shell("a"), shell("b")]),
        ("```shell\na\n```<think>\nx\n</think>", [shell("a")]),
        ("<think>\n```shell\nno\n```\n</think>\n```shell\nyes\n```", [shell("yes")]),
        ("<think>a</think>\n<think>\n```shell\nyes\n```\n</think>", [shell("yes")]),
        ("<think>\n```shell\nno\n```", []),
        ("```shell\nno\n```\n</think>\n```shell\nyes\n```", [shell("yes")]),
    ],
)
def test_fenced_blocks(text: str, expected: list[Any]) -> None:
    assert calls(text, "markdown") == expected


def test_a_log_s_line_ends_make_no_difference(tmp_path: Path) -> None:
    (call,) = of(
        read(tmp_path, user("go"), model("```shell\r\nls\r\npwd\r\n```\r\n"), system("Ran command: x")), Called
    )
    assert (call.id, call.arguments) == ("gptme-2-1", {"command": "ls\npwd"})


def test_tools_that_the_settings_name_are_called_too(tmp_path: Path) -> None:
    messages = user("go"), model("```weather\nOslo\n```"), system("Rain")
    assert of(read(tmp_path, *messages), Called) == []
    (call,) = of(read(tmp_path, *messages, settings='tools = ["shell", "weather"]'), Called)
    assert (call.name, call.arguments) == ("weather", {"content": "Oslo"})


# --- @name(id): {…}

ID = "c1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('@shell(c1): {"command": "ls"}', [shell("ls")]),
        ('Words.\n@shell(c1): {"command": "a"}\n@shell(c:2.b-3): {"command": "b"}', [shell("a"), shell("b")]),
        ('@shell(c1):\n{"command": "ls"}', [shell("ls")]),
        ('@my server.a/tool (x)(c1): {"q": 1}', [("my server.a/tool (x)", {"q": 1})]),
        ('@save(c1): {"path": "a", "content": "} \\" { ```\\n"}', [("save", {"path": "a", "content": '} " { ```\n'})]),
        ('@f(c1): {"n": 12345678901234567890, "d": 0.1234567890123456789}', None),
        ('@f(c1): {"a": "raw\nline"}', [("f", {"a": "raw\nline"})]),
        (" @shell(c1): {}", []),
        ("say @shell(c1): {}", []),
        ("@shell(a|b): {}", []),
        ("@shell(c1): ls", []),
        ("@shell(c1): [1]", []),
        ('@shell(c1): {"command": "cut', []),
        ('@shell(c1): {"a": \n@shell(c2): {"command": "ls"}', None),
        ('```text\n@shell(c1): {}\n```\n@shell(c2): {"command": "ls"}', [shell("ls")]),
        ('<think>\n@shell(c1): {"command": "ls"}\n</think>', [shell("ls")]),
        ('@shell(c1): {"command": "a"}\n```shell\nb\n```', [shell("b"), shell("a")]),
    ],
)
def test_tagged_calls(text: str, expected: list[Any] | None) -> None:
    found = calls(text, "tool")
    if expected is not None:
        assert found == expected
    elif "n" in text and found and "n" in found[0][1]:
        assert found == [("f", {"n": 12345678901234567890, "d": Decimal("0.1234567890123456789")})]
    else:
        assert found == []


@pytest.mark.parametrize(
    ("written", "expected", "raw"),
    [
        (
            "{'path': 'b.txt', 'content': 'a } b\\n', 'flag': True, 'none': None}",
            {"path": "b.txt", "content": "a } b\n", "flag": True, "none": None},
            None,
        ),
        (
            "{'a': \"it's {\", 'b': [1, (2, 3)], 'c': {'d': -1.5}}",
            {"a": "it's {", "b": [1, [2, 3]], "c": {"d": -1.5}},
            None,
        ),
        ('{"a": True,}', {"a": True}, None),
        ("{'a': {1, 2}}", {}, "{'a': {1, 2}}"),
        ("{1: 2}", {}, "{1: 2}"),
        ("{not json at all}", {}, "{not json at all}"),
        ("{'a': __import__('os')}", {}, "{'a': __import__('os')}"),
        ('{"a": 1 "b": 2}', {}, '{"a": 1 "b": 2}'),
        ("{}", {}, None),
    ],
)
def test_arguments_in_any_way_of_writing(
    tmp_path: Path, written: str, expected: dict[str, Any], raw: str | None
) -> None:
    chat = read(tmp_path, user("go"), model(f"@f(c1): {written}\nafter"), result("c1", "done"))
    (call,) = of(chat, Called)
    assert (call.arguments, call.raw) == (expected, raw)
    assert [event.text for event in of(chat, Said)] == ["after"]
    assert reports(chat).get("raw-arguments", 0) == (raw is not None)
    assert reports(chat).get("python-arguments", 0) == (("'" in written and raw is None) or "True" in written)


def test_arguments_of_which_gptme_finds_no_end_count_where_a_result_names_them(tmp_path: Path) -> None:
    text = "@f(c1): {'say': 'a \" quote'}"
    (call,) = of(read(tmp_path / "a", user("go"), model(text), result("c1", "done")), Called)
    assert call.arguments == {"say": 'a " quote'}
    assert of(read(tmp_path / "b", user("go"), model(text)), Called) == []


@pytest.mark.parametrize("form", ["markdown", "xml"])
def test_a_tagged_call_that_is_answered_is_one_whatever_the_settings_say(tmp_path: Path, form: str) -> None:
    messages = user("go"), model('@f(c1): {"a": 1}\n@g(c2): {}'), result("c1", "done")
    chat = read(tmp_path / "a", *messages, settings=f'tool_format = "{form}"')
    assert [(call.id, call.name) for call in of(chat, Called)] == [("c1", "f"), ("c2", "g")]
    assert of(read(tmp_path / "b", *messages[:2], settings=f'tool_format = "{form}"'), Called) == []


# --- XML


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<tool-use>\n<shell>\nls &amp;&amp; pwd\n</shell>\n</tool-use>", [shell("ls && pwd")]),
        (
            '<tool-use><save args="a b.py">x &lt; y</save></tool-use>',
            [("save", {"path": "a b.py", "content": "x < y"})],
        ),
        ('Go.<function_calls><invoke name="ipython">1</invoke></function_calls>', [("ipython", {"code": "1"})]),
        ("<tool-use><shell>a</shell><todo/></tool-use>", [shell("a"), ("todo", {})]),
        ("<tool-use><shell><![CDATA[a < b]]></shell></tool-use>", [shell("a < b")]),
        ("```\n<tool-use><shell>a</shell></tool-use>\n```", [shell("a")]),
        ("<think><tool-use><shell>a</shell></tool-use></think>", [shell("a")]),
        (
            "<tool-use><shell>a</shell></tool-use><tool-use><todo>b</todo></tool-use><tool-use><shell>c</shell></tool-use>",
            [shell("a"), shell("c"), ("todo", {"content": "b"})],
        ),
        ("<tool-use><shell>a", []),
        ("<shell>a</shell>", []),
        ("```shell\nls\n```", []),
    ],
)
def test_xml_calls(text: str, expected: list[Any]) -> None:
    assert calls(text, "xml") == expected


def test_the_tags_around_a_call_are_no_words(tmp_path: Path) -> None:
    text = "Go.\n<tool-use>\n<shell>a</shell>\n</tool-use>\nand\n<tool-use>so\n<todo>b</todo></tool-use>"
    chat = read(tmp_path, user("go"), model(text), system("Ran command: `a`"), settings='tool_format = "xml"')
    assert [event.text for event in of(chat, Said)] == ["Go.", "and\n<tool-use>so"]


@pytest.mark.parametrize(
    ("inner", "command"),
    [("a && b", "a && b"), ("a < b", "a < b"), ("<![CDATA[a]]> & b", "<![CDATA[a]]> & b"), ("a &lt; b &", "a < b &")],
)
def test_xml_that_is_none_was_run_where_something_came_back(tmp_path: Path, inner: str, command: str) -> None:
    messages = user("go"), model(f"<tool-use><shell>{inner}</shell></tool-use>")
    settings = 'tool_format = "xml"'
    assert of(read(tmp_path / "a", *messages, settings=settings), Called) == []
    chat = read(tmp_path / "b", *messages, system("Ran command: `a`"), settings=settings)
    assert [call.arguments for call in of(chat, Called)] == [{"command": command}]
    assert [event.call for event in of(chat, Returned)] == ["gptme-2-1"]


def test_no_entity_of_a_text_is_opened(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'
    text = f"{bomb}<tool-use><shell>&b;</shell></tool-use>"
    assert of(read(tmp_path, user("go"), model(text), settings='tool_format = "xml"'), Called) == []


# --- which way a chat writes them


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ('@f(c1): {"a": 1}', ["f"]),
        ("<tool-use><shell>a</shell></tool-use>", ["shell"]),
        ("```shell\na\n```", ["shell"]),
        ('```text\n@f(c1): {"a": 1}\n```', []),
    ],
)
def test_without_settings_the_text_tells(tmp_path: Path, said: str, names: list[str]) -> None:
    assert [call.name for call in of(read(tmp_path, user("go"), model(said)), Called)] == names
    assert [
        c.name for c in of(read(tmp_path / "x", user("go"), model(said), settings="tool_format = 5"), Called)
    ] == names


# --- nothing is lost, nothing is slow

LINES = st.lists(
    st.sampled_from(
        [
            *(
                "```",
                "````",
                "```shell",
                "```save a.txt",
                "```ipython",
                "``````shell",
                "```<think>",
                "words",
                "",
                "  x",
            ),
            *("<think>", "</think>", "<thinking>", "</thinking>", "<think redacted>", "</think redacted>"),
            *("<!-- think-sig: S -->", '@shell(c1): {"command": "ls"}', "@f(c2): {'a': '}'}"),
            *("<tool-use>", "</tool-use>", "<shell>ls</shell>", '<invoke name="a">', "</invoke>", "<function_calls>"),
            *("cat <<EOF", "EOF", "it's", '"""', "x = '", "</function_calls>"),
        ]
    ),
    max_size=12,
).map("\n".join)
MARKS = re.compile(r"</?think(?:ing)?(?: redacted)?>|<!-- think-sig: S -->")


@given(LINES, st.sampled_from(["markdown", "tool", "xml"]), st.booleans())
@settings(max_examples=100, deadline=None)
def test_every_word_of_a_text_is_in_one_piece(text: str, form: str, answered: bool) -> None:
    found = calls_in(text, Writing(form), answered=answered)
    if any(a.start < b.start < a.end for a in found for b in found):
        return  # gptme finds one within the other, and runs both
    at = 0
    for start, end in _places(pieces(text, found), text):
        assert not MARKS.sub("", text[at:start]).strip()
        at = end
    assert not MARKS.sub("", text[at:]).strip()


def _places(found: list[Any], text: str) -> Iterator[tuple[int, int]]:
    """Where each piece stands in a text; a thought may have its signature between its lines."""
    at = 0
    for piece in found:
        if isinstance(piece, WrittenCall):
            at = piece.end
            yield piece.start, piece.end
            continue
        words = piece.text or (piece.encrypted if isinstance(piece, Reasoning) else None) or ""
        for line in filter(str.strip, words.split("\n")):
            start = text.index(line.strip(), at)
            at = start + len(line.strip())
            yield start, at


@pytest.mark.parametrize(
    "text",
    [
        "```shell\n" * 20_000,
        "```\n" * 30_000,
        "````\n```\n" * 20_000,
        "@a(b): {\n" * 20_000,
        "@a(b): {}\n" * 20_000,
        "@" + "(" * 100_000,
        "{" * 50_000,
        "@a(b): " + "{" * 50_000,
        "<think>\n" * 20_000,
        "</think>\n" * 20_000,
        "<!-- think-sig:" * 20_000,
        " " * 100_000 + "x",
        "\n" * 100_000 + "x",
        "<tool-use><a>" * 10_000,
        "<tool-use>" + "<a>" * 20_000 + "</tool-use>",
        "```shell\ncat " + "<<E " * 20_000 + "\n```",
        "```shell\n" + "cat <<E\n" * 10_000 + "```",
        "```shell\n'" + "\\" * 50_000 + "\n```",
        "@a(b): {'" + "\\'" * 50_000 + "'}",
    ],
    ids=lambda text: repr(text[:12]),
)
@pytest.mark.parametrize("form", ["markdown", "tool", "xml"])
def test_no_text_is_too_much(text: str, form: str) -> None:
    found = calls_in(text, Writing(form, answered={"b"}), answered=True)
    assert len(pieces(text, found)) <= len(text)
    assert len(list(fences(text))) <= text.count("\n") + 1
