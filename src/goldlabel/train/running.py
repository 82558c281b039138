"""Many runs of one task: one after the other, or several at a time as processes that share a GPU or the cores."""

from __future__ import annotations

import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldlabel.errors import GoldlabelError
from goldlabel.files import write_text
from goldlabel.train.options import TrainOptions
from goldlabel.train.result import Training
from goldlabel.train.run_folder import ERROR
from goldlabel.train.task import Task
from goldlabel.train.training import run_task

if TYPE_CHECKING:
    from goldlabel.train.trainer import Step

TELL_EVERY = 0.1
"""Seconds between two words of a process on how far it is."""

OnRun = Callable[[str, "Step"], "bool | None"]
"""Called with a run's name and where it stands; True asks a run of this process to save its state and stop."""


@dataclass(frozen=True)
class Run:
    """One run of a sweep."""

    name: str
    folder: Path
    options: TrainOptions


@dataclass(frozen=True)
class Outcome:
    """How a run ended: with its result or with what went wrong."""

    run: Run
    training: Training | None
    error: str | None = None


OnOutcome = Callable[[Outcome], None]


def run_here(task: Task, runs: Sequence[Run], encoded: Path, done: OnOutcome, on_step: OnRun | None) -> None:
    """Train one run after the other."""
    for run in runs:
        done(_attempt(task, run, encoded, _telling(run, on_step)))


def run_in_processes(
    task: Task, runs: Sequence[Run], encoded: Path, done: OnOutcome, on_step: OnRun | None, *, jobs: int
) -> None:
    """Train ``jobs`` runs at a time, each in a process; one that dies takes no other run with it."""
    folder = encoded / "task"
    task.write(folder)
    lost = _run_pool(folder, runs, encoded, done, on_step, jobs=jobs)
    for run in lost:  # one of them took the pool down; alone, it shows which
        if _run_pool(folder, [run], encoded, done, on_step, jobs=1):
            done(Outcome(run, None, "its process died, for want of memory perhaps; run again with fewer --jobs"))


def _run_pool(
    folder: Path, runs: Sequence[Run], encoded: Path, done: OnOutcome, on_step: OnRun | None, *, jobs: int
) -> list[Run]:
    """Return the runs whose process died or never began, as another's had died."""
    context = get_context("spawn")
    stop, steps = context.RawValue("b", 0), context.Queue()
    lost = []
    with (
        _listening(steps, on_step),
        ProcessPoolExecutor(
            min(jobs, len(runs)),
            mp_context=context,
            initializer=_begin,
            initargs=(folder, encoded, stop, steps if on_step else None, jobs),
        ) as pool,
    ):
        waiting: dict[Future[Outcome], Run] = {pool.submit(_train, run): run for run in runs}
        try:
            for future in as_completed(waiting):
                try:
                    done(future.result())
                except BrokenProcessPool:
                    lost.append(waiting[future])
        except KeyboardInterrupt:
            stop.value = 1
            pool.shutdown(cancel_futures=True)
            raise
    return lost


@contextmanager
def _listening(steps: Any, on_step: OnRun | None) -> Iterator[None]:
    """Pass on what processes tell."""

    def listen() -> None:
        while (told := steps.get()) is not None:
            if on_step:
                on_step(*told)

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        yield
    finally:
        steps.put(None)
        listener.join()
        steps.close()


# In the processes


class _Worker:
    """What a process keeps between runs."""

    task: Task
    encoded: Path
    stop: Any
    steps: Any


def _begin(folder: Path, encoded: Path, stop: Any, steps: Any, jobs: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # between runs, Ctrl-C is for the parent
    _Worker.task, _Worker.encoded, _Worker.stop, _Worker.steps = Task.read(folder), encoded, stop, steps
    if steps is not None:
        steps.cancel_join_thread()
    share_cores(jobs)


def share_cores(jobs: int) -> None:
    """Give this process its share of the cores, unless the user has said how many threads to use."""
    if "OMP_NUM_THREADS" in os.environ:
        return
    try:
        import torch
    except ModuleNotFoundError:
        return
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // jobs))


def _train(run: Run) -> Outcome:
    last = 0.0

    def tell(step: Step) -> bool:
        nonlocal last
        if _Worker.steps is not None and time.monotonic() - last > TELL_EVERY:
            last = time.monotonic()
            _Worker.steps.put((run.name, step))
        return bool(_Worker.stop.value)

    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return _attempt(_Worker.task, run, _Worker.encoded, tell)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _attempt(task: Task, run: Run, encoded: Path, tell: Callable[[Step], bool | None] | None) -> Outcome:
    try:
        return Outcome(run, run_task(task, run.folder, run.options, tell, encoded=encoded))
    except GoldlabelError as error:
        return Outcome(run, None, str(error))
    except Exception as error:
        write_text(run.folder / ERROR, traceback.format_exc())
        return Outcome(run, None, f"{type(error).__name__}: {error} (see {run.folder / ERROR})")


def _telling(run: Run, on_step: OnRun | None) -> Callable[[Step], bool | None] | None:
    return None if on_step is None else lambda step: on_step(run.name, step)
