"""Calls of tools in a rollout, and what came back."""

from __future__ import annotations

from trailbook import json_text
from trailbook.chat import Called, FilesChanged, Part, Returned, Text, text_of
from trailbook.readers.arguments import read_arguments
from trailbook.readers.codex.contents import output_parts
from trailbook.readers.codex.reading import Handlers, Reading
from trailbook.readers.codex.repeats import command_of
from trailbook.readers.codex.results import Outcome, changes_of, outcome_of_event, outcome_of_output, parts_of_event
from trailbook.readers.images import image_from_base64
from trailbook.readers.values import Fields, fields, json_words, string

SPAWN = "spawn_agent"


def name_of(payload: Fields) -> str:
    """A tool's name with its namespace, as one name."""
    name, space = string(payload.get("name")) or "unknown", string(payload.get("namespace")) or ""
    return f"{space}.{name}" if space[-1:].isalnum() else space + name


# --- calls that are items


def _function_call(reading: Reading, payload: Fields) -> None:
    arguments, raw = read_arguments(payload.get("arguments"))
    _call(reading, string(payload.get("call_id")), name_of(payload), arguments, raw)


def _custom_call(reading: Reading, payload: Fields) -> None:
    _call(reading, string(payload.get("call_id")), name_of(payload), {"input": payload.get("input")})


def _shell_call(reading: Reading, payload: Fields) -> None:
    identity = string(payload.get("call_id")) or string(payload.get("id"))
    _call(reading, identity, "local_shell", fields(payload.get("action")))


def _search_call(reading: Reading, payload: Fields) -> None:
    identity = string(payload.get("id")) or reading.repeats.searches.get(reading.number)
    ran = payload.get("status") == "completed" or None
    _call(reading, identity, "web_search", fields(payload.get("action")), ran=ran)


def _tool_search_call(reading: Reading, payload: Fields) -> None:
    arguments, raw = read_arguments(payload.get("arguments"))
    _call(reading, string(payload.get("call_id")), "tool_search", arguments, raw)


def _image_call(reading: Reading, payload: Fields) -> None:
    prompt: Fields = {"prompt": payload["revised_prompt"]} if string(payload.get("revised_prompt")) else {}
    identity = string(payload.get("id")) or string(payload.get("call_id"))
    call = _call(reading, identity, "image_generation", prompt)
    if string(payload.get("result")):
        ok = payload.get("status") == "completed" or None
        picture = image_from_base64(payload.get("result"), "image/png")
        _return(reading, reading.pairing.result(identity) or call, identity, [picture], Outcome(ok))


def _call(
    reading: Reading,
    logged: str | None,
    name: str,
    arguments: Fields,
    raw: str | None = None,
    *,
    ran: bool | None = None,
) -> str:
    call = reading.pairing.call(logged, f"line-{reading.line.place.number}")
    message = reading.responses.key()
    reading.calls[call] = Called(id=call, name=name, arguments=arguments, raw=raw, ran=ran, message=message)
    reading.add(reading.calls[call])
    if logged is not None:
        reading.called[logged] = call
    if name.endswith(SPAWN) and (task := string(arguments.get("task_name"))):
        reading.spawned.setdefault(task, call)
    return call


# --- what came back


def _output(reading: Reading, payload: Fields) -> None:
    logged = string(payload.get("call_id"))
    call = reading.pairing.result(logged)
    if call is None:
        reading.problems.count("orphan-result", "A result answers no call.", reading.line.place)
    tools: list[Part] = [Text(json_words(payload.get("tools")))]
    parts = output_parts(payload["output"]) if "output" in payload else tools
    outcome = outcome_of_output(parts)
    if isinstance(payload.get("output"), dict) and fields(payload["output"]).get("success") is False:
        outcome.ok = False
    _return(reading, call, logged, parts, outcome)


def _return(reading: Reading, call: str | None, logged: str | None, parts: list[Part], outcome: Outcome) -> None:
    event = Returned(
        call=call,
        parts=parts,
        ok=outcome.ok,
        exit_status=outcome.exit_status,
        not_run=outcome.not_run,
        duration=outcome.duration,
        patch=outcome.patch,
        linked="id" if call else None,
    )
    reading.add(event)
    reading.responses.close()
    if call is None or logged is None:
        return
    if logged in reading.outputs:
        reading.untold[logged].append(event)
        _tell(reading, logged)
    if reading.calls[call].name.endswith(SPAWN):
        _note_spawned(reading, call, text_of(parts))


def _note_spawned(reading: Reading, call: str, text: str) -> None:
    try:
        answer = fields(json_text.parse(text.encode("utf-8", "replace")))
    except ValueError:
        return
    for key in ("agent_id", "thread_id", "task_name"):
        if subagent := string(answer.get(key)):
            reading.spawned.setdefault(subagent, call)


# --- what only events know


def _ended(reading: Reading, payload: Fields) -> None:
    """How a call went: how long it took, how it ended, what it changed; the call itself where it has no item."""
    logged = string(payload.get("call_id"))
    if payload.get("source") == "user_shell":
        parts = parts_of_event(payload)
        reading.note("command", "!" + command_of(reading.line), text_of(parts) if parts else None)
        return
    if logged is None:
        reading.report_unknown("Ends of calls without an id", lost=False)
        return
    if logged not in reading.items and logged not in reading.called:
        _call(reading, logged, *_call_in_event(payload))
    changes = changes_of(payload)
    if changes:
        reading.add(FilesChanged(files=changes, call=reading.called.get(logged, logged)))
    parts, outcome = parts_of_event(payload), outcome_of_event(payload)
    if logged in reading.outputs:
        reading.facts[logged].append(outcome)
        _tell(reading, logged)
    elif logged not in reading.answered and (parts is not None or outcome.ok is not None):
        reading.answered.add(logged)
        _return(reading, reading.pairing.result(logged), logged, parts or [], outcome)


def _tell(reading: Reading, logged: str) -> None:
    """Add what events know of an id's calls to their results, the first to the first, whichever came first."""
    results, facts = reading.untold[logged], reading.facts[logged]
    while results and facts:
        result, known = results.popleft(), facts.popleft()
        result.ok = known.ok if known.ok is not None else result.ok
        result.exit_status = known.exit_status if known.exit_status is not None else result.exit_status
        result.not_run = known.not_run or result.not_run
        result.duration = known.duration if known.duration is not None else result.duration
        result.patch = known.patch or result.patch


def _call_in_event(payload: Fields) -> tuple[str, Fields]:
    invocation = fields(payload.get("invocation"))
    if invocation:
        return f"mcp__{invocation.get('server')}__{invocation.get('tool')}", fields(invocation.get("arguments"))
    if "command" in payload:
        return "exec_command", {"command": payload["command"]}
    return "apply_patch", {"changes": payload.get("changes")}


def _searched(reading: Reading, payload: Fields) -> None:
    """A web search that has no item."""
    if string(payload.get("call_id")) in reading.items:
        return
    action = fields(payload.get("action")) or {"type": "search", "query": payload.get("query")}
    _call(reading, string(payload.get("call_id")), "web_search", action, ran=True)


def _spawned(reading: Reading, payload: Fields) -> None:
    """Which call started which subagent."""
    call = string(payload.get("call_id")) or string(payload.get("event_id"))
    for key in ("new_thread_id", "agent_thread_id", "agent_path"):
        subagent = string(payload.get(key))
        if subagent and call in reading.calls:
            reading.spawned.setdefault(subagent, call)


HANDLERS: Handlers = {
    ("response_item", "function_call"): _function_call,
    ("response_item", "custom_tool_call"): _custom_call,
    ("response_item", "local_shell_call"): _shell_call,
    ("response_item", "web_search_call"): _search_call,
    ("response_item", "tool_search_call"): _tool_search_call,
    ("response_item", "image_generation_call"): _image_call,
    ("response_item", "function_call_output"): _output,
    ("response_item", "custom_tool_call_output"): _output,
    ("response_item", "tool_search_output"): _output,
    ("event_msg", "exec_command_end"): _ended,
    ("event_msg", "patch_apply_end"): _ended,
    ("event_msg", "mcp_tool_call_end"): _ended,
    ("event_msg", "web_search_end"): _searched,
    ("event_msg", "image_generation_end"): _image_call,
    ("event_msg", "collab_agent_spawn_end"): _spawned,
    ("event_msg", "sub_agent_activity"): _spawned,
}
