"""``goldlabel score``: how well a model does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

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
    ByOption,
    JsonOption,
    SeedOption,
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
    from goldlabel.evaluate import Scores


@asks_model
@reads_files
def score_command(
    model: ModelArgument,
    paths: Annotated[list[str], typer.Argument(metavar="PATH…", help="Files, folders, or names of added sources.")],
    split: SplitOption = None,
    by: ByOption = None,
    level: LevelOption = 0.95,
    resamples: Annotated[int, typer.Option("--resamples", min=0, help="Bootstrap resamples behind F1.")] = 1000,
    *,
    loading: dict[str, Any],
    reading: ReadingOptions,
    limit: LimitOption = None,
    seed: SeedOption = 0,
    print_all: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Score a model, or a file of predictions, on pairs with gold labels."""
    from goldlabel.evaluate import score

    datasets = [open_pairs(path, reading, limit=None) for path in paths]
    with progress(f"scoring {model}", None, in_bytes=False) as advance:
        result = score(
            model,
            datasets,
            split=split,
            limit=limit,
            by=by,
            level=level,
            resamples=resamples,
            seed=seed,
            on_pairs=advance,
            **loading,
        )
    _tell(result)
    tell_usage(result.usage)
    if as_json:
        print_json(result.to_dict())
    else:
        _print(result, most_rows(print_all))


def _tell(result: Scores) -> None:
    """Say what the figures would otherwise hide."""
    for name, dataset in result.scores.items():
        note_left_out(name, dataset.without_gold)
        if unanswered := dataset.whole.accuracy.n - dataset.whole.answered:
            note(f"{name}: {unanswered:,} of {dataset.whole.accuracy.n:,} pairs have no answer and count as wrong")


def _print(result: Scores, most: int | None) -> None:
    from goldlabel.metrics import in_percent

    typer.echo(result.title)
    print_table(result.table.columns, result.table.iter_rows(), most=most)
    for name, dataset in result.scores.items():
        typer.echo(f"\n{name}: gold labels down, answers across ({dataset.convention})")
        confusion = dataset.whole.confusion
        answers = list(next(iter(confusion.values())))
        rows = [
            [
                label,
                *(confusion[label][answer] for answer in answers),
                *(in_percent(figure) for figure in (score.precision, score.recall, score.f1)),
            ]
            for label, score in dataset.whole.per_label.items()
        ]
        print_table(["", *answers, "precision", "recall", "F1"], rows)
