"""``goldlabel explain``: why the number."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goldlabel.cli.compare import print_examples
from goldlabel.cli.loading import (
    LevelOption,
    LimitOption,
    ModelArgument,
    SplitOption,
    asks_model,
    tell_usage,
)
from goldlabel.cli.output import (
    AllOption,
    JsonOption,
    PathArgument,
    SeedOption,
    folder_option,
    most_rows,
    note,
    open_pairs,
    print_json,
    print_table,
    progress,
)
from goldlabel.cli.reading import ReadingOptions, reads_files

if TYPE_CHECKING:
    from goldlabel.evaluate.explanation import Explanation

_HEADINGS = {
    "figures": "without the premise or the hypothesis, and beside a model that never reads the premise",
    "artifacts": "where an artifact of the training set points to the gold label, and where to another",
    "edits": "after edits: how often the answer flips, and whether it is what it must be",
}


@asks_model
@reads_files
def explain_command(
    model: ModelArgument,
    path: PathArgument,
    train: Annotated[
        str | None,
        typer.Option(
            "--train",
            metavar="PATH",
            help="The training set whose artifacts are looked for; by default what the run names, if it was added.",
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="MODEL", help="Another model, for the pairs that decide between the two."),
    ] = None,
    split: SplitOption = None,
    examples: Annotated[
        int, typer.Option("--examples", min=0, help="Pairs to show of those that only one of two models got right.")
    ] = 3,
    level: LevelOption = 0.95,
    output: Annotated[Path | None, folder_option("Folder for the figures, the tables and every answer.")] = None,
    *,
    loading: dict[str, Any],
    reading: ReadingOptions,
    limit: LimitOption = None,
    seed: SeedOption = 0,
    print_all: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Explain a model's accuracy: artifacts it follows, what survives without the premise, edits that must flip it."""
    from goldlabel.explain import check_folder, explain, write_explanation

    if output is not None:
        check_folder(output)
    pairs = open_pairs(path, reading, limit=None)
    training = None if train is None else open_pairs(train, reading, limit=None)
    with progress(f"asking {model}", None, in_bytes=False) as advance:
        result = explain(
            model,
            pairs,
            train=training,
            against=against,
            split=split,
            limit=limit,
            examples=examples,
            level=level,
            seed=seed,
            on_pairs=advance,
            **loading,
        )
    for line in result.notes:
        note(line)
    tell_usage(result.usage)
    if output is not None:
        write_explanation(result, output)
    if as_json:
        print_json(result.to_dict() | ({"output": str(output)} if output else {}))
    else:
        _print(result, output, most_rows(print_all))


def _print(result: Explanation, output: Path | None, most: int | None) -> None:
    typer.echo(result.title)
    for name, table in result.tables.items():
        typer.echo(f"\n{_HEADINGS[name]}:")
        print_table(table.columns, table.iter_rows(), most=most)
    if result.comparison is not None:
        typer.echo(f"\n{result.comparison.title}")
        print_examples(result.comparison)
    if result.untested:
        typer.echo(f"\n{result.untested} more artifacts of {result.training} are carried by too few of these pairs")
    typer.echo("")
    for sentence in result.findings:
        typer.echo(sentence)
    if output is not None:
        typer.echo(f"output: {output}")
