"""``goldlabel data apply-review``: what a person decided about doubtful labels, put into the data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from goldlabel.cli.card import Details, makes_dataset
from goldlabel.cli.output import JsonOption, PathArgument, folder_option, open_pairs, progress, refuse_own_input, show
from goldlabel.cli.reading import ReadingOptions, reads_files


@makes_dataset
@reads_files
def apply_review_command(
    path: PathArgument,
    review: Annotated[
        Path,
        typer.Argument(
            metavar="REVIEW",
            help="A table with the columns id, label and decision, such as label_errors.csv of an audit: CSV, Excel, …",
        ),
    ],
    output: Annotated[Path, folder_option("Folder to write.")],
    *,
    details: Details,
    reading: ReadingOptions,
    as_json: JsonOption = False,
) -> None:
    """Apply a review's decisions: keep, a label, or drop; a row without one is left alone."""
    from goldlabel.pairs.review import apply_review

    refuse_own_input(output, path)
    result = apply_review(open_pairs(path, reading, limit=None).describe(**details), review)
    with progress(f"writing {output}", None):
        result.write(output)
    show(result, as_json, output=str(output))
