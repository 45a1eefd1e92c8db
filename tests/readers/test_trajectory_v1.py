"""trajectory-v1 as input, the strict files and ellmer's looser ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import EXAMPLES, SHARED
from trailbook.chat import Asked, Called, Image, Noted, Returned, Said, Text, Thought, text_of
from trailbook.readers import Unreadable
from trajectories import count, found, read

STRICT = EXAMPLES / "trajectory_v1" / "varieties.json"
LOOSE = EXAMPLES / "trajectory_v1" / "ellmer.json"


def test_every_record_becomes_its_event() -> None:
    chat = read("trajectory_v1", STRICT)
    assert [type(event) for event in chat.events] == (
        [Asked, Thought, Said, Called, Called, Returned, Returned, Noted, Said]
    )
    assert (chat.agent.product, chat.cwd, chat.git_branch, chat.models) == (
        "claude-code",
        "/home/user/orchard",
        "main",
        ["demo-large-2"],
    )
    assert chat.system_prompt == "You are a careful coding agent."
    # 2026-09-03T07:30:01Z and the last record's 07:30:09.500.
    assert (chat.events[0].at, chat.ended) == (1_788_420_601_000, 1_788_420_609_500)


def test_results_answer_their_calls_by_id_though_they_come_the_other_way_round() -> None:
    chat = read("trajectory_v1", STRICT)
    results = [event for event in chat.events if isinstance(event, Returned)]
    assert [(event.call, event.ok, event.linked) for event in results] == [
        ("toolu_2", True, "id"),
        ("toolu_1", True, "id"),
    ]
    assert text_of(results[1].parts) == "Cox\nBoskoop\nGravenstein"


def test_a_picture_in_a_result_is_a_picture() -> None:
    chat = read("trajectory_v1", STRICT)
    text, picture = next(event for event in chat.events if isinstance(event, Returned)).parts
    assert isinstance(text, Text)
    assert text.text == "The notes, photographed:"
    assert isinstance(picture, Image)
    assert (picture.media_type, (picture.data or b"")[:8]) == ("image/png", b"\x89PNG\r\n\x1a\n")
    (result, image) = (count("trajectory_v1", STRICT).of(kind)[0] for kind in ("result", "image"))
    assert (result.id, result.images, image.id, image.size) == ("toolu_2", 1, "toolu_2", len(picture.data or b""))


def test_calls_of_one_message_stay_together() -> None:
    chat = read("trajectory_v1", STRICT)
    first = [event.message for event in chat.events[1:5]]
    assert first[0] is not None
    assert set(first) == {first[0]}
    assert chat.events[-1].message not in first


def test_single_values_in_lists_and_missing_times_are_read() -> None:
    chat = read("trajectory_v1", LOOSE)
    assert [type(event) for event in chat.events] == [Asked, Thought, Called, Called, Returned, Returned, Said]
    assert [event.arguments for event in chat.events if isinstance(event, Called)] == [
        {"a": 7, "b": 6},
        {"a": 6, "b": 7},
    ]
    assert [(event.call, event.ok) for event in chat.events if isinstance(event, Returned)] == [
        ("call_1", True),
        ("call_2", True),
    ]
    assert [event.at for event in chat.events] == [None] * 6 + [1_788_422_402_000]


def test_an_id_that_comes_again_is_another_call(tmp_path: Path) -> None:
    round_trip = [
        {"role": "assistant", "tool_calls": [{"id": "websearch_1_1", "name": "search", "args": '{"q":"a"}'}]},
        {"role": "tool", "tool_call_id": "websearch_1_1", "content": "found"},
    ]
    file = tmp_path / "rounds.json"
    file.write_text(json.dumps([{"role": "user", "content": "Search twice."}, *round_trip, *round_trip]))
    chat = read("trajectory_v1", file)
    assert [event.id for event in chat.events if isinstance(event, Called)] == ["websearch_1_1", "websearch_1_1__2"]
    assert [event.call for event in chat.events if isinstance(event, Returned)] == ["websearch_1_1", "websearch_1_1__2"]


@pytest.mark.parametrize(
    ("args", "expected", "raw"),
    [
        ('{"a": 1}', {"a": 1}, None),
        ('{"_raw": "a b"}', {}, "a b"),
        ("not JSON", {}, "not JSON"),
        ("[1, 2]", {}, "[1, 2]"),
        ({"a": 1}, {"a": 1}, None),
        (None, {}, None),
    ],
)
def test_arguments_are_an_object_or_kept_as_they_are(
    tmp_path: Path, args: object, expected: dict[str, object], raw: str | None
) -> None:
    file = tmp_path / "calls.json"
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "name": "f", "args": args}]}
    file.write_text(json.dumps([{"role": "meta", "source": "test"}, call]))
    event = read("trajectory_v1", file).events[0]
    assert isinstance(event, Called)
    assert (event.arguments, event.raw) == (expected, raw)


@pytest.mark.parametrize(
    "value",
    [
        [{"role": "user", "content": "a list of messages of some other kind"}],
        [{"role": "critic", "content": "x", "timestamp": "2026-09-03T07:30:00Z"}],
        [],
        [[1]],
        {"role": "meta", "source": "x"},
    ],
)
def test_what_is_no_trajectory_is_not_taken_for_one(tmp_path: Path, value: object) -> None:
    (tmp_path / "other.json").write_text(json.dumps(value))
    assert found("trajectory_v1", tmp_path / "other.json") == []


@given(st.integers(min_value=40, max_value=len(STRICT.read_bytes().rstrip()) - 1))
@settings(max_examples=60, deadline=None)
def test_a_cut_document_is_refused_with_the_byte_where_it_ends(
    tmp_path_factory: pytest.TempPathFactory, at: int
) -> None:
    file = tmp_path_factory.mktemp("cut") / "v1.json"
    data = STRICT.read_bytes()[:at]
    file.write_bytes(data)
    with pytest.raises(Unreadable, match=rf"^v1\.json is cut off: it ends at byte {len(data.rstrip()):,},"):
        found("trajectory_v1", file)


RECORD = st.dictionaries(
    st.sampled_from(["content", "tool_calls", "tool_call_id", "timestamp", "ok", "source", "model"]),
    st.none()
    | st.booleans()
    | st.text(max_size=6)
    | st.lists(st.dictionaries(st.sampled_from(["id", "name", "args"]), st.none() | st.text(max_size=4)), max_size=2),
)
ROLE = st.sampled_from(["meta", "system", "observation", "user", "reasoning", "assistant", "tool"])


@given(st.lists(st.tuples(ROLE, RECORD), max_size=8))
@settings(max_examples=150, deadline=None)
def test_values_of_any_type_are_taken_as_they_come(
    tmp_path_factory: pytest.TempPathFactory, records: list[tuple[str, dict[str, object]]]
) -> None:
    file = tmp_path_factory.mktemp("any") / "any.json"
    file.write_text(json.dumps([{"role": "meta", "source": "x"}, *({"role": role} | rest for role, rest in records)]))
    chat, ledger = read("trajectory_v1", file), count("trajectory_v1", file)
    assert sum(isinstance(event, Called) for event in chat.events) == len(ledger.of("call"))
    assert sum(isinstance(event, Returned) for event in chat.events) == len(ledger.of("result"))
    assert sum(isinstance(event, Asked) for event in chat.events) == len(ledger.of("prompt"))


def test_records_of_another_project_are_all_read(tmp_path: Path) -> None:
    folder = SHARED / "samples" / "letta-fixtures"
    if not folder.is_dir():
        pytest.skip("the other project's samples are not here")
    for case in folder.glob("*/*/expected.json"):
        value = json.loads(case.read_text())
        records = value.get("records") if isinstance(value, dict) else None
        if not records:
            continue
        file = tmp_path / "records.json"
        file.write_text(json.dumps(records))
        events = read("trajectory_v1", file).events
        assert [event.id for event in events if isinstance(event, Called)] == [
            call["id"] for record in records for call in record.get("tool_calls") or []
        ]
        assert [event.call for event in events if isinstance(event, Returned)] == [
            record["tool_call_id"] for record in records if record["role"] == "tool"
        ]
        assert [event.text for event in events if isinstance(event, Asked)] == [
            record["content"] for record in records if record["role"] == "user"
        ]
