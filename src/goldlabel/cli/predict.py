"""``goldlabel predict``: a model's probabilities for every pair."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from goldlabel.cli.entry import INTERRUPTED
from goldlabel.cli.loading import (
    LimitOption,
    ModelArgument,
    asks_model,
    tell_usage,
)
from goldlabel.cli.output import (
    JsonOption,
    PathArgument,
    note,
    open_pairs,
    progress,
    refuse_own_input,
    show,
)
from goldlabel.cli.reading import ReadingOptions, reads_files
from goldlabel.cli.work import WorkOptions, does_pieces


@does_pieces
@asks_model
@reads_files
def predict_command(
    model: ModelArgument,
    path: PathArgument,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="File to write: .parquet, .jsonl or .csv; what was interrupted goes on."),
    ],
    split: Annotated[str | None, typer.Option("--split", help="Predict this split only; by default all pairs.")] = None,
    *,
    loading: dict[str, Any],
    reading: ReadingOptions,
    work: WorkOptions,
    limit: LimitOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the probability of each label for each pair, with a gold label or without."""
    from goldlabel.evaluate import predict
    from goldlabel.evaluate.prediction import asked_pairs

    refuse_own_input(output, path)
    refuse_own_input(output, model)
    pairs = open_pairs(path, reading, limit=None)
    try:
        with (
            work.open() if work.chosen or work.jobs else nullcontext() as executor,
            progress(f"predicting {path}", len(asked_pairs(pairs, split, limit)), in_bytes=False) as advance,
        ):
            result = predict(
                model,
                pairs,
                output,
                split=split,
                limit=limit,
                on_pairs=advance,
                executor=executor,
                **loading,
            )
    except KeyboardInterrupt:
        note(f"goldlabel: interrupted; give the same command once more to go on with {output}")
        raise SystemExit(INTERRUPTED) from None
    if result.predicted_before:
        note(f"{result.predicted_before:,} of {result.pairs:,} pairs were predicted before, and not again")
    if result.unanswered:
        note(f"{result.unanswered:,} of {result.pairs:,} pairs have no answer; their label is '-'")
    tell_usage(result.usage)
    show(result, as_json)
