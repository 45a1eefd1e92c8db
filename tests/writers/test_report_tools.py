"""What a call asked for and what came back, as a person reads it, whatever its agent calls its tools."""

from __future__ import annotations

import json
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from full_chat import START
from pages import faults, parse
from trailbook.chat import Agent, Answered, Asked, Called, Chat, Cost, Noted, Permission, Returned, Text, Usage
from trailbook.formats import Output, Sheet
from trailbook.rendering.cleaning import clean
from trailbook.writers.report import write_report

PAYLOADS: list[str] = json.loads((Path(__file__).parent.parent / "data" / "payloads.json").read_text())


def written(*events: Any) -> bytes:
    chat = Chat(id="c", source="conch", agent=Agent("Pearl"), events=list(events))
    (piece,) = write_report(chat, Sheet(Output(zone=UTC), "report"))
    return piece.data


def steps(*events: Any) -> list[Any]:
    return [item for item in parse(written(*events)).iter("li") if item.get("data-kind")]


def called(name: str, arguments: Any, result: str = "", **more: Any) -> Any:
    """The step of one call with its result."""
    events: list[Any] = [Called(id="t", name=name, arguments=arguments, at=START)]
    if result:
        events.append(Returned(call="t", parts=[Text(result)], ok=True, at=START + 1_000, **more))
    (step,) = steps(*events)
    return step


def words(element: Any) -> str:
    return " ".join(" ".join(element.itertext()).split())


def listed(step: Any, class_: str) -> list[Any]:
    return [item for found in step.iter() if found.get("class") == class_ for item in found.iter("li")]


def blocks(step: Any) -> dict[str, str]:
    """The step's blocks of text by their names."""
    found = step.iter("pre")
    return {pre.get("aria-label").partition(",")[0]: "".join(pre.itertext()).lstrip("\n") for pre in found}


def facts(step: Any) -> dict[str, str]:
    return {words(div[0]): words(div[1]) for found in step.iter("dl") for div in found}


# --- what it asked for


@pytest.mark.parametrize(
    ("name", "arguments", "shown"),
    [
        ("TodoWrite", {"todos": [{"content": "Sow", "status": "completed", "activeForm": "Sowing"}]}, "done"),
        ("update_plan", {"plan": [{"step": "Sow", "status": "in_progress"}]}, "begun"),
        ("write_todos", {"todos": [{"description": "Sow", "status": "cancelled"}]}, "dropped"),
        ("task_tracker", {"command": "plan", "task_list": [{"id": 1, "title": "Sow", "status": "todo"}]}, "open"),
        ("todo", {"todos": [{"id": "a", "content": "Sow", "status": "pending"}], "merge": False}, "open"),
        ("TodoWrite", {"todos": "1. [completed] Sow"}, "done"),
        ("update_todo", {"todos": "- [ ] Sow"}, "open"),
        ("manage_todo_list", {"todoList": [{"title": "Sow", "done": True}]}, "done"),
    ],
)
def test_things_to_do_are_a_list_with_their_state(name: str, arguments: Any, shown: str) -> None:
    (item,) = listed(called(name, arguments), "checklist")
    said = {"done": "Done", "begun": "Begun", "dropped": "Dropped", "open": "To do"}[shown]
    assert (item.get("class"), words(item)) == (shown, f"{said}: Sow")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("AskUserQuestion", {"questions": [{"question": "Which bed?", "options": [{"label": "North"}]}]}),
        ("ask_question", {"questions": [{"prompt": "Which bed?", "options": [{"id": "n", "label": "North"}]}]}),
        ("clarify", {"question": "Which bed?", "choices": ["North"]}),
        ("ask_followup_question", {"question": "Which bed?", "follow_up": ["North"]}),
        ("request_user_input", {"questions": [{"id": "q", "question": "Which bed?", "options": [{"label": "North"}]}]}),
    ],
)  # fmt: skip
def test_questions_stand_with_their_options(name: str, arguments: Any) -> None:
    step = called(name, arguments)
    (asked,) = [bold for bold in step.iter("b") if words(bold) == "Which bed?"]
    assert asked is not None
    assert [words(item) for item in listed(step, "questions")] == ["North"]
    assert not blocks(step)


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        ({"command": "ls | wc -l"}, "ls | wc -l"),
        ({"cmd": ["bash", "-lc", "ls | wc -l"]}, "ls | wc -l"),
        ({"CommandLine": "ls | wc -l", "Cwd": "/srv"}, "ls | wc -l"),
        ({"command": ["git", "status"]}, "git status"),
    ],
)
def test_a_command_is_one(arguments: Any, command: str) -> None:
    assert blocks(called("shell", arguments)) == {"Command": command}


def test_the_command_of_an_editor_is_no_shell_command() -> None:
    step = called("str_replace_editor", {"command": "view", "path": "/srv/a.txt"})
    assert not blocks(step)
    assert facts(step)["command"] == "view"


@pytest.mark.parametrize("old", ["old_string", "oldText", "old_str", "oldString"])
def test_what_a_diff_shows_is_not_shown_again(old: str) -> None:
    step = called("edit", {"path": "a.py", old: "x = 1", old.replace("old", "new"): "x = 2"}, "Done")
    shown = blocks(step)
    assert list(shown) == ["What changed", "What came back"]
    assert shown["What changed"].rstrip("\n").split("\n") == ["-x = 1", "+x = 2"]


def test_prose_for_a_helper_is_prose_and_names_are_words() -> None:
    step = called("Task", {"prompt": "Look at\n\n- the **north** bed", "maxTurns": 3})
    assert "north" in [words(item) for item in step.iter("strong")]
    assert facts(step)["max turns"] == "3"


def test_an_address_can_be_followed_and_tells_its_page_nothing() -> None:
    step = called("WebFetch", {"url": "https://example.com/frost", "prompt": "When?"})
    (link,) = [link for link in step.iter("a") if not link.get("href").startswith("#")]
    assert (link.get("href"), link.get("rel")) == ("https://example.com/frost", "noreferrer noopener")
    for other in ("javascript:alert(1)", "file:///etc/passwd", "https://a b", "ftp://x"):
        assert [link.get("href") for link in called("fetch", {"url": other}).iter("a")] == ["#s1"]


# --- what came back

PAGE = {"title": "Frost dates", "url": "https://example.com/frost", "snippet": "The last frost is in May."}


@pytest.mark.parametrize(
    "result",
    [
        json.dumps([PAGE]),
        json.dumps({"query": "frost", "results": [PAGE]}),
        json.dumps({"success": True, "data": {"web": [{**PAGE, "position": 1}]}}),
        f'Web search results for query: "frost"\n\nLinks: {json.dumps([PAGE])}\n\nIn May, mostly.',
    ],
)
def test_pages_that_were_found_are_links_with_what_is_said_of_them(result: str) -> None:
    step = called("web_search", {"query": "frost"}, result)
    (item,) = listed(step, "links")
    assert [link.get("href") for link in item.iter("a")] == [PAGE["url"]]
    assert words(item) == "Frost dates https://example.com/frost The last frost is in May."
    assert "{" not in words(step)


def test_a_page_that_was_read_is_prose() -> None:
    step = called("WebFetch", {"url": "https://example.com"}, "# Frost\n\nThe last is in **May**.")
    assert [words(item) for item in step.iter("h3")] == ["Frost"]
    assert [words(item) for item in step.iter("strong")] == ["May"]


@pytest.mark.parametrize(
    ("result", "status"),
    [
        ('{"output": "F.\\n1 failed", "exit_code": 1, "error": null}', 1),
        ('{"output": "F.\\n1 failed", "metadata": {"exit_code": 1, "duration_seconds": 0.3}}', 1),
        ("Chunk ID: 02\nWall time: 0.9 seconds\nProcess exited with code 1\nOutput:\nF.\n1 failed", 1),
        ("F.\n1 failed", 1),
    ],
)
def test_what_was_printed_stands_alone_and_first(result: str, status: int) -> None:
    step = called("terminal", {"command": "pytest"}, result, exit_status=status)
    assert blocks(step) == {"Command": "pytest", "What came back": "F.\n1 failed"}
    assert "exit status 1" in words(step)
    if "duration" in result:
        assert facts(step)["duration seconds"] == "0.3"
    if "Wall time" in result:
        assert facts(step)["Wall time"] == "0.9 seconds"


def test_json_that_was_printed_or_read_stays_as_it_is() -> None:
    text = '{"name": "orchard", "version": 2}'
    assert blocks(called("bash", {"command": "cat package.json"}, text))["What came back"] == text
    assert blocks(called("Read", {"file_path": "/srv/package.json"}, text))["What came back"] == text


def test_json_of_a_tool_is_told_in_words() -> None:
    step = called("get_weather", {"city": "Oslo"}, '{"degrees": 3, "sky": "clear", "hours": [{"at": 9}, {"at": 12}]}')
    assert blocks(step) == {"Hours": "- at: 9\n- at: 12"}
    assert (facts(step)["degrees"], facts(step)["sky"]) == ("3", "clear")


@pytest.mark.parametrize("empty", ["{}", "[]", '{"error": null}', "null", '""'])
def test_a_result_without_content_is_still_shown(empty: str) -> None:
    assert blocks(called("get_weather", {"city": "Oslo"}, empty))["What came back"] == empty


@pytest.mark.parametrize(
    ("first", "second"), [("     9→", "    10→"), ("9\t", "10\t"), ("9|", "10|"), ("9: ", "10: "), ("9. ", "10. ")]
)
def test_the_numbers_of_a_file_stand_beside_it(first: str, second: str) -> None:
    step = called("read", {"filePath": "/a/b.py"}, f"{first}import os\n{second}x = 'y'")
    (code,) = step.iter("code")
    assert "".join(code.itertext()) == "import os\nx = 'y'"


def test_lines_that_only_look_numbered_stay() -> None:
    text = "1: one\n7: seven"
    assert blocks(called("read", {"path": "/a/b.py"}, text))["What came back"] == text


def test_of_a_change_that_worked_the_diff_says_it_all() -> None:
    step = called("Edit", {"file_path": "a.py", "old_string": "x = 1", "new_string": "x = 2"}, "The file is updated.")
    (folded,) = step.iter("details")
    assert words(folded.find("summary")) == "What came back"
    row = step.find("label")
    assert words(row).endswith("Edited a.py +1 −1 1.0s")


# --- what else a person wants to know


def test_a_problem_says_what_it_cost() -> None:
    page = parse(
        written(
            Asked(id="u", text="Go", at=START),
            Answered(
                outcome="error",
                problem="529 overloaded",
                usage=Usage(12_000, 300),
                cost=Cost(0.04, "metered"),
                at=START + 35_000,
            ),
        )
    )
    (step,) = [item for item in page.iter("li") if item.get("data-kind") == "problem"]
    assert facts(step)["This turn cost"] == "35s · 12.3k tokens · $0.04"
    assert words(step.find("label")).endswith("529 overloaded Didn’t work")
    head = words(next(item for item in page.iter("details") if "didn’t work" in words(item)))
    assert (
        head
        == "1 thing didn’t work It stopped with a problem 2 529 overloaded · the turn cost 35s · 12.3k tokens · $0.04"
    )


def test_an_approval_says_how_long_it_waited_and_for_what() -> None:
    (step,) = steps(
        Permission(
            id="p", title="Run tar", detail='{"command": "tar -czf a.tgz a"}', at=START, answered=START + 94_000,
            decision="allow",
        )
    )  # fmt: skip
    assert facts(step)["Waited"] == "1m 34s"
    assert blocks(step) == {"Command": "tar -czf a.tgz a"}
    assert "You allowed it" in words(step)


def test_what_was_put_into_a_persons_mouth_does_not_look_like_theirs() -> None:
    asked, injected = steps(
        Asked(id="u", text="Go", at=START), Asked(id="r", text="Mind the rules", injected="reminder", at=START)
    )
    assert (asked.get("class"), injected.get("class")) == ("st c-you", "st c-say")


def test_the_head_lists_what_was_asked_and_what_was_shipped() -> None:
    page = parse(
        written(
            Asked(id="a", text="Sow the beans", at=START),
            Called(id="t", name="bash", arguments={"command": "git commit -m 'Sow'"}, at=START + 1_000),
            Returned(call="t", parts=[Text("[main 1a2b3c4] Sow")], ok=True, at=START + 2_000),
            Asked(id="b", text="Now the peas", at=START + 3_000),
            Noted(topic="notice", text="It rains", at=START + 4_000),
        )
    )
    lists = {words(item.find("summary")): item for item in page.iter("details") if "list-of" in item.get("class", "")}
    assert list(lists) == ["2 prompts", "1 thing shipped"]
    assert [words(row) for row in lists["2 prompts"].iter("li")] == ["Sow the beans 1 1 ship", "Now the peas 3"]
    assert [link.get("href") for link in lists["1 thing shipped"].iter("a")] == ["#s2"]


# --- nothing hostile, nothing of another type


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_view_of_a_tool_lets_anything_out(payload: str) -> None:
    page = {"title": payload, "url": f"https://example.com/{payload}", "snippet": payload}
    pages = [page, {"title": payload, "url": payload}]
    arguments: Any = {
        "todos": f"- [x] {payload}",
        "questions": [{"question": payload, "options": [payload, {"label": payload, payload: payload}]}],
        "plan": payload,
        payload: {payload: [payload, {payload: payload}]},
        "url": f"https://{payload}",
        "items": [{"title": payload, "status": payload, "notes": payload}],
    }
    results = [
        json.dumps({"output": payload, "error": payload, "diff": f"@@ -1 +1 @@\n-{payload}", payload: payload}),
        json.dumps({"results": pages}),
        json.dumps([page]),
        f"Links: {json.dumps([page])}\n\n{payload}",
        f"Chunk ID: {payload}\nWall time: {payload}\nOutput:\n{payload}",
        f"1→{payload}",
    ]
    events: list[Any] = []
    for number, result in enumerate(results):
        name = ("web_search", "terminal", "Read")[number % 3]
        given_path = {"file_path": "/a.py"} if name == "Read" else {}
        events.append(Called(id=f"t{number}", name=name, arguments={**arguments, **given_path}, at=START))
        events.append(Returned(call=f"t{number}", parts=[Text(result)], ok=True, at=START))
    events.append(
        Permission(id="p", title=payload, detail=json.dumps({payload: payload, "command": payload}), at=START)
    )
    events.append(Answered(outcome="error", problem=payload, at=START))
    data = written(*events)
    assert faults(data) == []
    if "\n" not in payload and "\r" not in payload and "\x1b" not in payload:
        assert clean(payload, prose=True) in "".join(parse(data).itertext())


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(
    [
        *("command", "cmd", "todos", "plan", "questions", "question", "options", "choices", "url", "results", "data"),
        *("output", "error", "diff", "content", "path", "code", "metadata", "exit_code", "prompt"),
    ]
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=5)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    OBJECTS, OBJECTS | st.lists(OBJECTS, max_size=3), st.sampled_from(["Bash", "Read", "WebSearch", "TodoWrite", "x"])
)
def test_values_of_any_type_make_a_sound_page(arguments: Any, result: Any, name: str) -> None:
    text = json.dumps(result, ensure_ascii=False)
    data = written(
        Called(id="t", name=name, arguments=arguments, at=START),
        Returned(call="t", parts=[Text(text)], ok=True, at=START, exit_status=1),
    )
    assert faults(data) == []
