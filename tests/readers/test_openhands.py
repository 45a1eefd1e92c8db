"""OpenHands' conversations: each event is what it says it is, and what came back hangs on its action."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import EXAMPLES
from trailbook.chat import Asked, Called, Chat, Image, Noted, Returned, Said, Thought, text_of
from trailbook.checking import compare_counted, count
from trailbook.formats import FORMATS, TRAJECTORIES, Output, Sheet
from trailbook.ledger import Ledger, keep_nothing
from trailbook.readers import HEAD_BYTES, Found, Unreadable, openhands
from trailbook.stores import survey

WATERING = EXAMPLES / "openhands" / "watering-schedule.json"
PLAN = EXAMPLES / "openhands" / "sensor-plan.json"


def find(path: Path) -> Any:
    with path.open("rb") as stream:
        return openhands.find(path, stream.read(HEAD_BYTES))


def read_file(path: Path) -> Chat:
    (found,) = find(path)
    return openhands.read(found, UTC)


def write(folder: Path, events: object) -> Path:
    file = folder / "events.json"
    file.write_text(json.dumps(events))
    return file


def read(folder: Path, *events: object) -> Chat:
    return read_file(write(folder, events))


def ledger_of(folder: Path, *events: object) -> Ledger:
    (found,) = find(write(folder, events))
    return openhands.count(found, keep_nothing)


def of(chat: Chat, kind: type) -> Any:
    return [event for event in chat.events if isinstance(event, kind)]


def reports(chat: Chat) -> list[tuple[str, str, int]]:
    return [(each.kind, each.text, each.count) for each in chat.diagnostics]


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def said(words: str, source: str = "user", **more: object) -> dict[str, object]:
    return {"kind": "MessageEvent", "source": source, "llm_message": {"content": [text(words)]}, **more}


def action(identity: str, call: str | None = None, **more: object) -> dict[str, object]:
    named = {"tool_call_id": call} if call else {}
    return {"kind": "ActionEvent", "id": identity, "tool_name": "terminal", **named, **more}


def observed(of_action: str, words: str, **more: object) -> dict[str, object]:
    return {"kind": "ObservationEvent", "action_id": of_action, "observation": {"content": [text(words)]}, **more}


# --- whole conversations


def test_a_whole_conversation() -> None:
    chat = read_file(WATERING)
    assert [type(event).__name__ for event in chat.events] == [
        *("Asked", "Thought", "Called", "Returned", "Thought", "Thought", "Called", "Returned", "Called", "Returned"),
        *("Said", "Asked", "Called", "Called", "Returned", "Returned", "Said"),
    ]
    assert [(event.id, event.name) for event in of(chat, Called)] == [
        ("call_a1", "terminal"),
        ("call_a2", "file_editor"),
        ("call_a3", "terminal"),
        ("call_b1", "file_editor"),
        ("call_b2", "terminal"),
    ]
    assert of(chat, Called)[2].arguments == {"command": "pytest -q tests/test_schedule.py"}
    assert [(event.call, event.ok, event.not_run) for event in of(chat, Returned)] == [
        ("call_a1", True, None),
        ("call_a2", True, None),
        ("call_a3", False, None),
        ("call_b2", None, "declined"),
        ("call_b1", True, None),
    ]
    # 2026-09-14T08:30:00 and 08:32:03, without a zone.
    assert (chat.started, chat.ended, chat.naive_times) == (1_789_374_600_000, 1_789_374_723_000, True)
    assert (chat.agent.product, chat.diagnostics) == ("OpenHands", [])
    assert [event.place.number for event in chat.events if event.place] == [
        *(1, 2, 2, 3, 4, 4, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)
    ]


def test_a_page_of_the_interface_is_read_like_an_array() -> None:
    chat = read_file(PLAN)
    picture = of(chat, Asked)[0].parts[0]
    assert isinstance(picture, Image)
    assert (picture.media_type, picture.size) == ("image/png", 73)
    assert [(event.id, event.name, event.arguments) for event in of(chat, Called)] == [
        ("oh_ev-3", "read_plan", {"path": "plans/north-house.json", "layer": 3}),
        ("oh_ev-5", "terminal", {"command": "jq .legend plans/north-house.json"}),
    ]
    assert [(event.call, event.ok) for event in of(chat, Returned)] == [
        (None, None),
        ("oh_ev-3", False),
        ("oh_ev-5", True),
    ]
    assert (chat.started, chat.naive_times) == (1_789_480_920_000, False)


def test_the_list_says_what_was_asked_and_when() -> None:
    (found,) = find(WATERING)
    assert found.title == "The beds in the north house are watered twice on Sundays. Find out why and fix it."
    assert (found.started, found.updated) == (1_789_374_600_000, 1_789_374_723_000)
    assert found.id == f"watering-schedule-{found.fingerprint[:8]}"


def test_the_ledger_of_a_whole_conversation() -> None:
    (found,) = find(WATERING)
    ledger = openhands.count(found, lambda place: place.number == 4)
    counts = {kind: len(ledger.of(kind)) for kind in ("prompt", "answer", "thought", "call", "result", "image")}
    assert counts == {"prompt": 2, "answer": 2, "thought": 3, "call": 5, "result": 5, "image": 0}
    assert [(entry.id, entry.ok, entry.not_run) for entry in ledger.of("result")][3:] == [
        ("call_b2", None, True),
        ("call_b1", True, False),
    ]
    assert [entry.text for entry in ledger.entries if entry.text] == [
        "Sunday stands in both groups; daily was meant to be the working days.",
        "Sunday is in both groups: it belongs to the weekend only.",
        '{"command":"str_replace","new_str":"\\"fri\\")","old_str":"\\"fri\\", \\"sun\\")",'
        '"path":"watering/schedule.py"}',
    ]


# --- calls and what came back


def test_what_came_back_may_stand_before_its_action(tmp_path: Path) -> None:
    chat = read(tmp_path, observed("a2", "second"), action("a1", "c1"), action("a2"), observed("a1", "first"))
    assert [event.id for event in of(chat, Called)] == ["c1", "oh_a2"]
    assert [(event.call, text_of(event.parts)) for event in of(chat, Returned)] == [
        ("oh_a2", "second"),
        ("c1", "first"),
    ]
    assert reports(chat) == []


def test_actions_of_one_response_are_calls_of_one_message(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        action("a1", "c1", llm_response_id="r1", thought=[text("Both.")]),
        action("a2", "c2", llm_response_id="r1"),
        action("a3", "c3"),
        observed("a2", "2"),
        observed("a1", "1"),
        observed("a3", "3"),
    )
    assert [(type(event).__name__, event.message) for event in chat.events[:4]] == [
        ("Thought", "r1"),
        ("Called", "r1"),
        ("Called", "r1"),
        ("Called", "event-3"),
    ]
    assert list(chat.messages) == ["r1", "event-3"]


def test_an_id_that_comes_again_is_another_call(tmp_path: Path) -> None:
    error = {"kind": "AgentErrorEvent", "tool_call_id": "c", "error": "no such tool"}
    events = (action("a1", "c"), action("a2", "c"), observed("a1", "first"), error, {**error, "error": "again"})
    chat, ledger = read(tmp_path, *events), ledger_of(tmp_path, *events)
    assert [event.id for event in of(chat, Called)] == [entry.id for entry in ledger.of("call")] == ["c", "c__2"]
    answered = [("c", None), ("c__2", False), ("c__2", False)]
    assert [(event.call, event.ok) for event in of(chat, Returned)] == answered
    assert [(entry.id, entry.ok) for entry in ledger.of("result")] == answered


@pytest.mark.parametrize(
    ("event", "words", "ok", "not_run"),
    [
        (observed("a", "fine"), "fine", None, None),
        (observed("a", "", observation={"content": [text("x\n"), text("y")], "is_error": True}), "x\ny", False, None),
        ({"kind": "AgentErrorEvent", "action_id": "a", "error": "timed out"}, "timed out", False, None),
        ({"kind": "UserRejectObservation", "action_id": "a", "rejection_reason": "No."}, "No.", None, "declined"),
        (
            {
                "kind": "UserRejectObservation",
                "action_id": "a",
                "rejection_reason": "Blocked.",
                "rejection_source": "hook",
            },
            "Blocked.",
            None,
            "refused",
        ),
    ],
)
def test_each_kind_of_outcome(
    tmp_path: Path, event: dict[str, object], words: str, ok: bool | None, not_run: str | None
) -> None:
    (result,) = of(read(tmp_path, action("a"), event), Returned)
    assert (result.call, text_of(result.parts), result.ok, result.not_run) == ("oh_a", words, ok, not_run)


@pytest.mark.parametrize(
    ("more", "arguments", "raw"),
    [
        ({"tool_call": {"arguments": '{"a": 1}'}, "action": {"kind": "X", "a": 2}}, {"a": 1}, None),
        ({"tool_call": {"arguments": ""}, "action": {"kind": "X", "a": 2}}, {"a": 2}, None),
        ({"action": {"kind": "X"}}, {}, None),
        ({"tool_call": {"arguments": '{"a": '}}, {}, '{"a": '),
        ({"tool_call": {"arguments": "[]"}}, {}, "[]"),
        ({"tool_call": {"arguments": {"a": 1}}}, {"a": 1}, None),
        ({"tool_call": None, "action": None}, {}, None),
    ],
)
def test_arguments_are_the_models_own_else_the_actions(
    tmp_path: Path, more: dict[str, object], arguments: dict[str, object], raw: str | None
) -> None:
    (call,) = of(read(tmp_path, action("a", **more)), Called)
    assert (call.arguments, call.raw) == (arguments, raw)


def test_an_observation_of_no_action_is_shown_by_itself(tmp_path: Path) -> None:
    chat = read(tmp_path, said("hello"), observed("unknown", "ready"))
    (result,) = of(chat, Returned)
    assert (result.call, result.linked, text_of(result.parts)) == (None, None, "ready")
    assert [kind for kind, _, _ in reports(chat)] == ["orphan-result"]


# --- nothing is dropped in silence


def test_a_message_without_an_id_is_a_message(tmp_path: Path) -> None:
    chat = read(tmp_path, said("first"), said("second"), said("done", "agent"))
    assert [event.text for event in of(chat, Asked)] == ["first", "second"]
    assert len({event.id for event in of(chat, Asked)}) == 2
    assert [(event.text, event.message) for event in of(chat, Said)] == [("done", "event-3")]


def test_what_is_not_known_is_named(tmp_path: Path) -> None:
    events = (
        said("hello"),
        {"kind": "CondensationEvent", "id": "1"},
        {"kind": "CondensationEvent", "id": "2"},
        {"id": "3"},
        None,
        said("from elsewhere", "environment"),
        {"kind": "MessageEvent", "source": "user", "llm_message": {"content": [{"type": "audio"}]}},
        {"kind": "ObservationEvent", "observation": {"kind": "Other", "lines": 3}},
        {"kind": "AgentErrorEvent", "error": {"code": 7}},
        {"kind": "ActionEvent", "action": {}},
    )
    chat = read(tmp_path, *events)
    assert reports(chat) == [
        ("unknown-record", "An item is no event; it was passed over.", 1),
        ("unknown-record", 'Events of the kind "CondensationEvent" are not known.', 2),
        ("unknown-record", "Events of the kind null are not known.", 1),
        (
            "unknown-record",
            'Messages of the source "environment" are not known; they are shown as notices.',
            1,
        ),
        ("unknown-part", 'Parts of the type "audio" are not known; they were passed over.', 1),
        ("empty-record", "A message has nothing in it; it was passed over.", 1),
        ("unknown-record", "An observation has no content; what else it says was passed over.", 1),
        ("orphan-result", "An observation answers no action; it is shown by itself.", 2),
        ("unexpected-value", "The field error is no text; it is spelled as JSON.", 1),
        ("missing-name", "A call does not say of which tool; it is called unknown_tool.", 1),
    ]
    assert [(event.topic, event.text) for event in of(chat, Noted)] == [("message", "from elsewhere")]
    assert text_of(of(chat, Returned)[1].parts) == '{"code":7}'


def test_an_event_that_is_there_twice_counts_once(tmp_path: Path) -> None:
    asked = said("again", id="e1")
    chat = read(tmp_path, asked, asked, said("again", id="e2"), said("no id"), said("no id"))
    assert [event.text for event in of(chat, Asked)] == ["again", "again", "no id", "no id"]
    assert [(each.kind, each.place.number) for each in chat.diagnostics if each.place] == [("repeated-record", 2)]
    assert len(ledger_of(tmp_path, asked, asked, said("again", id="e2")).of("prompt")) == 2


def test_halves_of_surrogate_pairs_are_replaced(tmp_path: Path) -> None:
    file = tmp_path / "events.json"
    file.write_bytes(b'\xef\xbb\xbf[{"kind":"MessageEvent","source":"user","llm_message":{"content":"a\\ud800b"}}]')
    chat = read_file(file)
    assert [event.text for event in of(chat, Asked)] == ["a\ufffdb"]
    assert [each.kind for each in chat.diagnostics] == ["lone-surrogate"]


def test_pictures_of_a_result_are_its_own(tmp_path: Path) -> None:
    picture = {"type": "image", "image_urls": ["https://example.org/a.png", "data:image/png;base64,@@"]}
    event = {"kind": "ObservationEvent", "action_id": "a", "observation": {"content": [text("x"), picture, text("y")]}}
    chat, ledger = read(tmp_path, action("a"), event), ledger_of(tmp_path, action("a"), event)
    parts = of(chat, Returned)[0].parts
    assert [type(part).__name__ for part in parts] == ["Text", "Image", "Image", "Text"]
    assert [(part.reference, part.problem) for part in parts if isinstance(part, Image)] == [
        ("https://example.org/a.png", None),
        (None, "its base64 data is damaged"),
    ]
    assert [(entry.kind, entry.id) for entry in ledger.entries[1:]] == [
        ("result", "oh_a"),
        ("image", "oh_a"),
        ("image", "oh_a"),
    ]


# --- what is a conversation and what is not


@pytest.mark.parametrize(
    "value",
    [
        [],
        {"items": []},
        [said("x"), "…"] and {"events": [said("x")]},
        [{"kind": "MessageEvent", "text": "another program's"}],
        [{"kind": ["MessageEvent"], "llm_message": {}}],
        {"kind": "EventList", "items": [{"kind": "Event", "metadata": {}}]},
        [{"kind": "UserLoginEvent", "user": "ada"}],
        "MessageEvent",
    ],
)
def test_what_is_no_conversation_is_not_taken_for_one(tmp_path: Path, value: object) -> None:
    assert find(write(tmp_path, value)) is None


def test_no_other_agents_example_is_taken_for_one() -> None:
    files = [path for path in EXAMPLES.rglob("*") if path.is_file() and "openhands" not in path.parts]
    assert files
    assert [path for path in files if find(path) is not None] == []


def test_a_conversation_of_which_nothing_is_known_is_refused_with_a_sentence(tmp_path: Path) -> None:
    events = [{"kind": f"{name}Event", "timestamp": "2026-09-14T08:30:00"} for name in ("State", "Pause")]
    (skipped,) = survey([write(tmp_path, events)]).skipped
    assert (skipped.verdict, skipped.why) == (
        "unreadable",
        "it looks like an OpenHands conversation, but none of its events is known: PauseEvent, StateEvent",
    )


def test_a_conversation_whose_first_event_is_long_and_says_its_kind_last_is_found(tmp_path: Path) -> None:
    long = {"id": "1", "timestamp": "2026-09-14T08:30:00", "source": "agent", "text": "x" * HEAD_BYTES}
    chat = read(tmp_path, {**long, "kind": "SystemPromptEvent"}, said("hello"))
    assert [event.text for event in of(chat, Asked)] == ["hello"]


def test_a_file_that_changed_since_it_was_listed_is_refused(tmp_path: Path) -> None:
    (found,) = find(write(tmp_path, [said("before")]))
    write(tmp_path, [said("after")])
    for use in (lambda: openhands.read(found, UTC), lambda: openhands.count(found, keep_nothing)):
        with pytest.raises(Unreadable, match=r"^events\.json has changed since it was listed: list it again\.$"):
            use()


def test_nothing_is_written_into_the_agents_own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert openhands.PLACES.stores() == [tmp_path / ".openhands"]
    assert openhands.PLACES.logs() == []


# --- any document


@given(st.integers(min_value=200, max_value=len(WATERING.read_bytes().rstrip()) - 1))
@settings(max_examples=60, deadline=None)
def test_a_cut_document_is_refused_with_the_byte_where_it_ends(
    tmp_path_factory: pytest.TempPathFactory, at: int
) -> None:
    file = tmp_path_factory.mktemp("cut") / "events.json"
    data = WATERING.read_bytes()[:at]
    file.write_bytes(data)
    with pytest.raises(Unreadable, match=rf"^events\.json is cut off: it ends at byte {len(data.rstrip()):,},"):
        find(file)


WORDS = st.sampled_from(["", " ", "a", "b\n", "c", "a1", "a2", "call", "user", "agent", "text", "image"])
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | WORDS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["content", "type", "text", "image_urls", "arguments", "is_error", "kind"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
BLOCK = st.fixed_dictionaries({"type": st.sampled_from(["text", "image"]), "text": WORDS}) | VALUE
EVENT = st.fixed_dictionaries(
    {"kind": st.sampled_from([*openhands.finding.OWN_FIELDS, "OtherEvent"]) | VALUE},
    optional={
        "id": WORDS | VALUE,
        "timestamp": st.sampled_from(["2026-09-14T08:30:00", "2026-09-14T08:30:00Z", "9999-12-31T23:59:59"]) | VALUE,
        "source": WORDS,
        "llm_message": st.fixed_dictionaries({"content": st.lists(BLOCK, max_size=3)}) | VALUE,
        "llm_response_id": WORDS | VALUE,
        "thought": st.lists(BLOCK, max_size=2) | VALUE,
        "reasoning_content": VALUE,
        "tool_name": VALUE,
        "tool_call_id": WORDS | VALUE,
        "tool_call": VALUE,
        "action": VALUE,
        "action_id": WORDS | VALUE,
        "observation": st.fixed_dictionaries({"content": st.lists(BLOCK, max_size=3)}) | VALUE,
        "error": VALUE,
        "rejection_reason": VALUE,
        "rejection_source": VALUE,
    },
)


def assert_counted_alike(chat: Chat, ledger: Ledger) -> None:
    assert [event.id for event in of(chat, Called)] == [entry.id for entry in ledger.of("call")]
    assert [(event.call, event.ok) for event in of(chat, Returned)] == [
        (entry.id, entry.ok) for entry in ledger.of("result")
    ]
    assert len(of(chat, Asked)) == len(ledger.of("prompt"))
    assert sum(bool(event.text.strip()) for event in of(chat, Said)) == len(ledger.of("answer"))
    assert sum(bool(event.text.strip()) for event in of(chat, Thought)) == len(ledger.of("thought"))


def losses(found: Found, chat: Chat, folder: Path) -> list[str]:
    """What is lost of a chat in each trajectory that is written of it."""
    log, lost = count(found), []
    for name in TRAJECTORIES:
        (folder / name).mkdir(parents=True)
        for piece in FORMATS[name].bundle([chat], Sheet(Output(), "written")):
            (folder / name / piece.name).write_bytes(piece.data)
        lost += [
            loss.text for again in survey([folder / name]).chats for loss in compare_counted(log, count(again)).losses
        ]
    return lost


@given(st.lists(EVENT, max_size=7))
@settings(max_examples=100, deadline=None)
def test_values_of_any_type_are_taken_as_they_come_and_none_is_lost(
    tmp_path_factory: pytest.TempPathFactory, events: Sequence[dict[str, object]]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (found,) = find(write(folder, {"items": [said("Begin."), *events]}))
    chat = openhands.read(found, UTC)
    assert_counted_alike(chat, openhands.count(found, keep_nothing))
    assert losses(found, chat, folder / "written") == []
