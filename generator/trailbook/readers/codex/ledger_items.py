"""A rollout's raw lines as items alone, for the counter: what stands only in events becomes the items it stands for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from trailbook import json_text
from trailbook.chat import JSON
from trailbook.readers.codex.rollouts import RolloutLine

Raw = dict[str, JSON]

CONTEXT = (
    ("<environment_context>", "</environment_context>"),
    ("<turn_context>", "</turn_context>"),
    ("<goal_context>", "</goal_context>"),
    ("<user_instructions>", "</user_instructions>"),
    ("<permissions instructions>", "</permissions instructions>"),
    ("<turn_aborted>", "</turn_aborted>"),
    ("<skill>", "</skill>"),
    ("<user_shell_command>", "</user_shell_command>"),
    ("<subagent_notification>", "</subagent_notification>"),
    ("# AGENTS.md instructions", ""),
)
"""How the user messages begin and end that no person wrote."""

_ROLES = {"user_message": "user", "agent_message": "assistant", "UserMessage": "user", "AgentMessage": "assistant"}
_THOUGHTS = ("agent_reasoning", "agent_reasoning_raw_content")
_CALL_ENDS = ("exec_command_end", "patch_apply_end", "mcp_tool_call_end")
_OTHER_ENDS = {"web_search_end": "web_search_call", "image_generation_end": "image_generation_call"}
_ITEM_ENDS = {
    "CommandExecution": "exec_command_end",
    "FileChange": "patch_apply_end",
    "McpToolCall": "mcp_tool_call_end",
    "WebSearch": "web_search_end",
    "ImageGeneration": "image_generation_end",
}


def items_of(lines: list[RolloutLine]) -> list[list[Raw]]:
    """For each line the items that it is or stands for, none for what is said elsewhere."""
    found: list[list[Raw]] = [[] for _ in lines]
    items = [line.payload for line in lines if line.kind == "response_item"]
    known = _Known(
        {identity for item in items if str(item.get("type")).endswith("_call") for identity in _ids(item)},
        {identity for item in items if str(item.get("type")).endswith("_output") for identity in _ids(item)},
    )
    starts = [number for number, line in enumerate(lines) if _event(line) in ("task_started", "turn_started")]
    for start, end in zip([0, *starts], [*starts, len(lines)], strict=True):
        _read_turn(lines[start:end], known, found[start:end])
    return found


def text_of_content(content: JSON) -> list[str]:
    """The words of a message's or an output's blocks, tags around pictures left out."""
    blocks = [content] if isinstance(content, str | dict) else content if isinstance(content, list) else []
    texts: list[str] = []
    for number, block in enumerate(blocks):
        if is_picture(block):
            continue
        text = block if isinstance(block, str) else raw(block).get("text")
        text = text if isinstance(text, str) else json_text.dump(block).decode()
        beside = number - 1 if text == "</image>" else number + 1
        tag = text == "</image>" or (text.startswith(("<image>", "<image name=")) and text.find(">") == len(text) - 1)
        if not (tag and 0 <= beside < len(blocks) and is_picture(blocks[beside])):
            texts.append(text)
    return texts


def is_picture(block: JSON) -> bool:
    """Whether a block is a picture."""
    return "image_url" in raw(block) and raw(block).get("type") in ("input_image", "image")


def is_context(text: str) -> bool:
    """Whether the harness wrote this in a person's place."""
    return any(text.strip().startswith(start) and text.strip().endswith(end) for start, end in CONTEXT)


def raw(value: JSON) -> Raw:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def text(value: JSON) -> str | None:
    """The string with something in it, or None."""
    return value if isinstance(value, str) and value else None


def end_of_call(line: RolloutLine) -> Raw | None:
    """What an event says of a call's end, whichever version wrote it."""
    kind, payload = _event(line), line.payload
    if kind == "item_completed":
        item = {_small(key): value for key, value in raw(payload.get("item")).items()}
        kind = _ITEM_ENDS.get(str(item.get("type")))
        payload = {**item, "call_id": item.get("id")}
        if isinstance(listed := item.get("changes"), list):
            changes = {path: _change(raw(change)) for change in listed if (path := text(raw(change).get("path")))}
            payload["changes"] = changes
        if kind == "mcp_tool_call_end":
            payload["invocation"] = {key: item.get(key) for key in ("server", "tool", "arguments")}
    return {**payload, "type": kind} if kind in _CALL_ENDS or kind in _OTHER_ENDS else None


# --- one turn


@dataclass(slots=True)
class _Known:
    """Ids that items have, in the whole log."""

    calls: set[str]
    answered: set[str]


def _read_turn(lines: list[RolloutLine], known: _Known, found: list[list[Raw]]) -> None:
    said = Counter(words for line in lines for words in _said_by_item(line))
    nameless = [
        line.payload
        for line in lines
        if line.payload.get("type") == "web_search_call" and not text(line.payload.get("id"))
    ]
    pairs = [(event, items) for whole, items in zip(lines, found, strict=True) for event in _events(whole)]
    for line, items in pairs:
        words = _said_by_event(line)
        if words is not None and said[words] > 0:
            said[words] -= 1
        elif line.kind == "response_item":
            items.append(line.payload)
        elif line.kind == "inter_agent_communication":
            items.append({**line.payload, "type": "agent_message"})
        elif words is not None:
            items.append(_item_of_words(line, words[0]))
        elif (end := end_of_call(line)) is not None:
            items.extend(_items_of_end(end, known, nameless))


def _events(line: RolloutLine) -> list[RolloutLine]:
    """The line; of a thought in several pieces, one for each."""
    item = raw(line.payload.get("item"))
    if _event(line) != "item_completed" or item.get("type") != "Reasoning":
        return [line]
    pieces = [piece for key in ("summary_text", "summary", "raw_content", "content") for piece in _list(item.get(key))]
    texts = [piece if isinstance(piece, str) else raw(piece).get("text") for piece in pieces]
    return [replace(line, payload={"type": "agent_reasoning", "text": words}) for words in texts]


def _said_by_item(line: RolloutLine) -> Iterator[tuple[str, str]]:
    payload = line.payload
    if line.kind == "inter_agent_communication":
        yield "agent", _bare(text(payload.get("content")) or "")
    elif line.kind == "response_item" and payload.get("type") == "reasoning":
        for piece in thought_pieces(payload):
            yield "thought", _bare(text(raw(piece).get("text")) or "")
    elif line.kind == "response_item" and payload.get("type") == "message":
        content = payload.get("content")
        texts = text_of_content(content)
        own = [words for words in texts if not is_context(words)]
        if own or (isinstance(content, list) and any(map(is_picture, content))):
            yield str(payload.get("role")), _bare("\n".join(own))
        for words in texts:
            if is_context(words):
                yield str(payload.get("role")), _bare(words)


def _said_by_event(line: RolloutLine) -> tuple[str, str] | None:
    payload, kind = line.payload, _event(line)
    if line.kind == "response_item":
        message = payload.get("type") == "agent_message"
        return ("agent", _bare("\n".join(text_of_content(payload.get("content"))))) if message else None
    if kind == "item_completed":
        payload = raw(payload.get("item"))
        kind = text(payload.get("type"))
    if kind in _ROLES:
        return _ROLES[kind], _bare("\n".join(_texts_of_event(payload)))
    return ("thought", _bare(text(payload.get("text")) or "")) if kind in _THOUGHTS else None


def _texts_of_event(payload: Raw) -> list[str]:
    content = payload.get("content", payload.get("text"))
    return [message] if (message := text(payload.get("message"))) else text_of_content(content)


def _item_of_words(line: RolloutLine, speaker: str) -> Raw:
    payload = raw(line.payload.get("item")) if _event(line) == "item_completed" else line.payload
    if speaker == "thought":
        return {"type": "reasoning", "summary": [{"text": payload.get("text")}]}
    content: list[JSON] = [{"type": "input_text", "text": words} for words in _texts_of_event(payload)]
    for picture in _list(payload.get("content")):
        path = raw(picture).get("path")
        if is_picture(picture) or isinstance(path, str):
            content.append({"type": "input_image", "image_url": raw(picture).get("image_url", path)})
    content += [{"type": "input_image", "image_url": address} for address in _list(payload.get("images"))]
    paths = [path for path in _list(payload.get("local_images")) if isinstance(path, str)]
    return {
        "type": "message",
        "role": speaker,
        "content": content + [{"type": "input_image", "image_url": path} for path in paths],
    }


def thought_pieces(payload: Raw) -> list[JSON]:
    """The pieces of a thought."""
    return _list(payload.get("summary")) + _list(payload.get("content"))


def _bare(words: str) -> str:
    for tag in ("oai-mem-citation", "proposed_plan"):
        first, *others = words.split(f"<{tag}>")
        words = first + "".join(other.partition(f"</{tag}>")[2] for other in others)
    return "".join(words.split())


# --- ends of calls


def _items_of_end(end: Raw, known: _Known, nameless: list[Raw]) -> Iterator[Raw]:
    kind, call = str(end["type"]), text(end.get("call_id"))
    told = call in known.calls
    if call is not None and end.get("source") != "user_shell":
        known.calls.add(call)
    if kind in _OTHER_ENDS and not told:
        if kind == "web_search_end" and nameless:
            nameless.pop(0)["id"] = call
            return
        search = raw(end.get("action")) or {"type": "search", "query": end.get("query")}
        yield {**end, "type": _OTHER_ENDS[kind], "id": call, "action": search}
    elif kind in _CALL_ENDS and call is not None and end.get("source") != "user_shell":
        if not told:
            yield {"type": "function_call", "call_id": call, **_call_of_end(end)}
        if call not in known.answered and (output := _output_of_end(end)) is not None:
            known.answered.add(call)
            yield {"type": "function_call_output", "call_id": call, "output": output, "went": list(well(end))}


def _call_of_end(end: Raw) -> Raw:
    invocation = raw(end.get("invocation"))
    if invocation:
        name = f"mcp__{invocation.get('server')}__{invocation.get('tool')}"
        return {"name": name, "arguments": raw(invocation.get("arguments"))}
    if "command" in end:
        return {"name": "exec_command", "arguments": {"command": end["command"]}}
    return {"name": "apply_patch", "arguments": {"changes": end.get("changes")}}


def _change(change: Raw) -> JSON:
    kind = change.get("kind")
    return {"type": text(kind) or raw(kind).get("type"), "unified_diff": change.get("diff")}


def _output_of_end(end: Raw) -> JSON:
    for key in ("aggregated_output", "formatted_output"):
        if isinstance(end.get(key), str):
            return end[key]
    printed = [words for key in ("stdout", "stderr") if isinstance(words := end.get(key), str)]
    if printed:
        return "\n".join(words.rstrip("\n") for words in printed if words)
    answer = raw(end.get("result"))
    if "Err" in answer:
        return text(answer["Err"]) or json_text.dump(answer["Err"]).decode()
    content = raw(answer.get("Ok")) or answer
    if content:
        blocks = [_block(raw(block)) for block in _list(content.get("content"))]
        return blocks or json_text.dump(content).decode()
    failed = text(raw(end.get("error")).get("message"))
    return failed or ("" if well(end)[0] is not None else None)


def _block(block: Raw) -> JSON:
    if block.get("type") != "image":
        return block
    return {"type": "input_image", "image_url": f"data:{block.get('mimeType')};base64,{block.get('data')}"}


def well(end: Raw) -> tuple[bool | None, bool]:
    """Whether a call went well by the event at its end, and whether it was never run."""
    status, state, ok = end.get("exit_code"), end.get("status"), end.get("success")
    if isinstance(status, int) and not isinstance(status, bool):
        return status == 0, state == "declined"
    if state in ("declined", "failed"):
        return False, state == "declined"
    if isinstance(ok, bool):
        return ok, False
    answer = raw(end.get("result"))
    good = raw(answer.get("Ok"))
    return (bool(good) and True not in (good.get("isError"), good.get("is_error"))) if answer else None, False


def _event(line: RolloutLine) -> str | None:
    return text(line.payload.get("type")) if line.kind == "event_msg" else None


def _list(value: JSON) -> list[JSON]:
    return value if isinstance(value, list) else []


def _ids(payload: Raw) -> list[str]:
    return [identity for key in ("call_id", "id") if (identity := text(payload.get(key)))]


def _small(key: str) -> str:
    return "".join("_" + letter.lower() if letter.isupper() else letter for letter in key)
