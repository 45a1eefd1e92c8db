"""Calls in plain words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trailbook.chat import JSON
from trailbook.tool_wording import NOT_RUN, describe_call

PATCH = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** Add File: b.py\n+z\n*** End Patch"


@pytest.mark.parametrize(
    ("name", "arguments", "family", "done", "subject"),
    [
        ("Read", {"file_path": "/Users/ada/work/a.py"}, "explore", "Read a.py", "work/a.py"),
        ("read_file", {"path": "C:\\Users\\ada\\b.txt"}, "explore", "Read b.txt", "b.txt"),
        ("str_replace_editor", {"command": "view", "path": "/a/b.py"}, "explore", "Read b.py", "/a/b.py"),
        ("str_replace_editor", {"command": "str_replace", "path": "/a/b.py"}, "edit", "Edited b.py", "/a/b.py"),
        ("str_replace_based_edit_tool", {"command": "create", "path": "b.py"}, "edit", "Wrote b.py", "b.py"),
        ("file_editor", {"command": "str_replace", "path": "/a/b.py"}, "edit", "Edited b.py", "/a/b.py"),
        ("view_image", {"path": "shots/a.png"}, "explore", "Looked at a.png", "shots/a.png"),
        ("Edit", {"file_path": "a.py"}, "edit", "Edited a.py", "a.py"),
        ("MultiEdit", {"file_path": "a.py", "edits": []}, "edit", "Edited a.py", "a.py"),
        ("Execute", {"command": "pytest -q"}, "verify", "Ran the tests", "pytest -q"),
        ("codebase_investigator", {"objective": "Find it"}, "delegate", "Handed off: Find it", None),
        ("NotebookEdit", {"notebook_path": "n.ipynb"}, "edit", "Edited n.ipynb", "n.ipynb"),
        ("Write", {"file_path": "a.py"}, "edit", "Wrote a.py", "a.py"),
        ("save", {"path": "a.py"}, "edit", "Wrote a.py", "a.py"),
        ("append", {"path": "a.py"}, "edit", "Added to a.py", "a.py"),
        ("apply_patch", {"input": PATCH}, "edit", "Edited a.py and b.py", "src/a.py, b.py"),
        ("apply_patch", {"changes": {"/srv/a.py": {"type": "update"}}}, "edit", "Edited a.py", "/srv/a.py"),
        ("shell", {"command": ["apply_patch", PATCH]}, "edit", "Edited a.py and b.py", "src/a.py, b.py"),
        (
            "exec_command",
            {"cmd": f"apply_patch <<'EOF'\n{PATCH}\nEOF"},
            "edit",
            "Edited a.py and b.py",
            "src/a.py, b.py",
        ),
        (
            "exec",
            {"input": "const out = await tools.exec_command({cmd: 'ls'});"},
            "run",
            "Ran a script",
            "const out = await tools.exec_command({cmd: 'ls'});",
        ),
        ("Grep", {"pattern": "fmt", "path": "src"}, "explore", "Searched for “fmt”", "src"),
        ("Glob", {"pattern": "**/*.py"}, "explore", "Looked for **/*.py", None),
        ("list_dir", {"dir_path": "/x/y"}, "explore", "Listed y", "/x/y"),
        ("LS", {"path": "."}, "explore", "Listed the files", "."),
        ("WebFetch", {"url": "https://www.example.org/a"}, "research", "Read example.org", "https://www.example.org/a"),
        ("WebSearch", {"query": "round half"}, "research", "Searched the web for “round half”", None),
        ("web_search", {"type": "search", "queries": ["pears"]}, "research", "Searched the web for “pears”", None),
        (
            "web_search",
            {"type": "open_page", "url": "https://example.org/a"},
            "research",
            "Read example.org",
            "https://example.org/a",
        ),
        (
            "web_search",
            {"type": "find_in_page", "url": "https://example.org/a", "pattern": "ripe"},
            "research",
            "Searched example.org for “ripe”",
            "https://example.org/a",
        ),
        (
            "Task",
            {"description": "Find callers", "subagent_type": "Explore"},
            "delegate",
            "Handed off: Find callers",
            "Explore",
        ),
        ("TodoWrite", {"todos": []}, "plan", "Updated the to-do list", None),
        ("update_plan", {"plan": []}, "plan", "Updated the to-do list", None),
        ("ExitPlanMode", {"plan": "1. x"}, "plan", "Showed its plan", None),
        ("AskUserQuestion", {"questions": [{"question": "Which?"}]}, "other", "Asked you: Which?", None),
        ("Skill", {"skill": "pdf"}, "other", "Used the skill pdf", None),
        ("ipython", {"code": "# load\nimport os"}, "run", "Ran Python code", "import os"),
        ("write_stdin", {"chars": "y\n"}, "run", "Typed into a running command", "y"),
        ("write_stdin", {"session_id": 7, "chars": ""}, "run", "Looked at a running command", None),
        ("send_input", {"id": "a", "message": "Go on."}, "delegate", "Wrote to a subagent: Go on.", None),
        ("close_agent", {"id": "a"}, "delegate", "Stopped a subagent", None),
        ("list_agents", {}, "delegate", "Listed the subagents", None),
        ("functions.exec_command", {"cmd": "ls"}, "explore", "Listed the files", "ls"),
        ("shell", {"command": ["bash", "-lc", "pytest -q"]}, "verify", "Ran the tests", "pytest -q"),
        ("shell", {"command": ["git", "commit", "-m", "a b"]}, "ship", "Committed the changes", "git commit -m 'a b'"),
        ("mcp__linear__search_issues", {"query": "tax"}, "connect", "Searched issues in Linear", "tax"),
        ("mcp__claude_ai_Linear__list_issues", {}, "connect", "Listed issues in Linear", None),
        ("mcp__github__createPullRequest", {"title": "T"}, "connect", "Created pull request in GitHub", "T"),
        ("mcp__weather__forecast", {}, "connect", "Used forecast in Weather", None),
        ("Read file notes.md", {}, "other", "Read file notes.md", None),
        ("Terminal output", {}, "other", "Terminal output", None),
        ("frobnicate", {"query": "x"}, "other", "Used frobnicate", "x"),
        ("", {}, "other", "Used a tool", None),
    ],
)
def test_tools(name: str, arguments: dict[str, JSON], family: str, done: str, subject: str | None) -> None:
    words = describe_call(name, arguments)
    assert (words.family, words.done, words.subject) == (family, done, subject)


@pytest.mark.parametrize(
    ("command", "family", "done"),
    [
        ("pytest -q", "verify", "Ran the tests"),
        ("cd api && FOO='a b' uv run pytest -x 2>&1 | tail -5", "verify", "Ran the tests"),
        ("timeout 60 npm run test:unit -- --watch=false", "verify", "Ran the tests"),
        ("pnpm --filter web test", "verify", "Ran the tests"),
        ("source .venv/bin/activate && python3.11 -m unittest", "verify", "Ran the tests"),
        ("for f in a b; do go test ./$f; done", "verify", "Ran the tests"),
        ("cargo test --all", "verify", "Ran the tests"),
        ("make -j4 test", "verify", "Ran the tests"),
        ("git add -A && git commit -m 'push; pytest && more'", "ship", "Committed the changes"),
        ("git -C /srv/x -c a=b push origin main", "ship", "Pushed the commits"),
        ("git commit -am x && git push", "ship", "Pushed the commits"),
        ("gh pr create --fill", "ship", "Opened a pull request"),
        ("make deploy ENV=staging", "ship", "Deployed"),
        ("ruff check . --fix", "verify", "Linted the code"),
        ("npx tsc --noEmit", "verify", "Checked the types"),
        ("black .", "edit", "Formatted the code"),
        ("npm run build", "run", "Built the project"),
        ("make", "run", "Built the project"),
        ("docker build -t x .", "run", "Built the image"),
        ("npm ci", "run", "Installed the dependencies"),
        ("(cd web && npm i left-pad)", "run", "Installed left-pad"),
        ("pip install -r requirements.txt", "run", "Installed the dependencies"),
        ("uv pip install a b c d e", "run", "Installed a, b, c and 2 more"),
        ("git status --short", "explore", "Looked at the changes"),
        ("git log --oneline | head -5", "explore", "Looked at the history"),
        ("cat src/a.py | head -50", "explore", "Read a.py"),
        ("sed -n '1,20p' price.py", "explore", "Read price.py"),
        ("sed -i 's/a/b/' price.py", "edit", "Edited price.py"),
        ("grep -rn 'foo bar' src", "explore", "Searched for “foo bar”"),
        ("find . -name '*.py' | wc -l", "explore", "Looked for *.py"),
        ("ls -la src/", "explore", "Looked through src"),
        ("cat > a.py <<'EOF'\npytest\nEOF", "edit", "Wrote a.py"),
        ("echo hi > notes.txt", "edit", "Wrote notes.txt"),
        ("echo hi && ls", "explore", "Listed the files"),
        ("rm -rf build dist", "edit", "Deleted build and 1 more"),
        ("mv a.py b.py", "edit", "Moved a.py"),
        ("curl -s https://www.example.org/x", "research", "Read example.org"),
        ("python3 scripts/make.py --all", "run", "Ran make.py"),
        ("python - <<'E'\ngit push\nE", "run", "Ran Python code"),
        ("./run.sh --fast", "run", "Ran ./run.sh --fast"),
        ("echo 'unclosed", "run", "Ran echo 'unclosed"),
        ("   ", "run", "Ran a command"),
    ],
)
def test_shell_commands(command: str, family: str, done: str) -> None:
    words = describe_call("Bash", {"command": command})
    assert (words.family, words.done) == (family, done)


@pytest.mark.parametrize(
    ("description", "doing", "done"),
    [
        ("Run the test suite", "Running the test suite", "Ran the test suite"),
        ("List files in src.", "Listing files in src", "Listed files in src"),
        ("Copy the config", "Copying the config", "Copied the config"),
        ("Stage and commit changes", "Stage and commit changes", "Stage and commit changes"),
        ("Tests for the parser", "Tests for the parser", "Tests for the parser"),
    ],
)
def test_the_agents_own_description_of_a_command(description: str, doing: str, done: str) -> None:
    words = describe_call("Bash", {"command": "pytest", "description": description})
    assert (words.family, words.doing, words.done) == ("verify", doing, done)


@pytest.mark.parametrize(
    ("name", "status", "not_run", "done", "outcome"),
    [
        ("Read", "failed", None, "Couldn’t read a.py", "Failed: no such file"),
        ("Read", "declined", "declined", "Didn’t read a.py", "You said no"),
        ("Read", "declined", "refused", "Didn’t read a.py", "Not allowed"),
        ("Read", "declined", "expired", "Didn’t read a.py", "Not answered"),
        ("Read", "declined", "stopped", "Didn’t read a.py", "Stopped before it was done"),
        ("Read", "declined", "unanswered", "Reading a.py", "No result in the log"),
        ("Read", "waiting", None, "Read a.py", None),
    ],
)
def test_calls_that_did_not_go_well(
    name: str, status: str, not_run: str | None, done: str, outcome: str | None
) -> None:
    words = describe_call(name, {"path": "a.py"}, status=status, not_run=not_run, output="no such file")
    assert (words.done, words.outcome) == (done, outcome)


@pytest.mark.parametrize(
    ("status", "output", "outcome"),
    [
        ("failed", "Exit code 1\n1 failed, 23 passed in 5.1s", "1 failed"),
        ("done", "collected 3 items\n\n===== 241 passed in 2.10s =====", "241 passed"),
        ("done", "===== 1 failed, 2 passed in 1s =====", "1 failed"),
        ("done", "Tests:       2 failed, 1 skipped, 40 passed, 43 total", "2 failed"),
        ("done", "Tests  12 passed (12)", "12 passed"),
        ("failed", "test result: FAILED. 30 passed; 4 failed; 0 ignored", "4 failed"),
        ("done", "test result: ok. 30 passed; 0 failed; 0 ignored", "30 passed"),
        ("done", "Ran 12 tests in 0.1s\n\nOK", "12 passed"),
        ("failed", "Ran 12 tests in 0.1s\n\nFAILED (failures=2, errors=1)", "2 failed"),
        ("failed", "--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\nFAIL", "2 failed"),
        ("done", "  12 passing (30ms)", "12 passed"),
        ("failed", "Found 3 errors in 2 files", "3 errors"),
        (
            "failed",
            "Chunk ID: 1\nWall time: 2.0 seconds\nProcess exited with code 1\nOutput:\nno such test",
            "Failed: no such test",
        ),
        ("failed", "Ran command: `x`\n\n```stderr\nno such test\n```\n\nReturn code: 1\n", "Failed: no such test"),
        ("failed", "Ran allowlisted command: `x`\n\n`no`\n\nReturn code: 1\n", "Failed: no"),
        ("failed", "Ran command: `x`\n\nReturn code: 4\n", "Exit code 4"),
        ("failed", "Shellcheck found x:\n````stdout\ny\n````\nRan command: `x`\n\n`no`\n", "Failed: no"),
        (
            "failed",
            "Executed code block.\n\n````stdout\n---\n````\n\nException during execution on line 1:\n  ValueError: no",
            "Failed: ValueError: no",
        ),
        ("failed", "Exit code: 1\nWall time: 2 seconds\nOutput:\n", "Failed"),
        ("failed", '{"output":"no such test\\nx","metadata":{"exit_code":1}}', "Failed: no such test"),
        ("failed", '{"output":"a"}', 'Failed: {"output":"a"}'),
        ("failed", '{"output":', 'Failed: {"output":'),
        ("failed", "Exit code 2", "Exit code 2"),
        ("failed", "", "Failed"),
        ("failed", "Traceback (most recent call last):\n  File x\nValueError: no", "Failed: ValueError: no"),
        ("done", "everything is fine", None),
    ],
)
def test_what_a_check_counted(status: str, output: str, outcome: str | None) -> None:
    words = describe_call("Bash", {"command": "pytest"}, status=status, output=output)
    assert (words.done, words.outcome) == ("Ran the tests", outcome)


def test_the_exit_status_where_nothing_was_printed() -> None:
    assert describe_call("Bash", {"command": "x"}, status="failed", exit_status=137).outcome == "Exit code 137"


def test_how_much_an_edit_changed() -> None:
    assert describe_call("Edit", {"path": "a"}, diff=" a\n-b\n+c\n+d").outcome == "+2 −1"


_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=20)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=5,
)
_names = st.one_of(
    st.text(max_size=20),
    st.sampled_from(["Bash", "Read", "apply_patch", "Task", "AskUserQuestion", "mcp__a__b", "str_replace_editor"]),
)
_keys = st.sampled_from(["command", "path", "file_path", "questions", "description", "input", "url", "query"])


@settings(max_examples=300, deadline=None)
@given(
    _names, st.dictionaries(_keys, _values, max_size=4), st.one_of(st.none(), st.text()), st.sampled_from(list(NOT_RUN))
)
def test_any_call_has_words(name: str, arguments: dict[str, JSON], raw: str | None, why: str) -> None:
    for status in ("done", "failed", "declined", "waiting"):
        words = describe_call(name, arguments, raw, status=status, not_run=why, output=raw)
        assert words.doing.strip()
        assert words.done.strip()
        assert "\n" not in words.done
