"""Whatever a log says stays what it says: visible, harmless and bounded."""

from __future__ import annotations

import json
import re
from pathlib import Path

import html5lib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages import text_of
from trailbook.chat import File, Image
from trailbook.rendering.ansi import plain_terminal_text, terminal_html
from trailbook.rendering.cleaning import clean, escape, text_html
from trailbook.rendering.clipping import clip
from trailbook.rendering.code import LEXERS, Budget, code_html, language_of
from trailbook.rendering.diffs import diff_html
from trailbook.rendering.images import file_words, image_html, image_words
from trailbook.rendering.markdown import is_plain, markdown_html

PAYLOADS: list[str] = json.loads((Path(__file__).parent / "data" / "payloads.json").read_text())
PNG = b"\x89PNG\r\n\x1a\n" + b"rest"


def html(words: str) -> str:
    return markdown_html(words, Budget())


# --- cleaning


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x00b\x07\x7f", "a␀b␇␡"),
        ("\x1b[1mno\x1b[0m \x1b]8;;https://e.org\x07debris\x9b0m\x1b", "no debris"),
        ("\u202eevil\u202c", "⟨U+202E⟩evil⟨U+202C⟩"),
        ("a\r\nb\rc", "a\nb␍c"),
        ("tab\tline\n", "tab\tline\n"),
        ("\ud800lone", "⟨U+D800⟩lone"),
        ("x\u2028y\x85", "x⟨U+2028⟩y⟨U+0085⟩"),
        ("\ufeffbom a\u200bb\u00adc", "⟨U+FEFF⟩bom a⟨U+200B⟩b⟨U+00AD⟩c"),
        ("\ufffe\uffff\U000e0041", "⟨U+FFFE⟩⟨U+FFFF⟩⟨U+E0041⟩"),
        ("\u3164\u115f", "⟨U+3164⟩⟨U+115F⟩"),
        ("naïve 𝒳 ✅ עברית 日本", "naïve 𝒳 ✅ עברית 日本"),
    ],
)
def test_what_hides_or_reorders_is_shown(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_joiners_stay_in_prose_where_families_and_persian_need_them() -> None:
    family, persian = "👩\u200d👧", "می\u200cخواهم"
    assert clean(family + persian, prose=True) == family + persian
    assert clean(family) == "👩⟨U+200D⟩👧"


@given(st.text())
def test_any_text_comes_back_from_a_parser_as_it_was_cleaned(text: str) -> None:
    for render in (escape, text_html):
        fragment = html5lib.parseFragment(f"<pre>\n{render(text)}</pre>", namespaceHTMLElements=False)
        assert "".join(fragment.itertext()) == clean(text)
    attribute = html5lib.parseFragment(f'<p title="{escape(text)}">x</p>', namespaceHTMLElements=False)
    assert attribute[0].get("title") == clean(text)


@pytest.mark.parametrize("text", PAYLOADS)
def test_every_payload_is_read_as_it_stands(text: str) -> None:
    assert text_of(str(escape(text)), "pre").lstrip("\n") == clean(text).lstrip("\n")
    assert text_of(code_html(text, "python", Budget()), "pre").lstrip("\n") == clean(text).lstrip("\n")


# --- Markdown


def test_words_are_rendered() -> None:
    words = "# Plan\n\nUse **one** `call`, see [docs](https://docs.example.org/a).\n\n- a\n- b\n\n> said"
    assert html(words) == (
        '<h3 dir="auto">Plan</h3>\n'
        '<p dir="auto">Use <strong>one</strong> <code>call</code>, see '
        '<a href="https://docs.example.org/a" rel="noreferrer noopener">docs</a>.</p>\n'
        '<ul>\n<li dir="auto">a</li>\n<li dir="auto">b</li>\n</ul>\n'
        '<blockquote dir="auto">\n<p dir="auto">said</p>\n</blockquote>\n'
    )


@pytest.mark.parametrize(
    "address",
    [
        *("javascript:alert(1)", "JaVaScRiPt:x", "java&#115;cript:x", "vbscript:x", "data:text/html,x", "blob:x"),
        *("file:///etc/passwd", "//host/x", "/etc/passwd", "../x", "ms-msdt:x", "#s1", "ftp://a/b", "tel:1"),
    ],
)
def test_links_lead_to_the_web_or_to_mail_only(address: str) -> None:
    assert "<a" not in html(f"[words]({address})")


def test_a_picture_becomes_words() -> None:
    shown = html('![a "plan"](https://example.org/p.png)')
    assert "<img" not in shown
    assert text_of(shown) == '[image: a "plan" · https://example.org/p.png]\n'


def test_headings_start_below_the_pages_own_and_skip_no_level() -> None:
    shown = html("### deep\n\n# top\n\n###### far\n\ntext\n=====")
    assert re.findall(r"<(h\d)", shown) == ["h3", "h3", "h4", "h3"]


def test_columns_are_aligned_by_class() -> None:
    shown = html("| a | b | c |\n|:-:|--:|---|\n| 1 | 2 | 3 |")
    assert 'th class="center"' in shown
    assert 'td class="right"' in shown
    assert "style=" not in shown


def test_a_column_without_a_head_is_no_heading() -> None:
    assert html("| | b |\n|--|--|\n| 1 | 2 |").count("<th>") == 1


@pytest.mark.parametrize(
    "words",
    [
        "|" + "a|" * 3_000 + "\n|" + "-|" * 3_000 + "\n" + "x\n" * 3_000,
        "a|b" + "|c" * 400 + "\n" + "-|-" + "|-" * 400 + "\n" + "y\n" * 9_000,
        f"[a]: https://example.org/{'x' * 1_900}\n\n" + "[a] " * 8_000,
        "x" * 70_000,
        "- " * 20_000,
        "> " * 20_000 + "x",
        "*a **a " * 6_000,
        "[" * 30_000,
        "![" * 30_000,
        "`" * 30_000 + "a",
        "<" * 60_000,
        "```" * 20_000,
    ],
    ids=range(12),
)
def test_no_words_grow_far_beyond_themselves(words: str) -> None:
    assert len(html(words)) < 12 * len(words) + 10_000


@given(st.text(alphabet="ab .,\n\"'&éא-1)#*_`[]<>|~=:\\!\t"))
def test_plain_words_mean_the_same_without_the_parser(words: str) -> None:
    if is_plain(words):
        marked = html(words + "\n\n***")
        assert text_of(marked).replace("\n", "") == text_of(html(words)).replace("\n", "")
        assert marked.count("<p") == html(words).count("<p")


@given(st.text(alphabet=st.sampled_from("<>&\"'[]()!`*_~|-#:/\\\n ahtpsx0=\x00\u202e\ud800")))
def test_no_words_make_an_element_of_their_own(words: str) -> None:
    allowed = {"div", "p", "em", "strong", "s", "code", "pre", "ul", "ol", "li", "blockquote", "hr", "br", "table"}
    allowed |= {"thead", "tbody", "tr", "th", "td", "a", "span", "h3", "h4", "h5", "h6"}
    tree = html5lib.parseFragment(html(words), namespaceHTMLElements=False)
    assert {element.tag for element in tree.iter()} <= allowed | {"DOCUMENT_FRAGMENT"}


# --- code


def test_keywords_strings_and_comments_are_marked() -> None:
    assert code_html("def f():\n    return 'a'  # b", "python", Budget()) == (
        '<span class="p-k">def </span><span class="p-f">f</span>():\n    <span class="p-k">return </span>'
        '<span class="p-s">\'a\'  </span><span class="p-c"># b</span>'
    )


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("python", "python"),
        ("src/a.PY", "python"),
        ("a.unknown", None),
        (None, None),
        ("", None),
        ("Dockerfile", "docker"),
        ("js {1,3}", "javascript"),
        ("/home/ada/x.tsx", "typescript"),
        ("makefile", None),
    ],
)
def test_the_language_is_known_by_name_or_ending(name: str | None, language: str | None) -> None:
    assert language_of(name) == language


@pytest.mark.parametrize("language", sorted(set(LEXERS.values())))
def test_highlighting_changes_no_character(language: str) -> None:
    code = '\n\nif (a < 1) { return "x" } // é\n<b a=\'1\'>&amp;</b>\n# c\n$x = `y`;\n{"k": [1, null]}\n\n'
    assert text_of("x" + code_html(code, language, Budget()), "pre") == "x" + code


def test_what_is_beyond_the_budget_stays_plain() -> None:
    budget = Budget(left=10)
    assert "<span" in code_html("if x: y", "python", budget)
    assert code_html("if x: y", "python", budget) == "if x: y"
    assert "<span" not in code_html("if x:\n" * 2_000, "python", Budget())


# --- diffs


def test_a_diff_has_line_numbers_and_marks_the_words_that_differ() -> None:
    diff = "--- a/x.py\n+++ b/x.py\n@@ -3,3 +3,3 @@ def f\n a\n-total = round(x, 2)\n+total = round(y, 2)\n b\n"
    assert diff_html(diff) == (
        '<span class="file">--- a/x.py</span>\n<span class="file">+++ b/x.py</span>\n'
        '<span class="hunk">@@ -3,3 +3,3 @@ def f</span>\n<span data-n="3"> a</span>\n'
        '<del data-n="4">-total = round(<b>x</b>, 2)</del>\n<ins data-n="4">+total = round(<b>y</b>, 2)</ins>\n'
        '<span data-n="5"> b</span>\n'
    )


@pytest.mark.parametrize(
    ("diff", "removed", "added"),
    [
        ("@@ -1,2 +1,2 @@\n--- old comment\n-b\n+++ new\n+c", 2, 2),
        ("--- sql comment\n+++ b", 0, 0),
        ("-- a\n+- b", 1, 1),
        ("--- only removed", 1, 0),
        ("@@ … @@\n-a\n@@ … @@\n+b", 1, 1),
        ("-a\n+b\n-c\n+d", 2, 2),
        ("\\ No newline at end of file", 0, 0),
        ("", 0, 0),
    ],
)
def test_a_change_is_told_from_a_header(diff: str, removed: int, added: int) -> None:
    shown = diff_html(diff)
    assert (shown.count("<del"), shown.count("<ins")) == (removed, added)


@given(st.text(alphabet="+-@ \\\n,1ab<&\x1b"))
def test_a_diff_loses_no_character(diff: str) -> None:
    assert text_of("x" + diff_html(diff), "pre").removesuffix("\n") == "x" + clean(diff).removesuffix("\n")


# --- terminals


@pytest.mark.parametrize(
    ("output", "shown", "words"),
    [
        ("\x1b[31mred\x1b[0m plain", '<span class="a-f1">red</span> plain', "red plain"),
        (
            "\x1b[1;32;44mx\x1b[22my\x1b[39;49mz",
            '<span class="a-b4 a-bold a-f2">x</span><span class="a-b4 a-f2">y</span>z',
            "xyz",
        ),
        ("\x1b[38;5;196mx\x1b[38;2;0;200;0my\x1b[m", '<span class="a-f9">x</span><span class="a-f2">y</span>', "xy"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x07!", "link!", "link!"),
        ("\x1b]0;a title\x07a\x1b[2K\x1b[1Gb\x1b(Bc\x1b7", "abc", "abc"),
        ("10%\r20%\r\nend", "10%\n20%\nend", "10%\n20%\nend"),
        ("N\x08NA\x08A _\x08x", "NA x", "NA x"),
        ("\x1b[3", "", ""),
        ("a\x1b]0;never ended\nnext", "a\nnext", "a\nnext"),
        ("\x9b31mx <b>", '<span class="a-f1">x &lt;b&gt;</span>', "x <b>"),
        ("\x1b[999;;;;mx", "x", "x"),
        ("\x1bPq#0;2\x1b\\x", "x", "x"),
    ],
)
def test_colours_become_classes_and_other_escapes_go(output: str, shown: str, words: str) -> None:
    assert terminal_html(output) == shown
    assert plain_terminal_text(output) == words


@given(st.text(alphabet="\x1b[]mK;018\x07\x9b\r\n\x08ab<"))
def test_no_escape_is_left_over(output: str) -> None:
    assert "\x1b" not in terminal_html(output)
    assert "␛" not in text_of(terminal_html(output), "pre")


# --- bounds


def test_a_long_text_keeps_head_and_tail_and_counts_the_rest() -> None:
    text = "".join(f"line {number}\n" for number in range(10_000))
    clipped = clip(text, 1_200)
    assert clipped.head.startswith("line 0\n")
    assert clipped.head.endswith("\n")
    assert clipped.tail.endswith("line 9999\n")
    assert len(clipped.head) + len(clipped.tail) + clipped.left_out == len(text)
    shown = clipped.head.count("\n") + clipped.tail.count("\n")
    assert shown + clipped.lines_left_out == 10_000
    assert clipped.words() == f"{clipped.lines_left_out:,} lines ({clipped.left_out:,} characters) left out"


def test_a_long_line_is_cut_with_a_count() -> None:
    clipped = clip("a\n" + "x" * 5_000 + "\nb")
    assert clipped.head == "a\n" + "x" * 2_000 + " … 3,000 more characters in this line\nb"


def test_a_short_text_and_one_without_limit_stay_whole() -> None:
    assert clip("words").head == "words"
    long = "x" * 50_000
    assert clip(long, None).head == long
    assert clip(long, None).left_out == 0


def test_no_cut_goes_through_an_escape() -> None:
    text = "\x1b[31mx" * 4_000
    clipped = clip(text, 1_000)
    assert "[31m" not in text_of(terminal_html(clipped.head) + terminal_html(clipped.tail), "pre")


# --- pictures


@pytest.mark.parametrize(
    ("image", "embedded"),
    [
        (Image("image/png", PNG), True),
        (Image("image/jpeg", b"\xff\xd8\xff\xe0"), True),
        (Image("image/gif", b"GIF89a"), True),
        (Image("image/webp", b"RIFF\x00\x00\x00\x00WEBP"), True),
        (Image("image/png", b"<svg onload=x>"), False),
        (Image("image/svg+xml", b"<svg>"), False),
        (Image('image/png" onerror="x', PNG), False),
        (Image("image/png"), False),
        (Image(None, PNG), False),
    ],
)
def test_only_real_pictures_of_four_types_are_embedded(image: Image, embedded: bool) -> None:
    assert ("<img" in image_html(image, embed=True)) is embedded
    assert "<img" not in image_html(image, embed=False)


def test_pictures_and_files_have_words() -> None:
    assert (
        image_words(Image("image/png", None, None, 12_000, name="run.png")) == "[image: run.png · image/png · 12.0 kB]"
    )
    assert image_words(Image()) == "[image]"
    assert file_words(File("totals.csv", "text/csv", 812)) == "[file: totals.csv · text/csv · 812 bytes]"
