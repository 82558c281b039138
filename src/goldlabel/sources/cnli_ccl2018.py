"""CNLI: the shared task of CCL 2018, SNLI and MultiNLI in Chinese."""

from collections.abc import Iterator
from typing import cast

from goldlabel.errors import InputError
from goldlabel.pairs.labels import NO_GOLD
from goldlabel.pairs.rows import Row
from goldlabel.sources.source import SOURCES, Intake, Source, SourceFile, numbered, text_lines


def _lines(intake: Intake) -> Iterator[tuple[int, Row]]:
    for number, line in enumerate(text_lines(intake.file, intake.on_bytes), 1):
        if line:
            yield number, {"cells": line.split("\t")}


def _labelled(row: Row) -> Row:
    return _pair(row, 4)


def _unlabelled(row: Row) -> Row:
    return _pair(row, 3)


def _pair(row: Row, columns: int) -> Row:
    """Read the first columns only: some lines go on with stray tabs."""
    cells = cast(list[str], row["cells"])
    if len(cells) < columns:
        raise InputError(f"has {len(cells)} columns where {columns} are needed")
    label = cells[3] if columns == 4 else NO_GOLD
    rest = [cell for cell in cells[columns:] if cell.strip()]
    return {
        "id": cells[0],
        "premise": cells[1],
        "hypothesis": cells[2],
        "label": label.strip(),
        "meta": {"columns": rest} if rest else {},
    }


_train = SourceFile(r"cnli_train_1\.0\.txt", "train", numbered(_lines, _labelled))
_dev = SourceFile(r"cnli_dev_1\.0\.txt", "dev", numbered(_lines, _labelled))

SOURCES.add(
    "cnli-ccl2018",
    Source(
        name="cnli-ccl2018",
        title="Chinese NLI, shared task of CCL 2018",
        paper="CCL 2018 shared task: Chinese natural language inference, https://github.com/blcunlp/CNLI",
        licence="none stated",
        address="https://github.com/blcunlp/CNLI",
        language="zh",
        description="Translated pairs; the labelled test file is read where it is given. The address is the "
        "project's page.",
        files=(_train, _dev, SourceFile(r"cnli_test_labeled\.txt", "test", numbered(_lines, _labelled))),
        other_layouts=((_train, _dev, SourceFile(r"cnli_test_1\.0\.txt", "test", numbered(_lines, _unlabelled))),),
    ),
)
