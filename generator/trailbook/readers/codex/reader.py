"""A rollout as a `Chat`: its own part, the replayed part marked, subagents with the call that spawned them."""

from __future__ import annotations

from datetime import tzinfo
from pathlib import Path

from trailbook.chat import Agent, Chat, Diagnostic, Origin, Tool
from trailbook.readers import Found, Unreadable
from trailbook.readers.codex.family import identity, is_spawned, spawn_of, spawned_by
from trailbook.readers.codex.finding import beginning_of, thread_of, title_of
from trailbook.readers.codex.forks import own_part
from trailbook.readers.codex.reading import Reading
from trailbook.readers.codex.rollouts import lines_of
from trailbook.readers.codex.thread import read_thread
from trailbook.readers.codex.turn_items import with_events_for_items
from trailbook.readers.lines import Problems
from trailbook.readers.values import Fields, fields, items, moment, string


def read(found: Found, zone: tzinfo) -> Chat:
    """The whole chat of a rollout, with its subagents. Raises Unreadable, OSError."""
    main, _ = _read_file(found.path, zone)
    readings = {main.chat.id: main}
    for file in found.inputs[1:]:
        try:
            reading, meta = _read_file(file, zone)
        except (OSError, Unreadable) as error:
            main.problems.add("subagent-unreadable", f"A subagent's log could not be read: {error}", lost=True)
            continue
        parent = readings.get(reading.chat.parent or "", main)
        if readings.setdefault(reading.chat.id, reading) is reading:
            reading.chat.started_by = _started_by(parent, reading.chat.id, meta)
            parent.chat.subagents.append(reading.chat)
    for reading in readings.values():
        reading.chat.diagnostics = reading.problems.found
    return main.chat


def _read_file(path: Path, zone: tzinfo) -> tuple[Reading, Fields]:
    problems = Problems()
    lines = [event for line in lines_of(path, problems) for event in with_events_for_items(line)]
    if not lines:
        raise Unreadable(f"{path} has no record of Codex in it: there is nothing to read.")
    meta = identity(lines)
    chat = _chat_of(path, meta, zone)
    chat.started = chat.started or moment(lines[0].timestamp, zone)[0]
    reading = read_thread(chat, lines, own_part(lines), problems, zone)
    if not chat.events:
        raise Unreadable(f"{path} holds nothing that was asked or done. {_why(problems.found)}".rstrip())
    return reading, meta


def _why(found: list[Diagnostic]) -> str:
    return next((diagnostic.text for diagnostic in found if diagnostic.kind == "unknown-record"), "")


def _chat_of(path: Path, meta: Fields, zone: tzinfo) -> Chat:
    thread, spawn = thread_of(path, meta), spawn_of(meta)
    spawned, parent, forked_from = is_spawned(meta), spawned_by(meta), string(meta.get("forked_from_id"))
    nickname = string(spawn.get("agent_nickname"))
    name = nickname or string(spawn.get("agent_role"))
    instructions = string(fields(meta.get("base_instructions")).get("text")) or string(meta.get("base_instructions"))
    provider = string(meta.get("model_provider"))
    return Chat(
        id=thread,
        source="codex",
        agent=Agent(nickname or "Codex", string(meta.get("cli_version")), "Codex"),
        title=title_of(path, thread, beginning_of(path)),
        origin=Origin("subagent", name=name) if spawned else Origin(),
        cwd=string(meta.get("cwd")),
        git_branch=string(fields(meta.get("git")).get("branch")),
        system_prompt=instructions or string(meta.get("instructions")),
        tools=[tool for value in items(meta.get("dynamic_tools")) if (tool := _tool(fields(value)))],
        started=moment(meta.get("timestamp"), zone)[0],
        parent=parent or (None if spawned else forked_from),
        forked=not spawned and forked_from is not None,
        providers=[provider] if provider else [],
        reopen=[] if spawned else ["codex", "resume", thread],
    )


def _tool(value: Fields) -> Tool | None:
    name = string(value.get("name"))
    if name is None:
        return None
    schema = next((value[key] for key in ("inputSchema", "input_schema", "parameters") if key in value), None)
    return Tool(name, string(value.get("description")), schema)


def _started_by(parent: Reading, thread: str, meta: Fields) -> str | None:
    """The call that spawned a thread: named by its id, by its path (`/root/name`) or by the path's last part."""
    agent_path = string(spawn_of(meta).get("agent_path")) or ""
    keys = (thread, agent_path, agent_path.rpartition("/")[2])
    return next((parent.spawned[key] for key in keys if key in parent.spawned), None)
