"""What a call asked for, as a person reads it: known by the shape of its arguments, never by an agent's name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from markupsafe import Markup

from trailbook.chat import JSON
from trailbook.rendering.cleaning import escape, text_html
from trailbook.rendering.clipping import clip
from trailbook.rendering.code import Budget, code_html, language_of
from trailbook.timeline import Step
from trailbook.writers.report.views import Fact, Section

SHORT = 160
"""Characters of an argument that stands in one line with its name."""

MOST_FACTS = 60
"""Short arguments of one call that are shown; what is beyond is counted."""

MOST_ITEMS = 400
"""Items of one list that are shown; what is beyond is counted."""

_COMMANDS = ("command", "cmd", "shell_command", "commandLine")
_SCRIPTS = ("code", "script", "source")
_PATHS = ("file_path", "filePath", "path", "file", "filename", "notebook_path", "absolute_path", "target_file")
_TASKS = ("todos", "plan", "items", "tasks", "steps")
_IN_THE_DIFF = frozenset(
    (
        *("old_string", "new_string", "oldString", "newString", "old_str", "new_str", "old", "new", "edits", "patch"),
        *("content", "contents", "file_text", "text", "new_source", "replacements", "input", "patchText", "diff"),
    )
)
"""Arguments that a diff shows."""

_DONE = ("completed", "done", "complete")
_BEGUN = ("in_progress", "active", "inprogress", "in-progress", "doing")


def argument_views(step: Step, limit: int | None, budget: Budget) -> tuple[list[Fact], list[Section]]:
    """A call's arguments: short ones as facts, long ones as sections. `limit` is for `clip`."""
    if step.raw is not None:
        return [], [text_section("What it asked for", step.raw, limit)]
    rest = dict(step.arguments or {})
    sections = list(_special_sections(rest, limit, budget))
    if step.diff:
        rest = {name: value for name, value in rest.items() if name not in _IN_THE_DIFF}
    facts: list[Fact] = []
    for name, value in rest.items():
        short = _short(value)
        if short is not None:
            facts.append(Fact(_words_of_name(name), short))
        elif value not in ("", None, [], {}):
            sections.append(_long_section(name, value, limit))
    if len(facts) > MOST_FACTS:
        facts[MOST_FACTS:] = [Fact("And", f"{len(facts) - MOST_FACTS:,} more")]
    return facts, sections


def items_html(items: Sequence[str]) -> Markup:
    """List items, as many as are shown, and how many more there are."""
    more = len(items) - MOST_ITEMS
    return Markup("".join(items[:MOST_ITEMS]) + (f"<li>… and {more:,} more</li>" if more > 0 else ""))


def path_of(step: Step) -> str | None:
    """The file that a call is about, where it is about one."""
    arguments = step.arguments or {}
    return next((value for name in _PATHS if isinstance(value := arguments.get(name), str) and value), None)


def text_section(label: str, text: str, limit: int | None, *, folded: bool = False) -> Section:
    """Any text as it stands, its lines kept."""
    clipped = clip(text, limit)
    head, tail = (Markup(text_html(part)) for part in (clipped.head, clipped.tail))
    return Section("text", label, head, clipped.words() if clipped.left_out else "", tail, folded)


def code_section(label: str, text: str, language: str | None, limit: int | None, budget: Budget) -> Section:
    """Code, highlighted where its language is known and it is short enough."""
    clipped = clip(text, limit)
    head, tail = (Markup(code_html(part, language, budget)) for part in (clipped.head, clipped.tail))
    return Section("code", label, head, clipped.words() if clipped.left_out else "", tail)


def readable(value: JSON) -> str:
    """Any value as indented lines, without the quotes and brackets of JSON."""
    return "\n".join(_lines(value, 0))


def _special_sections(rest: dict[str, JSON], limit: int | None, budget: Budget) -> Iterator[Section]:
    """Sections of the arguments that are known by shape; what they show is taken out of `rest`."""
    for name in _COMMANDS:
        command = _command(rest.get(name))
        if command is not None:
            del rest[name]
            yield code_section("Command", command, "bash", limit, budget)
    for name in _SCRIPTS:
        script = rest.get(name)
        if isinstance(script, str) and "\n" in script:
            named = rest.get("language")
            del rest[name]
            language = language_of(named) if isinstance(named, str) else None
            yield code_section("Script", script, language, limit, budget)
    for name in _TASKS:
        tasks = _checklist(rest.get(name))
        if tasks is not None:
            del rest[name]
            yield Section("checklist", "To do", tasks)
    questions = _questions(rest.get("questions"))
    if questions is not None:
        del rest["questions"]
        yield Section("questions", "Questions", questions)


def _command(value: JSON) -> str | None:
    if isinstance(value, str) and value:
        return value
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        words = [str(word) for word in value]
        shell = len(words) == 3 and words[0].rsplit("/", 1)[-1] in ("bash", "sh", "zsh") and words[1].startswith("-")
        return words[2] if shell else " ".join(words)
    return None


def _checklist(value: JSON) -> Markup | None:
    if not isinstance(value, list) or not value or not all(isinstance(item, dict) for item in value):
        return None
    items: list[str] = []
    for item in value:
        assert isinstance(item, dict)
        words = next((item[name] for name in ("content", "step", "title", "text", "description") if name in item), None)
        state = item.get("status", item.get("state"))
        if not isinstance(words, str) or not (isinstance(state, str) or item.get("done") in (True, False)):
            return None
        state = state if isinstance(state, str) else ("done" if item.get("done") else "")
        mark, said = (
            ("done", "Done") if state in _DONE else ("begun", "Begun") if state in _BEGUN else ("open", "To do")
        )
        items.append(f'<li class="{mark}"><span class="vh">{said}: </span><bdi>{escape(words, prose=True)}</bdi></li>')
    return items_html(items)


def _questions(value: JSON) -> Markup | None:
    if not isinstance(value, list) or not value:
        return None
    parts: list[str] = []
    for item in value:
        question = item.get("question") if isinstance(item, dict) else None
        if not isinstance(item, dict) or not isinstance(question, str):
            return None
        options = item.get("options")
        parts.append(f'<p dir="auto"><b>{escape(question, prose=True)}</b></p>')
        if isinstance(options, list) and options:
            parts.append(f"<ul>{items_html([_option(option) for option in options])}</ul>")
    return Markup("".join(parts))


def _option(option: JSON) -> str:
    if isinstance(option, dict):
        words = [str(option[name]) for name in ("label", "description") if isinstance(option.get(name), str)]
        return f'<li dir="auto">{escape(" – ".join(words) or readable(option), prose=True)}</li>'
    return f'<li dir="auto">{escape(readable(option), prose=True)}</li>'


def _short(value: JSON) -> str | None:
    if isinstance(value, str):
        return value if len(value) <= SHORT and "\n" not in value and value.strip() else None
    if isinstance(value, (bool, int, float, Decimal)):
        return _scalar(value)
    if isinstance(value, list) and value and not any(isinstance(item, (dict, list)) for item in value):
        line = ", ".join(_scalar(item) for item in value[: SHORT + 1])
        return line if len(line) <= SHORT and "\n" not in line else None
    return None


def _long_section(name: str, value: JSON, limit: int | None) -> Section:
    text = value if isinstance(value, str) else readable(value)
    return text_section(_words_of_name(name), text, limit)


def _words_of_name(name: str) -> str:
    return name[:80].replace("_", " ")


def _scalar(value: JSON) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _lines(value: JSON, depth: int) -> Iterator[str]:
    indent = "  " * min(depth, 40)
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _entry(f"{indent}{name}:", item, depth)
    elif isinstance(value, list):
        for item in value:
            yield from _entry(f"{indent}-", item, depth)
    else:
        yield from (indent + line for line in _scalar(value).split("\n"))


def _entry(start: str, item: JSON, depth: int) -> Iterator[str]:
    if (isinstance(item, (dict, list)) and item) or (isinstance(item, str) and "\n" in item):
        yield start
        yield from _lines(item, depth + 1)
    else:
        yield f"{start} {'none' if item in ({}, []) else _scalar(item)}"
