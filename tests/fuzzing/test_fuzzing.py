"""What the fuzzer starts from, and what it found once, without the fuzzer; and that it can change what it is given."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from conftest import EXAMPLES
from fuzzing.bundles import pack, unpack
from fuzzing.mutating import mutate
from fuzzing.targets import CASES, TARGETS, seeds_of
from trailbook.readers import NAMES


@pytest.mark.parametrize("name", TARGETS)
def test_every_seed_and_every_case_passes(name: str) -> None:
    run, _ = TARGETS[name]
    seeds = seeds_of(name)
    assert seeds
    for seed in [*seeds, b"", b"\0", b"\xff" * 100]:
        run(seed)


@pytest.mark.parametrize("name", NAMES)
def test_what_json_holds_can_be_anything_else(name: str) -> None:
    """A few hundred changes of the seeds, the same at each run."""
    run, _ = TARGETS[name]
    seeds = seeds_of(name)
    changed = 0
    for number in range(400):
        data = mutate(seeds[number % len(seeds)], 65_536, number)
        if data is not None:
            run(data)
            changed += 1
    assert changed > 100


def test_every_case_belongs_to_a_target() -> None:
    assert {path.name for path in CASES.iterdir() if path.is_dir()} <= set(TARGETS) if CASES.is_dir() else True


def test_a_bundle_unpacks_to_what_was_packed(tmp_path: Path) -> None:
    logs = EXAMPLES / "claude_code"
    files = sorted(path for path in logs.rglob("*") if path.is_file())
    written = unpack(pack(logs, files), tmp_path)
    assert [path.relative_to(tmp_path) for path in written] == [path.relative_to(logs) for path in files]
    assert [path.read_bytes() for path in written] == [path.read_bytes() for path in files]


def test_no_bundle_leads_out_of_its_folder(tmp_path: Path) -> None:
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    unpack(b"\x1e../../x\nno\x1e/tmp/fuzzed-x\nno\x1ec/../../../y\nno\x1eok/z\nyes", inside)
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["z"]
    assert not Path("/tmp/fuzzed-x").exists()
    shutil.rmtree(inside)


def test_json_is_changed_and_stays_json() -> None:
    data = b"\x1elog.jsonl\n" + json.dumps({"a": [1, "two", {"b": None}]}).encode()
    made = {mutate(data, 1_000, number) for number in range(200)} - {None}
    assert len(made) > 50
    whole = [part.split(b"\n")[1] for part in made if part and part.startswith(b"\x1elog.jsonl\n")]
    assert sum(_is_json(line) for line in whole) > 30


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
