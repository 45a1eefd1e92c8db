"""What a call asked for, as a person reads it: known by the shape of its arguments, never by an agent's name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal

from markupsafe import Markup

from trailbook.chat import JSON
from trailbook.rendering.cleaning import text_html
from trailbook.rendering.clipping import clip
from trailbook.rendering.code import Budget, code_html, language_of
from trailbook.rendering.markdown import markdown_html
from trailbook.timeline import Step
from trailbook.writers.report.lists import link_html, lists_in
from trailbook.writers.report.views import Fact, Section

SHORT = 160
"""Characters of an argument that stands in one line with its name."""

MOST_FACTS = 60
"""Short arguments of one call that are shown; what is beyond is counted."""

_COMMANDS = ("command", "cmd", "shell_command", "commandline", "commands")
_SCRIPTS = ("code", "script", "source", "source_code", "function", "query")
_PATHS = ("file_path", "filepath", "path", "file", "filename", "notebook_path", "absolute_path", "target_file")
_WORDS = ("plan", "prompt", "task", "goal", "objective", "message", "context", "instructions", "request", "summary")
"""Arguments that are prose for a person or another agent."""
_IN_THE_DIFF = frozenset(
    (
        *("oldstring", "newstring", "oldstr", "newstr", "oldtext", "newtext", "old", "new", "edits", "patch", "diff"),
        *("content", "contents", "filetext", "text", "newsource", "replacements", "input", "patchtext", "changes"),
    )
)
"""Arguments that a diff shows, without their underscores and capitals."""

_HUMP = re.compile(r"(?<=[a-z0-9])[A-Z](?=[a-z])")


def argument_views(step: Step, limit: int | None, budget: Budget) -> tuple[list[Fact], list[Section]]:
    """A call's arguments: short ones as facts, long ones as sections. `limit` is for `clip`."""
    if step.raw is not None:
        is_in_the_diff = step.diff is not None and step.raw.lstrip().startswith("*** ")
        return [], [] if is_in_the_diff else [text_section("What it asked for", step.raw, limit)]
    rest = dict(step.arguments or {})
    if step.diff:
        rest = {name: value for name, value in rest.items() if _plain(name) not in _IN_THE_DIFF}
    return object_views(rest, limit, budget)


def object_views(values: Mapping[str, JSON], limit: int | None, budget: Budget) -> tuple[list[Fact], list[Section]]:
    """Named values as a person reads them: commands, lists, prose and code as such, short ones as facts."""
    rest = dict(values)
    sections = [*_commands(rest, limit, budget), *lists_in(rest)]
    facts: list[Fact] = []
    for name, value in rest.items():
        short = _short(value)
        if short is not None:
            facts.append(Fact(words_of_name(name), short))
        elif value not in ("", None, [], {}):
            sections.append(_long_section(name, value, limit, budget))
    if len(facts) > MOST_FACTS:
        facts[MOST_FACTS:] = [Fact("And", f"{len(facts) - MOST_FACTS:,} more")]
    return facts, sections


def has_command(step: Step) -> bool:
    """Whether a call ran a command."""
    return any(name.lower() in _COMMANDS for name in step.arguments or {})


def path_of(step: Step) -> str | None:
    """The file that a call is about, where it is about one."""
    arguments = step.arguments or {}
    return next(
        (value for name, value in arguments.items() if name.lower() in _PATHS and isinstance(value, str) and value),
        None,
    )


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


def words_section(label: str, text: str, limit: int | None, budget: Budget, *, folded: bool = False) -> Section:
    """Prose, with its Markdown."""
    clipped = clip(text, limit)
    head, tail = (Markup(markdown_html(part, budget)) if part else Markup() for part in (clipped.head, clipped.tail))
    return Section("words", label, head, clipped.words() if clipped.left_out else "", tail, folded)


def readable(value: JSON) -> str:
    """Any value as indented lines, without the quotes and brackets of JSON."""
    return "\n".join(_lines(value, 0))


def words_of_name(name: str) -> str:
    """A name from a program as words: `timeout ms` of `timeout_ms`, `file path` of `filePath`."""
    return _HUMP.sub(lambda hump: f" {hump.group().lower()}", name[:80]).replace("_", " ")


def _commands(rest: dict[str, JSON], limit: int | None, budget: Budget) -> Iterator[Section]:
    """Commands and scripts; what they show is taken out of `rest`."""
    about_a_file = any(name.lower() in _PATHS for name in rest)
    for name in list(rest):
        command = _command(rest[name]) if name.lower() in _COMMANDS else None
        if command is not None and not (about_a_file and " " not in command):
            del rest[name]
            yield code_section("Command", command, "bash", limit, budget)
    for name in list(rest):
        script = rest[name] if name.lower() in _SCRIPTS else None
        if isinstance(script, str) and "\n" in script.strip():
            named = rest.get("language")
            del rest[name]
            language = language_of(named) if isinstance(named, str) else None
            yield code_section("Script", script, language, limit, budget)


def _command(value: JSON) -> str | None:
    if isinstance(value, str) and value:
        return value
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        words = [str(word) for word in value]
        shell = len(words) == 3 and words[0].rsplit("/", 1)[-1] in ("bash", "sh", "zsh") and words[1].startswith("-")
        return words[2] if shell else " ".join(words)
    return None


def _short(value: JSON) -> str | Markup | None:
    if isinstance(value, str):
        if len(value) > SHORT or "\n" in value or not value.strip():
            return None
        return link_html(value) if value.startswith(("https://", "http://")) else value
    if isinstance(value, (bool, int, float, Decimal)):
        return _scalar(value)
    if isinstance(value, list) and value and not any(isinstance(item, (dict, list)) for item in value):
        line = ", ".join(_scalar(item) for item in value[: SHORT + 1])
        return line if len(line) <= SHORT and "\n" not in line else None
    return None


def _long_section(name: str, value: JSON, limit: int | None, budget: Budget) -> Section:
    label = words_of_name(name)
    label = label[:1].upper() + label[1:]
    if isinstance(value, str) and name.lower() in _WORDS:
        return words_section(label, value, limit, budget)
    return text_section(label, value if isinstance(value, str) else readable(value), limit)


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


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
            if isinstance(item, dict) and item:
                yield from _beside_dash(indent, _lines(item, depth + 1))
            else:
                yield from _entry(f"{indent}-", item, depth)
    else:
        yield from (indent + line for line in _scalar(value).split("\n"))


def _beside_dash(indent: str, lines: Iterator[str]) -> Iterator[str]:
    yield f"{indent}- {next(lines).lstrip()}"
    yield from lines


def _entry(start: str, item: JSON, depth: int) -> Iterator[str]:
    if (isinstance(item, (dict, list)) and item) or (isinstance(item, str) and "\n" in item):
        yield start
        yield from _lines(item, depth + 1)
    else:
        yield f"{start} {'none' if item in ({}, []) else _scalar(item)}"
