"""The files of a chat: gptme keeps a folder for each, a subagent's beside the one that started it."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from trailbook import json_text
from trailbook.readers.lines import Problems
from trailbook.readers.values import Fields, fields, string

LOG, FULL_LOG, EVENTS, SETTINGS, ABOUT = (
    "conversation.jsonl",
    "lossless.jsonl",
    "events.jsonl",
    "config.toml",
    "subagent-meta.json",
)
_COPY = re.compile(r"[0-9a-f]{16}(?:\.[A-Za-z0-9]{1,10})?")
_LARGEST_SETTINGS = 4_000_000


@dataclass(slots=True)
class ChatFiles:
    """What a chat is read from."""

    log: Path
    full_log: Path | None = None
    """The whole log, where `log` may be one that was shortened by hand (gptme's own rule)."""
    branches: list[Path] = field(default_factory=list)
    events: Path | None = None
    settings: Path | None = None
    about: Path | None = None
    """What a subagent's folder says of it."""
    copies: dict[str, Path] = field(default_factory=dict)
    """Copies of attached files, by the first 16 digits of their hash."""

    def all(self) -> list[Path]:
        """Every file, the log first."""
        single = (self.log, self.full_log, self.events, self.settings, self.about)
        return [*filter(None, single), *self.branches, *self.copies.values()]

    def name(self, path: Path) -> str:
        """How places call a file: relative to the chat's folder."""
        return path.relative_to(self.log.parent).as_posix()


def files_of(log: Path) -> ChatFiles:
    """The files of the chat whose log this is; a log that lies alone, under another name, has none beside it."""
    files = ChatFiles(log)
    if log.name not in (LOG, FULL_LOG):
        return files
    folder = log.parent
    plain, folders = _listed(folder)
    files.full_log = plain.get(FULL_LOG) if log.name == LOG else None
    files.events, files.settings, files.about = (plain.get(name) for name in (EVENTS, SETTINGS, ABOUT))
    if "branches" in folders:
        branches, _ = _listed(folder / "branches")
        files.branches = [branches[name] for name in sorted(branches) if name.endswith(".jsonl")]
    if "files" in folders:
        copies, _ = _listed(folder / "files")
        files.copies = {name[:16]: copies[name] for name in sorted(copies) if _COPY.fullmatch(name)}
    return files


def settings_of(files: ChatFiles, problems: Problems) -> Fields:
    """The part `chat` of a chat's settings; an empty one where there is none."""
    if files.settings is None:
        return {}
    try:
        with files.settings.open("rb") as stream:
            return fields(tomllib.loads(stream.read(_LARGEST_SETTINGS).decode("utf-8", "replace")).get("chat"))
    except (OSError, tomllib.TOMLDecodeError, RecursionError):
        problems.add("damaged-sidecar", f"{SETTINGS} could not be read.", lost=True)
        return {}


def about_of(folder: Path) -> Fields:
    """What a subagent's folder says of it; an empty object where it says nothing that can be read."""
    path = _plain(folder / ABOUT)
    try:
        return fields(json_text.parse(path.read_bytes())) if path else {}
    except (OSError, ValueError):
        return {}


def subagents_of(log: Path) -> list[Path]:
    """The logs of the subagents that the chat with this log started."""
    folder = log.parent
    try:
        changed = folder.parent.stat().st_mtime_ns
    except OSError:
        return []
    return [child / LOG for child in _started_from(folder.parent, changed).get(folder.name, ()) if child != folder]


def parent_of(log: Path) -> Path | None:
    """The log of the chat that started this one as a subagent, where that lies beside it."""
    name = parent_name(about_of(log.parent))
    parent = log.parent.parent / name / LOG if name else None
    return parent if parent is not None and parent != log and _plain(parent) else None


def parent_name(about: Fields) -> str | None:
    """The name of the folder of the chat that started a subagent. The path before it is that of another day."""
    path = string(about.get("parent_logdir")) or ""
    name = re.split(r"[/\\]", path.rstrip("/\\"))[-1]
    return name if name not in ("", ".", "..") else None


@lru_cache(maxsize=16)
def _started_from(logs: Path, _changed: int) -> dict[str, list[Path]]:
    """Parent's name → the folders of its subagents; looked up once for a folder of logs as it stands."""
    found: dict[str, list[Path]] = {}
    for child in sorted(_listed(logs)[1]):
        folder = logs / child
        name = parent_name(about_of(folder)) if _plain(folder / ABOUT) and _plain(folder / LOG) else None
        if name is not None:
            found.setdefault(name, []).append(folder)
    return found


def _listed(folder: Path) -> tuple[dict[str, Path], set[str]]:
    """The files in a folder by their names, and the names of the folders in it; no link is either."""
    try:
        with os.scandir(folder) as listing:
            entries = [
                (entry.name, entry.is_dir(follow_symlinks=False), entry.is_file(follow_symlinks=False))
                for entry in listing
            ]
    except OSError:
        return {}, set()
    return {name: folder / name for name, _, is_file in entries if is_file}, {
        name for name, is_dir, _ in entries if is_dir
    }


def _plain(path: Path) -> Path | None:
    """The path when it is a file and no link."""
    try:
        return path if path.is_file() and not path.is_symlink() else None
    except (OSError, ValueError):
        return None
