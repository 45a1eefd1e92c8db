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


def _as_conch(message: AnyMessage) -> list[dict[str, Any]]:
    if isinstance(message, UserMessage):
        return [{"role": "user", "at": message.at, "text": message.text}]
    if not isinstance(message, AssistantMessage):
        return []
    calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.calls]
    reply: dict[str, Any] = {"role": "assistant", "at": message.at, "text": message.text, "calls": calls}
    if message.thinking:
        reply["thinking"] = message.thinking
    if message.model:
        reply["model"] = message.model
    results = [
        {
            "role": "tool",
            "at": call.result.at or message.at,
            "callId": call.id,
            "name": call.name,
            "text": text_of(call.result.parts),
        }
        for call in message.calls
    ]
    return [reply, *results]


def _expected(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Conch's messages with the results of parallel calls in the order of the calls, not in the order they came in."""
    plain = [{key: value for key, value in each.items() if key not in ("failed", "usage", "cost")} for each in messages]
    order = {call["id"]: at for at, call in enumerate(call for each in plain for call in each.get("calls", []))}
    for at in range(1, len(plain)):
        if (
            plain[at - 1]["role"] == plain[at]["role"] == "tool"
            and order[plain[at - 1]["callId"]] > order[plain[at]["callId"]]
        ):
            plain[at - 1 : at + 1] = [plain[at], plain[at - 1]]
    return plain


@pytest.mark.parametrize("number", [0, 1])
def test_a_log_of_conch_has_the_messages_that_conch_makes_of_it(number: int) -> None:
    expected = json.loads((CONCH / "expected.json").read_text())["messages"][number]
    log = chat_of(CONCH / "home", number)
    assert (log.id, log.models, log.completed) == (expected["id"], expected["models"], expected["completed"])
    made = make_messages(log)
    assert [each for message in made.messages for each in _as_conch(message)] == _expected(expected["messages"])
    usage = [each["usage"] for each in expected["messages"] if "usage" in each]
    assert [(each.usage.prompt_tokens, each.usage.output_tokens) for each in replies(made) if each.usage] == [
        (each["inputTokens"], each["outputTokens"]) for each in usage
    ]


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
