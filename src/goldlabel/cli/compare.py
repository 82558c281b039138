"""``goldlabel compare``: is one model better than another?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from goldlabel.cli.loading import (
    MODEL_HELP,
    DeviceOption,
    LevelOption,
    LimitOption,
    PrecisionOption,
    SplitOption,
    tell_usage,
)
from goldlabel.cli.output import (
    AllOption,
    ByOption,
    JsonOption,
    PathArgument,
    most_rows,
    note,
    note_left_out,
    open_pairs,
    print_json,
    print_table,
    progress,
)
from goldlabel.cli.reading import ReadingOptions, reads_files

if TYPE_CHECKING:
    from goldlabel.evaluate import Comparison


@reads_files
def compare_command(
    a: Annotated[str, typer.Argument(metavar="A", help=MODEL_HELP)],
    b: Annotated[str, typer.Argument(metavar="B", help="The model that A is compared with.")],
    path: PathArgument,
    split: SplitOption = None,
    by: ByOption = None,
    examples: Annotated[
        int, typer.Option("--examples", min=0, help="Pairs to show of those that only A, and only B, got right.")
    ] = 3,
    level: LevelOption = 0.95,
    device: DeviceOption = "auto",
    precision: PrecisionOption = "fp32",
    *,
    reading: ReadingOptions,
    limit: LimitOption = None,
    print_all: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compare two models, or files of predictions, on the same pairs, and show where they differ."""
    from goldlabel.evaluate import compare

    pairs = open_pairs(path, reading, limit=None)
    with progress(f"comparing on {path}", None, in_bytes=False) as advance:
        result = compare(
            a,
            b,
            pairs,
            split=split,
            limit=limit,
            by=by,
            examples=examples,
            level=level,
            on_pairs=advance,
            device=device,
            precision=precision,
        )
    _tell(result)
    if as_json:
        print_json(result.to_dict())
    else:
        _print(result, most_rows(print_all))


def _tell(result: Comparison) -> None:
    note_left_out(result.dataset, result.without_gold)
    for name, unanswered, usage in zip(result.models, result.unanswered, result.usage, strict=True):
        if unanswered:
            note(f"{name}: {unanswered:,} of {result.whole.a.n:,} pairs have no answer and count as wrong")
        tell_usage(usage)


def _print(result: Comparison, most: int | None) -> None:
    typer.echo(result.title)
    print_table(result.table.columns, result.table.iter_rows(), most=most)
    print_examples(result)


def print_examples(result: Comparison) -> None:
    """Print the pairs that only one of the two got right."""
    for who, name in zip("ab", result.models, strict=True):
        shown = [example for example in result.examples if example.right == who]
        if shown:
            typer.echo(f"\nonly {who} ({name}) is right:")
        for example in shown:
            typer.echo(f"  {example.id}: {example.label}, a says {example.a}, b says {example.b}")
            typer.echo(f"    {example.premise}\n    {example.hypothesis}")
