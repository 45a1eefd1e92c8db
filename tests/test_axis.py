"""The folded axis and the tally that goes along it."""

from __future__ import annotations

from trailbook.axis import fold, tallies, tally
from trailbook.chat import Cost, Usage
from trailbook.timeline import Step, Timeline, Totals, Turn


def step(at: int | None, duration: int | None = None, turn: int = 0, **more: object) -> Step:
    return Step(f"said:{at}", "said", turn, "x", at, duration, **more)  # type: ignore[arg-type]


def a_timeline(steps: list[Step], turns: list[Turn], totals: Totals) -> Timeline:
    return Timeline("c", "C", "chat", 0, 0, steps, turns, totals)


def fold_of(*steps: Step) -> tuple[list[int], dict[int, int], int]:
    axis = fold(a_timeline(list(steps), [], Totals()))
    return [round(position * axis.total) for position in axis.positions], axis.breaks, axis.total


def test_gaps_and_durations_are_folded_to_twenty_seconds() -> None:
    places, breaks, total = fold_of(
        step(0),
        step(5_000, 3_000),
        step(8_000 + 1_800_000),
        step(1_810_000, 3_600_000),
        step(5_420_000, 90_000),
    )
    # 5 s gap · 3 s + 20 s of half an hour · 2 s gap · 20 s of an hour + 10 s gap · 20 s of the last step's 90
    assert places == [0, 5_000, 28_000, 30_000, 60_000]
    assert total == 80_000
    assert breaks == {2: 1_800_000}


def test_a_gap_of_exactly_twenty_seconds_is_no_break() -> None:
    assert fold_of(step(0), step(20_000), step(40_001))[1] == {2: 20_001}


def test_every_step_has_room_of_its_own() -> None:
    places, breaks, total = fold_of(step(5_000), step(5_000), step(1_000), step(None), step(1_100))
    assert places == [0, 600, 1_200, 1_800, 2_400]
    assert (breaks, total) == ({}, 2_400)


def test_an_empty_timeline_and_one_step() -> None:
    assert fold_of() == ([], {}, 0)
    assert fold_of(step(5_000)) == ([0], {}, 0)
    assert tallies(a_timeline([], [], Totals())) == []


def test_the_tally_counts_a_turn_when_it_has_ended() -> None:
    turns = [
        Turn(0, 0, 60_000, usage=Usage(4_000, 100), cost=Cost(0.02, "metered")),
        Turn(1, 600_000, 672_500, usage=Usage(40_000, 2_000), cost=Cost(9.0, "plan")),
        Turn(2, 700_000, 710_000, usage=Usage(100, 20), cost=Cost(0.001, "metered")),
    ]
    steps = [step(0), step(1_000, 4_000), step(600_000, turn=1), step(602_500, 70_000, 1), step(700_000, turn=2)]
    totals = Totals(142_500, usage=Usage(44_100, 2_120), usd=0.021)
    assert tallies(a_timeline(steps, turns, totals)) == [
        "By here: 0s · 1 of 5 steps",
        "By here: 5.0s · 2 of 5 steps",
        "By here: 1m 00s · 3 of 5 steps · 4.1k tokens · $0.02",
        "By here: 2m 13s · 4 of 5 steps · 46.1k tokens · $0.02",
        "In all: 2m 23s · 5 of 5 steps · 46.2k tokens · $0.02",
    ]
    assert tally(a_timeline(steps, turns, totals), 2) == "By here: 1m 00s · 3 of 5 steps · 4.1k tokens · $0.02"


def test_the_tally_counts_a_message_when_it_begins() -> None:
    turns = [Turn(0, 0, 9_000, usage=Usage(3_000, 60), cost=Cost(0.3))]
    steps = [
        step(0),
        step(1_000, usage=Usage(1_000, 10), cost=Cost(0.1)),
        step(2_000),
        step(9_000, usage=Usage(2_000, 50), cost=Cost(0.2)),
        step(9_000),
    ]
    assert tallies(a_timeline(steps, turns, Totals(9_000, usage=Usage(3_000, 60), usd=0.3))) == [
        "By here: 0s · 1 of 5 steps",
        "By here: 1.0s · 2 of 5 steps · 1.0k tokens · $0.10",
        "By here: 2.0s · 3 of 5 steps · 1.0k tokens · $0.10",
        "By here: 9.0s · 4 of 5 steps · 3.1k tokens · $0.30",
        "In all: 9.0s · 5 of 5 steps · 3.1k tokens · $0.30",
    ]


def test_the_tally_never_falls_and_leaves_out_what_is_inherited() -> None:
    turns = [Turn(0, 0, 5_000, inherited=True), Turn(1, 10_000, 20_000)]
    steps = [step(0, 5_000), step(10_000, 9_000, 1), step(12_000, turn=1), step(None, turn=1), step(20_000, turn=1)]
    lines = tallies(a_timeline(steps, turns, Totals(10_000)))
    assert [line.split(" · ")[0] for line in lines] == [
        "By here: 0s",
        "By here: 9.0s",
        "By here: 9.0s",
        "By here: 9.0s",
        "In all: 10s",
    ]
