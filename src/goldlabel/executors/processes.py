"""Work done in processes of this machine, several pieces at a time."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

from goldlabel.executors.executor import DIED, TELL_EVERY, Failure, OnDone, OnTold, Work, attempt
from goldlabel.executors.gpus import VISIBLE

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")
"""By what libraries are told how many threads to use."""


@dataclass(frozen=True)
class Processes:
    """Several pieces at a time, each in a process; the function and its arguments must be picklable."""

    jobs: int = 2
    gpus: tuple[str, ...] = ()
    """What processes see of the GPUs, in turn; where it is empty, all see what this one does."""

    def run(
        self,
        function: Callable[..., Any],
        work: Work,
        on_done: OnDone,
        *,
        on_told: OnTold | None = None,
        paths: Sequence[Path] = (),
    ) -> None:
        """Call the function with each piece's arguments."""
        for name in self._run_pool(function, work, on_done, on_told, self.jobs):
            # One of them took the pool down; alone, it shows which.
            if self._run_pool(function, {name: work[name]}, on_done, on_told, 1):
                on_done(name, Failure(DIED))

    def _run_pool(
        self, function: Callable[..., Any], work: Work, on_done: OnDone, on_told: OnTold | None, jobs: int
    ) -> list[str]:
        """Return the pieces whose process died, or that never began, as another's had died."""
        if not work:
            return []
        lost = []
        context = get_context("spawn")
        stop, told, begun = context.RawValue("b", 0), context.Queue(), context.Value("i", 0)
        with (
            _listening(told, on_told),
            shared_cores(jobs),
            ProcessPoolExecutor(
                min(jobs, len(work)),
                mp_context=context,
                initializer=_begin,
                initargs=(function, dict(work), stop, told if on_told else None, self.gpus, begun),
            ) as pool,
        ):
            names = {pool.submit(_do, name): name for name in work}
            try:
                for future in _as_they_end(names):
                    try:
                        on_done(names[future], future.result())
                    except BrokenProcessPool:
                        lost.append(names[future])
            except BaseException:
                stop.value = 1
                pool.shutdown(cancel_futures=True)
                raise
        return lost


@contextmanager
def shared_cores(jobs: int) -> Iterator[None]:
    """Give processes that begin within it their share of the cores, unless the user has said how many threads to use.

    Libraries read it when they are loaded, which is before anything of ours runs in a process.
    """
    share = str(max(1, (os.cpu_count() or 1) // jobs))
    ours = {} if THREADS[0] in os.environ else {name: share for name in THREADS if name not in os.environ}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name in ours:
            del os.environ[name]


def _as_they_end(futures: Iterable[Future[Any]]) -> Iterator[Future[Any]]:
    """Yield futures as they end.

    Waiting is broken off every second: a signal that another thread was given is heard by this one only when it wakes.
    """
    pending = set(futures)
    while pending:
        ended, pending = wait(pending, timeout=1.0, return_when=FIRST_COMPLETED)
        yield from ended


@contextmanager
def _listening(told: Any, on_told: OnTold | None) -> Iterator[None]:
    """Pass on what processes tell."""

    def listen() -> None:
        while (message := told.get()) is not None:
            if on_told:
                on_told(*message)

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        yield
    finally:
        told.put(None)
        listener.join()
        told.close()


# In the processes


class _Worker:
    """What a process keeps between pieces."""

    function: Callable[..., Any]
    work: Work
    stop: Any
    told: Any


def _begin(function: Callable[..., Any], work: Work, stop: Any, told: Any, gpus: tuple[str, ...], begun: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # between pieces, Ctrl-C is for the parent
    end_with_parent()
    _Worker.function, _Worker.work, _Worker.stop, _Worker.told = staticmethod(function), work, stop, told
    if told is not None:
        told.cancel_join_thread()
    if gpus:
        with begun.get_lock():
            number, begun.value = begun.value, begun.value + 1
        os.environ[VISIBLE] = gpus[number % len(gpus)]  # before anything asks for them


def _do(name: str) -> Any:
    last = 0.0

    def tell(state: Any) -> bool:
        nonlocal last
        if _Worker.told is not None and time.monotonic() - last > TELL_EVERY:
            last = time.monotonic()
            _Worker.told.put((name, state))
        return bool(_Worker.stop.value)

    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return attempt(_Worker.function, tell, _Worker.work[name])
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def end_with_parent() -> None:
    """Have this process end when the one that began it is killed, instead of working on for nobody."""
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_outlive, args=(parent,), daemon=True).start()


def _outlive(parent: Any) -> None:
    parent.join()
    os._exit(1)
