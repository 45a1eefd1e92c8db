"""The timeline as JSON, against what Conch's own rules give for the same logs."""

from __future__ import annotations

import json
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from trailbook.chat import (
    Agent,
    Answered,
    Asked,
    Called,
    Chat,
    Cost,
    File,
    FileChange,
    FilesChanged,
    Noted,
    Origin,
    Permission,
    Returned,
    Said,
    Text,
    Usage,
)
from trailbook.readers import conch
from trailbook.timeline import make_timeline
from trailbook.writers.timeline_json import clip, timeline_json

DATA = Path(__file__).parent.parent / "data" / "conch"
EXPECTED: dict[str, Any] = {
    timeline["conversationId"]: timeline for timeline in json.loads((DATA / "expected.json").read_text())["timelines"]
}
WORKED, ROUTINE = "c_8f3a1c2d4e5b", "c_5d6e7f8a9b0c"

ADDED = ("noted:", "question:")
"""Steps that Conch has not: for what it logs and does not show, and for the questions that the run waited on."""

OUR_WORDS = "Conch's word rules for this tool are not known: the words are ours"
NO_ROOM = "the model has no place for it, and Conch does not count it either"
SPEAKS_OF_IT = "a remark on the expectation, no field"
WAITS = "how long it waited stands beside"
DIFFERENT: dict[tuple[str, str, str], tuple[Any, str]] = {
    (WORKED, "tool:tu_script1", "title"): ("Ran script in Conch", OUR_WORDS),
    (WORKED, "tool:tu_script1", "family"): ("connect", OUR_WORDS),
    (WORKED, "tool:tu_script1", "detail"): ("Check every invoice", OUR_WORDS),
    (WORKED, "tool:tu_dep1", "title"): ("Deploying", OUR_WORDS),
    (WORKED, "tool:tu_dep1", "family"): ("ship", OUR_WORDS),
    (WORKED, "tool:tu_dep1", "detail"): ("No result in the log", OUR_WORDS),
    (WORKED, "tool:tu_dep2", "title"): ("Didn’t deploy", OUR_WORDS),
    (WORKED, "tool:tu_dep2", "family"): ("ship", OUR_WORDS),
    (WORKED, "tool:tu_dep2", "detail"): ("You said no", OUR_WORDS),
    (WORKED, "tool:tu_script1", "_note"): (None, SPEAKS_OF_IT),
    (WORKED, "tool:tu_dep1", "_note"): (None, SPEAKS_OF_IT),
    (WORKED, "tool:tu_dep2", "_note"): (None, SPEAKS_OF_IT),
    (WORKED, "turn 0", "usage"): ({"inputTokens": 6400, "outputTokens": 710, "cachedInputTokens": 4100}, NO_ROOM),
    (WORKED, "turn 0", "cost"): ({"billing": "metered", "usd": 0.0312, "savedUsd": 0.008}, NO_ROOM),
    (WORKED, "turn 2", "cost"): ({"billing": "plan", "usd": 0.002}, NO_ROOM),
    # An approval of 90 s, the browser handed over for 10 s, a question of 20 s.
    (WORKED, "turn 0", "waitingMs"): (120_000, WAITS),
    (WORKED, "turn 1", "waitingMs"): (60_000, WAITS),
    (WORKED, "turn 2", "waitingMs"): (5_000, WAITS),
    (WORKED, "turn 3", "waitingMs"): (100, WAITS),
    (WORKED, "totals", "waitingMs"): (185_100, WAITS),
    (WORKED, "totals", "questions"): (3, "questions are counted apart from approvals"),
    (ROUTINE, "turn 0", "usage"): ({"inputTokens": 1500, "outputTokens": 60}, "its cost stands under `cost`"),
    (ROUTINE, "turn 0", "cost"): ({"usd": 0.01}, "an older log has the cost among the tokens: it counts"),
    (ROUTINE, "totals", "usd"): (0.01, "an older log has the cost among the tokens: it counts"),
    (ROUTINE, "totals", "waitingMs"): (0, WAITS),
    (ROUTINE, "totals", "questions"): (0, "questions are counted apart from approvals"),
}


def written(identity: str) -> dict[str, Any]:
    path = DATA / "home" / "conversations" / f"{identity}.jsonl"
    found = conch.find(path, path.read_bytes()[:65_536])
    assert isinstance(found, list)
    return json.loads(json.dumps(timeline_json(make_timeline(conch.read(found[0], UTC)))))


def parts(timeline: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found = {step["id"]: step for step in timeline["steps"] if not step["id"].startswith(ADDED)}
    found |= {f"turn {turn['index']}": turn for turn in timeline["turns"]}
    return found | {"totals": timeline["totals"]}


@pytest.mark.parametrize("identity", [WORKED, ROUTINE])
def test_every_step_turn_and_total_is_as_conch_has_it(identity: str) -> None:
    timeline, expected = written(identity), EXPECTED[identity]
    for field in ("conversationId", "title", "origin", "startedAt", "endedAt"):
        assert timeline[field] == expected[field]
    ours, theirs = parts(timeline), parts(expected)
    assert list(ours) == list(theirs)
    differences = {
        (identity, name, field): ours[name].get(field)
        for name in theirs
        for field in theirs[name].keys() | ours[name].keys()
        if ours[name].get(field) != theirs[name].get(field)
    }
    assert differences == {key: value for key, (value, _) in DIFFERENT.items() if key[0] == identity}


def test_what_conch_does_not_show_is_added_in_its_place() -> None:
    steps = written(WORKED)["steps"]
    names = [step["id"] for step in steps]
    question = steps[names.index("question:q_01")]
    assert (question["title"], question["detail"], question["durationMs"]) == (
        "Also fix the report?",
        "You answered: No",
        20_000,
    )
    assert names.index("remembered:mem_01") < names.index("question:q_01") < names.index("said:m_0002:52")
    assert names[1] == "noted:skill:2"


def test_texts_are_clipped_by_utf_16_units() -> None:
    assert clip("a" * 120, 120) == "a" * 120
    assert clip("a" * 121, 120) == "a" * 119 + "…"
    assert clip("a" * 118 + "  b", 120) == "a" * 118 + "…"
    assert clip("😀" * 60, 120) == "😀" * 60
    assert clip("😀" * 61, 120) == "😀" * 59 + "…"


def a_timeline(*events: Any, **fields: Any) -> dict[str, Any]:
    chat = Chat("c1", "a-reader", Agent("Pearl"), title="T", events=list(events))
    for name, value in fields.items():
        setattr(chat, name, value)
    return timeline_json(make_timeline(chat))


def test_long_things_are_clipped_and_no_step_is() -> None:
    diff_lines = "\n".join(f"line {number} " + "x" * 500 for number in range(300))
    timeline = a_timeline(
        Asked(id="u1", text="w " * 1_000, parts=[File("a")], at=1),
        Called(id="t1", name="Write", arguments={"file_path": "a.py", "content": diff_lines}, at=2),
        Returned(call="t1", parts=[Text("  " + "o" * 5_000)], ok=True, at=3),
        FilesChanged(id="f", files=[FileChange(f"{'d' * 20}/{number}.py") for number in range(60)], at=4),
        *[Said(text=f"{number}", at=5) for number in range(2_500)],
    )
    asked, tool, files = timeline["steps"][:3]
    assert len(timeline["steps"]) == 2_503
    assert (len(asked["title"]), len(asked["peek"]), asked["detail"]) == (120, 1_200, "With a file")
    assert tool["peek"] == "o" * 1_199 + "…"
    lines = tool["diff"].split("\n")
    assert len(tool["diff"]) <= 40_000
    assert len(lines[0]) == 400
    assert lines[-1] == f"@@ {300 - len(lines) + 1} more lines @@"
    assert (len(files["files"]), len(files["detail"])) == (50, 400)


def test_a_diff_of_300_lines_says_how_many_more_there_are() -> None:
    call = Called(id="t", name="Write", arguments={"file_path": "a", "content": "\n".join(["x"] * 300)})
    diff = a_timeline(call)["steps"][0]["diff"].split("\n")
    assert (len(diff), diff[-2:]) == (241, ["+x", "@@ 60 more lines @@"])


@pytest.mark.parametrize(
    ("kind", "shown"),
    [("routine", "routine"), ("artifact", "artifact"), ("peer", "chat"), ("subagent", "chat"), ("chat", "chat")],
)
def test_origins(kind: str, shown: str) -> None:
    assert a_timeline(origin=Origin(kind))["origin"] == shown


def test_what_is_not_known_is_null_or_left_out_and_never_0() -> None:
    timeline = a_timeline(Asked(id="u1", text="x"), Noted(topic="hook", text="y"))
    assert timeline["startedAt"] is None
    assert timeline["steps"][0] == {
        "id": "asked:u1",
        "kind": "asked",
        "at": None,
        "turn": 0,
        "title": "x",
        "anchor": "u1",
    }
    assert timeline["turns"] == [{"index": 0, "at": None}]
    totals = timeline["totals"]
    assert (totals["durationMs"], totals["inputTokens"], totals["outputTokens"], totals["usd"]) == (None,) * 4


def test_a_turn_says_when_it_ended_only_if_it_did() -> None:
    events = [
        Asked(id="u1", text="x", at=1_000),
        Permission(id="p", title="May I?", at=2_000, answered=4_500, decision="allow"),
        Answered(outcome="success", usage=Usage(5, 6, 3, 1), cost=Cost(0.5, "metered", 0.1), model="m", at=6_000),
        Asked(id="u2", text="y", at=7_000),
        Said(text="z", at=8_000),
    ]
    assert a_timeline(*events)["turns"] == [
        {
            "index": 0,
            "at": 1_000,
            "endAt": 6_000,
            "outcome": "success",
            "model": "m",
            "usage": {"inputTokens": 5, "outputTokens": 6, "cachedInputTokens": 3, "cacheWriteTokens": 1},
            "cost": {"billing": "metered", "usd": 0.5, "savedUsd": 0.1},
            "waitingMs": 2_500,
        },
        {"index": 1, "at": 7_000},
    ]
