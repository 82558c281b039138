"""Multinomial logistic regression on hashed n-grams, many models at once.

The models share features and differ in the rows they are trained on, as in cross-validation: one product with the
sparse matrix serves them all. Each is fitted by Adam (Kingma and Ba 2015) on blocks of rows with a falling step
and an L2 penalty; the bias is the log share of each label among the training rows. It takes few passes over the
data, and ends within a tenth of a point of L-BFGS in accuracy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goldlabel.audit.bags import Bags
from goldlabel.pairs.mixing import mix
from goldlabel.seeds import random_state

BITS = 20
MOST_FEATURES = 1 << 17
ROWS_PER_STEP = (1 << 12, 1 << 15)
LEAST_STEPS, LEAST_EPOCHS = 60, 3
STEP, PENALTY = 0.1, 10.0
_MOMENTUM, _SQUARES = 0.9, 0.99


@dataclass(frozen=True)
class Models:
    """Weights of several models over the same features, side by side."""

    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    classes: int

    def predict(self, matrix: Any, model: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the label probabilities of each row by the model named for it."""
        probabilities = np.empty((matrix.shape[0], self.classes), dtype=np.float32)
        for start in range(0, len(probabilities), ROWS_PER_STEP[1]):
            end = min(start + ROWS_PER_STEP[1], len(probabilities))
            scores = self.scores(_rows(matrix, np.arange(start, end)))
            probabilities[start:end] = _softmax(scores[np.arange(end - start), model[start:end]])
        return probabilities

    def scores(self, block: Any) -> NDArray[np.float32]:
        """Return the scores of rows by models by labels."""
        scores: NDArray[np.float32] = (block @ self.weights + self.bias).reshape(block.shape[0], -1, self.classes)
        return scores


def hashed_ngrams(bags: Bags) -> Any:
    """Return a sparse matrix of texts by hashed words and bigrams.

    A feature seen once cannot help on another text and is left out, as is all beyond the most frequent 131,072.
    """
    from scipy.sparse import csr_matrix

    counts = np.zeros(1 << BITS, dtype=np.int64)
    for _, _, features, _ in _features(bags):
        counts += np.bincount(features, minlength=1 << BITS)
    least = 2
    if (counts >= least).sum() > MOST_FEATURES:
        least = int(np.partition(counts, -MOST_FEATURES)[-MOST_FEATURES]) + 1
    kept = counts >= least
    column = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    indices = np.empty(int(counts[kept].sum()), dtype=np.int32)
    lengths = np.zeros(len(bags), dtype=np.int64)
    filled = 0
    for start, end, features, owner in _features(bags):
        columns = column[features]
        known = columns >= 0
        lengths[start:end] = np.bincount(owner[known] - start, minlength=end - start)
        known_columns = columns[known]
        indices[filled : filled + len(known_columns)] = known_columns
        filled += len(known_columns)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    offsets = offsets.astype(np.int32 if offsets[-1] < 2**31 else np.int64)
    ones = np.ones(len(indices), dtype=np.int8)
    return csr_matrix((ones, indices, offsets), shape=(len(bags), int(kept.sum())))


def fit_models(
    matrix: Any, labels: NDArray[np.int8], classes: int, trained_on: NDArray[np.bool_], *, seed: int = 0
) -> Models:
    """Fit a model for each column of ``trained_on``, which says what rows it learns from."""
    rows, models = trained_on.shape
    width = models * classes
    weights = np.zeros((matrix.shape[1], width), dtype=np.float32)
    first, second, scratch = np.zeros_like(weights), np.zeros_like(weights), np.empty_like(weights)
    state = Models(weights, _log_shares(labels, classes, trained_on), classes)
    size = int(np.clip(LEAST_EPOCHS * rows // LEAST_STEPS, *ROWS_PER_STEP))
    blocks = -(-rows // size)
    steps = max(LEAST_EPOCHS, -(-LEAST_STEPS // blocks)) * blocks
    order = random_state(seed).permutation(rows)
    for step in range(1, steps + 1):
        chosen = np.sort(order[step % blocks :: blocks])
        block = _rows(matrix, chosen)
        errors = _softmax(state.scores(block))
        errors[np.arange(len(chosen)), :, labels[chosen]] -= 1
        errors *= trained_on[chosen][:, :, None]
        slope = block.T @ errors.reshape(len(chosen), width)
        slope *= rows / len(chosen)
        _step(weights, slope, first, second, scratch, step, STEP * (1 - step / (steps + 1)))
    return state


def _step(
    weights: NDArray[np.float32],
    slope: NDArray[np.float32],
    first: NDArray[np.float32],
    second: NDArray[np.float32],
    scratch: NDArray[np.float32],
    step: int,
    rate: float,
) -> None:
    """Move the weights by Adam's rule; everything happens in place, as the arrays are large."""
    slope += np.multiply(weights, PENALTY, out=scratch)
    first *= _MOMENTUM
    first += np.multiply(slope, 1 - _MOMENTUM, out=scratch)
    second *= _SQUARES
    second += np.multiply(np.square(slope, out=slope), 1 - _SQUARES, out=slope)
    np.sqrt(second, out=slope)
    slope *= 1 / np.sqrt(1 - _SQUARES**step)
    slope += 1e-3
    np.divide(first, slope, out=slope)
    slope *= rate / (1 - _MOMENTUM**step)
    weights -= slope


Block = tuple[int, int, NDArray[np.int64], NDArray[np.int64]]


def _features(bags: Bags) -> Iterator[Block]:
    """Yield the first and last row of each block, its hashed features in the order of rows, and their rows."""
    for start, end, tokens, owner in bags.blocks():
        codes = bags.codes[tokens].astype(np.uint64) + np.uint64(1)
        features = np.empty((len(codes), 2), dtype=np.int64)
        features[:, 0] = _hashed(codes)
        inside = np.ones((len(codes), 2), dtype=bool)
        if len(codes):
            before = np.concatenate([codes[:1], codes[:-1]])
            features[:, 1] = _hashed(before << np.uint64(32) | codes)
            inside[0, 1] = False
            inside[1:, 1] = owner[1:] == owner[:-1]
        yield start, end, features[inside], np.repeat(owner, 2).reshape(-1, 2)[inside]


def _hashed(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Spread keys over the features."""
    return (mix(keys) >> np.uint64(64 - BITS)).astype(np.int64)


def _log_shares(labels: NDArray[np.int8], classes: int, trained_on: NDArray[np.bool_]) -> NDArray[np.float32]:
    counts = np.array([np.bincount(labels[rows], minlength=classes) for rows in trained_on.T]) + 1.0
    shares: NDArray[np.float32] = np.log(counts / counts.sum(axis=1, keepdims=True)).astype(np.float32).ravel()
    return shares


def _rows(matrix: Any, rows: NDArray[np.int64]) -> Any:
    """Take rows of a sparse matrix of ones, without the checks and sorting of indexing it."""
    from scipy.sparse import csr_matrix

    starts, lengths = matrix.indptr[rows], matrix.indptr[rows + 1] - matrix.indptr[rows]
    ends = np.cumsum(lengths)
    places = np.repeat(starts - (ends - lengths), lengths) + np.arange(int(ends[-1]) if len(ends) else 0)
    offsets = np.concatenate([[0], ends]).astype(np.int32)
    values = np.ones(len(places), dtype=np.float32)
    return csr_matrix((values, matrix.indices[places], offsets), shape=(len(rows), matrix.shape[1]))


def _softmax(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Turn scores into probabilities in place; labels are few, so they are gone through one by one."""
    columns = [scores[..., label] for label in range(scores.shape[-1])]
    scores -= np.maximum.reduce(columns)[..., None]
    np.exp(scores, out=scores)
    scores /= sum(columns[1:], columns[0])[..., None]
    return scores
