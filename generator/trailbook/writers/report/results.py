"""What came back from a call, as a person reads it: what was printed first, what a program wrote around it after."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from markupsafe import Markup

from trailbook import json_text
from trailbook.chat import JSON
from trailbook.outcomes import header_in
from trailbook.rendering.ansi import terminal_html
from trailbook.rendering.cleaning import escape
from trailbook.rendering.clipping import brief, clip
from trailbook.rendering.code import LONGEST, Budget, code_html, language_of
from trailbook.rendering.diffs import diff_html
from trailbook.timeline import Step
from trailbook.writers.report.arguments import (
    code_section,
    has_command,
    object_views,
    path_of,
    readable,
    text_section,
    words_section,
)
from trailbook.writers.report.lists import checklist, found_pages
from trailbook.writers.report.views import Fact, Section

LABEL = "What came back"

FOLDED_FROM = 60
"""Lines from which a piece beside the main one is folded."""

MOST_PARSED = 200_000
"""Characters of a result that are read as JSON."""

_PRINTED = ("output", "stdout", "stderr", "content", "result", "text", "error", "message", "answer", "response")
"""Names of what a program printed or said, in what a tool wraps it in."""

_STREAMS = frozenset(("output", "stdout", "stderr", "error"))
_HOLDING = frozenset(("content", "error", "file_text"))

_WRAPPERS = ("data", "result", "results", "response", "output", "structuredContent", "metadata")
_NUMBERED = re.compile(r"^ *(\d{1,9})(?:→|\t|\||: |\. )", re.MULTILINE)
_LINKS = re.compile(r"^Links: (\[.*\])$", re.MULTILINE)
_PROSE = ("research", "delegate")


def result_sections(step: Step, text: str, limit: int | None, budget: Budget) -> list[Section]:
    """The sections of a call's result: the first with its exit status and lines, and folded where it is long."""
    header, printed = header_in(text)
    sections = _sections(step, printed, limit, budget) if printed.strip() else []
    if header:
        sections.append(_facts_section([Fact(name, value) for name, value in header]))
    if not sections:
        return []
    lines = printed.count("\n") + 1
    notes = [
        f"exit status {step.exit_status}" if step.exit_status is not None else "",
        f"{lines:,} lines" if lines >= 10 else "",
    ]
    first = sections[0]
    first.note = " · ".join(note for note in (first.note, *notes) if note)
    # Of a change that worked the diff says it all.
    if lines >= FOLDED_FROM or (step.diff and step.status == "done" and first.kind != "links"):
        first.folded = True
        first.label = first.label or LABEL
    return sections


def terminal_section(label: str, text: str, limit: int | None) -> Section:
    """What a terminal shows."""
    clipped = clip(text, limit)
    head, tail = (Markup(terminal_html(part)) for part in (clipped.head, clipped.tail))
    folded = bool(label) and text.count("\n") + 1 >= FOLDED_FROM
    return Section("terminal", label, head, clipped.words() if clipped.left_out else "", tail, folded)


def diff_section(label: str, diff: str, limit: int | None) -> Section:
    """A unified diff."""
    clipped = clip(diff, limit)
    head, tail = (Markup(diff_html(part)) if part else Markup() for part in (clipped.head, clipped.tail))
    changes = [line[:1] for line in diff.split("\n") if not line.startswith(("+++ ", "--- "))]
    note = f"+{changes.count('+'):,} −{changes.count('-'):,}"
    return Section("diff", label, head, clipped.words() if clipped.left_out else "", tail, note=note)


def parsed(text: str) -> JSON:
    """The object or list that a text is; None where it is none."""
    if len(text) > MOST_PARSED or text.lstrip()[:1] not in ("{", "[") or text.rstrip()[-1:] not in ("}", "]"):
        return None
    try:
        value = json_text.parse(text.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (dict, list)) else None


def object_sections(value: JSON, label: str, limit: int | None, budget: Budget) -> list[Section]:
    """Any object or list without its quotes and brackets: its words and lists first, then its short facts."""
    found = found_pages(value)
    if found is not None:
        return [found]
    if not isinstance(value, dict):
        tasks = checklist(value)
        return (
            [Section("checklist", label, tasks)] if tasks is not None else [text_section(label, readable(value), limit)]
        )
    facts, sections = object_views(value, limit, budget)
    return [*sections, *([_facts_section(facts, "" if sections else label)] if facts else [])]


def _sections(step: Step, text: str, limit: int | None, budget: Budget) -> list[Section]:
    path = path_of(step)
    language = language_of(path)
    value = parsed(text)
    if value and not _is_the_tools(step, value, path):
        return [code_section(LABEL, text, "json", limit, budget)]
    made = list(_of_object(step, value, limit, budget)) if isinstance(value, dict) else []
    if made or (value and isinstance(value, list)):
        return made or object_sections(value, LABEL, limit, budget)
    if step.family == "explore" and language and step.status == "done":
        return [_file_section(text, language, limit, budget)]
    if step.family in _PROSE and step.status == "done":
        return list(_prose(text, limit, budget))
    return [terminal_section(LABEL, text, limit)]


def _is_the_tools(step: Step, value: JSON, path: str | None) -> bool:
    """Whether JSON is a tool's own way to say what came back, not what a command printed or a file holds."""
    names = value.keys() if isinstance(value, dict) else frozenset()
    if has_command(step):
        return bool(names & _STREAMS)
    return path is None or step.family != "explore" or bool(names & _HOLDING)


def _of_object(step: Step, value: dict[str, JSON], limit: int | None, budget: Budget) -> Iterator[Section]:
    """A result in its wrapping: what was printed as if it stood alone, then the rest of the object."""
    rest = _unwrapped(value)
    if step.diff and isinstance(rest.get("diff"), str):
        del rest["diff"]
    if step.exit_status is not None:
        for name in ("exit_code", "exitCode", "exit_status"):
            if rest.get(name) == step.exit_status:
                del rest[name]
    label = LABEL
    for name in _PRINTED:
        printed = rest.get(name)
        if isinstance(printed, str) and printed.strip():
            del rest[name]
            is_beside = name in ("error", "stderr") and step.status != "failed"
            for section in _sections(step, printed, limit, budget):
                own = section.label != LABEL
                section.label = section.label if own else "Errors" if is_beside else label or name.capitalize()
                yield section
            label = ""
    diff = rest.get("diff")
    if isinstance(diff, str) and diff.startswith(("--- ", "diff ", "@@ ")):
        del rest["diff"]
        yield diff_section("What changed", diff, limit)
    yield from object_sections(rest, label, limit, budget)


def _unwrapped(value: dict[str, JSON]) -> dict[str, JSON]:
    """The object, with what stands in one inner object beside the outer one's own."""
    rest = dict(value)
    for name in _WRAPPERS:
        inner = rest.get(name)
        if isinstance(inner, dict) and not inner.keys() & (rest.keys() - {name}):
            del rest[name]
            rest.update(inner)
    return rest


def _file_section(text: str, language: str, limit: int | None, budget: Budget) -> Section:
    """A file that was read: highlighted as its language, the tool's line numbers taken out of the text."""
    numbers = _NUMBERED.findall(text)
    if len(text) > LONGEST or len(numbers) < text.rstrip("\n").count("\n") + 1 or not _rise_by_one(numbers):
        return code_section(LABEL, text, language, limit, budget)
    html = code_html(_NUMBERED.sub("", text), language, budget)
    gutter = "\n".join(escape(number) for number in numbers)
    head = Markup(f'<span class="gutter" aria-hidden="true">{gutter}\n</span><code>{html}</code>')
    return Section("numbered", LABEL, head)


def _rise_by_one(numbers: list[str]) -> bool:
    return all(int(one) + 1 == int(next_one) for one, next_one in pairwise(numbers))


def _prose(text: str, limit: int | None, budget: Budget) -> Iterator[Section]:
    """What a page or a helper says, with its Markdown; a list of links that stands in it as one."""
    match = _LINKS.search(text)
    found = found_pages(parsed(match.group(1))) if match else None
    if match and found:
        yield found
        text = text[: match.start()].rstrip() + "\n\n" + text[match.end() :].lstrip()
    yield words_section(LABEL, text, limit, budget)


def _facts_section(facts: list[Fact], label: str = "") -> Section:
    items = "".join(
        f"<div><dt>{escape(fact.name, prose=True)}</dt><dd><bdi>"
        f"{fact.value if isinstance(fact.value, Markup) else escape(brief(fact.value), prose=True)}</bdi></dd></div>"
        for fact in facts
    )
    return Section("facts", label, Markup(f"<dl>{items}</dl>"))
