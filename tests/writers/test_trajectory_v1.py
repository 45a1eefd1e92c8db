"""trajectory-v1: strict records, and beside them what the closed schema has no place for."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import jsonschema

from small_chats import PICTURE, START, asked, called, chat, returned, said, thought
from trailbook.chat import Answered, Cost, Message, Noted, Text, Usage
from trailbook.writers.trajectory_v1 import write_trajectory_v1
from trailbook.writers.written import Options

SCHEMA = json.loads((Path(__file__).parent.parent / "data" / "trajectory-v1.schema.json").read_text())

Records = list[dict[str, Any]]


def written(*events: Any, images: bool = False, **more: Any) -> tuple[Records, dict[str, Any]]:
    made = write_trajectory_v1([chat(*events, **more)], Options("file.jsonl", images=images))
    records = json.loads(made.data)
    jsonschema.validate(records, SCHEMA)
    return records, json.loads(made.sidecars["file.meta.json"])


def bare(records: Records) -> Records:
    return [{key: value for key, value in record.items() if key != "timestamp"} for record in records]


def test_a_turn_is_written_record_by_record() -> None:
    records, beside = written(
        asked("Fix it.", START),
        thought("Two.", "m1", at=START + 1_000),
        said("Looking.", "m1", at=START + 2_000),
        called("c1", "m1", at=START + 3_000, arguments={"path": "ä.py", "n": 12345678901234567890}),
        called("c2", "m1", "read", at=START + 3_500, raw="not {JSON"),
        returned("c2", "second", ok=False, at=START + 4_000),
        returned("c1", "first", ok=None, at=START + 5_000),
        said("Fixed.", "m2", at=START + 6_500),
        cwd="/srv/demo",
        git_branch="main",
        title="Fixing it",
        system_prompt="Be brief.",
        started=START,
        models=["small", "large"],
        messages={
            "m1": Message(model="small", usage=Usage(10, 1, 5), cost=Cost(0.01, "metered"), stop_reason="tool_use"),
            "m2": Message(model="large", usage=Usage(20, 2)),
        },
    )
    assert records == [
        {"role": "meta", "source": "conch", "cwd": "/srv/demo", "git_branch": "main", "model": "large"},
        {"role": "system", "content": "Be brief.", "timestamp": "2026-10-08T09:00:00.000Z"},
        {"role": "user", "content": "Fix it.", "timestamp": "2026-10-08T09:00:00.000Z"},
        {"role": "reasoning", "content": "Two.", "timestamp": "2026-10-08T09:00:01.000Z"},
        {"role": "assistant", "content": "Looking.", "timestamp": "2026-10-08T09:00:01.000Z"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "name": "run", "args": '{"path":"ä.py","n":12345678901234567890}'}],
            "timestamp": "2026-10-08T09:00:03.000Z",
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c2", "name": "read", "args": '{"_raw":"not {JSON"}'}],
            "timestamp": "2026-10-08T09:00:03.500Z",
        },
        {"role": "tool", "tool_call_id": "c1", "content": "first", "timestamp": "2026-10-08T09:00:05.000Z"},
        {
            "role": "tool",
            "tool_call_id": "c2",
            "ok": False,
            "content": "second",
            "timestamp": "2026-10-08T09:00:04.000Z",
        },
        {"role": "assistant", "content": "Fixed.", "timestamp": "2026-10-08T09:00:06.500Z"},
    ]
    assert beside == {
        "chat": "c_1",
        "title": "Fixing it",
        "agent": {"name": "Pearl", "version": "1.2"},
        "usage": {"prompt_tokens": 30, "output_tokens": 3, "cached_tokens": 5},
        "cost_usd": 0.01,
        "messages": [
            {
                "first_record": 4,
                "records": 6,
                "id": "m1",
                "model": "small",
                "stop_reason": "tool_use",
                "usage": {"prompt_tokens": 10, "output_tokens": 1, "cached_tokens": 5},
                "cost_usd": 0.01,
                "billing": "metered",
            },
            {
                "first_record": 10,
                "records": 1,
                "id": "m2",
                "model": "large",
                "usage": {"prompt_tokens": 20, "output_tokens": 2},
            },
        ],
    }


def test_what_no_person_wrote_is_an_observation_and_so_is_a_result_without_a_call() -> None:
    records, _ = written(
        asked("Q"),
        asked("Opened a.py", injected="context"),
        Noted(topic="system", text="Sys."),
        returned(None, "lost"),
        said("A"),
    )
    assert [(record["role"], record["content"]) for record in records[1:]] == [
        ("user", "Q"),
        ("observation", "Opened a.py"),
        ("observation", "Sys."),
        ("observation", "lost"),
        ("assistant", "A"),
    ]


def test_a_chat_that_only_a_program_prompted_has_a_user() -> None:
    records, _ = written(asked("Morning brief", injected="routine"), said("A"))
    assert [record["role"] for record in records] == ["meta", "user", "assistant"]


def test_a_time_that_the_log_has_not_is_the_one_before_and_is_named_as_none() -> None:
    records, beside = written(asked("Q"), said("A", at=START), called("c"), returned("c", "r", at=START + 1_000))
    assert [record["timestamp"] for record in records[1:]] == [
        "2026-10-08T09:00:00.000Z",
        "2026-10-08T09:00:00.000Z",
        "2026-10-08T09:00:00.000Z",
        "2026-10-08T09:00:01.000Z",
    ]
    assert beside["records_without_time"] == [2]
    assert [record["timestamp"] for record in written(asked("Q"), said("A"))[0][1:]] == ["1970-01-01T00:00:00.000Z"] * 2
    assert written(asked("Q"), said("A"))[1]["records_without_time"] == [2, 3]


def test_pictures_of_tools_stand_in_their_results_where_they_are_wanted() -> None:
    run = [
        asked("See:", parts=[PICTURE]),
        called("c"),
        returned("c", parts=[Text("Shot:"), PICTURE, Text("end")]),
        said("A"),
    ]
    digest = hashlib.sha256(PICTURE.data or b"").hexdigest()
    records, beside = written(*run, images=True)
    url = "data:image/png;base64," + base64.b64encode(PICTURE.data or b"").decode()
    assert records[3]["content"] == f"Shot:\n{url}\nend"
    # The schema has no place for a person's: a mark stands there, and its digest beside.
    assert records[1]["content"] == "See:\n[image: image/png, 13 bytes]"
    plain, _ = written(*run)
    assert plain[3]["content"] == "Shot:\n[image: image/png, 13 bytes]\nend"
    assert [(each["record"], each["name"], each["size"], each["sha256"]) for each in beside["images"]] == [
        (2, "shot.png", 13, digest),
        (4, "shot.png", 13, digest),
    ]
    made = write_trajectory_v1([chat(*run)], Options(images=True))
    assert made.not_carried == {"image": 1}


def test_a_turn_on_a_plan_has_tokens_and_no_money() -> None:
    _, beside = written(asked("Q"), said("A"), Answered(usage=Usage(900, 20), cost=Cost(0.002, "plan"), model="large"))
    assert beside["messages"] == [
        {
            "first_record": 3,
            "records": 1,
            "model": "large",
            "usage": {"prompt_tokens": 900, "output_tokens": 20},
            "billing": "plan",
        }
    ]
    assert (beside["usage"], beside["cost_usd"]) == ({"prompt_tokens": 900, "output_tokens": 20}, 0.0)


def test_many_chats_are_a_line_each_with_what_lies_beside_on_the_same_line() -> None:
    chats = [chat(asked("One."), said("A"), id="one"), chat(id="empty"), chat(asked("Two."), said("B"), id="two")]
    made = write_trajectory_v1(chats, Options("all.jsonl"))
    records, beside = made.data.split(b"\n"), made.sidecars["all.meta.json"].split(b"\n")
    assert [json.loads(line)[1]["content"] for line in records if line] == ["One.", "Two."]
    assert [json.loads(line)["chat"] for line in beside if line] == ["one", "two"]
