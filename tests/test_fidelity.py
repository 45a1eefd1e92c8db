"""What is missing or changed in a written file is found, and what was only redacted or has no place is not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from conftest import EXAMPLES
from trailbook.chat import Place, Usage
from trailbook.comparison import Comparison
from trailbook.fidelity import compare
from trailbook.ledger import Entry, Ledger, entry_of_call, entry_of_text
from trajectories import count, found

# --- files as they were written, and one thing changed in them

FILES = {
    "atif": EXAMPLES / "atif" / "slug.json",
    "openai": EXAMPLES / "openai" / "parcels.jsonl",
    "sharegpt": EXAMPLES / "sharegpt" / "hermes.jsonl",
    "trajectory_v1": EXAMPLES / "trajectory_v1" / "varieties.json",
}


def mutated(name: str, folder: Path, change: Callable[[Any], None]) -> Comparison:
    """The comparison of an example with a copy of it in which `change` changed something."""
    original = FILES[name]
    for picture in (original.parent / "assets").glob("*"):
        (folder / "assets").mkdir(exist_ok=True)
        (folder / "assets" / picture.name).write_bytes(picture.read_bytes())
    value = json.loads(original.read_text().splitlines()[0] if original.suffix == ".jsonl" else original.read_text())
    change(value)
    copy = folder / original.name
    copy.write_text(json.dumps(value))
    return compared(name, original, copy)


def compared(name: str, log: Path, file: Path) -> Comparison:
    again, once_more = (partial(count, name, path, 0) for path in (log, file))
    return compare(
        count(name, log), count(name, file), name, lambda keep: again(keep=keep), lambda keep: once_more(keep=keep)
    )


def _calls_of_openai(value: Any) -> list[Any]:
    return [call for message in value["messages"] for call in message.get("tool_calls", [])]


def _results(value: Any) -> list[Any]:
    return [message for message in value["messages"] if message["role"] == "tool"]


def _swap(items: list[Any], key: str) -> None:
    items[0][key], items[1][key] = items[1][key], items[0][key]


def _in_words(old: str, new: str, *, turn: int = 2) -> Callable[[Any], None]:
    def change(value: Any) -> None:
        said = value["conversations"][turn]
        assert old in said["value"]
        said["value"] = said["value"].replace(old, new, 1)

    return change


def _swap_responses(value: Any) -> None:
    turn = value["conversations"][3]
    first, second = re.findall(r'"content": (.*)\}', turn["value"])
    turn["value"] = turn["value"].replace(first, "@").replace(second, first).replace("@", second)


def _records(value: Any, role: str) -> list[Any]:
    return [record for record in value if record["role"] == role]


def _set(items: Any, key: Any, new: Any) -> None:
    items[key] = new


MUTATIONS: dict[str, dict[str, Callable[[Any], None]]] = {
    "swap two results": {
        "atif": lambda value: _swap(value["steps"][2]["observation"]["results"], "content"),
        "openai": lambda value: _swap(_results(value), "content"),
        "sharegpt": _swap_responses,
        "trajectory_v1": lambda value: _swap(_records(value, "tool"), "content"),
    },
    "drop a call": {
        "atif": lambda value: value["steps"][2]["tool_calls"].pop(0),
        "openai": lambda value: value["messages"][2]["tool_calls"].pop(),
        "sharegpt": _in_words(
            '\n<tool_call>\n{"name": "terminal", "arguments": {"command": "pytest -q"}}\n</tool_call>', ""
        ),
        "trajectory_v1": lambda value: value.pop(5),
    },
    "cut an argument": {
        "atif": lambda value: _set(value["steps"][2]["tool_calls"][1]["arguments"], "prompt", "Find where"),
        "openai": lambda value: _set(_calls_of_openai(value)[1]["function"], "arguments", '{"command": "pytest"}'),
        "sharegpt": _in_words("ls tests | wc -l", "ls tests"),
        "trajectory_v1": lambda value: _set(value[5]["tool_calls"][0], "args", '{"file_path":"varieties"}'),
    },
    "lose an argument": {
        "atif": lambda value: value["steps"][2]["tool_calls"][1]["arguments"].clear(),
        "openai": lambda value: _set(_calls_of_openai(value)[2]["function"], "arguments", "{}"),
        "sharegpt": _in_words('{"command": "pytest -q"}', "{}"),
        "trajectory_v1": lambda value: _set(value[5]["tool_calls"][0], "args", "{}"),
    },
    "rename a tool": {
        "atif": lambda value: _set(value["steps"][2]["tool_calls"][0], "function_name", "read"),
        "openai": lambda value: _set(_calls_of_openai(value)[0]["function"], "name", "read"),
        "sharegpt": _in_words('"name": "terminal"', '"name": "shell"'),
        "trajectory_v1": lambda value: _set(value[5]["tool_calls"][0], "name", "Open"),
    },
    "double a token count": {
        "atif": lambda value: _set(value["steps"][2]["metrics"], "completion_tokens", 492),
    },
    "double a total": {
        "atif": lambda value: _set(value["final_metrics"], "total_prompt_tokens", 23_646),
    },
    "detach an image": {
        "atif": lambda value: value["steps"][1]["message"].pop(1),
        "openai": lambda value: value["messages"][8]["content"].pop(1),
        "trajectory_v1": lambda value: _set(_records(value, "tool")[0], "content", "The notes, photographed:"),
    },
    "hang an image on another result": {
        "trajectory_v1": lambda value: _swap(_records(value, "tool"), "tool_call_id"),
    },
    "drop a result": {
        "atif": lambda value: value["steps"][2]["observation"]["results"].pop(0),
        "openai": lambda value: value["messages"].pop(3),
        "sharegpt": lambda value: value["conversations"].pop(3),
        "trajectory_v1": lambda value: value.remove(_records(value, "tool")[1]),
    },
    "cut a result": {
        "atif": lambda value: _set(value["steps"][2]["observation"]["results"][0], "content", "def slugify(s):"),
        "openai": lambda value: _set(_results(value)[0], "content", "{name}"),
        "sharegpt": _in_words("12 passed", "12", turn=3),
        "trajectory_v1": lambda value: _set(_records(value, "tool")[1], "content", "Cox"),
    },
    "turn a failure into a success": {
        "atif": lambda value: value["steps"][2]["observation"]["results"][2].pop("extra"),
    },
    "drop a thought": {
        "atif": lambda value: value["steps"][2].pop("reasoning_content"),
        "sharegpt": _in_words("Count and run in one go.", ""),
        "trajectory_v1": lambda value: value.remove(_records(value, "reasoning")[0]),
    },
    "cut a prompt": {
        "atif": lambda value: _set(value["steps"][1]["message"][0], "text", "The slug is wrong"),
        "openai": lambda value: _set(value["messages"][1], "content", "The parcel labels"),
        "sharegpt": _in_words(", and do they pass?", "?", turn=1),
        "trajectory_v1": lambda value: _set(_records(value, "user")[0], "content", "Prune."),
    },
    "drop an answer": {
        "atif": lambda value: _set(value["steps"][6], "message", ""),
        "openai": lambda value: value["messages"].pop(),
        "sharegpt": lambda value: value["conversations"].pop(),
        "trajectory_v1": lambda value: value.pop(),
    },
    "invent a prompt": {
        "atif": lambda value: value["steps"].append({"step_id": 8, "source": "user", "message": "Go on."}),
        "openai": lambda value: value["messages"].append({"role": "user", "content": "Go on."}),
        "sharegpt": lambda value: value["conversations"].append({"from": "human", "value": "Go on."}),
        "trajectory_v1": lambda value: value.append({"role": "user", "content": "Go on."}),
    },
    "drop a subagent": {
        "atif": lambda value: value["subagent_trajectories"].clear(),
    },
    "drop a subagent's call": {
        "atif": lambda value: value["subagent_trajectories"][0]["steps"].pop(1),
    },
}


@pytest.mark.parametrize(("what", "name"), [(what, name) for what, each in MUTATIONS.items() for name in each])
def test_a_change_is_caught_in_every_format_that_carries_it(what: str, name: str, tmp_path: Path) -> None:
    comparison = mutated(name, tmp_path, MUTATIONS[what][name])
    assert not comparison.complete
    assert "lost or changed" in comparison.sentence()


@pytest.mark.parametrize("name", FILES)
def test_an_unchanged_file_is_complete(name: str, tmp_path: Path) -> None:
    comparison = mutated(name, tmp_path, lambda value: None)
    assert [loss.text for loss in comparison.losses] == []
    assert comparison.redacted == 0


def test_the_sentence_counts_what_is_there_and_what_has_no_place(tmp_path: Path) -> None:
    # The ATIF example: 4 calls and 4 results, 1 more of each in its subagent; 12,129 tokens and the subagent's 1,895.
    assert mutated("atif", tmp_path, lambda value: None).sentence() == "5 of 5 calls, 5 of 5 results, 14,024 tokens"
    lost = mutated("atif", tmp_path, MUTATIONS["drop a result"]["atif"]).sentence()
    assert lost == "5 of 5 calls, 4 of 5 results, 14,024 tokens; lost or changed: 1 result"


# --- ledgers made by hand, for what no single file shows


def ledger(*entries: Entry, usage: Usage | None = None) -> Ledger:
    return Ledger(entries=list(entries), usage=usage)


def text(kind: str, words: str, number: int = 1, **more: Any) -> Entry:
    entry = entry_of_text(kind, Place("log", number), words, lambda _place: True)
    for key, value in more.items():
        setattr(entry, key, value)
    return entry


def call(arguments: Any, number: int = 1, name: str = "run", known_as: str = "c1") -> Entry:
    return entry_of_call(Place("log", number), known_as, name, arguments, lambda _place: True)


def differences(log: Ledger, written: Ledger, format_name: str = "atif") -> list[str]:
    return [loss.kind for loss in compare(log, written, format_name, None, None).losses]


KEY = "sk-" + "a1B2" * 8


@pytest.mark.parametrize(
    ("raw", "written", "same"),
    [
        (f"export KEY={KEY} done", "export KEY=[key] done", True),
        (f"export KEY={KEY} done", "export KEY=[key 2] done", True),
        ("in /home/mira/a and /home/mira/b", "in ~/a and ~/b", True),
        ("~ was there before", "~ was there before", True),
        ("Mira wrote to mira@example.net", "[name] wrote to [email]", True),
        ("Mira wrote to mira@example.net\nand waited", "[name] wrote to [email]", False),
        ("Mira wrote to mira@example.net" + " again" * 60, "[name] wrote to [email]", False),
        ("a: mira@example.net and b: ada@example.net", "a: [email] and b: [email]", True),
        ("xx and x and y", "~ and y", True),
        ("xx\nand x and y", "~ and y", False),
        ("-----BEGIN KEY-----\nA\nB\n-----END KEY-----\nok", "[key]\nok", True),
        ("Mira wrote to mira@example.net", "[name] wrote [email]!", False),
        ("a secret", "[secret]", False),
        ("ab", "[key]ab", False),
        ("cut short here", "cut short", False),
        ("one\r\ntwo\r\n", "one\ntwo", True),
    ],
)
def test_a_token_stands_for_what_was_taken_out_and_for_nothing_else(raw: str, written: str, same: bool) -> None:
    for kind in ("prompt", "answer", "thought"):
        assert differences(ledger(text(kind, raw)), ledger(text(kind, written))) == ([] if same else [kind, kind])
    log, file = ledger(call({}), text("result", raw, id="c1")), ledger(call({}), text("result", written, id="c1"))
    assert differences(log, file) == ([] if same else ["result"])


@pytest.mark.parametrize(
    ("raw", "written", "same"),
    [
        ({"a": {"b": ["x", KEY]}}, {"a": {"b": ["x", "[key]"]}}, True),
        ({"a": {"b": ["x", KEY]}}, {"a": {"b": ["[key]"]}}, False),
        ({"mira@example.net": 1, "b": 2}, {"[email 1]": 1, "b": 2}, True),
        ({"mira@example.net": 1, "ada@example.net": 2}, {"[email 1]": 1, "[email 2]": 2}, True),
        ({"mira@example.net": 1, "ada@example.net": 2}, {"[email 1]": 1, "[email 2]": 3}, False),
        ({"n": 12345678901234567890}, {"n": 12345678901234567000}, False),
        ({"n": 1}, {"n": 1.0}, False),
        ({"n": True}, {"n": 1}, False),
        ({"n": None}, {}, False),
        ({"indent": "  x"}, {"indent": "x"}, False),
        ({"b": 1, "a": 2}, {"a": 2, "b": 1}, True),
        (f"not JSON {KEY}", "not JSON [key]", True),
        (f"not JSON {KEY}", {"input": "not JSON [key]"}, False),
    ],
)
def test_arguments_are_compared_value_by_value(raw: Any, written: Any, same: bool) -> None:
    assert differences(ledger(call(raw)), ledger(call(written))) == ([] if same else ["call"])


def test_pieces_of_one_message_may_be_written_as_one() -> None:
    log = ledger(
        text("answer", "Looking.", 1, message="m1"),
        call({}),
        text("answer", "In /home/mira it is.", 2, message="m1"),
        text("answer", "Done.", 3, message="m2"),
    )
    whole = ledger(call({}), text("answer", "Looking.\n\nIn ~ it is."), text("answer", "Done."))
    assert differences(log, whole) == []
    last_line_only = ledger(call({}), text("answer", "In ~ it is."), text("answer", "Done."))
    assert "answer" in differences(log, last_line_only)


def test_prompts_may_be_joined_where_the_log_does_not_say_that_they_are_one() -> None:
    log = ledger(
        *(text("prompt", words, number) for number, words in enumerate(("Fix it.", "And test it.", "Thanks.")))
    )
    assert differences(log, ledger(text("prompt", "Fix it.\n\nAnd test it."), text("prompt", "Thanks."))) == []
    assert differences(log, ledger(text("prompt", "Fix it."), text("prompt", "Thanks."))) == ["prompt"]


def test_a_lost_answer_is_one_loss_though_its_neighbours_were_redacted() -> None:
    said = [f"/home/mira/{number} is done" for number in range(40)]
    log = ledger(*(text("answer", words, number) for number, words in enumerate(said)))
    written = [text("answer", words.replace("/home/mira", "~")) for words in said]
    comparison = compare(log, ledger(*written[:17], *written[18:]), "atif", None, None)
    assert [(loss.kind, loss.place) for loss in comparison.losses] == [("answer", Place("log", 17))]
    assert (comparison.found["answer"], comparison.redacted) == (39, 39)


def test_an_order_that_changed_is_a_difference() -> None:
    one, two = text("answer", "First."), text("answer", "Second.")
    assert differences(ledger(one, two), ledger(two, one)) != []


def test_results_that_share_an_id_answer_its_calls_in_order() -> None:
    calls = [call({"n": 1}, 1), call({"n": 2}, 2)]
    log = ledger(*calls, text("result", "one", id="c1"), text("result", "two", id="c1"))
    renamed = [call({"n": 1}), call({"n": 2}, known_as="c1__2")]
    same = ledger(*renamed, text("result", "one", id="c1"), text("result", "two", id="c1__2"))
    swapped = ledger(*renamed, text("result", "two", id="c1"), text("result", "one", id="c1__2"))
    assert differences(log, same) == []
    assert differences(log, swapped) == ["result", "result"]


def test_several_results_of_one_call_are_one_in_pieces() -> None:
    log = ledger(call({}), text("result", "warning", 1, id="c1"), text("result", "output", 2, id="c1"))
    assert differences(log, ledger(call({}), text("result", "warning\n\noutput", id="c1"))) == []
    assert differences(log, ledger(call({}), text("result", "output", id="c1"))) == ["result"]


def test_a_result_that_was_invented_is_a_difference() -> None:
    assert differences(ledger(call({})), ledger(call({}), text("result", "all fine", id="c1"))) == ["result"]


def test_tokens_that_the_log_does_not_state_are_invented() -> None:
    assert differences(ledger(), ledger(usage=Usage(prompt_tokens=0))) == ["token"]
    assert differences(ledger(usage=Usage(output_tokens=5)), ledger()) == ["token"]
    usage = Usage(prompt_tokens=10, output_tokens=5)
    assert differences(ledger(usage=usage), ledger(usage=Usage(prompt_tokens=10, output_tokens=5))) == []


def test_what_a_format_has_no_place_for_is_counted_and_is_no_loss() -> None:
    log = ledger(
        text("prompt", "Go."),
        text("thought", "Hm."),
        call({}),
        text("result", "done", id="c1", ok=True),
        usage=Usage(prompt_tokens=900, output_tokens=200),
    )
    written = ledger(text("prompt", "Go."), call({}), text("result", "done", id="c1"))
    comparison = compare(log, written, "openai", None, None)
    assert comparison.losses == []
    assert comparison.sentence() == "1 of 1 call, 1 of 1 result; not carried: 1 thought, 1 outcome, 1,100 tokens"


def test_what_stands_beside_the_active_path_may_be_written_or_not() -> None:
    log = ledger(text("prompt", "Go."))
    log.aside = [text("prompt", "Went elsewhere."), text("answer", "There.")]
    assert compare(log, ledger(text("prompt", "Go.")), "openai", None, None).not_carried["aside"] == 2
    both = compare(log, ledger(text("prompt", "Go."), text("prompt", "Went elsewhere.")), "openai", None, None)
    assert (both.losses, both.not_carried["aside"]) == ([], 1)


def test_what_stands_beside_the_active_path_may_be_written_as_one_piece() -> None:
    # A fork replays context and a prompt of its parent; a format in which turns alternate has them as one.
    log = ledger(text("prompt", "On."))
    log.aside = [text("prompt", "Context."), text("prompt", "Go.")]
    written = ledger(text("prompt", "Context.\n\nGo."), text("prompt", "On."))
    assert differences(log, written) == []
    assert differences(log, ledger(text("prompt", "Context.\n\nStop."), text("prompt", "On."))) == ["prompt"]


def test_a_summary_and_the_prompt_after_it_may_be_written_as_one() -> None:
    log = ledger(text("system", "So far."), text("prompt", "Go on."), text("answer", "Yes."))
    assert differences(log, ledger(text("prompt", "So far.\n\nGo on."), text("answer", "Yes."))) == []
    assert differences(log, ledger(text("prompt", "Go on."), text("answer", "Yes."))) == []
    assert differences(log, ledger(text("prompt", "So far."), text("answer", "Yes."))) == ["prompt"]
    assert differences(log, ledger(text("prompt", "So far.\n\nGo."), text("answer", "Yes."))) == ["prompt", "prompt"]


def test_a_redacted_call_that_a_fork_replays_is_known() -> None:
    log = ledger(text("prompt", "On."))
    log.aside = [call({"cmd": "ls"}), call({"cmd": "ls /home/mira/a"}, known_as="c2")]
    replayed = [call({"cmd": "ls"}), call({"cmd": "ls ~/a"}, known_as="c2")]
    assert differences(log, ledger(*replayed, text("prompt", "On."))) == []
    assert differences(log, ledger(*replayed, call({"cmd": "rm"}, known_as="c3"), text("prompt", "On."))) == ["call"]


def test_no_text_makes_the_comparison_slow() -> None:
    # 200,000 characters of what a backtracking matcher would try in every split.
    raw, written = "ab" * 100_000, "~a" * 50_000 + "~c"
    assert differences(ledger(text("prompt", raw)), ledger(text("prompt", written))) == ["prompt", "prompt"]


def test_only_what_differs_is_read_again(tmp_path: Path) -> None:
    asked: list[set[Place]] = []

    def again(keep: Callable[[Place], bool]) -> Ledger:
        places = {Place(FILES["openai"].name + ":1", number, "message") for number in range(1, 11)}
        asked.append({place for place in places if keep(place)})
        return count("openai", FILES["openai"], 0, keep)

    copy = tmp_path / FILES["openai"].name
    copy.write_text(FILES["openai"].read_text().replace("street twice", "[address] twice"))
    comparison = compare(
        count("openai", FILES["openai"]),
        count("openai", copy),
        "openai",
        again,
        lambda keep: count("openai", copy, 0, keep),
    )
    assert (comparison.losses, comparison.redacted) == ([], 1)
    assert [{place.number for place in places} for places in asked] == [{2}]


def test_every_example_is_found_by_its_own_reader_only() -> None:
    for name, path in FILES.items():
        assert [other for other in FILES if found(other, path)] == [name]
