"""What holds for any text: a second run changes nothing, shapes stay, hostile repeats come to an end."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redaction.hostile import REPEATS, repeated
from redaction.known_person import KEY, MIRA, OPAQUE, SECRET
from trailbook.chat import JSON
from trailbook.redaction.context import Context
from trailbook.redaction.replacing import redact_json, redact_text

NUMBERED = Context(names=MIRA.names, secrets=MIRA.secrets, homes=MIRA.homes, logins=MIRA.logins, number=True)
PIECES = [
    *(
        "password",
        "token",
        "API_KEY",
        "key",
        "value",
        "is ",
        "=",
        ":",
        " ",
        '"',
        "'",
        '\\"',
        "\\n",
        "\n",
        "|",
        ">",
        "{",
        "}",
        ".",
    ),
    *(
        KEY,
        OPAQUE,
        SECRET,
        "hunter22",
        "Xk7pQ2!vw",
        "[key]",
        "[email]",
        "[name 2]",
        "~",
        "@",
        "corp.io",
        "kate",
        "mira@",
    ),
    *(
        "://",
        "curl -u ",
        "Bearer ",
        "Authorization: ",
        "Cookie: sid=",
        "?code=",
        "--token ",
        "tel ",
        "eyJhbGciOiJIUzI1",
    ),
    *(
        "4111111111111111",
        "51.15.42.17",
        "+14155552671",
        "415-555-2671",
        "/home/mira",
        "/x",
        "-home-mira-",
        "Mira",
        "Okafor",
    ),
    *(
        "李小龍",
        "é",
        "\x1b[32m",
        "\u200b",
        "data:text/plain;base64,aHVudGVyMjI=",
        "%40",
        "%2F",
        "kind: Secret\ndata:\n  x: ",
    ),
    *("QUJDREVGRzEyMw==", "-----BEGIN PRIVATE KEY-----", "MIIEvQIBADANBgkqhkiG9w0BAQ", "-----END PRIVATE KEY-----"),
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=12).map("".join)
KEYS = st.sampled_from(["password", "api_key", "name", "value", "key"]) | TEXTS
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(VALUES, st.sampled_from([MIRA, NUMBERED]))
def test_a_second_run_changes_nothing(value: JSON, context: Context) -> None:
    once, _ = redact_json(value, context)
    twice, removed = redact_json(once, context)
    assert twice == once
    assert not removed


def shape(value: JSON) -> object:
    if isinstance(value, dict):
        return [shape(item) for item in value.values()]
    if isinstance(value, list):
        return tuple(shape(item) for item in value)
    return type(value) if isinstance(value, str) else value


@settings(max_examples=200, deadline=None)
@given(VALUES)
def test_nothing_but_texts_changes(value: JSON) -> None:
    after, removed = redact_json(value, MIRA)
    assert shape(after) == shape(value)
    assert (after is value) == (not removed)


@settings(max_examples=200, deadline=None)
@given(TEXTS, TEXTS)
def test_a_known_secret_goes_wherever_it_stands(before: str, after: str) -> None:
    assert SECRET not in redact_text(f"{before}{SECRET}{after}", MIRA)


@pytest.mark.parametrize("name", REPEATS)
def test_hostile_repeats_come_to_an_end(name: str) -> None:
    text = repeated(name, 20_000)
    assert redact_text(redact_text(text, MIRA), MIRA) == redact_text(text, MIRA)
