"""Where nothing may be written: every agent's own store, and the folders in which keys and sign-ins live."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

from trailbook.failures import NOTHING, Stopped
from trailbook.readers import readers

_KEYS = (
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".netrc",
    ".git-credentials",
    ".password-store",
    ".pki",
    ".mozilla",
    ".thunderbird",
    ".config/gcloud",
    ".config/gh",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/Bitwarden",
    ".config/Bitwarden CLI",
    ".config/1Password",
    ".local/share/keyrings",
)
_KEYS_MACOS = tuple(
    f"Library/{name}"
    for name in (
        "Keychains",
        "Cookies",
        "Safari",
        "Messages",
        "Mail",
        "Application Support/1Password",
        "Application Support/Bitwarden",
        "Application Support/BraveSoftware",
        "Application Support/Chromium",
        "Application Support/Firefox",
        "Application Support/Google/Chrome",
        "Application Support/Microsoft Edge",
        "Group Containers/2BUA8C4S2C.com.1password",
    )
)
_KEYS_WINDOWS = tuple(
    f"AppData/{name}"
    for name in (
        "Local/1Password",
        "Local/BraveSoftware",
        "Local/Chromium",
        "Local/Google/Chrome",
        "Local/Microsoft/Credentials",
        "Local/Microsoft/Edge",
        "Local/Microsoft/Vault",
        "Roaming/Bitwarden",
        "Roaming/Microsoft/Credentials",
        "Roaming/Microsoft/Crypto",
        "Roaming/Microsoft/Protect",
        "Roaming/Microsoft/Vault",
        "Roaming/Mozilla",
        "Roaming/gcloud",
    )
)


def refuse(folder: Path) -> None:
    """Raise Stopped if `folder` lies, as it is written or as it resolves, in or below a place that is denied.

    Places are compared by path component, without regard to case on Windows and macOS (conch.md §5).
    """
    for product, stores, allowed in _stores():
        if _within(folder, stores) and not _only_within(folder, allowed):
            raise Stopped(f"{folder} belongs to {product}: nothing is written there. Choose another folder.", NOTHING)
    if _within(folder, _key_places()):
        raise Stopped(f"{folder} is where keys and sign-ins live: nothing is written there. Choose another.", NOTHING)


def _stores() -> Iterator[tuple[str, list[Path], list[Path]]]:
    for _name, reader in readers():
        yield reader.PRODUCT, reader.PLACES.stores(), reader.PLACES.allowed()


def _key_places() -> list[Path]:
    home = Path.home()
    names = _KEYS
    if sys.platform == "darwin":
        names += _KEYS_MACOS
    if sys.platform == "win32":
        names += _KEYS_WINDOWS
    return [home / name for name in names]


def _within(folder: Path, places: Iterable[Path]) -> bool:
    """Whether either spelling of the folder lies in or below either spelling of a place."""
    spellings = _spellings(folder)
    return any(
        spelling[: len(place)] == place for known in places for place in _spellings(known) for spelling in spellings
    )


def _only_within(folder: Path, places: Iterable[Path]) -> bool:
    """Whether the folder lies in or below one of the places both as written and as it resolves."""
    known = [spelling for place in places for spelling in _spellings(place)]
    return all(any(spelling[: len(place)] == place for place in known) for spelling in _spellings(folder))


def _spellings(path: Path) -> set[tuple[str, ...]]:
    """The components of a path as it is written and as it resolves, in the form in which the system compares names."""
    expanded = os.path.expanduser(path)  # noqa: PTH111 - Path.expanduser raises where there is no such user
    return {
        tuple(_comparable(part) for part in Path(spelling).parts)
        for spelling in (os.path.abspath(expanded), os.path.realpath(expanded))  # noqa: PTH100
    }


def _comparable(name: str) -> str:
    if sys.platform in ("darwin", "win32"):
        return unicodedata.normalize("NFC", name).casefold()
    return name
