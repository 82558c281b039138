"""Pointwise mutual information of a word and a label, as counted for OCNLI (Hu et al. 2020, Table 8).

    PMI(word, label) = ln( ((c + s) / (n + k s)) / P(label) )

``n`` hypotheses hold the word, ``c`` of them have the label, ``k`` labels exist, and the smoothing ``s`` is 10, so
that with three labels it reads ln(((c + 10) / (n + 30)) / P(label)). ``P(label)`` is the label's share among the
pairs with a gold label; pairs without one are not counted. Gururangan et al. (2018) smooth by 100 instead.

The interval is that of the share c / n, which takes pairs of one unit as dependent, put into the formula. It is that
of a word named beforehand: of many words, those of the highest PMI are partly there by luck.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goldlabel.audit.bags import Bags
from goldlabel.audit.corpus import Corpus
from goldlabel.errors import InputError
from goldlabel.metrics import Estimate, share

SMOOTHING = 10.0
COUNTS = ("documents", "tokens")
_SAME = 1e-12
"""Values closer than this are equal but for rounding."""


@dataclass(frozen=True)
class Word:
    """A word's PMI with a label: ``count`` of the ``total`` hypotheses with the word have the label."""

    word: str
    label: str
    pmi: Estimate
    count: int
    total: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "word": self.word,
            "label": self.label,
            "pmi": self.pmi.value,
            "interval": list(self.pmi.interval) if self.pmi.interval else None,
            "count": self.count,
            "total": self.total,
        }


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
    corpus: Corpus,
    rows: NDArray[np.bool_] | None = None,
    *,
    counts: NDArray[np.int64] | None = None,
    count: str = "documents",
    top: int = 10,
    smoothing: float = SMOOTHING,
    label: str | None = None,
    level: float = 0.95,
) -> list[Word]:
    """Return the words of the highest PMI with any label, or with one; ``counts`` where they are known already."""
    names, vocabulary = corpus.space.labels, corpus.words.vocabulary
    if counts is None:
        counts = count_words(corpus.words, corpus.labels, len(names), rows=rows, count=count)
    gold = corpus.gold if rows is None else corpus.gold & rows
    label_counts = np.bincount(corpus.labels[gold], minlength=len(names))
    if not label_counts.any():
        return []
    values = pmi(counts, label_counts, smoothing=smoothing)
    values[counts == 0] = np.nan
    if label is not None:
        values[:, [number for number, name in enumerate(names) if name != label]] = np.nan
    totals, prior = counts.sum(axis=1), label_counts / label_counts.sum()
    chosen = [
        (float(values[word, code]), int(counts[word, code]), vocabulary[word], names[code], word, code)
        for word, code in zip(*_highest(values, top), strict=True)
    ]
    chosen.sort(key=lambda entry: (-round(entry[0], 9), -entry[1], entry[2], entry[3]))
    words = []
    for value, hits, word, name, key, code in chosen[:top]:
        figure = _share(corpus, gold, key, code, count, level)
        # The interval of c / n, put into the formula; P(label) is taken as it is.
        ends = [
            (end * totals[key] + smoothing) / (totals[key] + len(names) * smoothing) for end in figure.interval or ()
        ]
        low, high = np.log(np.divide(ends, prior[code])).tolist() if ends and min(ends) > 0 else (None, None)
        words.append(Word(word, name, replace(figure, value=value, low=low, high=high), hits, int(totals[key])))
    return words


def _highest(values: NDArray[np.float64], top: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the words and labels of the ``top`` highest values, and of all that are equal to the last of them."""
    known = values[~np.isnan(values)]
    if not len(known):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    least = np.partition(known, -min(top, len(known)))[-min(top, len(known))]
    word, code = np.nonzero(values >= least - _SAME)
    return word, code


def _share(corpus: Corpus, gold: NDArray[np.bool_], word: int, code: int, count: str, level: float) -> Estimate:
    """Return the share c / n of a word and a label with its interval."""
    carriers, times = corpus.words.occurrences(word)
    carriers, times = carriers[gold[carriers]], times[gold[carriers]]
    weights = times if count == "tokens" else np.ones_like(times)
    hits = weights * (corpus.labels[carriers] == code)
    return share(hits, weights, units=corpus.units[carriers], level=level)
