"""``sweep``: one model trained many times, over seeds, sizes of the training set and points of a grid."""

from __future__ import annotations

import json
import shutil
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from goldlabel.errors import InputError
from goldlabel.files import write_text
from goldlabel.models.model import find_member
from goldlabel.pairs import Pairs, Result
from goldlabel.pairs.labels import LabelSpace
from goldlabel.train.checking import check_task, is_network
from goldlabel.train.fitting import prepare_task
from goldlabel.train.grid import Grid, parse_grid, point_name, points
from goldlabel.train.options import OWN, TrainOptions, change_options
from goldlabel.train.result import Training
from goldlabel.train.run_folder import ENVIRONMENT, RESULT, RunFolder
from goldlabel.train.running import OnRun, Outcome, Run, run_here, run_in_processes
from goldlabel.train.task import Task, gather_task
from goldlabel.train.training import ENCODED, as_list, run_settings

SUMMARY = "summary.json"


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
    runs: Mapping[str, Training] = field(default_factory=dict)
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
            row |= {name: _shown(one) for name, one in figures["dev"].items()}
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

    def figures(self, case: Case) -> dict[str, Any]:
        """Return mean, standard deviation and number over a case's seeds: of each dev set, and of their mean."""
        done = self._runs_of(case)
        names = list(done[0].dev) if done else []
        means = [statistics.fmean(one.accuracies.values()) for one in done if one.dev]
        return {
            "case": case.name,
            "values": dict(case.values),
            "runs": len(done),
            "dev": {name: spread([one.accuracies[name] for one in done]) for name in names},
            "mean": spread(means) if means else None,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the figures of every case; ``dev``, ``parameters``, ``epochs`` and the rate are the best case's."""
        best = self.best or (self.cases[0] if self.cases else None)
        of_best = self._runs_of(best) if best else []
        return {
            "run": str(self.folder),
            "model": self.model,
            "parameters": of_best[0].parameters if of_best else None,
            "epochs": statistics.fmean(one.epochs for one in of_best) if of_best else None,
            "dev": {name: one["mean"] for name, one in self.figures(best)["dev"].items()} if best else {},
            "seconds": sum(one.seconds for one in self.runs.values()),
            "pairs_per_second": statistics.fmean(one.pairs_per_second for one in of_best) if of_best else None,
            "seed": self.seeds[0],
            "seeds": list(self.seeds),
            "best": self.best.name if self.best else None,
            "cases": [self.figures(case) for case in self.cases],
            "runs": [one.to_dict() for one in self.runs.values()],
            "failed": dict(self.failed),
        }

    def _runs_of(self, case: Case) -> list[Training]:
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
    jobs: int = 1,
    dev: Pairs | Sequence[Pairs] = (),
    sizes: Sequence[int | None] | None = None,
    split: str | None = None,
    vocabulary: Sequence[Pairs] = (),
    label_space: LabelSpace | str | None = None,
    options: TrainOptions | None = None,
    on_step: OnRun | None = None,
    **changes: Any,
) -> Sweep:
    """Train a model with ``seeds`` seeds at each size of ``curve`` and each point of ``grid``, ``jobs`` at a time.

    The sizes of ``curve`` are nested samples of the training data; ``grid`` gives lists of values by the name of an
    option. The other arguments are those of ``train``. With ``jobs`` above 1, a script that calls this needs the
    usual ``if __name__ == "__main__":``, as the processes import it.
    """
    chosen = change_options(options or TrainOptions(), changes)
    task = gather_task(
        model,
        as_list(on),
        sizes=sizes,
        split=split,
        dev=as_list(dev),
        vocabulary=vocabulary,
        label_space=label_space,
        seed=chosen.seed,
    )
    parsed = None if grid is None else parse_grid(grid, model)
    return run_sweep(task, Path(output), chosen, seeds=seeds, curve=curve, grid=parsed, jobs=jobs, on_step=on_step)


def run_sweep(
    task: Task,
    folder: Path,
    options: TrainOptions,
    *,
    seeds: int = 1,
    curve: Sequence[int] = (),
    grid: Grid | None = None,
    jobs: int = 1,
    on_step: OnRun | None = None,
) -> Sweep:
    """Train every run that the folder does not hold finished, and sum all of them up."""
    if seeds < 1 or jobs < 1:
        raise InputError(f"{seeds} seeds and {jobs} jobs cannot be; both are numbers from 1 on")
    if options.fixed:
        raise InputError(
            "weights that stay as they are need no sweep; leave out --fixed, or --seeds, --sizes and --grid"
        )
    cases = plan_cases(options, curve, grid)
    result = Sweep(folder, task.model, range(options.seed, options.seed + seeds), cases)
    runs = _plan_runs(result)
    _check(task, result, runs)
    encoded = folder / ENCODED
    finished: dict[str, Training] = {}
    failed: dict[str, str] = {}

    def summed_up() -> Sweep:
        ordered = {run.name: finished[run.name] for run in runs if run.name in finished}
        return replace(result, runs=ordered, failed=failed)

    def done(outcome: Outcome) -> None:
        if outcome.training is not None:
            finished[outcome.run.name] = outcome.training
        else:
            failed[outcome.run.name] = str(outcome.error)
        _write_summary(summed_up())

    _write_summary(result)
    _prepare(task, runs, encoded)
    if jobs == 1:
        run_here(task, runs, encoded, done, on_step)
    else:
        run_in_processes(task, runs, encoded, done, on_step, jobs=jobs)
    shutil.rmtree(encoded, ignore_errors=True)
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


def _plan_runs(result: Sweep) -> list[Run]:
    return [
        Run(name := _run_name(case, seed), result.folder / name, replace(case.options, seed=seed))
        for case in result.cases
        for seed in result.seeds
    ]


def _run_name(case: Case, seed: int) -> str:
    return f"{case.name}/seed-{seed}" if case.name else f"seed-{seed}"


def _check(task: Task, result: Sweep, runs: Sequence[Run]) -> None:
    """Refuse what no run could do, and folders with something else in them, before anything is written."""
    folder = result.folder
    if (folder / ENVIRONMENT).exists():
        raise InputError(f"{folder}: holds a single run; choose another folder for several with -o")
    if folder.exists() and not (folder / SUMMARY).exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: holds something else than runs; choose another folder with -o")
    for run in runs:
        check_task(task, run.options)
        RunFolder(run.folder).check(run_settings(task, run.options))


def _prepare(task: Task, runs: Sequence[Run], encoded: Path) -> None:
    """Encode everything once, before processes would all begin to."""
    if is_network(find_member(task.model)):
        for run in runs:
            if not (run.folder / RESULT).exists():
                prepare_task(task, run.options, encoded)


def _write_summary(result: Sweep) -> None:
    write_text(result.folder / SUMMARY, json.dumps(result.to_dict(), indent=2, ensure_ascii=False) + "\n")


def _shown(figures: Mapping[str, Any]) -> str:
    deviation = "" if figures["sd"] is None else f" ± {100 * figures['sd']:.1f}"
    return f"{100 * figures['mean']:.1f}{deviation}"
