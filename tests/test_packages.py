"""What is uploaded to a package index: it builds, installs into a clean environment and does what the README says."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from conftest import REQUIRED, ROOT
from trailbook import __version__

CACHES = {"__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis"}

pytestmark = pytest.mark.skipif(
    "packages" not in REQUIRED, reason="packages are built only where TRAILBOOK_REQUIRE names `packages`"
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the source distribution, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("packages")
    python = environment(folder / "builder")
    call(python, "-m", "pip", "install", "--quiet", "build")
    call(python, "-m", "build", "--outdir", str(folder / "dist"), str(ROOT))
    return folder / "dist"


def environment(folder: Path) -> str:
    call(sys.executable, "-m", "venv", str(folder))
    return str(folder / ("Scripts" if os.name == "nt" else "bin") / "python")


def call(*command: str, cwd: Path | None = None) -> str:
    alone = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(command, cwd=cwd, env=alone, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_source_distribution_has_all_that_the_tests_need(built: Path) -> None:
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    top = {"README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md", "CONTRIBUTING.md", "pyproject.toml"}
    assert top <= names
    for folder in ("generator", "themes", "tests", "example_logs"):
        there = [path.relative_to(ROOT) for path in (ROOT / folder).rglob("*") if path.is_file()]
        assert {str(path) for path in there if not CACHES & set(path.parts)} <= names


def test_the_wheel_has_the_package_and_the_themes_and_nothing_else(built: Path) -> None:
    (path,) = built.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names} == {"trailbook", f"trailbook-{__version__}.dist-info"}
    assert "trailbook/themes/nacre/report.html" in names


def test_the_readmes_first_command_works_with_the_wheel(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    python = environment(tmp_path / ".venv")
    call(python, "-m", "pip", "install", "--quiet", str(wheel))
    (tmp_path / "example_logs").symlink_to(ROOT / "example_logs")
    command = (ROOT / "README.md").read_text("utf-8").split("### See it work")[1].split("```")[1].split("&& ")[-1]
    program, *words = shlex.split(command)
    assert program == ".venv/bin/trailbook"
    said = call(str(tmp_path / program), *words, cwd=tmp_path)
    assert "written" in said
    for name in ("index.html", "files.html", "reports", "notes"):
        assert (tmp_path / "site" / name).exists()
