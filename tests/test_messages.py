"""The messages behind every trajectory: one for each of the model's, every call with what came of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from small_chats import asked, called, chat, returned, said, thought
from trailbook.chat import (
    Answered,
    Branch,
    Chat,
    Compacted,
    Cost,
    Message,
    Noted,
    Permission,
    Usage,
    text_of,
)
from trailbook.messages import (
    AnyMessage,
    AssistantMessage,
    Conversation,
    SystemMessage,
    UnlinkedResult,
    UserMessage,
    make_messages,
)
from trajectories import chat_of

CONCH = Path(__file__).parent / "data" / "conch"


def outline(conversation: Conversation) -> list[Any]:
    """Every message in a line: prompts and system text as words, replies as thinking, words, and calls with results."""
    return list(map(_line, conversation.messages))


def _line(message: AnyMessage) -> Any:
    if isinstance(message, AssistantMessage):
        return message.thinking, message.text, [(call.id, text_of(call.result.parts)) for call in message.calls]
    return text_of(message.result.parts) if isinstance(message, UnlinkedResult) else message.text


def replies(conversation: Conversation) -> list[AssistantMessage]:
    return [message for message in conversation.messages if isinstance(message, AssistantMessage)]


# --- Conch's own messages of two logs


NO_ROOM = "the model has no place for it, and Conch does not count it either"
OLDER = "an older log has the cost among the tokens: it counts"
DIFFERENT: dict[tuple[int, str, str], tuple[Any, str]] = {
    (0, "Fixed: totals", "usage"): ({"inputTokens": 6400, "outputTokens": 710, "cachedInputTokens": 4100}, NO_ROOM),
    (0, "Fixed: totals", "cost"): ({"billing": "metered", "usd": 0.0312, "savedUsd": 0.008}, NO_ROOM),
    (0, "tu_dep2", "cost"): ({"billing": "plan", "usd": 0.002}, NO_ROOM),
    (1, "Gmail is sign", "usage"): ({"inputTokens": 1500, "outputTokens": 60}, OLDER),
    (1, "Gmail is sign", "cost"): ({"usd": 0.01}, OLDER),
}
"""What differs from Conch's messages, by log, message (its beginning, or its first call) and field, and why.

Beyond that: the results of parallel calls stand in the order of the calls, not in that in which they came.
"""
ADDED = {0: ["Earlier: the rounding fix."], 1: []}
"""System texts that Conch's messages have not: after a compaction the model saw its summary in place of the rest."""


def _as_conch(message: AnyMessage) -> list[dict[str, Any]]:
    if isinstance(message, UserMessage):
        return [{"role": "user", "at": message.at, "text": message.text}]
    if not isinstance(message, AssistantMessage):
        return []
    calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.calls]
    reply: dict[str, Any] = {"role": "assistant", "at": message.at, "text": message.text, "calls": calls}
    reply |= _known(thinking=message.thinking, model=message.model)
    if message.usage:
        usage = message.usage
        reply["usage"] = _known(
            inputTokens=usage.prompt_tokens, outputTokens=usage.output_tokens, cachedInputTokens=usage.cached_tokens
        )
    if message.cost:
        reply["cost"] = _known(billing=message.cost.billing, usd=message.cost.usd, savedUsd=message.cost.saved_usd)
    results = [
        {
            "role": "tool",
            "at": call.result.at or message.at,
            "callId": call.id,
            "name": call.name,
            "text": text_of(call.result.parts),
            **_known(failed=call.result.ok is False or call.result.reason is not None),
        }
        for call in message.calls
    ]
    return [reply, *results]


def _known(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value}


def _in_order_of_calls(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    ordered = list(messages)
    order = {call["id"]: at for at, call in enumerate(call for each in ordered for call in each.get("calls", []))}
    for at in range(1, len(ordered)):
        if (
            ordered[at - 1]["role"] == ordered[at]["role"] == "tool"
            and order[ordered[at - 1]["callId"]] > order[ordered[at]["callId"]]
        ):
            ordered[at - 1 : at + 1] = [ordered[at], ordered[at - 1]]
    return ordered


def _name(message: dict[str, Any]) -> str:
    return message.get("callId") or message["text"][:13] or next((call["id"] for call in message.get("calls", [])), "")


@pytest.mark.parametrize("number", [0, 1])
def test_a_log_of_conch_has_the_messages_that_conch_makes_of_it(number: int) -> None:
    expected = json.loads((CONCH / "expected.json").read_text())["messages"][number]
    log = chat_of(CONCH / "home", number)
    assert (log.id, log.models, log.completed) == (expected["id"], expected["models"], expected["completed"])
    messages = make_messages(log).messages
    assert [message.text for message in messages if isinstance(message, SystemMessage)] == ADDED[number]
    ours = [each for message in messages for each in _as_conch(message)]
    theirs = _in_order_of_calls(expected["messages"])
    assert list(map(_name, ours)) == list(map(_name, theirs))
    differences = {
        (number, _name(their), field): our.get(field)
        for our, their in zip(ours, theirs, strict=True)
        for field in our.keys() | their.keys()
        if our.get(field) != their.get(field)
    }
    assert differences == {key: value for key, (value, _) in DIFFERENT.items() if key[0] == number}


def test_a_turn_on_a_plan_adds_tokens_and_no_money() -> None:
    # 6,400 + 900 + 300 in, 710 + 20 + 6 out; $0.0312 metered, $0.002 on a plan, the last free.
    made = make_messages(chat_of(CONCH / "home", 0))
    assert made.usage == Usage(7_600, 736, 4_100)
    assert made.usd == 0.0312


# --- parallel calls


def test_a_result_that_comes_after_more_words_is_still_its_calls_result() -> None:
    """Conch says "No result" of such a call, and drops its real result."""
    made = make_messages(
        chat(
            asked("Go."),
            called("slow", "m1"),
            called("quick", "m1"),
            returned("quick", "one"),
            said("The quick one is back.", "m2"),
            called("next", "m2"),
            returned("slow", "two"),
            returned("next", "three"),
        )
    )
    assert outline(made) == [
        "Go.",
        ("", "", [("slow", "two"), ("quick", "one")]),
        ("", "The quick one is back.", [("next", "three")]),
    ]


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        # Calls that start before any has come back are one message's.
        (
            [called("a"), called("b"), returned("a", "1"), called("c"), returned("b", "2"), returned("c", "3")],
            [("", "", [("a", "1"), ("b", "2")]), ("", "", [("c", "3")])],
        ),
        ([said("One."), called("a"), returned("a", "1"), said("Two.")], [("", "One.", [("a", "1")]), ("", "Two.", [])]),
        ([thought("T"), said("S"), thought("U"), said("V")], [("T", "S", []), ("U", "V", [])]),
        ([said("S"), called("a"), said("V"), returned("a", "1")], [("", "S", [("a", "1")]), ("", "V", [])]),
        # A message that the log names is one, over however many lines and results it has it.
        (
            [
                thought("T", "m1"),
                called("a", "m1"),
                returned("a", "1"),
                said("S", "m1"),
                called("b", "m1"),
                said("V", "m2"),
            ],
            [("T", "S", [("a", "1"), ("b", "No result: the log ends first.")]), ("", "V", [])],
        ),
        ([said("One.", "m1"), said("Two.", "m1")], [("", "One.\n\nTwo.", [])]),
        ([said("One, ", "m1"), said("two.", "m1")], [("", "One, two.", [])]),
        # Results that share an id answer its calls in order; further ones are pieces of the last.
        (
            [called("a"), returned("a", "1"), called("a"), returned("a", "2"), returned("a", "more")],
            [("", "", [("a", "1")]), ("", "", [("a__2", "2\nmore")])],
        ),
        ([called("a"), returned("b", "lost"), returned("a", "1")], [("", "", [("a", "1")]), "lost"]),
        ([returned("a", "early"), called("a")], [("", "", [("a", "early")])]),
    ],
)
def test_events_become_the_messages_of_the_model(events: list[Any], expected: list[Any]) -> None:
    assert outline(make_messages(chat(asked("Go."), *events)))[1:] == expected


# --- calls without a result


ENDED, NEXT = Answered(outcome="success"), asked("Next.")


@pytest.mark.parametrize(
    ("events", "sentence"),
    [
        ([called("a")], "No result: the log ends first."),
        ([called("a"), ENDED], "No result: the turn ended first."),
        ([called("a"), NEXT], "No result: the turn ended first."),
        ([called("a"), returned("a", "", None, not_run="declined")], "Not run: the person said no."),
        ([called("a"), returned("a", "", None, not_run="expired")], "Not run: nobody answered in time."),
        ([called("a"), returned("a", "", None, not_run="refused")], "Not run: a rule stopped it."),
        (
            [called("a"), returned("a", "", None, not_run="stopped")],
            "Stopped: the turn was interrupted before it finished.",
        ),
        ([called("a"), Permission(id="p", title="?", call="a", decision="deny"), NEXT], "Not run: the person said no."),
        (
            [called("a"), Permission(id="p", title="?", call="a", decision="expired"), NEXT],
            "Not run: nobody answered in time.",
        ),
        ([called("a", ran=True), NEXT], "It ran; the log has no result of it."),
        # What the log says beside it is kept, unless it only says the same.
        (
            [called("a"), returned("a", "User rejected this tool call.", None, not_run="declined")],
            "Not run: the person said no.",
        ),
        (
            [called("a"), returned("a", "Use make check instead.", None, not_run="declined")],
            "Not run: the person said no.\n\nUse make check instead.",
        ),
        # A result without words is a result.
        ([called("a"), returned("a", "")], ""),
    ],
)
def test_every_call_is_answered_and_says_why_it_has_no_result(events: list[Any], sentence: str) -> None:
    (call,) = [call for reply in replies(make_messages(chat(asked("Go."), *events))) for call in reply.calls]
    assert text_of(call.result.parts) == sentence


def test_arguments_that_were_no_object_are_kept_under_a_key_of_their_own() -> None:
    made = make_messages(chat(asked(), called("a", arguments={}, raw='{"path": "cut'), called("b", name="")))
    assert [(call.name, call.arguments) for call in replies(made)[0].calls] == [
        ("run", {"_raw": '{"path": "cut'}),
        ("unknown_tool", {"of": "b"}),
    ]


# --- what is no message of the model


def test_what_the_model_never_saw_is_no_message_and_what_it_saw_is() -> None:
    made = make_messages(
        chat(
            asked("Go."),
            Noted(topic="notice", text="A new version is out."),
            Noted(topic="system", text="The date has changed."),
            asked("The user opened a.py.", injected="context"),
            said("Going.", "m1"),
            asked("And b.py!", queued=True),
            said("Both.", "m1"),
            Compacted(summary="Two files."),
            said("Done.", "m1"),
        )
    )
    # After a compaction nothing goes on in an old message; words typed meanwhile do not end one.
    assert outline(made) == [
        "Go.",
        "The date has changed.",
        "The user opened a.py.",
        ("", "Going.\n\nBoth.", []),
        "And b.py!",
        "Two files.",
        ("", "Done.", []),
    ]
    assert [type(message) for message in made.messages if not isinstance(message, AssistantMessage)] == [
        UserMessage,
        SystemMessage,
        UserMessage,
        UserMessage,
        SystemMessage,
    ]


def test_the_calls_of_a_script_are_counted_and_are_no_messages() -> None:
    made = make_messages(
        chat(asked(), called("a"), called("a1", within="a", step=1), returned("a1", "inner"), returned("a", "outer"))
    )
    assert (outline(made)[1:], made.script_calls) == ([("", "", [("a", "outer")])], 1)


# --- tokens


def counted(*events: Any, **messages: Message) -> Chat:
    return chat(*events, messages=messages)


def test_tokens_of_a_message_in_pieces_are_counted_once() -> None:
    made = make_messages(
        counted(
            asked("Go."),
            thought("Hm.", "m1"),
            called("a", "m1"),
            returned("a", "1"),
            said("Done.", "m2"),
            m1=Message(model="large", usage=Usage(100, 10, 80), cost=Cost(0.01)),
            m2=Message(model="small", usage=Usage(200, 20), cost=Cost(0.02, estimated_from="a table of prices")),
        )
    )
    assert [(each.model, each.usage, each.alone) for each in replies(made)] == [
        ("large", Usage(100, 10, 80), True),
        ("small", Usage(200, 20), True),
    ]
    assert (made.usage, made.unplaced, made.usd, made.estimated) == (Usage(300, 30, 80), None, 0.03, True)


def test_tokens_of_a_turn_stand_on_its_last_message() -> None:
    answered = Answered(
        usage=Usage(300, 30), cost=Cost(0.03, "metered"), model="large", outcome="error", problem="Lost."
    )
    made = make_messages(chat(asked("Go."), called("a"), returned("a", "1"), said("Done."), answered))
    assert [(each.usage, each.model, each.outcome, each.problem, each.alone) for each in replies(made)] == [
        (None, None, None, None, False),
        (Usage(300, 30), "large", "error", "Lost.", False),
    ]


def test_tokens_that_are_on_no_message_are_told_apart() -> None:
    of_the_chat = make_messages(chat(asked("Go."), said("Done."), usage=Usage(300, 30)))
    assert (of_the_chat.usage, of_the_chat.unplaced) == (Usage(300, 30), Usage(300, 30))
    without_reply = make_messages(
        chat(
            asked("Go."),
            Answered(usage=Usage(100, None)),
            asked("Again."),
            said("Done."),
            Answered(usage=Usage(200, 7)),
        )
    )
    assert (without_reply.usage, without_reply.unplaced) == (Usage(300, 7), Usage(100))
    unknown = make_messages(chat(asked("Go."), said("Done.")))
    assert (unknown.usage, unknown.unplaced, unknown.usd) == (None, None, None)


def test_a_branch_repeats_what_it_shares_and_counts_it_once() -> None:
    log = counted(
        asked("Go."),
        said("Which way?", "m1"),
        asked("Left.", branch="b"),
        said("Left it is.", "m2", branch="b"),
        asked("Right."),
        said("Right it is.", "m3"),
        m1=Message(usage=Usage(10, 1)),
        m2=Message(usage=Usage(20, 2)),
        m3=Message(usage=Usage(40, 4)),
    )
    log.branches = {"b": Branch("b")}
    active, branch = make_messages(log), make_messages(log, branch="b")
    assert outline(active) == ["Go.", ("", "Which way?", []), "Right.", ("", "Right it is.", [])]
    assert outline(branch) == ["Go.", ("", "Which way?", []), "Left.", ("", "Left it is.", [])]
    assert [message.copied for message in branch.messages] == [True, True, False, False]
    assert [each.usage for each in replies(branch)] == [None, Usage(20, 2)]
    assert (active.branches, active.usage, active.unplaced) == (1, Usage(70, 7), Usage(20, 2))


def test_what_a_fork_replays_is_a_copy_and_costs_nothing() -> None:
    made = make_messages(
        counted(
            asked("Go.", inherited=True),
            said("Went.", "m1", inherited=True),
            asked("And on."),
            said("On.", "m2"),
            m1=Message(usage=Usage(10, 1)),
            m2=Message(usage=Usage(20, 2)),
        )
    )
    assert [message.copied for message in made.messages] == [True, True, False, False]
    assert [each.usage for each in replies(made)] == [None, Usage(20, 2)]
    assert made.usage == Usage(20, 2)
