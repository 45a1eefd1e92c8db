"""The calls in a message: an id where there is one, the name, the arguments as they stand there."""

from __future__ import annotations

from dataclasses import dataclass

from trailbook.chat import JSON
from trailbook.readers.hermes.contents import parsed
from trailbook.readers.values import Fields, fields, items, string


@dataclass(slots=True, frozen=True)
class LoggedCall:
    """A call as a message has it."""

    id: str | None
    name: str
    arguments: JSON


def calls_in(message: Fields) -> list[LoggedCall]:
    """The calls of a message, in the shape of OpenAI's API or bare (`{name, arguments}`), as JSON or as its text."""
    return [_call(call) for value in items(parsed(message.get("tool_calls"))) if (call := fields(value))]


def bare(value: JSON) -> str | None:
    """A call's id without the id of the item of another API that may stand behind it (`call_x|fc_y`)."""
    named = string(value)
    return (named.partition("|")[0] or named) if named else None


def _call(call: Fields) -> LoggedCall:
    function = fields(call.get("function")) or call
    name = string(function.get("name")) or "unknown_tool"
    return LoggedCall(bare(call.get("id")) or bare(call.get("call_id")), name, function.get("arguments"))
