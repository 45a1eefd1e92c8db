"""No known or learned secret in what is about to be kept, nor in its name."""

from __future__ import annotations

import base64
import html
import json
import pickle

import pytest

from redaction.known_person import KEY, MIRA, OPAQUE, SECRET
from trailbook.redaction.replacing import redact_json, redact_text
from trailbook.redaction.verifying import secrets_of, verify

_, REMOVED = redact_json(f"API_TOKEN={OPAQUE} {KEY}", MIRA)
SECRETS = secrets_of(MIRA, REMOVED)


@pytest.mark.parametrize(
    "data",
    [
        SECRET,
        html.escape(SECRET),
        html.escape(html.escape(SECRET)),
        "".join(f"&#{ord(character)};" for character in SECRET),
        json.dumps(SECRET),
        json.dumps(json.dumps(SECRET)),
        "".join(f"\\u{ord(character):04x}" for character in SECRET),
        SECRET.replace("&", "\\u0026"),
        base64.b64encode(f"x{SECRET}".encode()).decode(),
        SECRET.encode().hex(),
    ],
)
def test_a_known_secret_is_seen_in_any_spelling(data: str) -> None:
    assert verify(f"<p>before {data} after</p>".encode(), "report.html", SECRETS) == {"password": 1}


def test_learned_keys_are_seen() -> None:
    assert verify(f"{KEY} {OPAQUE} {OPAQUE} {SECRET}".encode(), "x.html", SECRETS) == {"password": 1, "key": 2}


def test_the_name_counts() -> None:
    assert verify(b"nothing", f"Claude - {OPAQUE}.html", SECRETS) == {"key": 1}
    assert verify(b"nothing", "Claude - hunter22.html", SECRETS) == {"password": 1}


@pytest.mark.parametrize("data", [b"", b"hunter22x xhunter22", b"\xff\xfe\x00", "Zk81Pq47 & é \\u00e9 \\".encode()])
def test_nothing_is_seen_where_nothing_is(data: bytes) -> None:
    assert verify(data, "report.html", SECRETS) == {}


def test_what_was_redacted_passes() -> None:
    text = f"API_TOKEN={OPAQUE} {KEY} {SECRET} {json.dumps(SECRET)}"
    assert verify(redact_text(text, MIRA).encode(), "x", SECRETS) == {}


def test_secrets_show_nothing_and_survive_a_worker() -> None:
    assert OPAQUE not in repr(SECRETS)
    assert SECRET not in repr(SECRETS)
    assert pickle.loads(pickle.dumps(SECRETS)) == SECRETS
