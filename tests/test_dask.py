"""Work on other machines: any executor, a Dask cluster of two worker processes, and what Ray and Spark are given."""

from __future__ import annotations

import json
import os
import pickle
import re
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from datetime import UTC
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import trailbook
from claude_code_logs import call, model, result, text, user
from conftest import EXAMPLES, ROOT, skip_unless_required
from trailbook import cli, failures, manifest, parts, readers, site, stores
from trailbook.failures import Stopped
from trailbook.formats import FORMATS
from trailbook.readers import Found

SECRET = "".join(("hunter", "2-correct", "-horse-9"))


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(scope="module")
def examples() -> list[Found]:
    return trailbook.survey([EXAMPLES]).chats


@pytest.fixture(scope="module")
def output(examples: list[Found]) -> trailbook.Output:
    return trailbook.Output(zone=UTC, context=trailbook.context_of(examples))


def contents(folder: Path) -> dict[str, bytes]:
    """Everything in a folder but what trailbook keeps for itself."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and stores.OWN not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


# --- one chat as one file


@pytest.mark.parametrize("format_name", sorted(FORMATS))
def test_export_chat_gives_the_bytes_that_export_saves(
    examples: list[Found], format_name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = next(each for each in examples if each.reader == "claude_code")
    output = trailbook.Output(zone=UTC, context=trailbook.context_of(trailbook.survey([found.path]).chats))
    exported = trailbook.export_chat(found, format_name, output)
    words = ["export", str(found.path), "--format", format_name, "--tz", "UTC", "--out", str(tmp_path), "--yes"]
    assert cli.run(words) == failures.DONE
    saved = {path.suffix: path for path in tmp_path.iterdir() if path.is_file()}
    assert exported.data in [path.read_bytes() for path in saved.values()]
    assert len(exported.sidecars) == len(saved) - 1
    assert (exported.lost, exported.left_out, exported.unsafe) == (False, None, {})
    assert len(exported.fidelity) == 1
    assert exported.fidelity[0].split(": ")[1] in capsys.readouterr().out
    assert exported.removed.counts["home"] == 1


def test_export_chat_gives_the_same_in_another_process(examples: list[Found], output: trailbook.Output) -> None:
    given = pickle.loads(pickle.dumps((examples[3], "trajectory-v1", output)))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        there = executor.submit(trailbook.export_chat, *given).result()
    assert there == trailbook.export_chat(examples[3], "trajectory-v1", output)
    assert there.data
    assert next(iter(there.sidecars)).endswith(".meta.json")


def test_what_cannot_be_exported_says_why(tmp_path: Path, output: trailbook.Output) -> None:
    log = tmp_path / "asked.jsonl"
    log.write_text(json.dumps({"messages": [{"role": "user", "content": "Anybody there?"}]}) + "\n")
    (found,) = trailbook.survey([log]).chats
    exported = trailbook.export_chat(found, "openai", output)
    assert exported.data == b""
    assert "no reply" in str(exported.left_out)
    with pytest.raises(ValueError, match=r"There is no format pdf\. There are: report, markdown, openai"):
        trailbook.export_chat(found, "pdf", output)
    log.unlink()
    with pytest.raises(readers.Unreadable, match=r"asked\.jsonl could not be read"):
        trailbook.export_chat(found, "openai", output)


def test_the_package_loads_nothing_until_it_is_asked() -> None:
    import subprocess

    script = "import sys, trailbook; print([name for name in sys.modules if name.startswith('trailbook.')])"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
    assert all(getattr(trailbook, name).__doc__ for name in trailbook.__all__)
    with pytest.raises(AttributeError):
        trailbook.nothing_of_the_kind  # noqa: B018


# --- exports in parts


def rows(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (folder / "index.jsonl").read_text().splitlines()]


def test_parts_hold_every_chat_once_the_oldest_first(
    examples: list[Found], output: trailbook.Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "PER_PART", 7)
    chosen = examples[:15]
    with ThreadPoolExecutor(2) as executor:
        made = parts.export(chosen, "atif", output, tmp_path / "parts", executor=executor)
    assert (made.status, made.parts, made.chats, made.lost) == (failures.DONE, 3, 15, [])
    assert list(contents(tmp_path / "parts")) == [
        "index.jsonl", "part-00000.jsonl", "part-00001.jsonl", "part-00002.jsonl",
    ]  # fmt: skip
    told = rows(tmp_path / "parts")
    assert [(row["source"], row["id"]) for row in told] == [(each.reader, each.id) for each in chosen[::-1]]
    assert Counter(row["file"] for row in told) == {
        "part-00000.jsonl": 7, "part-00001.jsonl": 7, "part-00002.jsonl": 1,
    }  # fmt: skip
    lines = {name: data.splitlines() for name, data in contents(tmp_path / "parts").items()}
    assert len(lines["part-00002.jsonl"]) == 1, "JSON lines however few"
    assert json.loads(lines["part-00002.jsonl"][0])["schema_version"] == "ATIF-v1.8"


def test_a_folder_of_parts_is_for_one_export_and_for_nothing_else(
    examples: list[Found], output: trailbook.Output, tmp_path: Path
) -> None:
    survey = stores.survey([EXAMPLES / "conch"])
    with ThreadPoolExecutor(1) as executor:
        parts.export(survey.chats, "openai", output, tmp_path / "parts", executor=executor)
        before = contents(tmp_path / "parts")
        again = parts.export(survey.chats, "openai", output, tmp_path / "parts", executor=executor)
        assert (again.parts, again.unchanged, again.status) == (0, 1, failures.DONE)
        for chosen, format_name in ((survey.chats, "atif"), (survey.chats[1:], "openai"), (examples, "openai")):
            with pytest.raises(Stopped, match="holds something else that was built or exported"):
                parts.export(chosen, format_name, output, tmp_path / "parts", executor=executor)
        plan = site.Plan(tmp_path / "parts", survey, survey.chats, output)
        with pytest.raises(Stopped, match="holds the parts of an export"):
            site.build(plan, executor=executor)
        assert contents(tmp_path / "parts") == before
        site.build(site.Plan(tmp_path / "site", survey, survey.chats, output), executor=executor)
        with pytest.raises(Stopped, match="holds something else that was built or exported"):
            parts.export(survey.chats, "openai", output, tmp_path / "site", executor=executor)


class Lost(Executor):
    """Workers that go away with all that they were given but the first."""

    def __init__(self) -> None:
        self.given = 0

    def submit(self, work: Any, /, *given: Any, **more: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.given += 1
        if self.given == 1:
            future.set_result(work(*given, **more))
        else:
            future.cancel()
            future.set_running_or_notify_cancel()
        return future


def test_what_lost_workers_had_to_do_has_failed_and_is_done_in_the_next_run(
    examples: list[Found], output: trailbook.Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "PER_PART", 1)
    chosen = examples[:3]
    made = parts.export(chosen, "atif", output, tmp_path / "parts", executor=Lost())
    assert (made.status, made.parts) == (failures.SOME_FAILED, 1)
    assert made.failed == [f"part-0000{number}, 1 chat, could not be made: the workers were lost." for number in (1, 2)]
    with ThreadPoolExecutor(1) as executor:
        made = parts.export(chosen, "atif", output, tmp_path / "parts", executor=executor)
    assert (made.status, made.parts, made.unchanged) == (failures.DONE, 2, 1)
    assert [row["id"] for row in rows(tmp_path / "parts")] == [each.id for each in chosen[::-1]]


class Fragile(ThreadPoolExecutor):
    """Workers that whatever contains a certain chat kills."""

    def __init__(self, poison: str) -> None:
        super().__init__(2)
        self.poison = poison

    def submit(self, work: Any, /, given: Any, **more: Any) -> Future[Any]:
        orders = given if isinstance(given, list) else [given]
        if any(order.found.id == self.poison for order in orders):
            future: Future[Any] = Future()
            future.set_exception(RuntimeError("all workers died that tried it"))
            return future
        return super().submit(work, given, **more)


def test_a_chat_that_kills_its_workers_costs_itself_only(output: trailbook.Output, tmp_path: Path) -> None:
    survey = stores.survey([EXAMPLES / "conch"])
    poison = survey.chats[2].id
    with Fragile(poison) as executor:
        built = site.build(site.Plan(tmp_path / "site", survey, survey.chats, output), executor=executor)
    assert built.written == len(survey.chats) - 1
    assert [(found.id, why.endswith("all workers died that tried it.")) for found, why in built.failed] == [
        (poison, True)
    ]


# --- a Dask cluster


def install(log: Path, stuck: str | None) -> None:
    """In a worker: note each part that is begun, stay in the part `stuck` the first time, and note each `.env`."""
    whole = parts.bundle

    def noted(*given: Any, stem: str, **more: Any) -> Any:
        with log.open("a") as lines:
            lines.write(f"{stem} {os.getpid()}\n")
        if stem == stuck and not (log.parent / "stuck").exists():
            (log.parent / "stuck").touch()
            time.sleep(60)
        return whole(*given, stem=stem, **more)

    def opened(event: str, given: tuple[Any, ...]) -> None:
        if event == "open" and str(given[0]).endswith(".env"):
            with (log.parent / "opened").open("a") as lines:
                lines.write(f"{given[0]}\n")

    parts.bundle = noted  # type: ignore[assignment]
    sys.addaudithook(opened)


class Cluster:
    """Two worker processes and an executor on them."""

    def __init__(self, distributed: Any) -> None:
        self.distributed = distributed
        quiet = {"dashboard_address": None, "silence_logs": 50}
        self.cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **quiet)
        self.address: str = self.cluster.scheduler_address
        self.client = distributed.Client(self.address, set_as_default=False)

    def executor(self) -> Executor:
        executor: Executor = self.client.get_executor(pure=False)
        return executor

    def watch(self, log: Path, stuck: str | None = None) -> None:
        """Have `install` run in all workers, also in those that are started for one that died."""

        class Watch(self.distributed.WorkerPlugin):  # type: ignore[name-defined,misc]
            name = "watch"

            def setup(self, worker: object) -> None:
                install(log, stuck)

        self.client.wait_for_workers(2)
        self.client.register_plugin(Watch())

    def close(self) -> None:
        self.client.close()
        self.cluster.close()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    try:
        import distributed
    except ImportError:
        skip_unless_required("dask", "the package distributed is not installed.")
        return
    started = Cluster(distributed)
    yield started
    started.close()


def test_a_cluster_gives_the_same_bytes(cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [str(EXAMPLES / "conch"), str(EXAMPLES / "hermes"), "--format", "openai", "--tz", "UTC", "--yes", "--out"]
    assert cli.run(["build", *words, str(tmp_path / "here")]) == failures.DONE
    assert cli.run(["build", *words, str(tmp_path / "there"), "--dask", cluster.address]) == failures.DONE
    here = contents(tmp_path / "here")
    assert contents(tmp_path / "there") == here
    assert {"files.html", "index.html", "notes", "reports", "trajectories"} <= {name.partition("/")[0] for name in here}

    assert cli.run(["export", *words, str(tmp_path)]) == failures.DONE
    assert cli.run(["export", *words, str(tmp_path / "parts"), "--dask", cluster.address]) == failures.DONE
    (one,) = tmp_path.glob("*.jsonl")
    assert contents(tmp_path / "parts")["part-00000.jsonl"] == one.read_bytes()
    assert {row["file"] for row in rows(tmp_path / "parts")} == {"part-00000.jsonl"}
    assert "counted again where it was written: nothing of the logs is lost" in capsys.readouterr().out


def test_a_killed_worker_loses_nothing_and_no_finished_part_is_made_again(
    cluster: Cluster, examples: list[Found], output: trailbook.Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "PER_PART", 3)
    with ThreadPoolExecutor(1) as executor:
        parts.export(examples, "trajectory-v1", output, tmp_path / "here", executor=executor)
    log = tmp_path / "begun"
    cluster.watch(log, "part-00004")
    made: list[parts.Export] = []
    folder = tmp_path / "there"

    def work() -> None:
        made.append(parts.export(examples, "trajectory-v1", output, folder, executor=cluster.executor()))

    running = threading.Thread(target=work)
    running.start()
    until((tmp_path / "stuck").exists)
    until(lambda: len(list(folder.glob("part-*.jsonl"))) > 3)
    finished = {path.stem for path in folder.glob("part-*.jsonl")}
    begun = dict(line.split() for line in log.read_text().splitlines())
    os.kill(int(begun["part-00004"]), signal.SIGKILL)
    running.join(60)
    cluster.client.unregister_worker_plugin("watch")
    assert (made[0].status, made[0].failed, made[0].chats) == (failures.DONE, [], len(examples))
    assert contents(folder) == contents(tmp_path / "here")
    times = Counter(line.split()[0] for line in log.read_text().splitlines())
    assert times["part-00004"] == 2
    assert {times[name] for name in finished} == {1}
    assert set(times) == {f"part-{number:05}" for number in range(-(-len(examples) // 3))}
    assert {path.name for path in (folder / stores.OWN).iterdir()} == {"lock", "manifest.jsonl"}
    held = manifest.load(folder)
    assert {name for source, name in held.entries if (source, name) != manifest.INDEX} == set(times)


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_no_worker_reads_the_secrets_beside_a_log(cluster: Cluster, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / ".env").write_text(f"DB_PASSWORD={SECRET}\n")
    log = tmp_path / "logs" / "s.jsonl"
    log.parent.mkdir()
    records = [
        user("What is in it?", uuid="1", parentUuid=None, cwd=str(work), timestamp="2026-10-08T09:00:00Z"),
        model(call(command="cat .env"), uuid="2", parentUuid="1", cwd=str(work)),
        result("t1", f"it says {SECRET} there", uuid="3", parentUuid="2", cwd=str(work)),
        model(text("A password."), uuid="4", parentUuid="3", cwd=str(work), key="msg_2"),
    ]
    log.write_text("".join(json.dumps(record) + "\n" for record in records))
    found = trailbook.survey([log]).chats
    cluster.watch(tmp_path / "begun")
    cluster.client.run(_open, str(tmp_path / "other.env"))
    noticed = (tmp_path / "opened").read_text().splitlines()
    assert noticed == [str(tmp_path / "other.env")] * 2, "it would be noticed"
    output = trailbook.Output(zone=UTC, context=trailbook.context_of(found))
    parts.export(found, "openai", output, tmp_path / "parts", executor=cluster.executor())
    cluster.client.unregister_worker_plugin("watch")
    assert (tmp_path / "begun").read_text().startswith("part-00000 ")
    assert (tmp_path / "opened").read_text().splitlines() == noticed
    written = contents(tmp_path / "parts")["part-00000.jsonl"].decode()
    assert SECRET not in written
    assert re.search(r"it says \[(key|password)\] there", written)


def _open(path: str) -> None:
    Path(path).open("a").close()


def test_a_cluster_that_is_not_there_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("distributed")
    words = ["export", str(EXAMPLES), "--out", str(tmp_path / "out"), "--dask"]
    assert cli.run([*words, "nowhere", "--yes"]) == failures.USAGE
    assert cli.run([*words, "tcp://127.0.0.1:1"]) == failures.USAGE
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("trailbook: No Dask scheduler answers at nowhere")
    assert second.startswith("trailbook: --dask saves without asking.")
    assert not (tmp_path / "out").exists()


def test_without_the_package_the_option_says_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    words = ["build", str(EXAMPLES), "--out", str(tmp_path / "out"), "--yes", "--dask", "tcp://127.0.0.1:8786"]
    assert cli.run(words) == failures.USAGE
    assert "pip install 'trailbook[dask]'" in capsys.readouterr().err


# --- Ray


class Dataset:
    """As much of `ray.data.Dataset` as the README uses, in processes that are given everything pickled."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def map_batches(self, work: Any, *, fn_kwargs: dict[str, Any], batch_size: int) -> Dataset:
        batches = [self.items[start : start + batch_size] for start in range(0, len(self.items), batch_size)]
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
            calls = [executor.submit(_called, work.__name__, README, batch, fn_kwargs) for batch in batches]
            return Dataset([row for each in calls for row in each.result()])


def _called(name: str, code: str, batch: list[Any], given: dict[str, Any]) -> list[Any]:
    """What the README's function makes of a batch, in a process of its own."""
    space: dict[str, Any] = {}
    exec(code.partition("\nchats = ")[0].replace("import ray\n", ""), space)
    made = space[name]({"item": batch}, **given)
    return list(made["data"])


README = next(
    block
    for block in re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.S)
    if "ray" in block
)


def test_the_lines_for_ray_in_the_readme_run(
    examples: list[Found], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: dict[str, list[Any]] = {}
    monkeypatch.setattr(Dataset, "write_json", lambda self, path: written.update({path: self.items}), raising=False)
    ray = ModuleType("ray")
    ray.data = SimpleNamespace(from_items=Dataset)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ray", ray)
    code = README.replace("/shared/logs", str(EXAMPLES / "conch"))
    assert len(list(filter(None, code.splitlines()))) <= 12
    exec(code, {})
    (made,) = written.values()
    chosen = trailbook.survey([EXAMPLES / "conch"]).chats
    output = trailbook.Output(context=trailbook.context_of(chosen))
    assert made == [trailbook.export_chat(each, "openai", output).data.decode() for each in chosen]
    assert all(json.loads(line)["messages"] for data in made for line in data.strip().split("\n"))
