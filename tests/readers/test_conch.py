"""Conch's logs: every event kept or told, the files beside the log, older shapes, damage, and the counter."""

from __future__ import annotations

import json
import shutil
import types
import typing
from collections.abc import Iterable
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from conftest import EXAMPLES
from trailbook import chat as model
from trailbook.chat import (
    Answered,
    Asked,
    Browsed,
    Called,
    Chat,
    Compacted,
    Cost,
    File,
    FileChange,
    FilesChanged,
    HandedOff,
    Image,
    Made,
    Noted,
    Origin,
    Permission,
    Place,
    Remembered,
    Returned,
    Said,
    Text,
    Thought,
    Usage,
    text_of,
)
from trailbook.ledger import Ledger, digest_of_arguments, digest_of_text, keep_nothing
from trailbook.readers import HEAD_BYTES, Found, Names, Passed, Unreadable, conch
from trailbook.readers.conch.reader import HANDLERS

SAMPLE = Path(__file__).parent.parent / "data" / "conch" / "home"
"""A home whose big log has an event of nearly every type."""
BIG = "c_8f3a1c2d4e5b"
START = 1_791_450_000_000

EVENT_TYPES = [
    "user.message",
    "assistant.delta",
    "assistant.done",
    "tool.started",
    "tool.finished",
    "tool.progress",
    "script.run",
    "script.call",
    "narration",
    "story.titled",
    "permission.requested",
    "permission.resolved",
    "memory.saved",
    "memory.forgotten",
    "memory.decided",
    "learning.noted",
    "learning.decided",
    "taint",
    "chats.looked",
    "files.changed",
    "files.restored",
    "artifact",
    "task",
    "status",
    "turn.usage",
    "turn.completed",
    "title",
    "options",
    "goal",
    "notice",
    "agent",
    "round",
    "peer.message",
    "turn.capped",
    "turn.capped.settled",
    "spend.notice",
    "skill.used",
    "skill.hold.ended",
    "vault.request",
    "browser.step",
    "browser.handoff",
    "turn.held",
    "turn.needs-apps",
    "turn.routed",
    "context.compacted",
    "context.cleared",
    "context.restored",
    "routine",
    "standing.order",
    "integration.issue",
    "integration.suggestion",
    "integration.suggestion.dismissed",
    "offer",
    "offer.resolved",
    "question",
    "question.answered",
    "replies",
    "plan",
    "conch-app.offer",
    "conch-app.share",
]


# --- small logs, line by line


def event(type_: str, at: int = 0, /, **fields: Any) -> dict[str, Any]:
    return {"conversationId": "c_1", "at": START + at, "type": type_, **fields}


def found_in(path: Path) -> Found:
    answer = conch.find(path, path.read_bytes()[:HEAD_BYTES])
    assert isinstance(answer, list)
    assert len(answer) == 1
    return answer[0]


def log_of(folder: Path, lines: Iterable[dict[str, Any]]) -> Path:
    """A log as Conch keeps it: numbered, one compact object a line."""
    path = folder / "conversations" / "c_1.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    numbered = [{"seq": number, **line} for number, line in enumerate(lines)]
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in numbered), encoding="utf-8")
    return path


def read(folder: Path, *lines: dict[str, Any]) -> Chat:
    return conch.read(found_in(log_of(folder, lines)), UTC)


def count(folder: Path, *lines: dict[str, Any]) -> Ledger:
    return conch.count(found_in(log_of(folder, lines)), keep_nothing)


def only(chat: Chat, kind: type[Any]) -> Any:
    matching = [event for event in chat.events if isinstance(event, kind)]
    assert len(matching) == 1, matching
    return matching[0]


def notes(chat: Chat) -> list[tuple[str, str, str | None]]:
    return [(event.topic, event.text, event.detail) for event in chat.events if isinstance(event, Noted)]


def reports(chat: Chat) -> list[tuple[str, int]]:
    return [(report.kind, report.count) for report in chat.diagnostics if report.kind != "no-index"]


ASKED = event("user.message", 0, messageId="u_1", text="Go")
CALL = event("tool.started", 100, toolUseId="t_1", name="Bash", input={"command": "ls"})
SAID = event("assistant.delta", 900, messageId="m_1", kind="text", delta="Done.")
ENDED = event("turn.completed", 1000, outcome="success", engine="claude-code", model="model-x")


# --- what a log holds


def test_every_type_of_event_is_known() -> None:
    assert sorted(HANDLERS) == sorted(EVENT_TYPES)


def test_the_big_log_is_read_whole() -> None:
    chat = conch.read(found_in(SAMPLE / "conversations" / f"{BIG}.jsonl"), UTC)
    assert (chat.id, chat.source, chat.title) == (BIG, "conch", "Fix the invoice rounding test")
    assert (chat.agent.name, chat.agent.product) == ("Scout", "Conch")
    assert (chat.started, chat.ended) == (1791450000000, 1791452003100)
    assert chat.models == ["model-x", "vendor/model-y", "small-local"]
    assert chat.providers == ["claude-code", "openrouter", "ollama"]
    assert chat.completed is True
    assert [event.text for event in chat.events if isinstance(event, Thought)] == [
        "The total is off by a cent, so this looks like rounding per line instead of once at the end."
    ]
    assert [(event.id, event.started, event.at) for event in chat.events if isinstance(event, Said)] == [
        ("m_0001:12", 1791450005200, 1791450006400),
        ("m_0002:52", 1791450138010, 1791450141000),
        ("m_0003:98", 1791452002000, 1791452003000),
    ]
    assert [event.id for event in chat.events if isinstance(event, Called)] == [
        "tu_read1",
        "tu_edit1",
        "tu_test1",
        "tu_fetch1",
        "tu_script1",
        "sc_01",
        "tu_dep1",
        "tu_dep2",
    ]
    # What only a running chat shows is told, nothing is lost.
    assert [(report.kind, report.count, report.lost) for report in chat.diagnostics] == [
        ("left-out", 2, False),
        ("left-out", 1, False),
        ("left-out", 1, False),
    ]


def test_every_line_of_the_big_log_leaves_an_event_or_a_report() -> None:
    path = SAMPLE / "conversations" / f"{BIG}.jsonl"
    chat = conch.read(found_in(path), UTC)
    placed = {event.place.number for event in chat.events if event.place}
    silent = []
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], 1):
        if number not in placed:
            silent.append(json.loads(line)["type"])
    # These end or change an event that stands on an earlier line; the title is the chat's.
    assert silent == [
        "status",
        "assistant.done",
        "status",
        "permission.resolved",
        "tool.progress",
        "turn.usage",
        "browser.step",
        "browser.handoff",
        "script.run",
        "question.answered",
        "assistant.done",
        "title",
        "task",
        "permission.resolved",
        "permission.resolved",
        "turn.capped.settled",
        "assistant.done",
    ]


def test_attachments_are_parts_of_the_prompt(tmp_path: Path) -> None:
    attachments = [
        {"id": "att_1", "name": "voice.webm", "mimeType": "audio/webm", "size": 9, "kind": "file", "transcript": "hi"},
        {"id": "att_2", "name": "shot.png", "mimeType": "image/png", "size": 7, "kind": "image", "width": 2},
    ]
    chat = read(tmp_path, event("user.message", messageId="u_1", text="", attachments=attachments), ENDED)
    asked = only(chat, Asked)
    assert (asked.id, asked.text, asked.injected, asked.at) == ("u_1", "", None, START)
    assert asked.parts == [
        File("voice.webm", "audio/webm", 9, "att_1", "hi"),
        Image("image/png", size=7, reference="att_2", name="shot.png"),
    ]


def test_pieces_of_one_message_are_joined(tmp_path: Path) -> None:
    def piece(at: int, text: str, kind: str = "text", message: str = "m_1") -> dict[str, Any]:
        return event("assistant.delta", at, messageId=message, kind=kind, delta=text)

    chat = read(
        tmp_path,
        ASKED,
        piece(100, "Let me ", "thinking"),
        event("status", 150, status="running"),
        piece(200, "see.", "thinking"),
        event("turn.usage", 250, usage={"inputTokens": 1, "outputTokens": 1}),
        piece(300, "One"),
        piece(400, " two"),
        piece(500, "\n\n", message="m_2"),
        event("assistant.done", 600, messageId="m_2"),
        piece(700, "three", message="m_2"),
        piece(700, "", message="m_2"),
    )
    spoken = [
        (event.text, event.id, event.started, event.at) for event in chat.events if isinstance(event, Said | Thought)
    ]
    assert spoken == [
        ("Let me see.", "m_1:3", START, START + 200),
        ("One two", "m_1:6", START + 200, START + 400),
        ("\n\n", "m_2:7", START + 400, START + 500),
        ("three", "m_2:9", START + 600, START + 700),
    ]
    assert set(chat.messages) == {"m_1", "m_2"}
    assert chat.completed is None


def test_words_begin_when_an_answer_was_given(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        ASKED,
        event("permission.requested", 100, permissionId="p", toolName="Bash", input={}, summary="Run it"),
        event("permission.resolved", 700, permissionId="p", decision="allow"),
        SAID,
    )
    assert only(chat, Said).started == START + 700


CALLS = [
    ({"command": "ls"}, {"command": "ls"}, None),
    ({}, {}, None),
    (None, {}, None),
    ("ls", {}, '"ls"'),
    ([1, 2], {}, "[1,2]"),
    ({"n": 12345678901234567890}, {"n": 12345678901234567890}, None),
]


@pytest.mark.parametrize(("logged", "arguments", "raw"), CALLS)
def test_arguments_are_an_object_or_kept_as_text(tmp_path: Path, logged: Any, arguments: Any, raw: str | None) -> None:
    called = only(read(tmp_path, ASKED, event("tool.started", toolUseId="t", name="X", input=logged)), Called)
    assert (called.id, called.name, called.arguments, called.raw) == ("t", "X", arguments, raw)


RESULTS: list[tuple[dict[str, Any], tuple[bool | None, str | None, str, int | None]]] = [
    ({"status": "success", "output": "a\n", "durationMs": 12}, (True, None, "a\n", 12)),
    ({"status": "error", "output": "no"}, (False, None, "no", None)),
    ({"status": "success"}, (True, None, "", None)),
    ({"status": "running"}, (None, None, "", None)),
    ({"status": "error", "output": "no", "approval": "declined"}, (False, "declined", "no", None)),
    ({"status": "success", "approval": "refused"}, (False, "refused", "", None)),
    ({"status": "success", "approval": "expired"}, (False, "expired", "", None)),
    ({"status": "success", "approval": "always", "output": "•••"}, (True, None, "•••", None)),
    ({"status": "error", "output": "Stopped."}, (False, None, "Stopped.", None)),
]


@pytest.mark.parametrize(("logged", "expected"), RESULTS)
def test_a_result_says_whether_and_how_it_ran(tmp_path: Path, logged: dict[str, Any], expected: Any) -> None:
    chat = read(tmp_path, ASKED, CALL, event("tool.finished", 200, toolUseId="t_1", **logged), ENDED)
    result = only(chat, Returned)
    assert (result.ok, result.not_run, text_of(result.parts), result.duration) == expected
    assert (result.call, result.linked) == ("t_1", "id")


def test_a_call_stopped_with_its_turn_did_not_run_to_its_end(tmp_path: Path) -> None:
    stopped = event("tool.finished", 200, toolUseId="t_1", status="error", output="Stopped.", durationMs=100)
    interrupted = event("turn.completed", 300, outcome="interrupted")
    chat = read(tmp_path, ASKED, CALL, stopped, interrupted)
    assert only(chat, Returned).not_run == "stopped"
    assert chat.completed is False
    assert [entry.not_run for entry in count(tmp_path, ASKED, CALL, stopped, interrupted).of("result")] == [True]
    assert [entry.not_run for entry in count(tmp_path, ASKED, CALL, stopped, ENDED).of("result")] == [False]


def test_labels_and_what_stands_beside_a_result_are_kept(tmp_path: Path) -> None:
    label = {
        "family": "verify",
        "doing": "Running",
        "done": "Ran",
        "outcome": "1 failed",
        "subject": "pytest",
        "failed": True,
        "effects": [
            {"kind": "file", "text": "Changed a.py", "target": "a.py"},
            {"kind": "sent", "text": "Sent a message", "target": "#builds"},
        ],
    }
    where = {"kind": "ssh", "name": "box"}
    chat = read(
        tmp_path,
        ASKED,
        CALL,
        event("tool.finished", 200, toolUseId="t_1", status="success", label=label, where=where, view={"kind": "x"}),
    )
    assert only(chat, Returned).label == model.Label("verify", "Running", "Ran", "1 failed", "pytest", True)
    assert notes(chat) == [("where", "Ran in box", "ssh"), ("effect", "Sent a message", "#builds")]
    assert [event.call for event in chat.events if isinstance(event, Noted)] == ["t_1", "t_1"]
    assert reports(chat) == [("left-out", 1)]


def test_a_result_without_its_call_is_kept_as_an_orphan(tmp_path: Path) -> None:
    chat = read(tmp_path, ASKED, event("tool.finished", 200, toolUseId="t_9", status="success", output="lost?"))
    result = only(chat, Returned)
    assert (result.call, result.linked, result.parts) == (None, None, [Text("lost?")])
    assert reports(chat) == [("orphan-result", 1)]
    assert "t_9" in chat.diagnostics[0].text


def test_what_is_logged_again_is_read_once(tmp_path: Path) -> None:
    finished = event("tool.finished", 200, seq=2, toolUseId="t_1", status="success", output="a")
    lines = [
        ASKED,
        {**CALL, "seq": 1},
        {**CALL, "seq": 1},
        finished,
        finished,
        {**finished, "seq": 7, "at": START + 300},
    ]
    chat = read(tmp_path, *lines, {**ASKED, "at": START + 400})
    assert [type(event).__name__ for event in chat.events] == ["Asked", "Called", "Returned"]
    assert sum(report.count for report in chat.diagnostics if report.kind == "repeated-record") == 4
    assert [entry.kind for entry in count(tmp_path, *lines, {**ASKED, "at": START + 400}).entries] == [
        "prompt",
        "call",
        "result",
    ]


def test_numbers_used_again_after_a_restart_lose_nothing(tmp_path: Path) -> None:
    first = event("assistant.delta", 100, seq=5, messageId="m_1", kind="text", delta="one")
    chat = read(tmp_path, ASKED, first, {**CALL, "seq": 5}, {**first, "messageId": "m_2", "delta": "two"})
    assert [event.text for event in chat.events if isinstance(event, Said)] == ["one", "two"]


def test_two_results_of_one_call_both_stand(tmp_path: Path) -> None:
    stopped = event("tool.finished", 200, toolUseId="t_1", status="error", output="Stopped.")
    late = event("tool.finished", 300, toolUseId="t_1", status="success", output="a b")
    chat = read(tmp_path, ASKED, CALL, stopped, late)
    assert [(event.call, text_of(event.parts)) for event in chat.events if isinstance(event, Returned)] == [
        ("t_1", "Stopped."),
        ("t_1", "a b"),
    ]
    assert reports(chat) == [("second-result", 1)]


def test_the_calls_of_a_script_name_the_call_they_were_made_in(tmp_path: Path) -> None:
    def run(at: int, **fields: Any) -> dict[str, Any]:
        return event("script.run", at, runId="r_1", toolUseId="t_1", title="Check all", script="return 1", **fields)

    def call(at: int, step: int, given: str, **fields: Any) -> dict[str, Any]:
        identity = f"s_{step}"
        return event("script.call", at, runId="r_1", callId=identity, step=step, tool="Read", input=given, **fields)

    lines = [
        ASKED,
        CALL,
        run(110, state="running", calls=0, tally=[]),
        call(120, 1, '{"file_path":"a"}', status="running"),
        call(130, 1, '{"file_path":"a"}', status="success", output="A", durationMs=10),
        call(140, 2, '{"file_path":"long and cu', status="running"),
        call(150, 2, '{"file_path":"long and cu', status="declined"),
        run(160, state="done", calls=2, tally=[], result="2 read"),
    ]
    chat = read(tmp_path, *lines)
    made = [event for event in chat.events if isinstance(event, Called)][1:]
    assert [(call.id, call.within, call.step, call.arguments, call.raw) for call in made] == [
        ("s_1", "t_1", 1, {"file_path": "a"}, None),
        ("s_2", "t_1", 2, {}, '{"file_path":"long and cu'),
    ]
    results = [event for event in chat.events if isinstance(event, Returned)]
    assert [(each.call, each.ok, each.not_run, each.duration) for each in results] == [
        ("s_1", True, None, 10),
        ("s_2", False, "declined", None),
    ]
    assert notes(chat) == [("script", "Check all: done, 2 calls", "2 read")]
    # The model did not make these calls: its ledger has them aside.
    ledger = count(tmp_path, *lines)
    assert [entry.id for entry in ledger.of("call")] == ["t_1"]
    assert [(entry.kind, entry.id, entry.ok) for entry in ledger.aside] == [
        ("call", "s_1", None),
        ("result", "s_1", True),
        ("call", "s_2", None),
        ("result", "s_2", False),
    ]


# --- what the run waited for

REQUEST = {
    "permissionId": "p_1",
    "toolUseId": "t_1",
    "toolName": "Bash",
    "input": {"command": "ls"},
    "summary": "Run `ls`",
}
DECISIONS = ["allow", "allow-always", "deny", "expired"]


@pytest.mark.parametrize("decision", DECISIONS)
def test_a_permission_and_its_answer_are_one_event(tmp_path: Path, decision: str) -> None:
    chat = read(
        tmp_path,
        ASKED,
        CALL,
        event("permission.requested", 200, **REQUEST),
        event("permission.resolved", 60_200, permissionId="p_1", decision=decision),
    )
    asked = only(chat, Permission)
    assert (asked.id, asked.title, asked.detail, asked.call) == ("p_1", "Run `ls`", None, "t_1")
    assert (asked.at, asked.answered, asked.decision) == (START + 200, START + 60_200, decision)
    assert asked.question is False


def test_a_permission_that_nobody_answered_still_waits(tmp_path: Path) -> None:
    asked = only(read(tmp_path, ASKED, event("permission.requested", 200, **REQUEST), ENDED), Permission)
    assert (asked.answered, asked.decision) == (None, None)


def test_a_permission_keeps_what_the_person_was_told(tmp_path: Path) -> None:
    request = {
        **REQUEST,
        "toolUseId": None,
        "title": "List files",
        "detail": "In your folder",
        "cost": "$0.01",
        "caution": "Careful.",
        "taint": "This chat read a page.",
        "browser": {
            "kind": "fill",
            "site": "example.com",
            "url": "https://example.com",
            "title": "Form",
            "action": "fill",
        },
        "vault": {"action": "fill", "itemTitle": "Bank", "itemType": "login", "fieldLabel": "PIN", "sensitive": True},
        "script": {"runId": "r", "step": 1, "title": "Check all"},
    }
    asked = only(read(tmp_path, ASKED, event("permission.requested", 200, **request)), Permission)
    assert asked.title == "List files"
    assert asked.detail.split("\n") == [
        "Run `ls`",
        "In your folder",
        "$0.01",
        "Careful.",
        "This chat read a page.",
        "fill · Form · https://example.com",
        "fill · Bank · PIN",
        "Check all",
        '{"command":"ls"}',
    ]


def test_an_answer_to_nothing_is_kept_and_told(tmp_path: Path) -> None:
    chat = read(tmp_path, ASKED, event("permission.resolved", 200, permissionId="p_9", decision="deny"))
    assert notes(chat) == [("answer", "deny", None)]
    assert reports(chat) == [("orphan-answer", 1)]


QUESTION = {
    "questionId": "q_1",
    "fields": [
        {
            "id": "f1",
            "label": "Also the report?",
            "kind": "choice",
            "options": [{"id": "y", "label": "Yes"}, {"label": "No"}],
        },
        {"id": "f2", "label": "When?", "kind": "date"},
    ],
}
WAITS: list[tuple[dict[str, Any], dict[str, Any] | None, tuple[Any, ...]]] = [
    (
        event("question", 100, question=QUESTION),
        event("question.answered", 400, questionId="q_1", answer={"values": {"f1": "y"}, "text": "Yes, today"}),
        ("q_1", "Also the report? · When?", "Also the report?: Yes / No", START + 400, "answered", "Yes, today"),
    ),
    (
        event("question", 100, question={**QUESTION, "title": "Two things"}),
        event("question.answered", 400, questionId="q_1", answer=None),
        ("q_1", "Two things", "Also the report?: Yes / No", START + 400, "dismissed", None),
    ),
    (
        event("question", 100, question=QUESTION),
        event("question.answered", 400, questionId="q_1", answer={"values": {"f1": "y"}}),
        ("q_1", "Also the report? · When?", "Also the report?: Yes / No", START + 400, "answered", '{"f1":"y"}'),
    ),
    (
        event("question", 100, question=QUESTION),
        None,
        ("q_1", "Also the report? · When?", "Also the report?: Yes / No", None, None, None),
    ),
    (
        event(
            "browser.handoff",
            100,
            handoff={"handoffId": "h", "state": "waiting", "reason": "Sign in", "url": "https://e.com"},
        ),
        event(
            "browser.handoff",
            400,
            handoff={"handoffId": "h", "state": "cancelled", "reason": "Sign in", "url": "https://e.com"},
        ),
        ("h", "Sign in", "https://e.com", START + 400, "dismissed", None),
    ),
    (
        event("vault.request", 100, request={"requestId": "v", "kind": "unlock", "state": "waiting", "site": "e.com"}),
        event("vault.request", 400, request={"requestId": "v", "kind": "unlock", "state": "expired", "site": "e.com"}),
        ("v", "Unlock the passwords", "e.com", START + 400, "expired", None),
    ),
    (
        event("turn.capped", 100, limit="chat", spentUsd=2, limitUsd=2.0, raiseTo=4),
        event("turn.capped.settled", 400, outcome="raised"),
        ("capped-2", "This chat reached its spending limit of $2.00", "$2.00 spent", START + 400, "answered", "raised"),
    ),
]


@pytest.mark.parametrize(("asked", "answered", "expected"), WAITS)
def test_whatever_a_person_had_to_do_is_a_question(
    tmp_path: Path, asked: dict[str, Any], answered: dict[str, Any] | None, expected: tuple[Any, ...]
) -> None:
    chat = read(tmp_path, ASKED, asked, *([answered] if answered else []))
    wait = only(chat, Permission)
    assert (wait.id, wait.title, wait.detail, wait.answered, wait.decision, wait.answer) == expected
    assert (wait.question, wait.at) == (True, START + 100)
    assert reports(chat) == []


# --- what the work left


def test_tasks_and_browser_steps_stand_where_they_were_first_seen(tmp_path: Path) -> None:
    def task(at: int, state: str, **fields: Any) -> dict[str, Any]:
        return event("task", at, taskId="k", title="Recheck", kind="helper", state=state, **fields)

    def step(at: int, status: str, label: str, **fields: Any) -> dict[str, Any]:
        logged = {"stepId": "b", "status": status, "action": "open", "label": label, "url": "https://e.com", **fields}
        return event("browser.step", at, step=logged)

    chat = read(
        tmp_path,
        ASKED,
        task(100, "running", by="Scout"),
        step(200, "running", "Opening e.com", title=""),
        task(300, "done", summary="All match."),
        step(400, "error", "Opened e.com", title="E", shot="s.jpg", by="user"),
    )
    handed, browsed = only(chat, HandedOff), only(chat, Browsed)
    assert (handed.at, handed.state, handed.summary, handed.by, handed.ended, handed.kind) == (
        START + 100,
        "done",
        "All match.",
        "Scout",
        START + 300,
        "helper",
    )
    assert (browsed.at, browsed.label, browsed.title, browsed.status) == (START + 200, "Opened e.com", "E", "error")
    assert (browsed.url, browsed.shot, browsed.action, browsed.by) == ("https://e.com", "s.jpg", "open", "you")


def test_files_pages_memories_and_compaction(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        ASKED,
        event(
            "files.changed",
            1,
            changeSetId="cs",
            toolUseId="t_1",
            label="Made a.md",
            files=[{"path": "a.md", "kind": "created"}],
        ),
        event(
            "artifact", 2, artifactId="art", title="Note", kind="markdown", version=2, action="edited", note="shorter"
        ),
        event("memory.saved", 3, memory={"id": "mem", "content": "Round once.", "kind": "project", "source": "agent"}),
        event("context.compacted", 4, summary="Earlier: rounding.", engine="openrouter", turns=1, asked=True),
    )
    changed, made, remembered, compacted = (only(chat, kind) for kind in (FilesChanged, Made, Remembered, Compacted))
    assert (changed.id, changed.label, changed.call, changed.files) == (
        "cs",
        "Made a.md",
        "t_1",
        [FileChange("a.md", "created")],
    )
    assert (made.id, made.version, made.title, made.kind, made.action, made.note) == (
        "art",
        2,
        "Note",
        "markdown",
        "edited",
        "shorter",
    )
    assert (remembered.id, remembered.text, remembered.kind) == ("mem", "Round once.", "project")
    assert (compacted.summary, compacted.trigger) == ("Earlier: rounding.", "manual")


ENDS: list[tuple[dict[str, Any], Answered]] = [
    (
        {
            "outcome": "success",
            "engine": "claude-code",
            "model": "model-x",
            "usage": {
                "inputTokens": 6400,
                "outputTokens": 710,
                "cachedInputTokens": 4100,
                "cacheWriteTokens": 9,
                "durationMs": 5,
            },
            "cost": {"billing": "metered", "usd": 0.0312, "priced": "list", "savedUsd": 0.008},
        },
        Answered(
            id="1",
            outcome="success",
            usage=Usage(6400, 710, 4100, 9),
            cost=Cost(0.0312, "metered", 0.008),
            model="model-x",
            engine="claude-code",
            duration=5,
        ),
    ),
    (
        {"outcome": "success", "usage": {"inputTokens": 1, "outputTokens": 2, "costUsd": 0.01}},
        Answered(id="1", outcome="success", usage=Usage(1, 2), cost=Cost(0.01)),
    ),
    (
        {"outcome": "success", "usage": {"inputTokens": 1, "costUsd": 0.01}, "cost": {"billing": "free"}},
        Answered(id="1", outcome="success", usage=Usage(1), cost=Cost(None, "free")),
    ),
    ({"outcome": "interrupted"}, Answered(id="1", outcome="interrupted")),
    (
        {"outcome": "error", "error": "The provider stopped answering.", "problem": "unavailable"},
        Answered(id="1", outcome="error", problem="The provider stopped answering."),
    ),
    ({"outcome": "error", "problem": "limit"}, Answered(id="1", outcome="error", problem="limit")),
]


@pytest.mark.parametrize(("logged", "expected"), ENDS)
def test_the_end_of_a_turn(tmp_path: Path, logged: dict[str, Any], expected: Answered) -> None:
    ended = only(read(tmp_path, ASKED, event("turn.completed", 700, **logged)), Answered)
    expected.at, expected.place = START + 700, Place("c_1.jsonl", 2)
    assert ended == expected


def test_every_end_of_a_turn_counts(tmp_path: Path) -> None:
    """A turn routed to another provider has two ends after one prompt."""
    lines = [
        ASKED,
        event(
            "turn.completed", 100, outcome="error", engine="a", model="x", usage={"inputTokens": 5, "outputTokens": 1}
        ),
        event("turn.routed", 110, **{"from": "a", "to": "b", "reason": "limit", "message": "So b answered."}),
        SAID,
        event(
            "turn.completed", 950, outcome="success", engine="b", model="y", usage={"inputTokens": 7, "outputTokens": 2}
        ),
    ]
    chat = read(tmp_path, *lines)
    assert [event.usage for event in chat.events if isinstance(event, Answered)] == [Usage(5, 1), Usage(7, 2)]
    assert (chat.models, chat.providers, chat.completed) == (["x", "y"], ["a", "b"], True)
    assert notes(chat) == [("model", "So b answered.", "a → b: limit")]
    assert count(tmp_path, *lines).usage == Usage(12, 3)


NOTES: list[tuple[dict[str, Any], tuple[str, str, str | None]]] = [
    (event("narration", text="Reading"), ("narration", "Reading", None)),
    (event("story.titled", storyId="t", headline="Fixed it", outcome="1 failed"), ("story", "Fixed it", "1 failed")),
    (event("memory.forgotten", memoryId="m", content="Old"), ("memory", "Forgot something", "Old")),
    (event("memory.decided", memoryId="m", kept=False), ("memory", "Did not keep a memory", None)),
    (
        event(
            "learning.noted",
            items=[{"entryId": "l", "text": "Round once.", "change": "added", "state": "applied", "was": "x"}],
        ),
        ("learning", "Round once.", "added, applied\nBefore: x"),
    ),
    (event("learning.decided", entryId="l", state="kept"), ("learning", "What it learned was kept", None)),
    (event("taint", source={"kind": "web", "label": "e.com"}), ("taint", "Took in what e.com says", "web")),
    (
        event(
            "chats.looked",
            action="search",
            query="rounding",
            chats=[{"id": "c", "title": "Old", "lines": [{"who": "you", "text": "hm"}]}],
        ),
        ("chats", "Searched other chats for “rounding”", "Old\n  you: hm"),
    ),
    (
        event("files.restored", direction="undo", files=[{"path": "a"}, {"path": "b"}]),
        ("files", "Took a change back", "a\nb"),
    ),
    (event("title", title="Another"), ("title", "Another", None)),
    (event("options", options={"engine": "e", "fastMode": True}), ("options", "engine: e, fastMode: True", None)),
    (event("goal", goal="Green"), ("goal", "Green", None)),
    (event("goal", goal=None), ("goal", "The goal was dropped", None)),
    (event("notice", code="retry", message="Busy."), ("notice", "Busy.", "retry")),
    (event("notice"), ("notice", "notice", None)),
    (
        event("round", state="ended", turns=2, reason="done", speakers=[{"name": "A"}, {"name": "B"}]),
        ("round", "A round of agents: ended, 2 turns, done", "A, B"),
    ),
    (event("peer.message", name="Out", text="Right.", failed=True), ("peer", "Right.", "It failed")),
    (event("spend.notice", kind="pricier", message="It costs more."), ("spending", "It costs more.", "pricier")),
    (event("skill.used", name="t", title="Tidy", by="user"), ("skill", "Used the skill Tidy", "user")),
    (event("skill.hold.ended", title="Tidy", reason="you"), ("skill", "Let go of the skill Tidy", "you")),
    (event("turn.held", reason="offline"), ("held", "Waited before it began: offline", None)),
    (
        event("turn.needs-apps", needs=[{"kind": "app", "name": "Linear"}], model={"label": "Y"}),
        ("needs", "It needs Linear", "Y"),
    ),
    (event("context.cleared"), ("context", "The agent no longer sees what stands above", None)),
    (event("context.restored", clearedSeq=1), ("context", "The agent sees again what stood above", None)),
    (event("routine", action="proposed", title="Check"), ("routine", "Check", "proposed")),
    (event("standing.order", text="Always."), ("standing order", "Always.", None)),
    (event("integration.issue", name="L", state="error", message="No."), ("app", "L: No.", "error")),
    (event("integration.suggestion", name="L", description="Issues."), ("offer", "L: Issues.", None)),
    (event("integration.suggestion.dismissed", catalogId="l"), ("offer", "l: dismissed", None)),
    (
        event("offer", offer={"name": "L", "description": "Issues.", "why": "You asked."}),
        ("offer", "L: Issues.", "You asked."),
    ),
    (event("offer.resolved", outcome="expired"), ("offer", "An offer was expired", None)),
    (
        event("conch-app.offer", offer={"manifest": {"name": "I", "tagline": "Tidy."}}),
        ("app", "I: Tidy.", None),
    ),
    (event("conch-app.share", share={"name": "I"}), ("app", "Shared I", None)),
    (event("replies", replies=[{"text": "A"}, {"text": "B"}]), ("replies", "It offered replies", "A\nB")),
    (
        event(
            "plan",
            steps=[
                {"title": "A", "status": "done"},
                {"title": "B", "status": "active"},
                {"title": "C", "status": "pending"},
            ],
        ),
        ("plan", "Plan: 1 of 3 done", "[x] A\n[~] B\n[ ] C"),
    ),
    (
        event("browser.handoff", handoff={"handoffId": "h", "state": "done", "reason": "Sign in", "url": "u"}),
        ("request", "Sign in", "u"),
    ),
]


@pytest.mark.parametrize(("logged", "expected"), NOTES, ids=[logged["type"] for logged, _ in NOTES])
def test_what_is_no_work_of_its_own_becomes_a_note(
    tmp_path: Path, logged: dict[str, Any], expected: tuple[str, str, str | None]
) -> None:
    chat = read(tmp_path, ASKED, logged, event("title", title="The last title"))
    assert notes(chat) == [expected]
    assert chat.title == "The last title"


def test_the_end_of_a_turn_says_why_it_paused_or_was_cut(tmp_path: Path) -> None:
    more = {"paused": {"reason": "steps", "message": "After 100 steps."}, "restarted": {"resumed": False}}
    assert notes(read(tmp_path, ASKED, {**ENDED, **more})) == [
        ("paused", "After 100 steps.", "steps"),
        ("restarted", "Conch was restarted during this turn, which did not go on after it", None),
    ]


def test_another_agent_is_named_where_it_speaks(tmp_path: Path) -> None:
    lines = [
        ASKED,
        SAID,
        event("agent", 950, agentId="ag_2", name="Scout", **{"from": {"agentId": "ag_1", "name": "Pearl"}}),
    ]
    lines += [{**SAID, "at": START + 960, "messageId": "m_2"}, event("peer.message", 970, name="Out", text="Right.")]
    chat = read(tmp_path, *lines)
    assert chat.agent.name == "Scout"
    assert [event.by for event in chat.events if isinstance(event, Said)] == ["Pearl", None]
    assert [event.by for event in chat.events if isinstance(event, Noted)] == [None, "Out"]


# --- the files beside the log

AGENTS = {"version": 1, "defaultId": "ag_2", "agents": [{"id": "ag_1", "name": "Ada"}, {"id": "ag_2", "name": "Bo"}]}
WITH_CONCH = {**AGENTS, "agents": [*AGENTS["agents"], {"id": "ag_conch", "name": "Pearl"}]}  # type: ignore[misc]
PICKS: list[tuple[Any, dict[str, Any] | None, str | None, str]] = [
    # agents.json, the index record, the log's last agent event, the name
    (AGENTS, {"id": "c_1", "agentId": "ag_1"}, None, "Ada"),
    (AGENTS, {"id": "c_1", "agentId": "ag_1"}, "ag_2", "Ada"),
    (AGENTS, {"id": "c_1", "agentId": "ag_gone"}, None, "Bo"),
    (AGENTS, {"id": "c_1"}, None, "Bo"),
    (WITH_CONCH, {"id": "c_1"}, None, "Pearl"),
    (WITH_CONCH, {"id": "c_1", "agentId": "ag_gone"}, None, "Bo"),
    (AGENTS, None, "ag_1", "Ada"),
    (WITH_CONCH, None, None, "Pearl"),
    (None, {"id": "c_1", "agentId": "ag_7"}, "ag_7", "Seven"),
    (None, {"id": "c_1", "agentId": "ag_1"}, None, "Conch"),
    (None, None, None, "Conch"),
    ({"agents": "none"}, {"id": "c_1", "agentId": 5}, None, "Conch"),
    ({**AGENTS, "defaultId": "ag_9"}, {"id": "c_1"}, None, "Conch"),
]


@pytest.mark.parametrize(("agents", "record", "in_log", "name"), PICKS)
def test_which_agent_a_chat_belongs_to(
    tmp_path: Path, agents: Any, record: dict[str, Any] | None, in_log: str | None, name: str
) -> None:
    lines = [ASKED, *([event("agent", agentId=in_log, name="Seven")] if in_log else [])]
    _beside(tmp_path, None if record is None else [record], agents)
    assert read(tmp_path, *lines).agent.name == name


ORIGINS: list[tuple[Any, Origin]] = [
    ({"kind": "routine", "routineId": "rt", "runId": "rr"}, Origin("routine", "rt")),
    ({"kind": "task", "taskId": "tk", "standalone": True}, Origin("task", "tk")),
    ({"kind": "artifact", "artifactId": "art"}, Origin("artifact", "art")),
    ({"kind": "channel", "channelId": "ch", "channel": "telegram"}, Origin("channel", "ch", "telegram")),
    ({"kind": "client", "clientId": "cl", "name": "Editor"}, Origin("client", "cl", "Editor")),
    ({"kind": "peer", "clientId": "pe", "name": "Other"}, Origin("chat", "pe", "Other")),
    ({"kind": "something new"}, Origin("chat")),
    ("routine", Origin("chat")),
    (None, Origin("chat")),
]


@pytest.mark.parametrize(("logged", "origin"), ORIGINS)
def test_how_a_chat_came_to_be_stands_in_the_index(tmp_path: Path, logged: Any, origin: Origin) -> None:
    _beside(tmp_path, [{"id": "c_1", "title": "T", "origin": logged}])
    path = log_of(tmp_path, [ASKED])
    assert conch.read(found_in(path), UTC).origin == origin
    assert found_in(path).origin == origin.kind


INDEXES: list[tuple[bytes | None, str]] = [
    (None, "There is no index.json beside the log"),
    (b"", "index.json is damaged"),
    (b'[{"id":"c_1","ti', "index.json is damaged"),
    (b'{"id":"c_1"}', "index.json is no list of chats"),
    (b"[" * 5000, "index.json is damaged"),
    (b'[1,null,{"id":7},{"id":"c_2","title":"Not this"}]', "The index does not have this chat"),
]


@pytest.mark.parametrize(("index", "why"), INDEXES)
def test_without_an_index_the_log_says_what_it_can(tmp_path: Path, index: bytes | None, why: str) -> None:
    path = log_of(
        tmp_path,
        [
            ASKED,
            event("options", options={"engine": "ollama"}),
            event("title", title="One"),
            event("title", title="Two"),
            SAID,
        ],
    )
    if index is not None:
        (path.parent / "index.json").write_bytes(index)
    chat = conch.read(found_in(path), UTC)
    assert (chat.title, chat.origin, chat.providers) == ("Two", Origin(), ["ollama"])
    assert (chat.started, chat.ended) == (START, START + 900)
    assert notes(chat) == [("options", "engine: ollama", None), ("title", "One", None)]
    [report] = [report for report in chat.diagnostics if report.kind == "no-index"]
    assert report.text.startswith(why)
    found = found_in(path)
    assert (found.title, found.started, found.origin) == ("Two", START, "chat")


TITLES: list[tuple[Any, str | None]] = [
    ("By a person", "By a person"),
    ("Untitled chat", "From the log"),
    ("", "From the log"),
    (5, "From the log"),
    (None, "From the log"),
]


@pytest.mark.parametrize(("in_index", "title"), TITLES)
def test_the_index_names_the_chat(tmp_path: Path, in_index: Any, title: str) -> None:
    _beside(tmp_path, [{"id": "c_1", "title": in_index}])
    assert read(tmp_path, ASKED, event("title", title="From the log")).title == title


def test_a_chat_without_any_title_is_named_after_redaction(tmp_path: Path) -> None:
    path = log_of(tmp_path, [ASKED])
    assert conch.read(found_in(path), UTC).title is None
    assert found_in(path).title == "Go"


def test_a_changed_index_changes_only_what_is_made_of_it(tmp_path: Path) -> None:
    path = log_of(tmp_path, [ASKED])
    prints = []
    for title, seen in (("A", 1), ("A", 22), ("B!", 22)):
        _beside(tmp_path, [{"id": "c_1", "title": title, "seenAt": seen}])
        prints.append(found_in(path).fingerprint)
    assert prints[0] == prints[1] != prints[2]
    with path.open("a") as log:
        log.write(json.dumps(SAID) + "\n")
    assert found_in(path).fingerprint not in prints


def _beside(home: Path, index: list[Any] | None, agents: Any = None) -> None:
    (home / "conversations").mkdir(parents=True, exist_ok=True)
    if index is not None:
        (home / "conversations" / "index.json").write_text(json.dumps(index, indent=2))
    if agents is not None:
        (home / "agents").mkdir(exist_ok=True)
        (home / "agents" / "agents.json").write_text(json.dumps(agents, indent=2))


# --- where Conch lies


def test_where_conch_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCH_HOME", str(tmp_path))
    assert conch.PLACES.logs() == [tmp_path / "conversations"]
    assert conch.PLACES.stores() == [tmp_path, Path.home() / ".conch"]
    assert conch.PLACES.allowed() == [tmp_path / "workspace", Path.home() / ".conch" / "workspace"]
    monkeypatch.delenv("CONCH_HOME")
    assert conch.PLACES.logs() == [Path.home() / ".conch" / "conversations"]
    assert conch.PLACES.stores() == [Path.home() / ".conch"]


PEOPLE = [{"kind": "person", "text": "Lina"}, {"kind": "work", "text": "A shop"}, {"kind": "person", "text": 5}, 7]
SETTINGS: list[tuple[bytes | None, tuple[str, ...]]] = [
    (json.dumps({"profile": {"name": "Ada Marlow", "facts": PEOPLE}}).encode(), ("Ada Marlow", "Lina")),
    (b'{"profile":{"name":""}}', ()),
    (b'{"profile":[]}', ()),
    (b'{"prof', ()),
    (b"[]", ()),
    (None, ()),
]


@pytest.mark.parametrize(("settings", "names"), SETTINGS)
def test_the_names_that_conch_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: bytes | None, names: tuple[str, ...]
) -> None:
    monkeypatch.setenv("CONCH_HOME", str(tmp_path))
    if settings is not None:
        (tmp_path / "settings.json").write_bytes(settings)
    assert conch.PLACES.names() == Names(names)
    monkeypatch.setenv("CONCH_HOME", str(tmp_path / "another"))
    log = log_of(tmp_path, [event("user.message", messageId="u", text="x")])
    assert found_in(log).names == names, "a home that is not this person's own knows names, too"


def test_a_log_that_lies_by_itself_has_nobody_s_settings(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_bytes(SETTINGS[0][0] or b"")
    log = log_of(tmp_path / "home", [event("user.message", messageId="u", text="x")])
    (tmp_path / "downloads").mkdir()
    assert found_in(log.rename(tmp_path / "downloads" / log.name)).names == ()


def test_the_files_beside_a_log_are_no_chats(tmp_path: Path) -> None:
    shutil.copytree(SAMPLE, tmp_path / "home")
    conversations = tmp_path / "home" / "conversations"
    log = conversations / f"{BIG}.jsonl"
    shutil.copy(conversations / "index.json", conversations / "index.broken-1791450000000.json")
    shutil.copy(log, conversations / f"{BIG}.jsonl.0a1b2c3d.tmp")
    (tmp_path / "home" / "notes.txt").write_text("nothing of ours")
    chats, passed, others = [], {}, []
    for path in sorted(path for path in tmp_path.rglob("*") if path.is_file()):
        answer = conch.find(path, path.read_bytes()[:HEAD_BYTES])
        if isinstance(answer, Passed):
            passed[path.name] = answer.why
        elif answer:
            chats += [found.id for found in answer]
        else:
            others.append(path.name)
    assert chats == ["c_5d6e7f8a9b0c", BIG]
    assert others == ["notes.txt"]
    assert passed == {
        "index.json": "the index of Conch's chats, read with each of them",
        "index.broken-1791450000000.json": "a damaged copy of the index, kept by Conch",
        f"{BIG}.jsonl.0a1b2c3d.tmp": "a copy that Conch had not finished writing",
        "agents.json": "the list of Conch's agents, read with each chat",
        "settings.json": "the settings of Conch, no chat",
    }


def test_a_log_says_what_a_list_needs() -> None:
    found = found_in(SAMPLE / "conversations" / "c_5d6e7f8a9b0c.jsonl")
    assert (found.reader, found.id, found.title) == ("conch", "c_5d6e7f8a9b0c", "Morning brief")
    assert (found.started, found.updated, found.origin) == (1791363600000, 1791363604100, "routine")
    assert [path.name for path in found.inputs] == ["c_5d6e7f8a9b0c.jsonl", "index.json", "agents.json"]


HEADS: list[tuple[bytes, bool]] = [
    (b'{"conversationId":"c_1","seq":0,"at":1,"type":"user.message","messageId":"u","text":"x"}\n', True),
    (b'\xef\xbb\xbf{"conversationId":"c_1","seq":0,"at":1,"type":"title","title":"x"}\r\n', True),
    (b'{"type":"title","title":"x","at":1,"seq":0,"conversationId":"c_1"}', True),
    (b'{"conversationId":"c_1","se\n{"conversationId":"c_1","seq":0,"at":1,"type":"title","title":"x"}\n', True),
    (b'{"conversationId":"c_1","seq":0,"at":1,"type":"user.message","text":"' + b"x" * HEAD_BYTES, True),
    (b'{"conversationId":"c_1","seq":0}\n', False),
    (b'{"conversationId":7,"seq":0,"at":1,"type":"title"}\n', False),
    (b'{"type":"user","sessionId":"s","uuid":"u"}\n', False),
    (b"[1]\n", False),
    (b"\n", False),
    (b"\xff\xfe\x00", False),
    (b'{"a":' * 20_000, False),
]


@pytest.mark.parametrize(("head", "known"), HEADS)
def test_a_log_is_known_by_its_first_events(tmp_path: Path, head: bytes, known: bool) -> None:
    path = tmp_path / "c_1.jsonl"
    path.write_bytes(head)
    answer = conch.find(path, head[:HEAD_BYTES])
    assert [found.id for found in answer or [] if isinstance(found, Found)] == (["c_1"] if known else [])


def test_an_id_that_is_none_gives_way_to_the_name_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "copy.jsonl"
    path.write_text(json.dumps({**ASKED, "conversationId": "../../etc/passwd"}))
    assert found_in(path).id == "copy"


# --- older shapes and damage


def test_the_earliest_logs_are_read(tmp_path: Path) -> None:
    """No labels, no agents, no numbers of cached tokens, no cost beside usage, browser steps logged once."""
    chat = read(
        tmp_path,
        event("user.message", 0, messageId="u_1", text="Deploy"),
        event("tool.started", 100, toolUseId="t", name="Bash", input={"command": "make"}),
        event(
            "permission.requested",
            110,
            permissionId="p",
            toolName="Bash",
            input={"command": "make"},
            summary="Run `make`",
        ),
        event("permission.resolved", 210, permissionId="p", decision="allow"),
        event("tool.finished", 300, toolUseId="t", status="success", output="ok"),
        event(
            "browser.step",
            310,
            step={"stepId": "b", "action": "open", "label": "Opened e.com", "url": "https://e.com", "title": "E"},
        ),
        event("integration.suggestion", 320, catalogId="l", name="L", description="Issues."),
        event("options", 330, options={"model": "m", "permissionMode": "acceptEdits"}),
        event("assistant.delta", 400, messageId="m_1", kind="text", delta="Deployed."),
        event("turn.completed", 410, outcome="success", usage={"inputTokens": 10, "outputTokens": 2, "costUsd": 0.5}),
    )
    assert reports(chat) == []
    assert [type(event).__name__ for event in chat.events] == [
        *("Asked", "Called", "Permission", "Returned", "Browsed", "Noted", "Noted", "Said", "Answered")
    ]
    assert only(chat, Browsed).status == "done"
    assert only(chat, Permission).detail == '{"command":"make"}'
    assert (only(chat, Answered).usage, only(chat, Answered).cost) == (Usage(10, 2), Cost(0.5))
    assert chat.agent.name == "Conch"


def test_unknown_types_are_told_once_each(tmp_path: Path) -> None:
    chat = read(tmp_path, ASKED, event("brand.new"), event("brand.new"), event("other.new"), {"no": "type"}, ENDED)
    assert [
        (report.text, report.count, report.lost) for report in chat.diagnostics if report.kind == "unknown-record"
    ] == [
        ("Events of the type “brand.new” are not known here: they were passed over.", 2, True),
        ("Events of the type “other.new” are not known here: they were passed over.", 1, True),
        ("A line is no event of a chat: it was passed over.", 1, True),
    ]
    assert len(chat.events) == 2


@pytest.mark.parametrize("lines", [b"\n", b"", b'{"conversationId":"c_1","seq":0,"at":1,"type":"brand.new"}\n'])
def test_a_log_in_which_nothing_was_recognised_is_an_error(tmp_path: Path, lines: bytes) -> None:
    path = tmp_path / "c_1.jsonl"
    path.write_bytes(lines)
    found = Found("conch", "c_1", path, (path,), "")
    with pytest.raises(Unreadable, match=r"^c_1\.jsonl has no event of a Conch chat in it"):
        conch.read(found, UTC)


def test_a_log_cut_anywhere_is_read_up_to_there(tmp_path: Path) -> None:
    whole = log_of(tmp_path, [ASKED, CALL, SAID, ENDED]).read_bytes()
    first = whole.index(b"\n")
    path = tmp_path / "cut.jsonl"
    found = Found("conch", "c_1", path, (path,), "")
    for end in range(first, len(whole)):
        path.write_bytes(whole[:end])
        chat = conch.read(found, UTC)
        lines = whole[:end].count(b"\n") + (whole[end : end + 1] == b"\n")
        assert len(chat.events) == lines
        cut = whole[:end].endswith(b"\n") or whole[end : end + 1] == b"\n"
        assert [kind for kind, _ in reports(chat)] == ([] if cut else ["damaged-line"])


ODD: list[Any] = [None, "", "  ", "text", 0, -1, 1.5, 10**30, True, [], ["x"], [[]], [None], {}, {"x": 1}, "\ud800"]


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_a_value_of_any_type_in_any_field_is_tolerated(tmp_path: Path, odd: Any) -> None:
    """Every field of every event of the big log, at every depth, is given the odd value."""
    path = SAMPLE / "conversations" / f"{BIG}.jsonl"
    logged = [json.loads(line) for line in path.read_bytes().split(b"\n") if line.strip()]
    assert {line["type"] for line in logged} == set(EVENT_TYPES)
    lines = [changed for line in logged for changed in _with(line, odd)]
    assert len(lines) > 500
    spoiled = tmp_path / f"{BIG}.jsonl"
    spoiled.write_text("".join(json.dumps(line) + "\n" for line in [logged[0], *lines]))
    found = found_in(spoiled)
    chat = conch.read(found, UTC)
    _check_types(chat)
    _check_counted(spoiled, chat, conch.count(found, keep_nothing))


def _with(value: Any, odd: Any) -> Iterable[Any]:
    """Copies of a value, in each of which one field is odd."""
    items = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
    for key, item in items:
        for changed in [odd, *_with(item, odd)]:
            copy = value.copy()
            copy[key] = changed
            yield copy


def _check_types(value: Any) -> None:
    """That every field of the model holds what the model says it holds."""
    hints = typing.get_type_hints(type(value), vars(model) | {"JSON": Any})
    for each in dataclass_fields(value):
        item = getattr(value, each.name)
        assert _fits(item, hints[each.name]), (type(value).__name__, each.name, item)


def _fits(item: Any, hint: Any) -> bool:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return True
    if origin in (typing.Union, types.UnionType):
        return any(_fits(item, each) for each in arguments)
    if origin is list:
        return isinstance(item, list) and all(_fits(each, arguments[0]) for each in item)
    if origin is dict:
        return isinstance(item, dict) and all(_fits(each, arguments[1]) for each in item.values())
    if hint in (int, float):
        return isinstance(item, hint) and not isinstance(item, bool)
    if not isinstance(item, hint):
        return False
    if is_dataclass(item):
        _check_types(item)
    return True


# --- the counter


def _check_counted(path: Path, chat: Chat, ledger: Ledger) -> None:
    """That the counter, which shares nothing with the reader, found what the reader found."""
    expected: list[tuple[Any, ...]] = []
    aside: list[tuple[Any, ...]] = []
    logged = path.read_bytes().split(b"\n")
    scripts = {number for number, line in enumerate(logged, 1) if b'"script.call"' in line}
    for event in chat.events:
        line = event.place.number if event.place else 0
        if isinstance(event, Asked):
            images = [part for part in event.parts if isinstance(part, Image)]
            expected.append(("prompt", line, None, digest_of_text(event.text), len(images)))
            expected += [("image", line, None, b"", 0)] * len(images)
        elif isinstance(event, Said | Thought) and event.text.strip():
            kind = "answer" if isinstance(event, Said) else "thought"
            expected.append((kind, line, None, digest_of_text(event.text), 0))
        elif isinstance(event, Called):
            arguments = digest_of_arguments(event.raw if event.raw is not None else event.arguments)
            (aside if line in scripts else expected).append(("call", line, event.id, arguments, 0))
        elif isinstance(event, Compacted) and event.summary and event.summary.strip():
            expected.append(("prompt", line, None, digest_of_text(event.summary), 0))
        elif isinstance(event, Returned):
            row = ("result", line, event.call, digest_of_text(text_of(event.parts)), 0)
            (aside if line in scripts else expected).append(row)
    counted = [(entry.kind, entry.place.number, entry.id, entry.digest, entry.images) for entry in ledger.entries]
    assert counted == expected
    assert [(entry.kind, entry.place.number, entry.id, entry.digest, entry.images) for entry in ledger.aside] == aside
    outcomes = [(event.ok, event.not_run is not None) for event in chat.events if isinstance(event, Returned)]
    results = sorted(
        [*ledger.of("result"), *(e for e in ledger.aside if e.kind == "result")], key=lambda e: e.place.number
    )
    assert [(entry.ok, entry.not_run) for entry in results] == outcomes
    ends = [event.usage for event in chat.events if isinstance(event, Answered) and event.usage]
    for part in ("prompt_tokens", "output_tokens", "cached_tokens", "cache_write_tokens"):
        known = [tokens for usage in ends if (tokens := getattr(usage, part)) is not None]
        assert getattr(ledger.usage, part, None) == (sum(known) if known else None)


@pytest.mark.parametrize("home", [SAMPLE, EXAMPLES / "conch"], ids=["sample", "examples"])
def test_the_counter_finds_what_the_reader_finds(home: Path) -> None:
    logs = sorted((home / "conversations").glob("*.jsonl"))
    assert len(logs) >= 2
    for path in logs:
        found = found_in(path)
        _check_counted(path, conch.read(found, UTC), conch.count(found, keep_nothing))


def test_the_ledger_of_the_big_log() -> None:
    ledger = conch.count(found_in(SAMPLE / "conversations" / f"{BIG}.jsonl"), keep_nothing)
    assert ledger.chat == BIG
    kinds = [entry.kind for entry in ledger.entries]
    assert {kind: kinds.count(kind) for kind in sorted(set(kinds))} == {
        "answer": 3,
        "call": 7,
        "image": 1,
        "prompt": 5,
        "result": 6,
        "thought": 1,
    }
    assert ledger.usage == Usage(prompt_tokens=7600, output_tokens=736, cached_tokens=4100)
    by_id = {entry.id: entry for entry in ledger.of("call")}
    assert by_id["tu_fetch1"].digest == digest_of_arguments({"url": "https://docs.example.org/rounding"})
    assert by_id["tu_fetch1"].name == "WebFetch"
    results = {entry.id: entry for entry in ledger.of("result")}
    assert results["tu_test1"].digest == digest_of_text("Exit code 1\n1 failed, 23 passed in 5.1s")
    assert {identity: (entry.ok, entry.not_run) for identity, entry in results.items()} == {
        "tu_read1": (True, False),
        "tu_edit1": (True, False),
        "tu_fetch1": (True, False),
        "tu_test1": (False, False),
        "tu_script1": (True, False),
        "tu_dep2": (False, True),
    }


def test_the_counter_keeps_the_words_it_was_asked_for() -> None:
    found = found_in(SAMPLE / "conversations" / f"{BIG}.jsonl")
    ledger = conch.count(found, lambda place: place.number in (8, 19))
    assert {entry.place.number: entry.text for entry in ledger.entries if entry.text is not None} == {
        8: "Looks like a rounding slip. Reading the code first.",
        19: '{"command":"python -m pytest -q","description":"Run the test suite"}',
    }


# --- the examples


def test_the_examples_show_what_they_are_for() -> None:
    chats = {}
    for path in sorted((EXAMPLES / "conch" / "conversations").glob("*.jsonl")):
        chat = conch.read(found_in(path), UTC)
        assert [report for report in chat.diagnostics if report.lost] == []
        chats[chat.title] = chat
    assert {title: chat.origin.kind for title, chat in chats.items()} == {
        "Fix the invoice rounding test": "chat",
        "Recheck last month's invoices": "task",
        "Morning brief": "routine",
        "Move the photo archive": "chat",
        "ترجمة مثل: הצדק · 正直 🙂": "chat",
    }
    fix = chats["Fix the invoice rounding test"]
    assert [event.decision for event in fix.events if isinstance(event, Permission)] == [
        "allow",
        "allow-always",
        "answered",
    ]
    assert [event.call for event in fix.events if isinstance(event, Returned) and event.ok is False] == ["tu_test_1"]
    assert only(fix, HandedOff).id == chats["Recheck last month's invoices"].origin.id
    night = chats["Move the photo archive"]
    waits = [
        event.answered - event.at
        for event in night.events
        if isinstance(event, Permission) and event.answered and event.at
    ]
    assert waits == [9 * 3_600_000, 30 * 60_000]
