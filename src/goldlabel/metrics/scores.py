"""Scores of predicted labels against gold ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from goldlabel.errors import InputError
from goldlabel.metrics.estimate import Estimate, share

Metric = Callable[[NDArray[np.str_], NDArray[np.str_]], float]


def accuracy(gold: ArrayLike, predicted: ArrayLike) -> float:
    """Return the share of pairs predicted right."""
    gold, predicted = checked(gold, predicted)
    return float(np.mean(gold == predicted))


def confusion(gold: ArrayLike, predicted: ArrayLike, labels: Sequence[str]) -> NDArray[np.int64]:
    """Return counts with gold labels as rows and predicted ones as columns, both in the order of ``labels``."""
    gold, predicted = checked(gold, predicted)
    order = np.argsort(np.asarray(labels))
    known = np.asarray(labels)[order]
    rows, columns = np.searchsorted(known, gold), np.searchsorted(known, predicted)
    for words, places in ((gold, rows), (predicted, columns)):
        unknown = words[known[np.minimum(places, len(known) - 1)] != words]
        if len(unknown):
            raise InputError(f"label {str(unknown[0])!r} is not one of {', '.join(labels)}")
    counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
    np.add.at(counts, (order[rows], order[columns]), 1)
    return counts


def f1_per_label(gold: ArrayLike, predicted: ArrayLike, labels: Sequence[str]) -> dict[str, float | None]:
    """Return the F1 of each label; ``None`` where the label occurs on neither side."""
    counts = confusion(gold, predicted, labels)
    hits = np.diag(counts)
    total = counts.sum(axis=0) + counts.sum(axis=1)
    return {
        label: float(2 * hit / both) if both else None for label, hit, both in zip(labels, hits, total, strict=True)
    }


def macro_f1(gold: ArrayLike, predicted: ArrayLike, labels: Sequence[str]) -> float:
    """Return the mean F1 over the labels that occur."""
    return float(np.mean([f1 for f1 in f1_per_label(gold, predicted, labels).values() if f1 is not None]))


def balanced_accuracy(gold: ArrayLike, predicted: ArrayLike) -> float:
    """Return the mean recall over the gold labels."""
    gold, predicted = checked(gold, predicted)
    return float(np.mean([np.mean(predicted[gold == label] == label) for label in np.unique(gold)]))


def accuracy_score(
    gold: ArrayLike, predicted: ArrayLike, *, units: ArrayLike | None = None, level: float = 0.95
) -> Estimate:
    """Return the accuracy with Wilson's interval, by unit where units are given."""
    gold, predicted = checked(gold, predicted)
    return share(gold == predicted, units=units, level=level)


def checked(gold: ArrayLike, predicted: ArrayLike) -> tuple[NDArray[np.str_], NDArray[np.str_]]:
    """Return both as arrays, or say why they cannot be held against each other."""
    gold_array, predicted_array = np.asarray(gold, dtype=np.str_), np.asarray(predicted, dtype=np.str_)
    if gold_array.shape != predicted_array.shape or gold_array.ndim != 1:
        raise InputError(f"{gold_array.size} gold labels cannot be held against {predicted_array.size} predictions")
    if not len(gold_array):
        raise InputError("there are no labels to score")
    if "-" in gold_array:
        raise InputError("pairs without a gold label ('-') cannot be scored; leave them out first")
    return gold_array, predicted_array
