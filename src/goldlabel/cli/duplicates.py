"""``goldlabel data duplicates``: what stands twice, and what leaks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goldlabel.cli.card import Details, makes_dataset, refuse_details
from goldlabel.cli.output import (
    AllOption,
    JsonOption,
    LimitOption,
    folder_option,
    most_rows,
    open_pairs,
    print_json,
    print_table,
    progress,
    refuse_own_input,
)
from goldlabel.cli.reading import ReadingOptions, reads_files
from goldlabel.errors import InputError
from goldlabel.registry import one_of

if TYPE_CHECKING:
    from goldlabel.pairs import Pairs
    from goldlabel.pairs.duplicates import Duplicates


@makes_dataset
@reads_files
def duplicates_command(
    paths: Annotated[list[str], typer.Argument(metavar="PATH…", help="Files, folders, or names of added sources.")],
    against: Annotated[
        list[str] | None,
        typer.Option("--against", help="A dataset that is only compared with; may be given several times."),
    ] = None,
    on: Annotated[str, typer.Option("--on", help="What is compared: pair, premise or hypothesis.")] = "pair",
    threshold: Annotated[
        float, typer.Option("--threshold", help="Least similarity, from 0.5 to 1; 1 means exact duplicates only.")
    ] = 0.8,
    drop: Annotated[
        bool, typer.Option("--drop", help="Write the pairs with one of each cluster; train gives way to dev and test.")
    ] = False,
    output: Annotated[
        Path | None,
        folder_option("Folder for what --drop leaves; for several PATHs, one folder in it each."),
    ] = None,
    *,
    details: Details,
    reading: ReadingOptions,
    limit: LimitOption = None,
    print_all: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Find exact and near duplicates within and across datasets, and drop them if you like."""
    from goldlabel.pairs.duplicates import FIELDS, find_duplicates

    one_of("--on", on, tuple(FIELDS))
    if not drop:
        refuse_details(details, "without --drop none is written")
    if drop != (output is not None):
        raise InputError("--drop and -o go together: say with -o where the pairs shall be written")
    datasets, others = (
        [open_pairs(path, reading, limit=limit) for path in some_paths or ()] for some_paths in (paths, against)
    )
    targets = _targets(datasets, paths, against or [], output) if output else []
    with progress(f"comparing {sum(map(len, [*datasets, *others])):,} pairs", None):
        duplicates = find_duplicates(datasets, against=others, on=on, threshold=threshold)
    for number, target in enumerate(targets):
        with progress(f"writing {target}", None):
            duplicates.without(datasets[number], number).describe(**details).write(target)
    _show(duplicates, len(duplicates.redundant) if drop else 0, output, print_all, as_json)


def _targets(datasets: list[Pairs], paths: list[str], against: list[str], output: Path) -> list[Path]:
    """Return the folder of each dataset's output."""
    names = [pairs.card.name for pairs in datasets]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise InputError(
            f"two datasets are called {twice!r} and would be written to one folder; drop from one at a time"
        )
    targets = [output] if len(names) == 1 else [output / name for name in names]
    for target in targets:
        for path in (*paths, *against):
            refuse_own_input(target, path)
    return targets


def _show(duplicates: Duplicates, dropped: int, output: Path | None, print_all: bool, as_json: bool) -> None:
    counts = duplicates.to_dict()
    written = {"output": str(output)} if output else {}
    if as_json:
        print_json({**counts, "dropped": dropped, **written})
        return
    typer.echo(duplicates.title)
    for name in ("across_splits", "across_datasets", "contradictory"):
        if counts[name] is not None:
            typer.echo(f"{name.replace('_', ' ')}: {counts[name]:,}")
    table = duplicates.table.drop("input")
    if len(table):
        print_table(table.columns, table[: most_rows(print_all)].iter_rows(), of=len(table))
    if output:
        typer.echo(f"dropped: {dropped:,}")
        typer.echo(f"output: {output}")
