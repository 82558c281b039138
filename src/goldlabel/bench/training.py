"""Training what a suite asks for: every system with every seed, in folders of their own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from goldlabel.bench.folder import run_folder, run_name
from goldlabel.bench.progress import BenchProgress
from goldlabel.errors import InputError
from goldlabel.evaluate.suite import SuitePlan, System
from goldlabel.executors import Executor, Failure, Tell
from goldlabel.models.model import find_member
from goldlabel.train.fit import BIAS, ENCODED, run_task
from goldlabel.train.grid import Grid
from goldlabel.train.options import TrainOptions, change_options
from goldlabel.train.run import ERROR, Run, RunFolder
from goldlabel.train.sweep import Prepare, run_sweep, shared_parts
from goldlabel.train.task import Task, gather_task


def train_systems(
    plan: SuitePlan,
    folder: Path,
    seeds: Sequence[int],
    executor: Executor,
    progress: BenchProgress,
    check: Callable[[System, Task], None],
) -> dict[tuple[str, int], Run | Failure]:
    """Train every system that has to be, with every seed; those that go on from another's run come after it.

    ``check`` is called with each system and the task of its first seed before anything of it is trained.
    """
    done: dict[tuple[str, int], Run | Failure] = {}
    gathering = _Gathering()
    waiting = [system for system in plan.systems if system.training is not None]
    while waiting:
        ready = [system for system in waiting if _start_of(system) not in {other.name for other in waiting}]
        if not ready:
            raise InputError(f"{waiting[0].name} goes on from {_start_of(waiting[0])}, which goes on from it")
        tasks: dict[str, _Planned] = {}
        for system in ready:
            for seed in seeds:
                start = _start_of(system)
                before = None if start is None else done[start, seed]
                if isinstance(before, Failure):
                    done[system.name, seed] = Failure(f"{start} failed, from which it goes on: {before.message}")
                    continue
                task = gathering.task(system, seed, None if before is None else before.run)
                task.check()
                if seed == seeds[0]:
                    check(system, task)
                tasks[run_name(system.name, seed)] = _Planned(system, seed, task)
        _train_wave(tasks, folder, executor, progress, done)
        waiting = [system for system in waiting if system not in ready]
    shutil.rmtree(folder / ENCODED, ignore_errors=True)
    shutil.rmtree(folder / BIAS, ignore_errors=True)
    return done


def _train_wave(
    tasks: Mapping[str, _Planned],
    folder: Path,
    executor: Executor,
    progress: BenchProgress,
    done: dict[tuple[str, int], Run | Failure],
) -> None:
    """Train runs that wait for no other; what several of them need is made before."""
    shared: dict[str, tuple[Any, ...]] = {}
    for planned in tasks.values():
        if planned.grid is None and RunFolder(planned.place(folder)).result() is None:
            for name, prepare in shared_parts(planned.task).items():
                shared.setdefault(name, (prepare, planned.task, folder))
    paths = [folder, *sorted({path for planned in tasks.values() for path in planned.task.files})]
    # What cannot be made here fails again, and is told of, where it is needed.
    executor.run(_prepare, shared, lambda name, outcome: None, paths=paths)

    def on_done(name: str, outcome: Run | Failure) -> None:
        planned = tasks[name]
        if isinstance(outcome, Failure):
            outcome = Failure(outcome.leave(planned.place(folder) / ERROR))
        done[planned.system.name, planned.seed] = outcome
        if progress.on_run is not None:
            progress.on_run(name, outcome)

    work = {name: (planned.task, folder, planned.place(folder), planned.grid) for name, planned in tasks.items()}
    executor.run(_train, work, on_done, on_told=progress.on_step, paths=paths)


@dataclass(frozen=True)
class _Planned:
    """A run, or all those of a grid, of which the best is taken."""

    system: System
    seed: int
    task: Task

    @property
    def grid(self) -> Grid | None:
        """The values that are tried."""
        training = self.system.training
        assert training is not None
        return None if training.grid is None else {name: list(values) for name, values in training.grid.items()}

    def place(self, folder: Path) -> Path:
        """Return where it lies within the bench's folder."""
        return run_folder(folder, self.system.name, self.seed)


def _prepare(tell: Tell, prepare: Prepare, task: Task, folder: Path) -> None:
    prepare(task, folder, None)


def _train(tell: Tell, task: Task, folder: Path, run: Path, grid: Grid | None) -> Run:
    """Train one run, or all points of a grid one after the other; return the one that is best on the dev sets."""
    if grid is None:
        return run_task(task, run, tell, encoded=folder / ENCODED)
    tuned = run_sweep(task, run, grid=grid, on_step=lambda _, step: tell(step))
    if tuned.best_run is None:
        raise InputError(f"{run}: no point of the grid could be trained and scored; {next(iter(tuned.failed.items()))}")
    return tuned.best_run


def _start_of(system: System) -> str | None:
    return None if system.training is None else system.training.start


class _Gathering:
    """Brings tasks together; those of the same data share what was read, and its digests."""

    def __init__(self) -> None:
        self.tasks: dict[tuple[Any, ...], Task] = {}

    def task(self, system: System, seed: int, start: Path | None) -> Task:
        """Return the task of a system and a seed; ``start`` is the run that it goes on from."""
        training = system.training
        assert training is not None
        options = change_options(TrainOptions(seed=seed), training.options)
        options = options if start is None else replace(options, start=str(start))
        member = find_member(training.model)
        vocabulary = training.vocabulary if member.fitted_by_trainer else ()
        drawn = None if training.sizes is None or set(training.sizes) == {None} else seed
        parts = [tuple(map(id, several)) for several in (training.on, training.dev, vocabulary)]
        scored = options.start if options.fixed else None
        rules = (training.sizes, training.copies, training.split, training.label_space, member.any_language)
        key = (*parts, *rules, drawn, scored)
        if key not in self.tasks:
            self.tasks[key] = gather_task(
                training.model,
                training.on,
                options,
                sizes=training.sizes,
                copies=training.copies,
                split=training.split,
                dev=training.dev,
                vocabulary=vocabulary,
                label_space=training.label_space,
            )
        return replace(self.tasks[key], model=training.model, options=options)
