"""Nothing leaves the computer: no module can open a connection but to a cluster by its address, no command tries to."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import trailbook
from conftest import EXAMPLES

PACKAGE = Path(trailbook.__file__).parent

CONNECTS = {
    "socket", "ssl", "http", "ftplib", "smtplib", "poplib", "imaplib", "telnetlib", "xmlrpc", "socketserver",
    "asyncio", "urllib.request", "webbrowser", "httpx", "requests", "aiohttp", "urllib3", "distributed", "dask",
}  # fmt: skip
"""Modules that open connections, or open what does."""

WATCH = """
import os, sys
def told(event, given):
    if event.split(".")[0] in ("socket", "urllib", "http", "ftplib", "smtplib", "webbrowser"):
        os.write(2, f"CONNECTS: {event} {given}\\n".encode())
        os._exit(99)
sys.addaudithook(told)
"""


def imported(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def test_no_module_imports_what_connects_but_for_the_cluster_that_a_person_names() -> None:
    modules = sorted(PACKAGE.rglob("*.py"))
    assert len(modules) > 100
    found = {
        str(path.relative_to(PACKAGE)): names
        for path in modules
        for names in [
            {n for n in imported(ast.parse(path.read_text("utf-8"))) for c in CONNECTS if f"{n}.".startswith(f"{c}.")}
        ]
        if names
    }
    assert found == {"cluster.py": {"distributed", "distributed.Client"}}


def test_what_connects_would_be_found() -> None:
    assert imported(ast.parse("from urllib import request\nimport http.client as h")) >= {
        "urllib.request",
        "http.client",
    }


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A folder, and an environment in which every Python process ends when it touches the network."""
    folder = tmp_path_factory.mktemp("offline")
    (folder / "sitecustomize.py").write_text(WATCH)
    home = {name: str(folder / "home") for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")}
    (folder / "home").mkdir()
    return folder, {**os.environ, **home, "PYTHONPATH": str(folder)}


def run(watched: tuple[Path, dict[str, str]], *words: str) -> subprocess.CompletedProcess[str]:
    folder, environment = watched
    command = [sys.executable, *words]
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)


def test_a_connection_would_be_noticed(watched: tuple[Path, dict[str, str]]) -> None:
    assert run(watched, "-c", "import socket; socket.socket()").returncode == 99


@pytest.mark.parametrize(
    "words",
    [
        ["build", str(EXAMPLES), "--out", "site", "--yes", "--images", "--format=openai", "--format=sharegpt"],
        ["build", str(EXAMPLES), "--out", "other", "--yes", "--format=atif", "--format=trajectory-v1"],
        ["export", str(EXAMPLES), "--out", ".", "--yes"],
        ["list", str(EXAMPLES), "--files"],
        ["preview", str(EXAMPLES)],
        ["find", "the", "--logs", str(EXAMPLES)],
        ["show", str(EXAMPLES / "conch" / "conversations" / "c_7k2m9q4x1b8d.jsonl")],
        ["check", str(EXAMPLES / "openai"), "--against", str(EXAMPLES / "openai")],
    ],
    ids=lambda words: words[0],
)  # fmt: skip
def test_no_command_connects(watched: tuple[Path, dict[str, str]], words: list[str]) -> None:
    ended = run(watched, "-m", "trailbook", *words)
    assert "CONNECTS" not in ended.stderr
    assert ended.returncode == 0, ended.stderr
