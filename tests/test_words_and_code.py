"""What README, CONTRIBUTING, CHANGELOG and `--help` say is what the code does."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from types import ModuleType

import click
import pytest

import trailbook
from conftest import ROOT
from trailbook import cli, failures, formats, readers, settings
from trailbook.checking import check
from trailbook.formats import TRAJECTORIES, Output
from trailbook.making import make_chat
from trailbook.readers import reader
from trailbook.redaction.removed import KINDS
from trailbook.stores import survey

README = (ROOT / "README.md").read_text("utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")

COMMANDS = {name: cli.trailbook.get_command(click.Context(cli.trailbook), name) for name in cli.COMMANDS}
OPTIONS = {
    name: {option for parameter in command.params for option in parameter.opts if option.startswith("-")}
    for name, command in COMMANDS.items()
    if command is not None
}


def table(heading: str) -> list[list[str]]:
    """The rows of the table under a heading of the README."""
    part = re.split(r"^##+ ", README.split(f"## {heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    rows = [line.strip("|").split("|") for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


# --- commands


def test_the_readmes_table_of_commands_is_the_command_line() -> None:
    rows = table("What it does")
    named = {shlex.split(row[0].strip("`"))[1]: row[0].strip("`") for row in rows}
    assert sorted(named) == sorted(cli.COMMANDS)
    for name, usage in named.items():
        assert set(re.findall(r"--[a-z-]+", usage)) <= OPTIONS[name]


def test_help_names_every_command_as_its_own_help_begins(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--help"]) == 0
    listed = capsys.readouterr().out.split("Commands:\n")[1]
    for name, command in COMMANDS.items():
        assert command is not None
        first = (command.help or "").splitlines()[0]
        assert re.search(rf"^  {name} +{re.escape(first)}$", listed, re.MULTILINE), name


def test_every_option_that_the_readme_names_is_there() -> None:
    known = set().union(*OPTIONS.values()) | {"--help", "--version"}
    not_ours = {"--quiet"}  # pip's
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", README)) - not_ours <= known


def test_the_examples_of_command_lines_can_be_parsed() -> None:
    lines = re.findall(r"`trailbook (\w+ [^`…]*)`", README + CONTRIBUTING)
    lines += re.findall(r"\.venv/bin/trailbook (\w+ [^`\n]*)", README)
    assert len(lines) > 3
    for line in lines:
        name, *words = shlex.split(line.replace("[LOGS…]", "").replace("--format FORMAT", "--format atif"))
        command = COMMANDS[name]
        assert command is not None
        command.make_context(name, words, resilient_parsing=False)


def test_what_can_stand_in_the_settings() -> None:
    said = re.search(r"can stand in a `trailbook\.toml`.*?: ((?:`\w+`,?\s*)+)\.", README, re.DOTALL)
    assert said is not None
    assert sorted(re.findall(r"`(\w+)`", said[1])) == sorted(settings.Settings.__dataclass_fields__)


# --- agents, formats, statuses, tokens


def test_the_readmes_table_of_agents_is_the_table_of_readers() -> None:
    named = [word.strip() for row in table("Agents whose logs are read") for word in row[0].split(",")]
    named = [re.sub(r" [\d.–]+$", "", word) for word in named]
    assert sorted(named) == sorted(reader(name).PRODUCT for name in readers.NAMES)


def test_the_readme_says_where_each_agents_logs_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    products = {reader(name).PRODUCT: reader(name) for name in readers.NAMES}
    for agents, where, _what in table("Agents whose logs are read"):
        places = [place for agent in agents.split(",") if agent.strip() in products
                  for place in products[agent.strip()].PLACES.logs()]  # fmt: skip
        said = [Path(path.replace("~", str(tmp_path), 1)) for path in re.findall(r"`(~/[^`]+)`", where)]
        assert bool(places) == bool(said) or "named, not read" in where, agents
        for path in said:
            near = any(place == path or place.is_relative_to(path) for place in places)
            assert near or "named, not read" in where, (agents, path)


def test_the_readmes_table_of_formats_is_what_can_be_written() -> None:
    named = [re.search(r"`([\w-]+)`", row[0]) for row in table("Trajectories")]
    assert tuple(found[1] for found in named if found) == TRAJECTORIES


def test_the_readmes_table_of_statuses_is_the_codes_own() -> None:
    statuses = {value for name, value in vars(failures).items() if name.isupper() and isinstance(value, int)}
    assert [int(row[0]) for row in table("How a run ends")] == sorted(statuses)


def test_the_readme_names_every_token() -> None:
    said = set(re.findall(r"`(\[\w+\])`", README.split("## What is taken out")[1]))
    assert said == {f"[{kind}]" for kind in KINDS if kind != "home"}


def test_the_changelog_has_this_version() -> None:
    first = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert first is not None
    assert first[1] == trailbook.__version__


@pytest.mark.parametrize(
    "path", [*sorted(ROOT.glob("*.md")), ROOT / "themes" / "README.md"], ids=lambda path: path.name
)
def test_every_path_that_is_named_is_there(path: Path) -> None:
    words = path.read_text("utf-8")
    links = [link for link in re.findall(r"\]\(([^)]+)\)", words) if not link.startswith("http")]
    named = re.findall(r"`((?:generator|tests|themes|example_logs)/[\w./-]*)`", words)
    missing = [name for name in {*links, *named} if not (ROOT / name).exists() and not (path.parent / name).exists()]
    assert missing == []


# --- the examples in CONTRIBUTING


@pytest.fixture
def examples(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, ModuleType]]:
    """The modules that CONTRIBUTING shows, put in place as it says."""
    blocks = re.findall(r"<!-- (\w+)/(\w+)\.py -->\n```python\n(.*?)```\n", CONTRIBUTING, re.DOTALL)
    assert [name for _, name, _ in blocks] == ["journal", "words"]
    modules = {}
    for folder, name, source in blocks:
        module = ModuleType(f"trailbook.{folder}.{name}")
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(compile(source, f"{folder}/{name}.py", "exec"), module.__dict__)
        modules[name] = module
    monkeypatch.setattr(readers, "NAMES", (*readers.NAMES, "journal"))
    monkeypatch.setitem(formats.FORMATS, "words", modules["words"].WORDS)
    return modules


JOURNAL = (
    '{"journal": "j-1", "title": "Plant the pears"}\n'
    '{"who": "person", "at": "2026-10-08T09:00:00Z", "words": "Which pears?"}\n'
    '{"who": "agent", "at": "2026-10-08T09:00:02Z", "words": "Conference."}\n'
    '{"who": "weather", "words": "rain"}\n'
    '{"who": "agent", "at": 7, "words": ["no text"]}\n'
    "not JSON\n"
)


def test_the_example_of_a_reader_and_of_a_format_work(examples: dict[str, ModuleType], tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(JOURNAL)
    (found,) = survey([log]).chats
    assert (found.reader, found.id, found.title) == ("journal", "j-1", "Plant the pears")
    made = make_chat(found, Output(formats=("report", "markdown", "words", "atif"), zone=UTC))
    pieces = {piece.name.partition("/")[0]: piece for piece in made.pieces}
    assert sorted(pieces) == ["notes", "reports", "trajectories", "words"]
    assert pieces["words"].data == b"Which pears?\n\nConference.\n"
    assert [(each.kind, each.count) for each in made.diagnostics] == [("unknown-record", 2), ("damaged-line", 1)]
    written = tmp_path / "written.json"
    written.write_bytes(pieces["trajectories"].data)
    (checked,) = check(written, log)
    assert checked.comparison is not None
    assert checked.comparison.complete


def test_the_ledger_of_the_example_shows_what_its_reader_loses(examples: dict[str, ModuleType], tmp_path: Path) -> None:
    log, shorter = tmp_path / "log.jsonl", tmp_path / "shorter.jsonl"
    log.write_text(JOURNAL)
    shorter.write_text("".join(line for line in JOURNAL.splitlines(keepends=True) if "Conference" not in line))
    (found,) = survey([shorter]).chats
    made = make_chat(found, Output(formats=("atif",), zone=UTC))
    written = tmp_path / "written.json"
    written.write_bytes(made.pieces[0].data)
    (checked,) = check(written, log)
    assert checked.comparison is not None
    assert not checked.comparison.complete
