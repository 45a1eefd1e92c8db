"""A step of the timeline as the page shows it: a title, facts, and its words, arguments, results and changes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from urllib.parse import quote

from markupsafe import Markup

from trailbook.chat import File, Image, Place
from trailbook.rendering.cleaning import escape
from trailbook.rendering.clipping import brief
from trailbook.rendering.code import Budget
from trailbook.rendering.images import file_words, image_html
from trailbook.timeline import Step, Turn
from trailbook.wording import STATUS_WORDS, counted, date_and_time, duration, line, money_of, tokens, without_home
from trailbook.writers.report.arguments import argument_views, text_section, words_section
from trailbook.writers.report.lists import MOST_ITEMS, checklist, items_html, link_html
from trailbook.writers.report.parts import turn_words
from trailbook.writers.report.results import diff_section, object_sections, parsed, result_sections, terminal_section
from trailbook.writers.report.views import Fact, Section, StepView

_AS_IT_IS = " !#$()*+,/:;=?@[]^`{|}"

COLOURS = {
    "asked": "you",
    "approval": "wait",
    "thought": "think",
    "said": "say",
    "noted": "say",
    "tool": "tool",
    "browser": "tool",
    "task": "tool",
    "files": "edit",
    "made": "edit",
    "remembered": "edit",
    "problem": "fail",
}
"""The colour of each kind; what failed has its own, and so has an edit."""

WORDS = {
    "asked": "You asked",
    "approval": "Asked you",
    "thought": "Thought",
    "tool": "Tool",
    "files": "Files",
    "browser": "Browser",
    "task": "Handed off",
    "made": "Made",
    "remembered": "Learned",
    "problem": "Problem",
}
"""One or two words for each kind, as narrow as the list's column."""

MOST_LOOKED = 1_000
"""Characters of an argument that may be what stands beside the title."""

STEP_LIMIT = 12
"""How many times the length of one body all of a step's sections may have."""

_MARKS = re.compile(r"\*\*|`|^#+ +|^> +")
"""Marks of Markdown that say nothing in a single line."""


@dataclass(slots=True, frozen=True)
class Showing:
    """What every step of a report is shown with."""

    zone: tzinfo
    started: int | None
    agent: str
    limit: int | None
    """Characters of one body; None for all of them."""
    images: bool
    budget: Budget
    chats: Mapping[str, Section] = field(default_factory=dict)
    """For each subagent, by its chat's id, what is said of it where it was started."""
    subagent: bool = False
    """Whether the chat was started by another agent, who then asks instead of a person."""
    turns: Sequence[Turn] = ()


def colour_of(step: Step) -> str:
    """The colour that a step has in the list and on the axis."""
    if step.status == "failed":
        return "fail"
    if step.kind == "tool" and step.family == "edit":
        return "edit"
    if step.injected is not None:
        return "say"
    return COLOURS[step.kind]


def word_of(step: Step, agent: str, *, subagent: bool = False) -> str:
    """What a step is called: who spoke, or what was done."""
    if step.kind == "asked":
        return _capital(step.injected) if step.injected else step.by or ("The task" if subagent else WORDS["asked"])
    if step.kind == "said":
        return step.by or agent or "Said"
    if step.kind == "noted":
        return _capital(step.topic or "note")
    if step.id.startswith("question:"):
        return "Question"
    if step.kind == "tool" and step.family not in (None, "other"):
        return _capital(step.family or "")
    return WORDS[step.kind]


def _capital(word: str) -> str:
    return word.replace("-", " ").replace("_", " ").capitalize()[:40]


def step_view(step: Step, number: int, showing: Showing) -> StepView:
    """A step as the templates show it; its place on the axis and its tally are filled in by the page."""
    facts, sections = _content(step, showing)
    word = word_of(step, showing.agent, subagent=showing.subagent)
    speaks = step.kind in ("asked", "said", "thought") and bool(step.text and step.text.strip())
    words = line(step.text or "") if speaks and step.kind == "thought" else step.title
    view = StepView(
        number=number,
        kind=step.kind,
        colour=colour_of(step),
        word=word,
        title=_MARKS.sub("", words) if speaks else words,
        heading=word if speaks else step.title,
        speaks=speaks,
        subtitle=_subtitle(step),
        outcome=_outcome(step),
        took=duration(step.duration) if step.duration else "",
        status=step.status or "",
        mark="" if step.status in (None, "done") else STATUS_WORDS[step.status or "done"],
        tally="",
        coarse=0,
        fine=0,
        gap="",
        facts=[*_cost_facts(step, showing), *facts],
        about=[*_time_facts(step, showing), *_about(step)],
        sections=sections,
    )
    view.data = _data(step, sections)
    return view


def _subtitle(step: Step) -> str:
    """What is said beside the title, unless the title, the step's own words or its arguments say it."""
    if not step.detail or step.detail == step.text or step.kind in ("remembered", "problem") or _is_told(step):
        return ""
    return brief(step.detail)


def _is_told(step: Step) -> bool:
    """Whether what stands beside the title is the title, or one of the arguments."""
    said = (step.detail or "").strip()
    told = [step.title, *(value for value in (step.arguments or {}).values() if isinstance(value, str))]
    return any(
        said in (each.strip(), without_home(each.strip()), line(each)) for each in told if len(each) < MOST_LOOKED
    )


def _outcome(step: Step) -> str:
    """What came of a step in a word or two, for the list: of changes and tests, and of what did not end well."""
    if step.kind == "problem":
        return brief(line(step.text or ""), 80)
    if step.kind != "tool" or not step.detail or _is_told(step):
        return ""
    if step.status in ("failed", "declined") or step.family in ("edit", "verify"):
        return brief(step.detail.removeprefix("Failed: "), 80)
    return ""


def _data(step: Step, sections: list[Section]) -> list[tuple[str, str]]:
    """What a counter of the page reads, so that nothing of the log is missing unseen."""
    data = [("kind", step.kind)]
    if step.kind == "tool":
        answered = step.linked is not None or step.result_place is not None
        data += [("call", spelled(step.anchor or "")), ("answered", "yes" if answered else "no")]
    if not step.answers:
        data.append(("result", spelled(step.anchor or "")))
    if step.injected is not None:
        data.append(("injected", step.injected))
    if step.branch is not None:
        data.append(("branch", step.branch))
    if step.inherited:
        data.append(("inherited", "yes"))
    shortened = sum(1 for section in sections if section.left_out)
    if shortened:
        data.append(("shortened", str(shortened)))
    return data


def spelled(identity: str) -> str:
    """An id as it stands in an attribute: what a page would show otherwise than it is, is percent-encoded."""
    return quote(identity, _AS_IT_IS, errors="replace")


def _time_facts(step: Step, showing: Showing) -> list[Fact]:
    facts: list[Fact] = []
    if step.at is not None:
        clock = date_and_time(step.at, showing.zone)
        elapsed = "" if showing.started is None else f" ({duration(step.at - showing.started)} in)"
        facts.append(Fact("At", clock + elapsed))
    if step.duration and step.kind != "approval":
        facts.append(Fact("Took", duration(step.duration)))
    return facts


def _cost_facts(step: Step, showing: Showing) -> list[Fact]:
    """What a person should know before the rest: how long it waited for them, what a problem cost them."""
    facts: list[Fact] = []
    if step.duration and step.kind == "approval":
        facts.append(Fact("Waited", duration(step.duration)))
    if step.kind == "problem" and step.turn < len(showing.turns):
        spent = turn_words(showing.turns[step.turn], outcome=False)
        facts += [Fact("This turn cost", spent)] if spent else []
    if step.url:
        facts.append(Fact("Address", link_html(step.url, brief(step.url))))
    return facts


def _about(step: Step) -> list[Fact]:
    facts: list[Fact] = []
    if step.name and step.name.casefold() != step.title.casefold():
        facts.append(Fact("Tool", brief(step.name)))
    if step.usage:
        facts.append(Fact("Tokens", _usage_words(step)))
    if step.linked in ("order", "inferred"):
        facts.append(Fact("Result paired by", {"order": "order", "inferred": "guessing"}[step.linked]))
    place = _place_words(step.place, step.result_place)
    if place:
        facts.append(Fact("In the log", place))
    return facts


def _usage_words(step: Step) -> str:
    usage = step.usage
    if usage is None:
        return ""
    parts = [
        f"{tokens(usage.prompt_tokens)} in" if usage.prompt_tokens is not None else "",
        f"{tokens(usage.cached_tokens)} of them cached" if usage.cached_tokens else "",
        f"{tokens(usage.output_tokens)} out" if usage.output_tokens is not None else "",
        money_of(step.cost),
    ]
    return ", ".join(part for part in parts if part)


def _place_words(place: Place | None, result: Place | None) -> str:
    if place is None:
        return ""
    words = f"{place.unit} {place.number:,}"
    if result is not None and result != place:
        words += f", result in {result.unit} {result.number:,}"
    return f"{words} of {place.file}" if place.file else words


def _content(step: Step, showing: Showing) -> tuple[list[Fact], list[Section]]:
    facts: list[Fact] = []
    sections: list[Section] = []
    if step.kind == "tool":
        facts, sections = argument_views(step, showing.limit, showing.budget)
    if step.diff:
        changed = diff_section("What changed", step.diff, showing.limit)
        changed.note = "" if changed.note == step.detail else changed.note
        sections.append(changed)
    elif step.files:
        sections.append(_files_section(step))
    if step.subagent is not None and step.subagent in showing.chats:
        sections.append(showing.chats[step.subagent])
    sections += _text_sections(step, showing)
    sections += _parts_sections(step, showing)
    return facts, sections if showing.limit is None else _bounded(sections, STEP_LIMIT * showing.limit)


def _bounded(sections: list[Section], limit: int) -> list[Section]:
    """As many sections as have room (markup counted), and how many are left out."""
    room = limit
    for index, section in enumerate(sections):
        room -= len(section.head) + len(section.tail)
        if room < 0 and index and section.kind != "pictures":
            more = Section("text", "More", left_out=f"{counted(len(sections) - index, 'more piece')} left out")
            return [*sections[:index], more]
    return sections


def _text_sections(step: Step, showing: Showing) -> list[Section]:
    text = step.text
    if not text or not text.strip():
        return []
    if step.kind in ("asked", "said", "thought", "made", "remembered", "task"):
        folded = step.injected is not None and text.count("\n") > 12
        return [words_section("Context" if folded else "", text, showing.limit, showing.budget, folded=folded)]
    if step.kind == "tool":
        return result_sections(step, text, showing.limit, showing.budget)
    if step.topic == "compaction":
        return [words_section("Summary", text, showing.limit, showing.budget)]
    tasks = checklist(text) if step.topic == "plan" else None
    if tasks is not None:
        return [Section("checklist", "", tasks)]
    value = parsed(text)
    if value:
        return object_sections(value, "", showing.limit, showing.budget)
    return [terminal_section("", text, showing.limit)]


def _files_section(step: Step) -> Section:
    words = {"created": "Made", "changed": "Changed", "deleted": "Deleted"}
    items = [
        f'<li><span class="kind">{escape(words.get(change.kind, change.kind))}</span> '
        f"<bdi>{escape(brief(change.path), prose=True)}</bdi></li>"
        for change in step.files
    ]
    return Section("files", "Files", items_html(items))


def _parts_sections(step: Step, showing: Showing) -> list[Section]:
    sections: list[Section] = []
    pictures: list[str] = []
    for part in step.parts[:MOST_ITEMS]:
        if isinstance(part, Image):
            pictures.append(image_html(part, embed=showing.images))
        elif isinstance(part, File):
            pictures.append(f'<p class="image">{escape(file_words(part), prose=True)}</p>')
            if part.text:
                sections.append(text_section(part.name or "File", part.text, showing.limit, folded=True))
    if len(step.parts) > MOST_ITEMS:
        pictures.append(f"<p>… and {len(step.parts) - MOST_ITEMS:,} more</p>")
    if step.shot:
        pictures.append(f'<p class="image">{escape(f"[picture of the page: {step.shot}]")}</p>')
    if pictures:
        sections.insert(0, Section("pictures", "", Markup("".join(pictures))))
    return sections
