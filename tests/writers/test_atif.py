"""ATIF: steps, results, tokens and money, subagents, pictures, and two versions of the same content."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from small_chats import PICTURE, START, asked, called, chat, returned, said, thought
from trailbook.chat import (
    Agent,
    Answered,
    Branch,
    Chat,
    Compacted,
    Cost,
    Image,
    Message,
    Noted,
    Origin,
    Permission,
    Text,
    Tool,
    Usage,
)
from trailbook.writers.atif import write_atif
from trailbook.writers.written import Options

DIGEST = hashlib.sha256(PICTURE.data or b"").hexdigest()


def written(*events: Any, images: bool = False, **more: Any) -> dict[str, Any]:
    return document(chat(*events, **more), images=images)


def document(log: Chat, **how: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(write_atif([log], Options("file.json", **how)).data)
    assert "null" not in json.dumps(found)
    return found


def steps(*events: Any, **more: Any) -> list[dict[str, Any]]:
    return written(*events, **more)["steps"]  # type: ignore[no-any-return]


def test_a_chat_is_written_field_by_field() -> None:
    found = written(
        asked("Fix it.", START, id="u1"),
        thought("Two.", "m1", at=START + 1_000),
        said("Looking.", "m1", at=START + 2_000),
        called("c1", "m1", at=START + 3_000, arguments={"path": "ä.py", "n": 12345678901234567890}),
        called("c2", "m1", "mcp.docs/read", raw="not {JSON"),
        returned("c2", "second", ok=False, at=START + 4_000, exit_status=2, duration=900, linked="order"),
        returned("c1", "first", at=START + 5_000),
        said("Fixed.", "m2", at=START + 6_000),
        Answered(outcome="success"),
        title="Fixing it",
        cwd="/srv/demo",
        git_branch="main",
        system_prompt="Be brief.",
        models=["small", "large"],
        tools=[Tool("run", "Run it.", {"type": "object", "properties": {}}), Tool("bare")],
        completed=True,
        messages={
            "m1": Message(
                model="small",
                usage=Usage(100, 10, 80, 15, 5, 4),
                cost=Cost(0.01, "metered"),
                stop_reason="tool_use",
            ),
            "m2": Message(model="large", usage=Usage(200, 20), cost=Cost(0.02)),
        },
    )
    assert found == {
        "schema_version": "ATIF-v1.8",
        "session_id": "c_1",
        "trajectory_id": "c_1",
        "agent": {
            "name": "conch",
            "version": "1.2",
            "model_name": "large",
            "tool_definitions": [
                {
                    "type": "function",
                    "function": {
                        "name": "run",
                        "description": "Run it.",
                        "parameters": {"type": "object", "properties": {}},
                    },
                },
                {"type": "function", "function": {"name": "bare", "parameters": {"type": "object"}}},
            ],
            "extra": {"assistant": "Pearl", "cwd": "/srv/demo", "git_branch": "main"},
        },
        "steps": [
            {"step_id": 1, "source": "system", "message": "Be brief."},
            {
                "step_id": 2,
                "timestamp": "2026-10-08T09:00:00.000Z",
                "source": "user",
                "message": "Fix it.",
                "extra": {"message_id": "u1"},
            },
            {
                "step_id": 3,
                "timestamp": "2026-10-08T09:00:01.000Z",
                "source": "agent",
                "model_name": "small",
                "message": "Looking.",
                "reasoning_content": "Two.",
                "tool_calls": [
                    {
                        "tool_call_id": "c1",
                        "function_name": "run",
                        "arguments": {"path": "ä.py", "n": 12345678901234567890},
                    },
                    {"tool_call_id": "c2", "function_name": "mcp.docs/read", "arguments": {"_raw": "not {JSON"}},
                ],
                "observation": {
                    "results": [
                        {
                            "source_call_id": "c1",
                            "content": "first",
                            "extra": {"is_error": False, "timestamp": "2026-10-08T09:00:05.000Z"},
                        },
                        {
                            "source_call_id": "c2",
                            "content": "second",
                            "extra": {
                                "is_error": True,
                                "exit_code": 2,
                                "duration_ms": 900,
                                "linked": "order",
                                "timestamp": "2026-10-08T09:00:04.000Z",
                            },
                        },
                    ]
                },
                "metrics": {
                    "prompt_tokens": 100,
                    "completion_tokens": 10,
                    "cached_tokens": 80,
                    "cost_usd": 0.01,
                    "extra": {
                        "cache_creation_input_tokens": 15,
                        "cache_creation_1h_input_tokens": 5,
                        "reasoning_tokens": 4,
                        "billing": "metered",
                    },
                },
                "llm_call_count": 1,
                "extra": {"message_id": "m1", "stop_reason": "tool_use"},
            },
            {
                "step_id": 4,
                "timestamp": "2026-10-08T09:00:06.000Z",
                "source": "agent",
                "model_name": "large",
                "message": "Fixed.",
                "metrics": {"prompt_tokens": 200, "completion_tokens": 20, "cost_usd": 0.02},
                "llm_call_count": 1,
                "extra": {"message_id": "m2", "outcome": "success"},
            },
        ],
        "notes": "Fixing it",
        "final_metrics": {
            "total_prompt_tokens": 300,
            "total_completion_tokens": 30,
            "total_cached_tokens": 80,
            "total_cost_usd": 0.03,
            "total_steps": 4,
            "extra": {
                "cache_creation_input_tokens": 15,
                "cache_creation_1h_input_tokens": 5,
                "reasoning_tokens": 4,
            },
        },
        "extra": {"title": "Fixing it", "completed": True},
    }


def test_version_1_7_has_the_same_content() -> None:
    log = chat(asked("Q"), said("A"))
    old, new = document(log, atif_version="1.7"), document(log)
    assert (old.pop("schema_version"), new.pop("schema_version")) == ("ATIF-v1.7", "ATIF-v1.8")
    assert old == new


def test_what_is_unknown_is_left_out() -> None:
    found = written(asked("Q", id="q"), said("A"), agent=Agent("", None, "Some Agent"))
    assert found["agent"] == {"name": "some-agent", "version": "unknown"}
    assert found["steps"] == [
        {"step_id": 1, "source": "user", "message": "Q", "extra": {"message_id": "q"}},
        {"step_id": 2, "source": "agent", "message": "A"},
    ]
    assert found["final_metrics"] == {"total_steps": 2}
    assert "extra" not in found


def test_one_chat_is_a_document_over_many_lines_and_several_are_a_line_each() -> None:
    one, two = chat(asked("One."), said("A"), id="one"), chat(asked("Two."), said("B"), id="two")
    assert write_atif([one], Options()).data.startswith(b'{\n  "schema_version": "ATIF-v1.8",\n')
    lines = write_atif([one, chat(id="empty"), two], Options()).data.split(b"\n")
    assert [json.loads(line)["trajectory_id"] for line in lines if line] == ["one", "two"]


# --- results


@pytest.mark.parametrize(
    ("events", "content", "extra"),
    [
        ([], "No result: the log ends first.", {"not_run": "cut"}),
        ([Answered(outcome="interrupted")], "No result: the turn ended first.", {"not_run": "unanswered"}),
        (
            [Permission(id="p", title="?", call="c", decision="deny"), Answered()],
            "Not run: the person said no.",
            {"not_run": "declined"},
        ),
        (
            [returned("c", "Use make.", ok=False, not_run="declined")],
            "Not run: the person said no.\n\nUse make.",
            {"is_error": True, "not_run": "declined"},
        ),
        ([returned("c", "", ok=None)], "", None),
    ],
)
def test_every_call_has_a_result_in_its_step(events: list[Any], content: str, extra: dict[str, Any] | None) -> None:
    (result,) = steps(asked("Q"), called("c"), *events)[1]["observation"]["results"]
    assert result == {"source_call_id": "c", "content": content, **({"extra": extra} if extra else {})}


def test_a_late_result_stands_in_the_step_of_its_call() -> None:
    found = steps(
        asked("Q"),
        called("slow", "m1"),
        called("quick", "m1"),
        returned("quick", "1"),
        said("Back.", "m2"),
        returned("slow", "2"),
    )
    results = found[1]["observation"]["results"]
    assert [(result["source_call_id"], result["content"]) for result in results] == [("slow", "2"), ("quick", "1")]
    assert "observation" not in found[2]


def test_a_result_without_a_call_is_a_system_step_that_links_to_none() -> None:
    step = steps(asked("Q"), said("A"), returned(None, "lost", linked=None))[2]
    assert step == {
        "step_id": 3,
        "source": "system",
        "message": "",
        "observation": {"results": [{"content": "lost", "extra": {"is_error": False}}]},
    }


# --- what is no exchange


def test_compaction_system_text_and_injected_text_say_what_they_are() -> None:
    found = steps(
        asked("Q", id="q"),
        asked("Opened a.py", injected="context", id="i"),
        asked("And this", queued=True, id="w", by="Sam"),
        Noted(topic="system", text="New date."),
        Noted(topic="notice", text="Update!"),
        Compacted(summary="So far.", trigger="auto", tokens_before=1_000, tokens_after=100),
    )
    assert [(step["source"], step["message"], step.get("extra")) for step in found] == [
        ("user", "Q", {"message_id": "q"}),
        ("user", "Opened a.py", {"message_id": "i", "injected": "context"}),
        ("user", "And this", {"message_id": "w", "queued": True, "by": "Sam"}),
        ("system", "New date.", None),
        (
            "system",
            "So far.",
            {
                "context_management": {
                    "type": "compaction",
                    "boundary": "replace",
                    "trigger": "auto",
                    "tokens_before": 1_000,
                    "tokens_after": 100,
                }
            },
        ),
    ]


# --- tokens and money


def test_a_turn_on_a_plan_has_tokens_and_no_money() -> None:
    found = written(
        asked("Q"),
        said("A"),
        Answered(usage=Usage(900, 20), cost=Cost(0.002, "plan"), model="m"),
        asked("R"),
        said("B"),
        Answered(usage=Usage(100, 2), cost=Cost(0.01, "metered")),
    )
    assert [step["metrics"] for step in found["steps"] if "metrics" in step] == [
        {"prompt_tokens": 900, "completion_tokens": 20, "extra": {"billing": "plan"}},
        {"prompt_tokens": 100, "completion_tokens": 2, "cost_usd": 0.01, "extra": {"billing": "metered"}},
    ]
    assert not any("llm_call_count" in step for step in found["steps"])
    totals = found["final_metrics"]
    assert (totals["total_prompt_tokens"], totals["total_completion_tokens"], totals["total_cost_usd"]) == (
        1_000,
        22,
        0.01,
    )


def test_an_estimate_is_no_cost() -> None:
    found = written(
        asked("Q"),
        said("A", "m"),
        messages={"m": Message(usage=Usage(1, 1), cost=Cost(0.5, estimated_from="prices of May"))},
    )
    assert found["steps"][1]["metrics"]["extra"] == {"estimated_cost_usd": 0.5, "cost_source": "prices of May"}
    assert "cost_usd" not in found["steps"][1]["metrics"]
    assert "total_cost_usd" not in found["final_metrics"]
    assert found["final_metrics"]["extra"]["estimated_cost_usd"] == 0.5


def test_tokens_in_no_step_stand_apart_and_the_totals_have_them() -> None:
    log = chat(
        asked("Q"),
        said("Which?", "m1"),
        asked("Left", branch="b"),
        said("Left.", "m2", branch="b"),
        asked("Right"),
        said("Right.", "m3"),
        messages={
            "m1": Message(usage=Usage(10, 1), cost=Cost(0.1)),
            "m2": Message(usage=Usage(20, 2), cost=Cost(0.2)),
            "m3": Message(usage=Usage(40, 4), cost=Cost(0.4)),
        },
        branches={"b": Branch("b")},
    )
    found = document(log)
    assert found["final_metrics"] == {
        "total_prompt_tokens": 70,
        "total_completion_tokens": 7,
        "total_cost_usd": 0.7,
        "total_steps": 4,
        "extra": {"in_no_step": {"prompt_tokens": 20, "completion_tokens": 2, "cost_usd": 0.2}},
    }
    assert found["extra"] == {"not_carried": {"branches": 1}}
    lines = write_atif([log], Options(branches=True)).data.split(b"\n")
    active, branch = (json.loads(line) for line in lines if line)
    assert (active["trajectory_id"], branch["trajectory_id"]) == ("c_1", "c_1-b")
    assert [step.get("is_copied_context", False) for step in branch["steps"]] == [True, True, False, False]
    assert [step["metrics"]["prompt_tokens"] for step in branch["steps"] if "metrics" in step] == [20]


# --- subagents


def nested() -> Chat:
    deepest = chat(asked("Deeper."), said("Deep.", "d"), id="deep", started_by="s1", origin=Origin("subagent"))
    deepest.messages = {"d": Message(usage=Usage(1, 1), cost=Cost(0.001))}
    below = chat(
        asked("Find."),
        called("s1", "s"),
        returned("s1", "deep"),
        said("Found.", "s2"),
        id="sub",
        started_by="c1",
        subagents=[deepest],
        messages={"s": Message(usage=Usage(20, 2), cost=Cost(0.02)), "s2": Message(usage=Usage(30, 3))},
        origin=Origin("subagent", name="explore"),
    )
    lost = chat(asked("Alone."), said("x"), id="sub", started_by=None, origin=Origin("subagent"))
    return chat(
        asked("Go."),
        called("c1", "m"),
        returned("c1", "found"),
        said("Done."),
        subagents=[below, lost, chat(id="empty", started_by="c1")],
        messages={"m": Message(usage=Usage(100, 10), cost=Cost(0.1))},
    )


def test_subagents_are_embedded_and_their_calls_refer_to_them() -> None:
    found = document(nested())
    (result,) = found["steps"][1]["observation"]["results"]
    assert result["subagent_trajectory_ref"] == [{"trajectory_id": "sub"}]
    # Two of one id are told apart, and an empty one is none.
    assert [child["trajectory_id"] for child in found["subagent_trajectories"]] == ["sub", "sub-2"]
    child = found["subagent_trajectories"][0]
    assert (child["schema_version"], child["extra"]) == (
        "ATIF-v1.8",
        {"origin": {"kind": "subagent", "name": "explore"}},
    )
    assert [step["step_id"] for step in child["steps"]] == [1, 2, 3]
    assert child["subagent_trajectories"][0]["trajectory_id"] == "deep"
    assert child["steps"][1]["observation"]["results"][0]["subagent_trajectory_ref"] == [{"trajectory_id": "deep"}]


def test_each_document_counts_its_own_tokens_and_the_money_below_it() -> None:
    found = document(nested())
    child = found["subagent_trajectories"][0]
    totals = [each["final_metrics"] for each in (found, child, child["subagent_trajectories"][0])]
    assert [each["total_prompt_tokens"] for each in totals] == [100, 50, 1]
    assert [each["total_cost_usd"] for each in totals] == [0.121, 0.021, 0.001]


# --- pictures


def test_pictures_are_files_beside_or_are_listed() -> None:
    drawn = Image("image/svg+xml", b"<svg/>", None, 6, problem="a drawing")
    run = [
        asked("See:", parts=[PICTURE], id="q"),
        called("c"),
        returned("c", parts=[Text("Shot:"), PICTURE, drawn, Text("end")]),
    ]
    made = write_atif([chat(*run)], Options("my file.json", images=True))
    user, agent = json.loads(made.data)["steps"]
    source = {"media_type": "image/png", "path": f"my file-images/{DIGEST[:16]}.png"}
    assert user["message"] == [{"type": "text", "text": "See:"}, {"type": "image", "source": source}]
    (result,) = agent["observation"]["results"]
    assert result["content"] == [
        {"type": "text", "text": "Shot:"},
        {"type": "image", "source": source},
        {"type": "text", "text": "[image: image/svg+xml, 6 bytes]\nend"},
    ]
    assert made.sidecars == {f"my file-images/{DIGEST[:16]}.png": PICTURE.data}
    assert made.not_carried == {"image": 1}
    plain = write_atif([chat(*run)], Options())
    user, agent = json.loads(plain.data)["steps"]
    assert user["message"] == "See:\n[image: image/png, 13 bytes]"
    assert user["extra"] == {
        "message_id": "q",
        "images": [{"name": "shot.png", "media_type": "image/png", "size": 13, "sha256": DIGEST}],
    }
    (result,) = agent["observation"]["results"]
    assert result["content"] == "Shot:\n[image: image/png, 13 bytes]\n[image: image/svg+xml, 6 bytes]\nend"
    assert [each.get("problem") for each in result["extra"]["images"]] == [None, "a drawing"]
    assert (plain.sidecars, plain.not_carried) == ({}, {"image": 3})


def test_lone_surrogates_do_not_stop_the_writer() -> None:
    assert steps(asked("bad \ud83d end"), said("A"))[0]["message"] == "bad \ufffd end"
