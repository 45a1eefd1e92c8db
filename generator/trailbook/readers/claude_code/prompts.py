"""What stands in the user role: a person's words, and all that the program puts between them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

INTERRUPTS = frozenset({"[Request interrupted by user]", "[Request interrupted by user for tool use]"})
"""The texts that stand in the user role where the person stopped the agent."""

_INJECTED = {
    "system-reminder": "reminder",
    "user-prompt-submit-hook": "hook",
    "ide_opened_file": "context",
    "ide_selection": "context",
}
_COMMAND = ("command-name", "command-message", "command-args")
_OUTPUT = ("local-command-stdout", "local-command-stderr", "bash-stdout", "bash-stderr")


@dataclass(slots=True)
class Words:
    """One text of the user role, taken apart."""

    prompt: str = ""
    """What the person wrote."""
    injected: list[tuple[str, str]] = field(default_factory=list)
    """What the program put in, each with a word for what it is."""
    command: str | None = None
    """A slash command with its arguments, as typed."""
    shell: str | None = None
    """A shell command that the person ran with `!`."""
    output: str | None = None
    """What a command of either sort printed (escape sequences as they are)."""
    interrupt: str | None = None
    """What the program says in the user role where the person stopped the agent."""


def take_apart(text: str) -> Words:
    """Tell a person's words from slash commands, command output, reminders, notifications and interrupts.

    A tag counts as the program's where the text starts with it; reminders are taken out wherever they stand
    (they are glued to real text), and whole: without its closing tag it is a person's text like any other.
    """
    start = text.lstrip()
    if not start.startswith(("<", "[")):
        return _with_reminders(text) if "<" in text else Words(prompt=text)
    if start.rstrip() in INTERRUPTS:
        return Words(interrupt=start.rstrip())
    if start.startswith(tuple(f"<{tag}>" for tag in _COMMAND)):
        return _command(start)
    if start.startswith("<bash-input>"):
        return Words(shell=_inner(start, "bash-input") or "")
    if start.startswith(tuple(f"<{tag}>" for tag in _OUTPUT)):
        _, pieces = _cut(start, _OUTPUT)
        return Words(output="\n".join(piece for _, piece in pieces if piece)) if pieces else Words(prompt=text)
    if start.startswith("<task-notification>"):
        return Words(injected=[("notification", text)])
    return _with_reminders(text)


def _command(text: str) -> Words:
    name = _inner(text, "command-name") or _inner(text, "command-message")
    if not name:
        return Words(prompt=text)
    arguments = _inner(text, "command-args")
    rest, _ = _cut(text, (*_COMMAND, "skill-format"))
    words = Words(command=f"{name.strip()} {arguments.strip()}" if arguments and arguments.strip() else name.strip())
    if rest.strip():
        words.injected.append(("command", rest.strip()))
    return words


def _with_reminders(text: str) -> Words:
    rest, pieces = _cut(text, _INJECTED)
    if not pieces:
        return Words(prompt=text)
    return Words(prompt=rest.strip(), injected=[(_INJECTED[tag], piece.strip()) for tag, piece in pieces])


def _inner(text: str, tag: str) -> str | None:
    _, pieces = _cut(text, (tag,))
    return pieces[0][1] if pieces else None


def _cut(text: str, tags: Iterable[str]) -> tuple[str, list[tuple[str, str]]]:
    """The text without the given elements, and those, as tag and content, in order; elements in them are theirs."""
    kept, pieces, at = [], [], 0
    unclosed: set[str] = set()
    for opening in re.finditer(f"<({'|'.join(tags)})>", text):
        tag = opening[1]
        if opening.start() < at or tag in unclosed:
            continue
        end = text.find(f"</{tag}>", opening.end())
        if end < 0:
            unclosed.add(tag)
            continue
        kept.append(text[at : opening.start()])
        pieces.append((tag, text[opening.end() : end]))
        at = end + len(tag) + 3
    kept.append(text[at:])
    return "".join(kept), pieces
