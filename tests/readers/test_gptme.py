"""gptme's chats: the two rich logs against what stands beside them, results, thoughts, tokens, who said what."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import SHARED
from gptme_logs import DATA, answered, model, of, read, read_file, result, stamped, system, user, write
from trailbook.chat import Answered, Asked, Called, Chat, Compacted, Image, Noted, Returned, Said, Thought, text_of
from trailbook.timeline import make_timeline

MARKDOWN, TOOL = "2026-10-12-markdown-rich", "2026-10-12-tool-rich"
SUBAGENT = "subagent-docs-x7k2"

# --- the rich logs, with what a person wrote down of them


def told(chat: Chat) -> dict[str, Any]:
    """A chat in the words of `expected.json`; messages are counted from 0."""
    usages = {event.message: chat.messages[event.message] for event in chat.events if event.message}
    steps = {int(key.removeprefix("line-")) - 1: message.usage for key, message in usages.items()}
    return {
        "agent": {"name": chat.agent.name, "version": chat.agent.version, "model": chat.models[0]},
        "workspace": chat.cwd,
        "calls": [_call(chat, event) for event in of(chat, Called)],
        "reasoning": {str(_at(event)): event.text or f"{event.encrypted} (redacted)" for event in of(chat, Thought)},
        "orphan_results": [_at(event) for event in of(chat, Returned) if event.call is None],
        "injected_user": [_at(event) for event in of(chat, Asked) if event.injected],
        "per_step_prompt_tokens": {str(at): usage.prompt_tokens for at, usage in steps.items()},
        "usage_totals": _totals(chat),
    }


def _at(event: Any) -> int:
    return event.place.number - 1  # type: ignore[no-any-return]


def _call(chat: Chat, call: Called) -> dict[str, Any]:
    results = [event for event in of(chat, Returned) if event.call == call.id]
    words = [text_of(event.parts) for event in results]
    facts = {
        "return_code": next((event.exit_status for event in results if event.exit_status is not None), None),
        "declined": any(event.not_run == "declined" for event in results),
        "not_run": any(event.not_run in ("refused", "stopped") and event.parts for event in results),
        "interrupted": "Interrupted by user" in words or any(event.not_run and not event.parts for event in results),
        "images": [part.reference for event in results for part in event.parts if isinstance(part, Image)],
        "subagent": next((subagent.id for subagent in chat.subagents if subagent.started_by == call.id), None),
        "duplicate_id": call.id.endswith("__2"),
    }
    identity = {} if call.id.startswith("gptme-") else {"id": call.id.removesuffix("__2")}
    shown = {name: value for name, value in facts.items() if value}
    told = [_at(event) for event in results if event.parts]
    return {"msg": _at(call), "tool": call.name, "args": call.arguments, "results": told, **identity, **shown}


def _totals(chat: Chat) -> dict[str, Any]:
    totals = make_timeline(chat).totals
    usage = totals.usage
    assert usage is not None
    return {
        "prompt_tokens": usage.prompt_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cached_tokens,
        "cache_creation_tokens": usage.cache_write_tokens,
        "cost": totals.usd,
    }


def compare(log: Path, *, workspace: bool) -> None:
    expected = json.loads((log.parent / "expected.json").read_text())
    chat = read_file(log)
    found = told(chat)
    for call in expected["calls"]:
        call.pop("args_format", None)
        call.pop("gptme_parser_says", None)
    system_texts = [line["role"] for line in _lines(log)]
    linked = {_at(event) for event in of(chat, Returned) if event.parts}
    found["not_results"] = [at for at, role in enumerate(system_texts) if role == "system" and at not in linked]
    found["messages"] = len(system_texts)
    for name in found.keys() & expected.keys() - ({"workspace"} if not workspace else set()):
        wanted = expected[name]
        if name == "usage_totals":
            wanted = {key: wanted[key] for key in found[name]}
        assert found[name] == wanted, name


def _lines(log: Path) -> list[dict[str, Any]]:
    lines = []
    for line in log.read_text().splitlines():
        try:
            lines.append(json.loads(line))
        except ValueError:
            continue
    return lines


@pytest.mark.parametrize("name", [MARKDOWN, TOOL])
def test_the_rich_logs_are_read_as_written_down(name: str) -> None:
    compare(DATA / name / "conversation.jsonl", workspace=True)


@pytest.mark.parametrize("name", [MARKDOWN, TOOL])
def test_so_are_the_samples(name: str) -> None:
    log = SHARED / "samples" / "gptme" / name / "conversation.jsonl"
    if not log.is_file():
        pytest.skip("the samples are not here")
    compare(log, workspace=False)  # the settings of the samples name another folder than `expected.json`


def test_a_subagent_s_own_log_is_read_with_the_call_that_started_it() -> None:
    chat = read_file(DATA / TOOL / "conversation.jsonl")
    (subagent,) = chat.subagents
    assert (subagent.id, subagent.started_by, subagent.parent) == (SUBAGENT, "toolu_03A", TOOL)
    assert (subagent.agent.name, subagent.origin.kind, subagent.origin.name) == ("docs", "subagent", "explorer")
    (call,) = of(subagent, Called)
    assert (call.id, call.name, call.arguments) == ("toolu_S1", "save", {"path": "docs.md", "content": "# a.py\n"})
    assert _totals(subagent) == {
        "prompt_tokens": 1200,
        "output_tokens": 40,
        "cache_read_tokens": 0,
        "cache_creation_tokens": 900,
        "cost": 0.002,
    }


def test_what_was_wrong_with_the_rich_log_is_said() -> None:
    chat = read_file(DATA / TOOL / "conversation.jsonl")
    assert [(report.kind, report.place and report.place.number) for report in chat.diagnostics] == [
        ("unknown-field", 26),
        ("damaged-line", 29),
        ("python-arguments", 21),
        ("orphan-result", 25),
    ]
    assert chat.completed is True


def test_how_each_result_was_linked_is_said() -> None:
    chat = read_file(DATA / TOOL / "conversation.jsonl")
    assert {event.linked for event in of(chat, Returned) if event.parts} == {"id", "order", None}
    markdown = read_file(DATA / MARKDOWN / "conversation.jsonl")
    assert [event.linked for event in of(markdown, Returned)] == [*["order"] * 8, "inferred", "order"]


def test_the_chat_knows_its_prompt_and_its_agent() -> None:
    chat = read_file(DATA / MARKDOWN / "conversation.jsonl")
    assert chat.system_prompt is not None
    assert chat.system_prompt.startswith("You are gptme v0.35.1")
    assert chat.system_prompt.endswith("<budget:token_budget>200000</budget:token_budget>")
    assert (chat.agent.product, chat.agent.version, chat.title) == (
        "gptme",
        "0.35.1",
        "Fix the greeting in héllo.py 🐍 and show me shot.png",
    )
    assert chat.reopen == ["gptme", "--resume", "--name", MARKDOWN]
    assert chat.completed is False  # "All done... ^C Interrupted"


# --- results and their calls

SHELL = "```shell\nls\n```"
SAVE = "```save a.txt\nx\n```"
READ = "```read a.txt\n```"
RAN, SAVED = "Ran command: `ls`\n\n`a`\n", "Saved to a.txt"
NUMBERED = "````/srv/a.txt\n1\tx\n````"


@pytest.mark.parametrize(
    ("said", "results", "expected"),
    [
        ("one call takes all", (SHELL, ["Shellcheck found potential issues:", RAN, "more"]), [1, 1, 1]),
        ("one result each", (f"{SAVE}\n\n{SHELL}", [SAVED, RAN]), [1, 2]),
        ("the second alone ran", (f"{SAVE}\n\n{SHELL}", [RAN]), [2]),
        ("one tool twice", (f"{SHELL}\n\n{SHELL}", [RAN, RAN]), [1, 2]),
        ("a warning belongs to what follows", (f"{SHELL}\n\n{SHELL}", [RAN, "Shellcheck found x", RAN]), [1, 2, 2]),
        ("a file each", (f"{READ}\n\n{SHELL}", [NUMBERED, NUMBERED, RAN]), [1, 1, 2]),
        ("unknown words go to the next call", (f"```todo\nx\n```\n\n{SHELL}", ["Todo list", RAN]), [1, 2]),
        ("an error is a result", (f"{SAVE}\n\n{SHELL}", ["Error during execution: no", RAN]), [1, 2]),
        ("a refusal stops nothing by itself", (f"{SAVE}\n\n{SHELL}", ["Execution declined by user", RAN]), [1, 2]),
        ("hidden and shown words are none", (SHELL, [system("x", hide=True), system("y", ui_only=True), RAN]), [1]),
        ("a notice is none", (SHELL, [RAN, "✅ Subagent 'a' completed: b", "# Lesson\nx"]), [1]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_results_without_ids_go_to_their_calls(
    tmp_path: Path, said: str, results: tuple[str, list[Any]], expected: list[int]
) -> None:
    text, returned = results
    lines = [line if isinstance(line, dict) else system(line) for line in returned]
    chat = read(tmp_path, user("go"), model(text), *lines)
    assert [call for call, _, _ in answered(chat)] == [f"gptme-2-{number}" for number in expected], said


def test_an_interruption_ends_what_comes_after_it(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        user("go"),
        model(f"{SAVE}\n\n{SHELL}\n\n{READ}"),
        system(SAVED),
        system("Interrupted by user"),
        system("and then"),
    )
    assert answered(chat) == [
        ("gptme-2-1", "order", SAVED),
        ("gptme-2-2", "inferred", "Interrupted by user"),
        ("gptme-2-3", "inferred", "(stopped)"),
    ]
    assert [event.text for event in of(chat, Noted)] == ["and then"]
    titles = [step.title for step in make_timeline(chat).steps if step.kind == "tool"]
    assert titles == ["Wrote a.txt", "Couldn’t list the files", "Didn’t read a.txt"]


def test_the_clock_of_the_tools_tells_which_of_them_ran(tmp_path: Path) -> None:
    times = {"timings": {"tool_ms_by_name": {"shell": 12.4}}}
    chat = read(tmp_path, user("go"), model(f"{SAVE}\n\n{SHELL}", metadata=times), system("what is this?"))
    assert answered(chat) == [("gptme-2-2", "order", "what is this?")]
    assert of(chat, Returned)[0].duration == 12


TAGGED = '@shell(c1): {"command": "ls"}\n@save(c2): {"path": "a.txt", "content": "x"}'


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([result("c2", SAVED), result("c1", RAN)], [("c2", "id"), ("c1", "id")]),
        ([result("c1", "part one"), result("c1", "part two")], [("c1", "id"), ("c1", "id")]),
        ([system("Command interrupted: `ls`"), result("c1", "Interrupted by user")], [("c1", "order"), ("c1", "id")]),
        ([result("c1", RAN), system("left over")], [("c1", "id")]),
        ([result("c9", "late")], [(None, None)]),
        ([system("before an orphan"), result("c9", "late")], [(None, None)]),
        ([result("c1", "hidden", hide=True)], [("c1", "id")]),
        ([user("meanwhile"), result("c1", RAN)], [("c1", "id")]),
    ],
)
def test_results_with_ids_go_to_their_calls(
    tmp_path: Path, messages: list[dict[str, Any]], expected: list[tuple[str | None, str | None]]
) -> None:
    chat = read(tmp_path, user("go"), model(TAGGED), *messages)
    assert [(call, how) for call, how, _ in answered(chat)] == expected


def test_an_id_that_comes_again_is_another_call(tmp_path: Path) -> None:
    twice = '@shell(c1): {"command": "a"}\n@shell(c1): {"command": "b"}'
    later = '@shell(c1): {"command": "c"}'
    chat = read(
        tmp_path, user("go"), model(twice), result("c1", "A"), result("c1", "B"), model(later), result("c1", "C")
    )
    assert [(event.id, event.arguments["command"]) for event in of(chat, Called)] == [
        ("c1", "a"),
        ("c1__2", "b"),
        ("c1__3", "c"),
    ]
    assert [(call, words) for call, _, words in answered(chat)] == [("c1", "A"), ("c1__2", "B"), ("c1__3", "C")]


@pytest.mark.parametrize(
    ("words", "not_run", "failed", "status"),
    [
        ("Ran command: `x`\n\n`y`\n\nReturn code: 3\n", None, True, 3),
        ("Ran command: `x`\n\n`Return code: 3`\n", None, False, None),
        ("Ran command: `x`\n\n`y`\n\nReturn code: -9", None, True, -9),
        ("Ran command: `x`\n\n```stderr\ny\n```\n\nReturn code: 3\n\n\nNote: the shell exited.", None, True, 3),
        ("Ran command: `x`\n\n```stdout\nReturn code: 3\n```\n", None, False, None),
        ("Execution declined by user", "declined", False, None),
        ("Tool 'shell' was not executed (interrupted).", "stopped", False, None),
        ("Tool 'shell' is not available for execution. Add --tools +shell", "refused", False, None),
        (
            "Command denied: `rm`\n\nNo.\n\nNothing was executed: the whole command was rejected.",
            "refused",
            False,
            None,
        ),
        ("Error during execution: it broke", None, True, None),
        ("Command timed out after 5s", None, True, None),
        ("Interrupted", None, True, None),
        ("Interrupted services: 3", None, False, None),
    ],
)
def test_what_a_result_says_of_its_end(
    tmp_path: Path, words: str, not_run: str | None, failed: bool, status: int | None
) -> None:
    (event,) = of(read(tmp_path, user("go"), model(SHELL), system(words)), Returned)
    assert (event.not_run, bool(event.label and event.label.failed), event.exit_status) == (not_run, failed, status)
    assert event.ok is None  # gptme has no field for it


# --- tokens


@pytest.mark.parametrize(
    ("metadata", "prompt", "output", "cached"),
    [
        (
            {"usage": {"input_tokens": 3, "output_tokens": 4, "cache_read_tokens": 5, "cache_creation_tokens": 6}},
            14,
            4,
            5,
        ),
        ({"input_tokens": 3, "output_tokens": 4, "cache_read_tokens": 5}, 8, 4, 5),  # the flat form of 0.31
        ({"usage": {"output_tokens": 4}, "input_tokens": 3}, None, 4, None),
        ({"usage": {"input_tokens": True, "output_tokens": "4", "cache_read_tokens": -1}}, None, None, None),
        ({"usage": None}, None, None, None),
        ({}, None, None, None),
    ],
)
def test_tokens(
    tmp_path: Path, metadata: dict[str, Any], prompt: int | None, output: int | None, cached: int | None
) -> None:
    chat = read(tmp_path, user("go"), model("done", metadata={"model": "a/b", **metadata}))
    message = chat.messages["line-2"]
    usage = message.usage
    assert (usage and usage.prompt_tokens, usage and usage.output_tokens) == (prompt, output)
    assert (usage and usage.cached_tokens) == cached
    assert (message.model, message.provider, message.cost) == ("a/b", "a", None)


def test_what_else_the_log_says_of_a_message_is_kept(tmp_path: Path) -> None:
    extra = {"served_model": "b-2026", "reasoning_effort": "high", "thought_signatures": {"c1": "x"}}
    chat = read(tmp_path, user("go"), model("done", metadata={"model": "b", "cost": 0.25, **extra}))
    assert (chat.messages["line-2"].extra, chat.messages["line-2"].provider) == (extra, None)
    assert make_timeline(chat).totals.usd == 0.25


# --- who said what


def test_what_was_put_in_the_person_s_mouth_is_marked(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        user("go"),
        model("hm"),
        user("<system>No tool call detected in last message.</system>"),
        user("Completion verification failed: exit code 1.\nCommand: `make`"),
        user("Sum up.", metadata={"compaction_checkpoint_view": ""}),
        user("context", hide=True),
        user("what is <system>?"),
    )
    assert [(event.injected, event.text.split(".")[0]) for event in of(chat, Asked)] == [
        (None, "go"),
        ("reminder", "<system>No tool call detected in last message"),
        ("reminder", "Completion verification failed: exit code 1"),
        ("compaction", "Sum up"),
        ("context", "context"),
        (None, "what is <system>?"),
    ]


def test_what_the_model_reads_and_what_only_the_person_sees_are_told_apart(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        system("You are gptme v0.27.0, an assistant.", hide=True),
        system("Welcome", ui_only=True),
        user("go"),
        system("<system_info>x</system_info>", hide=True),
        system("🔄 Auto-compacted conversation to view branch:\n• Messages: 40 → 12", ui_only=True, hide=True),
        system("LLM request failed: overloaded"),
    )
    assert (chat.agent.version, chat.system_prompt) == ("0.27.0", "You are gptme v0.27.0, an assistant.")
    assert [(event.topic, event.text[:14]) for event in of(chat, Noted)] == [
        ("notice", "Welcome"),
        ("system", "<system_info>x"),
        ("notice", "🔄 Auto-compact"),
    ]
    assert [event.trigger for event in of(chat, Compacted)] == ["auto"]
    assert [(event.outcome, event.problem) for event in of(chat, Answered)] == [
        ("error", "LLM request failed: overloaded")
    ]
    assert chat.completed is False


def test_a_prompt_that_waited_in_the_queue_says_so(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        system("You are gptme.", timestamp="2026-10-12T09:00:05.000000"),
        user("first", timestamp="2026-10-12T09:00:00.000001"),
        model("done", timestamp="2026-10-12T09:00:20.000000"),
        user("second", timestamp="2026-10-12T09:00:00.000002"),
        user("third", timestamp="2026-10-12T09:01:00.000000"),
    )
    assert [(event.text, event.queued) for event in of(chat, Asked)] == [
        ("first", False),
        ("second", True),
        ("third", False),
    ]


@pytest.mark.parametrize(
    ("content", "outcome"),
    [("All done... ^C Interrupted", "interrupted"), ("All [INTERRUPTED]", "interrupted"), ("All done.", None)],
)
def test_an_answer_that_was_cut_off(tmp_path: Path, content: str, outcome: str | None) -> None:
    chat = read(tmp_path, user("go"), model(content))
    assert [event.text for event in of(chat, Said)] == [content]
    assert [event.outcome for event in of(chat, Answered)] == ([outcome] if outcome else [])
    assert chat.completed is (False if outcome else None)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<think>\na\n</think>\n\nb", [("a", None), "b"]),
        ("<thinking>a</think>b", [("a", None), "b"]),
        ("<think>\na\n<!-- think-sig: S1\nS2 -->\n</think>\nb", [("a", "S1\nS2"), "b"]),
        ("<think>a</think>b\n<think>c</think>d", [("a", None), "b", ("c", None), "d"]),
        ("a\n</think>\nb", [("a", None), "b"]),
        ("<think>\nnever closed", [("never closed", None)]),
        ("It says `<think>` there, and </think> too.", ["It says `<think>` there, and </think> too."]),
        ("```xml\n<think>\n```\nis a tag", ["```xml\n<think>\n```\nis a tag"]),
        ("<think>\n<!-- think-sig: only -->\n</think>", [("", "only")]),
        ("<think>  </think>", []),
        ("<think>\na <!-- think-sig: cut\n</think>", [("a <!-- think-sig: cut", None)]),
    ],
)
def test_thoughts_and_words(tmp_path: Path, content: str, expected: list[Any]) -> None:
    chat = read(tmp_path, user("go"), model(content))
    pieces = [event for event in chat.events if isinstance(event, Thought | Said)]
    assert [piece.text if isinstance(piece, Said) else (piece.text, piece.signature) for piece in pieces] == expected


def test_an_encrypted_thought_is_kept_as_such(tmp_path: Path) -> None:
    (thought,) = of(read(tmp_path, user("go"), model("<think redacted>\nQUJD\n</think redacted>\n\nb")), Thought)
    assert (thought.text, thought.encrypted) == ("", "QUJD")


def test_a_log_without_times_has_none(tmp_path: Path) -> None:
    messages = [{**message, "timestamp": None} for message in (user("go"), model("done"))]
    chat = read(tmp_path, *messages)
    assert [event.at for event in chat.events] == [None, None]
    assert (chat.started, chat.naive_times) == (None, False)
    assert stamped(*messages) == messages


def test_what_the_timeline_says_of_a_chat() -> None:
    chat = read_file(DATA / TOOL / "conversation.jsonl")
    steps = [step for step in make_timeline(chat).steps if step.kind == "tool"]
    assert [(step.title, step.status, step.detail) for step in steps][:6] == [
        ("Wrote a.py", "done", "+2 −0"),
        ("Ran a.py", "done", "python3 a.py"),
        ("Couldn’t read nope", "failed", "Failed: cat: nope: No such file or directory"),
        ("Didn’t use nosuch.tool", "declined", "Not allowed"),
        ("Ran Python code", "done", "view_image('p.png')"),
        ("Updated the to-do list", "done", None),
    ]


def test_every_record_of_a_kind_gives_its_event(tmp_path: Path) -> None:
    path = write(tmp_path, system("You are gptme."), user("go"), model(f"<think>t</think>\na\n{SHELL}\nb"), system(RAN))
    assert [type(event) for event in read_file(path).events] == [Asked, Thought, Said, Called, Said, Returned]
