"""What came of a call, read from what came back: test counts, the line that says why it failed, matches."""

from __future__ import annotations

import re

from trailbook import json_text
from trailbook.wording import counted, line

_EITHER_END = 4_000
"""Summaries stand at the end of an output, sometimes at its beginning: so much is looked at."""

_FAILED = (
    re.compile(r"\b(\d{1,7}) (?:tests? )?fail(?:ed|ing|ures?)\b", re.IGNORECASE),
    re.compile(r"\bfail(?:ed|ures)[=:] ?(\d{1,7})", re.IGNORECASE),
)
_ERRORS = (re.compile(r"\b(\d{1,7}) errors?\b"), re.compile(r"\berrors=(\d{1,7})"))
_PASSED = (
    re.compile(r"\b(\d{1,7}) (?:tests? )?pass(?:ed|ing)\b", re.IGNORECASE),
    re.compile(r"^Ran (\d{1,7}) tests?\b", re.MULTILINE),
)
_GO_FAILED = re.compile(r"^[ \t]*--- FAIL: ", re.MULTILINE)
_GO_PASSED = re.compile(r"^[ \t]*--- PASS: ", re.MULTILINE)
_EXIT = re.compile(r"(?:Exit code|exit code|Return code|Process exited with code):? ?(-?\d{1,5})\.?")
_TAG = re.compile(r"</?tool_use_error>")
_HEADER = re.compile(
    r"(?:(?:Chunk ID|Wall time|Original token count|Total output lines): .*\n|"
    r"(?:Process exited with code|Exit code:) -?\d+(?:\n|$)){1,8}(?:Output:(?:\n|$))?"
)
"""What an agent writes for its model above a command's output."""
_FRAME = re.compile(
    r"(?:Shellcheck found[^\n]*\n[\s\S]{0,4000}?\n)?"
    r"(?:Ran (?:allowlisted )?command: `|Executed code block)[^\n]*\n(?:[\s\S]*\nException during execution[^\n]*\n)?"
)
"""Likewise, where the output itself then stands in Markdown's blocks of code."""
_BLOCK = re.compile(r"^(?:`{3,}\w*|`(.*)`)$", re.MULTILINE)


def header_in(output: str) -> tuple[list[tuple[str, str]], str]:
    """What an agent wrote for its model above a command's output, by name, and what stands below it.

    The exit status is not among it, because a call's step has one of its own.
    """
    header = _HEADER.match(output)
    if header is None:
        return [], output
    lines = (row.partition(":") for row in header.group().split("\n") if not _EXIT.fullmatch(row.strip()))
    return [(name, value.strip()) for name, _, value in lines if value.strip()], output[header.end() :]


def printed_in(output: str) -> str:
    """What a command printed, without what an agent wrote around it for its model: a header, blocks, a JSON object."""
    if output.startswith(('{"output":', '{"error":')):
        try:
            value = json_text.parse(output.encode("utf-8", "replace"))
        except ValueError:
            return output
        value = value if isinstance(value, dict) else {}
        wrapped = "metadata" in value or "exit_code" in value
        printed = value.get("output") or value.get("error") or "" if wrapped else value.get("error")
        return printed if isinstance(printed, str) else output
    frame = _FRAME.match(output)
    if frame:
        return _BLOCK.sub(r"\1", output[frame.end() :])
    header = _HEADER.match(output)
    return output[header.end() :] if header else output


def tests_in(output: str) -> str | None:
    """What a run of tests or checks counted: `1 failed`, `2 errors`, `241 passed`; None where it counted nothing."""
    text = output if len(output) <= 2 * _EITHER_END else output[:_EITHER_END] + "\n" + output[-_EITHER_END:]
    failed = _count(text, _FAILED) or len(_GO_FAILED.findall(text))
    if failed:
        return f"{failed:,} failed"
    errors = _count(text, _ERRORS)
    if errors:
        return counted(errors, "error")
    passed = _count(text, _PASSED) or len(_GO_PASSED.findall(text))
    return f"{passed:,} passed" if passed else None


def failure_in(output: str, exit_status: int | None) -> str:
    """Why a call failed, in a line: `Failed: no such file`, `Exit code 1`, `Failed`."""
    lines = [row.strip() for row in _TAG.sub("", output[:_EITHER_END]).split("\n")]
    said = [row for row in lines if row and not _EXIT.fullmatch(row)]
    if said and said[0].startswith("Traceback (most recent call last)"):
        tail = [row.strip() for row in output[-_EITHER_END:].split("\n") if row.strip()]
        said = tail[-1:]
    if said:
        return f"Failed: {line(said[0], 120)}"
    code = (
        exit_status
        if exit_status is not None
        else next((int(m.group(1)) for m in map(_EXIT.fullmatch, lines) if m), None)
    )
    return "Failed" if code is None else f"Exit code {code}"


def _count(text: str, patterns: tuple[re.Pattern[str], ...]) -> int:
    """The last number that one of the patterns finds: a summary stands after what it sums up."""
    for pattern in patterns:
        found = pattern.findall(text)
        if found:
            return int(found[-1])
    return 0
