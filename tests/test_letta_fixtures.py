"""Each agent's log is read as another project reads it: its fixtures, our reader, our trajectory-v1, its records.

letta-ai/trajectory has small made-up logs of every agent beside the records that its own normaliser makes of them. What
is made here of the same log must be the same in every record, but for the differences that stand in the table, each
with its reason. A difference that is not there (any more) fails as well.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Callable
from datetime import UTC
from functools import cache
from types import ModuleType
from typing import Any

import pytest

from conftest import SHARED
from trailbook import readers
from trailbook.formats import FORMATS, Output, Sheet
from trailbook.readers import reader
from trailbook.stand_ins import is_stand_in, take_marks, without_stand_in
from trailbook.stores import survey

FOLDER = SHARED / "samples" / "letta-fixtures"
CHECKER = SHARED / "tools" / "letta_check.py"

Records = list[dict[str, Any]]
Pair = tuple[Records, Records]
"""Their records and ours, with the calls numbered in order instead of their ids."""

Difference = Callable[[Records, Records], Pair]
"""Takes one kind of difference out of a pair of records; it may take nothing else out."""


# --- kinds of differences


def only_ours(role: str, count: int = 1) -> Difference:
    """Records of a role that only ours have."""

    def take_out(theirs: Records, ours: Records) -> Pair:
        known = [record.get("content") for record in theirs if record["role"] == role]
        kept, extra = [], 0
        for record in ours:
            if record["role"] == role and record.get("content") not in known:
                extra += 1
            else:
                kept.append(record)
        return theirs, kept if extra == count else ours

    return take_out


def stand_ins(theirs: Records, ours: Records) -> Pair:
    """Sentences for results that are not there."""
    return theirs, [record for record in ours if not (record["role"] == "tool" and is_stand_in(record["content"]))]


def not_run(theirs: Records, ours: Records) -> Pair:
    """The sentence in front of the words of a call that never ran."""
    return theirs, [
        {**record, "content": without_stand_in(record["content"])} if record["role"] == "tool" else record
        for record in ours
    ]


def prefix(word: str) -> Difference:
    """A word in front of the results of calls that failed, which is not in the log."""

    def take_out(theirs: Records, ours: Records) -> Pair:
        return [
            {**record, "content": record["content"].removeprefix(word)} if record.get("ok") is False else record
            for record in theirs
        ], ours

    return take_out


def picture_marks(theirs: Records, ours: Records) -> Pair:
    """What type and size a picture has, in the mark that stands for it."""
    return theirs, [
        {**record, "content": re.sub(r"\[image: image/\w+, \d+ bytes\]", "[image]", record["content"])}
        if isinstance(record.get("content"), str)
        else record
        for record in ours
    ]


def pictures_only_ours(theirs: Records, ours: Records) -> Pair:
    """The marks that stand for the pictures that a person sent."""
    return theirs, [
        {**record, "content": take_marks(record["content"])[0]} if record["role"] == "user" else record
        for record in ours
    ]


def ok_only_ours(theirs: Records, ours: Records) -> Pair:
    """Whether a call went well, where only ours say it."""
    unsaid = {record["tool_call_id"] for record in theirs if record["role"] == "tool" and "ok" not in record}
    return theirs, [
        {key: value for key, value in record.items() if key != "ok" or record["tool_call_id"] not in unsaid}
        for record in ours
    ]


def result_only_theirs(start: str) -> Difference:
    """The words of a result that start so in theirs, where ours has none."""

    def take_out(theirs: Records, ours: Records) -> Pair:
        empty = {record["tool_call_id"] for record in ours if record["role"] == "tool" and record["content"] == ""}
        return [
            {**record, "content": ""}
            if record["role"] == "tool" and record["tool_call_id"] in empty and record["content"].startswith(start)
            else record
            for record in theirs
        ], ours

    return take_out


def meta(key: str) -> Difference:
    """What the first record says under a key."""

    def take_out(theirs: Records, ours: Records) -> Pair:
        first, second = ({each: value for each, value in side[0].items() if each != key} for side in (theirs, ours))
        differ = theirs[0].get(key) != ours[0].get(key)
        return ([first, *theirs[1:]], [second, *ours[1:]]) if differ else (theirs, ours)

    return take_out


def times(theirs: Records, ours: Records) -> Pair:
    """Every time, of a log that has none."""
    bare = [[{key: record[key] for key in record if key != "timestamp"} for record in side] for side in (theirs, ours)]
    stamps = {record["timestamp"] for record in ours[1:]}
    return (bare[0], bare[1]) if stamps == {"1970-01-01T00:00:00.000Z"} else (theirs, ours)


# --- the table

UNANSWERED = (
    stand_ins,
    "A call without a result has a sentence that says why, for programs that train on it take none without.",
)
TIMELESS = (times, "The log has no times; theirs are invented, ours stand at the beginning of the epoch.")
SYSTEM = (only_ours("system"), "They leave system texts out; ours carry them.")
ERROR = (prefix("Error: "), "They put a word in front of failed results; ours are the log's.")
MARKS = (picture_marks, "Ours say of what type and size a picture is that a format has no place for.")
AGENT = (meta("source"), "Theirs names the format, ours the agent whose run it is.")

ALLOWED: dict[str, list[tuple[Difference, str]]] = {
    "atif/cleanup": [AGENT, SYSTEM],
    "atif/tool-calls": [
        AGENT,
        (
            result_only_theirs('{"subagent_trajectory_ref"'),
            "The result has no words, only a reference to a subagent's file, which they spell as JSON.",
        ),
    ],
    "claude-code/cleanup": [TIMELESS],
    "claude-code/subagent": [],
    "claude-code/tool-call": [],
    "codex/cleanup": [TIMELESS, (only_ours("observation", 2), "They leave results out that answer no call.")],
    "codex/tool-calls": [
        (
            only_ours("observation"),
            "They leave out what the harness wrote in the person's place; ours carry it, told apart.",
        ),
    ],
    "copilot-cli/cleanup": [],
    "copilot-cli/tool-calls": [],
    "cursor/cleanup": [TIMELESS],
    "cursor/tool-calls": [TIMELESS, UNANSWERED],
    "droid/happy-path": [
        TIMELESS,
        (ok_only_ours, "The result says that it is no error; they do not take that over."),
    ],
    "gemini-cli/cleanup": [],
    "gemini-cli/tool-calls": [],
    "omp/cleanup": [
        MARKS,
        ERROR,
        (
            only_ours("observation", 3),
            "A result without a call, an extension's note, a command that the person ran.",
        ),
    ],
    "omp/tool-calls": [],
    "openclaw/cleanup": [MARKS, ERROR, (only_ours("observation"), "They leave a result out that answers no call.")],
    "openclaw/tool-calls": [],
    "pi/cleanup": [
        MARKS,
        ERROR,
        (
            only_ours("observation", 3),
            "A result without a call, an extension's note, a command that the person ran.",
        ),
    ],
    "pi/tool-calls": [],
    "hermes/cleanup": [
        (pictures_only_ours, "They leave a picture out; ours say where one was."),
        (only_ours("observation"), "They leave a result out that answers no call."),
    ],
    "hermes/tool-calls": [SYSTEM],
    "letta-code/cleanup": [ERROR, UNANSWERED],
    "letta-code/tool-calls": [],
    "opencode/cleanup": [],
    "opencode/tool-calls": [],
    "openhands/cleanup": [
        (only_ours("user"), "They leave a message out that has no id; it is a message all the same."),
        (ok_only_ours, "The event's kind says that the call failed; they take only a status."),
    ],
    "openhands/tool-calls": [
        (not_run, "The person did not approve the call: ours say first that it never ran."),
    ],
}


def fixtures() -> list[str]:
    return sorted(f"{path.parent.parent.name}/{path.parent.name}" for path in FOLDER.glob("*/*/expected.json"))


@cache
def checker() -> ModuleType:
    """The other project's rules and its comparison of records."""
    spec = importlib.util.spec_from_file_location("letta_check", CHECKER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["letta_check"] = module
    spec.loader.exec_module(module)
    return module


def written(fixture: str) -> Records:
    """Our records of a fixture's log."""
    (log,) = (FOLDER / fixture).glob("input.*")
    (found,) = survey([log]).chats
    chat = reader(found.reader).read(found, UTC)
    pieces = FORMATS["trajectory-v1"].bundle([chat], Sheet(Output(), "written"))
    (line,) = pieces[0].data.splitlines()
    records: Records = json.loads(line)
    return records


def numbered(records: Records) -> Records:
    """The records with the calls numbered in order, since a call without an id has one of each project's making."""
    known: dict[str, str] = {}
    changed: Records = []
    for record in records:
        calls = [
            {**call, "id": known.setdefault(call["id"], f"#{len(known)}")} for call in record.get("tool_calls", [])
        ]
        changed.append({**record, "tool_calls": calls} if calls else record)
    return [
        {**record, "tool_call_id": known.get(record["tool_call_id"], "?")} if "tool_call_id" in record else record
        for record in changed
    ]


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the other project's fixtures are not here")
@pytest.mark.parametrize("fixture", fixtures())
def test_a_log_is_read_as_another_project_reads_it(fixture: str) -> None:
    agent = fixture.partition("/")[0].replace("-", "_")
    if agent not in readers.NAMES:
        pytest.skip(f"{agent} is not read yet")
    ours = written(fixture)
    assert [problem for problem in checker().validate(ours) if not problem.startswith("note")] == []
    theirs = json.loads((FOLDER / fixture / "expected.json").read_bytes())["records"]
    pair = numbered(theirs), numbered(ours)
    assert fixture in ALLOWED, "it has no row in the table"
    for difference, why in ALLOWED[fixture]:
        before, pair = pair, difference(*pair)
        assert pair != before, f"there is no such difference: {why}"
    assert checker().compare(*pair) == []


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the other project's fixtures are not here")
def test_every_difference_is_of_a_fixture() -> None:
    assert ALLOWED.keys() <= set(fixtures())
