"""What the index says of one chat: a row that the manifest keeps as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from trailbook.chat import JSON, Chat
from trailbook.formats import Sheet
from trailbook.timeline import Timeline
from trailbook.wording import line, shorten
from trailbook.writers.report import report_addresses

PROMPT = 140
"""Characters of the first prompt in a row."""

MOST_FILES = 400
"""Files of one chat in the index; what is beyond is counted."""

LONGEST_PATH = 1_000

MOST_STEPS = 12
"""Steps that are linked for one file of one chat."""


@dataclass(slots=True)
class Row:
    """One chat. Times are epoch milliseconds, lengths milliseconds, money dollars; None is unknown."""

    stem: str
    title: str
    parent: str | None = None
    """The stem of the chat that handed its work to this one."""
    prompt: str = ""
    agent: str = ""
    models: list[str] = field(default_factory=list)
    project: str = ""
    """The working folder."""
    origin: str = "chat"
    started: int | None = None
    duration: int | None = None
    waiting: int = 0
    steps: int = 0
    failed: int = 0
    tokens: int | None = None
    usd: float | None = None
    estimated_from: str = ""
    """The price table, where `usd` is an estimate or has one in it."""
    first_failed: str = ""
    """The page and step of the first thing that did not work."""
    files: list[tuple[str, list[tuple[int, str]], int, str]] = field(default_factory=list)
    """Each changed file with the steps that changed it (number, page and step), how many more there are, and what a
    person had asked when it was first changed (empty where the title says it)."""
    more_files: int = 0
    lost: int = 0
    """How many things of the log could not be carried over."""
    report: str = ""
    """The page, empty where no report was written."""
    note: str = ""
    gone: bool = False
    """True when its log is no longer there."""


def row_of(chat: Chat, sheet: Sheet) -> JSON:
    """The row of a (redacted) chat, as JSON."""
    timeline = sheet.timeline_of(chat)
    totals = timeline.totals
    usage = totals.usage
    written = sheet.output.formats
    addresses = report_addresses(chat, sheet) if "report" in written else []
    known = usage is not None and (usage.prompt_tokens is not None or usage.output_tokens is not None)
    title, prompt = _title_and_prompt(timeline)
    row = Row(
        stem=sheet.stem,
        title=title,
        parent=sheet.parent,
        prompt=prompt,
        agent=chat.agent.name or chat.agent.product,
        models=list(chat.models),
        project=chat.cwd or "",
        origin=timeline.origin,
        started=timeline.started,
        duration=totals.duration,
        waiting=totals.waiting,
        steps=len(timeline.steps),
        failed=totals.failed,
        tokens=(usage.prompt_tokens or 0) + (usage.output_tokens or 0) if usage and known else None,
        usd=totals.usd,
        estimated_from=totals.estimated_from or "",
        first_failed=_first_failed(timeline, addresses),
        lost=sum(diagnostic.count for diagnostic in chat.diagnostics if diagnostic.lost),
        report=f"reports/{sheet.stem}.html" if "report" in written else "",
        note=f"notes/{sheet.stem}.md" if "markdown" in written else "",
    )
    files = _files(timeline, addresses, title)
    row.files, row.more_files = files[:MOST_FILES], max(len(files) - MOST_FILES, 0)
    value: JSON = {name: item for name, item in asdict(row).items() if item not in (None, "", [], False, 0)}
    return value


def from_json(value: JSON) -> Row | None:
    """The row that was kept as JSON; None for what is none."""
    if not isinstance(value, Mapping) or not isinstance(value.get("stem"), str):
        return None
    known = {each.name for each in fields(Row)}
    given: dict[str, Any] = {name: item for name, item in value.items() if name in known}
    given.setdefault("title", "Untitled chat")
    given["files"] = [tuple([*file, ""][:4]) for file in given.get("files", ())]
    return Row(**given)


def _title_and_prompt(timeline: Timeline) -> tuple[str, str]:
    """The title, and the first thing a person asked; where the title is only its beginning, the prompt is the title."""
    asked = (step for step in timeline.steps if step.kind == "asked" and step.injected is None and not step.inherited)
    prompt = next((shorten(line(step.text or step.title), PROMPT) for step in asked), "")
    if prompt.startswith(timeline.title.rstrip("…")):
        return prompt, ""
    return timeline.title, prompt


def _first_failed(timeline: Timeline, addresses: list[str]) -> str:
    if not addresses:
        return ""
    failed = (index for index, step in enumerate(timeline.steps) if step.status == "failed" and not step.inherited)
    return next((addresses[index] for index in failed), "")


def _files(timeline: Timeline, addresses: list[str], title: str) -> list[tuple[str, list[tuple[int, str]], int, str]]:
    steps_of: dict[str, list[int]] = {}
    asked: dict[int, str] = {}
    for index, step in enumerate(timeline.steps):
        if step.inherited:
            continue
        if step.kind == "asked" and step.injected is None:
            asked.setdefault(step.turn, shorten(line(step.text or step.title), PROMPT))
        for path in dict.fromkeys(change.path for change in step.files):
            steps_of.setdefault(path, []).append(index)
    found = []
    for path, indexes in steps_of.items():
        why = asked.get(timeline.steps[indexes[0]].turn, "")
        linked = [(index + 1, addresses[index] if addresses else "") for index in indexes[:MOST_STEPS]]
        more = max(len(indexes) - MOST_STEPS, 0)
        found.append((line(path, LONGEST_PATH), linked, more, "" if why == title else why))
    return found
