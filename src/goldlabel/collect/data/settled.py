"""Settled pairs: with the labels and splits that they are exported with, in a file, so that a block of them is held."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from goldlabel.pairs import Pairs
from goldlabel.pairs.arrow import SCHEMA
from goldlabel.pairs.dataset import ROWS_PER_BLOCK
from goldlabel.pairs.record import COLUMNS
from goldlabel.pairs.writing import DatasetWriter, arrow_table

BLOCK = 2_000
"""How many pairs are held at a time; as many of these as a file's block has are written together."""


def settle(pairs: Pairs, texts: pl.LazyFrame, path: Path) -> Pairs:
    """Write pairs to a file and return them as they are read from there.

    ``texts`` are the same pairs before they had these labels and splits. To put a column beside a file that is read as
    it comes, Polars reads far ahead; so a block of the file is read at a time, and beside it no more than these two.
    """
    settled = pairs.frame.select(pl.col("label", "split").cast(pl.Categorical())).collect(engine="streaming")
    with pq.ParquetWriter(path, SCHEMA) as writer:
        for start in range(0, len(settled), BLOCK):
            words = settled.slice(start, BLOCK).with_columns(pl.all().cast(pl.String))
            writer.write_table(arrow_table(texts.slice(start, BLOCK).collect().with_columns(words).select(COLUMNS)))
    return Pairs(pl.scan_parquet(path), pairs.card)


def write_settled(pairs: Pairs, path: Path, folder: Path, beside: Mapping[str, str] | None = None) -> None:
    """Write settled pairs, which lie in a file, as a dataset: the same as by ``Pairs.write``, in less memory."""
    with pq.ParquetFile(path) as file, DatasetWriter(folder, pairs.card) as writer:
        blocks = _blocks(file)
        for first in blocks:
            writer.write_parts(chain([first], islice(blocks, ROWS_PER_BLOCK // BLOCK - 1)))
        for name, text in (beside or {}).items():
            writer.attach(name, text.encode())


def _blocks(file: pq.ParquetFile) -> Iterator[pa.Table]:
    for number in range(file.num_row_groups):
        yield file.read_row_group(number)
