"""The preview: what came out by kind in words, and the places as they read afterwards."""

from __future__ import annotations

import pickle

import pytest

from redaction.known_person import KEY, MIRA, OPAQUE, SECRET
from trailbook.chat import Agent, Chat, Said
from trailbook.redaction.removed import Removed, example_of
from trailbook.redaction.replacing import redact


def removed_from(*texts: str, **fields: object) -> Removed:
    events = [Said(text=text) for text in texts]
    return redact(Chat(id="c", source="test", agent=Agent(), events=list(events), **fields), MIRA)[1]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        (["all is well"], "nothing"),
        (["Mira Okafor"], "a name"),
        (["Mira Okafor and 李小龍"], "2 names"),
        ([SECRET], "1 saved password"),
        ([f"{KEY} a@corp.io"], "1 key or token and 1 email address"),
        (
            [f"{KEY} and {OPAQUE}", f"API_KEY={OPAQUE}", "a@corp.io Mira Okafor"],
            "2 keys and tokens, 1 email address and a name",
        ),
        (["call +1 415 555 2671", "51.15.42.17 82.64.12.7"], "1 phone number and 2 network addresses"),
        (["/home/mira/x", "4111111111111111"], "1 home folder and 1 card number"),
    ],
)
def test_in_words(texts: list[str], sentence: str) -> None:
    assert removed_from(*texts).sentence() == sentence


@pytest.mark.parametrize(
    ("texts", "counts"),
    [
        # One thing in many places and spellings is one thing.
        ([KEY, f"x {KEY}", f"token={KEY}"], {"key": 1}),
        ([SECRET, "tr0ub4dor%263-horse%22battery", "dHIwdWI0ZG9yJjMtaG9yc2UiYmF0dGVyeQ=="], {"password": 1}),
        ([f"password={SECRET}"], {"password": 1}),
        (["a@corp.io A@CORP.IO a%40corp.io"], {"email": 1}),
        (["/home/mira /home/mira/x -home-mira-y %2Fhome%2Fmira"], {"home": 1}),
        (["Mira Okafor, MIRA OKAFOR, Mira, mira-okafor"], {"name": 1}),
        (["4111111111111111 4111 1111 1111 1111"], {"card": 1}),
        (["+1 415 555 2671, (415) 555-2671"], {"phone": 1}),
    ],
)
def test_each_thing_counts_once(texts: list[str], counts: dict[str, int]) -> None:
    assert removed_from(*texts).counts == counts


def test_kinds_stand_in_the_order_in_which_they_were_found() -> None:
    assert list(removed_from("Mira Okafor", KEY, "a@corp.io").counts) == ["name", "key", "email"]


def test_places_read_as_they_do_afterwards() -> None:
    removed = removed_from(
        f"export OPENAI_API_KEY={KEY}\nnext",
        f"and again {KEY}",
        f"and again {KEY}",
        "a word " * 20 + KEY + " and more" * 20,
        f"a fourth place {KEY}",
    )
    assert removed.examples == {
        "key": [
            "export OPENAI_API_KEY=[key] next",
            "and again [key]",
            "…word a word a word a word a word a word [key] and more and more and more and more and…",
        ]
    }


def test_places_stand_under_their_own_kind() -> None:
    removed = removed_from(f"{KEY} of a@corp.io in /home/mira/x")
    line = "[key] of [email] in ~/x"
    assert removed.examples == {"key": [line], "email": [line], "home": [line]}


def test_an_example_is_one_short_line() -> None:
    text = "a\n\n  b\t[key]" + " c" * 100
    assert example_of(text, 7, 12) == "a b [key]" + " c" * 20 + "…"
    assert len(example_of("[key]" + "x" * 1000, 0, 5)) <= 160


def test_the_value_is_nowhere_in_it() -> None:
    removed = removed_from(f"API_KEY={OPAQUE} {SECRET} a@corp.io Mira Okafor +1 415 555 2671")
    shown = f"{removed!r} {removed.examples} {removed.counts} {removed.sentence()}"
    for value in (OPAQUE, SECRET, "corp.io", "Okafor", "2671"):
        assert value not in shown


def test_the_same_thing_in_two_chats_counts_once() -> None:
    one, other = removed_from(KEY, "a@corp.io"), removed_from(f"again {KEY}", "b@corp.io", "Mira Okafor")
    total = one + other
    assert total.counts == {"key": 1, "email": 2, "name": 1}
    assert total.examples["key"] == ["[key]", "again [key]"]
    assert total.learned == one.learned | other.learned
    assert one.counts == {"key": 1, "email": 1}
    assert sum([one, other], Removed()) == total


def test_it_survives_a_worker() -> None:
    removed = removed_from(KEY)
    assert pickle.loads(pickle.dumps(removed)) == removed
