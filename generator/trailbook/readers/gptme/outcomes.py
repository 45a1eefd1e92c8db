"""What a result says of how its call ended, by its words: gptme has no field for it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from trailbook.readers.gptme.fences import code_ranges, range_around
from trailbook.readers.gptme.linking import is_interruption, is_refusal

_NOT_RUN = (
    (re.compile(r"Tool '[^'\n]*' was not executed"), "stopped"),
    (re.compile(r"Tool '[^'\n]*' is not available for execution"), "refused"),
)
_REJECTED = "Nothing was executed: the whole command was rejected."
_FAILED = (
    "Error during execution:",
    "Error executing tool ",
    "Error: ",
    "Command interrupted",
    "Command timed out",
    "Command killed",
    "Cannot save to ",
    "Cannot append to ",
)
_EXCEPTION = re.compile(r"^Exception during execution", re.MULTILINE)
_RETURN_CODE = re.compile(r"^Return code: (-?\d{1,9})$", re.MULTILINE)


@dataclass(slots=True, frozen=True)
class Outcome:
    """How a call ended, as far as the words of its result tell."""

    not_run: str | None = None
    """A word of `Returned.not_run`."""
    failed: bool = False
    exit_status: int | None = None


def outcome_of(tool: str | None, text: str) -> Outcome:
    """How the call of a tool ended that gave this back."""
    if is_refusal(text):
        return Outcome(not_run="declined")
    if text.rstrip().endswith(_REJECTED):
        return Outcome(not_run="refused")
    for pattern, word in _NOT_RUN:
        if pattern.match(text):
            return Outcome(not_run=word)
    status = _exit_status(text) if tool == "shell" else None
    failed = (
        is_interruption(text) or text.startswith(_FAILED) or (tool == "ipython" and _EXCEPTION.search(text) is not None)
    )
    return Outcome(failed=failed or bool(status), exit_status=status)


def _exit_status(text: str) -> int | None:
    """The number that gptme puts behind what the command printed, unless it is 0; what it printed stands in a block."""
    found = list(_RETURN_CODE.finditer(text))
    printed = code_ranges(text) if found else []
    return next(
        (int(match.group(1)) for match in reversed(found) if range_around(match.start(), printed) is None), None
    )
