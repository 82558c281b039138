"""Pointwise mutual information of a word and a label, as counted for OCNLI (Hu et al. 2020, Table 8).

    PMI(word, label) = ln( ((c + s) / (n + k s)) / P(label) )

``n`` hypotheses hold the word, ``c`` of them have the label, ``k`` labels exist, and the smoothing ``s`` is 10, so
that with three labels it reads ln(((c + 10) / (n + 30)) / P(label)). ``P(label)`` is the label's share among the
pairs with a gold label; pairs without one are not counted. Gururangan et al. (2018) smooth by 100 instead.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.audit.bags import Bags
from goldlabel.errors import InputError

SMOOTHING = 10.0
COUNTS = ("documents", "tokens")


def count_words(
    bags: Bags,
    labels: NDArray[np.int8],
    classes: int,
    *,
    rows: NDArray[np.bool_] | None = None,
    count: str = "documents",
) -> NDArray[np.int64]:
    """Return a matrix of words by labels: in how many texts (or how often) the word occurs."""
    if count not in COUNTS:
        raise InputError(f"words cannot be counted by {count!r}; allowed: {', '.join(COUNTS)}")
    counts = np.zeros(len(bags.vocabulary) * classes, dtype=np.int64)
    taken = labels >= 0 if rows is None else rows & (labels >= 0)
    for start, end, tokens, owner in bags.blocks():
        kept = np.repeat(taken[start:end], bags.lengths[start:end])
        if count == "documents":
            kept &= bags.first[tokens]
        keys = bags.codes[tokens][kept].astype(np.int64) * classes + labels[owner[kept]]
        counts += np.bincount(keys, minlength=len(counts))
    return counts.reshape(-1, classes)


def pmi(
    counts: NDArray[np.int64], label_counts: NDArray[np.int64], *, smoothing: float = SMOOTHING
) -> NDArray[np.float64]:
    """Return the PMI of each word and label; NaN for a label that no pair has."""
    if smoothing < 0:
        raise InputError(f"smoothing {smoothing} is negative")
    classes = counts.shape[1]
    shares = label_counts / label_counts.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = (counts + smoothing) / (counts.sum(axis=1, keepdims=True) + classes * smoothing)
        values: NDArray[np.float64] = np.where(shares > 0, np.log(inside / shares), np.nan)
    return values


def rank_words(
    counts: NDArray[np.int64],
    label_counts: NDArray[np.int64],
    vocabulary: Sequence[str],
    names: Sequence[str],
    *,
    top: int = 10,
    smoothing: float = SMOOTHING,
    label: str | None = None,
) -> pl.DataFrame:
    """Return the words and labels of the highest PMI: word, label, pmi, count (``c``), total (``n``)."""
    schema = {"word": pl.String, "label": pl.String, "pmi": pl.Float64, "count": pl.Int64, "total": pl.Int64}
    values = pmi(counts, label_counts, smoothing=smoothing)
    values[counts == 0] = np.nan
    if label is not None:
        values[:, [number for number, name in enumerate(names) if name != label]] = np.nan
    flat = np.where(np.isnan(values), -np.inf, values).ravel()
    # A few more than asked for, as equals are told apart by count and word.
    chosen = np.argpartition(-flat, min(4 * top, len(flat) - 1))[: 4 * top] if len(flat) else np.empty(0, dtype=int)
    chosen = chosen[np.isfinite(flat[chosen])]
    word, column = np.divmod(chosen, len(names))
    table = pl.DataFrame(
        {
            "word": [vocabulary[number] for number in word],
            "label": [names[number] for number in column],
            "pmi": flat[chosen],
            "count": counts[word, column],
            "total": counts.sum(axis=1)[word],
        },
        schema=schema,
    )
    return table.sort("pmi", "count", "word", "label", descending=[True, True, False, False]).head(top)
