"""Which files are ATIF trajectories, and what a list of chats says of one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from pathlib import Path

from trailbook.chat import JSON
from trailbook.readers import Found, Passed
from trailbook.readers.pieces import listed
from trailbook.readers.values import Fields, fields, items, moment, string

_SCHEMA = "ATIF-v1."


def find(path: Path, head: bytes) -> list[Found] | Passed | None:
    """The trajectories of a file, or None when it holds none. Raises Unreadable for a cut one, OSError."""
    # A trajectory names its schema or at least numbers its steps, and does so early.
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"[") or not _hints(head):
        return None
    return listed(path, "atif", arrays=True, certain=_SCHEMA.encode() in head, describe=describe)


def _hints(head: bytes) -> bool:
    return (b'"schema_version"' in head and _SCHEMA.encode() in head) or b'"step_id"' in head


def is_trajectory(value: JSON) -> bool:
    """Whether a value is a trajectory: by the name of its schema, or (that may be missing) by its steps and agent."""
    trajectory = fields(value)
    schema = trajectory.get("schema_version")
    if schema is not None:
        return isinstance(schema, str) and schema.startswith(_SCHEMA)
    steps = items(trajectory.get("steps"))
    return bool(steps) and "step_id" in fields(steps[0]) and "name" in fields(trajectory.get("agent"))


def describe(value: JSON, found: Found) -> Found | None:
    """What the list says of one trajectory; None for a value that is none."""
    if not is_trajectory(value):
        return None
    trajectory = fields(value)
    times = [time for step in items(trajectory.get("steps")) if (time := _time(fields(step))) is not None]
    agent = fields(fields(trajectory.get("agent")).get("extra"))
    pictures = _pictures(trajectory, found.path.parent)
    return replace(
        found,
        # A session id may be shared by several trajectories and names none of them.
        id=string(trajectory.get("trajectory_id")) or found.id,
        inputs=(found.path, *pictures),
        fingerprint=":".join([found.fingerprint, *map(_stamp, pictures)]),
        title=_first_words(trajectory),
        started=min(times, default=None),
        updated=max(times, default=found.updated),
        cwd=string(agent.get("cwd")),
    )


def picture_paths(content: JSON) -> list[str]:
    """The paths or addresses of the pictures in a message or a result."""
    sources = [fields(fields(part).get("source")) for part in items(content) if fields(part).get("type") == "image"]
    return [path for source in sources if (path := string(source.get("path")))]


def beside(folder: Path, path: str) -> Path | None:
    """The file that lies at a picture's path, where that is one in the trajectory's own folder or below it."""
    try:
        file = (folder / path).resolve()
        return file if file.is_relative_to(folder.resolve()) and file.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None


def _pictures(trajectory: Fields, folder: Path) -> list[Path]:
    found: dict[Path, None] = {}
    for step in items(trajectory.get("steps")):
        results = items(fields(fields(step).get("observation")).get("results"))
        for content in (fields(step).get("message"), *(fields(result).get("content") for result in results)):
            for path in picture_paths(content):
                file = beside(folder, path)
                if file is not None:
                    found[file] = None
    for child in items(trajectory.get("subagent_trajectories")):
        found.update(dict.fromkeys(_pictures(fields(child), folder)))
    return list(found)


def _stamp(file: Path) -> str:
    status = file.stat()
    return f"{status.st_size}-{status.st_mtime_ns}"


def _time(step: Fields) -> int | None:
    return moment(step.get("timestamp"), UTC)[0]


def _first_words(trajectory: Fields) -> str | None:
    for step in items(trajectory.get("steps")):
        if fields(step).get("source") == "user":
            words = text_of(fields(step).get("message")).strip()
            if words:
                return words.split("\n")[0][:200]
    return None


def text_of(content: JSON) -> str:
    """The words of a message or a result; its pictures and sounds say nothing."""
    if isinstance(content, str):
        return content
    texts = [fields(part).get("text") for part in items(content) if fields(part).get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))
