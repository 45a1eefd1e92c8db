"""The runtime trace beside a session: what the model was given (system prompt, tools) and the agent's version.

It repeats the session's prompts and answers, so it is no chat of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from trailbook.chat import JSON, Tool
from trailbook.readers import databases
from trailbook.readers.lines import Problems, Record, read_records
from trailbook.readers.openclaw import bundle, database
from trailbook.readers.values import fields, items, string

ENDING = ".trajectory.jsonl"

_SCHEMA = "openclaw-trajectory"


@dataclass(slots=True)
class Given:
    """What a session's model was given."""

    system_prompt: str | None = None
    tools: list[Tool] = field(default_factory=list)
    version: str | None = None


def file_of(session_file: Path, session: str) -> Path | None:
    """The file with a session's runtime trace, if there is one."""
    folder = os.environ.get("OPENCLAW_TRAJECTORY_DIR")
    candidates = [session_file.with_name(session_file.name.partition(".jsonl")[0] + ENDING)]
    if folder and "/" not in session and "\\" not in session:
        candidates.append(Path(folder) / f"{session}.jsonl")
    return next((file for file in candidates if file.is_file() and not file.is_symlink()), None)


def given(path: Path, session: str, problems: Problems) -> Given:
    """What the trace of a session says, wherever its store has it. Raises Unreadable, OSError."""
    if path.name == bundle.BRANCH:
        prompt, tools = bundle.declared(path, problems)
        return Given(prompt, _tools(tools))
    return _given(_records(path, session))


def _records(path: Path, session: str) -> Iterator[Record]:
    if databases.is_database(path):
        return database.trace(path, session)
    file = file_of(path, session)
    return read_records(file, Problems()) if file is not None else iter(())


def _given(records: Iterable[Record]) -> Given:
    found = Given()
    for record in records:
        event = fields(record.value)
        if event.get("traceSchema") != _SCHEMA:
            continue
        data = fields(event.get("data"))
        if event.get("type") == "context.compiled":
            found.system_prompt = string(data.get("systemPrompt")) or found.system_prompt
            found.tools = _tools(items(data.get("tools"))) or found.tools
        elif event.get("type") == "trace.metadata":
            found.version = string(fields(data.get("harness")).get("version")) or found.version
    return found


def _tools(declared: list[JSON]) -> list[Tool]:
    """The tools as declared; a schema that was cut short (the trace has limits) is left out."""
    tools = []
    for tool in map(fields, declared):
        name, parameters = string(tool.get("name")), tool.get("parameters")
        if name is not None:
            whole = isinstance(parameters, dict) and parameters.get("truncated") is not True
            tools.append(Tool(name, string(tool.get("description")), parameters if whole else None))
    return tools
