"""Every string of every log is hostile: nothing runs, nothing loads, nothing steers the terminal, nothing is lost.

The generator takes the example logs of every agent; `attacking.py` says how. What was tried is counted and printed.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC
from html import escape
from pathlib import Path
from typing import Any

import pytest
import yaml
from markdown_it import MarkdownIt

from browser.browsers import Chromium, is_installed
from conftest import skip_unless_required
from hostile.attacking import AGENTS, Attacked, attack_all
from hostile.payloads import TEMPLATES, payload
from pages import ADDRESS, ATTRIBUTES, ELEMENTS
from trailbook import cli, pool, site, stores
from trailbook.chat import Chat, with_subagents
from trailbook.formats import Output
from trailbook.readers import NAMES, reader
from trailbook.redaction.context import load_context
from trailbook.staging import Failed, Staged

WHOLE = """(() => {
  const elements = new Set(%s), attributes = new Set(%s), address = new RegExp(%s, 'i');
  const wrong = [];
  if (window.PWNED !== undefined) wrong.push('ran: ' + window.PWNED);
  if (document.scripts.length) wrong.push('a script');
  for (const e of document.querySelectorAll('*')) {
    if (!elements.has(e.localName)) wrong.push('<' + e.localName + '>');
    for (const a of e.attributes) {
      if (!attributes.has(a.name) && !/^data-[a-z]+$/.test(a.name)) wrong.push(a.name + ' on <' + e.localName + '>');
      if (a.name == 'href' && !address.test(a.value)) wrong.push('a link to ' + a.value);
      if (a.name == 'src') wrong.push('a source ' + a.value);
    }
  }
  const main = document.body.lastElementChild;
  return [location.href, wrong, main && main.localName, document.querySelectorAll('li[data-kind]').length];
})()"""

STEP = re.compile(rb'<li class="st c-[a-z]+" data-kind="')
STEERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
"""What a terminal obeys, or shows otherwise than it is."""


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile") / 'x"><img src=x onerror=top.PWNED=1> \x1b]0;t\x07 \u202e'


@pytest.fixture(scope="module")
def attacked(top: Path) -> dict[str, Attacked]:
    return attack_all(top)


@pytest.fixture(scope="module")
def folder(top: Path, attacked: dict[str, Attacked]) -> Path:
    """The logs of all agents with payloads everywhere, with files beside them that are no logs and have such names."""
    for number in range(len(TEMPLATES)):
        name = re.sub("[/\x00]", "", payload(number)).encode("utf-8", "replace")[:200].decode("utf-8", "ignore")
        (top / "0" / f".{name}").write_text("no log")
    return top / "0"


@pytest.fixture(scope="module")
def built(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of those logs, as a build makes it."""
    out = tmp_path_factory.mktemp("site") / "site"
    survey = stores.survey([folder])
    context = load_context(secret_files=[], environment={})
    made = site.build(site.Plan(out, survey, survey.chats, Output(zone=UTC, context=context)))
    assert made.failed == []
    return out


def made(attacked: dict[str, Attacked]) -> Iterator[Staged]:
    for each in attacked.values():
        yield from (staged for _log, _found, staged in each.made if isinstance(staged, Staged))


def pages(attacked: dict[str, Attacked], ending: str) -> list[Path]:
    found = [staged.folder / name for staged in made(attacked) for name in staged.files if name.endswith(ending)]  # type: ignore[operator]
    return sorted(found)


# --- the attack is one


def test_every_agent_is_attacked_in_every_field(
    attacked: dict[str, Attacked], capsys: pytest.CaptureFixture[str]
) -> None:
    assert set(NAMES) <= set(AGENTS)
    fields, pairs, templates = 0, 0, set()
    for each in attacked.values():
        names = each.fields.words | each.fields.endings | each.fields.kinds
        planted = {pair for log in each.logs for pair in log.pairs}
        assert {field for field, _ in planted} == names
        templates |= {template for _, template in planted}
        fields += len(names)
        pairs += len(planted)
    assert templates == set(range(len(TEMPLATES)))
    with capsys.disabled():
        sums = f"{len(TEMPLATES)} payloads, {fields:,} fields of {len(attacked)} formats, {pairs:,} pairs of the two"
        print(f"\nhostile: {sums}, {len(pages(attacked, '.html')):,} reports, {len(pages(attacked, '.md')):,} notes")


def test_no_reader_and_no_writer_trips(attacked: dict[str, Attacked]) -> None:
    for agent, each in attacked.items():
        faults = [skipped for skipped in each.skipped if "failed on it" in skipped.why]
        faults += [why for _log, _found, why in each.made if isinstance(why, Failed) and "could not be made" in why.why]  # type: ignore[misc]
        assert faults == [], agent
    every = [staged for each in attacked.values() for _log, _found, staged in each.made]
    assert sum(isinstance(staged, Failed) for staged in every) < len(every) / 10


def test_nothing_is_lost(attacked: dict[str, Attacked]) -> None:
    lost = [staged.made.fidelity for staged in made(attacked) if staged.made.lost]
    assert lost == []


# --- pages


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    if not is_installed("chromium"):
        skip_unless_required("browsers", "chromium is not installed")
    running = Chromium()
    yield running
    running.close()


def seen(chromium: Chromium, paths: list[Path], folder: Path, address: str) -> Iterator[tuple[Path, list[Any]]]:
    """What each page is in the browser; many are opened at a time, each in a frame. Fails where anything is loaded."""
    looked = WHOLE % (json.dumps(sorted(ELEMENTS)), json.dumps(sorted(ATTRIBUTES)), json.dumps(address))
    for start in range(0, len(paths), 30):
        some = {path.as_uri(): path for path in paths[start : start + 30]}
        frames = "".join(f'<iframe src="{escape(uri)}"></iframe>' for uri in some)
        host = folder / f"host-{start}.html"
        host.write_text(f"<!DOCTYPE html><meta charset=utf-8><title>host</title><body>{frames}")
        chromium.open(host.as_uri(), 0.05)
        values = {value[0]: value for value in chromium.read_in_frames(looked)}
        assert set(some) <= set(values)
        assert values[host.as_uri()][1][:1] == ["<iframe>"]
        assert chromium.messages() == [], list(some)
        assert set(chromium.requests()) <= {*some, host.as_uri(), "about:blank"}
        yield from ((path, values[uri][1:]) for uri, path in some.items())


def test_no_report_runs_or_loads_anything_and_each_is_whole(
    attacked: dict[str, Attacked], chromium: Chromium, tmp_path: Path
) -> None:
    paths = pages(attacked, ".html")
    assert len(paths) > 150
    for path, (wrong, last, steps) in seen(chromium, paths, tmp_path, ADDRESS.pattern):
        assert wrong == [], path
        assert (last, steps) == ("main", len(STEP.findall(path.read_bytes()))), path


def test_no_page_of_the_index_runs_or_loads_anything(built: Path, chromium: Chromium, tmp_path: Path) -> None:
    paths = sorted(built.glob("*.html"))
    assert {"index.html", "files.html"} <= {path.name for path in paths}
    rows = sum(path.read_bytes().count(b"<tr") for path in paths)
    assert rows > 50 or b"<li" in paths[0].read_bytes()
    for path, (wrong, last, _steps) in seen(chromium, paths, tmp_path, ADDRESS.pattern):
        assert (wrong, last) == ([], "main"), path


def test_a_script_would_be_seen(chromium: Chromium, tmp_path: Path) -> None:
    (page := tmp_path / "page.html").write_text(f"<main></main>{payload(0)}{payload(3)}")
    with pytest.raises(AssertionError):
        list(seen(chromium, [page], tmp_path, ADDRESS.pattern))


# --- notes


def rendered(path: Path) -> list[str]:
    """A note as two Markdown engines show it, HTML switched on."""
    mistune = pytest.importorskip("mistune")
    body = path.read_text("utf-8").split("\n---\n", 1)[1]
    ours = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(body)
    plugins = ["table", "strikethrough", "url", "footnotes", "task_lists"]
    return [ours, mistune.create_markdown(escape=False, plugins=plugins)(body)]


def test_no_note_runs_or_loads_anything_in_two_markdown_engines(
    attacked: dict[str, Attacked], chromium: Chromium, tmp_path: Path
) -> None:
    written: list[Path] = []
    for path, shown in pool.each(rendered, pages(attacked, ".md")):
        assert not isinstance(shown, Exception), (path, shown)
        for engine, html in enumerate(shown):
            page = tmp_path / f"{len(written)}-{engine}.html"
            page.write_text(f"<!DOCTYPE html><meta charset=utf-8><title>{path.name}</title><body><main>{html}</main>")
            written.append(page)
    assert len(written) > 300
    for path, (wrong, last, _steps) in seen(chromium, written, tmp_path, r"^(https?://|mailto:|#|[\w.%~-]+\.md$)"):
        assert (wrong, last) == ([], "main"), (path, path.read_text()[:300])


def test_front_matter_reads_back_as_the_log_has_it(attacked: dict[str, Attacked]) -> None:
    for each in attacked.values():
        for _log, found, staged in each.made:
            if isinstance(staged, Failed) or staged.made.left_out:
                continue
            chats = list(with_subagents(reader(found.reader).read(found, UTC)))
            for chat, stem in zip(chats, staged.made.stems.values(), strict=True):
                assert staged.folder is not None
                note = (staged.folder / "notes" / f"{stem}.md").read_text("utf-8")
                compare(chat, yaml.safe_load(note.split("\n---\n")[0].removeprefix("---\n")))


def compare(chat: Chat, values: dict[str, Any]) -> None:
    assert values["id"] == chat.id
    assert values["source"] == chat.source
    assert values["models"] == chat.models
    assert values.get("project") == (chat.cwd or None)
    assert values.get("branch") == (chat.git_branch or None)
    assert values.get("agent") == (chat.agent.name or chat.agent.product or None)
    assert values.get("version") == (chat.agent.version or None)
    assert isinstance(values["title"], str)
    assert all(re.fullmatch(r"[\w/-]+", tag) for tag in values["tags"])


# --- the terminal


def printed(*arguments: str) -> str:
    """What a command prints on both streams."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        status = cli.run(list(arguments))
    assert status in (0, 6), out.getvalue()[:500]
    return out.getvalue()


def steering(words: str) -> list[str]:
    return [ascii(words[max(0, found.start() - 60) : found.end()]) for found in STEERS.finditer(words)][:3]


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))


@pytest.mark.parametrize(
    "words", [["list", "--files"], ["list", "--no-redact"], ["preview"], ["find", "e", "--logs"]], ids=" ".join
)
def test_nothing_that_is_printed_steers_a_terminal(folder: Path, words: list[str]) -> None:
    said = printed(*words, str(folder))
    assert len(said.splitlines()) > 4
    assert steering(said) == []


def test_no_timeline_steers_a_terminal(attacked: dict[str, Attacked]) -> None:
    shown = 0
    for each in attacked.values():
        (first,) = [log for log in each.logs if log.folder.parent.name == "0"]
        for found in stores.survey([first.folder]).chats:
            for options in ([], ["--json"]):
                said = printed("show", *options, "--no-redact", "--logs", str(first.folder), "--", found.id)
                assert steering(said) == [], found.path
            shown += 1
    assert shown >= len(attacked)


def test_what_a_build_says_steers_no_terminal(folder: Path, tmp_path: Path) -> None:
    said = printed("build", str(folder), "--out", str(tmp_path / "site"), "--yes", "--no-notes")
    assert steering(said) == []
