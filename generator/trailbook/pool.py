"""Work on many chats at once: one process a core, and a process that dies costs one chat."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from typing import Generic, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


class Died(Exception):
    """The process that worked on a task ended: it was killed, or there was not enough memory."""


class _Pool(Generic[Task, Result]):
    """The tasks that wait, those that run, and the executor that runs them."""

    def __init__(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> None:
        self.work = work
        self.waiting = deque(tasks)
        self.running: dict[Future[Result], Task] = {}
        self.suspects: list[Task] = []
        """Tasks that ran when a process died; one of them may be what killed it."""

    def feed(self, executor: Executor, most: int) -> None:
        while self.waiting and len(self.running) < most and not self.suspects:
            try:
                future = executor.submit(self.work, self.waiting[0])
            except BrokenExecutor:
                return
            self.running[future] = self.waiting.popleft()

    def results(self) -> Iterator[tuple[Task, Result | Exception]]:
        done, _ = wait(self.running, return_when=FIRST_COMPLETED)
        for future in done:
            task = self.running.pop(future)
            try:
                yield task, future.result()
            except (BrokenExecutor, CancelledError):  # cancelled: a cluster's scheduler went away
                self.suspects.append(task)
            except Exception as error:
                yield task, error


def each(
    work: Callable[[Task], Result], tasks: Sequence[Task], *, executor: Executor | None = None
) -> Generator[tuple[Task, Result | Exception], None, None]:
    """Do `work` for each task and give the results as they come, with what it raised in the place of a result.

    `work` and tasks must be picklable. Without an `executor` there is a process for every core; when one dies, the
    tasks that ran then are tried again, each in a process of its own; one at which that dies too results in Died.
    Closing the iterator, or an interrupt, ends the processes.
    """
    pool = _Pool(work, tasks)
    if executor is not None:
        yield from _drain(pool, executor, most=64)
        for task in [*pool.suspects, *pool.waiting]:
            yield task, Died("the workers were lost")
        return
    workers = max(1, min(len(tasks), _cores()))
    while pool.waiting:
        with _processes(workers, _cores() // workers) as processes:
            yield from _drain(pool, processes, most=workers + 1)
        for task in pool.suspects:
            alone = _Pool(work, [task])
            with _processes(1, _cores()) as process:
                yield from _drain(alone, process, most=1)
            if alone.suspects or alone.waiting:
                yield task, Died("the process that worked on it was killed, or there was not enough memory for it")
        pool.suspects.clear()


def _drain(pool: _Pool[Task, Result], executor: Executor, most: int) -> Iterator[tuple[Task, Result | Exception]]:
    pool.feed(executor, most)
    while pool.running:
        yield from pool.results()
        pool.feed(executor, most)


@contextmanager
def _processes(workers: int, cores: int) -> Iterator[ProcessPoolExecutor]:
    """So many workers, each of which has so many cores to itself."""
    # A forked process has everything loaded; elsewhere than on Linux forking is not safe.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else None)
    executor = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(cores,))
    try:
        yield executor
    except BaseException:
        for process in list((executor._processes or {}).values()):
            process.terminate()
        executor.shutdown(wait=True, cancel_futures=True)
        raise
    executor.shutdown(wait=True, cancel_futures=True)


def shared_out(work: Callable[[int], Result], number: int) -> list[Result]:
    """`work(0)`, `work(1)`, … in their order, on every core that this worker has to itself.

    What is given must be picklable, what `work` needs not: the processes are forked and have all that this one has.
    """
    share = min(_own_cores, number)
    if share < 2 or sys.platform != "linux":
        return [work(item) for item in range(number)]
    context = multiprocessing.get_context("fork")
    running = []
    for first in range(1, share):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_send, args=(work, range(first, number, share), sender), daemon=True)
        process.start()
        sender.close()
        running.append((first, process, receiver))
    results: dict[int, Result] = {item: work(item) for item in range(0, number, share)}
    for first, process, receiver in running:
        try:
            done = dict(zip(range(first, number, share), receiver.recv(), strict=True))
        except EOFError:  # it was killed, or what it did went wrong: that is seen when it is done again here
            done = {item: work(item) for item in range(first, number, share)}
        results |= done
        process.join()
    return [results[item] for item in range(number)]


def _send(work: Callable[[int], Result], items: Sequence[int], sender: Connection) -> None:
    with suppress(Exception):  # what goes wrong goes wrong again where it can be told
        sender.send([work(item) for item in items])


_own_cores = 1
"""How many cores this process has to itself."""


def _begin(cores: int) -> None:
    """In a worker: an interrupt is for the run as a whole to handle, and no worker outlives it."""
    global _own_cores
    _own_cores = cores
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    wait_for([sentinel])
    os._exit(1)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
