"""Estimates by list prices: exact sums by a table of our own, only where the log states nothing, marked everywhere."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from conftest import EXAMPLES
from trailbook import cli, prices
from trailbook.chat import Agent, Answered, Asked, Chat, Cost, Message, Said, Usage
from trailbook.failures import Stopped
from trailbook.formats import FORMATS, Output, Sheet
from trailbook.timeline import make_timeline
from trailbook.writers.timeline_json import timeline_json

genai_prices = pytest.importorskip("genai_prices")

from genai_prices import data_snapshot, types  # noqa: E402

TABLE = r"list prices of genai-prices [\d.]+, as of \d{4}-\d\d-\d\d"
OCTOBER = 1_791_800_000_000  # 12 October 2026


def model(
    name: str, *, read: int = 1, fresh: int = 10, written: int = 12, hour: int = 20, output: int = 50
) -> types.ModelInfo:
    """A model by its dollars for a million tokens; from 2026-11-01 on everything costs the double."""
    priced = [
        types.ModelPrice(
            input_mtok=Decimal(fresh * times),
            cache_read_mtok=Decimal(read * times),
            cache_write_mtok=Decimal(written * times),
            cache_write_1h_mtok=Decimal(hour * times),
            output_mtok=Decimal(output * times),
        )
        for times in (1, 2)
    ]
    later = types.StartDateConstraint(start_date=date(2026, 11, 1))
    conditional = [types.ConditionalPrice(prices=priced[0]), types.ConditionalPrice(constraint=later, prices=priced[1])]
    return types.ModelInfo(id=name, match=types.ClauseStartsWith(starts_with=name), prices=conditional)


def provider(name: str, model_match: str, *models: types.ModelInfo) -> types.Provider:
    return types.Provider(
        id=name,
        name=name,
        api_pattern=name,
        models=list(models),
        model_match=types.ClauseStartsWith(starts_with=model_match),
    )


@pytest.fixture(autouse=True)
def _own_table() -> Iterator[None]:
    table = [
        provider("anthropic", "claude", model("claude-opus")),
        provider("openai", "gpt", model("gpt-oss"), model("gpt-5", fresh=2, read=1, output=8)),
        provider("deepseek", "deepseek", model("deepseek-chat")),
    ]
    data_snapshot.set_custom_snapshot(data_snapshot.DataSnapshot(providers=table, from_auto_update=False))
    yield
    data_snapshot.set_custom_snapshot(None)


PRICES: list[tuple[str, Usage, str, str | None, float | None]] = [
    ("input and output", Usage(1_000, 100), "claude-opus", "anthropic", 0.010 + 0.005),
    ("what was read from the cache", Usage(1_000, 100, 600), "claude-opus", "anthropic", 0.004 + 0.0006 + 0.005),
    ("what was written to it", Usage(1_000, 100, 0, 500), "claude-opus", "anthropic", 0.005 + 0.006 + 0.005),
    (
        "some of it for an hour",
        Usage(1_000, 100, 0, 500, 200),
        "claude-opus",
        "anthropic",
        0.005 + 0.0036 + 0.004 + 0.005,
    ),
    (
        "all of them",
        Usage(1_000, 100, 300, 500, 200),
        "claude-opus",
        "anthropic",
        0.002 + 0.0003 + 0.0036 + 0.004 + 0.005,
    ),
    ("a model by its full name", Usage(1_000, 0), "claude-opus-4-8", "anthropic", 0.010),
    ("passed on by another vendor", Usage(1_000, 0), "claude-opus", "some-proxy", 0.010),
    ("with the maker's name before it", Usage(1_000, 0), "anthropic/claude-opus", None, 0.010),
    ("where no vendor is named", Usage(1_000, 0), "gpt-5", None, 0.002),
    ("a vendor of an open model", Usage(1_000, 0), "deepseek-chat", "deepseek", 0.010),
    ("an open model on any machine", Usage(1_000, 0), "deepseek-chat", "ollama", None),
    ("another open model on any machine", Usage(1_000, 0), "gpt-oss", None, None),
    ("a model that nobody lists", Usage(1_000, 0), "qwen", "ollama", None),
    ("tokens of which a part is unknown", Usage(None, 100), "claude-opus", "anthropic", None),
    ("more from the cache than in all", Usage(10, 100, 600), "claude-opus", "anthropic", None),
]


@pytest.mark.parametrize(("used", "name", "vendor", "usd"), [row[1:] for row in PRICES], ids=[row[0] for row in PRICES])
def test_list_prices(used: Usage, name: str, vendor: str | None, usd: float | None) -> None:
    assert prices.list_price(used, name, vendor, OCTOBER) == (None if usd is None else pytest.approx(usd))


DAYS = [(OCTOBER, 0.010), (OCTOBER + 30 * 86_400_000, 0.020), (10**17, None)]


@pytest.mark.parametrize(("at", "usd"), DAYS)
def test_the_price_is_that_of_the_day(at: int, usd: float | None) -> None:
    assert prices.list_price(Usage(1_000, 0), "claude-opus", "anthropic", at) == usd


def test_the_real_table_tells_the_cache_apart() -> None:
    data_snapshot.set_custom_snapshot(None)
    read, fresh, written, hour = (
        prices.list_price(used, "claude-opus-4-1", "anthropic", OCTOBER)
        for used in (
            Usage(1_000, 0, 1_000),
            Usage(1_000, 0),
            Usage(1_000, 0, 0, 1_000),
            Usage(1_000, 0, 0, 1_000, 1_000),
        )
    )
    assert None not in (read, fresh, written, hour)
    assert read < fresh < written < hour  # type: ignore[operator]


# --- chats


def chat_of(**more: object) -> Chat:
    chat = Chat("c", "pi", Agent("Pi"), models=["claude-opus"], started=OCTOBER)
    for name, value in more.items():
        setattr(chat, name, value)
    return chat


def by_message(*usages: Usage | None, name: str = "claude-opus", **more: object) -> Chat:
    events = [Asked(id="u", text="Hello", at=OCTOBER)]
    told = {f"m{number}": Message(model=name, usage=usage) for number, usage in enumerate(usages)}
    events += [Said(text="Hello.", at=OCTOBER, message=key) for key in told]  # type: ignore[misc]
    return chat_of(events=events, messages=told, **more)


def usd_of(chat: Chat) -> float | None:
    prices.estimate(chat)
    return make_timeline(chat).totals.usd


def test_messages_are_priced_one_by_one() -> None:
    chat = by_message(Usage(1_000, 100), Usage(2_000, 0), None)
    assert usd_of(chat) == pytest.approx(0.015 + 0.020)
    assert [message.cost and message.cost.usd for message in chat.messages.values()] == [0.015, 0.02, None]
    assert re.fullmatch(TABLE, chat.messages["m0"].cost.estimated_from or "")  # type: ignore[union-attr]


def test_turns_are_priced_where_the_log_counts_by_turn() -> None:
    answers = [
        Answered(usage=Usage(1_000, 100), model="gpt-5", at=OCTOBER),
        Answered(usage=Usage(1_000, 0), at=OCTOBER),
    ]
    chat = by_message(Usage(9, 9))
    chat.events += answers
    assert usd_of(chat) == pytest.approx(0.002 + 0.0008 + 0.010)  # the second by the chat's only model
    assert chat.messages["m0"].cost is None


def test_the_whole_chat_is_priced_where_the_log_counts_nothing_else() -> None:
    chat = chat_of(events=[Asked(id="u", text="Hello")], usage=Usage(1_000, 100), providers=["anthropic"])
    assert usd_of(chat) == pytest.approx(0.015)
    several = chat_of(events=[Asked(id="u", text="Hello")], usage=Usage(1_000, 100), models=["claude-opus", "gpt-5"])
    assert usd_of(several) is None


STATED = [
    lambda chat: setattr(chat.messages["m1"], "cost", Cost(0.5)),
    lambda chat: setattr(chat, "cost", Cost(0.5)),
    lambda chat: chat.events.append(Answered(cost=Cost(0.5, "plan"))),
    lambda chat: chat.events.append(Answered(cost=Cost(0.0, "free"))),
]


@pytest.mark.parametrize("number", range(len(STATED)))
def test_a_chat_that_states_a_cost_is_left_alone(number: int) -> None:
    chat = by_message(Usage(1_000, 100), Usage(1_000, 100))
    STATED[number](chat)
    before = repr(chat)
    prices.estimate(chat)
    assert repr(chat) == before


def test_a_subagent_is_priced_by_itself() -> None:
    below = by_message(Usage(1_000, 0))
    above = by_message(Usage(1_000, 100))
    above.subagents, above.messages["m0"].cost = [below], Cost(0.5)
    prices.estimate(above)
    assert (make_timeline(above).totals.usd, make_timeline(below).totals.usd) == (0.5, pytest.approx(0.010))


def test_what_is_inherited_is_priced_where_it_comes_from() -> None:
    chat = by_message(Usage(1_000, 0), Usage(2_000, 0))
    chat.events[1].inherited = True
    assert usd_of(chat) == pytest.approx(0.020)


def test_a_model_without_a_list_price_is_named_and_the_others_are_priced() -> None:
    chat = by_message(Usage(1_000, 0), Usage(1_000, 0), Usage(0, 0), Usage(1_000, 0))
    chat.messages["m1"].model = chat.messages["m3"].model = "qwen"
    assert usd_of(chat) == pytest.approx(0.010)
    assert [(problem.kind, problem.text, problem.count) for problem in chat.diagnostics] == [
        ("no-price", "There is no list price for qwen: its tokens are not in the estimate.", 2)
    ]


def test_without_the_extra_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    prices.table.cache_clear()
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    with pytest.raises(Stopped, match="install trailbook with its extra 'prices'"):
        prices.estimate(by_message(Usage(1_000, 100)))
    prices.table.cache_clear()


# --- what is written


def test_everything_that_is_written_says_that_it_is_an_estimate_and_of_which_table() -> None:
    chat = by_message(Usage(1_000_000, 100))
    prices.estimate(chat)
    table = prices.table()
    timeline = make_timeline(chat)
    assert timeline.totals.usd == pytest.approx(10.005)
    sheet = Sheet(Output(formats=("report", "markdown")), "stem", alone=True)

    report = FORMATS["report"].bundle([chat], sheet)[0].data.decode()
    assert "~$10.01" in report
    assert "$10.01 <small>estimated</small>" in report
    assert table in report
    assert not re.search(r"(?<!~)\$10\.01(?! <small>estimated</small>)", report)

    note = FORMATS["markdown"].bundle([chat], sheet)[0].data.decode()
    assert f'cost_estimated: true\ncost_estimated_by: "{table}"\n' in note
    assert f"\\$10.01 (estimated by {table})" in note.replace("\\-", "-").replace("\\.", ".")

    told = timeline_json(timeline)
    assert told["totals"]["estimatedFrom"] == told["turns"][0]["cost"]["estimatedFrom"] == table

    (atif,) = (json.loads(piece.data) for piece in FORMATS["atif"].bundle([chat], sheet))
    assert "total_cost_usd" not in atif["final_metrics"]
    assert atif["final_metrics"]["extra"] == {"estimated_cost_usd": 10.005, "cost_source": table}
    step = next(step for step in atif["steps"] if step["source"] == "agent")
    assert "cost_usd" not in step["metrics"]
    assert step["metrics"]["extra"] == {"estimated_cost_usd": 10.005, "cost_source": table}

    about = json.loads(FORMATS["trajectory-v1"].bundle([chat], sheet)[1].data)
    about = about[0] if isinstance(about, list) else about
    assert '"cost_usd"' not in json.dumps(about).replace('"estimated_cost_usd"', "")
    assert json.dumps(about).count(f'"cost_source": "{table}"') == 2


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A session that says what it cost, and the same that does not."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "logs"
    folder.mkdir()
    for session, cost in (("stated", {"total": 0.5}), ("unstated", {"total": 0})):
        usage = {"input": 1_000_000, "output": 0, "cacheRead": 0, "cacheWrite": 0, "cost": cost}
        said = {
            "role": "assistant",
            "content": "Hello.",
            "provider": "anthropic",
            "model": "claude-opus",
            "stopReason": "stop",
        }
        lines = [
            {"type": "session", "version": 3, "id": session, "timestamp": "2026-10-12T09:00:00Z", "cwd": "/w"},
            {
                "type": "message",
                "id": "a",
                "parentId": None,
                "timestamp": "2026-10-12T09:00:01Z",
                "message": {"role": "user", "content": session},
            },
            {
                "type": "message",
                "id": "b",
                "parentId": "a",
                "timestamp": "2026-10-12T09:00:02Z",
                "message": {**said, "usage": usage},
            },
        ]
        (folder / f"{session}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


Run = Callable[..., str]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line that ends well; returns what it printed."""

    def run(*words: str | Path) -> str:
        status = cli.run([str(word) for word in words])
        out, err = capfd.readouterr()
        assert status == 0, err
        return out + err

    return run


def test_the_list(logs: Path, run: Run) -> None:
    rows = run("list", str(logs), "--estimate-cost", "--tz", "UTC")
    assert re.search(r"stated +w +\$0\.50 +stated", rows)
    assert re.search(r"unstated +w +~\$10\.00 +unstated", rows)
    assert re.search(rf"What stands behind ~ is estimated by {TABLE}\.", rows)
    assert "$" not in run("list", str(logs), "--tz", "UTC")


def test_one_chat_in_the_terminal(logs: Path, run: Run) -> None:
    assert re.search(
        rf"\$10\.00 \(estimated by {TABLE}\)", run("show", str(logs / "unstated.jsonl"), "--estimate-cost")
    )
    assert "$" not in run("show", str(logs / "unstated.jsonl"))


def test_a_folder_of_reports(logs: Path, run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run("build", str(logs), "--out", str(out), "--yes", "--tz", "UTC")
    index = (out / "index.html").read_text()
    assert "$0.50" in index
    assert "$10" not in index
    run("build", str(logs), "--out", str(out), "--yes", "--tz", "UTC", "--estimate-cost")  # the option makes them anew
    index = (out / "index.html").read_text()
    assert "~$10.00" in index
    assert re.search(rf"\$10\.50\b[^$]*partly estimated by {TABLE}", index)
    assert "Nothing to do" not in index


def test_a_file_of_one_chat(logs: Path, run: Run, tmp_path: Path) -> None:
    for option, expected in (([], 0), (["--estimate-cost"], 1)):
        target = tmp_path / f"saved{expected}"
        target.mkdir()
        run("export", str(logs / "unstated.jsonl"), "--out", str(target), "--yes", *option)
        (page,) = target.glob("*.html")
        assert len(re.findall(TABLE, page.read_text())) == expected


def test_the_examples_are_estimated_in_whole() -> None:
    data_snapshot.set_custom_snapshot(None)
    from datetime import UTC

    from trailbook.making import read
    from trailbook.stores import survey

    for found in survey([EXAMPLES / "claude_code"]).chats:
        chat = read(found, Output(zone=UTC, estimate_cost=True))
        assert make_timeline(chat).totals.estimated
