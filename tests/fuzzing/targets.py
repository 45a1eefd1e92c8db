"""What is fuzzed: each reader with its counter, redaction, what renders words, and what reads written files back.

A target is given any bytes. It fails by an exception that it should not raise, or where what it promises does not hold.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC
from functools import cache, partial
from pathlib import Path

import pytest

from conftest import EXAMPLES, SHARED
from fuzzing.bundles import pack, unpack
from trailbook import diffs, json_text, manifest, readers, settings
from trailbook.chat import Chat, with_subagents
from trailbook.failures import Stopped
from trailbook.ledger import keep_nothing
from trailbook.messages import make_messages
from trailbook.page_ledger import count_note, count_report
from trailbook.readers import HEAD_BYTES, Unreadable
from trailbook.readers.lines import Problems, read_stream
from trailbook.redaction.context import Context
from trailbook.redaction.replacing import redact_json, redact_text
from trailbook.rendering.ansi import plain_terminal_text, terminal_html
from trailbook.rendering.cleaning import clean
from trailbook.rendering.clipping import clip
from trailbook.rendering.code import LEXERS, Budget, code_html
from trailbook.rendering.diffs import diff_html
from trailbook.rendering.markdown import markdown_html
from trailbook.rendering.safe_markdown import inline, inline_code, safe_markdown
from trailbook.terminal import plain
from trailbook.timeline import make_timeline

DATA = Path(__file__).parent.parent / "data"
CASES = Path(__file__).parent / "cases"
"""What made a target fail once, a folder for each target."""

Target = Callable[[bytes], None]


@cache
def _room() -> Path:
    """A folder in memory, where there is one."""
    memory = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix="trailbook-fuzzing-", dir=memory if memory.is_dir() else None))


# --- readers


def read_log(name: str, data: bytes) -> None:
    """Find, read and count whatever chats are in a bundle of files."""
    reader = readers.reader(name)
    folder = Path(tempfile.mkdtemp(dir=_room()))
    try:
        for path in unpack(data, folder):
            with suppress(Unreadable, OSError):
                answer = reader.find(path, path.read_bytes()[:HEAD_BYTES])
                for found in answer if isinstance(answer, list) else []:
                    _look_at(reader.read(found, UTC))
                    reader.count(found, keep_nothing)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _look_at(chat: Chat) -> None:
    for each in with_subagents(chat):
        make_timeline(each)
        make_messages(each)


def _logs(folder: Path, *, alone: bool = True) -> list[bytes]:
    """Each file by itself, and those of a folder together."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.stat().st_size < 200_000]
    seeds = [pack(folder, [path]) for path in files] if alone else []
    return [*seeds, pack(folder, files)]


def _seeds_of_reader(name: str) -> list[bytes]:
    seeds = _logs(EXAMPLES / name)
    if (DATA / name).is_dir():
        seeds += _logs(DATA / name)
    if name in _DATABASES:
        with tempfile.TemporaryDirectory() as folder:
            _DATABASES[name](Path(folder))
            seeds += _logs(Path(folder))
    cases = [path for path in sorted((SHARED / "cases").glob("*.json*")) if path.is_file()]
    return seeds + [pack(SHARED / "cases", [path]) for path in cases]


def _openclaw(folder: Path) -> None:
    from openclaw_logs import database

    sessions = EXAMPLES / "openclaw" / "agents" / "main" / "sessions"
    for schema in ("first", "later"):
        database(folder / schema / "agents" / "main" / "agent" / "openclaw.sqlite", sessions, schema)


def _hermes(folder: Path) -> None:
    from hermes_logs import call, database, model, result, session, stored, summary, user

    first = session(
        "s1", user("Hi"), model("Look", call("c1", command="ls")), result("c1", {"output": "a", "exit_code": 0})
    )
    second = session("s2", user(summary("all")), model("Done"), parent_session_id="s1", end_reason="compression")
    database(folder / "state.db", stored(first, second))


_DATABASES: dict[str, Callable[[Path], None]] = {"openclaw": _openclaw, "hermes": _hermes}


# --- words


SECRET = "tr0ub4dor-3-" + "horse-battery"
KNOWN = Context(names=("Mira Okafor",), secrets=(SECRET,), homes=("/home/mira",), logins=("mira",))


def redact_words(data: bytes) -> None:
    """Nothing known stays, a second time changes nothing, and JSON stays JSON of the same shape."""
    text = _text(data)
    once = redact_text(text, KNOWN)
    assert SECRET not in once
    assert redact_text(once, KNOWN) == once
    with suppress(ValueError):
        value = json_text.parse(data)
        redacted, removed = redact_json(value, KNOWN)
        assert isinstance(redacted, (type(value), str))
        removed.sentence()
        json_text.dump(redacted)


_TAG = re.compile(r"<(/?[a-z0-9]+)((?: [a-z-]+(?:=\"[^\"<>]*\")?)*)>")
_ALLOWED = re.compile(
    r"/?(?:p|em|strong|code|pre|ul|ol|li|h[1-6]|a|hr|br|s|del|table|thead|tbody|tr|th|td|blockquote|span|div|mark|b|i|u|ins|small|bdi)"
)


def _assert_tame(html: str) -> None:
    """Only elements of ours, without handlers and styles; every other `<` is escaped."""
    rest = _TAG.sub("", html)
    assert "<" not in rest, rest[max(0, rest.index("<") - 80) :][:200]
    for tag, attributes in _TAG.findall(html):
        assert _ALLOWED.fullmatch(tag), tag
        assert not re.search(r" (?:on\w+|style|src)=", attributes), attributes
        for address in re.findall(r'href="([^"]*)"', attributes):
            assert re.match(r"(?:https?://|mailto:)", address, re.IGNORECASE), address


def render_markdown(data: bytes) -> None:
    """As HTML of the page, and as Markdown of the note, in which HTML of the chat's own is nowhere."""
    from markdown_it import MarkdownIt

    text = _text(data)
    _assert_tame(markdown_html(text, Budget()))
    engine = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    for words in (safe_markdown(text), inline(text), inline_code(text)):
        assert not re.search(r"<(?:script|img|iframe|svg|style|link|meta)\b", engine.render(words), re.IGNORECASE)


def render_terminal(data: bytes) -> None:
    """Colours become classes; nothing that a terminal obeys is left anywhere."""
    text = _text(data)
    _assert_tame(terminal_html(text))
    plain_terminal_text(text)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", plain(text))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", clean(text))
    clipped = clip(text, 500)
    assert len(clipped.head) + len(clipped.tail) <= len(text) + 200


def render_code(data: bytes) -> None:
    """In the language that the first byte chooses."""
    languages = sorted(set(LEXERS.values()))
    language = languages[data[0] % len(languages)] if data else None
    _assert_tame(code_html(_text(data[1:]), language, Budget()))


def render_diff(data: bytes) -> None:
    """A text as a diff, two texts as the diff between them, and a text as a patch."""
    text = _text(data)
    old, _, new = text.partition("\x1e")
    _assert_tame(diff_html(text))
    between = diffs.line_diff(old, new)
    assert diffs.changed_lines(between) >= (0, 0)
    diffs.of_patch(text)


# --- what is read back


def parse_json(data: bytes) -> None:
    """What was read is written and read again the same."""
    for _record in read_stream(_Lines(data), Problems(), name="fuzzed"):  # type: ignore[arg-type]
        pass
    with suppress(ValueError):
        list(json_text.parse_glued(data))
    with suppress(ValueError):
        value = json_text.parse(data)
        assert json_text.canonical(json_text.parse(json_text.dump(value))) == json_text.canonical(value)


class _Lines(list[bytes]):
    def __init__(self, data: bytes) -> None:
        super().__init__(data.splitlines(keepends=True))


def count_pages(data: bytes) -> None:
    """A page and a note that somebody else may have written."""
    text = data.decode("utf-8", "replace").encode()
    count_report([("page.html", text)])
    count_note("note.md", text)


def load_manifest(data: bytes) -> None:
    """A manifest and settings from whoever; names in it lead nowhere else."""
    folder = Path(tempfile.mkdtemp(dir=_room()))
    try:
        (folder / manifest.NAME).parent.mkdir()
        (folder / manifest.NAME).write_bytes(data)
        with suppress(Stopped):
            for entry in manifest.load(folder).entries.values():
                for name in entry.files:
                    assert ".." not in name.split("/")
                    assert not name.startswith("/")
        toml = folder / settings.NAME
        toml.write_bytes(data)
        with suppress(Stopped):
            settings._read(toml)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _text(data: bytes) -> str:
    """Any text, halves of surrogate pairs among it."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


# --- the table


def _words() -> list[bytes]:
    import json

    from hostile.payloads import TEMPLATES

    payloads: list[str] = json.loads((DATA / "payloads.json").read_text())
    return [words.encode("utf-8", "surrogatepass") for words in (*payloads, *TEMPLATES)] + _documents("*.md")


def _documents(*patterns: str) -> list[bytes]:
    root = EXAMPLES.parent
    files: Iterable[Path] = (path for pattern in patterns for path in sorted(root.glob(pattern)))
    return [path.read_bytes()[:20_000] for path in files]


def _of_secrets() -> list[bytes]:
    from redaction import secret_cases

    return [*_words(), *(str(case).encode("utf-8", "replace") for case in secret_cases.CASES)]


def _of_code() -> list[bytes]:
    return [b"\0" + seed for seed in [*_documents("generator/trailbook/*.py", "themes/nacre/*"), *_words()]]


def _pages() -> list[bytes]:
    from full_chat import each_of_its_own, full_chat
    from trailbook.formats import Output, Sheet
    from trailbook.writers.markdown import write_note
    from trailbook.writers.report import write_report

    chat, sheet = full_chat(each_of_its_own), Sheet(Output(), "page")
    return [piece.data for piece in [*write_report(chat, sheet), *write_note(chat, sheet)]]


def _manifests() -> list[bytes]:
    from trailbook.formats import Output
    from trailbook.site import Plan, build
    from trailbook.stores import survey

    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", folder)
        found = survey([EXAMPLES / "openai"])
        build(Plan(Path(folder, "site"), found, found.chats, Output(zone=UTC)))
        written = Path(folder, "site", manifest.NAME).read_bytes()
    return [written, b'out = "site"\nlogs = ["a"]\nnames = ["b"]\n', *_words()[:20]]


TARGETS: dict[str, tuple[Target, Callable[[], list[bytes]]]] = {
    **{name: (partial(read_log, name), partial(_seeds_of_reader, name)) for name in readers.NAMES},
    "redaction": (redact_words, _of_secrets),
    "markdown": (render_markdown, _words),
    "terminal": (render_terminal, _words),
    "code": (render_code, _of_code),
    "diffs": (render_diff, lambda: [*_words(), b"--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n", b"a\nb\x1ea\nc\n"]),
    "json": (parse_json, lambda: [path.read_bytes() for path in sorted(EXAMPLES.rglob("*.jsonl"))][:20]),
    "pages": (count_pages, _pages),
    "manifest": (load_manifest, _manifests),
}
"""Each target by its name: what it does with any bytes, and what it starts from."""


def seeds_of(name: str) -> list[bytes]:
    """Where a target starts from, with what made it fail once."""
    cases = sorted((CASES / name).glob("*")) if (CASES / name).is_dir() else []
    return [*TARGETS[name][1](), *(path.read_bytes() for path in cases)]
