"""ShareGPT: JSON lines, one chat a line, in one of two dialects that real readers take (harnesses.md A1, G2).

`hermes` is what Hermes Agent writes, byte for byte where it is right: thinking, calls and results stand as tagged JSON
in the words. Results stand in the order of their calls, under their true names. `llamafactory` has turns of their own
for calls and results, strictly alternating, with the description that LLaMA-Factory needs to find its way in.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from decimal import Decimal
from pathlib import PurePosixPath

from trailbook import json_text
from trailbook.chat import JSON, Chat
from trailbook.messages import AssistantMessage, Call, Conversation, Result, UnlinkedResult
from trailbook.stand_ins import JOINED, add_prompt
from trailbook.writers.exchanges import Exchange, exchanges_of
from trailbook.writers.tools import parameters_of, tools_of
from trailbook.writers.written import Options, Written, conversations_of, moment, words_of

Fields = dict[str, JSON]

DIALECTS = ("hermes", "llamafactory")

_SYSTEM = (
    "You are a function calling AI model. You are provided with function signatures within <tools> </tools> XML tags. "
    "You may call one or more functions to assist with the user query. If available tools are not relevant in "
    "assisting with user query, just respond in natural conversational language. Don't make assumptions about what "
    "values to plug into functions. After calling & executing the functions, you will be provided with function "
    "results within <tool_response> </tool_response> XML tags. Here are the available tools:\n"
    "<tools>\n{tools}\n</tools>\n"
    "For each function call return a JSON object, with the following pydantic model json schema for each:\n"
    "{{'title': 'FunctionCall', 'type': 'object', 'properties': {{'name': {{'title': 'Name', 'type': 'string'}}, "
    "'arguments': {{'title': 'Arguments', 'type': 'object'}}}}, 'required': ['name', 'arguments']}}\n"
    "Each function call should be enclosed within <tool_call> </tool_call> XML tags.\n"
    "Example:\n<tool_call>\n{{'name': <function-name>,'arguments': <args-dict>}}\n</tool_call>"
)

_TAGS: Fields = {
    "role_tag": "from",
    "content_tag": "value",
    "user_tag": "human",
    "assistant_tag": "gpt",
    "observation_tag": "observation",
    "function_tag": "function_call",
    "system_tag": "system",
}


def write_sharegpt(chats: Iterable[Chat], options: Options) -> Written:
    """Write chats, already redacted, as JSON lines. Marks stand for pictures always: there is place for text only.

    In LLaMA-Factory's dialect a folder lies beside it that is named after it and has the `dataset_info.json` by which
    LLaMA-Factory finds the file as the data set `chats`; and a chat without any reply has no line.
    """
    written = Written(b"")
    strict = options.sharegpt_dialect == "llamafactory"
    record_of = _llamafactory_record if strict else _hermes_record
    written.data = b"".join(
        _spaced(record).encode("utf-8", "replace") + b"\n"
        for chat in chats
        for _, conversation in conversations_of(chat, options, written)
        if (record := record_of(chat, conversation, written))
    )
    if strict and written.data:
        folder = f"{PurePosixPath(options.name).stem}-llamafactory"
        written.sidecars[f"{folder}/dataset_info.json"] = json_text.dump(_dataset_info(options.name), indent=2) + b"\n"
    return written


# --- Hermes


def _hermes_record(chat: Chat, conversation: Conversation, written: Written) -> Fields | None:
    written.leave_out("subagent", len(chat.subagents))
    calls: list[Call] = []
    turns: list[JSON] = []
    for message in conversation.messages:
        if isinstance(message, AssistantMessage):
            turns.extend(_hermes_turns(message, written))
            calls.extend(message.calls)
        elif isinstance(message, UnlinkedResult):
            written.leave_out("orphan")
        else:
            text = words_of(message.text, message.parts)
            turns.append({"from": "human", "value": text})
    if not turns:
        return None
    tools = [
        {"name": tool.name, "description": tool.description or "", "parameters": parameters_of(tool), "required": None}
        for tool in tools_of(chat, calls)
    ]
    system = _SYSTEM.format(tools=_spaced(list[JSON](tools)))
    record: Fields = {"conversations": [{"from": "system", "value": system}, *turns]}
    started = moment(chat.started)
    if started is not None:
        record["timestamp"] = started
    record["model"] = next(reversed(chat.models), "unknown")
    if chat.completed is not None:
        record["completed"] = chat.completed
    return record


def _hermes_turns(message: AssistantMessage, written: Written) -> Iterator[Fields]:
    written.leave_out("token", message.usage is not None)
    words = _without_scratchpad(words_of(message.text, message.parts))
    if not (words.strip() or message.thinking.strip() or message.calls):
        return
    value = f"<think>\n{message.thinking}\n</think>\n" if message.thinking.strip() else ""
    if message.calls:
        value += words + "\n" if words.strip() else ""
        value += "".join(f"<tool_call>\n{_spaced(_call(call))}\n</tool_call>\n" for call in message.calls)
    else:
        value += words
    if "<think>" not in value:
        value = "<think>\n</think>\n" + value
    yield {"from": "gpt", "value": value.rstrip() if message.calls else value.strip()}
    if message.calls:
        blocks = [f"<tool_response>\n{_spaced(_response(call))}\n</tool_response>" for call in message.calls]
        yield {"from": "tool", "value": "\n".join(blocks)}


def _without_scratchpad(words: str) -> str:
    if "<REASONING_SCRATCHPAD>" not in words:
        return words
    return words.replace("<REASONING_SCRATCHPAD>", "<think>").replace("</REASONING_SCRATCHPAD>", "</think>")


def _call(call: Call) -> Fields:
    return {"name": call.name, "arguments": call.arguments}


def _response(call: Call) -> Fields:
    content: JSON = words_of("", call.result.parts)
    if isinstance(content, str) and content.strip().startswith(("{", "[")):
        with suppress(ValueError):
            content = json_text.parse(content.encode("utf-8"))
    return {"tool_call_id": call.id, "name": call.name, "content": content}


# --- LLaMA-Factory


def _llamafactory_record(chat: Chat, conversation: Conversation, written: Written) -> Fields | None:
    written.leave_out("subagent", len(chat.subagents))
    exchanges = exchanges_of(conversation.messages, written)
    if not exchanges:
        return None
    turns: list[JSON] = []
    results: list[Result] = []
    for exchange in exchanges:
        turns.append(_observation(results, exchange) if results else _question(exchange))
        turns.append(_reply(exchange.reply, written))
        results = [call.result for call in exchange.reply.calls]
    tools = [
        {"name": tool.name, "description": tool.description or "", "parameters": parameters_of(tool)}
        for tool in tools_of(chat, [call for exchange in exchanges for call in exchange.reply.calls])
    ]
    return {
        "conversations": turns,
        "system": chat.system_prompt or "",
        # A JSON text, so that a table of many examples has one type of column.
        "tools": _spaced(list[JSON](tools)) if tools else "",
    }


def _question(exchange: Exchange) -> Fields:
    return {"from": "human", "value": JOINED.join(words_of(prompt.text, prompt.parts) for prompt in exchange.prompts)}


def _observation(results: list[Result], exchange: Exchange) -> Fields:
    texts = [words_of("", result.parts) for result in results]
    for prompt in exchange.prompts:
        texts[-1] = add_prompt(texts[-1], words_of(prompt.text, prompt.parts), person=prompt.person)
    return {"from": "observation", "value": texts[0] if len(texts) == 1 else _spaced(list[JSON](texts))}


def _reply(reply: AssistantMessage, written: Written) -> Fields:
    written.leave_out("token", reply.usage is not None)
    value = f"<think>\n{reply.thinking.strip()}\n</think>\n\n" if reply.thinking.strip() else ""
    words = words_of(reply.text, reply.parts)
    if not reply.calls:
        return {"from": "gpt", "value": value + words}
    calls = [_call(call) for call in reply.calls]
    # LLaMA-Factory looks for these tags anywhere in the turn, inside an argument too.
    told = _spaced(calls[0] if len(calls) == 1 else list[JSON](calls)).replace("<tool_call>", "\\u003ctool_call>")
    told = told.replace("</tool_call>", "\\u003c/tool_call>")
    value += words.strip()
    if not value:
        return {"from": "function_call", "value": told}
    block = f"<tool_call>\n{told}\n</tool_call>"
    # It takes the first such block, wherever that stands, for the calls.
    pieces = (block, value) if "<tool_call>" in value else (value.rstrip("\n"), block)
    return {"from": "function_call", "value": "\n".join(pieces)}


def _dataset_info(name: str) -> Fields:
    return {
        "chats": {
            "file_name": f"../{name}",
            "formatting": "sharegpt",
            "columns": {"messages": "conversations", "system": "system", "tools": "tools"},
            "tags": _TAGS,
        }
    }


# --- JSON as Python's standard library spaces it, as Hermes does


def _spaced(value: JSON) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, RecursionError):
        return _spaced_exactly(value)


def _spaced_exactly(value: JSON) -> str:
    """The same, where a number has more digits than a float holds."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_spaced(key)}: {_spaced_exactly(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_spaced_exactly, value)) + "]"
    return str(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)
