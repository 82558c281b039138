"""The options of commands that read exports of other annotation tools, and the reading."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from goldlabel.pairs import Pairs
    from goldlabel.pairs.reading import ReadingOptions

ToolOption = Annotated[
    str | None,
    typer.Option("--from", help="An export of another tool: label-studio, argilla, potato or doccano."),
]
QuestionOption = Annotated[
    str | None, typer.Option("--question", help="The question meant, where the export of a tool has several.")
]


def open_tool(
    paths: Sequence[Path], tool: str, question: str | None, reading: ReadingOptions, limit: int | None
) -> Pairs:
    """Read an export of an annotation tool as pairs with votes."""
    from goldlabel.pairs.labels import LabelSpace, label_space
    from goldlabel.pairs.tools.reading import read_tool

    labels = reading["labels"]
    pairs = read_tool(
        paths,
        tool,
        labels=labels if isinstance(labels, LabelSpace) else label_space(labels),
        label_map=reading["label_map"],
        columns=reading["columns"],
        question=question,
    )
    return pairs.limit(limit) if limit else pairs
