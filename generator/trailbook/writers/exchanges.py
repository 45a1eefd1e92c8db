"""A conversation as strict training readers want it: what was asked, then one reply, in turns.

Such readers drop a whole example, saying little, when turns do not alternate. So prompts that follow one another are
joined, and so are replies; what nobody answered at the end, and what nobody asked at the beginning, is left out and
counted. No turn is ever made up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from trailbook.chat import Part
from trailbook.messages import AnyMessage, AssistantMessage, SystemMessage, UnlinkedResult, UserMessage
from trailbook.stand_ins import JOINED
from trailbook.writers.written import Written


@dataclass(slots=True)
class Prompt:
    """What stands before a reply and is no result: a question, or context that no person wrote."""

    text: str
    parts: list[Part]
    person: bool


@dataclass(slots=True)
class Exchange:
    """Prompts and the reply to them. There are none where the reply goes on from the results before it."""

    prompts: list[Prompt]
    reply: AssistantMessage


def exchanges_of(messages: Iterable[AnyMessage], written: Written) -> list[Exchange]:
    """The exchanges; what is left out is counted in `written`.

    The last reply's calls are not followed by their results: nobody replied to those.
    """
    found: list[Exchange] = []
    prompts: list[Prompt] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            _add_reply(found, prompts, message, written)
            prompts = [] if found and found[-1].prompts is prompts else prompts
        elif isinstance(message, UnlinkedResult):
            written.leave_out("orphan")
        else:
            prompts.extend(_prompts_of(message))
    found = _without_head(found, written)
    written.leave_out("prompt", len(prompts))
    if found:
        written.leave_out("result", len(found[-1].reply.calls))
    return found


def _prompts_of(message: UserMessage | SystemMessage) -> list[Prompt]:
    person = isinstance(message, UserMessage) and message.injected is None
    if not person and not message.text and not message.parts:
        return []
    return [Prompt(message.text, message.parts, person)]


def _add_reply(found: list[Exchange], prompts: list[Prompt], reply: AssistantMessage, written: Written) -> None:
    if not (reply.text.strip() or reply.calls):
        written.leave_out("thought", bool(reply.thinking.strip()))
        return
    if found and not prompts and not found[-1].reply.calls:
        found[-1].reply = _joined(found[-1].reply, reply)
    else:
        found.append(Exchange(prompts, reply))


def _joined(first: AssistantMessage, second: AssistantMessage) -> AssistantMessage:
    return replace(
        second,
        thinking=JOINED.join(text for text in (first.thinking, second.thinking) if text),
        text=JOINED.join(text for text in (first.text, second.text) if text),
        parts=first.parts + second.parts,
    )


def _without_head(found: list[Exchange], written: Written) -> list[Exchange]:
    first = next((at for at, exchange in enumerate(found) if exchange.prompts), 0)
    for exchange in found[:first]:
        written.leave_out("answer", bool(exchange.reply.text.strip()))
        written.leave_out("call", len(exchange.reply.calls))
        written.leave_out("result", len(exchange.reply.calls))
    return found[first:]
