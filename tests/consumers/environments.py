"""The published programs that read what is written here or write what is read, each in an environment of its own.

`python3 environments.py` (Python ≥3.12) makes those that are missing, in the folder that TRAILBOOK_CONSUMERS names or
`~/.cache/trailbook-consumers`; a second run finds them made. Packages are pinned, and installed without their
dependencies where those are huge and reading needs none of them. `python_of(name)` finds the interpreter of one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Environment:
    alone: list[str] = field(default_factory=list)
    """Packages that are installed without what they depend on."""
    whole: list[str] = field(default_factory=list)
    """Packages that are installed with it."""


ENVIRONMENTS = {
    "atif": Environment(["harbor==0.26.0", "datacurve-pier==0.3.1"], ["pydantic==2.14.4", "atif==1.8.0"]),
    "agent_trajectory": Environment(["agent-trajectory==0.4.3"]),
    "hermes": Environment(
        ["hermes-agent==0.19.0"],
        ["httpx==0.28.1", "python-dotenv==1.2.2", "pyyaml==6.0.3", "requests==2.33.0", "websockets==15.0.1"],
    ),
    "gptme": Environment(whole=["gptme==0.35.1"]),
    "mistral": Environment(whole=["mistral-common==1.13.1"]),
    "llamafactory": Environment(["llamafactory==0.9.5"], ["datasets==4.0.0"]),
    "datasets": Environment(whole=["datasets==5.2.0"]),
}


def folder() -> Path:
    """Where the environments lie."""
    return Path(os.environ.get("TRAILBOOK_CONSUMERS") or Path.home() / ".cache" / "trailbook-consumers")


def python_of(name: str) -> Path | None:
    """The interpreter of an environment that is made, and made of what is listed here; None when it is not."""
    place = folder() / name
    try:
        made = json.loads((place / "made.json").read_text())
    except (OSError, ValueError):
        return None
    return place / "bin" / "python" if made == asdict(ENVIRONMENTS[name]) else None


def make(name: str) -> str:
    """Make an environment unless it is there; says what was done. Raises CalledProcessError when pip fails."""
    if python_of(name):
        return f"{name}: already made"
    place, environment = folder() / name, ENVIRONMENTS[name]
    shutil.rmtree(place, ignore_errors=True)
    venv.create(place, with_pip=True)
    install = [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for packages, options in ((environment.whole, []), (environment.alone, ["--no-deps"])):
        if packages:
            subprocess.run([*install, *options, *packages], check=True, capture_output=True, text=True)
    (place / "made.json").write_text(json.dumps(asdict(environment)))
    return f"{name}: made of {', '.join(environment.alone + environment.whole)}"


def main() -> int:
    if sys.version_info < (3, 12):
        print("The consumers need Python 3.12 or newer; run this with such a one.", file=sys.stderr)
        return 2
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        tasks = {name: pool.submit(make, name) for name in ENVIRONMENTS}
    status = 0
    for name, task in tasks.items():
        try:
            print(task.result())
        except subprocess.CalledProcessError as error:
            print(f"{name}: pip could not install it.\n{error.stderr}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
