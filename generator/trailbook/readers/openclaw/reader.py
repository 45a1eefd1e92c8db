"""A session as a `Chat`, with those that it spawned."""

from __future__ import annotations

from datetime import UTC, tzinfo
from pathlib import PurePath

from trailbook.chat import Agent, Chat, Origin
from trailbook.readers import Found, Unreadable
from trailbook.readers.lines import Problems, Record
from trailbook.readers.openclaw import bundle, trace
from trailbook.readers.openclaw.agents import PRODUCTS
from trailbook.readers.openclaw.family import Session, children_of, session_at
from trailbook.readers.openclaw.finding import origin_of
from trailbook.readers.openclaw.log import Log, name_in, records_of, split
from trailbook.readers.openclaw.transcript import Transcript
from trailbook.readers.openclaw.tree import standing
from trailbook.readers.values import fields, moment, string


def read(found: Found, zone: tzinfo) -> Chat:
    """The whole chat. Raises Unreadable, OSError."""
    session = session_at(found.path, found.id)
    return _read(found.reader, session, zone, above=(session,), family=found.remark is None)


def _read(agent: str, session: Session, zone: tzinfo, above: tuple[Session, ...], *, family: bool) -> Chat:
    problems = Problems()
    log = split(records_of(session.path, session.id, problems), problems)
    if not log.header and not log.entries:
        raise Unreadable(f"{session.path} holds no session of {PRODUCTS[agent]} that could be read: check the file.")
    chat = _empty_chat(agent, session, log, zone, problems)
    transcript = Transcript(chat, problems, zone)
    stands = standing(log.entries, problems)
    chat.branches = stands.branches
    for entry, branch in zip(log.entries, stands.of_entry, strict=True):
        transcript.take(entry, branch, inherited=is_copied(entry, log))
    transcript.finish()
    if chat.parent is not None:
        chat.forked = session.spawned_by is None and any(event.inherited for event in chat.events)
    for child in children_of(session) if family else []:
        if child not in above:
            subagent = _read(agent, child, zone, (*above, child), family=True)
            subagent.origin.kind = "subagent"
            subagent.parent, subagent.forked, subagent.reopen = chat.id, False, []
            subagent.started_by = _call_of(child, transcript.spawned)
            chat.subagents.append(subagent)
    chat.diagnostics = problems.found
    return chat


def is_copied(entry: Record, log: Log) -> bool:
    """Whether an entry is older than its session: a fork starts with copies of its parent's entries."""
    if string(log.header.get("parentSession")) is None:
        return False
    began, _ = moment(log.header.get("timestamp"), UTC)
    at, _ = moment(fields(entry.value).get("timestamp"), UTC)
    return began is not None and at is not None and at < began


def _empty_chat(agent: str, session: Session, log: Log, zone: tzinfo, problems: Problems) -> Chat:
    given = trace.given(session.path, session.id, problems)
    parent = string(log.header.get("parentSession"))
    started, naive = moment(log.header.get("timestamp"), zone)
    return Chat(
        id=session.id,
        source=agent,
        agent=Agent(PRODUCTS[agent], given.version, PRODUCTS[agent]),
        title=name_in(log.entries) or log.title or string(log.header.get("title")) or session.label,
        origin=Origin(origin_of(session), id=session.key),
        cwd=string(log.header.get("cwd")),
        system_prompt=given.system_prompt,
        tools=given.tools,
        started=started,
        naive_times=naive,
        parent=_id_in(parent) if parent else None,
        reopen=_reopen(agent, session),
    )


def _id_in(parent: str) -> str:
    """A session's id in the path of its file (`<time>_<id>.jsonl`, `<id>.jsonl`)."""
    return PurePath(parent.replace("\\", "/")).name.partition(".jsonl")[0].rpartition("_")[2]


def _reopen(agent: str, session: Session) -> list[str]:
    if agent == "openclaw" or session.path.name == bundle.BRANCH:
        return []
    return [agent, "--session", session.id] if agent == "pi" else [agent, "--resume", session.id]


def _call_of(child: Session, spawned: dict[str, str]) -> str | None:
    """The call that spawned a session: the log names it by its key, or by its file's name (`0-Scout` for `Scout`)."""
    stem = child.path.stem
    names = (child.key, stem, stem.partition("-")[2])
    return next((spawned[name] for name in names if name is not None and name in spawned), None)
