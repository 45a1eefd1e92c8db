"""`trailbook.toml`: what a person does not want to write on every command line. The command line wins."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path

from trailbook.failures import USAGE, Stopped

NAME = "trailbook.toml"

_PATHS = ("logs", "secrets")
_WORDS = ("formats", "names")
_PATH = ("out", "theme")
_KNOWN = (*_PATHS, *_WORDS, *_PATH, "tz")


@dataclass(slots=True, frozen=True)
class Settings:
    """Paths are absolute: those in the file are relative to the folder that it lies in."""

    logs: tuple[Path, ...] = ()
    out: Path | None = None
    theme: Path | None = None
    formats: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Names of people, to be taken out."""
    secrets: tuple[Path, ...] = ()
    """Files of known secrets, in the style of .env."""
    tz: str | None = None


def load() -> Settings:
    """The settings from the current folder, else from the person's own; without a file, none.

    Raises Stopped for a file that cannot be read, an unknown setting, or a value of another type.
    """
    for path in (Path.cwd() / NAME, _config_folder() / NAME):
        if path.is_file():
            return _read(path)
    return Settings()


def _config_folder() -> Path:
    given = os.environ.get("XDG_CONFIG_HOME")
    return (Path(given) if given else Path.home() / ".config") / "trailbook"


def _read(path: Path) -> Settings:
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise Stopped(f"{path} could not be read ({error.strerror}). Check its permissions.", USAGE) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Stopped(f"{path} is not TOML: {error}. Mend that place.", USAGE) from None
    for name in values:
        if name not in _KNOWN:
            raise Stopped(f"{path} has an unknown setting {name}. There are: {', '.join(sorted(_KNOWN))}.", USAGE)
    folder = path.parent
    single = {name: _one(path, name, values.get(name)) for name in (*_PATH, "tz")}
    several = {name: _several(path, name, values.get(name)) for name in (*_PATHS, *_WORDS)}
    return Settings(
        logs=tuple(_below(folder, item) for item in several["logs"]),
        out=_below(folder, single["out"]) if single["out"] is not None else None,
        theme=_below(folder, single["theme"]) if single["theme"] is not None else None,
        formats=several["formats"],
        names=several["names"],
        secrets=tuple(_below(folder, item) for item in several["secrets"]),
        tz=single["tz"],
    )


def _below(folder: Path, path: str) -> Path:
    return folder / os.path.expanduser(path)  # noqa: PTH111 - Path.expanduser raises where there is no such user


def _one(path: Path, name: str, value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise Stopped(f'{path}: {name} must be text, such as {name} = "…".', USAGE)


def _several(path: Path, name: str, value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise Stopped(f'{path}: {name} must be a list of texts, such as {name} = ["…"].', USAGE)
