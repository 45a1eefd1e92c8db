"""Line diffs: right, shortest where that is cheap, bounded always."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trailbook import diffs


def numbered(prefix: str, count: int) -> str:
    return "\n".join(f"{prefix}{number}" for number in range(count))


def both_sides(diff: str) -> tuple[list[str], list[str]]:
    lines = diff.split("\n") if diff else []
    return [line[1:] for line in lines if line[0] != "+"], [line[1:] for line in lines if line[0] != "-"]


@pytest.mark.parametrize(
    ("old", "new", "diff"),
    [
        ("a", "b", "-a\n+b"),
        ("a\nb\nc", "a\nB\nc", " a\n-b\n+B\n c"),
        ("", "a\nb", "+a\n+b"),
        ("a\nb", "", "-a\n-b"),
        ("a\n", "a\nb\n", " a\n+b"),
        ("a\n", "a", " a\n-"),
        ("a\r\nb", "a\nb", "-a\r\n+a\n b"),
        ("same", "same", ""),
        ("", "", ""),
        ("a\nx\nb\ny\nc", "a\nb\nc", " a\n-x\n b\n-y\n c"),
        ("f(1)\nf(2)", "f(1)\nf(3)\nf(2)", " f(1)\n+f(3)\n f(2)"),
    ],
)
def test_line_diffs(old: str, new: str, diff: str) -> None:
    assert diffs.line_diff(old, new) == diff


def test_unchanged_lines_far_from_a_change_are_left_out() -> None:
    old = "\n".join("abcdefghijklmnop")
    new = old.replace("b", "B").replace("o", "O")
    assert diffs.line_diff(old, new) == " a\n-b\n+B\n c\n d\n e\n@@ … @@\n l\n m\n n\n-o\n+O\n p"


_texts = st.lists(st.sampled_from(["a", "b", "c", "d", "", "e f"]), max_size=12).map("\n".join)


@settings(max_examples=300, deadline=None)
@given(_texts, _texts)
def test_the_most_lines_stay(old: str, new: str) -> None:
    before, after = old.split("\n"), new.split("\n")
    kept = diffs._kept(before, after)
    assert [before[one] for one, _ in kept] == [after[other] for _, other in kept]
    assert kept == sorted(set(kept))
    longest = [[0] * (len(after) + 1) for _ in range(len(before) + 1)]
    for i, one in enumerate(before):
        for j, other in enumerate(after):
            longest[i + 1][j + 1] = longest[i][j] + 1 if one == other else max(longest[i][j + 1], longest[i + 1][j])
    assert len(kept) == longest[-1][-1]


@pytest.mark.parametrize(
    ("old", "new", "most"),
    [
        (numbered("a", 1_600), numbered("b", 1_600), 1_600),
        (numbered("a", 30_000), numbered("a", 30_000) + "\nlast", 1),
        (numbered("a", 5_000), "\n".join(reversed(numbered("a", 5_000).split("\n"))), 4_999),
        ("\n".join(random.Random(1).choices("ab", k=5_000)), "\n".join(random.Random(2).choices("ab", k=5_000)), 5_000),
    ],
    ids=["dissimilar", "one line of many", "reversed", "few kinds of lines"],
)
def test_hostile_edits_still_give_a_diff_of_everything(old: str, new: str, most: int) -> None:
    diff = diffs.line_diff(old, new)
    plus, minus = diffs.changed_lines(diff)
    assert max(plus, minus) <= most
    assert plus - minus == len(new.split("\n")) - len(old.split("\n"))
    if diffs.GAP not in diff and max(plus, minus) > 1:
        assert both_sides(diff) == (old.split("\n"), new.split("\n"))


def test_the_work_is_bounded_by_lines_not_by_their_square(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0
    real = diffs._goes_down

    def counting(*arguments: object) -> bool:
        nonlocal looks
        looks += 1
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(diffs, "_goes_down", counting)
    diffs.line_diff("\n".join("ab" * 20_000), "\n".join("ba" * 10_000 + "aabb" * 5_000))
    assert looks <= (diffs.MOST_EDITS + 1) * (diffs.MOST_EDITS + 2) // 2 + diffs.MOST_EDITS


@pytest.mark.parametrize(
    ("name", "arguments", "raw", "diff"),
    [
        ("Edit", {"old_string": "a", "new_string": "b"}, None, "-a\n+b"),
        ("edit", {"oldString": "a", "newString": "b"}, None, "-a\n+b"),
        ("str_replace_editor", {"command": "str_replace", "old_str": "a", "new_str": "b"}, None, "-a\n+b"),
        ("str_replace_editor", {"command": "insert", "new_str": "b\n", "insert_line": 3}, None, "+b"),
        ("str_replace_editor", {"command": "create", "file_text": "a\nb"}, None, "+a\n+b"),
        (
            "MultiEdit",
            {"edits": [{"old_string": "a", "new_string": "b"}, None, {"old_string": "c", "new_string": ""}]},
            None,
            "-a\n+b\n@@ … @@\n-c",
        ),
        ("Write", {"content": "a\nb\n"}, None, "+a\n+b"),
        ("save", {"content": "a"}, None, "+a"),
        (
            "apply_patch",
            {},
            "*** Begin Patch\n*** Update File: a.py\n@@ def f\n-x\n+y\n*** Add File: b.py\n+z\n*** End Patch\n",
            "--- a.py\n+++ a.py\n@@ def f\n-x\n+y\n--- /dev/null\n+++ b.py\n+z",
        ),
        ("patch", {"patch": "<<<<<<< ORIGINAL\na\nb\n=======\na\nc\n>>>>>>> UPDATED"}, None, " a\n-b\n+c"),
        ("patch", {"diff": "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n"}, None, "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y"),
        (
            "shell",
            {"command": ["apply_patch", "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch"]},
            None,
            "--- a.py\n+++ a.py\n@@ … @@\n-x\n+y",
        ),
        ("Bash", {"command": "ls", "content": "x"}, None, None),
        ("Edit", {"old_string": 1, "new_string": None}, None, None),
        ("Edit", {"old_string": "a", "new_string": "a"}, None, None),
        ("patch", {"patch": "<<<<<<< no end"}, None, None),
        ("Read", {}, None, None),
    ],
)
def test_what_a_call_set_out_to_change(
    name: str, arguments: dict[str, object], raw: str | None, diff: str | None
) -> None:
    assert diffs.of_call(name, arguments, raw) == diff  # type: ignore[arg-type]


def test_counting_leaves_the_heads_of_files_out() -> None:
    assert diffs.changed_lines("--- a\n+++ b\n@@ -1,2 +1,2 @@\n x\n--- y\n-z\n+++ y\n+w\n+v") == (3, 2)
    assert diffs.changed_lines("-- \n-- a\n++ b") == (1, 2)
