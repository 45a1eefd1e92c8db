"""Known secrets of any characters, in every encoding that tools print."""

from __future__ import annotations

import base64
import html
import json
import random
import shlex
import string
import unicodedata
import urllib.parse
from collections.abc import Callable

import pytest

from redaction.known_person import MIRA, SECRET
from trailbook.redaction.context import Context
from trailbook.redaction.replacing import redact_text

CHANCE = random.Random(7)
CHARACTERS = string.ascii_letters + string.digits + string.punctuation + " éß日"
DRAWN = ["".join(CHANCE.choices(CHARACTERS, k=length)).strip() for length in (9, 13, 16, 24, 40) * 6]


def in_base64(before: bytes, alphabet: Callable[[bytes], bytes]) -> Callable[[str], str]:
    return lambda secret: alphabet(before + secret.encode() + b"tail").decode()


ENCODINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "percent": lambda secret: urllib.parse.quote(secret, safe=""),
    "percent as browsers do": lambda secret: urllib.parse.quote(secret, safe="!'()*-._~"),
    "plus": urllib.parse.quote_plus,
    "percent twice": lambda secret: urllib.parse.quote(urllib.parse.quote(secret, safe=""), safe=""),
    "JSON": json.dumps,
    "JSON in Unicode": lambda secret: json.dumps(secret, ensure_ascii=False),
    "JSON twice": lambda secret: json.dumps(json.dumps(secret)),
    "JSON in Unicode twice": lambda secret: json.dumps(json.dumps(secret, ensure_ascii=False), ensure_ascii=False),
    "JSON thrice": lambda secret: json.dumps(json.dumps(json.dumps(secret))),
    "JSON with escaped slashes": lambda secret: json.dumps(secret).replace("/", "\\/"),
    "JSON for HTML": lambda secret: (
        json.dumps(secret).replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    ),
    "HTML": html.escape,
    "HTML with numbers": lambda secret: html.escape(secret).replace("&#x27;", "&#39;").replace("&quot;", "&#34;"),
    "HTML in text": lambda secret: html.escape(secret, quote=False),
    "shell": shlex.quote,
    "Python": repr,
    "hex": lambda secret: secret.encode().hex(),
    "HEX": lambda secret: secret.encode().hex().upper(),
    "base64": in_base64(b"", base64.b64encode),
    "base64 behind one byte": in_base64(b"x", base64.b64encode),
    "base64 behind two bytes": in_base64(b"xy", base64.b64encode),
    "base64 of addresses": in_base64(b"x", base64.urlsafe_b64encode),
    "base64 of UTF-16": lambda secret: base64.b64encode(secret.encode("utf-16-le")).decode(),
    "composed": lambda secret: unicodedata.normalize("NFC", secret),
    "decomposed": lambda secret: unicodedata.normalize("NFD", secret),
}
AROUND = [(" ", " "), ('"', '"'), ("=", "&"), ("\\n", "\\n"), ("x:", "."), (">", "<")]


@pytest.mark.parametrize("name", ENCODINGS)
def test_a_secret_goes_in_this_encoding(name: str) -> None:
    for secret in DRAWN:
        person = Context(secrets=(secret,))
        encoded = ENCODINGS[name](secret)
        for before, after in AROUND:
            text = f"{before}{encoded}{after}"
            redacted = redact_text(text, person)
            assert "[password]" in redacted, text
            assert len(redacted) - len("[password]") <= max(len(text) - len(secret), len(text) * 0.7), (text, redacted)


@pytest.mark.parametrize("secret", ["hunter22", "a1b2c3d4e5f"])
def test_a_short_secret_is_no_part_of_a_word(secret: str) -> None:
    person = Context(secrets=(secret,))
    assert redact_text(f"{secret}, ({secret})", person) == "[password], ([password])"
    quiet = f"x{secret} {secret}x _{secret} é{secret} {secret}日"
    assert redact_text(quiet, person) == quiet


def test_colour_codes_and_spaces_of_no_width_hide_nothing() -> None:
    for code in ("\x1b[31m", "\x1b[0;1;38;5;12m", "\\u001b[0m", "\\x1b[1m", "\\033[32m", "\u200b", "\ufeff", "\u00ad"):
        for cut in (1, 9, len(SECRET) - 1):
            text = f"a {SECRET[:cut]}{code}{SECRET[cut:]} b"
            assert redact_text(text, MIRA) == "a [password] b"


def test_two_secrets_that_overlap_go_both() -> None:
    person = Context(secrets=("abcdefgh1234", "1234stuvwxyz"))
    assert redact_text("x abcdefgh1234stuvwxyz y", person) == "x [password] y"
