"""One target under atheris: `python fuzz.py TARGET [options of libFuzzer] [corpus]`. `run.py` starts it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import atheris

with atheris.instrument_imports(include=["trailbook"]):
    from fuzzing.mutating import mutate
    from fuzzing.targets import TARGETS


def changed(data: bytes, most: int, seed: int) -> bytes:
    """JSON is changed as JSON most of the time, anything else as bytes."""
    if seed % 4:
        new = mutate(data, most, seed)
        if new is not None and new != data:
            return new
    return bytes(atheris.Mutate(data, most))


def main() -> None:
    """Fuzz until libFuzzer's options say that it is enough, or something is found."""
    _, name, *options = sys.argv
    run, _seeds = TARGETS[name]
    atheris.Setup([sys.argv[0], *options], run, custom_mutator=changed)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
