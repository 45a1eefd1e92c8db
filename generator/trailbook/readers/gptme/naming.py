"""What a chat is called."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from trailbook.readers.files import open_own
from trailbook.readers.gptme.folder import FULL_LOG, LOG
from trailbook.readers.gptme.log_lines import Line, injected_by
from trailbook.readers.values import Fields, string

_DATED = re.compile(r"\d{4}-\d{2}-\d{2}-|subagent-.+-[a-z0-9]{4}$")
_MOST = 1_048_576


def id_of(log: Path) -> str:
    """A chat's id: the name of its folder, by which gptme knows it.

    A name that a person chose may be in use in several stores, so the beginning of the log tells those apart.
    """
    if log.name not in (LOG, FULL_LOG):
        name = log.stem
    elif _DATED.match(log.parent.name):
        return log.parent.name
    else:
        name = log.parent.name
    with open_own(log) as stream:
        return f"{name}-{hashlib.sha256(stream.readline(_MOST)).hexdigest()[:6]}"


def title_of(settings: Fields, folder: str, lines: Iterable[Line]) -> str | None:
    """The name that the person or gptme gave the chat, unless it repeats the folder's; else what was first asked."""
    name = string(settings.get("name"))
    if name is not None and not folder.endswith(name) and not folder.startswith(f"{name}-"):
        return name
    asked = (line.content.strip() for line in lines if line.role == "user" and injected_by(line) is None)
    return next((text.split("\n")[0] for text in asked if text), None)
