"""Secrets that tell by where they stand: headers, addresses with a sign-in, command lines, manifests."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import re2

from trailbook.redaction.commands import given_password, glued_password, login_option, option, setting, sql_password
from trailbook.redaction.finding import Finding
from trailbook.redaction.headers import authorization, basic, bearer, cookie
from trailbook.redaction.manifests import manifest
from trailbook.redaction.patterns import BYTES
from trailbook.redaction.sign_ins import parameter, sign_in, webhook

_IS = r"\\{0,4}[\"']?[ \t]{0,4}[:=,][ \t]{0,4}\\{0,4}[\"']?"
_ARGUMENTS = r"[ \t\"',](?:[^\n;|]{0,200}?[ \t\"'])??"
_NEXT = r"(?:[ \t]{1,4}|=|[\"'],[ \t]?)"

_SITUATIONS: tuple[tuple[str, Callable[[bytes, int, int], Iterator[Finding]]], ...] = (
    (r"\bbearer(?:[ \t]{1,4}|%20|\+)", bearer),
    (r"\bbasic[ \t]{1,4}", basic),
    (rf"(?:proxy-)?authorization{_IS}", authorization),
    (rf"(?:set-)?cookie2?{_IS}", cookie),
    (r":\\{0,4}/\\{0,4}/[^\s/@\"'<>`\\]+@", sign_in),
    (rf"\b(?:curl|wget|https?|svn|lftp)(?:\.exe)?{_ARGUMENTS}(?:-u|--user|-U|--proxy-user){_NEXT}", login_option),
    (rf"\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump){_ARGUMENTS}-p", glued_password),
    (r"\bsshpass[ \t]{1,4}-p[ \t]{0,4}", given_password),
    (
        r"\b(?:redis-cli|(?:docker|podman|helm|nerdctl|oras|crane)[ \t]{1,4}(?:registry[ \t]{1,4})?login|7z|unzip|zip)"
        rf"{_ARGUMENTS}(?:-p|-a|--pass|--password){_NEXT}",
        given_password,
    ),
    (r"[ \t]?-pass(?:in|out)?[ \t]{1,4}pass:", given_password),
    (
        r"(?:^|[ \t\"'\x60\[,(\n])--?[a-z-]{0,24}"
        r"(?:password|passwd|passphrase|pass|pwd|token|secret|api-?key|access-?key|auth|key)"
        rf"{_NEXT}",
        option,
    ),
    (
        r"\b(?:setx|setenv|(?:configure|config|secrets?|env)[ \t]{1,4}(?:set|put|add))[ \t]{1,4}"
        r"(?:--?[a-z]+[ \t]{1,4})?[a-z]",
        setting,
    ),
    (r"\b(?:login|user|account)[ \t]{1,4}\S{1,80}\s{1,8}password[ \t]{1,4}", given_password),
    (r"\bidentified[ \t]{1,4}by[ \t]{1,4}|\bwith[ \t]{1,4}password[ \t]{1,4}|\bpassword[ \t]{1,4}'", sql_password),
    (r"hooks\.slack\.com\\?/(?:services|workflows|triggers)\\?/", webhook),
    (r"discord(?:app)?\.com\\?/api\\?/webhooks\\?/\d{5,20}\\?/", webhook),
    (r"webhook\.office\.com\\?/webhookb2\\?/|hooks\.zapier\.com\\?/hooks\\?/catch\\?/", webhook),
    (r"[?&](?:code|key|sig|hapikey|hash|s|st|auth|signature|x-amz-signature|x-goog-signature)=", parameter),
    (r"\bkind\\{0,4}[\"']?:[ \t]{0,4}\\{0,4}[\"']?secret\b", manifest),
)

SITUATION = re2.compile(f"(?i){'|'.join(f'({pattern})' for pattern, _ in _SITUATIONS)}".encode(), BYTES)
"""One group for each situation."""


def find_situations(data: bytes) -> Iterator[Finding]:
    """Secrets by where they stand. What is around them stays."""
    position = 0
    while found := SITUATION.search(data, position):
        group = found.lastindex
        position = found.end()
        for finding in _SITUATIONS[group - 1][1](data, found.start(group), position):
            yield finding
            position = max(position, finding.end)
