"""Finds the chats: walks files and folders once, asks the readers about each file, and accounts for every one."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from trailbook.failures import NOTHING, Stopped
from trailbook.readers import HEAD_BYTES, Found, Passed, Reader, Unreadable, readers

OWN = ".trailbook"
"""The folder by which a folder of reports is known; what trailbook wrote is no log."""

_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)


@dataclass(slots=True, frozen=True)
class Skipped:
    """A file that is no chat of its own, and why."""

    path: Path
    verdict: str
    """`passed over`, `not recognised`, `unreadable` or `copy`."""
    why: str


@dataclass(slots=True, frozen=True)
class Looked:
    """A place in which an agent keeps its logs, and how many chats were found there."""

    product: str
    path: Path
    exists: bool
    chats: int


@dataclass(slots=True)
class Survey:
    """What was found, each file accounted for."""

    chats: list[Found] = field(default_factory=list)
    """Newest first; each chat once."""
    skipped: list[Skipped] = field(default_factory=list)
    roots: dict[tuple[str, str], Path] = field(default_factory=dict)
    """Which of the given paths a chat (reader, id) was found under."""
    walked: list[Path] = field(default_factory=list)
    """The given paths as they really lie, those below another left out."""
    looked: list[Looked] = field(default_factory=list)
    """Only for the default places."""
    files: int = 0
    """How many files, links and pipes were looked at."""

    @property
    def unread(self) -> list[Skipped]:
        """What could not be read, so that a chat may be there after all."""
        return [item for item in self.skipped if item.verdict == "unreadable"]

    def trouble_in(self, root: Path) -> bool:
        """Whether something in or below a path could not be read."""
        return any(item.path.is_relative_to(root) for item in self.unread)


def survey(paths: Iterable[Path]) -> Survey:
    """The chats in the given files and folders. Raises Stopped where one of them is not there."""
    result = Survey()
    found: list[Found] = []
    table = [reader for _name, reader in readers()]
    result.walked = _outermost(paths)
    for root in result.walked:
        for file in _files(root, result):
            result.files += 1
            for chat in _ask(file, table, result):
                found.append(chat)
                result.roots.setdefault((chat.reader, chat.id), root)
    result.chats = _each_once(found, result)
    result.skipped = _without_inputs(result)
    return result


def places() -> list[Path]:
    """The places in which the agents keep their logs, those that are there."""
    return [place for _product, place in _places() if place.exists()]


def survey_places() -> Survey:
    """The chats in the places in which the agents keep their logs, and what was found where."""
    result = survey(places())
    for product, place in _places():
        real = place.resolve()
        chats = sum(chat.path.resolve().is_relative_to(real) for chat in result.chats) if place.exists() else 0
        result.looked.append(Looked(product, place, place.exists(), chats))
    return result


def source_of(found: Found) -> tuple[str, str]:
    """What tells a chat apart from every other."""
    return found.reader, found.id


def _places() -> list[tuple[str, Path]]:
    return list(dict.fromkeys((reader.PRODUCT, place) for _name, reader in readers() for place in reader.PLACES.logs()))


# --- the walk


def _outermost(paths: Iterable[Path]) -> list[Path]:
    """The given paths, resolved (a link that a person names is followed), without those that lie below another."""
    real: list[Path] = []
    for path in dict.fromkeys(paths):
        try:
            real.append(path.expanduser().resolve(strict=True))
        except (OSError, RuntimeError):
            raise Stopped(f"There is no file or folder {path}. Check the path.", NOTHING) from None
    unique = list(dict.fromkeys(real))
    return [path for path in unique if not any(path != other and path.is_relative_to(other) for other in unique)]


def _files(root: Path, result: Survey) -> Iterator[Path]:
    """Every regular file in or below `root`, in the order of names. Links are reported, never followed."""
    if not root.is_dir():
        if stat.S_ISREG(root.stat().st_mode):
            yield root
        else:
            result.files += 1
            result.skipped.append(Skipped(root, "passed over", "it is a device, a pipe or a socket"))
        return
    folders = [root]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            result.skipped.append(Skipped(folder, "unreadable", _why(error)))
            continue
        if any(entry.name == OWN and entry.is_dir(follow_symlinks=False) for entry in entries):
            result.skipped.append(Skipped(folder, "passed over", "trailbook wrote this folder"))
            continue
        below: list[Path] = []
        for entry in entries:
            yield from _look(entry, root, below, result)
        folders.extend(reversed(below))


def _look(entry: os.DirEntry[str], root: Path, below: list[Path], result: Survey) -> Iterator[Path]:
    path = Path(entry.path)
    if entry.is_symlink():
        result.files += 1
        result.skipped.append(Skipped(path, "passed over", _of_link(path, root)))
    elif entry.is_dir(follow_symlinks=False):
        below.append(path)
    elif entry.is_file(follow_symlinks=False):
        yield path
    else:
        result.files += 1
        result.skipped.append(Skipped(path, "passed over", "it is a device, a pipe or a socket"))


def _of_link(path: Path, root: Path) -> str:
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return "it is a link to nothing"
    if target.is_relative_to(root):
        return f"it is a link to {target}, which is looked at by itself"
    return f"it is a link out of the folder; to read {target}, name it"


# --- one file


def _ask(path: Path, table: list[Reader], result: Survey) -> list[Found]:
    """The chats in one file, from the first reader that knows it; otherwise one line in the account."""
    try:
        head = _head(path)
    except OSError as error:
        result.skipped.append(Skipped(path, "unreadable", _why(error)))
        return []
    if not head.strip():
        result.skipped.append(Skipped(path, "passed over", "it is empty"))
        return []
    for reader in table:
        answer = _answer(reader, path, head)
        if isinstance(answer, Skipped):
            result.skipped.append(answer)
            return []
        if answer is not None:
            return answer
    result.skipped.append(Skipped(path, "not recognised", "no reader knows this format"))
    return []


def _answer(reader: Reader, path: Path, head: bytes) -> list[Found] | Skipped | None:
    try:
        answer = reader.find(path, head)
    except Unreadable as error:
        return Skipped(path, "unreadable", _without_path(str(error), path))
    except OSError as error:
        return Skipped(path, "unreadable", _why(error))
    except Exception as error:
        # One log that a reader trips over must not hide the others.
        return Skipped(
            path, "unreadable", f"the reader for {reader.PRODUCT} failed on it: {type(error).__name__}: {error}"
        )
    if isinstance(answer, Passed):
        return Skipped(path, "passed over", answer.why)
    return answer


def _head(path: Path) -> bytes:
    with os.fdopen(os.open(path, os.O_RDONLY | _NONBLOCK | _BINARY), "rb", buffering=0) as stream:
        return stream.read(HEAD_BYTES)


def _without_path(sentence: str, path: Path) -> str:
    """What a reader says of a file, as the end of a line that begins with its path."""
    for name in (f"{path} ", f"{path.name} "):
        if sentence.startswith(name):
            return f"it {sentence.removeprefix(name)}".removesuffix(".")
    return sentence.removesuffix(".")


def _why(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


# --- the account


def _each_once(found: list[Found], result: Survey) -> list[Found]:
    """Each chat once: of copies the one that is preferred, the first in the order of paths where none is."""
    chosen: dict[tuple[str, str], Found] = {}
    for chat in sorted(found, key=lambda chat: (-chat.preference, chat.path)):
        kept = chosen.setdefault(source_of(chat), chat)
        if kept is not chat:
            result.skipped.append(Skipped(chat.path, "copy", f"the same chat is read from {kept.path}"))
    return sorted(chosen.values(), key=lambda chat: (-(chat.updated or chat.started or 0), chat.reader, chat.id))


def _without_inputs(result: Survey) -> list[Skipped]:
    """The skipped files without the sidecars that are read with a chat: those are accounted for there."""
    inputs = {path for chat in result.chats for path in chat.inputs}
    read = [skipped for skipped in result.skipped if skipped.verdict == "copy" or skipped.path not in inputs]
    return sorted(set(read), key=lambda skipped: (skipped.path, skipped.why))
