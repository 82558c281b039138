"""Bias models that read features: the hypothesis's words and bigrams, what it shares with the premise, its words alone.

Each returns out-of-fold probabilities, given the fold of each pair.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.audit.bags import Bags, Vocabulary, read_bags
from goldlabel.audit.logistic import fit_models, hashed_ngrams
from goldlabel.audit.overlap import HEURISTICS, measure_heuristics
from goldlabel.audit.pmi import count_words, pmi
from goldlabel.pairs.overlap import measure_overlap
from goldlabel.pairs.tokens import UNKNOWN, language_of, tokenize_units

STEPS = 10
"""Shares of overlap and of length are told apart to a tenth."""


def predict_by_hypothesis(
    frame: pl.DataFrame, labels: NDArray[np.int8], folds: NDArray[np.int64], classes: int
) -> NDArray[np.float64]:
    """Return out-of-fold probabilities by the audit's logistic regression on words and bigrams of the hypothesis."""
    return _regress(hashed_ngrams(read_bags(frame, "hypothesis")), labels, folds, classes)


def predict_by_overlap(
    frame: pl.DataFrame, labels: NDArray[np.int8], folds: NDArray[np.int64], classes: int
) -> NDArray[np.float64]:
    """Return out-of-fold probabilities by logistic regression on overlap, HANS's heuristics and relative length."""
    return _regress(_overlap_features(frame), labels, folds, classes)


def predict_by_words(
    frame: pl.DataFrame, labels: NDArray[np.int8], folds: NDArray[np.int64], classes: int
) -> NDArray[np.float64]:
    """Return out-of-fold probabilities of naive Bayes: P(label | words) ∝ P(label) Π exp PMI(word, label)."""
    bags = read_bags(frame, "hypothesis")
    probabilities = np.empty((len(labels), classes))
    for fold in range(int(folds.max()) + 1):
        seen = folds != fold
        counts = count_words(bags, labels, classes, rows=seen)
        label_counts = np.bincount(labels[seen], minlength=classes)
        informations = np.nan_to_num(pmi(counts, label_counts))
        informations[counts.sum(axis=1) == 0] = 0  # a word of this fold alone tells nothing
        with np.errstate(divide="ignore"):
            scores = _sum_words(bags, informations) + np.log(label_counts / label_counts.sum())
        probabilities[~seen] = _softmax(scores[~seen])
    return probabilities


def _regress(features: Any, labels: NDArray[np.int8], folds: NDArray[np.int64], classes: int) -> NDArray[np.float64]:
    trained_on = folds[:, None] != np.arange(folds.max() + 1)
    return fit_models(features, labels, classes, trained_on).predict(features, folds).astype(np.float64)


def _sum_words(bags: Bags, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add up the values of the different words of each text."""
    sums = np.zeros((len(bags), values.shape[1]))
    for start, end, tokens, owner in bags.blocks():
        first = bags.first[tokens]
        codes, texts = bags.codes[tokens][first], owner[first] - start
        for label in range(values.shape[1]):
            sums[start:end, label] = np.bincount(texts, weights=values[codes, label], minlength=end - start)
    return sums


def _overlap_features(frame: pl.DataFrame) -> Any:
    """Return a sparse matrix of ones: the tenth of overlap and of relative length, and each heuristic that holds."""
    from scipy.sparse import csr_matrix, hstack

    vocabulary = Vocabulary()
    premises, hypotheses = (vocabulary.encode(tokenize_units(frame, side)) for side in ("premise", "hypothesis"))
    overlap = measure_overlap(premises, hypotheses)
    heuristics = np.zeros(len(frame), dtype=np.uint8)
    languages = language_of(frame).fill_null(UNKNOWN)
    for language in languages.unique():
        rows = (languages == language).to_numpy()
        heuristics[rows] = measure_heuristics(frame.filter(pl.Series(rows)), overlap[rows], language)
    lengths = [side.list.len().to_numpy().astype(np.float64) for side in (premises, hypotheses)]
    shares = np.nan_to_num(overlap), lengths[1] / np.maximum(lengths[0] + lengths[1], 1)
    tenths = [np.eye(STEPS + 1, dtype=np.int8)[np.floor(share * STEPS).astype(np.int64)] for share in shares]
    holding = [((heuristics & bit) > 0)[:, None] for bit in HEURISTICS.values()]
    return csr_matrix(hstack([csr_matrix(part, dtype=np.int8) for part in (*tenths, *holding)]))


def _softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
    probabilities: NDArray[np.float64] = shifted / shifted.sum(axis=1, keepdims=True)
    return probabilities
