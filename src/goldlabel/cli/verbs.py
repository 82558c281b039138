"""``goldlabel data head, sample, filter, merge, diff, dedupe``: a few lines each over the library."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goldlabel.cli.card import Details, makes_dataset, refuse_details
from goldlabel.cli.output import (
    AllOption,
    JsonOption,
    LimitOption,
    PathArgument,
    SeedOption,
    folder_option,
    most_rows,
    open_pairs,
    print_json,
    print_table,
    progress,
    refuse_own_input,
    show,
)
from goldlabel.cli.reading import ReadingOptions, reads_files
from goldlabel.registry import one_of

if TYPE_CHECKING:
    from goldlabel.pairs import Pairs

COLUMNS = ("id", "label", "premise", "hypothesis")
PathsArgument = Annotated[list[str], typer.Argument(metavar="PATH…", help="Files, folders, or names of added sources.")]
CountOption = Annotated[int, typer.Option("--pairs", "-n", min=1, help="How many pairs.")]
OutputOption = Annotated[Path | None, folder_option("Folder to write; without one, pairs are printed.")]


@reads_files
def head_command(
    path: PathArgument, pairs: CountOption = 5, *, reading: ReadingOptions, as_json: JsonOption = False
) -> None:
    """Show the first pairs of a dataset."""
    _print_pairs(open_pairs(path, reading, limit=pairs), as_json)


@makes_dataset
@reads_files
def sample_command(
    path: PathArgument,
    pairs: CountOption = 5,
    output: OutputOption = None,
    *,
    details: Details,
    reading: ReadingOptions,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Draw pairs at random, and show or write them."""
    _give(open_pairs(path, reading, limit=None).sample(pairs, seed), path, output, details, as_json)


@makes_dataset
@reads_files
def filter_command(
    path: PathArgument,
    where: Annotated[
        str, typer.Option("--where", help="Condition in SQL, such as \"label = 'neutral' and length > 20\".")
    ],
    output: OutputOption = None,
    *,
    details: Details,
    reading: ReadingOptions,
    limit: LimitOption = None,
    print_all: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Keep the pairs for which a condition holds, and show or write them."""
    from goldlabel.pairs.conditions import where as keep_where

    _give(keep_where(open_pairs(path, reading, limit=limit), where), path, output, details, as_json, print_all)


@makes_dataset
@reads_files
def merge_command(
    paths: PathsArgument,
    output: Annotated[Path, folder_option("Folder to write.")],
    prefix: Annotated[bool, typer.Option("--prefix", help="Put the name of its dataset before each id.")] = False,
    *,
    details: Details,
    reading: ReadingOptions,
    limit: LimitOption = None,
    as_json: JsonOption = False,
) -> None:
    """Put several datasets into one; each pair still says where it comes from."""
    from goldlabel.pairs.merging import merge

    for path in paths:
        refuse_own_input(output, path)
    datasets = [open_pairs(path, reading, limit=limit) for path in paths]
    merged = merge(datasets, name=output.name, prefix=prefix).describe(**details)
    with progress(f"writing {output}", None):
        show(merged.write(output), as_json, output=str(output))


@reads_files
def diff_command(
    old: Annotated[str, typer.Argument(metavar="OLD", help="A dataset, as PATH elsewhere.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Another version of it.")],
    *,
    reading: ReadingOptions,
    print_all: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say what was added, dropped, relabelled and reworded between two versions of a dataset."""
    from goldlabel.pairs.difference import compare_versions

    result = compare_versions(open_pairs(old, reading, limit=None), open_pairs(new, reading, limit=None))
    show(result, as_json)
    if as_json:
        return
    columns = ["kind", "id", "old_label", "label", "premise", "hypothesis"]
    if len(result.pairs):
        typer.echo()
        shown = result.pairs.select(columns)[: most_rows(print_all)]
        print_table(columns, shown.iter_rows(), of=len(result.pairs))


@makes_dataset
@reads_files
def dedupe_command(
    path: PathArgument,
    output: Annotated[Path, folder_option("Folder to write.")],
    on: Annotated[str, typer.Option("--on", help="What is compared: pair, premise or hypothesis.")] = "pair",
    threshold: Annotated[float, typer.Option("--threshold", help="Least similarity; 1 means exact duplicates.")] = 1.0,
    *,
    details: Details,
    reading: ReadingOptions,
    limit: LimitOption = None,
    as_json: JsonOption = False,
) -> None:
    """Keep one pair of each cluster of duplicates; train gives way to dev and test."""
    from goldlabel.pairs.duplicates import FIELDS, find_duplicates

    one_of("--on", on, tuple(FIELDS))
    refuse_own_input(output, path)
    pairs = open_pairs(path, reading, limit=limit)
    with progress(f"comparing {len(pairs):,} pairs", None):
        duplicates = find_duplicates([pairs], on=on, threshold=threshold)
        kept = duplicates.without(pairs, 0).describe(**details).write(output)
    show(kept, as_json, dropped=len(pairs) - len(kept), output=str(output))


def _give(
    pairs: Pairs, path: str, output: Path | None, details: Details, as_json: bool, print_all: bool = True
) -> None:
    if output is None:
        refuse_details(details, "without -o none is written")
        _print_pairs(pairs, as_json, print_all)
        return
    refuse_own_input(output, path)
    with progress(f"writing {output}", None):
        written = pairs.describe(**details).write(output)
    show(written, as_json, output=str(output))


def _print_pairs(pairs: Pairs, as_json: bool, print_all: bool = True) -> None:
    if as_json:
        print_json({"name": pairs.card.name, "pairs": list(pairs)})
        return
    most = most_rows(print_all)
    frame = pairs.frame.select(COLUMNS)
    frame = frame if most is None else frame.head(most)
    print_table(list(COLUMNS), frame.collect().iter_rows(), of=len(pairs))
