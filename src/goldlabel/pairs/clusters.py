"""Clusters of like rows of texts, of which memory holds some fifty bytes each and no text.

The texts as they are compared, their hashes and the bucket of every band wait in files while the rows are read once, a
block at a time. Then equal rows are found by their hashes, and a band after the other is gone through, in parts that
fit: rows that share a bucket and are not in one cluster yet are candidates, sketches tell most that are not alike, and
of the others the texts are fetched and compared. So what is found does not depend on how much is in memory at a time.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import BinaryIO

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.files import storage_errors
from goldlabel.pairs.minhash import (
    PERMUTATIONS,
    are_alike,
    band_width,
    buckets_of,
    may_be_alike,
    salted,
    shingle,
    sketch,
)
from goldlabel.pairs.reading import in_order
from goldlabel.pairs.units import normalised

FULL_BUCKET = 32
ROWS_PER_PART = 500_000
"""Rows of a band that are sorted at a time."""
MOST_PARTS = 16
"""A part more is one more reading of every band."""
WORKERS = min(4, os.cpu_count() or 1)
_HASHES = ("hash 0", "hash 1")
"""128 bits: among a billion different texts, two share them with a probability of 1e-21."""

Row = NDArray[np.uint32]


@dataclass(frozen=True)
class Clusters:
    """Which rows are alike, directly or by steps."""

    first: Row
    """Of each row the first that equals it."""
    number: NDArray[np.int32]
    """Of each row its cluster; these are numbered in the order of their first rows."""


def cluster_rows(blocks: Iterable[pl.DataFrame], rows: int, columns: int, threshold: float) -> Clusters:
    """Cluster rows of texts, which are read in blocks: those that are alike in every column."""
    with (
        storage_errors(Path(tempfile.gettempdir())),
        tempfile.TemporaryDirectory(prefix="goldlabel-duplicates-") as folder,
    ):
        store = _Store(Path(folder), rows, columns, threshold)
        store.fill(blocks)
        first = store.find_equal()
        number = _join(np.arange(rows, dtype=np.int32), first, np.arange(rows, dtype=np.uint32))
        if threshold < 1 and rows:
            number = store.find_alike(first, number)
    return Clusters(first, number)


@dataclass(frozen=True)
class _Digest:
    """What is kept of a block."""

    texts: pl.DataFrame
    hashes: list[NDArray[np.uint64]]
    sketches: list[tuple[NDArray[np.uint64], NDArray[np.uint32]]]
    buckets: list[NDArray[np.uint64]]
    """By band."""


class _Store:
    """What is kept of all rows: in files, but for the sketches and where the texts lie."""

    def __init__(self, folder: Path, rows: int, columns: int, threshold: float) -> None:
        self.folder, self.rows, self.threshold = folder, rows, threshold
        near = rows if threshold < 1 else 0
        self.texts = [_Texts(folder / f"text {column}", near) for column in range(columns)]
        self.sketches = np.empty((columns, near), dtype=np.uint64)
        self.trigrams = np.empty((columns, near), dtype=np.uint32)
        self.bands = [f"band {band}" for band in range(PERMUTATIONS // band_width(threshold))] if near else []
        self.parts = min(MOST_PARTS, -(-rows // ROWS_PER_PART))

    def fill(self, blocks: Iterable[pl.DataFrame]) -> None:
        """Read all rows."""
        start = 0
        with ExitStack() as stack:
            files = [stack.enter_context((self.folder / name).open("wb")) for name in (*_HASHES, *self.bands)]
            texts = [stack.enter_context(column.path.open("wb")) for column in self.texts]
            for digest in in_order(blocks, self._digest, WORKERS):
                end = start + len(digest.texts)
                for file, keys in zip(files, [*digest.hashes, *digest.buckets], strict=True):
                    file.write(keys.data)
                for column, (bits, counts) in enumerate(digest.sketches):
                    self.sketches[column, start:end], self.trigrams[column, start:end] = bits, counts
                    self.texts[column].write(digest.texts.to_series(column), texts[column], start)
                start = end

    def _digest(self, block: pl.DataFrame) -> _Digest:
        texts = block.select(normalised(name) for name in block.columns)
        hashes = [
            np.bitwise_xor.reduce([salted(column.hash(seed).to_numpy(), salt) for salt, column in enumerate(texts)])
            for seed in range(len(_HASHES))
        ]
        if not self.bands:
            return _Digest(texts, hashes, [], [])
        shingled = shingle(texts)
        return _Digest(texts, hashes, [sketch(keys) for keys in shingled], list(buckets_of(shingled, self.threshold)))

    def find_equal(self) -> Row:
        """Return for each row the first that equals it."""
        first = np.arange(self.rows, dtype=np.uint32)
        for part in range(self.parts):
            rows, group = self._shared(_HASHES, part, None)
            starts = np.flatnonzero(np.diff(group, prepend=-1))
            first[rows] = rows[starts][group]
        return first

    def find_alike(self, first: Row, number: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the clusters, joined by what is alike among the rows that equal none before them."""
        distinct = first == np.arange(self.rows, dtype=np.uint32)
        places = product(self.bands, range(self.parts))
        for rows, group in in_order(places, lambda place: self._shared((place[0],), place[1], distinct)):
            alike = []
            for left, right in _candidates(rows, group):
                apart = number[left] != number[right]
                alike.append(self._alike(left[apart], right[apart]))
            if alike:
                number = _join(number, *map(np.concatenate, zip(*alike, strict=True)))
        return number

    def _shared(
        self, names: Iterable[str], part: int, chosen: NDArray[np.bool_] | None
    ) -> tuple[Row, NDArray[np.int64]]:
        """Return the rows of a part whose keys another has too, by keys and in order, and a number for each key."""
        row_blocks: list[Row] = []
        key_blocks: list[list[NDArray[np.uint64]]] = []
        for start, block in self._read(names):
            inside = block[0] % np.uint64(self.parts) == part
            if chosen is not None:
                inside &= chosen[start : start + len(inside)]
            places = np.flatnonzero(inside)
            row_blocks.append((places + start).astype(np.uint32))
            key_blocks.append([some[places] for some in block])
        rows: Row = np.concatenate(row_blocks)
        keys = [np.concatenate(some) for some in zip(*key_blocks, strict=True)]
        del row_blocks, key_blocks
        order = np.lexsort(keys)
        same = np.ones(max(len(order) - 1, 0), dtype=bool)
        for some in keys:
            ordered = some[order]
            same &= ordered[1:] == ordered[:-1]
        shared = np.zeros(len(order), dtype=bool)
        shared[1:] = same
        begins = ~shared
        shared[:-1] |= same
        return rows[order[shared]], np.cumsum(begins[shared]) - 1

    def _read(self, names: Iterable[str]) -> Iterator[tuple[int, list[NDArray[np.uint64]]]]:
        """Yield the keys of files, a block at a time, and the row of the first."""
        with ExitStack() as stack:
            files = [stack.enter_context((self.folder / name).open("rb")) for name in names]
            for start in range(0, self.rows, ROWS_PER_PART):
                yield start, [np.fromfile(file, dtype=np.uint64, count=ROWS_PER_PART) for file in files]

    def _alike(self, left: Row, right: Row) -> tuple[Row, Row]:
        """Return which of the candidates are alike in every column."""
        for sketches, trigrams in zip(self.sketches, self.trigrams, strict=True):
            possible = may_be_alike(sketches, trigrams, left, right, self.threshold)
            left, right = left[possible], right[possible]
        alike = are_alike(self._take, left, right, self.threshold)
        return left[alike], right[alike]

    def _take(self, rows: NDArray[np.integer]) -> pl.DataFrame:
        return pl.DataFrame({str(column): texts.take(rows) for column, texts in enumerate(self.texts)})


class _Texts:
    """A column of texts in a file."""

    def __init__(self, path: Path, rows: int) -> None:
        self.path = path
        self.offsets = np.zeros(rows + 1, dtype=np.uint64)

    def write(self, texts: pl.Series, file: BinaryIO, start: int) -> None:
        lengths = texts.str.len_bytes().to_numpy().astype(np.uint64)
        self.offsets[start + 1 : start + 1 + len(texts)] = self.offsets[start] + np.cumsum(lengths)
        file.write(texts.str.join("").item().encode())

    def take(self, rows: NDArray[np.integer]) -> pl.Series:
        starts, ends = self.offsets[rows], self.offsets[rows + 1]
        with self.path.open("rb", buffering=0) as file:
            where = file.fileno()
            texts = [
                os.pread(where, end - start, start).decode()
                for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
            ]
        return pl.Series(texts, dtype=pl.String)


def _candidates(rows: Row, group: NDArray[np.int64]) -> Iterator[tuple[Row, Row]]:
    """Yield the pairs of rows that share a bucket; a crowded one is linked as a chain and to its first row."""
    sizes = np.bincount(group)
    crowded = (sizes > FULL_BUCKET)[group]
    for step in range(1, FULL_BUCKET):
        places = np.flatnonzero((group[step:] == group[:-step]) & ~crowded[step:])
        if not len(places):
            break
        yield rows[places], rows[places + step]
    starts = (np.cumsum(sizes) - sizes)[group]
    places = np.flatnonzero(crowded & (starts < np.arange(len(rows))))
    if len(places):
        yield rows[places - 1], rows[places]
        yield rows[starts[places]], rows[places]


def _join(number: NDArray[np.int32], left: Row, right: Row) -> NDArray[np.int32]:
    """Return clusters that are joined where a left row is like a right one."""
    apart = number[left] != number[right]
    if not apart.any():
        return number
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    clusters = int(number.max()) + 1
    edges = (np.ones(int(apart.sum()), dtype=bool), (number[left[apart]], number[right[apart]]))
    # Components are numbered in the order of their first nodes, and so clusters in that of their first rows.
    joined: NDArray[np.int32] = connected_components(coo_array(edges, shape=(clusters, clusters)), directed=False)[1]
    return joined[number]
