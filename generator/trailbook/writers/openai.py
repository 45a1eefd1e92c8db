"""OpenAI chat: JSON lines, one chat a line, as fine-tuning and most training tools read them (harnesses.md G1).

The format has no place for thinking, tokens, times, subagents, or whether a call went well. Turns alternate, because
strict readers drop an example where they do not (`exchanges`): a prompt that came after results stands in the last
result, behind a line that says so.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator

from trailbook import json_text
from trailbook.chat import JSON, Chat, Image, Part, Tool
from trailbook.messages import AssistantMessage, Call, Conversation
from trailbook.stand_ins import JOINED, add_prompt
from trailbook.writers.exchanges import Exchange, Prompt, exchanges_of
from trailbook.writers.tool_names import true_name, valid_name, whole_name
from trailbook.writers.tools import parameters_of, tools_of
from trailbook.writers.written import Options, Written, conversations_of, is_portable, left_out_pictures, words_of

Fields = dict[str, JSON]


def write_openai(chats: Iterable[Chat], options: Options) -> Written:
    """Write chats, already redacted, as JSON lines.

    With images pictures stand as `data:` addresses in user messages (a tool's pictures in one that follows its
    results). A chat without any reply has no line.
    """
    written = Written(b"")
    written.data = b"".join(
        json_text.dump(record) + b"\n"
        for chat in chats
        for _, conversation in conversations_of(chat, options, written)
        if (record := _record(chat, conversation, options.images, written))
    )
    return written


def _record(chat: Chat, conversation: Conversation, images: bool, written: Written) -> Fields | None:
    written.leave_out("subagent", len(chat.subagents))
    exchanges = exchanges_of(conversation.messages, written)
    if not exchanges:
        return None
    messages: list[JSON] = []
    if chat.system_prompt:
        messages.append({"role": "system", "content": chat.system_prompt})
    before: AssistantMessage | None = None
    for exchange in exchanges:
        messages.extend(_between(before, exchange, images, written))
        messages.append(_reply(exchange.reply, written))
        before = exchange.reply
    record: Fields = {"messages": messages}
    tools = tools_of(chat, [call for exchange in exchanges for call in exchange.reply.calls])
    if tools:
        record["tools"] = [{"type": "function", "function": _function(tool)} for tool in tools]
        record["parallel_tool_calls"] = any(len(exchange.reply.calls) > 1 for exchange in exchanges)
    return record


def _function(tool: Tool) -> Fields:
    name = valid_name(tool.name)
    description = tool.description or ""
    if true_name(name) != tool.name:
        description = f"{whole_name(tool.name)}\n{description}".rstrip()
    return {"name": name, **({"description": description} if description else {}), "parameters": parameters_of(tool)}


def _between(before: AssistantMessage | None, exchange: Exchange, images: bool, written: Written) -> Iterator[Fields]:
    """What stands between two replies: results, then prompts."""
    plain, pictured = exchange.prompts, list[Prompt]()
    calls = before.calls if before is not None else []
    if images:
        pictured = [prompt for prompt in exchange.prompts if any(map(is_portable, prompt.parts))]
    if calls and not pictured:
        yield from _results(calls, plain, images, written)
        return
    yield from _results(calls, [], images, written)
    if pictured:
        yield {"role": "user", "content": _content(plain)}
    elif plain:
        yield {"role": "user", "content": JOINED.join(words_of(prompt.text, prompt.parts) for prompt in plain)}
    for prompt in plain:
        written.leave_out("image", left_out_pictures(prompt.parts, images=images))


def _results(calls: list[Call], prompts: list[Prompt], images: bool, written: Written) -> Iterator[Fields]:
    pictures: list[JSON] = []
    for number, call in enumerate(calls, 1):
        parts = call.result.parts
        moved = [part for part in parts if images and is_portable(part)]
        content = words_of("", [part for part in parts if part not in moved])
        for prompt in prompts if number == len(calls) else []:
            content = add_prompt(content, words_of(prompt.text, prompt.parts), person=prompt.person)
            written.leave_out("image", left_out_pictures(prompt.parts, images=images))
        yield {"role": "tool", "tool_call_id": call.id, "content": content}
        pictures += [_image(part) for part in moved]
        written.leave_out("image", left_out_pictures(parts, images=images))
    if pictures:
        yield {"role": "user", "content": pictures}


def _reply(reply: AssistantMessage, written: Written) -> Fields:
    written.leave_out("thought", bool(reply.thinking.strip()))
    written.leave_out("token", reply.usage is not None)
    written.leave_out("image", left_out_pictures(reply.parts, images=False))
    words = words_of(reply.text, reply.parts)
    message: Fields = {"role": "assistant", "content": words or None}
    if reply.calls:
        message["tool_calls"] = [_call(call) for call in reply.calls]
    return message


def _call(call: Call) -> Fields:
    arguments = json_text.dump(call.arguments).decode("utf-8")
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": valid_name(call.name), "arguments": arguments},
    }


def _content(prompts: list[Prompt]) -> list[JSON]:
    """Prompts as parts: their words joined as far as no picture stands between."""
    content: list[JSON] = []
    words: list[str] = []
    for prompt in prompts:
        text = words_of(prompt.text, [part for part in prompt.parts if not is_portable(part)])
        words += [text] if text else []
        pictures = [_image(part) for part in prompt.parts if is_portable(part)]
        if pictures and words:
            content.append({"type": "text", "text": JOINED.join(words)})
            words = []
        content += pictures
    return content + ([{"type": "text", "text": JOINED.join(words)}] if words else [])


def _image(part: Part) -> Fields:
    data = base64.b64encode(part.data or b"").decode("ascii") if isinstance(part, Image) else ""
    media_type = part.media_type if isinstance(part, Image) else None
    return {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{data}"}}
