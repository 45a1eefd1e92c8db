"""What has to come out, planted in every place of a log, is in nothing that any command prints or writes."""

from __future__ import annotations

import html
import io
import json
import re
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from claude_code_logs import call, model, result, text, user, write
from trailbook import cli

SECRET = "tr0ub4dor-3-" + "horse-battery"
"""Known: it stands in a file of secrets."""
KEY = "ghp_" + "R4nD0mT0k3nV4lu3F0rT3st1ngPurp0s3s9X"[:36]
"""Known by its shape."""
LEARNED = "q7Vt2mXz9" + "LpW4kRb8NcY"
"""No shape of its own: it stands beside a name once, and alone elsewhere."""
PLANTED = {
    "a known secret": SECRET,
    "a key": KEY,
    "a learned key": LEARNED,
    "an email address": "kate.ng@orchard-tools.io",
    "a home folder": "/home/mira",
    "a name": "Mira Okafor",
}
FORMATS = ("openai", "sharegpt", "atif", "trajectory-v1")


def log_with(value: str) -> list[dict[str, Any]]:
    """A chat that says the value in a prompt, a thought, an argument and its key, a result, an error, a title, a
    working folder and a subagent."""
    place = {"cwd": f"/srv/{value.strip('/')}/work"}
    return [
        user(f"Please look at {value} now.", **place),
        model(
            {"type": "thinking", "thinking": f"They gave me {value}.", "signature": "c2lnbmF0dXJl"},
            text(f"I see {value}."),
            call("t1", "Bash", command=f"echo {value}", **{value: "as a key"}),
            call("t2", "Read", file_path=f"/tmp/{value.strip('/')}/notes.md"),
            call("t3", "Agent", prompt=f"Use {value}", description=f"Try {value}"),
            call("t4", "mcp__desk__open", deep={"list": [{"one": value}]}),
            **place,
        ),
        result("t1", f"{value}\nSERVICE_TOKEN={LEARNED}", {"stdout": value, "stderr": ""}, **place),
        result("t2", f"Error: no {value} here", error=True, **place),
        result("t3", [text(f"Used {value}")], {"agentId": "a1b2c3d", "status": "completed"}, **place),
        result("t4", [text(f"opened {value}")], **place),
        model(text(f"Done with {value}."), key="msg_2", **place),
        {"type": "custom-title", "customTitle": f"On {value}", "sessionId": "s"},
    ]


def subagent_with(value: str) -> list[dict[str, Any]]:
    inside = {"isSidechain": True, "agentId": "a1b2c3d"}
    return [
        user(f"Use {value}", **inside),
        model(text(f"Trying {value}"), call("g1", "Grep", pattern=value), key="sub_1", **inside),
        result("g1", f"found {value}", **inside),
        model(text(f"Used {value}"), key="sub_2", **inside),
    ]


def spellings(value: str) -> set[str]:
    return {value, value.lower(), value.upper(), value.replace(" ", "-").lower(), value.replace("/", "-").strip("-")}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """All that is printed and written of chats with each value, by where it stands."""
    top = tmp_path_factory.mktemp("leaks")
    logs, out, saved = top / "logs", top / "site", top / "saved"
    saved.mkdir()
    secrets = top / "secrets.env"
    secrets.write_text(f"SERVICE_PASSWORD={SECRET}\n")
    for number, value in enumerate(PLANTED.values()):
        session = f"5f0c2f7e-0000-4000-8000-00000000000{number}"
        write(logs / f"{session}.jsonl", [{**item, "sessionId": session} for item in log_with(value)])
        below = logs / session / "subagents" / "agent-a1b2c3d.jsonl"
        write(below, [{**item, "sessionId": session} for item in subagent_with(value)])
    told: dict[str, str] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", "/home/mira")
        patch.setenv("XDG_STATE_HOME", str(top / "state"))
        patch.setenv("XDG_CONFIG_HOME", str(top / "config"))
        options = ["--secrets", str(secrets), "--name", "Mira Okafor", "--tz", "UTC"]
        source = ["--logs", str(logs)]
        ids = sorted(path.stem for path in logs.glob("*.jsonl"))
        told |= _run(top, "preview", *source, *options)
        told |= _run(top, "list", *source, *options)
        formats = [f"--format={name}" for name in FORMATS]
        told |= _run(top, "build", *source, *options, *formats, "--out", str(out), "--yes")
        told |= _run(top, "find", "look at", *source, *options, "--out", str(out))
        for chat in ids:
            told |= _run(top, "show", chat, *source, *options)
            told |= _run(top, "show", chat, *source, *options, "--json")
            for name in ("report", "markdown", *FORMATS):
                told |= _run(top, "export", chat, *source, *options, f"--format={name}", "--out", str(saved), "--yes")
        told |= _run(top, "export", *source, *options, "--format=report", "--out", str(saved), "--yes")
        told |= _run(top, "export", *source, *options, "--format=markdown", "--out", str(saved), "--yes")
    for folder in (out, saved):
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            told[f"the name of {path.relative_to(top)}"] = path.name
            told[str(path.relative_to(top))] = path.read_text("utf-8", "replace")
    return told


def _run(top: Path, *arguments: str) -> dict[str, str]:
    """What a command prints."""
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        status = cli.run(list(arguments))
    assert status == 0, (arguments, printed.getvalue())
    return {f"trailbook {' '.join(arguments)}": printed.getvalue().replace(str(top), "")}


def unescaped(words: str) -> Iterator[str]:
    yield words
    yield html.unescape(words)
    yield re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), words).replace("\\/", "/")


@pytest.mark.parametrize("what", PLANTED)
def test_nothing_that_has_to_come_out_is_anywhere(made: dict[str, str], what: str) -> None:
    forms = spellings(PLANTED[what]) if what != "a home folder" else {"/home/mira"}
    found = [where for where, words in made.items() for form in forms if any(form in each for each in unescaped(words))]
    assert found == []


def test_what_was_planted_was_there_to_be_found(made: dict[str, str]) -> None:
    """The chats are in what was made, with a token in each value's place."""
    reports = [words for where, words in made.items() if "site/reports/" in where and not where.startswith("the name")]
    assert len(reports) == 2 * len(PLANTED)
    for token in ("[password]", "[key]", "[email]", "[name]", "~"):
        assert any(f"Please look at {token} now." in words for words in reports), token
    timelines = [json.loads(words) for where, words in made.items() if where.endswith("--json")]
    assert sorted(timeline["title"] for timeline in timelines)[:1] == ["On [email]"]
