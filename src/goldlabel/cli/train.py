"""``goldlabel train``: fit a model, once or many times."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goldlabel.cli.entry import INTERRUPTED
from goldlabel.cli.output import (
    JsonOption,
    LimitOption,
    SeedOption,
    folder_option,
    note,
    note_left_out,
    open_pairs,
    parse_map,
    show,
)
from goldlabel.cli.reading import ReadingOptions, reads_files
from goldlabel.cli.recipe import RecipeOptions, follows_recipe
from goldlabel.cli.steps import display_steps
from goldlabel.cli.work import WorkOptions, does_pieces
from goldlabel.errors import InputError

if TYPE_CHECKING:
    from goldlabel.train import Run, Sweep
    from goldlabel.train.task import Task

FAILED = 1


@reads_files
@does_pieces
@follows_recipe
def train_command(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL", help="Name of a model, such as esim or linear, or hf:NAME; see 'goldlabel models'."
        ),
    ],
    output: Annotated[Path, folder_option("The run's folder; an unfinished run there goes on.")],
    on: Annotated[
        list[str] | None,
        typer.Option(
            "--on",
            metavar="PATH[:N|:Nx]",
            help="Pairs to train on: all, N drawn by the seed, or with Nx each N times an epoch; several allowed.",
        ),
    ] = None,
    dev: Annotated[
        list[str] | None,
        typer.Option(
            "--dev", metavar="PATH", help="Pairs to stop on; by default the dev splits of --on; several allowed."
        ),
    ] = None,
    split: Annotated[
        str | None, typer.Option("--split", help="Train on this split of --on instead of train, such as test.")
    ] = None,
    hypothesis_only: Annotated[bool, typer.Option("--hypothesis-only", help="Never show the model a premise.")] = False,
    premise_only: Annotated[bool, typer.Option("--premise-only", help="Never show the model a hypothesis.")] = False,
    *,
    recipe: RecipeOptions,
    vocabulary: Annotated[
        list[str] | None,
        typer.Option("--vocabulary", metavar="PATH", help="More pairs whose words the model shall know."),
    ] = None,
    label_space: Annotated[
        str | None,
        typer.Option(
            "--label-space", metavar="NAME", help="What the labels become, whatever they are: a space such as nli2."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="An option of this model; several allowed.")
    ] = None,
    debias: Annotated[
        str | None,
        typer.Option(
            "--debias",
            metavar="METHOD",
            help="Keep the model from reading a bias: adv, drift, learned-mixin, learned-mixin-h, weighting, "
            "confidence, focal or jtt.",
        ),
    ] = None,
    bias: Annotated[
        list[str] | None,
        typer.Option(
            "--bias",
            metavar="MODEL|RUN|overlap|pmi|audit",
            help="The bias model: a model's name (trained without premises), a run, or features; several allowed.",
        ),
    ] = None,
    debias_settings: Annotated[
        list[str] | None,
        typer.Option("--debias-set", metavar="KEY=VALUE", help="An option of the method; several allowed."),
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Train with so many seeds, from --seed on.")] = 1,
    sizes: Annotated[
        str | None,
        typer.Option("--sizes", metavar="N,N,…", help="Learning curve: train on nested samples of these sizes."),
    ] = None,
    grid: Annotated[
        str | None, typer.Option("--grid", metavar="FILE|NAME", help="Train with every combination of a grid's values.")
    ] = None,
    devices: Annotated[
        int | None,
        typer.Option("--devices", min=1, help="Train one model in so many processes, each with a GPU or its cores."),
    ] = None,
    work: WorkOptions,
    reading: ReadingOptions,
    limit: LimitOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Train a model on pairs; what is left open comes from the model's published recipe."""
    from goldlabel.models.model import find_member
    from goldlabel.models.options import parse_options
    from goldlabel.train import TrainOptions
    from goldlabel.train.options import model_options
    from goldlabel.train.task import gather_task

    find_member(model)
    options = TrainOptions(
        seed=seed,
        reads=_reads(hypothesis_only, premise_only),
        **recipe,
        debias=debias,
        debias_options=_method_options(debias, parse_map("--debias-set", debias_settings)),
        bias=tuple(bias or ()),
        options=parse_options(parse_map("--set", settings), model_options(model), model),
    )
    runs = _several(model, debias, seeds, sizes, grid)
    on_cluster = devices is not None and (work.executor == "ray" or work.cluster is not None)
    if runs is None and work.chosen and not on_cluster:
        raise InputError(f"{work.chosen} is for several runs; add --seeds, --sizes or --grid, or leave it out")
    if runs is not None and devices:
        raise InputError("--devices is for one run; several share the devices by --jobs and --gpus-per-job")
    opened = partial(open_pairs, reading=reading, limit=limit)
    samples = [parse_sample(text) for text in on or []]
    task = gather_task(
        model,
        [opened(path) for path, _, _ in samples],
        options,
        sizes=[size for _, size, _ in samples],
        copies=[copies for _, _, copies in samples],
        split=split,
        dev=[opened(path) for path in dev or []],
        vocabulary=[opened(path) for path in vocabulary or []],
        label_space=label_space,
    )
    _tell(task)
    result = _run(task, output, runs, work, devices)
    if result is None:  # another process leads
        return
    _tell_finished(result)
    show(result, as_json)
    failed: dict[str, str] = getattr(result, "failed", {})
    for name, error in failed.items():
        note(f"goldlabel: {name}: {error}")
    if failed:
        raise typer.Exit(FAILED)


def parse_sample(text: str) -> tuple[str, int | None, int]:
    """Read ``PATH:N``, a size, or ``PATH:Nx``, copies; a path that exists with its colon and number is a path."""
    sample = re.fullmatch(r"(.+):(\d+)(x?)", text, re.ASCII)
    if sample is None or Path(text).exists():
        return text, None, 1
    path, number = sample[1], int(sample[2])
    if not number:
        raise InputError(f"--on {text}: 0 pairs are nothing to train on; give a number from 1 on")
    return (path, None, number) if sample[3] else (path, number, 1)


def _reads(hypothesis_only: bool, premise_only: bool) -> str:
    if hypothesis_only and premise_only:
        raise InputError("--hypothesis-only and --premise-only leave nothing to read; choose one")
    return "hypothesis" if hypothesis_only else "premise" if premise_only else "both"


def _method_options(debias: str | None, settings: Mapping[str, str]) -> dict[str, Any]:
    """Read the options of a debiasing method; without one, they are refused with the other options."""
    from goldlabel.models.options import parse_options
    from goldlabel.train.options import method_options

    return parse_options(settings, method_options(debias), debias) if debias and settings else dict(settings)


def _several(model: str, debias: str | None, seeds: int, sizes: str | None, grid: str | None) -> dict[str, Any] | None:
    """Return what makes a sweep of a run, or None."""
    from goldlabel.train import read_grid

    if seeds == 1 and sizes is None and grid is None:
        return None
    try:
        curve = [int(size) for size in sizes.split(",")] if sizes else []
    except ValueError as error:
        raise InputError(f"--sizes {sizes} are not numbers joined by commas, such as 1000,5000") from error
    return {"seeds": seeds, "curve": curve, "grid": read_grid(grid, model, debias) if grid else None}


def _tell(task: Task) -> None:
    """Say what is done without having been asked for."""
    from goldlabel.pairs.gold import UNSPLIT

    for gold in (task.gold, *task.dev):
        name = gold.name if gold.split == UNSPLIT else f"{gold.name}, {gold.split}"
        note_left_out(name, gold.without_gold)
    if task.options.debias is not None:
        from goldlabel.train.debias.preparation import warn_of_bias

        for warning in warn_of_bias(task):
            note(f"goldlabel: warning: {warning}")
    if not task.dev:
        note("there is no dev set: nothing is scored, and training does not stop early; give one with --dev")


def _tell_finished(result: Run | Sweep) -> None:
    """Say what was not trained, as it had been before, and what the runs have noted."""
    runs = list(getattr(result, "runs", {"": result}).values())
    for run in runs:
        for text in run.notes:
            note(f"{run.run}: {text}")
    if before := sum(run.finished_before for run in runs):
        what = "this run was" if runs == [result] else f"{before} of {len(runs)} runs were"
        note(f"{what} finished already and not trained again; another -o trains anew")


def _run(
    task: Task, output: Path, runs: dict[str, Any] | None, work: WorkOptions, devices: int | None
) -> Run | Sweep | None:
    from goldlabel.train.devices import is_one_of_many, join_and_run, run_on_devices
    from goldlabel.train.fit import run_task
    from goldlabel.train.sweep import run_sweep

    try:
        if runs is not None:
            with work.open() as executor, display_steps(work.jobs) as on_run:
                return run_sweep(task, output, **runs, executor=executor, on_step=on_run)
        with display_steps(1) as on_run:
            on_step = None if on_run is None else partial(on_run, task.model)
            if is_one_of_many():
                return join_and_run(task, output, on_step)
            if devices is not None and work.chosen:
                from goldlabel.train.cluster_devices import run_on_cluster

                return run_on_cluster(task, output, devices=devices, cluster=work.cluster)
            if devices is not None and devices > 1:
                return run_on_devices(task, output, on_step, devices=devices)
            return run_task(task, output, on_step)
    except KeyboardInterrupt:
        note(f"goldlabel: interrupted; give the same command once more to go on with {output}")
        raise SystemExit(INTERRUPTED) from None
