"""Turns of Codex's rollouts: what they cost, what was taken back, what a fork only replays."""

from __future__ import annotations

from typing import Any

import pytest

from codex_logs import (
    CHILD,
    answer,
    answers,
    at,
    begin,
    call,
    end,
    event,
    item,
    meta,
    notes,
    of,
    output,
    own,
    prompts,
    read,
    spawned,
    tokens,
    usage_of,
    user,
)
from trailbook.chat import (
    Answered,
    Asked,
    Called,
    Compacted,
    Tool,
    Usage,
)

# --- tokens


def test_running_totals_are_worth_what_they_add(tmp_path: Any) -> None:
    chat = read(
        tmp_path,
        user("go"),
        answer("a"),
        tokens(100, 10, 60),
        tokens(100, 10, 60),
        event("token_count", info=None, rate_limits={}),
        call(),
        output(),
        tokens(250, 30, 160),
        answer("b"),
        tokens(400, 45, 250),
    )
    assert [message.usage for message in chat.messages.values()] == [
        Usage(100, 10, 60, None, None, 0),
        Usage(150, 20, 100, None, None, 0),
        Usage(150, 15, 90, None, None, 0),
    ]
    assert usage_of(chat) == Usage(400, 45, 250, None, None, 0)


def test_totals_that_drop_start_anew(tmp_path: Any) -> None:
    chat = read(
        tmp_path, user("go"), answer("a"), tokens(900, 90), answer("b"), tokens(40, 4), answer("c"), tokens(50, 5)
    )
    assert usage_of(chat) == Usage(950, 95, 0, None, None, 0)


def test_a_part_that_drops_alone_is_no_new_start(tmp_path: Any) -> None:
    chat = read(tmp_path, user("go"), answer("a"), tokens(900, 90, 500), answer("b"), tokens(950, 95, 400))
    assert usage_of(chat) == Usage(950, 95, 500, None, None, 0)


def test_without_totals_the_last_response_counts(tmp_path: Any) -> None:
    last = {"input_tokens": 7, "output_tokens": 3, "cache_write_input_tokens": 2}
    chat = read(tmp_path, user("go"), answer("a"), event("token_count", info={"last_token_usage": last}))
    assert usage_of(chat) == Usage(7, 3, None, 2, None, None)


def test_tokens_that_are_recorded_by_response_are_not_counted_again(tmp_path: Any) -> None:
    def record(response: str, prompt: int, thread: str | None = None) -> dict[str, Any]:
        usage = {"input_tokens": prompt, "output_tokens": 1}
        return {"type": "token_usage_record", "payload": {"response_id": response, "usage": usage, "thread_id": thread}}

    chat = read(
        tmp_path,
        *(begin("t1"), user("go"), answer("a"), tokens(100, 10), end("t1")),
        *(begin("t2"), user("on"), answer("b"), record("r1", 20), record("r1", 20), tokens(120, 11), end("t2")),
        *(begin("t3"), user("on"), answer("c"), record("r2", 5), record("r3", 9, CHILD), end("t3")),
    )
    assert usage_of(chat) == Usage(125, 12, 0, None, None, 0)


def test_tokens_of_a_response_that_left_nothing_else_are_counted(tmp_path: Any) -> None:
    chat = read(tmp_path, user("go"), answer("a"), tokens(100, 10), tokens(130, 12))
    assert usage_of(chat) == Usage(130, 12, 0, None, None, 0)


# --- turns


def test_a_turn_that_failed_says_why(tmp_path: Any) -> None:
    chat = read(
        tmp_path, begin(), user("go"), event("error", message="You've hit your usage limit."), end("t1", duration_ms=40)
    )
    assert [(event.id, event.outcome, event.problem, event.duration) for event in of(chat, Answered)] == [
        ("t1", "error", "You've hit your usage limit.", 40)
    ]
    assert chat.completed is False


def test_whether_a_chat_was_completed_is_what_its_last_turn_says(tmp_path: Any) -> None:
    done = [begin("t1"), user("go"), answer("a"), end("t1")]
    assert read(tmp_path, *done).completed is True
    assert read(tmp_path, *done, begin("t2"), user("on")).completed is None
    assert read(tmp_path, *done, user("on")).completed is None
    assert read(tmp_path, *done, begin("t2"), event("turn_aborted", reason="interrupted")).completed is False


def test_each_turn_has_its_own_model(tmp_path: Any) -> None:
    def context(model: str) -> dict[str, Any]:
        return {"type": "turn_context", "payload": {"model": model}}

    chat = read(
        tmp_path,
        *(begin(), context("model-x"), user("go"), answer("a"), end()),
        *(begin(), context("model-y"), user("on"), answer("b"), end()),
    )
    assert chat.models == ["model-x", "model-y"]
    assert [message.model for message in chat.messages.values()] == ["model-x", "model-y"]
    assert [event.model for event in of(chat, Answered)] == ["model-x", "model-y"]


def test_turns_that_were_taken_back_stay_as_a_branch(tmp_path: Any) -> None:
    chat = read(
        tmp_path,
        *(user("one"), answer("a"), user("two"), answer("b"), user("three"), call(), output()),
        event("thread_rolled_back", num_turns=2),
        *(user("four"), answer("d"), user("five"), answer("e")),
        event("thread_rolled_back", num_turns=1),
        event("thread_rolled_back", num_turns=0),
        user("six"),
    )
    assert (prompts(chat), answers(chat)) == (["one", "four", "six"], ["a", "d"])
    assert {
        branch: [event.text for event in of(chat, Asked) if event.branch == branch] for branch in chat.branches
    } == {"rolled-back-9": ["two", "three"], "rolled-back-14": ["five"]}
    assert [branch.left_at and branch.left_at.number for branch in chat.branches.values()] == [9, 14]


def test_more_turns_taken_back_than_there_are_is_all_of_them(tmp_path: Any) -> None:
    chat = read(tmp_path, user("one"), answer("a"), event("thread_rolled_back", num_turns=99), user("two"))
    assert prompts(chat) == ["two"]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["line-first", "event-first"])
def test_a_compaction_is_one_and_its_history_is_no_new_turn(tmp_path: Any, order: tuple[int, int]) -> None:
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "one"}]}]
    both = [
        {"type": "compacted", "payload": {"message": "So far: one.", "replacement_history": history}},
        event("context_compacted"),
    ]
    chat = read(tmp_path, user("one"), answer("a"), both[order[0]], both[order[1]], item("compaction"), user("two"))
    assert [event.summary for event in of(chat, Compacted)] == ["So far: one."]
    assert prompts(chat) == ["one", "two"]


def test_a_review_and_notices_are_noted(tmp_path: Any) -> None:
    chat = read(
        tmp_path,
        user("/review"),
        event("entered_review_mode", target={}, user_facing_hint="current changes"),
        event("exited_review_mode", review_output={"overall_explanation": "Looks right.", "findings": []}),
        event("warning", message="Long threads cost more."),
        event("thread_name_updated", thread_name="Review of fmt"),
    )
    assert notes(chat) == [
        ("review", "Review of current changes", None),
        ("review", "Looks right.", None),
        ("warning", "Long threads cost more.", None),
    ]
    assert chat.title == "Review of fmt"


def test_tools_that_the_log_declares(tmp_path: Any) -> None:
    schema = {"type": "object", "properties": {"id": {"type": "integer"}}}
    declared = [{"name": "close", "description": "Closes.", "inputSchema": schema}, {"description": "nameless"}, 7]
    chat = read(tmp_path, meta(dynamic_tools=declared, base_instructions={"text": "Be brief."}), user("go"))
    assert chat.tools == [Tool("close", "Closes.", schema)]
    assert chat.system_prompt == "Be brief."


# --- forks and spawned threads


def parent_history(moment: float) -> list[dict[str, Any]]:
    """What a fork's file replays, restamped to one moment."""
    history = [
        meta("0199d100-0000-7000-8000-0000000000aa"),
        begin("p1"),
        event("user_message", message="parent question", images=[]),
        answer("parent answer"),
        event("agent_message", message="parent answer"),
        call("p1"),
        output("p1"),
        tokens(89_990, 10),
        end("p1"),
    ]
    return [{**line, "timestamp": at(moment)} for line in history]


def later(moment: float, *lines: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**line, "timestamp": at(moment + number)} for number, line in enumerate(lines)]


OWN_WORK = (answer("child answer"), event("agent_message", message="child answer"), tokens(91_490, 10))
ASKED = event("user_message", message="child task: check docs", images=[])
AT_ONCE = 0.002


@pytest.mark.parametrize(
    "turn",
    [
        [{**begin("c1"), "timestamp": at(AT_ONCE)}, *later(2, ASKED)],
        [{**begin("c1"), "timestamp": at(AT_ONCE)}, {**ASKED, "timestamp": at(AT_ONCE)}],
        [{**begin("c1"), "timestamp": at(AT_ONCE)}, {**user("child task: check docs"), "timestamp": at(AT_ONCE)}],
        later(1, begin("c1"), ASKED),
        later(1, user("child task: check docs")),
    ],
    ids=["begun-at-once", "asked-at-once", "item-at-once", "a-second-later", "without-a-mark"],
)
@pytest.mark.parametrize("shape", ["spawned", "forked", "without-the-parent-s-line"])
def test_a_replayed_parent_is_never_counted_again(tmp_path: Any, turn: Any, shape: str) -> None:
    first = {**(meta(CHILD, forked_from_id="p") if shape == "forked" else spawned()), "timestamp": at(0)}
    history = parent_history(0.001)[1 if shape == "without-the-parent-s-line" else 0 :]
    chat = read(tmp_path, first, *history, *turn, *later(9, *OWN_WORK))
    assert (chat.id, chat.title) == (CHILD, "child task: check docs")
    assert (prompts(chat), answers(chat)) == (["child task: check docs"], ["child answer"])
    assert usage_of(chat) == Usage(1_500, 0, 0, None, None, 0)
    assert [event.text for event in of(chat, Asked) if event.inherited] == ["parent question"]
    assert [event.id for event in of(chat, Called)] == ["p1"]
    assert all(event.inherited for event in of(chat, Called))


def test_a_fork_by_a_person_is_a_chat_of_its_own(tmp_path: Any) -> None:
    first = {**meta(CHILD, forked_from_id="p"), "timestamp": at(0)}
    chat = read(tmp_path, first, *parent_history(0.001), *later(60, begin("c1"), user("another way"), answer("so")))
    assert (chat.origin.kind, chat.parent, chat.forked) == ("chat", "p", True)
    assert chat.reopen == ["codex", "resume", CHILD]


def test_a_fork_that_nobody_went_on_with_is_all_inherited(tmp_path: Any) -> None:
    first = {**meta(CHILD, forked_from_id="p"), "timestamp": at(0)}
    chat = read(tmp_path, first, *parent_history(0.001))
    assert (own(chat), usage_of(chat), chat.title) == ([], None, "parent question")


def test_tokens_of_a_first_response_without_words_are_the_fork_s_own(tmp_path: Any) -> None:
    first = {**spawned(), "timestamp": at(0)}
    chat = read(tmp_path, first, *parent_history(0.001)[:-1], *later(5, begin("c1"), tokens(90_000, 12), ASKED))
    assert usage_of(chat) == Usage(10, 2, 0, None, None, 0)


def test_a_spawned_thread_without_a_replay_is_all_its_own(tmp_path: Any) -> None:
    first = {**spawned(), "timestamp": at(0)}
    start = [{**line, "timestamp": at(0.001)} for line in (begin("c1"), user("child task: check docs"))]
    chat = read(tmp_path, first, *start, *later(4, *OWN_WORK))
    assert prompts(chat) == ["child task: check docs"]
    assert usage_of(chat) == Usage(91_490, 10, 0, None, None, 0)


def test_a_first_line_that_comes_again_is_no_fork(tmp_path: Any) -> None:
    chat = read(tmp_path, meta(), user("one"), answer("a"), meta(), user("two"), answer("b"))
    assert prompts(chat) == ["one", "two"]


def test_another_thread_s_first_line_behind_words_is_no_replay(tmp_path: Any) -> None:
    chat = read(tmp_path, meta(), user("one"), answer("a"), meta(CHILD), user("two"), answer("b"))
    assert (chat.id, prompts(chat)) == ("0199d100-0000-7000-8000-0000000000aa", ["one", "two"])
