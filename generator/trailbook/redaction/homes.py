"""How a home folder is spelled: in paths of every system, escaped, in URLs, in folder names made from paths."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import quote

from trailbook.redaction.logins import is_generic_login

_WINDOWS = re.compile(r"([A-Za-z]):[\\/]+(.+)$")
_HOME_OF_SOMEONE = re.compile(
    r"(?:/(?:home|Users)/|[A-Za-z]:[\\/]+Users[\\/]+)[^\\/\x00-\x1f:*?\"<>|]{2,40}(?=[\\/]|$)"
)


def home_in(folder: str) -> str | None:
    """The home folder of the account in which a chat ran, from its working folder; None where it says nothing."""
    found = _HOME_OF_SOMEONE.match(folder)
    if not found:
        return None
    login = re.split(r"[\\/]", found.group())[-1]
    return None if is_generic_login(login) else found.group()


def spellings(home: str) -> Iterator[tuple[str, int]]:
    """Every spelling of a home folder that is looked for, with the length of its last part (the account's name)."""
    home = home.rstrip("/\\")
    windows = _WINDOWS.match(home)
    if windows:
        yield from _windows(windows[1], [part for part in re.split(r"[\\/]+", windows[2]) if part])
    else:
        yield from _posix([part for part in home.split("/") if part])


def _posix(parts: list[str]) -> Iterator[tuple[str, int]]:
    for forms in _written(parts):
        for separator in ("/", "\\/", "%2F", "%2f", "%252F", "\\u002f", "\\u002F"):
            yield separator + separator.join(forms), len(forms[-1])
    if len(parts) > 1:
        yield from _as_folder_names("-", parts)


def _windows(drive: str, parts: list[str]) -> Iterator[tuple[str, int]]:
    for forms in _windows_written(parts):
        length = len(forms[-1])
        for separator in ("\\", "\\\\", "\\" * 4, "\\" * 8, "/", "\\/", "%5C", "%5c", "%2F", "%2f"):
            rest = separator + separator.join(forms)
            yield rest, length
            for letter in {drive.upper(), drive.lower()}:
                for prefix in (
                    f"{letter}:",
                    f"{letter}%3A",
                    f"{letter}%3a",
                    f"/{letter}",
                    f"/mnt/{letter}",
                    f"/cygdrive/{letter}",
                ):
                    yield prefix + rest, length
    for letter in {drive.upper(), drive.lower()}:
        yield from _as_folder_names(f"{letter}--", parts)
        yield from _as_folder_names(f"-mnt-{letter}-", parts)


def _windows_written(parts: list[str]) -> Iterator[list[str]]:
    # The file system takes no notice of capitals, so programs write either.
    for users in {parts[0], parts[0].lower(), parts[0].upper()}:
        for login in {parts[-1], parts[-1].lower(), parts[-1].upper()}:
            yield from _written([users, *parts[1:-1], login] if len(parts) > 1 else [login])
    short = re.sub(r"[ .]", "", parts[-1]).upper()
    if short != parts[-1].upper() or len(short) > 8:
        for number in "123":
            yield [*parts[:-1], f"{short[:6]}~{number}"]
            yield [*parts[:-1], f"{short[:6]}~{number}".lower()]


def _written(parts: list[str]) -> Iterator[list[str]]:
    """The parts as they stand, and as they are escaped in shells, URLs and JSON, composed and decomposed."""
    seen: list[list[str]] = []
    for normal in ("NFC", "NFD"):
        plain = [unicodedata.normalize(normal, part) for part in parts]
        seen.append(plain)
        seen.append([part.replace(" ", "\\ ") for part in plain])
        seen.append([quote(part, safe="") for part in plain])
        seen.append([json.dumps(part)[1:-1] for part in plain])
    for index, forms in enumerate(seen):
        if forms not in seen[:index]:
            yield forms


def _as_folder_names(start: str, parts: list[str]) -> Iterator[tuple[str, int]]:
    # Agents name a project's folder by its path, with "-" for what a name may not hold.
    for unfit in (r"[^A-Za-z0-9]", r"[^A-Za-z0-9.]", r"[^A-Za-z0-9._]"):
        names = [re.sub(unfit, "-", part) for part in parts]
        yield start + "-".join(names), len(names[-1])
