"""A chat of gptme as a `Chat`, its subagents in it."""

from __future__ import annotations

import re
from datetime import tzinfo
from pathlib import Path

from trailbook import json_text
from trailbook.chat import Agent, Branch, Called, Chat, Compacted, Noted, Origin
from trailbook.readers import Found, Unreadable
from trailbook.readers.gptme.clock import zone_of_log
from trailbook.readers.gptme.folder import about_of, files_of, settings_of, subagents_of
from trailbook.readers.gptme.history import History, history_of
from trailbook.readers.gptme.log_lines import Line
from trailbook.readers.gptme.naming import id_of, title_of
from trailbook.readers.gptme.telling import EventOfChat, Teller, outcome_at_end
from trailbook.readers.gptme.writing import writing_of
from trailbook.readers.lines import Problems
from trailbook.readers.values import Fields, string

_VERSION = re.compile(r"You are gptme v(\d[\w.+-]*)")
_DEEPEST = 16
"""Subagents that start subagents that start subagents."""


def read(found: Found, zone: tzinfo) -> Chat:
    """The chat whose log was found. Raises Unreadable when it has no messages, OSError."""
    return _read_chat(found.path, found.id, zone, ())


def _read_chat(log: Path, name: str, zone: tzinfo, above: tuple[Path, ...], parent: Teller | None = None) -> Chat:
    problems = Problems()
    files = files_of(log)
    history = history_of(files, problems)
    if not history.lines and not history.asides:
        raise Unreadable(f"{log} has no message of gptme in it; check that it is a chat's log.")
    settings = settings_of(files, problems)
    chat = _empty_chat(log, name, settings, history.lines)
    known = zone_of_log(history.lines, files, zone) or (parent.zone if parent and parent.zone_known else None)
    teller = Teller(
        chat, writing_of(history.lines, settings), known or zone, files.copies, problems, zone_known=known is not None
    )
    chat.events = [*_events(chat, teller, history)]
    chat.completed = outcome_at_end(chat.events)
    if not chat.models and (model := string(settings.get("model"))):
        chat.models.append(model)
    _add_subagents(teller, log, zone, (*above, log))
    chat.diagnostics = problems.found
    return chat


def _empty_chat(log: Path, name: str, settings: Fields, lines: list[Line]) -> Chat:
    prompts = [line.content for line in lines[: count_of_prompts(lines)]]
    version = next((match.group(1) for text in prompts if (match := _VERSION.search(text))), None)
    folder = log.parent.name
    return Chat(
        id=name,
        source="gptme",
        agent=Agent("gptme", version.rstrip(".") if version else None, "gptme"),
        title=title_of(settings, folder, lines),
        cwd=_workspace(log, settings),
        system_prompt="\n\n".join(prompts) or None,
        reopen=["gptme", "--resume", "--name", folder] if log.name == "conversation.jsonl" else [],
    )


def count_of_prompts(lines: list[Line]) -> int:
    """How many messages stand at a log's head that say what the agent is to be: system text, before anything else."""
    for number, line in enumerate(lines):
        if line.role != "system" or line.call_id is not None or line.shown_only:
            return number
    return len(lines)


def _workspace(log: Path, settings: Fields) -> str | None:
    """The folder that the agent worked in: from its settings, else from the link beside its log."""
    folder = string(settings.get("workspace"))
    if folder is not None:
        return folder if not folder.startswith("@") else None
    try:
        return str((log.parent / "workspace").readlink())
    except OSError:
        return None


# --- events, branches where they left


def _events(chat: Chat, teller: Teller, history: History) -> list[EventOfChat]:
    told = teller.tell(history.lines)
    for number in range(count_of_prompts(history.lines)):
        told[number] = []
    aside: dict[int, list[EventOfChat]] = {}
    for after, summaries in history.summaries.items():
        aside[after] = [
            Compacted(summary=line.content, trigger="manual", at=teller.time_of(line), place=line.place)
            for line in summaries
        ]
    for after, commands in history.commands.items():
        aside.setdefault(after, []).extend(
            Noted(topic="command", text=line.content, at=teller.time_of(line), place=line.place) for line in commands
        )
    for left in history.asides:
        place = history.lines[left.after - 1].place if left.after else None
        name = "kept in the record of events only" if left.name == "events" else left.name
        chat.branches[left.name] = Branch(left.name, left_at=place, name=name)
        events = teller.tell(left.lines, branch=left.name)
        aside.setdefault(left.after, []).extend(event for of_line in events for event in of_line)
    in_order = list(aside.get(0, ()))
    for number, events_of_line in enumerate(told, 1):
        in_order += [*events_of_line, *aside.get(number, ())]
    return in_order


# --- subagents


def _add_subagents(teller: Teller, log: Path, zone: tzinfo, above: tuple[Path, ...]) -> None:
    chat, problems = teller.chat, teller.problems
    for child in subagents_of(log):
        if child in above or len(above) > _DEEPEST:
            continue
        try:
            subagent = _read_chat(child, id_of(child), zone, above, teller)
        except (OSError, Unreadable):
            problems.add(
                "unreadable-file", f"The log of the subagent {child.parent.name} could not be read.", lost=True
            )
            continue
        about = about_of(child.parent)
        agent = string(about.get("agent_id"))
        subagent.agent.name = agent or subagent.agent.name
        subagent.origin = Origin("subagent", name=string(about.get("profile")))
        subagent.parent, subagent.reopen = chat.id, []
        subagent.started_by = _starter(chat, agent, string(about.get("prompt")))
        if subagent.started_by is None:
            problems.add("unjoined-subagent", f"The log does not say which call started {child.parent.name}.")
        chat.subagents.append(subagent)


def _starter(chat: Chat, agent: str | None, prompt: str | None) -> str | None:
    """The call that started a subagent: the one with its name in it, and its prompt if there are several.

    gptme's log of the parent does not name the subagent's folder anywhere.
    """
    if agent is None:
        return None
    named = [
        (call.id, words)
        for call in chat.events
        if isinstance(call, Called)
        and "subagent" in (words := call.name + (call.raw or json_text.dump(call.arguments).decode()))
        and agent in words
    ]
    told = [call for call, words in named if prompt and json_text.dump(prompt).decode()[1:-1] in words]
    return next(iter([*told, *(call for call, _ in named)]), None)
