"""Records that are too many for memory, kept in a file of this process while it works with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

import polars as pl

from goldlabel.files import folder_of_process
from goldlabel.pairs.record import DTYPES
from goldlabel.pairs.writing import write_file

IN_MEMORY = 1 << 30
"""Bytes of records that are kept in memory; where there are more, all of them go into a file."""


def gather(blocks: Iterable[pl.DataFrame], limit: int | None = None) -> pl.DataFrame | pl.LazyFrame:
    """Return the records of all blocks in order, up to ``limit``: in memory, or lazily from a file if they are many.

    The file lies where ``TMPDIR`` says, and goes with the process.
    """
    stream, kept = _first(blocks, limit), [pl.DataFrame(schema=DTYPES)]
    size = 0.0
    for block in stream:
        kept.append(block)
        size += block.estimated_size()
        if size > IN_MEMORY:
            return _spill(chain(_drain(kept), stream))
    return pl.concat(kept)


def _first(blocks: Iterable[pl.DataFrame], limit: int | None) -> Iterator[pl.DataFrame]:
    left = limit
    for block in blocks:
        yield block if left is None else block.head(left)
        if left is not None:
            left -= len(block)
            if left <= 0:
                return


def _drain(kept: list[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yield blocks and let go of each."""
    while kept:
        yield kept.pop(0)


def _spill(blocks: Iterable[pl.DataFrame]) -> pl.LazyFrame:
    folder = folder_of_process("goldlabel-read-")
    write_file(blocks, folder / "pairs.parquet", "parquet")
    return pl.scan_parquet(folder / "pairs.parquet")
