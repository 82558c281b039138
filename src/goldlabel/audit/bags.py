"""Texts as numbers: the tokens of all texts in one array, each by its code, and where each text starts in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.pairs.tokens import tokenize_units

ROWS_PER_BLOCK = 100_000


@dataclass(frozen=True)
class Bags:
    """The tokens of ``len(self)`` texts; ``first`` marks a token's first occurrence in its text."""

    codes: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    first: NDArray[np.bool_]
    vocabulary: list[str]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Return the number of tokens of each text."""
        return np.diff(self.offsets)

    def blocks(self, rows: int = ROWS_PER_BLOCK) -> Iterator[tuple[int, int, slice, NDArray[np.int64]]]:
        """Yield the first and last row of each block, its stretch of tokens, and the row of each of these."""
        for start in range(0, len(self), rows):
            end = min(start + rows, len(self))
            tokens = slice(int(self.offsets[start]), int(self.offsets[end]))
            yield start, end, tokens, np.repeat(np.arange(start, end), self.lengths[start:end])

    def take(self, rows: NDArray[np.int64]) -> Bags:
        """Return some of the texts, in the order in which they are named."""
        if len(rows) == len(self) and (rows[1:] > rows[:-1]).all():
            return self
        lengths = self.lengths[rows]
        ends = np.cumsum(lengths)
        places = np.repeat(self.offsets[rows] - (ends - lengths), lengths) + np.arange(
            int(ends[-1]) if len(ends) else 0
        )
        offsets = np.concatenate([[0], ends]).astype(np.int64)
        return Bags(self.codes[places], offsets, self.first[places], self.vocabulary)

    def holding(self, code: int) -> NDArray[np.bool_]:
        """Return which texts hold the token of this code."""
        holds = np.zeros(len(self), dtype=bool)
        holds[self.occurrences(code)[0]] = True
        return holds

    def occurrences(self, code: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the texts that hold the token of this code, in order, and how often each does."""
        texts = np.searchsorted(self.offsets, np.flatnonzero(self.codes == code), side="right") - 1
        return np.unique(texts, return_counts=True)


@dataclass
class Vocabulary:
    """Gives each different token a code, in the order in which they are seen."""

    words: list[str] = field(default_factory=list)
    _type: pl.DataType = field(default_factory=lambda: pl.Categorical(pl.Categories.random()))
    _held: pl.Series | None = None  # Polars forgets the codes when no column with them is left

    def encode(self, tokens: pl.Series) -> pl.Series:
        """Turn lists of tokens into lists of codes."""
        exploded = tokens.list.explode(keep_nulls=False, empty_as_null=False).cast(self._type)
        codes = exploded.to_physical()
        self._held = exploded.head(1) if self._held is None and len(exploded) else self._held
        if len(codes) and int(codes.max()) >= len(self.words):  # type: ignore[arg-type]
            seen = exploded.unique()
            new = pl.DataFrame({"code": seen.to_physical(), "word": seen.cast(pl.String)})
            self.words.extend(new.filter(pl.col("code") >= len(self.words)).sort("code")["word"])
        return tokens.list.eval(pl.element().cast(self._type).to_physical())


class BagsBuilder:
    """Collects the bags of one column, block by block."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._codes: list[NDArray[np.uint32]] = []
        self._first: list[NDArray[np.bool_]] = []
        self._lengths: list[NDArray[np.int64]] = []

    def add(self, encoded: pl.Series) -> None:
        """Append a block of lists of codes."""
        codes = encoded.list.explode(keep_nulls=False, empty_as_null=False).to_numpy().astype(np.uint32)
        lengths = encoded.list.len().to_numpy().astype(np.int64)
        keys = np.repeat(np.arange(len(lengths)), lengths) << 32 | codes
        first = np.zeros(len(codes), dtype=bool)
        first[np.unique(keys, return_index=True)[1]] = True
        self._codes.append(codes)
        self._first.append(first)
        self._lengths.append(lengths)

    def finish(self) -> Bags:
        """Return all blocks as one."""
        lengths = np.concatenate([np.zeros(1, dtype=np.int64), *self._lengths])
        codes = np.concatenate([np.empty(0, dtype=np.uint32), *self._codes])
        first = np.concatenate([np.empty(0, dtype=bool), *self._first])
        return Bags(codes, np.cumsum(lengths), first, self._vocabulary.words)


def read_bags(frame: pl.DataFrame, column: str) -> Bags:
    """Return the tokens of one column of pairs, each in the units of its language."""
    vocabulary = Vocabulary()
    bags = BagsBuilder(vocabulary)
    bags.add(vocabulary.encode(tokenize_units(frame, column)))
    return bags.finish()
