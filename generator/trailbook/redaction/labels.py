"""Whether a name says that its value is a secret: `OPENAI_API_KEY`, `x-auth-token`, `dbPassword`, `clientSecret`."""

from __future__ import annotations

import re
from functools import lru_cache

from trailbook.redaction.patterns import TOKEN

PASSWORD, KEY, WEAK = 3, 2, 1
"""How sure a name is: a password may be a short word with a digit; a key has to look random; a weak name (`auth`,
`sig`, `MAP_KEY`) has to have a long random value."""

_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")

_TAIL = (
    r"(?:_(?:base|prod|production|dev|development|test|testing|staging|stage|live|old|new|data|value|val|raw|b64|base|"
    r"string|str|text|plain|plaintext|primary|secondary|main|default|local|ci|v|\d{1,3}))*$"
)
_PASSWORDS = re.compile(
    r"(?:password|passwd|passphrase|passcode|passwort|kennwort|pwd"
    r"|(?:^|_)(?:db|user|smtp|mail|email|mysql|pg|postgres|redis|admin|root|ftp|ssh|sudo|my|http|proxy|auth|login|imap|wifi|"
    r"rabbitmq|mongo|elastic|vnc|ldap|api|app)_?(?:pass|pw))" + _TAIL
)
_KEYS = re.compile(
    r"(?:^pass$|secret|token|apikey|api_?key|jwt|credentials?|authorization|connection_string"
    r"|(?:^|_)(?:access|secret|private|account|shared|auth|encryption|signing|master|license|deploy|storage|subscription|"
    r"consumer|service|webhook|hmac|jwt|ssh|client|admin|app|application|root|vault|crypt|cipher|encrypt|integration|"
    r"write|project|bot|rest|ingest|security|shared_access|access_control|host)_?key)" + _TAIL
)
_WEAK = re.compile(
    r"(?:^|_)(?:auth|sig|pass|pw|bearer|sas|shared_access_signature|amz_signature|goog_signature)" + _TAIL
)
_NOT_SECRET = re.compile(
    r"(?:^|_)(?:page|next|continuation|sync|prev|previous|stop|eos|bos|pad|unk|mask|cls|sep|special|start|end|max|min|num|"
    r"total|input|output|prompt|completion|cached|reasoning|first|last|each|every|per|cur|current|lookahead|peek|no|any|"
    r"is|has|use|public|design|syntax|image|text|sub|word|string_literal|expected|unexpected|invalid|missing)_?token$"
    r"|(?:^|_)(?:show|hide|forgot|reset|change|confirm|check|verify|hash|is|has|use|no|invalid|wrong|missing|require|"
    r"requires)_?(?:password|passwd|secret)$"
)


@lru_cache(maxsize=20_000)
def says_secret(name: str) -> int:
    """`PASSWORD`, `KEY` or `WEAK` for a name whose value is a secret, 0 for any other."""
    if "[" in name and TOKEN.search(name):
        return 0  # what redaction left is no name
    words = "_".join(part.lower() for part in _PARTS.findall(name[-80:]))
    if _NOT_SECRET.search(words):
        return 0
    if _PASSWORDS.search(words):
        return PASSWORD
    if _KEYS.search(words):
        return KEY
    if _WEAK.search(words) or (name.isupper() and words.endswith("_key") and not _PUBLIC_KEY.search(words)):
        return WEAK
    return 0


_PUBLIC_KEY = re.compile(
    r"(?:^|_)(?:public|primary|foreign|sort|partition|cache|hot|short_?cut|map|object|unique)_key$"
)
