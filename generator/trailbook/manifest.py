"""What a folder of reports holds: each chat's files, what they were made of, and the row that the index has for it.

One JSON object a line, added to while a build runs and written anew at its end. Before files are put in their place a
line says which; so a run that is killed leaves no file of which the next does not know that it is ours.
"""

from __future__ import annotations

import hmac
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import cast

from trailbook import json_text, saving
from trailbook.chat import JSON
from trailbook.failures import Stopped
from trailbook.stores import OWN

NAME = f"{OWN}/manifest.jsonl"
VERSION = 1

_NOT_PLAIN = re.compile(r"[\\:\x00-\x1f]")

INDEX = ("", "index")
"""The entry of the pages over all chats."""
PART = "part"
"""How the names of an export's parts begin, of each of which there is an entry; its source is empty."""


@dataclass(slots=True)
class Written:
    """A file as we wrote it."""

    digest: str
    """SHA-256 in hexadecimal."""
    size: int
    """Bytes."""
    kept: bool = False
    """True where a person had changed the file, so that it was not replaced; the digest is of what we wrote before."""


@dataclass(slots=True)
class Entry:
    """What was written of one chat."""

    chat: tuple[str, str]
    """Source and id."""
    key: str
    """Changes whenever the files would come out differently."""
    root: str = ""
    """Tells under which of the given paths the log was found, without telling the path."""
    digits: str = ""
    """What tells its file names apart."""
    stems: dict[str, str] = field(default_factory=dict)
    """The names of its files without their endings: its own under its id, a subagent's under `id/subagent's id`."""
    files: dict[str, Written] = field(default_factory=dict)
    """By path relative to the folder, with `/`."""
    rows: list[JSON] = field(default_factory=list)
    """What the index says of it and of its subagents."""
    gone: bool = False
    """True when its log is no longer there."""


@dataclass(slots=True)
class Manifest:
    folder: Path
    entries: dict[tuple[str, str], Entry] = field(default_factory=dict)
    pending: dict[str, set[str]] = field(default_factory=dict)
    """Digests of files that were about to be put in their place when a run ended."""
    owners: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Which chat each file belongs to."""

    def ours(self, name: str, entry: Entry | None) -> set[str]:
        """The digests that a file may have and still be as we wrote it."""
        written = entry.files.get(name) if entry else None
        return self.pending.get(name, set()) | ({written.digest} if written else set())

    def owner(self, name: str) -> tuple[str, str] | None:
        """The chat that a file belongs to."""
        return self.owners.get(name)

    def announce(self, files: Mapping[str, Written]) -> None:
        """Say which files are about to be put in their place. Raises Stopped."""
        for name, written in files.items():
            self.pending.setdefault(name, set()).add(written.digest)
        _append(self.folder, {"placing": {name: [written.digest] for name, written in files.items()}})

    def settle(self, entry: Entry) -> None:
        """Say what was written of a chat. Raises Stopped."""
        self.forget(entry.chat)
        self.take(entry)
        _append(self.folder, _as_json(entry))

    def take(self, entry: Entry) -> None:
        """Hold an entry."""
        self.entries[entry.chat] = entry
        for name in entry.files:
            self.owners[name] = entry.chat
            self.pending.pop(name, None)

    def forget(self, chat: tuple[str, str]) -> None:
        """Drop a chat whose files are gone."""
        entry = self.entries.pop(chat, None)
        for name in entry.files if entry else ():
            self.owners.pop(name, None)
            self.pending.pop(name, None)

    def save(self) -> None:
        """Write the manifest anew, one line a chat. Raises Stopped."""
        lines: list[JSON] = [{"trailbook": VERSION}]
        lines += [_as_json(self.entries[chat]) for chat in sorted(self.entries)]
        if self.pending:
            lines.append({"placing": {name: list[JSON](sorted(self.pending[name])) for name in sorted(self.pending)}})
        data = b"".join(json_text.dump(line) + b"\n" for line in lines)
        target = self.folder / NAME
        if is_ours(self.folder) and target.read_bytes() == data:
            return
        with saving.staging(target.parent) as private:
            saving.write_new(private / "manifest.jsonl", data)
            try:
                (private / "manifest.jsonl").replace(target)
            except OSError as error:
                raise saving.stopped(error, target) from None


def is_ours(folder: Path) -> bool:
    """Whether a folder is one that trailbook builds."""
    path = folder / NAME
    return path.is_file() and not path.is_symlink() and not path.parent.is_symlink()


def has_parts(manifest: Manifest) -> bool:
    """Whether it is the manifest of an export in parts rather than of a folder of reports."""
    return any(not source and name.startswith(PART) for source, name in manifest.entries)


def load(folder: Path) -> Manifest:
    """The manifest of a folder; empty where there is none. A damaged line is passed over: its chat is built again.

    Raises Stopped where it cannot be read, or a newer trailbook wrote it.
    """
    manifest = Manifest(folder)
    if not is_ours(folder):
        return manifest
    try:
        data = (folder / NAME).read_bytes()
    except OSError as error:
        raise Stopped(f"{folder / NAME} could not be read ({error.strerror}). Choose another folder.") from None
    for line in data.split(b"\n"):
        try:
            value = json_text.parse(line) if line.strip() else None
        except ValueError:
            continue
        if isinstance(value, dict):
            _take(value, manifest)
    return manifest


def key(own_bytes: bytes, *parts: JSON) -> str:
    """A key that tells, to who has the bytes, whether any of the parts changed; to everybody else nothing."""
    return hmac.new(own_bytes, json_text.canonical(list(parts)), sha256).hexdigest()


def stale(folder: Path, entry: Entry) -> bool:
    """Whether a file of the entry is missing, or is not what its key stands for."""
    return any(_is_stale(folder / name, written) for name, written in entry.files.items())


def changed(folder: Path, entry: Entry) -> list[str]:
    """The files of an entry that somebody has changed since they were written, as far as their size tells."""
    sizes = {name: _size(folder / name) for name in entry.files}
    return [name for name, written in entry.files.items() if written.kept or sizes[name] not in (None, written.size)]


def _is_stale(path: Path, written: Written) -> bool:
    size = _size(path)
    # What a person had changed and has put back, or what a killed run left empty, is out of date.
    return size is None or size == 0 != written.size or (written.kept and saving.digest_of(path) == written.digest)


def _size(path: Path) -> int | None:
    """Bytes; None where nothing is there, -1 for a link or a folder."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else -1


def _append(folder: Path, line: JSON) -> None:
    saving.append(folder / NAME, b"\n" + json_text.dump(line) + b"\n")


def _take(value: dict[str, JSON], manifest: Manifest) -> None:
    version = value.get("trailbook")
    if isinstance(version, int) and version > VERSION:
        raise Stopped(f"A newer trailbook wrote {manifest.folder}. Use that one, or choose another folder.")
    placing = value.get("placing")
    if isinstance(placing, dict):
        for name, digests in placing.items():
            if isinstance(digests, list):
                manifest.pending.setdefault(name, set()).update(item for item in digests if isinstance(item, str))
    if "chat" in value:
        entry = _entry(value)
        if entry:
            manifest.forget(entry.chat)
            manifest.take(entry)


def _as_json(entry: Entry) -> JSON:
    return {
        "chat": list(entry.chat),
        "key": entry.key,
        "root": entry.root,
        "digits": entry.digits,
        "stems": cast("JSON", entry.stems),
        "files": {
            name: [written.digest, written.size, *([True] if written.kept else [])]
            for name, written in entry.files.items()
        },
        "rows": entry.rows,
        **({"gone": True} if entry.gone else {}),
    }


def _entry(value: dict[str, JSON]) -> Entry | None:
    match value:
        case {
            "chat": [str(source), str(id_)],
            "key": str(key_),
            "root": str(root),
            "digits": str(digits),
            "stems": dict(stems),
            "files": dict(files),
            "rows": list(rows),
        }:
            return Entry(
                (source, id_),
                key_,
                root,
                digits,
                {name: stem for name, stem in stems.items() if isinstance(stem, str) and _is_below(stem, deepest=1)},
                {name: written for name, item in files.items() if (written := _written(item)) and _is_below(name)},
                rows,
                value.get("gone") is True,
            )
    return None


def _written(value: JSON) -> Written | None:
    match value:
        case [str(digest), int(size)]:
            return Written(digest, size)
        case [str(digest), int(size), bool(kept)]:
            return Written(digest, size, kept)
    return None


def _is_below(name: str, deepest: int = 2) -> bool:
    """Whether a name in the manifest is a plain path below its folder; a forged one must lead nowhere else."""
    parts = name.split("/")
    return len(parts) <= deepest and not any(
        part.startswith(".") or _NOT_PLAIN.search(part) or not part for part in parts
    )
