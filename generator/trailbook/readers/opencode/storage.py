"""The folder of JSON files in which OpenCode kept its sessions before it had a database.

`storage/session/<project>/<session>.json`, `storage/message/<session>/<message>.json` and
`storage/part/<message>/<part>.json` hold what stands in the database's three tables.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from trailbook.chat import Place
from trailbook.readers import Found, Passed, Unreadable
from trailbook.readers.lines import Problems, read_document
from trailbook.readers.opencode.sessions import (
    LoggedMessage,
    LoggedPart,
    Session,
    children_in,
    family_of,
    time_of,
    title_of,
)
from trailbook.readers.values import Fields, fields, string

_SESSIONS, _MESSAGES, _PARTS = "session", "message", "part"


def find(path: Path, head: bytes) -> list[Found] | Passed | None:
    """The session of a file in such a folder, or what the file is there for. Raises OSError."""
    root = root_of(path)
    if root is None or not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return None
    kind = path.relative_to(root).parts[0]
    if kind == _SESSIONS:
        return _find_session(root, path)
    if kind in (_MESSAGES, _PARTS):
        named = string(_object(path, root, Problems()).get("sessionID")) if b'"sessionID"' in head else None
        return Passed("a part of a session of OpenCode, read with it", _session_files(root).get(named or ""))
    return Passed("what OpenCode keeps beside its sessions, no chat")


def load(found: Found) -> Session:
    """The session that was found, with those that it started. Raises Unreadable, OSError."""
    root = root_of(found.path)
    if root is None:
        raise Unreadable(f"{found.path} no longer lies in a storage folder of OpenCode: list it again.")
    return _load(root, found.path.stem, *_index(root, _marks(root)))


def _load(root: Path, name: str, files: dict[str, Path], children: dict[str | None, list[str]]) -> Session:
    problems = Problems()
    session = Session(name, _object(files[name], root, problems), problems)
    for file in _json_files(root / _MESSAGES / name):
        message = LoggedMessage(_place(file, root), _object(file, root, problems))
        for part in _json_files(root / _PARTS / file.stem):
            if values := _object(part, root, problems):
                message.parts.append(LoggedPart(_place(part, root), values))
        session.messages.append(message)
    session.children = [_load(root, child, files, children) for child in children.get(name, ())]
    return session


def _find_session(root: Path, path: Path) -> list[Found] | Passed | None:
    info = _object(path, root, Problems())
    if not ("directory" in info or "projectID" in info):
        return None
    files, children = _index(root, _marks(root))
    if files.get(path.stem) != path:
        return Passed("another file of a session that is read from elsewhere in the same folder")
    if path.stem not in children.get(None, ()):
        above = next(parent for parent, members in children.items() if path.stem in members)
        return Passed("a session that another session started, read with it", files.get(above or ""))
    inputs = [file for name in family_of(path.stem, children) for file in _inputs(root, files[name])]
    stats = [file.stat() for file in inputs]
    marks = [f"{file.name} {stat.st_size} {stat.st_mtime_ns}" for file, stat in zip(inputs, stats, strict=True)]
    if not any(file.parent.parent == root / _MESSAGES for file in inputs):
        return Passed("a session without a message")
    return [
        Found(
            reader="opencode",
            id=path.stem,
            path=path,
            inputs=tuple(inputs),
            fingerprint=sha256("\n".join(marks).encode("utf-8", "replace")).hexdigest(),
            title=title_of(info),
            started=time_of(info, "created"),
            updated=time_of(info, "updated") or max(stat.st_mtime_ns for stat in stats) // 1_000_000,
            cwd=string(info.get("directory")),
            origin="subagent" if string(info.get("parentID")) else "chat",
            size=sum(stat.st_size for stat in stats),
            preference=1,
        )
    ]


def _inputs(root: Path, session: Path) -> list[Path]:
    messages = _json_files(root / _MESSAGES / session.stem)
    return [session, *messages, *(part for file in messages for part in _json_files(root / _PARTS / file.stem))]


def root_of(path: Path) -> Path | None:
    """The storage folder of OpenCode that a file lies in; None where it lies in none."""
    if path.suffix != ".json":
        return None
    for folder in path.parents[1:3]:
        if (folder / _SESSIONS).is_dir() and (folder / _MESSAGES).is_dir():
            return folder
    return None


def _session_files(root: Path) -> dict[str, Path]:
    return _index(root, _marks(root))[0]


def _marks(root: Path) -> tuple[tuple[str, int], ...]:
    """What tells whether a session came or went."""
    projects = sorted(folder for folder in (root / _SESSIONS).iterdir() if folder.is_dir())
    return tuple((folder.name, folder.stat().st_mtime_ns) for folder in projects)


@lru_cache(maxsize=4)
def _index(root: Path, projects: tuple[tuple[str, int], ...]) -> tuple[dict[str, Path], dict[str | None, list[str]]]:
    """The file of each session by its id, and the sessions that each one started."""
    files: dict[str, Path] = {}
    for project, _changed in projects:
        for file in _json_files(root / _SESSIONS / project):
            files.setdefault(file.stem, file)
    named = {name: string(_object(file, root, Problems()).get("parentID")) for name, file in files.items()}
    return files, children_in(named)


def _json_files(folder: Path) -> list[Path]:
    """The files of a folder in the order of their names, which is that of time; none where there is no such folder."""
    if not folder.is_dir():
        return []
    files = (file for file in folder.iterdir() if file.suffix == ".json")
    return sorted(file for file in files if file.is_file() and not file.is_symlink())


def _place(file: Path, root: Path) -> Place:
    return Place(file.relative_to(root).as_posix(), 1, "message")


def _object(file: Path, root: Path, problems: Problems) -> Fields:
    """The object in a file; an empty one for a damaged file, which is reported."""
    try:
        value = read_document(file, problems, name=_place(file, root).file)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        text = f"{file.name} holds no JSON object; it was passed over."
        problems.add("damaged-file", text, _place(file, root), lost=True)
    return fields(value)
