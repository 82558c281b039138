"""Checking predictions: every pair of every set has one answer, in words that the set knows, and nothing else is there.

What is said of predictions that fail is a function of ids and labels of the file, never of the gold labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from goldlabel.errors import GoldlabelError, InputError
from goldlabel.leaderboard.board import QUESTION, BoardSet, BoardSuite
from goldlabel.leaderboard.contents import MOST_UNPACKED
from goldlabel.models.predictions import Predictions, read_table
from goldlabel.pairs.labels import NO_GOLD
from goldlabel.registry import suggest

DATASET = "dataset"

Labels = Mapping[str, NDArray[np.str_]]
"""Of each set, the label that is answered to each pair, in the order of the set."""


def check_predictions(suite: BoardSuite, files: Mapping[str, Path]) -> Labels:
    """Return the answers that files hold to all pairs of a suite; ``files`` are named as errors call them."""
    frames: dict[str, tuple[str, pl.DataFrame]] = {}
    for name, path in files.items():
        for part, frame in _by_set(suite, name, _read(suite, name, path)).items():
            if part in frames:
                raise InputError(f"{name}: {part} is predicted in {frames[part][0]} too; a set is predicted once")
            frames[part] = name, frame
    missing = [part.name for part in suite.sets if part.name not in frames]
    if missing:
        raise InputError(f"there are no predictions for {', '.join(missing)}; a submission answers every set")
    return {part.name: _labels(part, *frames[part.name]) for part in suite.sets}


def _read(suite: BoardSuite, name: str, path: Path) -> pl.DataFrame:
    if path.suffix == ".parquet":
        _refuse_parquet_bomb(suite, name, path)
    try:
        return read_table(path)
    except GoldlabelError as error:
        raise InputError(str(error).replace(str(path), name)) from error


def _refuse_parquet_bomb(suite: BoardSuite, name: str, path: Path) -> None:
    """Refuse a file that says of itself that it is larger than it can be, before it is unpacked."""
    try:
        about = pq.read_metadata(path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{name}: is no Parquet file that can be read; write it again") from error
    unpacked = sum(about.row_group(number).total_byte_size for number in range(about.num_row_groups))
    if about.num_rows > suite.pairs or unpacked > MOST_UNPACKED:
        raise InputError(
            f"{name}: has {about.num_rows:,} rows and {unpacked >> 20:,} MB; allowed: {suite.pairs:,} rows, one for "
            f"each pair, and {MOST_UNPACKED >> 20} MB"
        )


def _by_set(suite: BoardSuite, name: str, frame: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return the rows of each set: by the column ``dataset``, else by the file's name, or of the only set there is."""
    sets = [part.name for part in suite.sets]
    stem = PurePosixPath(name).stem
    if DATASET in frame.columns:
        column = frame[DATASET].cast(pl.String)
        unknown = next((value for value in column.unique(maintain_order=True) if value not in sets), "")
        if unknown != "":
            row = (column == unknown).arg_true()[0] if unknown is not None else column.is_null().arg_true()[0]
            raise InputError(f"{name} row {row + 1}: dataset {unknown!r} is no set here; {suggest(str(unknown), sets)}")
        return {
            str(key[0]): part for key, part in frame.partition_by(DATASET, as_dict=True, maintain_order=True).items()
        }
    if stem in sets:
        return {stem: frame}
    if len(sets) == 1:
        return {sets[0]: frame}
    raise InputError(
        f"{name}: which set is it about? call it as the set, or add a column 'dataset'; {suggest(stem, sets)}"
    )


def _labels(part: BoardSet, name: str, frame: pl.DataFrame) -> NDArray[np.str_]:
    if "id" not in frame.columns:
        raise InputError(f"{name}: has no column 'id'; its columns are {', '.join(frame.columns)}")
    predictions = Predictions.of_frame(frame, Path(name), part.space)
    pairs = part.gold.frame
    ids = predictions.keys["id"]
    asked = pairs[QUESTION if ids.is_in(pairs[QUESTION].to_list()).any() else "id"]
    unknown = ~ids.is_in(asked.to_list())
    if unknown.any():
        row = unknown.arg_true()[0]
        raise InputError(
            f"{name} row {row + 1}: {ids[row]!r} is no id of {part.name}; of such ids there are "
            f"{int(unknown.sum()):,}, and none is allowed"
        )
    missing = asked.filter(~asked.is_in(ids.to_list()))
    if len(missing):
        raise InputError(
            f"{name}: {len(missing):,} of {len(asked):,} pairs of {part.name} are not predicted, such as {missing[0]!r}"
        )
    matrix = predictions.predict_pairs(asked.alias("id").to_frame())
    labels = part.gold.answers(matrix, predictions.label_space)
    unanswered = labels == NO_GOLD
    if unanswered.any():
        raise InputError(
            f"{name}: {int(unanswered.sum()):,} pairs of {part.name} have no label, such as "
            f"{asked[int(unanswered.argmax())]!r}; allowed: {', '.join(part.space.labels)}"
        )
    return labels
