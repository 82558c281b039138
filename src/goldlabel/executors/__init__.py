"""Executors: where many independent pieces of work are done, one after the other or side by side.

A piece of work is a function of its arguments that leaves its result in files or returns it; so which executor does it
changes nothing but the time. One that fails takes no other with it.
"""

from __future__ import annotations

import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from typing import Any, Protocol

from goldlabel.errors import GoldlabelError
from goldlabel.registry import Registry

DIED = "its process died, for want of memory perhaps; run again with fewer --jobs"


@dataclass(frozen=True)
class Failure:
    """Why a piece of work has no result."""

    message: str
    trace: str = ""
    """Where it happened; empty where the input is at fault."""


Work = Mapping[str, tuple[Any, ...]]
"""The arguments of each piece, by its name."""
OnDone = Callable[[str, Any], None]
"""Called with the name of a piece and its result, or the ``Failure``, in whichever order they end."""


class Executor(Protocol):
    """Does pieces of work."""

    def run(self, function: Callable[..., Any], work: Work, on_done: OnDone) -> None:
        """Call the function with each piece's arguments."""
        ...


@dataclass(frozen=True)
class Here:
    """One piece after the other, in this process."""

    jobs: int = 1

    def run(self, function: Callable[..., Any], work: Work, on_done: OnDone) -> None:
        """Call the function with each piece's arguments."""
        for name, arguments in work.items():
            on_done(name, attempt(function, arguments))


@dataclass(frozen=True)
class Processes:
    """Several pieces at a time, each in a process; the function and its arguments must be picklable."""

    jobs: int = 2

    def run(self, function: Callable[..., Any], work: Work, on_done: OnDone) -> None:
        """Call the function with each piece's arguments."""
        for name in self._run_pool(function, work, on_done, self.jobs):
            # One of them took the pool down; alone, it shows which.
            if self._run_pool(function, {name: work[name]}, on_done, 1):
                on_done(name, Failure(DIED))

    def _run_pool(self, function: Callable[..., Any], work: Work, on_done: OnDone, jobs: int) -> list[str]:
        """Return the pieces whose process died, or that never began, as another's had died."""
        if not work:
            return []
        lost = []
        context = get_context("spawn")
        workers = min(jobs, len(work))
        with ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(jobs,)) as pool:
            names = {pool.submit(attempt, function, arguments): name for name, arguments in work.items()}
            try:
                for future in as_they_end(names):
                    try:
                        on_done(names[future], future.result())
                    except BrokenProcessPool:
                        lost.append(names[future])
            except KeyboardInterrupt:
                pool.shutdown(cancel_futures=True)
                raise
        return lost


EXECUTORS: Registry[Callable[[int], Executor]] = Registry("executor")
EXECUTORS.add("here", Here)
EXECUTORS.add("processes", Processes)


def attempt(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Return what the function returns, or why it failed."""
    try:
        return function(*arguments)
    except GoldlabelError as error:
        return Failure(str(error))
    except Exception as error:
        return Failure(f"{type(error).__name__}: {error}", traceback.format_exc())


def as_they_end(futures: Iterable[Future[Any]]) -> Iterator[Future[Any]]:
    """Yield futures as they end.

    Waiting is broken off every second: a signal that another thread was given is heard by this one only when it wakes.
    """
    pending = set(futures)
    while pending:
        ended, pending = wait(pending, timeout=1.0, return_when=FIRST_COMPLETED)
        yield from ended


def share_cores(jobs: int) -> None:
    """Give this process its share of the cores, unless the user has said how many threads to use."""
    if "OMP_NUM_THREADS" in os.environ:
        return
    try:
        import torch
    except ModuleNotFoundError:
        return
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // jobs))


def end_with_parent() -> None:
    """Have this process end when the one that began it is killed, instead of working on for nobody."""
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_outlive, args=(parent,), daemon=True).start()


def _outlive(parent: Any) -> None:
    parent.join()
    os._exit(1)


def _begin(jobs: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    end_with_parent()
    share_cores(jobs)
