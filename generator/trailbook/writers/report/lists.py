"""Lists that tools carry, known by their shape: things to do, questions with their options, pages that were found."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from trailbook.chat import JSON
from trailbook.rendering.cleaning import escape
from trailbook.rendering.clipping import brief
from trailbook.writers.report.views import Section

MOST_ITEMS = 400
"""Items of one list that are shown; what is beyond is counted."""

LONGEST_LINK = 2_000
"""Characters of an address that leads somewhere; a longer one is text."""

LONGEST_SNIPPET = 2_000
"""Characters that are said of a page that was found; with more the page itself was brought."""

_TASKS = ("todos", "todo_list", "todolist", "plan", "items", "tasks", "task_list", "steps", "newtodos")
_TASK = ("content", "step", "title", "text", "description", "task", "name")
_DONE = ("completed", "done", "complete", "x")
_BEGUN = ("in_progress", "active", "inprogress", "in-progress", "doing", "begun", "~", "-", ">")
_DROPPED = ("cancelled", "canceled", "dropped", "skipped")
_SAID = {"done": "Done", "begun": "Begun", "dropped": "Dropped", "open": "To do"}
_CHECK = re.compile(r"\s*(?:[-*]|\d+[.)])?\s*\[([ xX~>-]|[a-z_]{4,12})\]\s*(.+)")
_ASKED = ("question", "prompt", "title", "message", "label")
_OPTIONS = ("options", "choices", "follow_up", "suggestions")
_ADDRESSES = ("url", "link", "href", "uri")
_SNIPPETS = ("snippet", "description", "summary", "content", "text", "body")
_LINK = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)


def items_html(items: Sequence[str]) -> Markup:
    """List items, as many as are shown, and how many more there are."""
    more = len(items) - MOST_ITEMS
    return Markup("".join(items[:MOST_ITEMS]) + (f"<li>… and {more:,} more</li>" if more > 0 else ""))


def link_html(address: str, words: str = "") -> Markup:
    """An address of the web as a link that tells its page nothing; anything else as text."""
    if len(address) > LONGEST_LINK or not _LINK.fullmatch(address):
        return Markup(f"<bdi>{escape(words or address, prose=True)}</bdi>")
    return Markup(
        f'<a href="{escape(address)}" rel="noreferrer noopener"><bdi>{escape(words or address, prose=True)}</bdi></a>'
    )


def lists_in(rest: dict[str, JSON]) -> Iterator[Section]:
    """The lists among some named values; what they show is taken out of `rest`."""
    for name in list(rest):
        tasks = checklist(rest[name]) if name.lower() in _TASKS else None
        if tasks is not None:
            del rest[name]
            yield Section("checklist", "To do", tasks)
    asked = _questions(rest)
    if asked is not None:
        yield Section("questions", "Questions", asked)
    for name in list(rest):
        found = found_pages(rest[name])
        if found is not None:
            del rest[name]
            yield found


def checklist(value: JSON) -> Markup | None:
    """Things to do with their state, as list items: from objects, or from lines such as `- [x] Read it`."""
    if isinstance(value, str):
        return _checks(value)
    if not isinstance(value, list) or not value:
        return None
    items: list[str] = []
    for item in value:
        if not isinstance(item, dict):
            return None
        words = next((item[name] for name in _TASK if isinstance(item.get(name), str)), None)
        state = item.get("status", item.get("state", item.get("done", item.get("completed"))))
        if not isinstance(words, str) or not isinstance(state, (str, bool)):
            return None
        beside = [str(item[name]) for name in ("priority", "notes") if isinstance(item.get(name), str) and item[name]]
        items.append(_task(words, state if isinstance(state, str) else "done" if state else "", ", ".join(beside)))
    return items_html(items)


def _checks(text: str) -> Markup | None:
    """Lines such as `- [x] Read it`, `1. [in_progress] Write it` or `[ ] Run it`; None where there are others."""
    lines = [line for line in text[:100_000].split("\n") if line.strip()]
    found = [_CHECK.fullmatch(line) for line in lines]
    if not found or not all(found):
        return None
    return items_html([_task(match.group(2), match.group(1).strip().lower()) for match in found if match])


def _task(words: str, state: str, beside: str = "") -> str:
    state = state.lower()
    mark = "done" if state in _DONE else "begun" if state in _BEGUN else "dropped" if state in _DROPPED else "open"
    said = f'<span class="vh">{_SAID[mark]}: </span><bdi>{escape(words, prose=True)}</bdi>'
    more = f" <small><bdi>{escape(brief(beside), prose=True)}</bdi></small>" if beside else ""
    return f'<li class="{mark}">{said}{more}</li>'


def _questions(rest: dict[str, JSON]) -> Markup | None:
    """What was asked with the options there were: of several questions or of one; taken out of `rest`."""
    listed = rest.get("questions")
    if isinstance(listed, list) and listed:
        parts = [_question(item) for item in listed[:MOST_ITEMS]]
        if all(part is not None for part in parts):
            del rest["questions"]
            return Markup("".join(filter(None, parts)))
    name = next((name for name in _ASKED[:2] if isinstance(rest.get(name), str)), "")
    options = next((other for other in _OPTIONS if isinstance(rest.get(other), list) and rest[other]), "")
    one = _question({"question": rest[name], "options": rest[options]}) if name and options else None
    if one is None:
        return None
    del rest[name], rest[options]
    return Markup(one)


def _question(item: JSON) -> str | None:
    if not isinstance(item, dict):
        return None
    words = next((item[name] for name in _ASKED if isinstance(item.get(name), str)), None)
    if words is None:
        return None
    options = next((item[name] for name in _OPTIONS if isinstance(item.get(name), list)), None)
    listed = f"<ul>{items_html([_option(option) for option in options])}</ul>" if isinstance(options, list) else ""
    return f'<p dir="auto"><b>{escape(str(words), prose=True)}</b></p>{listed}'


def _option(option: JSON) -> str:
    words = str(option) if not isinstance(option, (dict, list)) else ""
    if isinstance(option, dict):
        told = [str(value) for name, value in option.items() if isinstance(value, str) and name != "id"]
        words = " – ".join(told)
    return f'<li dir="auto">{escape(brief(words), prose=True)}</li>'


def found_pages(value: JSON) -> Section | None:
    """Pages that a search found, each with its link and what is said of it; None for what is no such list."""
    if not isinstance(value, list) or not value:
        return None
    items: list[str] = []
    for item in value:
        address = _first(item, _ADDRESSES) if isinstance(item, dict) else ""
        if not isinstance(item, dict) or not _LINK.fullmatch(address):
            return None
        title, said = _first(item, ("title", "name")), _first(item, _SNIPPETS)
        if len(said) > LONGEST_SNIPPET:
            return None
        shown = f"<small><bdi>{escape(brief(address), prose=True)}</bdi></small>" if title else ""
        words = f'<p dir="auto">{escape(said, prose=True)}</p>' if said else ""
        items.append(f'<li dir="auto">{link_html(address, brief(title))} {shown}{words}</li>')
    count = f"{len(value):,} page" + ("s" if len(value) != 1 else "")
    return Section("links", "What was found", items_html(items), note=count)


def _first(item: Mapping[str, JSON], names: Sequence[str]) -> str:
    return next((value for name in names if isinstance(value := item.get(name), str) and value), "")
