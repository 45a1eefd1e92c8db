"""The head of a report: what the chat is, what it took, what it changed, what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from shlex import join
from urllib.parse import quote

from markupsafe import Markup

from trailbook import wording, zones
from trailbook.chat import Chat, Diagnostic, Image, Usage
from trailbook.formats import Sheet
from trailbook.readers import reader
from trailbook.rendering.cleaning import escape
from trailbook.rendering.clipping import BODY_LIMIT, brief
from trailbook.timeline import Step, Timeline
from trailbook.wording import ORIGIN_WORDS, counted, date_and_time, duration, line, money, tokens
from trailbook.writers.report.arguments import readable, text_section
from trailbook.writers.report.parts import turn_words
from trailbook.writers.report.views import Fact, Section

MOST_ROWS = 200
"""Rows of each list of the head; what is beyond is counted."""

LARGE = 3_000_000
"""Bytes from which a page says how large it is."""

MOST_LINKS = 12
"""Steps that one row leads to."""

MOST_BARS = 120
"""Turns that the chart shows one by one; of more, neighbours share a bar."""

CHART_WIDTH, CHART_HEIGHT, WIDEST_BAR = 600, 48, 36

Address = Callable[[int], str]
"""Where a step (by its number) is found: on this page or another part."""


@dataclass(slots=True)
class Row:
    words: str
    steps: list[tuple[int, str]] = field(default_factory=list)
    """Numbers and addresses of the steps that it leads to."""
    note: str = ""


@dataclass(slots=True)
class Listing:
    """A folded list of the head."""

    title: str
    rows: list[Row]
    more: int = 0
    """How many rows there are beyond those shown."""


@dataclass(slots=True)
class Bar:
    x: str
    width: str
    prompt: tuple[str, str]
    """Top and height of what the model read; then of what it wrote; then of the cost."""
    output: tuple[str, str]
    cost: tuple[str, str]
    title: str
    step: str


@dataclass(slots=True)
class Chart:
    label: str
    bars: list[Bar]
    has_cost: bool


@dataclass(slots=True)
class Overview:
    lede: str
    """One line: agent, models, origin."""
    when: str
    figures: list[Fact]
    chart: Chart | None
    lists: list[Listing]
    sections: list[Section]
    facts: list[Fact]
    reopen: str
    parent: str | None
    """The page of the chat that handed its work to this one."""
    index: str
    """The page of all chats; empty where the report is a file by itself."""


def make_overview(chat: Chat, timeline: Timeline, sheet: Sheet, address: Address, size_of_steps: int = 0) -> Overview:
    """All that the head of the page says of a chat; `size_of_steps` is the bytes of its steps on this page."""
    limit = None if sheet.output.full else BODY_LIMIT
    return Overview(
        lede=_lede(chat, timeline),
        when=when(timeline, sheet),
        figures=figures(timeline, len(chat.subagents)),
        chart=_chart(timeline, address),
        lists=[
            listing
            for listing in (
                _asked(timeline, address),
                _failed(timeline, address),
                _files(timeline, address),
                _shipped(timeline, address),
                _lost(chat),
            )
            if listing
        ],
        sections=_sections(chat, limit),
        facts=_facts(chat, timeline, sheet, size_of_steps),
        reopen=join(chat.reopen),
        parent=f"{quote(sheet.parent)}.html" if sheet.parent and not sheet.alone else None,
        index="" if sheet.alone else "../index.html",
    )


def agent_name(chat: Chat) -> str:
    """What the agent is called on the page."""
    return chat.agent.name or chat.agent.product or "Agent"


def when(timeline: Timeline, sheet: Sheet) -> str:
    """Day and time of start and end with their zone; nothing where the log has no times."""
    zone = sheet.output.zone
    start, end = date_and_time(timeline.started, zone), date_and_time(timeline.ended, zone)
    if not start:
        return ""
    day, _, clock = end.partition(", ")
    until = "" if end in ("", start) else f" – {clock}" if start.startswith(day) else f" – {end}"
    return f"{start}{until} ({wording.zone_name(timeline.started, zone)})"


def figures(timeline: Timeline, subagents: int) -> list[Fact]:
    """What the run came to, in the order in which one asks for it."""
    totals = timeline.totals
    found: list[Fact] = []
    if totals.duration is not None:
        found.append(Fact("At work", duration(max(totals.duration - totals.waiting, 0))))
    if totals.waiting:
        found.append(Fact("Waiting for you", duration(totals.waiting)))
    found.append(Fact("Steps", f"{len(timeline.steps):,}"))
    if totals.tools:
        found.append(Fact("Tool calls", f"{totals.tools:,}"))
    if totals.failed:
        found.append(Fact("Didn’t work", f"{totals.failed:,}"))
    if totals.files:
        found.append(Fact("Files changed", f"{totals.files:,}"))
    if totals.usage is not None:
        found += _token_figures(totals.usage)
    found += _cost_figures(timeline)
    if subagents:
        found.append(Fact("Handed on to", counted(subagents, "subagent")))
    return found


def subagent_section(subagent: Chat, timeline: Timeline, stem: str | None, steps: Markup) -> Section:
    """What is said of a subagent where it was started: its figures, its last words, the link to its page.

    `steps` is its steps as HTML where it has no page of its own.
    """
    title = escape(timeline.title, prose=True)
    link = f'<a href="{quote(stem)}.html"><bdi>{title}</bdi></a>' if stem else f"<bdi>{title}</bdi>"
    told = " · ".join(
        f"{fact.name}: {fact.value}" + (f" ({fact.note})" if fact.note else "")
        for fact in figures(timeline, len(subagent.subagents))
    )
    last = next((step.title for step in reversed(timeline.steps) if step.kind == "said"), "")
    words = f'<p dir="auto">{escape(last, prose=True)}</p>' if last else ""
    who = escape(" · ".join(filter(None, (agent_name(subagent), ", ".join(subagent.models)))), prose=True)
    html = f'<p><b>{link}</b></p><p class="quiet">{who}</p><p class="quiet">{escape(told)}</p>{words}'
    if steps:
        html += f'<details class="piece"><summary>Its steps</summary>{steps}</details>'
    return Section("chat", "Subagent", Markup(html))


def _lede(chat: Chat, timeline: Timeline) -> str:
    who, product = agent_name(chat), chat.agent.product
    parts = [who] if product in ("", who) else [who, product]
    if chat.agent.version:
        parts[-1] += f" {chat.agent.version}"
    parts += [", ".join(chat.models), ORIGIN_WORDS.get(timeline.origin, "")]
    return brief(" · ".join(part for part in parts if part))


def _token_figures(usage: Usage) -> list[Fact]:
    found: list[Fact] = []
    if usage.prompt_tokens is not None:
        cached = f"{tokens(usage.cached_tokens)} from cache" if usage.cached_tokens else ""
        found.append(Fact("Tokens read", tokens(usage.prompt_tokens), cached))
    if usage.output_tokens is not None:
        thinking = f"{tokens(usage.reasoning_tokens)} thinking" if usage.reasoning_tokens else ""
        found.append(Fact("Tokens written", tokens(usage.output_tokens), thinking))
    return found


def _cost_figures(timeline: Timeline) -> list[Fact]:
    totals = timeline.totals
    found: list[Fact] = []
    if totals.usd:
        found.append(Fact("Cost", money(totals.usd), "estimated" if totals.estimated else ""))
    if totals.plan_turns:
        found.append(Fact("On a plan", counted(totals.plan_turns, "turn")))
    return found


# --- lists


def _listing(title: str, rows: list[Row]) -> Listing | None:
    shown = [Row(brief(row.words), row.steps, brief(row.note)) for row in rows[:MOST_ROWS]]
    return Listing(title, shown, max(len(rows) - MOST_ROWS, 0)) if rows else None


def _asked(timeline: Timeline, address: Address) -> Listing | None:
    """What a person asked, where that is more than once, with what was done about each."""
    done: dict[int, Counter[str]] = {}
    for step in timeline.steps:
        if step.kind == "tool":
            done.setdefault(step.turn, Counter())[step.family or "other"] += 1
    rows = [
        Row(line(step.title, 200), [(number, address(number))], _deeds(step, done.get(step.turn, Counter())))
        for number, step in enumerate(timeline.steps, 1)
        if step.kind == "asked" and step.injected is None and not step.inherited
    ]
    return _listing(f"{len(rows):,} prompts", rows) if len(rows) > 1 else None


def _deeds(asked: Step, done: Counter[str]) -> str:
    deeds = [f"{number:,} {family}" for family, number in done.most_common()]
    return " · ".join([*deeds, "abandoned"] if asked.branch is not None else deeds)


def _failed(timeline: Timeline, address: Address) -> Listing | None:
    rows = [
        Row(step.title, [(number, address(number))], " · ".join(filter(None, (step.detail, _spent(timeline, step)))))
        for number, step in enumerate(timeline.steps, 1)
        if step.status == "failed" and not step.inherited
    ]
    return _listing(counted(len(rows), "thing didn’t work", "things didn’t work"), rows)


def _spent(timeline: Timeline, step: Step) -> str:
    """What was spent on something that failed: on a problem its turn, on a call its time."""
    if step.kind == "problem" and step.turn < len(timeline.turns):
        spent = turn_words(timeline.turns[step.turn], outcome=False)
        return f"the turn cost {spent}" if spent else ""
    return duration(step.duration) if step.duration else ""


def _shipped(timeline: Timeline, address: Address) -> Listing | None:
    """Commits, pushes and releases."""
    rows = [
        Row(step.title, [(number, address(number))], step.detail or "")
        for number, step in enumerate(timeline.steps, 1)
        if step.family == "ship" and step.status == "done" and not step.inherited
    ]
    return _listing(counted(len(rows), "thing shipped", "things shipped"), rows)


def _files(timeline: Timeline, address: Address) -> Listing | None:
    steps_of: dict[str, list[tuple[int, str]]] = {}
    for number, step in enumerate(timeline.steps, 1):
        for path in dict.fromkeys(_paths(step)):
            steps_of.setdefault(path, []).append((number, address(number)))
    rows = [
        Row(path, steps[:MOST_LINKS], f"and {len(steps) - MOST_LINKS:,} more" if len(steps) > MOST_LINKS else "")
        for path, steps in steps_of.items()
    ]
    return _listing(counted(len(rows), "file changed", "files changed"), rows)


def _paths(step: Step) -> list[str]:
    return [] if step.inherited else [change.path for change in step.files]


def _lost(chat: Chat) -> Listing | None:
    rows = [Row(diagnostic.text, note=_diagnostic_note(diagnostic)) for diagnostic in chat.diagnostics]
    return _listing("What could not be read, or not be placed", rows)


def _diagnostic_note(diagnostic: Diagnostic) -> str:
    place = diagnostic.place
    parts = [
        f"{place.unit} {place.number:,} of {place.file}" if place else "",
        counted(diagnostic.count, "time") if diagnostic.count > 1 else "",
        "something is lost" if diagnostic.lost else "",
    ]
    return ", ".join(part for part in parts if part)


# --- the rest


def _sections(chat: Chat, limit: int | None) -> list[Section]:
    sections: list[Section] = []
    if chat.system_prompt:
        sections.append(text_section("System prompt", chat.system_prompt, limit, folded=True))
    if chat.tools:
        told = "\n\n".join(
            "\n".join(filter(None, (tool.name, tool.description, readable(tool.parameters) if tool.parameters else "")))
            for tool in chat.tools
        )
        section = text_section("Tools it had", told, limit, folded=True)
        section.note = counted(len(chat.tools), "tool")
        sections.append(section)
    return sections


def _facts(chat: Chat, timeline: Timeline, sheet: Sheet, size_of_steps: int) -> list[Fact]:
    output = sheet.output
    inputs = dict.fromkeys(step.place.file for step in timeline.steps if step.place and step.place.file)
    more = f" and {len(inputs) - 3:,} more" if len(inputs) > 3 else ""
    facts = [
        Fact("Taken out", _taken_out(sheet)),
        Fact("From", f"{reader_product(chat)} log {', '.join(map(brief, list(inputs)[:3]))}{more}".strip()),
        Fact("Chat", brief(chat.id)),
    ]
    if timeline.totals.estimated_from:
        words = f"Estimated: the log states none. By {timeline.totals.estimated_from}."
        facts.append(Fact("Cost", words))
    optional = {
        "Started by": chat.origin.name,
        "Working folder": chat.cwd,
        "Git branch": chat.git_branch,
        "Engines": ", ".join(chat.providers),
        "Forked from" if chat.forked else "Started from": chat.parent,
    }
    facts += [Fact(name, brief(value)) for name, value in optional.items() if value]
    if chat.naive_times:
        facts.append(Fact("Times", f"The log’s times have no zone; they were read as {zones.name_of(output.zone)}."))
    if size_of_steps > LARGE:
        facts.append(Fact("Size", f"{wording.size(size_of_steps)} on one page, because it is a file by itself."))
    if not output.images and any(isinstance(part, Image) for step in timeline.steps for part in step.parts):
        facts.append(Fact("Pictures", "Left out: what they show cannot be taken out."))
    return facts


def reader_product(chat: Chat) -> str:
    """The agent's name as its reader has it."""
    return chat.agent.product or reader(chat.source).PRODUCT


def _taken_out(sheet: Sheet) -> str:
    if sheet.output.context is None:
        return "Nothing: this report was made with redaction switched off."
    return f"{sheet.removed.sentence().capitalize()}." if sheet.removed else "Nothing was found that had to be."


def _chart(timeline: Timeline, address: Address) -> Chart | None:
    """Tokens and cost by turn, where there are two turns or more that say."""
    turns = [turn for turn in timeline.turns if not turn.inherited]
    if len(turns) < 2 or not any(turn.usage for turn in turns):
        return None
    first: dict[int, int] = {}
    for number, step in enumerate(timeline.steps, 1):
        first.setdefault(step.turn, number)
    size = -(-len(turns) // MOST_BARS)
    groups = [turns[start : start + size] for start in range(0, len(turns), size)]
    read = [sum(turn.usage.prompt_tokens or 0 for turn in group if turn.usage) for group in groups]
    written = [sum(turn.usage.output_tokens or 0 for turn in group if turn.usage) for group in groups]
    usd = [sum(turn.cost.usd or 0.0 for turn in group if turn.cost) for group in groups]
    most = max(max(one + other for one, other in zip(read, written, strict=True)), 1)
    dearest = max(usd) or 1.0
    width = min(CHART_WIDTH / len(groups), WIDEST_BAR * 1.25)
    bars = []
    for index, group in enumerate(groups):
        above = read[index] / most * CHART_HEIGHT
        below = max(written[index] / most * CHART_HEIGHT, 1.0 if written[index] else 0.0)
        cost = usd[index] / dearest * CHART_HEIGHT
        name = f"Turn {group[0].index + 1}" + (f"–{group[-1].index + 1}" if len(group) > 1 else "")
        spent = money(usd[index], estimated=timeline.totals.estimated)
        told = [f"{tokens(read[index])} tokens read", f"{tokens(written[index])} written", spent]
        start = first.get(group[0].index)
        bars.append(
            Bar(
                f"{index * width:.1f}",
                f"{min(width * 0.8, WIDEST_BAR):.1f}",
                (f"{CHART_HEIGHT - above:.1f}", f"{above:.1f}"),
                (f"{max(CHART_HEIGHT - above - below, 0):.1f}", f"{below:.1f}"),
                (f"{CHART_HEIGHT - cost:.1f}", f"{cost:.1f}"),
                f"{name}: {', '.join(part for part in told if part)}",
                address(start) if start else "",
            )
        )
    label = f"Tokens by turn: at most {tokens(most)} in one of {counted(len(turns), 'turn')}"
    return Chart(label, bars, any(usd))
