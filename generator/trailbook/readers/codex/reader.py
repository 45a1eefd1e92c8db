"""A rollout as a `Chat`: its own part, the replayed part marked, subagents with the call that spawned them."""

from __future__ import annotations

from datetime import tzinfo
from pathlib import Path

from trailbook.chat import Agent, Chat, Origin
from trailbook.readers import Found, Unreadable
from trailbook.readers.codex.family import children_of, identity, spawned_by
from trailbook.readers.codex.finding import first_prompt, title_in_index
from trailbook.readers.codex.forks import own_part
from trailbook.readers.codex.rollouts import RolloutLine, id_in_name, lines_of
from trailbook.readers.codex.thread import Thread
from trailbook.readers.lines import Problems
from trailbook.readers.values import fields, moment, string


def read(found: Found, zone: tzinfo) -> Chat:
    """The whole chat of a rollout, with its subagents. Raises Unreadable, OSError."""
    return _read_thread(found.path, zone, depth=0)


def _read_thread(path: Path, zone: tzinfo, depth: int) -> Chat:
    problems = Problems()
    lines = list(lines_of(path, problems))
    if not lines:
        raise Unreadable(f"{path} has no record of Codex in it.")
    meta = identity(lines)
    chat = _empty_chat(path, lines, meta, zone)
    thread = Thread(chat, problems, zone, lines)
    own = own_part(lines)
    for index, line in enumerate(lines):
        thread.take(line, inherited=index < own)
    thread.finish()
    if depth < 16:
        for child in children_of(path, chat.id):
            subagent = _read_thread(child, zone, depth + 1)
            subagent.started_by = thread.spawned.get(subagent.id)
            chat.subagents.append(subagent)
    chat.diagnostics = problems.found
    return chat


def _empty_chat(path: Path, lines: list[RolloutLine], meta: RolloutLine | None, zone: tzinfo) -> Chat:
    payload = meta.payload if meta else {}
    thread = string(payload.get("id")) or id_in_name(path) or path.stem
    spawn = fields(fields(fields(payload.get("source")).get("subagent")).get("thread_spawn"))
    parent = spawned_by(meta) if meta else None
    nickname = string(spawn.get("agent_nickname"))
    forked_from = string(payload.get("forked_from_id"))
    instructions = string(fields(payload.get("base_instructions")).get("text")) or string(payload.get("instructions"))
    provider = string(payload.get("model_provider"))
    own = lines[own_part(lines) :]
    return Chat(
        id=thread,
        source="codex",
        agent=Agent(nickname or "Codex", string(payload.get("cli_version")), "Codex"),
        title=title_in_index(path, thread) or first_prompt(own),
        origin=Origin("subagent", name=nickname or string(spawn.get("agent_role"))) if parent else Origin(),
        cwd=string(payload.get("cwd")),
        git_branch=string(fields(payload.get("git")).get("branch")),
        system_prompt=instructions,
        started=moment(string(payload.get("timestamp")) or lines[0].timestamp, zone)[0],
        parent=parent or forked_from,
        forked=parent is None and forked_from is not None,
        providers=[provider] if provider else [],
        reopen=[] if parent else ["codex", "resume", thread],
    )
