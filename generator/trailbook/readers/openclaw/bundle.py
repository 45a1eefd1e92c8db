"""What `/export-trajectory` writes: a folder with the active branch, redacted by the agent and without its pictures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trailbook.chat import JSON, Place
from trailbook.readers import Passed, Unreadable, pieces
from trailbook.readers.files import is_own
from trailbook.readers.lines import Problems, Record
from trailbook.readers.values import Fields, fields, items, string

BRANCH = "session-branch.json"

_SCHEMA = b'"openclaw-trajectory"'
_BESIDE = frozenset(
    (
        "manifest.json",
        "events.jsonl",
        "metadata.json",
        "artifacts.json",
        "prompts.json",
        "system-prompt.txt",
        "tools.json",
    )
)
_PROMPT = "system-prompt.txt"
_TOOLS = "tools.json"


def is_branch(path: Path, head: bytes) -> bool:
    """Whether a file is the part of a bundle that holds the chat."""
    return path.name == BRANCH and b'"entries"' in head and b'"header"' in head


def part_of(path: Path, head: bytes) -> Passed | None:
    """Whether a file is another part of a bundle. Raises Unreadable for one whose chat is not there."""
    if path.name not in _BESIDE:
        return None
    branch = path.with_name(BRANCH)
    if is_own(branch):
        return Passed("a part of an exported bundle, read with it where it says more", branch)
    if path.name == "manifest.json" and _SCHEMA in head:
        raise Unreadable(f"{path.parent} is an exported bundle without its {BRANCH}: export the session again.")
    return Passed("a part of an exported bundle", path) if _SCHEMA in head else None


def inputs_of(path: Path) -> list[Path]:
    """The files of a bundle that a chat is read from."""
    return [path, *(file for name in (_PROMPT, _TOOLS) if is_own(file := path.with_name(name)))]


def records(path: Path, problems: Problems) -> Iterator[Record]:
    """The header and the entries. Raises Unreadable for a document that is cut or damaged, OSError."""
    document = fields(_document(path, problems))
    yield Record(Place(path.name, 1, "message"), {**fields(document.get("header")), "type": "session"})
    for number, entry in enumerate(items(document.get("entries")), 1):
        yield Record(Place(path.name, number, "message"), entry)


def header_of(path: Path) -> Fields:
    """The session's header. Raises Unreadable, OSError."""
    return fields(fields(_document(path, Problems())).get("header"))


def declared(path: Path, problems: Problems) -> tuple[str | None, list[JSON]]:
    """The system prompt and the tools that stand beside the branch, where they were captured."""
    prompt, tools = path.with_name(_PROMPT), path.with_name(_TOOLS)
    text = prompt.read_bytes().decode("utf-8", "replace") if is_own(prompt) else ""
    if not is_own(tools):
        return string(text), []
    try:
        return string(text), items(_document(tools, problems))
    except Unreadable as error:
        problems.add("damaged-sidecar", str(error), lost=True)
        return string(text), []


def _document(path: Path, problems: Problems) -> JSON:
    return pieces.parse(path, pieces.Piece(1, path.read_bytes().removeprefix(b"\xef\xbb\xbf"), False), problems)
