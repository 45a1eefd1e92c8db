"""The file beside a trajectory-v1 file, `….meta.json`: what the closed schema has no place for, one object a chat."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from trailbook import json_text
from trailbook.chat import JSON, Cost, Image, Message, Usage
from trailbook.readers.files import read_own
from trailbook.readers.values import Fields, fields, items, number, string, whole

ENDING = ".meta.json"


@dataclass(slots=True, frozen=True)
class Stretch:
    """A message of the model: which records it is, and what is known of it."""

    first: int
    last: int
    key: str
    message: Message
    outcome: str | None
    problem: str | None


@dataclass(slots=True, frozen=True)
class Beside:
    """What the file says of one chat. All is empty where there is none."""

    about: Fields = field(default_factory=dict)
    stretches: list[Stretch] = field(default_factory=list)
    pictures: dict[int, list[Image]] = field(default_factory=dict)
    """By the number of the record that they belong to."""
    untimed: frozenset[int] = frozenset()
    """The records whose time the log does not have."""


def path_beside(path: Path) -> Path:
    """Where the file lies that belongs to a trajectory file."""
    return path.with_name(f"{path.stem}{ENDING}")


def about_chat(path: Path, line: int) -> Fields:
    """What the file beside says of the chat on a line (from 1); nothing where it is missing or damaged."""
    try:
        return fields(json_text.parse(read_own(path_beside(path)).split(b"\n")[line - 1]))
    except (OSError, ValueError, IndexError):
        return {}


def read_beside(path: Path, line: int) -> Beside:
    """All that the file beside says of the chat on a line."""
    about = about_chat(path, line)
    pictures: dict[int, list[Image]] = {}
    for told in map(fields, items(about.get("images"))):
        pictures.setdefault(whole(told.get("record")) or 0, []).append(_image(told))
    untimed = frozenset(each for each in items(about.get("records_without_time")) if isinstance(each, int))
    return Beside(about, _stretches(about), pictures, untimed)


def aside(about: Fields) -> Message | None:
    """The tokens and the money that are on no message."""
    usage, usd = _usage(about.get("usage_in_no_message")), number(about.get("cost_usd_in_no_message"))
    cost = Cost(usd=usd) if usd is not None else None
    if cost is None and not any(each.message.cost for each in _stretches(about)):
        cost = _cost(about)
    return Message(usage=usage, cost=cost, named=False, alone=False) if usage or cost else None


def _stretches(about: Fields) -> list[Stretch]:
    return list(map(_stretch, map(fields, items(about.get("messages")))))


def _cost(told: Fields) -> Cost | None:
    usd, estimate = number(told.get("cost_usd")), number(told.get("estimated_cost_usd"))
    source = string(told.get("cost_source"))
    cost = Cost(usd=estimate if usd is None else usd, billing=string(told.get("billing")), estimated_from=source)
    return cost if cost != Cost() else None


def _stretch(told: Fields) -> Stretch:
    first = whole(told.get("first_record")) or 0
    logged = string(told.get("id"))
    message = Message(
        model=string(told.get("model")),
        usage=_usage(told.get("usage")),
        cost=_cost(told),
        stop_reason=string(told.get("stop_reason")),
        named=logged is not None,
        alone=False,
    )
    last = first + (whole(told.get("records")) or 0) - 1
    return Stretch(
        first, last, logged or f"record-{first}", message, string(told.get("outcome")), string(told.get("problem"))
    )


def _usage(value: JSON) -> Usage | None:
    told = fields(value)
    usage = Usage(
        prompt_tokens=whole(told.get("prompt_tokens")),
        output_tokens=whole(told.get("output_tokens")),
        cached_tokens=whole(told.get("cached_tokens")),
        cache_write_tokens=whole(told.get("cache_write_tokens")),
        cache_write_hour_tokens=whole(told.get("cache_write_hour_tokens")),
        reasoning_tokens=whole(told.get("reasoning_tokens")),
    )
    return usage if usage != Usage() else None


def _image(told: Fields) -> Image:
    return Image(
        media_type=string(told.get("media_type")),
        sha256=string(told.get("sha256")),
        size=whole(told.get("size")),
        reference=string(told.get("reference")),
        name=string(told.get("name")),
        problem=string(told.get("problem")),
    )
