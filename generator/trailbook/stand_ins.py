"""What stands in a trajectory for what is not there: sentences for results, marks for pictures and files.

Writers put them in, and whoever counts a written file again knows them by this table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trailbook.chat import JSON, File, Image, Part, Text

STAND_INS = {
    "declined": "Not run: the person said no.",
    "expired": "Not run: nobody answered in time.",
    "refused": "Not run: a rule stopped it.",
    "stopped": "Stopped: the turn was interrupted before it finished.",
    "unanswered": "No result: the turn ended first.",
    "cut": "No result: the log ends first.",
    "unrecorded": "It ran; the log has no result of it.",
}
"""What answers a call that has no result of its own, by the reason: the words of `Returned.not_run`, and three more."""

NO_RESULT = ("unanswered", "cut", "unrecorded")
"""The three more: the log has no result at all."""

JOINED = "\n\n"
"""What stands between words that become one text."""

RAW_ARGUMENTS = "_raw"
"""The one key of arguments that were no JSON object; its value is what the log has."""

_PERSON_THEN = "\n\n[The person wrote then:]\n"
_CONTEXT_THEN = "\n\n[Context then:]\n"
_NOT_IN_A_MARK = re.compile(r"[\[\]\x00-\x1f]+")
_MARK = re.compile(r"\[(image|file)(?:: [^\[\]]*?)?(?:; the next (\d{1,9}) lines?)?\]")


def say_no_result(reason: str, words: str) -> str:
    """The text of a result that is none: its sentence, and what the log says beside it, where that says more."""
    sentence = STAND_INS[reason]
    return sentence if _says_no_more(words) else sentence + JOINED + words


def is_stand_in(text: str) -> bool:
    """Whether a result is one of the sentences and nothing else."""
    return text.strip() in STAND_INS.values()


def without_stand_in(text: str) -> str:
    """A result without the sentence that `say_no_result` put in front of the log's words."""
    return take_stand_in(text)[1] or text


def take_stand_in(text: str) -> tuple[str | None, str]:
    """Why a call has no result, by a text that `say_no_result` made, and the log's words in it; None for any other."""
    for reason, sentence in STAND_INS.items():
        if text == sentence or text.startswith(sentence + JOINED):
            return reason, text[len(sentence + JOINED) :]
    return None, text


def is_no_result(text: str) -> bool:
    """Whether a result only says that there is none, and not even that the call did not run."""
    reason, words = take_stand_in(text)
    return reason in NO_RESULT and not words


def mark_of(part: Image | File) -> str:
    """What stands for a picture or a file: `[image: image/png, 4096 bytes]`, `[file: run.txt, text/plain, 812 bytes]`.

    The words of a file that the log has as text follow it, and the mark says over how many lines.
    """
    kind = "image" if isinstance(part, Image) else "file"
    name = part.name if isinstance(part, File) else None
    size = None if part.size is None else f"{part.size} bytes"
    told = ", ".join(_NOT_IN_A_MARK.sub(" ", word) for word in (name, part.media_type, size) if word)
    mark = f"{kind}: {told}" if told else kind
    if isinstance(part, File) and part.text:
        lines = part.text.count("\n") + 1
        return f"[{mark}; the next {lines} line{'s' if lines > 1 else ''}]\n{part.text}"
    return f"[{mark}]"


def take_marks(text: str) -> tuple[str, int]:
    """A text without the marks in it and the files that follow them, and how many marks stand for pictures."""
    if "[image" not in text and "[file" not in text:
        return text, 0
    lines = list(_lines(text))
    return "\n".join(line for line, kind in lines if kind is None), sum(kind == "image" for _, kind in lines)


def parts_of(text: str) -> list[Part]:
    """A text as parts: what each mark stands for, as far as the mark says, and the words between."""
    parts: list[Part] = []
    words: list[str] = []
    for line, kind in _lines(text):
        if kind in ("image", "file"):
            parts += [Text("\n".join(words))] if words else []
            parts.append(_part_of(line))
            words = []
        elif kind == "inside":
            file = parts[-1]
            if isinstance(file, File):
                file.text = line if file.text is None else f"{file.text}\n{line}"
        else:
            words.append(line)
    return [*parts, Text("\n".join(words))] if words else parts


def _part_of(mark: str) -> Image | File:
    bare = re.sub(r"; the next \d+ lines?$", "", mark[1:-1])
    kind, _, told = bare.partition(": ")
    words = told.split(", ") if told else []
    counted = re.fullmatch(r"(\d+) bytes", words[-1]) if words else None
    size = int(counted.group(1)) if counted else None
    words = words[:-1] if counted else words
    media_type = words.pop() if words and re.fullmatch(r"[\w.+-]+/[\w.+-]+", words[-1]) else None
    if kind == "image":
        return Image(media_type=media_type, size=size)
    return File(name=", ".join(words) or None, media_type=media_type, size=size)


def _lines(text: str) -> Iterator[tuple[str, str | None]]:
    """Each line with what it is: a mark of an `image` or a `file`, `inside` such a file, None for the words."""
    passed = 0
    for line in text.split("\n"):
        mark = None if passed else _MARK.fullmatch(line)
        if mark is not None:
            passed = int(mark.group(2) or 0)
            yield line, mark.group(1)
        else:
            yield line, "inside" if passed else None
            passed = max(passed - 1, 0)


def add_prompt(result: str, prompt: str, *, person: bool) -> str:
    """A result with what was written to the agent after it, for readers that take no prompt after a result."""
    return result + (_PERSON_THEN if person else _CONTEXT_THEN) + prompt


def take_prompts(text: str) -> tuple[str, list[tuple[str, bool]]]:
    """The result again, and the prompts that were added to it, each with whether a person wrote it."""
    found: list[tuple[str, bool]] = []
    pattern = f"({re.escape(_PERSON_THEN)}|{re.escape(_CONTEXT_THEN)})"
    result, *rest = re.split(pattern, text) if "\n\n[" in text else [text]
    for at in range(0, len(rest), 2):
        found.append((rest[at + 1], rest[at] == _PERSON_THEN))
    return result, found


def arguments_object(arguments: dict[str, JSON], raw: str | None) -> dict[str, JSON]:
    """A call's arguments as an object, whatever they were in the log."""
    return arguments if raw is None else {RAW_ARGUMENTS: raw}


_BARE = re.compile(
    r"(?:error: )?(?:"
    r"(?:the )?(?:user|person) (?:has )?(?:declined|denied|rejected|refused|cancell?ed|interrupted|stopped)"
    r"(?: (?:this|the|that) (?:action|command|call|request|tool(?: call| use)?))?"
    r"|stopped|declined|denied|rejected|refused|cancell?ed|expired|timed out"
    r"|interrupted(?: by (?:the )?user)?|\[request interrupted by user(?: for tool use)?\]"
    r")[.!]?",
    re.IGNORECASE,
)


def _says_no_more(words: str) -> bool:
    """Whether the log's words say only what the sentence says already."""
    bare = words.strip()
    return not bare or _BARE.fullmatch(bare) is not None
