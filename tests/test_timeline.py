"""A chat's timeline: what a person would notice if a step, a turn or a figure were wrong."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trailbook.axis import fold, tallies
from trailbook.chat import (
    Agent,
    Answered,
    Asked,
    Branch,
    Browsed,
    Called,
    Chat,
    Compacted,
    Cost,
    Event,
    File,
    FileChange,
    FilesChanged,
    HandedOff,
    Image,
    Label,
    Made,
    Message,
    Noted,
    Permission,
    Place,
    Remembered,
    Returned,
    Said,
    Text,
    Thought,
    Usage,
)
from trailbook.timeline import KINDS, Step, Timeline, make_timeline


def a_chat(*events: Event, **fields: object) -> Chat:
    chat = Chat("c1", "a-reader", Agent("Pearl"), events=list(events))  # type: ignore[arg-type]
    for name, value in fields.items():
        setattr(chat, name, value)
    return chat


def timeline_of(*events: Event, **fields: object) -> Timeline:
    return make_timeline(a_chat(*events, **fields))


def asked(key: str, at: int | None = None, text: str = "Do it", **more: object) -> Asked:
    return Asked(id=key, text=text, at=at, **more)  # type: ignore[arg-type]


def called(key: str, at: int | None = None, name: str = "Bash", **more: object) -> Called:
    return Called(id=key, name=name, at=at, **more)  # type: ignore[arg-type]


def returned(key: str | None, at: int | None = None, text: str = "", **more: object) -> Returned:
    return Returned(call=key, at=at, parts=[Text(text)], **{"ok": True, **more})  # type: ignore[arg-type]


def by_id(timeline: Timeline, key: str) -> Step:
    return next(step for step in timeline.steps if step.id == key)


def test_each_event_becomes_a_step_of_its_kind() -> None:
    timeline = timeline_of(
        asked("u1", 1_000, "Make a chart"),
        Thought(text="Hm.", id="m1:1", at=2_000, message="m1"),
        Said(text="I will.", id="m1:2", at=3_000, message="m1"),
        called("t1", 3_100, "Write", arguments={"file_path": "chart.html", "content": "a\nb\n"}),
        Permission(id="p1", title="Write chart.html", call="t1", at=3_200, answered=4_200, decision="allow"),
        returned("t1", 5_000),
        FilesChanged(id="f1", label="Made chart.html", files=[FileChange("chart.html", "created")], at=5_100),
        Browsed(id="b1", label="Opened example.org", status="error", at=5_200),
        HandedOff(id="h1", title="Check it", state="stopped", at=5_300),
        Made(id="a1", version=2, title="Chart", action="updated", at=5_400),
        Remembered(id="r1", text="Charts are blue.", at=5_500),
        Permission(id="q1", title="Blue?", question=True, at=5_600, answered=5_900, decision="answered", answer="Yes"),
        Noted(topic="notice", text="Retrying", at=6_000, place=Place("log", 12)),
        Answered(id="e1", outcome="error", problem="It went away.", at=7_000),
    )
    assert [(step.kind, step.id, step.title, step.detail, step.status) for step in timeline.steps] == [
        ("asked", "asked:u1", "Make a chart", None, None),
        ("thought", "thought:m1:1", "Thought it through", None, None),
        ("said", "said:m1:2", "I will.", None, None),
        ("tool", "tool:t1", "Wrote chart.html", "+2 −0", "done"),
        ("approval", "approval:p1", "Write chart.html", "You allowed it", "done"),
        ("files", "files:f1", "Made chart.html", "chart.html", "done"),
        ("browser", "browser:b1", "Opened example.org", None, "failed"),
        ("task", "task:h1", "Handed off: Check it", None, "declined"),
        ("made", "made:a1:2", "Updated Chart", None, "done"),
        ("remembered", "remembered:r1", "Remembered something", "Charts are blue.", "done"),
        ("approval", "question:q1", "Blue?", "You answered: Yes", "done"),
        ("noted", "noted:notice:12", "Retrying", None, None),
        ("problem", "problem:e1", "It stopped with a problem", "It went away.", "failed"),
    ]
    assert {step.kind for step in timeline.steps} == set(KINDS)
    totals = timeline.totals
    assert (totals.tools, totals.approvals, totals.questions, totals.files, totals.failed) == (1, 1, 1, 1, 2)
    assert (totals.duration, totals.waiting) == (6_000, 1_300)


def test_steps_keep_the_order_of_the_log_when_clocks_run_backwards() -> None:
    timeline = timeline_of(asked("u1", 9_000), called("t1", 5_000), returned("t1", 4_000), asked("u2", 1_000))
    assert [(step.id, step.at) for step in timeline.steps] == [
        ("asked:u1", 9_000),
        ("tool:t1", 5_000),
        ("asked:u2", 1_000),
    ]
    assert by_id(timeline, "tool:t1").duration is None


def test_a_result_after_the_next_prompt_stays_in_its_own_turn() -> None:
    timeline = timeline_of(asked("u1", 1_000), called("t1", 2_000), asked("u2", 3_000), returned("t1", 9_000, "late"))
    step = by_id(timeline, "tool:t1")
    assert (step.turn, step.status, step.duration, step.text) == (0, "done", 7_000, "late")


def test_nothing_is_left_out_or_cut() -> None:
    words = "wörter 😀 " * 2_000
    calls = [event for n in range(2_500) for event in (called(f"t{n}", n), returned(f"t{n}", n, words))]
    timeline = timeline_of(asked("u1", 0, words), *calls)
    assert len(timeline.steps) == 2_501
    assert timeline.totals.tools == 2_500
    assert {step.text for step in timeline.steps} == {words}


@pytest.mark.parametrize(
    ("after", "status"),
    [
        ([Answered(outcome="interrupted", at=3_000)], "declined"),
        ([asked("u2", 3_000)], "declined"),
        ([], "waiting"),
        ([Answered(outcome="interrupted", at=3_000), Said(text="Going on.", at=4_000)], "waiting"),
        ([asked("u2", 3_000, injected="reminder")], "waiting"),
    ],
    ids=["its turn ended", "another turn began", "it may still run", "it was taken up again", "nobody asked anew"],
)
def test_a_call_that_never_came_back_was_cut_off_if_its_turn_is_over(after: list[Event], status: str) -> None:
    timeline = timeline_of(asked("u1", 1_000), called("t1", 2_000), *after)
    assert by_id(timeline, "tool:t1").status == status


def test_a_call_that_ran_and_of_which_the_log_keeps_no_result() -> None:
    call = called("t1", name="web_search", arguments={"query": "x"}, ran=True)
    step = timeline_of(asked("u1"), call, asked("u2")).steps[1]
    assert (step.status, step.title, step.text) == ("done", "Searched the web for “x”", None)


@pytest.mark.parametrize(
    ("result", "status"),
    [
        ({"ok": True}, "done"),
        ({"ok": None}, "done"),
        ({"ok": False}, "failed"),
        ({"ok": None, "exit_status": 2}, "failed"),
        ({"ok": True, "label": Label(failed=True)}, "failed"),
        ({"ok": False, "not_run": "declined"}, "declined"),
        ({"ok": None, "not_run": "refused"}, "declined"),
        ({"ok": False, "not_run": "stopped"}, "declined"),
    ],
)
def test_how_a_call_ended(result: dict[str, object], status: str) -> None:
    assert by_id(timeline_of(called("t1"), returned("t1", **result)), "tool:t1").status == status


def test_the_agents_own_words_win_over_ours() -> None:
    label = Label(family="ship", doing="Sending it", done="Sent it", outcome="3 mails", subject="ada")
    waiting = timeline_of(called("t1", label=label))
    assert (waiting.steps[0].title, waiting.steps[0].detail, waiting.steps[0].family) == ("Sending it", "ada", "ship")
    done = timeline_of(called("t1", label=label), returned("t1"))
    assert (done.steps[0].title, done.steps[0].detail) == ("Sent it", "3 mails")
    part = timeline_of(
        called("t1", name="Read", arguments={"path": "a.py"}, label=Label(done="Peeked")), returned("t1")
    )
    assert (part.steps[0].title, part.steps[0].family) == ("Peeked", "explore")


def test_a_script_says_which_of_its_steps_a_call_was() -> None:
    call = called("s1", name="Read", arguments={"file_path": "/home/ada/data/1.json"}, within="t1", step=3)
    step = timeline_of(call, returned("s1")).steps[0]
    assert (step.id, step.title, step.detail) == ("script:s1", "Read 1.json", "Step 3 of a script · data/1.json")


# --- results


def test_results_that_answer_no_call_are_shown_and_said_to_be_so() -> None:
    timeline = timeline_of(
        asked("u1", 1), returned("zz", 2, "lost"), returned(None, 3, "lost too", place=Place("l", 9))
    )
    assert [(step.id, step.text, step.answers) for step in timeline.steps[1:]] == [
        ("noted:result:zz", "lost", False),
        ("noted:result:9", "lost too", False),
    ]
    assert timeline.totals.tools == 0


def test_an_id_that_a_log_uses_twice() -> None:
    timeline = timeline_of(called("t"), called("t"), returned("t", text="1"), returned("t", text="2"), called("t"))
    assert [(step.id, step.text) for step in timeline.steps] == [("tool:t", "1"), ("tool:t~2", "2"), ("tool:t~3", None)]


def test_a_result_in_pieces_is_put_together() -> None:
    picture = Image("image/png", b"x")
    more = Returned(call="t1", parts=[Text("two"), picture], ok=True)
    step = timeline_of(called("t1"), returned("t1", text="one"), more).steps[0]
    assert (step.text, step.parts) == ("one\ntwo", [picture])


def test_what_a_call_changed_is_a_part_of_its_step() -> None:
    edit = called("t1", name="Edit", arguments={"file_path": "a.py", "old_string": "x = 1", "new_string": "x = 2"})
    change = FilesChanged(call="t1", files=[FileChange("a.py")])
    timeline = timeline_of(edit, returned("t1"), change)
    assert len(timeline.steps) == 1
    assert timeline.steps[0].diff == "-x = 1\n+x = 2"
    assert timeline.steps[0].detail == "+1 −1"
    assert timeline.totals.files == 1


@pytest.mark.parametrize("where", ["result", "change"])
def test_the_logs_own_patch_is_preferred(where: str) -> None:
    patch = "--- a.py\n+++ a.py\n@@ -7,1 +7,1 @@\n-x = 1\n+x = 2"
    edit = called("t1", name="Edit", arguments={"file_path": "a.py", "old_string": "x = 1", "new_string": "x = 2"})
    result = returned("t1", patch=patch if where == "result" else None)
    change = FilesChanged(call="t1", files=[FileChange("a.py", patch=patch if where == "change" else None)])
    assert timeline_of(edit, result, change).steps[0].diff == patch


def test_a_change_whose_call_is_unknown_is_a_step_of_its_own() -> None:
    timeline = timeline_of(
        FilesChanged(call="zz", files=[FileChange("x/a.py"), FileChange("b.py"), FileChange("c.py")])
    )
    assert (timeline.steps[0].title, timeline.steps[0].detail) == ("Changed a.py and 2 more", "x/a.py, b.py, c.py")


def test_files_are_counted_by_path() -> None:
    one, again = FileChange("a.py", "created"), FileChange("a.py")
    timeline = timeline_of(FilesChanged(id="1", files=[one]), FilesChanged(id="2", files=[again, FileChange("b.py")]))
    assert timeline.totals.files == 2


# --- words


@pytest.mark.parametrize(
    ("event", "title", "detail"),
    [
        (asked("u", text="a \n\n b"), "a b", None),
        (asked("u", text=" ", parts=[File("a.txt")]), "You sent files", "With a file"),
        (asked("u", text="see", parts=[File("a.txt"), Image()]), "see", "With 2 files"),
        (asked("u", text=""), "You wrote", None),
        (asked("u", text="long instructions", command="/review x"), "/review x", None),
    ],
)
def test_prompts(event: Asked, title: str, detail: str | None) -> None:
    step = timeline_of(event).steps[0]
    assert (step.title, step.detail, step.text) == (title, detail, event.text)


def test_words_of_nothing_but_space_are_no_step_but_a_hidden_thought_is() -> None:
    timeline = timeline_of(asked("u1"), Said(text=" \n"), Thought(text=" "), Thought(text="", encrypted="x"))
    assert [(step.kind, step.detail) for step in timeline.steps] == [
        ("asked", None),
        ("thought", "The log does not have its words"),
    ]


def test_words_begin_when_what_is_before_them_ended() -> None:
    timeline = timeline_of(
        asked("u1", 1_000),
        Thought(text="Hm", id="1", at=3_000),
        Permission(id="p", title="?", at=3_000, answered=8_000, decision="allow"),
        Said(text="Well", id="2", at=9_000),
        Said(text="As the log says", id="3", at=9_900, started=9_500),
        Said(text="No time", id="4"),
        Said(text="Earlier", id="5", at=5_000),
    )
    assert [(step.at, step.duration) for step in timeline.steps if step.kind in ("said", "thought")] == [
        (1_000, 2_000),
        (8_000, 1_000),
        (9_500, 400),
        (None, None),
        (5_000, None),
    ]


@pytest.mark.parametrize(
    ("decision", "detail", "status"),
    [
        ("allow", "You allowed it", "done"),
        ("allow-always", "You allowed it for the rest of the chat", "done"),
        ("deny", "You said no", "declined"),
        ("expired", "Nobody answered in time", "declined"),
        (None, "Waiting for you", "waiting"),
    ],
)
def test_approvals(decision: str | None, detail: str, status: str) -> None:
    timeline = timeline_of(asked("u1"), Permission(id="p", title="Deploy", decision=decision), asked("u2"))
    assert (timeline.steps[1].detail, timeline.steps[1].status) == (detail, status)


def test_a_notice_and_a_local_command_keep_all_their_words() -> None:
    command = Noted(topic="command", text="/context", detail="12k of 200k")
    notice = Noted(topic="notice", text="one\ntwo", detail="three")
    compaction = Compacted(summary="So far…", tokens_before=120_000, tokens_after=8_000)
    steps = timeline_of(command, notice, compaction).steps
    assert [(step.topic, step.title, step.detail, step.text) for step in steps] == [
        ("command", "/context", None, "12k of 200k"),
        ("notice", "one two", None, "one\ntwo\n\nthree"),
        ("compaction", "Shortened what it remembers of this chat", "From 120.0k to 8.0k tokens", "So far…"),
    ]


@pytest.mark.parametrize(
    ("title", "prompt", "expected"),
    [
        ("Rounding", "Fix it", "Rounding"),
        (None, "Fix the\nrounding", "Fix the rounding"),
        (
            None,
            "Please look at the invoice totals test which fails since Monday",
            "Please look at the invoice totals test which…",
        ),
        (" ", "", "Untitled chat"),
    ],
)
def test_the_title_of_a_chat(title: str | None, prompt: str, expected: str) -> None:
    assert (
        timeline_of(asked("c", text="<context>", injected="context"), asked("u", text=prompt), title=title).title
        == expected
    )


# --- turns


def test_a_prompt_opens_a_turn_and_an_injected_text_does_not() -> None:
    timeline = timeline_of(
        asked("c", 1, injected="context"),
        asked("u1", 2),
        asked("r", 3, injected="reminder"),
        Said(text="Yes", at=4),
        asked("u2", 5),
    )
    assert [step.turn for step in timeline.steps] == [0, 0, 0, 0, 1]
    assert [(turn.at, turn.ended, turn.settled) for turn in timeline.turns] == [(2, 4, True), (5, 5, False)]


@pytest.mark.parametrize(
    ("events", "at"),
    [
        ([Said(text="Hello", at=5), called("t", 9)], 5),
        ([Noted(topic="hook", text="x", at=2), Thought(text="Hm", at=5)], 2),
        ([Noted(topic="hook", text="x", at=2)], 2),
        ([called("t")], None),
    ],
)
def test_a_chat_in_which_nobody_asked_has_one_turn(events: list[Event], at: int | None) -> None:
    timeline = timeline_of(*events)
    assert [turn.at for turn in timeline.turns] == [at]
    assert {step.turn for step in timeline.steps} == {0}


def test_a_turn_without_a_record_of_its_end_ends_with_its_last_work() -> None:
    timeline = timeline_of(
        asked("u1", 1_000),
        Said(text="Done", at=4_000),
        Noted(topic="command", text="/model", at=900_000),
        asked("r", 900_001, injected="context"),
        asked("u2", 900_002),
    )
    assert [(turn.ended, turn.outcome) for turn in timeline.turns] == [(4_000, None), (900_002, None)]
    assert timeline.totals.duration == 3_000


def test_every_end_of_a_turn_counts() -> None:
    timeline = timeline_of(
        asked("u1", 1_000),
        Answered(
            id="1",
            outcome="error",
            problem="limit",
            usage=Usage(100, 10, 60),
            cost=Cost(0.01, "metered"),
            engine="one",
            model="a",
            at=2_000,
        ),
        Answered(id="2", outcome="success", usage=Usage(300, 30), cost=Cost(0.02, "metered"), engine="two", at=5_000),
    )
    turn = timeline.turns[0]
    assert (turn.outcome, turn.engine, turn.model, turn.ended) == ("success", "two", "a", 5_000)
    assert turn.usage == Usage(400, 40, 60)
    assert turn.cost == Cost(0.03, "metered")
    assert [step.id for step in timeline.steps] == ["asked:u1", "problem:1"]
    assert (timeline.totals.usage, timeline.totals.usd, timeline.totals.duration) == (Usage(400, 40, 60), 0.03, 4_000)


def test_waits_that_overlap_count_once_and_only_inside_the_turn() -> None:
    timeline = timeline_of(
        asked("u1", 0),
        Permission(id="a", title="a", at=1_000, answered=5_000, decision="allow"),
        Permission(id="b", title="b", at=2_000, answered=3_000, decision="allow"),
        Permission(id="c", title="c", question=True, at=4_000, answered=6_000, decision="answered"),
        Permission(id="d", title="d", at=9_000, answered=99_000, decision="expired"),
        Permission(id="e", title="e", at=9_500),
        Answered(outcome="success", at=10_000),
    )
    assert (timeline.turns[0].waiting, timeline.totals.waiting, timeline.totals.duration) == (6_000, 6_000, 10_000)


def test_unknown_times_stay_unknown() -> None:
    timeline = timeline_of(asked("u1"), Said(text="a"), called("t"), returned("t"), asked("u2"))
    assert [(step.at, step.duration) for step in timeline.steps] == [(None, None)] * 4
    assert (timeline.started, timeline.ended, timeline.totals.duration) == (None, None, None)
    assert (timeline.totals.usage, timeline.totals.usd) == (None, None)
    assert tallies(timeline)[-1] == "In all: 4 of 4 steps"


# --- tokens and money


def test_a_message_over_several_events_counts_once() -> None:
    messages = {"m1": Message("a", usage=Usage(100, 10, 40)), "m2": Message("b", usage=Usage(200, 20))}
    timeline = timeline_of(
        asked("u1", 1),
        Thought(text="Hm", message="m1", at=2),
        Said(text="So", message="m1", at=3),
        called("t1", 4, message="m1"),
        asked("u2", 5),
        Said(text="late words", message="m1", at=6),
        Said(text="Done", message="m2", at=7),
        messages=messages,
    )
    assert [turn.usage for turn in timeline.turns] == [Usage(100, 10, 40), Usage(200, 20)]
    assert [turn.model for turn in timeline.turns] == ["a", "b"]
    assert [(step.id, step.usage.output_tokens) for step in timeline.steps if step.usage] == [
        ("thought:m1:0", 10),
        ("said:m2:0", 20),
    ]
    assert timeline.totals.usage == Usage(300, 30, 40)


@pytest.mark.parametrize(
    ("by_turn", "by_message", "by_chat", "expected"),
    [
        (Usage(1, 2), Usage(10, 20), Usage(100, 200), Usage(1, 2)),
        (None, Usage(10, 20), Usage(100, 200), Usage(10, 20)),
        (None, None, Usage(100, 200), Usage(100, 200)),
        (None, None, None, None),
    ],
    ids=["turns", "messages", "the chat", "nothing"],
)
def test_the_finest_record_of_turns_comes_first(
    by_turn: Usage | None, by_message: Usage | None, by_chat: Usage | None, expected: Usage | None
) -> None:
    timeline = timeline_of(
        asked("u1", 1),
        Said(text="x", message="m1", at=2),
        Answered(usage=by_turn, at=3),
        messages={"m1": Message(usage=by_message)},
        usage=by_chat,
    )
    assert timeline.totals.usage == expected


@pytest.mark.parametrize(
    ("costs", "usd", "plan_turns"),
    [
        ([Cost(0.1, "metered"), Cost(0.2, "metered")], 0.3, 0),
        ([Cost(0.1, "metered"), Cost(5.0, "plan")], 0.1, 1),
        ([Cost(5.0, "plan"), Cost(6.0, "plan")], 0.0, 2),
        ([Cost(None, "free")], 0.0, 0),
        ([Cost(0.01)], 0.01, 0),
        ([Cost(None, "metered")], None, 0),
        ([None], None, 0),
    ],
)
def test_money_is_what_was_paid(costs: list[Cost | None], usd: float | None, plan_turns: int) -> None:
    events = [event for n, cost in enumerate(costs) for event in (asked(f"u{n}", n), Answered(cost=cost, at=n))]
    totals = timeline_of(*events).totals
    assert (totals.usd, totals.plan_turns) == (usd, plan_turns)


def test_an_estimate_says_so() -> None:
    cost = Cost(0.5, "metered", estimated_from="list prices of 2026-10")
    assert timeline_of(asked("u"), Answered(cost=cost)).totals.estimated is True
    assert timeline_of(asked("u"), Answered(cost=Cost(0.5, "metered"))).totals.estimated is False


# --- branches and forks


def test_an_abandoned_branch_is_marked_and_was_paid_for() -> None:
    timeline = timeline_of(
        asked("u1", 1_000),
        asked("x1", 2_000, branch="b"),
        Said(text="Rust!", message="m1", at=4_000, branch="b"),
        asked("u2", 9_000),
        Said(text="Done", message="m2", at=10_000),
        messages={"m1": Message(usage=Usage(1, 33)), "m2": Message(usage=Usage(1, 64))},
        branches={"b": Branch("b", Place("log", 26))},
    )
    assert [(step.id, step.branch, step.turn) for step in timeline.steps] == [
        ("asked:u1", None, 0),
        ("noted:branch:b", "b", 1),
        ("asked:x1", "b", 1),
        ("said:m1:0", "b", 1),
        ("asked:u2", None, 2),
        ("said:m2:0", None, 2),
    ]
    assert timeline.steps[1].place == Place("log", 26)
    assert timeline.totals.usage == Usage(2, 97)
    assert timeline.totals.duration == 3_000


def test_what_a_fork_inherited_is_shown_and_not_counted() -> None:
    usage = Usage(500, 50)
    timeline = timeline_of(
        asked("u0", 1_000, inherited=True),
        called("t0", 2_000, inherited=True, message="m0"),
        returned("t0", 3_000, ok=False, inherited=True),
        FilesChanged(id="f", files=[FileChange("a.py")], inherited=True),
        Said(text="On my own now", message="m1", at=9_000),
        called("t1", 9_500, message="m1"),
        returned("t1", 9_700),
        messages={"m0": Message(usage=usage), "m1": Message(usage=Usage(10, 5))},
    )
    assert [step.inherited for step in timeline.steps] == [True, True, True, False, False]
    assert [(turn.inherited, turn.usage) for turn in timeline.turns] == [(True, None), (False, Usage(10, 5))]
    totals = timeline.totals
    assert (totals.tools, totals.failed, totals.files, totals.usage) == (1, 0, 0, Usage(10, 5))
    assert (timeline.started, totals.duration) == (9_000, 700)


def test_a_call_names_the_subagent_that_it_started() -> None:
    subagent = Chat("agent-1", "a-reader", Agent("Helper"), started_by="t1")
    timeline = timeline_of(called("t0"), called("t1", name="Task"), subagents=[subagent])
    assert [step.subagent for step in timeline.steps] == [None, "agent-1"]


# --- whatever a log may hold

_times = st.one_of(st.none(), st.integers(-10, 10**13))
_ids = st.sampled_from(["a", "b", "a~2"])
_where = {"at": _times, "branch": st.sampled_from([None, None, "b"]), "inherited": st.booleans()}
_words = st.text(max_size=30)
_events = st.one_of(
    st.builds(Asked, id=_ids, text=_words, injected=st.sampled_from([None, "hook"]), **_where),
    st.builds(Said, text=_words, message=st.sampled_from([None, "m"]), **_where),
    st.builds(Thought, text=_words, encrypted=st.sampled_from([None, "x"]), **_where),
    st.builds(Called, id=_ids, name=_words, raw=st.one_of(st.none(), _words), **_where),
    st.builds(Returned, call=st.one_of(st.none(), _ids), ok=st.sampled_from([True, False, None]), **_where),
    st.builds(Permission, id=_ids, title=_words, question=st.booleans(), answered=_times, **_where),
    st.builds(FilesChanged, id=st.one_of(st.none(), _ids), call=st.one_of(st.none(), _ids), **_where),
    st.builds(Noted, topic=_ids, text=_words, **_where),
    st.builds(Answered, outcome=st.sampled_from([None, "success", "error"]), **_where),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(_events, max_size=25))
def test_any_log_has_a_timeline_with_all_its_steps(events: list[Event]) -> None:
    timeline = make_timeline(a_chat(*events, messages={"m": Message(usage=Usage(5, 7))}))
    count = {kind: sum(step.kind == kind for step in timeline.steps) for kind in KINDS}
    assert count["asked"] == sum(isinstance(event, Asked) for event in events)
    assert count["tool"] == sum(isinstance(event, Called) for event in events)
    assert count["approval"] == sum(isinstance(event, Permission) for event in events)
    assert len({step.id for step in timeline.steps}) == len(timeline.steps)
    assert all(0 <= step.turn < len(timeline.turns) for step in timeline.steps)
    assert (timeline.totals.duration or 0) >= timeline.totals.waiting >= 0
    positions = fold(timeline).positions
    assert all(one < other for one, other in pairwise(positions))
    assert len(tallies(timeline)) == len(timeline.steps)


@pytest.mark.parametrize(
    "late",
    [
        Noted(topic="hook", text="x", at=900_000),
        Compacted(summary="So far", at=900_000),
        asked("r", 900_000, injected="reminder"),
    ],
)
def test_what_the_harness_does_long_after_a_turn_does_not_make_it_longer(late: Event) -> None:
    timeline = timeline_of(asked("a", 0), Said(text="Hi", at=2_000), late)
    assert (timeline.totals.duration, timeline.turns[0].ended) == (2_000, 2_000)
