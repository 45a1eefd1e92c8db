"""What a redacted chat is made of: the same objects where nothing came out, keys that stay apart."""

from __future__ import annotations

import base64
from datetime import UTC
from decimal import Decimal
from pathlib import Path

import pytest

from conftest import ROOT
from redaction.known_person import KEY, MIRA, OPAQUE, SECRET
from redaction.test_matrix import strings
from trailbook import json_text
from trailbook.chat import JSON, Agent, Called, Chat, Said, Text
from trailbook.readers import reader
from trailbook.redaction.context import Context
from trailbook.redaction.replacing import redact, redact_all, redact_json, redact_text

DATA = ROOT / "tests" / "data" / "redaction"
NUMBERED = Context(names=("Mira Okafor",), homes=("/home/mira",), number=True)


def chat(*events: object, **fields: object) -> Chat:
    return Chat(id="c", source="test", agent=Agent(), events=list(events), **fields)  # type: ignore[arg-type]


def test_a_chat_with_nothing_in_it_comes_back_itself() -> None:
    quiet = chat(Said(text="All tests pass."), Called(id="t1", name="Bash", arguments={"command": "ls", "n": 1}))
    after, removed = redact(quiet, MIRA)
    assert after is quiet
    assert not removed
    assert removed.sentence() == "nothing"


def test_only_what_changed_is_new() -> None:
    before = chat(Said(text="one"), Said(text=f"two {KEY}"))
    after, _ = redact(before, MIRA)
    assert after.events[0] is before.events[0]
    assert after.events[1].text == "two [key]"
    assert before.events[1].text == f"two {KEY}"


def test_what_is_learned_in_a_subagent_goes_in_the_chat_above_it() -> None:
    below = chat(Said(text=f"export API_TOKEN={OPAQUE}"))
    above = chat(Said(text=f"curl x.io/{OPAQUE}/y"), subagents=[below])
    after, removed = redact(above, MIRA)
    assert after.events[0].text == "curl x.io/[key]/y"
    assert removed.counts == {"key": 1}


def test_what_is_learned_holds_for_one_export_only() -> None:
    teaching, other = chat(Said(text=f"API_TOKEN={OPAQUE}")), chat(Said(text=OPAQUE))
    (_, together), _ = redact_all([teaching, other], MIRA)
    alone, _ = redact(other, MIRA)
    assert together.events[0].text == "[key]"
    assert alone.events[0].text == OPAQUE


def test_an_id_of_the_log_is_never_learned_as_a_key() -> None:
    identity = "7c311c86-7836-4f47-bffc-aa8c3cbf261e"
    before = chat(Said(text=f"SESSION_TOKEN={identity}"), Said(text=f"resume {identity}"))
    before.id = identity
    after, removed = redact(before, MIRA)
    assert [event.text for event in after.events] == ["SESSION_TOKEN=[key]", f"resume {identity}"]
    assert not removed.learned


def test_the_home_folder_of_whoever_ran_the_chat_is_a_home() -> None:
    after, _ = redact(chat(Said(text="see /Users/zora/notes and /Users/bob/x"), cwd="/Users/zora/code"), MIRA)
    assert after.cwd == "~/code"
    assert after.events[0].text == "see ~/notes and /Users/bob/x"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"password": "Xk7pQ2vw"}, {"password": "[key]"}),
        ({"env": {"API_KEY": OPAQUE}}, {"env": {"API_KEY": "[key]"}}),
        ([{"name": "DB_PASSWORD", "value": "Xk7pQ2vw"}], [{"name": "DB_PASSWORD", "value": "[key]"}]),
        ({"password": {"type": "string"}}, {"password": {"type": "string"}}),
        ({"token": "string", "max_tokens": 4096}, {"token": "string", "max_tokens": 4096}),
        ({KEY: 1, "a": KEY}, {"[key 1]": 1, "a": "[key]"}),
        ({SECRET: OPAQUE}, {"[password 1]": OPAQUE}),
        ({KEY: 1, SECRET: 2}, {"[key 1]": 1, "[password 1]": 2}),
        ({KEY: 1, KEY[:-1] + "B": 2}, {"[key 1]": 1, "[key 2]": 2}),
        ({KEY: 1, "[key 1]": 2}, {"[key 1] 2": 1, "[key 1]": 2}),
        ({"/home/mira/x": 1, "C:\\Users\\Mira Okafor/x": 2}, {"~/x": 1, "~/x 2": 2}),
        ({"n": Decimal("0.1000000000000000055"), "d": 12345678901234567890}, None),
    ],
)
def test_json(value: JSON, expected: JSON) -> None:
    after, _ = redact_json(value, MIRA)
    assert after == (value if expected is None else expected)
    assert after is not value or expected in (None, value)


def test_the_deepest_value_that_is_read() -> None:
    value: JSON = f"x {KEY}"
    for _ in range(json_text.DEEPEST // 2 - 1):
        value = {"a": [value]}
    after, _ = redact_json(value, MIRA)
    assert b"[key]" in json_text.dump(after)
    assert KEY.encode() not in json_text.dump(after)


def test_the_same_value_has_the_same_number() -> None:
    value = ["a@corp.io b@corp.io", "A@corp.io", {"b@corp.io": "Mira Okafor in /home/mira"}]
    after, _ = redact_json(value, NUMBERED)
    assert after == ["[email 1] [email 2]", "[email 1]", {"[email 2]": "[name 1] in ~"}]


@pytest.mark.parametrize("head", ["data:text/plain;base64,", "data:text/html;charset=utf-8;base64,"])
def test_text_in_data_addresses_is_decoded(head: str) -> None:
    address = head + base64.b64encode(f"<p>{KEY} für Mira Okafor</p>".encode()).decode()
    before, data = redact_text(f"![x]({address}) and Mira Okafor", MIRA).split(head)[0], None
    data = redact_text(f"![x]({address}) and Mira Okafor", MIRA).split(head)[1]
    inner, rest = data.split(")", 1)
    assert before == "![x]("
    assert base64.b64decode(inner).decode() == "<p>[key] für [name]</p>"
    assert rest == " and [name]"


def test_other_data_addresses_stay() -> None:
    quiet = "data:text/plain;base64,aGVsbG8gd29ybGQ= data:text/plain,hello%20world data:image/png;base64,iVBORw0KGgo="
    assert redact_text(quiet, MIRA) == quiet


def test_a_data_address_in_percent_form() -> None:
    assert redact_text(f"data:text/plain,key%20{KEY}", MIRA) == "data:text/plain,key%20[key]"


def read_lines(name: str) -> list[JSON]:
    return [json_text.parse(line) for line in (DATA / name).read_bytes().split(b"\n") if line]


def test_ids_in_pretty_json_stay(tmp_path: Path) -> None:
    """entireio/cli#703."""
    before = json_text.parse((DATA / "pretty-json-ids.json").read_bytes())
    after, removed = redact_json(before, MIRA)
    assert after == {
        "info": {"id": "ses_9Zk3QpX7vT2mLw8RfYc4HdBn"},
        "messages": [{"id": "msg_cb77a444f001Ktd3kTVmr8XQHZ", "role": "user", "content": "key is [key] ok"}],
    }
    assert removed.counts == {"key": 1}
    # And as one text, as a tool would print it.
    text = (DATA / "pretty-json-ids.json").read_text()
    assert json_text.parse(redact_text(text, MIRA).encode()) == after


def test_quotes_and_braces_around_secrets_stay() -> None:
    """openclaw/openclaw#113709."""
    after, removed = redact_json(read_lines("then-valid-json.jsonl"), MIRA)
    texts = [record["message"]["content"] for record in after]
    assert texts[0] == 'set password="[key]" then {"token":"[key]","n":1}'
    assert texts[1][0]["input"]["command"] == 'export API_KEY=\'[key]\' && echo "{\\"password\\": \\"[key]\\"}"'
    assert texts[2][0]["content"] == "Authorization: Bearer [key]\n"
    assert removed.counts == {"key": 5}
    for record in after:
        json_text.parse(json_text.dump(record))


def test_ids_paths_and_times_stay() -> None:
    """openclaw/openclaw#125214, future-agi/traceAI#195."""
    before = read_lines("uuid-and-numbers.jsonl")
    after, removed = redact_json(before, MIRA)
    assert after[:2] == before[:2]
    assert after[2]["message"]["content"][0] == {
        "tool_use_id": "toolu_fc-abc123def456ghi",
        "type": "tool_result",
        "content": "created 2026-05-01 1777629600123 [card]",
    }
    assert removed.counts == {"card": 1}


def test_text_parts() -> None:
    after, _ = redact(chat(Said(text="", parts=[Text(f"a {SECRET}")])), MIRA)
    assert after.events[0].parts == [Text("a [password]")]


def test_a_log_of_secrets_all_the_way() -> None:
    path = DATA / "then-valid-json.jsonl"
    claude_code = reader("claude_code")
    (found,) = claude_code.find(path, path.read_bytes())  # type: ignore[misc]
    after, removed = redact(claude_code.read(found, UTC), MIRA)
    texts = json_text.dump(list(strings(after))).decode()
    for secret in (
        "hunter2hunter2",
        "abcd1234efgh5678",
        "zx81zx81zx81zx81",
        "s3cr3ts3cr3t",
        "aaaabbbbccccddddeeeeffff0000",
    ):
        assert secret not in texts
    assert removed.counts == {"key": 5}
    assert removed.examples["key"][0] == 'set password="[key]" then {"token":"[key]","n":1}'
