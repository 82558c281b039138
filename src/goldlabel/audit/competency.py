"""Competency statistics: which features go with a label more often than a task without shortcuts allows.

Gardner et al. (2021), *Competency problems*, section 3: for a feature in ``n`` hypotheses, a share ``p`` of which
has the label, with ``k`` labels,

    z = (p - 1/k) / sqrt((1/k)(1 - 1/k) / n).

Features are words, pairs of neighbouring words, and words at a place (first, second, third, last). The test is
two-sided and one-feature-at-a-time as in the paper; unlike there, the false-discovery rate over all features and
labels is controlled (Benjamini and Hochberg 1995). ``null="shares"`` takes the dataset's label shares for 1/k.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.audit.bags import Bags
from goldlabel.audit.pmi import count_words
from goldlabel.errors import InputError

PLACES = ("first", "second", "third", "last")
NULLS = ("uniform", "shares")
_SKETCH = 1 << 22


@dataclass(frozen=True)
class Features:
    """Features of hypotheses with their counts per label; ``keys`` tell the words they are made of."""

    kind: str
    names: list[str]
    keys: NDArray[np.int64]
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.names)


def word_features(
    bags: Bags, labels: NDArray[np.int8], classes: int, *, least: int, counts: NDArray[np.int64] | None = None
) -> Features:
    """Return the words in ``least`` hypotheses or more."""
    counted = count_words(bags, labels, classes) if counts is None else counts
    kept = np.flatnonzero(counted.sum(axis=1) >= least)
    return Features("word", [bags.vocabulary[code] for code in kept], kept, counted[kept])


def bigram_features(bags: Bags, labels: NDArray[np.int8], classes: int, *, least: int) -> Features:
    """Return the pairs of neighbouring words in ``least`` hypotheses or more."""
    size = len(bags.vocabulary)
    keys, counts = _count_keys(lambda: _bigrams(bags, labels), classes, least)
    names = [f"{bags.vocabulary[key // size]} {bags.vocabulary[key % size]}" for key in keys]
    return Features("bigram", names, keys, counts)


def position_features(bags: Bags, labels: NDArray[np.int8], classes: int, *, least: int) -> Features:
    """Return the words in ``least`` hypotheses or more at one place; the last place is counted on its own."""
    size = len(bags.vocabulary)
    keys, counts = _count_keys(lambda: _positions(bags, labels), classes, least)
    names = [f"{bags.vocabulary[key % size]} ({PLACES[key // size]})" for key in keys]
    return Features("position", names, keys, counts)


def competency(
    features: list[Features],
    label_counts: NDArray[np.int64],
    label_names: tuple[str, ...],
    *,
    null: str = "uniform",
    level: float = 0.05,
    top: int = 50,
) -> pl.DataFrame:
    """Return the features of the greatest z, with q-values; only those significant at ``level``."""
    from scipy.stats import false_discovery_control, norm

    if null not in NULLS:
        raise InputError(f"there is no null {null!r}; allowed: {', '.join(NULLS)}")
    schema = {
        "feature": pl.String, "kind": pl.String, "label": pl.String, "z": pl.Float64, "q_value": pl.Float64,
        "count": pl.Int64, "total": pl.Int64,
    }  # fmt: skip
    features = [part for part in features if len(part)]
    if not features:
        return pl.DataFrame(schema=schema)
    classes = len(label_names)
    counts = np.concatenate([part.counts for part in features])
    expected = np.full(classes, 1 / classes) if null == "uniform" else label_counts / label_counts.sum()
    z = z_scores(counts, expected)
    q = false_discovery_control(2 * norm.sf(np.abs(z)).ravel()).reshape(z.shape)
    kinds = [part.kind for part in features for _ in part.names]
    names = [name for part in features for name in part.names]
    found = np.flatnonzero(((q <= level) & (z > 0)).ravel())
    found = found[np.argsort(-z.ravel()[found], kind="stable")][:top]
    row, column = np.divmod(found, classes)
    return pl.DataFrame(
        {
            "feature": [names[number] for number in row],
            "kind": [kinds[number] for number in row],
            "label": [label_names[number] for number in column],
            "z": z[row, column],
            "q_value": q[row, column],
            "count": counts[row, column],
            "total": counts.sum(axis=1)[row],
        },
        schema=schema,
    )


def z_scores(counts: NDArray[np.int64], expected: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return z for each feature (row) and label (column); 0 where the label cannot occur."""
    n = counts.sum(axis=1, keepdims=True)
    spread = np.sqrt(expected * (1 - expected) / n)
    z: NDArray[np.float64] = np.divide(counts / n - expected, spread, out=np.zeros(counts.shape), where=spread > 0)
    return z


def holding_key(bags: Bags, kind: str, key: int) -> NDArray[np.bool_]:
    """Return which hypotheses carry a feature."""
    if kind == "word":
        return bags.holding(key)
    other, code = divmod(key, len(bags.vocabulary))
    found = np.zeros(len(bags), dtype=bool)
    if kind == "bigram":
        at = np.flatnonzero((bags.codes[:-1] == other) & (bags.codes[1:] == code))
        first, second = (np.searchsorted(bags.offsets, place, side="right") - 1 for place in (at, at + 1))
        found[first[first == second]] = True
        return found
    held = np.flatnonzero(bags.lengths > (other if other < 3 else 0))
    at = bags.offsets[held] + other if other < 3 else bags.offsets[held + 1] - 1
    found[held[bags.codes[at] == code]] = True
    return found


Keyed = Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int8]]]
"""Blocks of keys, the rows they were found in, and these rows' labels."""


def _bigrams(bags: Bags, labels: NDArray[np.int8]) -> Keyed:
    size = len(bags.vocabulary)
    for _, _, tokens, owner in bags.blocks():
        codes = bags.codes[tokens].astype(np.int64)
        inside = (owner[1:] == owner[:-1]) & (labels[owner[1:]] >= 0)
        rows = owner[1:][inside]
        yield (codes[:-1] * size + codes[1:])[inside], rows, labels[rows]


def _positions(bags: Bags, labels: NDArray[np.int8]) -> Keyed:
    size = len(bags.vocabulary)
    for start, end, tokens, _ in bags.blocks():
        codes, lengths = bags.codes[tokens].astype(np.int64), bags.lengths[start:end]
        starts = bags.offsets[start:end] - bags.offsets[start]
        for place in range(len(PLACES)):
            held = (lengths > place if place < 3 else lengths > 0) & (labels[start:end] >= 0)
            at = starts[held] + (place if place < 3 else lengths[held] - 1)
            rows = np.flatnonzero(held) + start
            yield codes[at] + place * size, rows, labels[rows]


def _count_keys(blocks: Callable[[], Keyed], classes: int, least: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the keys in ``least`` rows or more, and their counts per label.

    A first pass counts hashes of keys, so that the second need not remember the many rare ones.
    """
    sketch = np.zeros(_SKETCH, dtype=np.int64)
    for keys, _, _ in blocks():
        sketch += np.bincount(_hashed(keys), minlength=_SKETCH)
    found: list[NDArray[np.int64]] = []
    counts: list[NDArray[np.int64]] = []
    for keys, rows, labels in blocks():
        kept = sketch[_hashed(keys)] >= least
        block_keys, block_counts = _unique_per_row(keys[kept] * classes + labels[kept], rows[kept])
        found.append(block_keys)
        counts.append(block_counts)
    if not found:
        return np.empty(0, dtype=np.int64), np.empty((0, classes), dtype=np.int64)
    both, place = np.unique(np.concatenate(found), return_inverse=True)
    totals = np.bincount(place, weights=np.concatenate(counts), minlength=len(both)).astype(np.int64)
    keys, row = np.unique(both // classes, return_inverse=True)
    table = np.zeros((len(keys), classes), dtype=np.int64)
    table[row, both % classes] = totals
    enough = table.sum(axis=1) >= least
    return keys[enough], table[enough]


def _hashed(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    spread = keys.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return (spread >> np.uint64(64 - _SKETCH.bit_length() + 1)).astype(np.int64)


def _unique_per_row(keys: NDArray[np.int64], rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count keys, each once per row; rows come in order, so a stable sort lays repeats side by side."""
    order = np.argsort(keys, kind="stable")
    keys, rows = keys[order], rows[order]
    repeated = (keys[1:] == keys[:-1]) & (rows[1:] == rows[:-1])
    keys = keys[np.concatenate([np.ones(min(1, len(keys)), dtype=bool), ~repeated])]
    return np.unique(keys, return_counts=True)
