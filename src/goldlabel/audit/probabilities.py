"""Probabilities that a model gave elsewhere, for label errors and cartography.

They come from

- a table (Parquet, JSONL, CSV) with ``id`` and one column per label, as ``goldlabel predict`` writes it;
- a folder of such tables: of folds, which have no pair in common, or of epochs, which all have the same pairs;
- a table with ``id``, ``epoch``, and a column per label, or ``probabilities`` (a list in the alphabetical order of the
  labels), or ``gold_probability``;
- the folder of a run of ``train``, which has such a table for each epoch.

What names its epochs is a training run's, which may have seen a part of the pairs only; a run on several sets puts a
set's name before its ids, ``name/id``, and the pairs of the dataset at hand are taken. Everything else must have every
pair with a gold label.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.models.model import CONFIG
from goldlabel.models.predictions import SUFFIXES, probability_columns, read_table, refuse_doubles
from goldlabel.models.probabilities import scaled
from goldlabel.pairs import Pairs
from goldlabel.pairs.labels import NO_GOLD, LabelSpace

ID, EPOCH, WHOLE, GOLD = "id", "epoch", "probabilities", "gold_probability"


def read_probabilities(path: str | Path, pairs: Pairs) -> pl.DataFrame:
    """Return ``id``, ``epoch``, and ``probabilities`` (a list) or ``gold_probability``, of pairs of this dataset."""
    path = Path(path)
    files = _files(path)
    tables = [_read_file(file, pairs.card.label_space) for file in files]
    for file, table in zip(files, tables, strict=True):
        if table.columns != tables[0].columns:
            raise InputError(f"{file}: has other columns than {files[0].name}; give tables of one kind")
    if EPOCH in tables[0].columns:
        return own_pairs(pl.concat(tables), pairs)
    for file, table in zip(files, tables, strict=True):
        refuse_doubles(table, [ID], file)
    table = own_pairs(_number_epochs(files, tables), pairs)
    _refuse_gaps(table, pairs, path)
    return table


def own_pairs(table: pl.DataFrame, pairs: Pairs) -> pl.DataFrame:
    """Return the rows of a dataset's own pairs; a row about no pair, or two of one epoch, are refused."""
    name = pairs.card.name
    table = table.with_columns(pl.col(ID).cast(pl.String))
    own = pl.col(ID).str.starts_with(prefix := f"{name}/")
    if table.select(own.any()).item():
        table = table.filter(own).with_columns(pl.col(ID).str.strip_prefix(prefix))
    known = pairs.frame.select(ID).collect(engine="streaming")
    strangers = table.join(known, on=ID, how="anti", maintain_order="left")
    if len(strangers):
        raise InputError(f"there are probabilities for {strangers[ID][0]!r}, which is no pair of {name}")
    repeated = table.filter(pl.struct(ID, EPOCH).is_duplicated())
    if len(repeated):
        raise InputError(f"pair {repeated[ID][0]!r} has more than one row for epoch {repeated[EPOCH][0]}")
    return table


def mean_probabilities(table: pl.DataFrame, ids: pl.Series) -> NDArray[np.float64]:
    """Return each pair's probabilities, averaged over epochs; a row of NaN where it has none."""
    places = pl.DataFrame({ID: ids}).with_row_index("row")
    rows = table.select(ID).join(places, on=ID, how="left", maintain_order="left")["row"].to_numpy()
    matrix = _matrix(table[WHOLE])
    sums = np.zeros((len(ids), matrix.shape[1]))
    np.add.at(sums, rows, matrix)
    counts = np.bincount(rows, minlength=len(ids))[:, None]
    return np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder of probabilities")
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("dynamics/epoch-*.parquet"))
    if not files and (path / CONFIG).exists():
        raise InputError(
            f"{path}: is not the folder of a trained network, it has no dynamics/epoch-*.parquet; give a file of "
            "'goldlabel predict'"
        )
    files = files or sorted(file for file in path.iterdir() if file.suffix.lower() in SUFFIXES)
    if not files:
        raise InputError(f"{path}: holds no table of probabilities ({', '.join(SUFFIXES)})")
    return files


def _read_file(path: Path, space: LabelSpace) -> pl.DataFrame:
    table = read_table(path)
    if ID not in table.columns:
        raise InputError(f"{path}: has no column 'id', so its probabilities belong to no pair")
    keys = [pl.col(ID).cast(pl.String)]
    if EPOCH in table.columns:
        if table[EPOCH].cast(pl.Int64, strict=False).has_nulls():
            raise InputError(f"{path}: the column 'epoch' must be a number in each row")
        keys.append(pl.col(EPOCH).cast(pl.Int64))
    if GOLD in table.columns and EPOCH in table.columns:
        gold = table[GOLD].cast(pl.Float64, strict=False)
        if not gold.is_between(0, 1).fill_null(False).all():
            raise InputError(f"{path}: the column {GOLD!r} must be a number from 0 to 1 in each row")
        return table.select(*keys, gold.alias(GOLD))
    if table.schema.get(WHOLE) in (pl.List, pl.Array):
        lengths = table[WHOLE].cast(pl.List(pl.Float64)).list.len()
        if not (lengths == len(space)).fill_null(False).all():
            raise InputError(f"{path}: each row's probabilities must be {len(space)}: {', '.join(space.labels)}")
        matrix = scaled(_matrix(table[WHOLE]), str(path))
    else:
        for label in space.labels:
            if label not in table.columns:
                raise InputError(
                    f"{path}: has no column {label!r}; it needs id and one of probabilities for each of "
                    f"{', '.join(space.labels)}, as 'goldlabel predict' writes them, or id, epoch and probabilities"
                )
        matrix = probability_columns(table, path, space)
    unanswered = np.isnan(matrix).any(axis=1)
    if unanswered.any():
        row = int(unanswered.argmax())
        raise InputError(f"{path} row {row + 1}: pair {table[ID][row]!r} has no probabilities")
    return table.select(*keys, pl.Series(WHOLE, matrix, dtype=pl.Array(pl.Float64, len(space))).arr.to_list())


def _matrix(lists: pl.Series) -> NDArray[np.float64]:
    width = int(lists.cast(pl.List(pl.Float64)).list.len().max() or 0)  # type: ignore[arg-type]
    matrix: NDArray[np.float64] = lists.cast(pl.List(pl.Float64)).list.to_array(width).to_numpy()
    return matrix


def _number_epochs(files: list[Path], tables: list[pl.DataFrame]) -> pl.DataFrame:
    """Return files that have no pair in common as one epoch, and files of the same pairs as one each."""
    whole = pl.concat(
        table.with_columns(pl.lit(number, pl.Int64).alias(EPOCH)) for number, table in enumerate(tables, 1)
    )
    seen = whole.group_by(ID, maintain_order=True).agg(pl.col(EPOCH))
    counts = seen[EPOCH].list.len()
    if (counts == len(files)).all():
        return whole
    if (counts == 1).all():
        return whole.with_columns(pl.lit(1, pl.Int64).alias(EPOCH))
    name, numbers = seen.filter(counts < len(files)).row(0)
    there = ", ".join(files[number - 1].name for number in numbers)
    raise InputError(
        f"{files[0].parent}: pair {name!r} is in {there} only, and others are in more of the {len(files)} tables; "
        "tables of epochs have the same pairs each, those of folds none in common"
    )


def _refuse_gaps(table: pl.DataFrame, pairs: Pairs, path: Path) -> None:
    gold = pairs.frame.filter(pl.col("label") != NO_GOLD).select(ID).collect(engine="streaming")
    missing = gold.join(table, on=ID, how="anti", maintain_order="left")
    if len(missing):
        raise InputError(
            f"{path}: has no probabilities for {len(missing):,} of the {len(gold):,} pairs of {pairs.card.name} with a "
            f"gold label, such as {missing[ID][0]!r}; predict these, too"
        )
