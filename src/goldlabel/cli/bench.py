"""``goldlabel bench``: judge models by a suite."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goldlabel.cli.entry import INTERRUPTED
from goldlabel.cli.loading import DeviceOption, LevelOption, PrecisionOption
from goldlabel.cli.output import (
    JsonOption,
    SeedOption,
    folder_option,
    note,
    open_pairs,
    output_width,
    parse_map,
    print_json,
    print_table,
    progress,
)
from goldlabel.cli.reading import ReadingOptions, reads_files
from goldlabel.cli.steps import display_steps
from goldlabel.cli.train import parse_sample
from goldlabel.cli.work import WorkOptions, does_pieces
from goldlabel.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from goldlabel.evaluate.results import BenchResults

FAILED = 1


@reads_files
@does_pieces
def bench_command(
    suite: Annotated[
        list[str],
        typer.Argument(
            metavar="SUITE [MODEL…]", help="cross, rounds, stress, recast, elicitation, or a YAML file of your own."
        ),
    ],
    output: Annotated[Path, folder_option("The bench's folder; an unfinished one there goes on.")],
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--models",
            metavar="[NAME=]MODEL…",
            help="What is judged: a name to train first (esim, bilstm+drift, linear@hypothesis, train:hf:PATH), or "
            "what is loaded (a run folder, hf:NAME, openai:URL#MODEL, module:function, predictions).",
        ),
    ] = None,
    train: Annotated[
        list[str] | None,
        typer.Option("--train", metavar="PATH[:N]", help="Pairs to train on, all or N drawn; several allowed."),
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Train with so many seeds, from --seed on.")] = 1,
    data: Annotated[
        list[str] | None,
        typer.Option("--data", metavar="NAME=PATH", help="Where a set lies that is not in the library."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="[MODEL.]KEY=VALUE",
            help="An option of training or of a model, for all that know it or for the one of that name.",
        ),
    ] = None,
    grids: Annotated[
        list[str] | None,
        typer.Option(
            "--grid", metavar="MODEL=FILE|NAME", help="Try a grid of options; judge what is best on the dev sets."
        ),
    ] = None,
    suite_settings: Annotated[
        list[str] | None, typer.Option("--suite-set", metavar="KEY=VALUE", help="An option of the suite.")
    ] = None,
    reference: Annotated[
        bool, typer.Option("--reference", help="Put the papers' figures, and the difference, beside ours.")
    ] = False,
    slices: Annotated[
        bool, typer.Option("--slices", help="Also tables of kinds of pairs, and of those on which a model is weak.")
    ] = False,
    contaminated: Annotated[
        str | None,
        typer.Option(
            "--contamination", help="report: which pairs stand in the training data, or nearly; drop: leave them out."
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Judge also a model that has learnt from a set, and mark it (†).")
    ] = False,
    export_to: Annotated[
        str | None,
        typer.Option(
            "--export",
            metavar="KIND",
            help="Judge nobody; write the sets as tasks for another harness: lm-eval, inspect.",
        ),
    ] = None,
    device: DeviceOption = "auto",
    precision: PrecisionOption = "fp32",
    level: LevelOption = 0.95,
    *,
    work: WorkOptions,
    reading: ReadingOptions,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Judge by the first N pairs of each set.")] = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Judge models by a suite: datasets that they were not trained on, stress tests, rounds of collection."""
    from goldlabel.bench import BenchProgress, bench

    if export_to is not None:
        _export(
            [*suite, *(models or [])],
            output,
            export_to,
            data=data,
            limit=limit,
            seed=seed,
            options=suite_settings,
            as_json=as_json,
        )
        return
    opened = partial(open_pairs, reading=reading, limit=None)
    samples = [parse_sample(text) for text in train or []]
    if any(copies > 1 for _, _, copies in samples):
        raise InputError("--train PATH:Nx is for 'goldlabel train'; give a number of pairs, PATH:N")
    name, *more = suite
    try:
        with (
            work.open() as executor,
            display_steps(work.jobs) as on_step,
            progress("reading", None, in_bytes=False) as bar,
        ):

            def tell_run(run: str, outcome: Any) -> None:
                if on_step is not None:
                    on_step(run, None)
                _tell_run(run, outcome)

            results = bench(
                name,
                [*(models or []), *more],
                output,
                train=[opened(path) for path, _, _ in samples],
                sizes=[size for _, size, _ in samples],
                seeds=seeds,
                seed=seed,
                data=parse_map("--data", data),
                limit=limit,
                options=parse_map("--suite-set", suite_settings),
                settings=parse_map("--set", settings),
                grids=parse_map("--grid", grids),
                device=device,
                precision=precision,
                executor=executor,
                reference=reference,
                slices=slices,
                contaminated=contaminated,
                force=force,
                level=level,
                progress=BenchProgress(on_run=tell_run, on_step=on_step, on_pairs=bar, on_phase=bar.begin),
            )
    except KeyboardInterrupt:
        note(f"goldlabel: interrupted; give the same command once more to go on with {output}")
        raise SystemExit(INTERRUPTED) from None
    _show(results, output, as_json)
    if results.failed:
        raise typer.Exit(FAILED)


def _show(results: BenchResults, output: Path, as_json: bool) -> None:
    """Print what came out, and what there is to know of it."""
    _tell(results)
    if as_json:
        print_json(results.to_dict())
        return
    typer.echo(results.title)
    _print_accuracies(results.table)
    typer.echo(f"tables, figures and answers: {output}")


def _export(
    suite: list[str],
    output: Path,
    kind: str,
    *,
    data: list[str] | None,
    limit: int | None,
    seed: int,
    options: list[str] | None,
    as_json: bool,
) -> None:
    from goldlabel.bench import export

    if len(suite) > 1:
        raise InputError(f"--export writes the sets of a suite and judges no model; leave {suite[1]!r} out")
    exported = export(
        suite[0],
        output,
        kind,
        data=parse_map("--data", data),
        limit=limit,
        seed=seed,
        options=parse_map("--suite-set", options),
    )
    _tell_missing(exported.missing)
    if as_json:
        print_json(exported.to_dict())
        return
    typer.echo(exported.title)
    print_table(exported.table.columns, exported.table.iter_rows())


def _print_accuracies(table: pl.DataFrame) -> None:
    """Print models by sets, or where that is too wide for the terminal, sets by models."""
    turned = table.transpose(include_header=True, header_name="set", column_names="model")
    fits = _width(table) <= output_width() or _width(table) <= _width(turned)
    shown = table if fits else turned
    print_table(shown.columns, shown.iter_rows())


def _width(table: pl.DataFrame) -> int:
    columns = zip(table.columns, *table.iter_rows(), strict=True)
    return sum(max(len(cell) for cell in column) + 2 for column in columns)


def _tell_run(name: str, outcome: Any) -> None:
    from goldlabel.executors import Failure

    if isinstance(outcome, Failure):
        note(f"goldlabel: {name}: {outcome.message}")
    else:
        note(f"{name}: {outcome.title}")


def _tell(results: BenchResults) -> None:
    """Say what the figures would otherwise hide."""
    from goldlabel.metrics import in_percent

    for text in results.plan.notes:
        note(text)
    _tell_missing(results.plan.missing)
    for text in results.contamination_notes():
        note(text)
    for (system, name), share in results.seen.items():
        note(f"{system}: was trained on {in_percent(share)} of {name}; its figure there is marked (†)")
    for (system, name), several in results.answers.items():
        pairs, missing = len(several[0].gold), max(answers.unanswered for answers in several)
        if missing:
            note(f"{system}: {missing:,} of {pairs:,} pairs of {name} have no answer and count as wrong")
    for name, message in results.failed.items():
        note(f"goldlabel: {name}: {message}")


def _tell_missing(missing: Mapping[str, str]) -> None:
    for name, why in missing.items():
        note(f"{name} is missing: {why}")
