"""``bench``: train what a suite asks for, have everything judged, and leave figures, tables and answers in a folder.

The suite plans (``evaluate/suites``), ``train`` trains, ``evaluate/judging.py`` asks; this module has them meet. The
folder holds ``index.html`` and ``bench.json`` (the figures), ``settings.json`` (what they are a function of),
``tables/`` (the papers' tables), ``labels.parquet`` (what each model says of each pair), ``ids/`` (which pairs were
judged by), ``runs/`` (what was trained) and ``answers/`` (every model's probabilities for every set). What was broken
off goes on with the same call: finished runs and answers are taken as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from goldlabel.bench.contamination import find_trained_on, hold_against
from goldlabel.bench.folder import (
    ANSWERS,
    IDS,
    TABLES,
    check_folder,
    open_folder,
    run_name,
    to_json,
    write_ids,
    write_labels,
    write_tables,
)
from goldlabel.bench.model_options import choose_models
from goldlabel.bench.progress import BenchProgress
from goldlabel.bench.training import train_systems
from goldlabel.errors import InputError
from goldlabel.evaluate.answer_store import AnswerStore
from goldlabel.evaluate.export import Exported, export_tasks
from goldlabel.evaluate.judging import Sitting, judge
from goldlabel.evaluate.results import Answers, BenchResults
from goldlabel.evaluate.suite import Request, Suite, SuitePlan, System
from goldlabel.evaluate.suite_file import SUFFIXES
from goldlabel.evaluate.suite_slices import slice_tables
from goldlabel.evaluate.suites import SUITES
from goldlabel.executors import Executor, Failure, open_executor
from goldlabel.files import write_text
from goldlabel.metrics import Estimate, check_level
from goldlabel.models import Model
from goldlabel.models.loading import check_reference, trained_on
from goldlabel.models.options import parse_options
from goldlabel.pairs import Pairs
from goldlabel.pairs.fingerprints import Fingerprints
from goldlabel.registry import suggest
from goldlabel.report.bench_page import write_bench_page
from goldlabel.report.parts.bench_results import PAGE, RESULTS, SETTINGS
from goldlabel.train.fit import as_list
from goldlabel.train.run import Run, describe_machine


def bench(
    suite: str | Suite,
    models: Sequence[str] | Mapping[str, str | Model] = (),
    output: str | Path = "bench",
    *,
    train: Pairs | Sequence[Pairs] = (),
    sizes: Sequence[int | None] | None = None,
    seeds: int = 1,
    seed: int = 0,
    data: Mapping[str, str] | None = None,
    limit: int | None = None,
    options: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    grids: Mapping[str, str] | None = None,
    device: str = "auto",
    precision: str = "fp32",
    executor: str | Executor | None = None,
    jobs: int | None = None,
    reference: bool = False,
    slices: bool = False,
    contaminated: str | None = None,
    force: bool = False,
    level: float = 0.95,
    progress: BenchProgress | None = None,
) -> BenchResults:
    """Judge models by a suite, and leave figures, tables and answers in the folder ``output``.

    ``models`` are names as ``--models`` takes them, or models by the names that tables shall call them. Those that have
    to be trained learn from ``train`` (of which ``sizes`` says how many pairs), with ``seeds`` seeds. ``data`` says
    where sets lie that are not in the library, ``limit`` judges by the first so many pairs of each. ``options`` are the
    suite's own; ``settings`` are options of training and of the models, for all that know them, or as ``NAME.OPTION``
    for the model of that name; ``grids`` names for a model the values of options to try (a YAML file, or a shipped
    grid), of which what is best on the mean over the dev sets is judged. ``slices`` adds tables of kinds of pairs, and
    of those on which a model is weak. ``contaminated`` holds the sets against the training data: ``report`` tells which
    pairs stand in it, exactly or nearly, ``drop`` leaves them out. A model that has learnt from a set is refused, or
    with ``force`` judged and marked. ``executor`` and ``jobs`` say where the work is done and how much of it at a time,
    as ``open_executor`` takes them.
    """
    if seeds < 1:
        raise InputError(f"{seeds} seeds cannot be; give a number from 1 on")
    check_level(level)
    name, chosen, own = find_suite(suite, options)
    loading = {"device": device, "precision": precision}
    request = Request(
        models=choose_models(models, settings or {}, loading, grids),
        train=tuple(as_list(train)),
        sizes=None if sizes is None else tuple(sizes),
        data=data or {},
        seed=seed,
        limit=limit,
        options=own,
    )
    plan = _plan(chosen, request)
    plan.check()
    plan, contamination = hold_against(plan, request.train or plan.trained_on, contaminated)
    seen: dict[tuple[str, str], Estimate] = {}

    def check_seen(system: System, known: Fingerprints | None) -> None:
        shares = find_trained_on(system, known, plan, force=force)
        seen.update({(system.row, part): share for part, share in shares.items()})

    for system in plan.systems:
        if isinstance(system.reference, str):
            check_reference(system.reference)
            check_seen(system, trained_on(system.reference))
    folder, progress = Path(output), progress or BenchProgress()
    described = {
        "suite": name,
        "seed": seed,
        "seeds": seeds,
        "limit": limit,
        "options": dict(request.options),
        "settings": dict(settings or {}),
        "grids": dict(grids or {}),
        "level": level,
        **_describe_plan(plan),
    }
    check_folder(folder, described)
    with open_executor(executor, jobs) as workers, open_folder(folder):
        write_text(folder / SETTINGS, to_json(described | describe_machine()))
        write_ids(plan, folder / IDS)
        numbers = tuple(range(seed, seed + seeds))
        progress.begin("training")
        trained = train_systems(
            plan, folder, numbers, workers, progress, lambda system, task: check_seen(system, task.fingerprints())
        )
        results = _judge_all(plan, folder, trained, described, numbers, loading, workers, progress)
        progress.begin("computing figures")
        results = replace(results, seen=seen, contamination=contamination)
        _write_results(results, chosen.tables(results, reference=reference), folder, slices=slices)
    return results


def _describe_plan(plan: SuitePlan) -> dict[str, Any]:
    """Return who is judged, and by what pairs."""
    return {
        "models": {system.name: _describe_system(system) for system in plan.systems},
        "sets": {part.name: {"pairs": len(part.gold), "sha256": part.gold.digest} for part in plan.sets},
    }


def _write_results(results: BenchResults, tables: Mapping[str, pl.DataFrame], folder: Path, *, slices: bool) -> None:
    """Write figures, tables and answers."""
    write_labels(results, folder)
    write_text(folder / RESULTS, to_json(results.to_dict()))
    more = slice_tables(results) if slices else {}
    everywhere = {"accuracies": results.accuracies, "ranking": results.ranking.table}
    write_tables({**tables, **everywhere, **more}, folder / TABLES)
    write_bench_page(results, tables, folder / PAGE)


def export(
    suite: str | Suite,
    output: str | Path,
    kind: str,
    *,
    data: Mapping[str, str] | None = None,
    limit: int | None = None,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
) -> Exported:
    """Write the sets of a suite as tasks of another harness, ``lm-eval`` or ``inspect``; no model is needed."""
    name, _, plan = plan_sets(suite, data=data, limit=limit, seed=seed, options=options)
    return export_tasks(plan, output, kind, suite=name)


def plan_sets(
    suite: str | Suite,
    *,
    data: Mapping[str, str] | None = None,
    limit: int | None = None,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
) -> tuple[str, Suite, SuitePlan]:
    """Return what a suite is called, the suite, and its sets, planned without any model."""
    [planned] = plan_suites([suite], data=data, limit=limit, seed=seed, options=options)
    return planned


def plan_suites(
    suites: Sequence[str | Suite],
    *,
    data: Mapping[str, str] | None = None,
    limit: int | None = None,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
) -> list[tuple[str, Suite, SuitePlan]]:
    """Return the same of several suites; ``data`` is for those of them that look for it."""
    planned, looked_up = [], set[str]()
    for suite in suites:
        name, chosen, own = find_suite(suite, options)
        request = Request(data=data or {}, seed=seed, limit=limit, options=own, looked_up=looked_up)
        plan = chosen.plan(request)
        planned.append((plan.name or name, chosen, plan))
    _refuse_unknown(data or {}, looked_up, [plan for _, _, plan in planned])
    return planned


def find_suite(suite: str | Suite, options: Mapping[str, Any] | None = None) -> tuple[str, Suite, dict[str, Any]]:
    """Return what a suite is called, the suite, and its options; a YAML file is the suite ``mine``."""
    options = dict(options or {})
    if isinstance(suite, str) and suite.endswith(SUFFIXES):
        suite, options = "mine", {"file": suite, **options}
    name = suite if isinstance(suite, str) else type(suite).__name__.lower()
    chosen = SUITES.get(suite) if isinstance(suite, str) else suite
    return name, chosen, {**chosen.options, **parse_options(options, chosen.options, f"suite {name}")}


def _plan(suite: Suite, request: Request) -> SuitePlan:
    """Have the suite plan, and refuse data that it did not ask for."""
    plan = suite.plan(request)
    _refuse_unknown(request.data, request.looked_up, [plan])
    return plan


def _refuse_unknown(data: Mapping[str, str], looked_up: Collection[str], plans: Sequence[SuitePlan]) -> None:
    if unused := [name for name in data if name not in looked_up]:
        names = [name for plan in plans for name in (*(part.name for part in plan.sets), *plan.missing)]
        raise InputError(f"--data {unused[0]}: the suite does not look for it; {suggest(unused[0], names)}")


def _describe_system(system: System) -> dict[str, Any]:
    """Return what a system is: how it is loaded, or trained on what; its run folders have the digests of that."""
    training = system.training
    if training is None:
        if isinstance(system.reference, str):
            return {"reference": system.reference, **system.loading}
        return {"reference": None, "object": "fitted to each set" if system.fit else type(system.reference).__name__}
    return {
        "model": training.model,
        "on": [pairs.card.name for pairs in training.on],
        "dev": [pairs.card.name for pairs in training.dev],
        "start": training.start,
        **training.options,
    }


def _judge_all(
    plan: SuitePlan,
    folder: Path,
    trained: Mapping[tuple[str, int], Run | Failure],
    described: Mapping[str, Any],
    seeds: tuple[int, ...],
    loading: Mapping[str, Any],
    executor: Executor,
    progress: BenchProgress,
) -> BenchResults:
    """Have every system, with every seed, answer its sets."""
    sittings = {system.name: _sittings(system, plan, trained, seeds, loading) for system in plan.systems}
    flat = [sitting for several in sittings.values() for sitting in several]
    store = AnswerStore(folder / ANSWERS)
    answered = judge(flat, store, executor, progress.on_pairs, lambda pairs: progress.begin("judging", pairs))
    outcomes = {run_name(*key): outcome for key, outcome in trained.items()} | answered
    failed = {name: outcome.message for name, outcome in outcomes.items() if isinstance(outcome, Failure)}
    answers: dict[tuple[str, str], tuple[Answers, ...]] = {}
    for system in plan.systems:
        several = sittings[system.name]
        by_seed = [outcome for sitting in several if not isinstance(outcome := answered[sitting.name], Failure)]
        for name in by_seed[0] if by_seed else ():
            answers[system.row, name] = tuple(by_set[name] for by_set in by_seed)
    if not answers:
        name, message = next(iter(failed.items()))
        reason = message if message.startswith(name) else f"{name}: {message}"
        raise InputError(f"no model could be judged; {reason}")
    return BenchResults(
        suite=plan.name or described["suite"],
        plan=plan,
        seeds=seeds,
        answers=answers,
        failed=failed,
        level=described["level"],
    )


def _sittings(
    system: System,
    plan: SuitePlan,
    trained: Mapping[tuple[str, int], Run | Failure],
    seeds: Sequence[int],
    loading: Mapping[str, Any],
) -> list[Sitting]:
    """Return a system's sittings: one for each seed that it was trained with, else one."""
    sets = tuple(part for part in plan.sets if system.is_judged_on(part.name))
    if system.training is None:
        model, fit = system.reference, system.fit
        return [Sitting(name=system.name, sets=sets, model=model, loading=system.loading, fit=fit)]
    runs = {seed: trained[system.name, seed] for seed in seeds}
    return [
        Sitting(name=run_name(system.name, seed), sets=sets, model=run.run, loading=loading)
        for seed, run in runs.items()
        if isinstance(run, Run)
    ]
