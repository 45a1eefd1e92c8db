"""Whether a value looks like a secret, or like a word, a placeholder, a path, a piece of code."""

from __future__ import annotations

import re
from math import log2

from trailbook.redaction.labels import KEY, PASSWORD
from trailbook.redaction.patterns import TOKEN

SHORTEST = 6
"""Characters. Shorter values are not looked for: they would shred texts."""

_SEPARATORS = re.compile(r"[^A-Za-z0-9]+")
_WORD = re.compile(
    r"(?:[A-Za-z]?[a-z]*|[A-Z]+|[a-z]+(?:[A-Z][a-z]+)+|(?:[A-Z][a-z]+)+|(?:[A-Z][a-z]+)*[A-Z]{2,5}(?:[A-Z][a-z]+)*)$"
)
_MOST_CONSONANTS = re.compile(r"(?i)[b-df-hj-np-tv-xz]{7}")
_NO_VOWEL = re.compile(r"[B-DF-HJ-NP-TV-XZ][b-df-hj-np-tv-xz]+(?=[A-Z]|$)")
_NUMBERED = re.compile(r"(?:[a-z]{1,5}\d{1,5}|\d{1,4}|[vV]\d+|\d{1,2}[a-z]{1,2})$")
_PLACEHOLDER = re.compile(
    r"(?i)(?:^|[^a-z])your|your[-_ ]|example|placeholder|change.?me|replace|insert|dummy|redacted|removed|"
    r"hidden|masked|censored|sample|"
    r"\bfake\b|\bmock|x{4}|\*{3}|\.{3}|…|•|<[^<>]*>|\{\{|\[[^\]]*\w-\w[^\]]*\]|\$\{|\$\(|\{[\w.$:-]*\}|%\(\w*\)s|^%s$|^%\w+%$|"
    r"^(?:none|null|nil|undefined|true|false|yes|no|on|off|string|str|number|int|bool|boolean|any|object|bytes|required|"
    r"optional|unknown|empty|secret|password|token|todo|tbd|n/a)$"
)
_ONE_CHARACTER = re.compile(r"(.)\1{2,}$", re.DOTALL)
_CODE_REFERENCE = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)+$")
_LABEL_INSIDE = re.compile(r"(?i)passw(?:or)?d|secret|token|api_?key|credential|passphrase|_key|Key")
_DIGEST = re.compile(r"(?i)(?:sha\d{1,3}|md5|blake2\w?|h1|10c0)[-:/=]")
_DATE_OR_VERSION = re.compile(r"v?\d{1,4}(?:[-.:/T_ Z+]\d{1,9})*Z?$")
_PATH = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:|/(?:[\w.@-]+(?=/)))?[/\\](?:[\w.@ -]+[/\\])*[\w.@ -]*$")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$-]*$")


def is_telling(value: str) -> bool:
    """Whether a known value can be looked for everywhere: 6 characters or more, no number, no plain word, no path."""
    stripped = value.strip()
    if len(stripped) < SHORTEST or (_PLACEHOLDER.search(stripped) and is_wordy(stripped)):
        return False
    if re.fullmatch(r"[\d.,:\s+-]+", stripped) or (re.fullmatch(r"[^\W\d_]+", stripped) and is_wordy(stripped)):
        return False
    return not is_path(stripped) and not re.fullmatch(r"\w+://[^\s@]*", stripped)


def is_path(value: str) -> bool:
    """Whether a value is a path whose parts are words or numbers."""
    return bool(_PATH.match(value)) and not (value.startswith("/") and not is_wordy(value))


def is_wordy(value: str) -> bool:
    """Whether a value is made of words, numbers and signs only: `users.id`, `your-api-key-here`, `camelCaseName2`."""
    return all(map(_is_word, _SEPARATORS.split(value)))


def _is_word(part: str) -> bool:
    """Whether letters and digits are a word, some words joined by capitals, or such with a short number."""
    if _NUMBERED.match(part):
        return True
    letters = part.rstrip("0123456789")
    if len(part) - len(letters) > 2 or not _WORD.match(letters) or _MOST_CONSONANTS.search(letters):
        return False
    # Letters drawn by chance: as many capitals as small ones, and syllables that nobody can say.
    capitals = sum(map(str.isupper, letters))
    return not (len(letters) >= 10 and 0.3 * len(letters) < capitals < len(letters) and _NO_VOWEL.search(letters))


def is_placeholder(value: str) -> bool:
    """Whether a value stands for one: `<your key>`, `xxxx`, `${TOKEN}`, `****`, or a token that redaction left."""
    return bool(
        TOKEN.search(value)
        or (value[:1] in ("$", "<", "[", "&", "*", "%") and not _has_three_classes(value))
        or _PLACEHOLDER.search(value)
        or _ONE_CHARACTER.match(value)
        or (re.match(r"\$\w", value) and not value.startswith(("$2a$", "$2b$", "$2y$")))
    )


def looks_random(value: str, shortest: int = 16) -> bool:
    """Whether a value looks drawn by chance: long enough, no words, and of a variety that words do not have."""
    if len(value) < shortest or is_placeholder(value) or is_wordy(value) or re.search(r"\s", value):
        return False
    return (
        _entropy(value[:200]) >= 2.5 and not _DATE_OR_VERSION.match(value) and "://" not in value and not is_path(value)
    )


def is_secret_value(value: str, sureness: int, *, quoted: bool, capital: bool) -> bool:
    """Whether what stands behind a secret's name is a secret, and no placeholder, type, path or piece of code.

    `sureness` is what `says_secret` gave for the name; `quoted` whether the value stands in quotes (code does not);
    `capital` whether it is set like an environment variable (`DB_PASSWORD=`), whose value may be any word.
    """
    if len(value) < 4 or _DIGEST.match(value) or "://" in value or is_placeholder(value):
        return False
    if _is_named_like_a_secret(value.rstrip("=:")) and value[-1] in "=:":
        return False
    if capital and sureness >= KEY and (sureness == PASSWORD or not _SPACE.search(value)):
        return not (
            _is_number(value) or is_path(value) or _CODE_REFERENCE.match(value) or _is_named_like_a_secret(value)
        )
    if not quoted and (_CODE_REFERENCE.match(value) or _is_named_like_a_secret(value)):
        return False
    if is_path(value) or _SPACE.search(value):
        return False
    if sureness == PASSWORD:
        return _is_password(value)
    return looks_random(value, 8 if sureness == KEY else 16)


_SPACE = re.compile(r"\s")


def _is_password(value: str) -> bool:
    if value.isdigit():
        return len(value) >= 6
    if len(value) < SHORTEST or _DATE_OR_VERSION.match(value) or _is_named_like_a_secret(value):
        return False
    letters = any(c.isalpha() for c in value)
    if any(c.isdigit() for c in value) and letters:
        return True
    return (letters and bool(re.search(r"[^\w\s.,:;/\\-]", value))) or not is_wordy(value)


def _is_named_like_a_secret(value: str) -> bool:
    """Whether a value is itself a name, such as `token2` or `newPassword`."""
    digits = sum(c.isdigit() for c in value)
    return bool(_IDENTIFIER.match(value)) and digits <= 2 and bool(_LABEL_INSIDE.search(value)) and is_wordy(value)


def _is_number(value: str) -> bool:
    return bool(re.fullmatch(r"-?[\d.,_]+", value)) or value.lower() in ("true", "false", "yes", "no", "none", "null")


def _has_three_classes(value: str) -> bool:
    return len(value) >= 8 and all(re.search(kind, value) for kind in ("[a-z]", "[A-Z]", r"\d"))


def _entropy(value: str) -> float:
    """Bits a character, of the characters' frequencies."""
    counts = [value.count(c) for c in set(value)]
    return -sum(count / len(value) * log2(count / len(value)) for count in counts)


_STAND_INS = re.compile(
    r"(?i)(?:user(?:name)?|pass(?:word|wd)?|pw|pwd|secret|token|key|api_?key|xxx+|login|foo|bar|\.+|…|\*+)$"
)


def is_stand_in(value: str) -> bool:
    """Whether a password is one only by name: `user:password@host`, `foo`."""
    return bool(_STAND_INS.match(value)) or is_placeholder(value)
