"""What a build does not do again: counted, since times vary and counts do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor, Future
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from claude_code_logs import model, text, user, write
from trailbook import making, site, stores
from trailbook.formats import Output
from trailbook.redaction import replacing
from trailbook.redaction.context import Context
from trailbook.themes import Theme


class Here(Executor):
    """Does everything in this process, so that it can be counted."""

    def submit(self, work: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(work(*given, **named))
        return future


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many logs are read, texts are searched and pages are rendered."""
    done: Counter[str] = Counter()
    read, find, render = making.read, replacing.Batch, Theme.render

    def reading(*given: Any) -> Any:
        done["logs"] += 1
        return read(*given)

    def searching(texts: Any, *given: Any) -> Any:
        done["searches"] += 1
        return find(texts, *given)

    def rendering(theme: Theme, template: str, **values: Any) -> bytes:
        done[template] += 1
        return render(theme, template, **values)

    monkeypatch.setattr(making, "read", reading)
    monkeypatch.setattr(replacing, "Batch", searching)
    monkeypatch.setattr(Theme, "render", rendering)
    return done


def test_a_build_does_only_what_is_out_of_date(tmp_path: Path, done: Counter[str]) -> None:
    logs, folder = tmp_path / "logs", tmp_path / "site"
    chats = [[user(f"Question {number}"), model(text(f"Answer {number}"))] for number in range(4)]
    for number, chat in enumerate(chats):
        write(logs / f"{number}.jsonl", chat)
    context = Context(names=("Mira Okafor",))

    def build(**options: Any) -> Counter[str]:
        done.clear()
        survey = stores.survey([logs])
        output = Output(("report", "markdown"), UTC, context=context, **options)
        site.build(site.Plan(folder, survey, survey.chats, output), executor=Here())
        return Counter(done)

    first = build()
    assert (first["logs"], first["report.html"], first["index.html"] > 0) == (4, 4, True)
    assert build() == {}
    write(logs / "2.jsonl", [*chats[2], user("And more"), model(text("More"), key="msg_2")])
    appended = build()
    assert (appended["logs"], appended["report.html"], appended["index.html"] > 0) == (1, 1, True)
    assert 0 < appended["searches"] < first["searches"]
    assert build() == {}
    assert build(full=True)["logs"] == 4
