"""ATIF trajectories as input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import EXAMPLES, SHARED
from trailbook.chat import Asked, Called, Compacted, File, Image, Returned, Said, Thought, Usage, text_of
from trailbook.readers import Unreadable
from trajectories import count, found, read

SLUG = EXAMPLES / "atif" / "slug.json"


def test_every_step_becomes_its_events_with_the_result_at_its_call() -> None:
    chat = read("atif", SLUG)
    assert " ".join(type(event).__name__ for event in chat.events if not event.inherited) == (
        "Asked Thought Said Called Called Called Returned Returned Returned Returned "
        "Compacted Returned Called Returned Said"
    )
    assert [(event.id, event.name) for event in chat.events if isinstance(event, Called)] == [
        ("call_read_1", "read_file"),
        ("call_task_1", "task"),
        ("call_noarg_1", "list_open_files"),
        ("call_hook_1", "format_hook"),
    ]
    results = {event.call: event for event in chat.events if isinstance(event, Returned) and event.call}
    assert text_of(results["call_read_1"].parts) == "def slugify(s):\n    return s.lower()\n"
    assert (results["call_noarg_1"].ok, results["call_noarg_1"].exit_status) == (False, 1)
    assert results["call_read_1"].ok is None
    assert text_of(results["call_hook_1"].parts) == "1 file reformatted"
    assert chat.system_prompt == "You are a careful coding agent."
    assert next(event for event in chat.events if isinstance(event, Compacted)).summary == "Context was compacted."


def test_a_result_without_a_call_is_kept_by_itself_and_reported() -> None:
    chat = read("atif", SLUG)
    orphans = [text_of(event.parts) for event in chat.events if isinstance(event, Returned) and event.call is None]
    assert orphans == ["watcher: src/text.py changed on disk", "summary stored"]
    assert [(each.kind, each.count) for each in chat.diagnostics] == [("orphan-result", 2)]


def test_copied_context_is_marked_and_counts_no_tokens() -> None:
    chat = read("atif", SLUG)
    copied = [event for event in chat.events if event.inherited]
    assert [event.text for event in copied if isinstance(event, Said)] == ["Earlier summary: slugify lowercases only."]
    # 5723 + 6100 in, 246 + 60 out, 4224 + 5600 from the cache, as the two steps with figures say.
    assert count("atif", SLUG).usage == Usage(11_823, 306, 9_824, 512, None, 96)
    assert [message.usage.prompt_tokens for message in chat.messages.values() if message.usage] == [5_723, 6_100]


def test_a_step_without_an_inference_has_no_message_of_the_model() -> None:
    chat = read("atif", SLUG)
    hook = next(event for event in chat.events if isinstance(event, Called) and event.name == "format_hook")
    assert hook.message is None


def test_a_subagent_is_a_chat_of_its_own_below_the_call_that_started_it() -> None:
    chat = read("atif", SLUG)
    (subagent,) = chat.subagents
    assert (subagent.id, subagent.started_by, subagent.agent.name) == (
        "traj-sub-explore-1",
        "call_task_1",
        "demo-agent/explore",
    )
    assert [event.text for event in subagent.events if isinstance(event, Asked)] == ["Find where slugs are built."]
    assert [each.started_by for each in count("atif", SLUG).subagents] == ["call_task_1"]


def test_pictures_beside_the_file_are_read_and_nothing_outside_its_folder(tmp_path: Path) -> None:
    chat = read("atif", SLUG)
    parts = next(event for event in chat.events if isinstance(event, Asked)).parts
    picture = next(part for part in parts if isinstance(part, Image))
    assert (picture.media_type, picture.data) == (
        "image/png",
        (EXAMPLES / "atif" / "assets" / "screenshot.png").read_bytes(),
    )
    assert [part.reference for part in parts if isinstance(part, File)] == ["assets/note.wav"]
    outside = tmp_path / "outside.png"
    outside.write_bytes(picture.data or b"")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link.png").symlink_to(outside)
    for path in (str(outside), "../outside.png", "link.png", "https://example.org/a.png", "no\0name"):
        step = {"step_id": 1, "source": "user", "message": [{"type": "image", "source": {"path": path}}]}
        file = _written(tmp_path / "in", [step])
        asked = read("atif", file).events[0]
        assert isinstance(asked, Asked)
        assert [part.data for part in asked.parts if isinstance(part, Image)] == [None]
        assert [entry.digest for entry in count("atif", file).of("image")] == [b""]


def test_a_picture_that_changes_changes_the_fingerprint(tmp_path: Path) -> None:
    step = {"step_id": 1, "source": "user", "message": [{"type": "image", "source": {"path": "a.png"}}]}
    file = _written(tmp_path, [step])
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\nsmall")
    (before,) = found("atif", file)
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\nlarger")
    (after,) = found("atif", file)
    assert before.inputs == (file, tmp_path / "a.png")
    assert before.fingerprint != after.fingerprint


@pytest.mark.parametrize("minor", range(9))
def test_every_version_is_read(tmp_path: Path, minor: int) -> None:
    file = _written(tmp_path, [{"step_id": 1, "source": "user", "message": "Hello"}], schema=f"ATIF-v1.{minor}")
    assert [event.text for event in read("atif", file).events if isinstance(event, Asked)] == ["Hello"]


@pytest.mark.parametrize(
    "value",
    [
        {"schema_version": "atif/1", "agent": {"name": "a"}, "steps": [{"step_id": 1}]},
        {"steps": [{"step_id": 1, "source": "user", "message": "m"}]},
        {"schema_version": 1.7},
        [1, 2],
    ],
)
def test_what_is_no_trajectory_is_not_taken_for_one(tmp_path: Path, value: object) -> None:
    (tmp_path / "other.json").write_text(json.dumps(value))
    assert found("atif", tmp_path / "other.json") == []


def test_a_batch_lists_every_line_and_a_damaged_one_says_where(tmp_path: Path) -> None:
    lines = [json.dumps(_trajectory([{"step_id": 1, "source": "user", "message": name}])) for name in ("one", "two")]
    file = tmp_path / "batch.jsonl"
    file.write_text(lines[0] + "\n" + lines[1][:47] + "\n" + lines[1] + "\n")
    listed = found("atif", file)
    assert [chat.title for chat in listed] == ["one", None, "two"]
    assert len({chat.id for chat in listed}) == 3
    assert [event.text for event in read("atif", file, 2).events if isinstance(event, Asked)] == ["two"]
    with pytest.raises(Unreadable, match=r"^Line 2 of batch\.jsonl is cut off: it ends at byte 47,"):
        read("atif", file, 1)


@given(st.integers(min_value=60, max_value=len(SLUG.read_bytes().rstrip()) - 1))
@settings(max_examples=60, deadline=None)
def test_a_cut_document_is_refused_with_the_byte_where_it_ends(
    tmp_path_factory: pytest.TempPathFactory, at: int
) -> None:
    file = tmp_path_factory.mktemp("cut") / "slug.json"
    data = SLUG.read_bytes()[:at]
    file.write_bytes(data)
    with pytest.raises(Unreadable, match=rf"^slug\.json is cut off: it ends at byte {len(data.rstrip()):,},"):
        found("atif", file)


def test_a_step_of_an_unknown_source_loses_neither_its_words_nor_its_calls(tmp_path: Path) -> None:
    call = {"tool_call_id": "c1", "function_name": "read", "arguments": {"path": "a"}}
    result = {"source_call_id": "c1", "content": "found"}
    step = {"step_id": 1, "source": "assistant", "message": "Reading.", "tool_calls": [call, None, "c2"]}
    file = _written(tmp_path, [step | {"observation": {"results": [result, 7]}}])
    chat, ledger = read("atif", file), count("atif", file)
    assert chat.system_prompt == "Reading."
    assert [(event.id, event.name) for event in chat.events if isinstance(event, Called)] == [("c1", "read")]
    assert [event.call for event in chat.events if isinstance(event, Returned)] == ["c1"]
    assert [(len(ledger.of(kind))) for kind in ("system", "call", "result")] == [1, 1, 1]
    assert [(each.kind, each.text, each.count) for each in chat.diagnostics] == [
        ("unknown-record", "A step has the source 'assistant'; it is read as one of the system.", 1),
        ("unknown-record", "A call is no object; it is left out.", 1),
        ("unknown-record", "A result is no object; it is left out.", 1),
    ]


JSON_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5) | st.just("agent") | st.just("image"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "source",
                    "message",
                    "tool_calls",
                    "observation",
                    "results",
                    "content",
                    "type",
                    "text",
                    "path",
                    "extra",
                    "metrics",
                    "tool_call_id",
                    "arguments",
                    "source_call_id",
                    "subagent_trajectory_ref",
                    "trajectory_id",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.lists(JSON_VALUE, max_size=4), JSON_VALUE, JSON_VALUE, JSON_VALUE)
@settings(max_examples=150, deadline=None)
def test_values_of_any_type_are_taken_as_they_come(
    tmp_path_factory: pytest.TempPathFactory, steps: list[object], agent: object, metrics: object, children: object
) -> None:
    file = tmp_path_factory.mktemp("any") / "any.json"
    document = {"schema_version": "ATIF-v1.8", "agent": agent, "steps": steps, "final_metrics": metrics}
    file.write_text(json.dumps(document | {"subagent_trajectories": children}))
    chat, ledger = read("atif", file), count("atif", file)
    calls = [event for event in chat.events if isinstance(event, Called) and not event.inherited]
    assert len(calls) == len(ledger.of("call"))
    thoughts = [event for event in chat.events if isinstance(event, Thought) and event.text.strip()]
    assert len(thoughts) == len(ledger.of("thought")) + sum(entry.kind == "thought" for entry in ledger.aside)


def test_trajectories_of_another_project_are_read_as_it_reads_them() -> None:
    folder = SHARED / "samples" / "letta-fixtures" / "atif"
    if not folder.is_dir():
        pytest.skip("the other project's samples are not here")
    for case in ("cleanup", "tool-calls"):
        records = json.loads((folder / case / "expected.json").read_text())["records"]
        chat = read("atif", folder / case / "input.json")
        assert [event.id for event in chat.events if isinstance(event, Called)] == [
            call["id"] for record in records for call in record.get("tool_calls") or []
        ]
        assert [event.call for event in chat.events if isinstance(event, Returned) and event.call] == [
            record["tool_call_id"] for record in records if record["role"] == "tool"
        ]


def _trajectory(steps: list[object], schema: str = "ATIF-v1.8") -> dict[str, object]:
    return {"schema_version": schema, "agent": {"name": "demo", "version": "1"}, "steps": steps}


def _written(folder: Path, steps: list[object], schema: str = "ATIF-v1.8") -> Path:
    file = folder / "written.json"
    file.write_text(json.dumps(_trajectory(steps, schema)))
    return file
