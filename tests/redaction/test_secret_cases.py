"""The corpus of lines from agents' logs: what goes, what stays."""

from __future__ import annotations

from collections import Counter

import pytest

from redaction.secret_cases import CASES, CONTEXT, KNOWN, Case
from trailbook.redaction.context import Context
from trailbook.redaction.replacing import redact_text
from trailbook.redaction.values import is_telling

PERSON = Context(
    secrets=tuple(value for value in KNOWN if is_telling(value)),
    **{field: tuple(values) for field, values in CONTEXT.items()},
)

# What was decided where both ways are right, by the text: the values that stay although they might go, and those that
# go although they might stay. The README lists them in words.
STAYS = {"06.12.34.56.78", "/home/bob", "m_Vp2xWq"}
GOES = {"4242 4242 4242 4242"}


def is_gone(value: str, text: str) -> bool:
    """At least nine tenths of the value's characters stand nowhere in the text (in runs of eight)."""
    if value in text:
        return False
    runs = [value[index : index + 8] for index in range(len(value) - 7)]
    return sum(run in text for run in runs) <= len(value) / 10


def missed(case: Case) -> list[tuple[str, str]]:
    after = redact_text(case.text, PERSON)
    return [(kind, value) for kind, value in case.must_go if not is_gone(value, after)]


def test_every_value_stands_in_its_line() -> None:
    for case in CASES:
        assert all(value in case.text for _, value in case.must_go), case
        assert all(value in case.text for value in case.must_stay), case
    assert len(CASES) == 300


def test_every_known_value_goes_in_every_spelling() -> None:
    left = [value for case in CASES if not case.policy for kind, value in missed(case) if kind == "known"]
    assert left == []


def test_at_least_95_of_100_other_values_go() -> None:
    plain = [case for case in CASES if not case.policy]
    total = Counter(kind for case in plain for kind, _ in case.must_go)
    left = Counter(kind for case in plain for kind, _ in missed(case))
    assert total["key"] >= 149
    for kind, count in total.items():
        assert left[kind] <= count * 0.05, (kind, [case.text for case in plain if missed(case)])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.theme)
def test_nothing_else_changes(case: Case) -> None:
    after = redact_text(case.text, PERSON)
    assert [value for value in case.must_stay if value not in after and value not in GOES] == []


def test_matters_of_taste_are_decided_as_written() -> None:
    policy = [case for case in CASES if case.policy]
    assert {value for case in policy for _, value in missed(case)} == STAYS
    changed = {value for case in policy for value in case.must_stay if value not in redact_text(case.text, PERSON)}
    assert changed == GOES


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.theme)
def test_a_second_run_changes_nothing(case: Case) -> None:
    once = redact_text(case.text, PERSON)
    assert redact_text(once, PERSON) == once
