"""Which call started which subagent, for the count."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trailbook import json_text
from trailbook.chat import JSON
from trailbook.readers.claude_code.ledger_records import Raw, Talk, divide, text_in, texts_of
from trailbook.readers.files import read_own


def hang(main: Talk, talks: dict[Path, Talk]) -> None:
    """Each subagent's ledger below the one of the chat whose call started it."""
    homes = [main, *talks.values()]
    taken: set[str] = set()
    started: dict[int, tuple[Talk, str]] = {}
    for path, talk in talks.items():
        about = _about(path)
        for home in homes:
            named = text_in(about.get("toolUseId"))
            call = named if named in home.calls else home.agents.get(talk.ledger.chat or "")
            if call is not None and call in home.calls and home is not talk:
                started[id(talk)] = home, call
                taken.add(call)
                break
    for talk in talks.values():
        if id(talk) not in started and (guess := _guess(talk, homes, taken)):
            started[id(talk)] = guess
            taken.add(guess[1])
    for path, talk in talks.items():
        home, talk.ledger.started_by = started.get(id(talk), (main, None))
        if home is not main and not _leads_up(home, main, started):
            home, talk.ledger.started_by = main, None
            del started[id(talk)]
        elif id(talk) not in started:
            parent = text_in(_about(path).get("parentAgentId"))
            home = next((other for other in talks.values() if other.ledger.chat == parent and other is not talk), main)
            home = home if home is main or id(home) in started else main
        home.ledger.subagents.append(talk.ledger)


def _about(path: Path) -> Raw:
    try:
        value = json_text.parse(read_own(path.with_suffix(".meta.json")))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _candidates(talk: Talk, homes: list[Talk], taken: set[str]) -> Iterator[tuple[Talk, str, JSON, int]]:
    for home in homes:
        for call, (name, arguments, _message, number) in home.calls.items():
            if home is not talk and name in ("Task", "Agent") and call not in taken and isinstance(arguments, dict):
                yield home, call, arguments.get("prompt"), number


def _guess(talk: Talk, homes: list[Talk], taken: set[str]) -> tuple[Talk, str] | None:
    """By the words it was started with; one in the session's own file also by the nearest call before it."""
    asked = ["\n".join(divide(text)[0] for text in texts_of(line.raw)) for line in talk.lines if line.prompt]
    first = asked[0].strip() if asked else ""
    nearest = None
    for home, call, prompt, number in _candidates(talk, homes, taken):
        if first and isinstance(prompt, str) and prompt.strip() == first:
            return home, call
        if home is homes[0] and talk.inline is not None and number < talk.inline:
            nearest = home, call
    return nearest


def _leads_up(talk: Talk, main: Talk, started: dict[int, tuple[Talk, str]]) -> bool:
    passed: set[int] = set()
    while talk is not main and id(talk) not in passed:
        passed.add(id(talk))
        talk = started.get(id(talk), (main, ""))[0]
    return talk is main
