"""A sweep: one model trained many times, over seeds, sizes of the training set and points of a grid.

Every run has a folder of its own within the sweep's. They are trained one after the other, or several at a time, by an
executor; texts are encoded once for all. A run that fails takes no other with it.
"""

from __future__ import annotations

import json
import shutil
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from goldlabel.errors import InputError
from goldlabel.executors import Executor, Failure, Here, Tell, open_executor
from goldlabel.files import LOCK, lock_folder, write_text
from goldlabel.models.loading import load_model
from goldlabel.pairs import Pairs, Result
from goldlabel.pairs.labels import LabelSpace
from goldlabel.train.fit import BIAS, ENCODED, as_list, fit_model, run_task
from goldlabel.train.grid import Grid, parse_grid, point_name, points
from goldlabel.train.options import OWN, TrainOptions, change_options
from goldlabel.train.run import ENVIRONMENT, ERROR, OnStep, Run, RunFolder, Step
from goldlabel.train.task import Task, gather_task

SUMMARY = "summary.json"

OnRun = Callable[[str, Step], "bool | None"]
"""Called with a run's name and where it stands; True asks a run of this process to save its state and stop."""
Prepare = Callable[[Task, Path, "OnStep | None"], None]
"""Makes something for a task in the folder of all runs."""


@dataclass(frozen=True)
class Case:
    """What the runs that differ by their seed alone have in common."""

    name: str
    """Its folder within the sweep's; empty if it is the only one."""
    values: Mapping[str, Any]
    """The size and the values of the grid."""
    options: TrainOptions


@dataclass(frozen=True, repr=False)
class Sweep(Result):
    """Finished runs of one model, and what went wrong with the others."""

    folder: Path
    model: str
    seeds: Sequence[int]
    cases: Sequence[Case]
    runs: Mapping[str, Run] = field(default_factory=dict)
    """Each finished run by its folder within the sweep's."""
    failed: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """How many runs there are, and which case is best."""
        failed = f", {len(self.failed)} failed" if self.failed else ""
        best = f"; best: {self.best.name}" if self.best and self.best.name else ""
        return f"{self.model}: {len(self.runs)} runs{failed} in {self.folder}{best}"

    @property
    def table(self) -> pl.DataFrame:
        """A row for each case: mean accuracy in per cent and its standard deviation over the seeds."""
        rows = []
        for case in self.cases:
            figures = self.figures(case)
            row = {name.removeprefix(OWN): str(value) for name, value in case.values.items()}
            row |= {"runs": figures["runs"]}
            row |= {name: _shown(accuracies) for name, accuracies in figures["dev"].items()}
            rows.append(row | ({"mean": _shown(figures["mean"])} if len(figures["dev"]) > 1 else {}))
        return pl.DataFrame(rows)

    @property
    def best(self) -> Case | None:
        """The case with the highest mean over dev sets and seeds; of several sizes, the largest counts."""
        finished = [case for case in self.cases if self.figures(case)["mean"] is not None]
        largest = max((case.values.get("size", 0) for case in finished), default=0)
        return max(
            (case for case in finished if case.values.get("size", 0) == largest),
            key=lambda case: float(self.figures(case)["mean"]["mean"]),
            default=None,
        )

    @property
    def best_run(self) -> Run | None:
        """The first run of the best case."""
        return self.runs_of(self.best)[0] if self.best else None

    def figures(self, case: Case) -> dict[str, Any]:
        """Return mean, standard deviation and number over a case's seeds: of each dev set, and of their mean."""
        done = self.runs_of(case)
        names = list(done[0].dev) if done else []
        means = [statistics.fmean(run.accuracies.values()) for run in done if run.dev]
        return {
            "case": case.name,
            "values": dict(case.values),
            "runs": len(done),
            "dev": {name: spread([run.accuracies[name] for run in done]) for name in names},
            "mean": spread(means) if means else None,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the figures of every case; ``dev``, ``parameters``, ``epochs`` and the rate are the best case's."""
        best = self.best or (self.cases[0] if self.cases else None)
        of_best = self.runs_of(best) if best else []
        return {
            "run": str(self.folder),
            "model": self.model,
            "parameters": of_best[0].parameters if of_best else None,
            "epochs": statistics.fmean(run.epochs for run in of_best) if of_best else None,
            "dev": {name: figures["mean"] for name, figures in self.figures(best)["dev"].items()} if best else {},
            "seconds": sum(run.seconds for run in self.runs.values()),
            "pairs_per_second": statistics.fmean(run.pairs_per_second for run in of_best) if of_best else None,
            "seed": self.seeds[0],
            "seeds": list(self.seeds),
            "best": self.best.name if self.best else None,
            "cases": [self.figures(case) for case in self.cases],
            "runs": [run.to_dict() for run in self.runs.values()],
            "failed": dict(self.failed),
        }

    def runs_of(self, case: Case) -> list[Run]:
        """Return the finished runs of a case, one for each seed."""
        names = (_run_name(case, seed) for seed in self.seeds)
        return [self.runs[name] for name in names if name in self.runs]


def spread(values: Sequence[float]) -> dict[str, float | int | None]:
    """Return mean, standard deviation and number of several runs' figures."""
    return {
        "mean": statistics.fmean(values),
        "sd": statistics.stdev(values) if len(values) > 1 else None,
        "runs": len(values),
    }


def sweep(
    model: str,
    on: Pairs | Sequence[Pairs],
    output: str | Path,
    *,
    seeds: int = 1,
    curve: Sequence[int] = (),
    grid: Mapping[str, Any] | None = None,
    executor: str | Executor | None = None,
    jobs: int | None = None,
    dev: Pairs | Sequence[Pairs] = (),
    sizes: Sequence[int | None] | None = None,
    copies: Sequence[int] | None = None,
    split: str | None = None,
    vocabulary: Sequence[Pairs] = (),
    label_space: LabelSpace | str | None = None,
    options: TrainOptions | None = None,
    on_step: OnRun | None = None,
    **changes: Any,
) -> Sweep:
    """Train a model with ``seeds`` seeds at each size of ``curve`` and each point of ``grid``, ``jobs`` at a time.

    The sizes of ``curve`` are nested samples of the training data; ``grid`` gives lists of values by the name of an
    option. ``executor`` says where the runs are trained, as ``open_executor`` takes it. The other arguments are those
    of ``train``. With ``jobs`` above 1, a script that calls this needs the usual ``if __name__ == "__main__":``, as the
    processes import it.
    """
    task = gather_task(
        model,
        as_list(on),
        change_options(options or TrainOptions(), changes),
        sizes=sizes,
        copies=copies,
        split=split,
        dev=as_list(dev),
        vocabulary=vocabulary,
        label_space=label_space,
    )
    parsed = None if grid is None else parse_grid(grid, model, task.options.debias)
    with open_executor(executor, jobs) as workers:
        return run_sweep(task, Path(output), seeds=seeds, curve=curve, grid=parsed, executor=workers, on_step=on_step)


def run_sweep(
    task: Task,
    folder: Path,
    *,
    seeds: int = 1,
    curve: Sequence[int] = (),
    grid: Grid | None = None,
    executor: Executor | None = None,
    on_step: OnRun | None = None,
) -> Sweep:
    """Train every run that the folder does not hold finished, and sum all of them up."""
    if seeds < 1:
        raise InputError(f"{seeds} seeds cannot be; give a number from 1 on")
    if task.options.fixed:
        raise InputError(
            "weights that stay as they are need no sweep; leave out --fixed, or --seeds, --sizes and --grid"
        )
    first = task.options.seed
    planned = Sweep(folder, task.model, range(first, first + seeds), plan_cases(task.options, curve, grid))
    tasks = {
        _run_name(case, seed): replace(task, options=replace(case.options, seed=seed))
        for case in planned.cases
        for seed in planned.seeds
    }
    _check(folder, tasks)
    outcomes: dict[str, Run | str] = {}

    def summed_up() -> Sweep:
        ordered = {name: outcomes[name] for name in tasks if name in outcomes}
        return replace(
            planned,
            runs={name: outcome for name, outcome in ordered.items() if isinstance(outcome, Run)},
            failed={name: outcome for name, outcome in ordered.items() if isinstance(outcome, str)},
        )

    def done(name: str, outcome: Run | Failure) -> None:
        outcomes[name] = outcome.leave(folder / name / ERROR) if isinstance(outcome, Failure) else outcome
        _write_summary(summed_up())

    with lock_folder(folder, "training"):
        _write_summary(planned)
        _encode(tasks, folder, on_step)
        runs = {name: (task, folder, name) for name, task in tasks.items()}
        read = {path for task in tasks.values() for path in task.files}
        (executor or Here()).run(_train, runs, done, on_told=on_step, paths=[folder, *sorted(read)])
        shutil.rmtree(folder / ENCODED, ignore_errors=True)
    return summed_up()


def plan_cases(options: TrainOptions, curve: Sequence[int], grid: Grid | None) -> list[Case]:
    """Combine sizes and points of the grid, smallest first."""
    cases = []
    sizes: list[int | None] = [*sorted(set(curve))] or [None]
    for size in sizes:
        for point in points(grid):
            named = [f"size-{size}"] if size is not None else []
            named += [point_name(point)] if point else []
            values = ({"size": size} if size is not None else {}) | point
            chosen = change_options(options if size is None else replace(options, size=size), point)
            cases.append(Case("/".join(named), values, chosen))
    names = [case.name for case in cases]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"two points of the grid would share the folder {twice}; rename what they name")
    return cases


def _run_name(case: Case, seed: int) -> str:
    return f"{case.name}/seed-{seed}" if case.name else f"seed-{seed}"


def _check(folder: Path, tasks: Mapping[str, Task]) -> None:
    """Refuse what no run could do, and folders with something else in them, before anything is written."""
    if (folder / ENVIRONMENT).exists():
        raise InputError(f"{folder}: holds a single run; choose another folder for several with -o")
    is_ours = not folder.exists() or (folder / SUMMARY).exists()
    if not is_ours and (not folder.is_dir() or set(folder.iterdir()) - {folder / LOCK}):
        raise InputError(f"{folder}: holds something else than runs; choose another folder with -o")
    for name, task in tasks.items():
        task.check()
        RunFolder(folder / name).check(task.settings)


def _encode(tasks: Mapping[str, Task], folder: Path, on_step: OnRun | None) -> None:
    """Encode everything and measure every bias once, before processes would all begin to."""
    for name, task in tasks.items():
        if RunFolder(folder / name).result() is None:
            prepare_run(task, folder, None if on_step is None else partial(on_step, name))


def prepare_run(task: Task, folder: Path, on_step: OnStep | None = None) -> None:
    """Encode the pairs of a run, and measure its bias, into the folder that it shares with others."""
    for prepare in shared_parts(task).values():
        prepare(task, folder, on_step)


def shared_parts(task: Task) -> dict[str, Prepare]:
    """Return what a run shares with others that need the same, by a name of each part, and how it is made."""
    if not task.fitted_by_trainer:
        return {}
    from goldlabel.train.encoded import encoding_key

    parts: dict[str, Prepare] = {encoding_key(task): _encode_pairs}
    if task.options.debias is not None:
        from goldlabel.train.bias import bias_key
        from goldlabel.train.debias.preparation import bias_names

        if biases := [bias_key(name, task) for name in bias_names(task.options)]:
            parts["+".join(biases)] = _measure_biases
    return parts


def _encode_pairs(task: Task, folder: Path, on_step: OnStep | None) -> None:
    from goldlabel.train.encoded import encode_task

    start: Any = None if task.options.start is None else load_model(task.options.start, "cpu")
    encode_task(task, start, folder / ENCODED)


def _measure_biases(task: Task, folder: Path, on_step: OnStep | None) -> None:
    from goldlabel.train.debias.preparation import measure_biases

    measure_biases(task, folder / BIAS, fit_model, on_step)


def _train(tell: Tell, task: Task, folder: Path, name: str) -> Run:
    return run_task(task, folder / name, tell, encoded=folder / ENCODED)


def _write_summary(result: Sweep) -> None:
    write_text(result.folder / SUMMARY, json.dumps(result.to_dict(), indent=2, ensure_ascii=False) + "\n")


def _shown(figures: Mapping[str, Any]) -> str:
    deviation = "" if figures["sd"] is None else f" ± {100 * figures['sd']:.1f}"
    return f"{100 * figures['mean']:.1f}{deviation}"
