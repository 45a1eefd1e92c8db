"""Puts a chat's files in their place in a folder of reports, and takes away those that are no longer wanted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from trailbook import saving
from trailbook.failures import Stopped
from trailbook.manifest import Entry, Manifest


def place_files(manifest: Manifest, entry: Entry, staged: Path) -> list[str]:
    """Put the files of an entry, which lie in `staged` under the same names, in their place, and settle the entry.

    Files that the chat had and no longer has are removed. Returns the names of those that somebody changed since they
    were written: they are kept as they are. Raises Stopped.
    """
    before = manifest.entries.get(entry.chat)
    _refuse_others(manifest, entry)
    manifest.announce(entry.files)
    _make_folders(manifest.folder, entry.files)
    kept = []
    for name, written in entry.files.items():
        if not saving.place(staged / name, manifest.folder / name, manifest.ours(name, before)):
            kept.append(name)
            old = before.files.get(name) if before else None
            entry.files[name] = replace(old or written, kept=True)
    gone = [name for name in (before.files if before else ()) if name not in entry.files]
    kept += _remove(manifest, before, gone)
    manifest.settle(entry)
    return kept


def remove_files(manifest: Manifest, entry: Entry) -> list[str]:
    """Remove a chat's files and forget it. Returns the names of those that somebody changed: they are kept.

    Raises Stopped.
    """
    kept = _remove(manifest, entry, entry.files)
    manifest.forget(entry.chat)
    return kept


def _remove(manifest: Manifest, entry: Entry | None, names: Iterable[str]) -> list[str]:
    kept = []
    for name in names:
        target = manifest.folder / name
        if target.parent.is_symlink() or not saving.remove(target, manifest.ours(name, entry)):
            kept.append(name)
    return kept


def _refuse_others(manifest: Manifest, entry: Entry) -> None:
    for name in entry.files:
        owner = manifest.owner(name)
        if owner not in (None, entry.chat):
            raise Stopped(f"{manifest.folder / name} belongs to another chat. Build into another folder.")


def _make_folders(folder: Path, names: Iterable[str]) -> None:
    for parent in dict.fromkeys((folder / name).parent for name in names):
        saving.make_folder(parent)
        saving.check_folder(parent)
