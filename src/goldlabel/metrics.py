"""Scores over plain label arrays, their intervals, and paired tests.

Labels are words; ``-`` (no gold label) must be left out before scoring. Every random procedure takes a seed
and gives the same figures on any machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from goldlabel.errors import InputError

Metric = Callable[[NDArray[np.str_], NDArray[np.str_]], float]


@dataclass(frozen=True)
class Interval:
    """A confidence interval."""

    low: float
    high: float
    level: float = 0.95


@dataclass(frozen=True)
class Score:
    """A score with its uncertainty and the number of pairs behind it."""

    value: float
    interval: Interval
    n: int


@dataclass(frozen=True)
class PairedTest:
    """The difference of two systems on the same pairs, and how surprising it would be by chance."""

    difference: float
    p_value: float
    interval: Interval | None = None


def accuracy(gold: ArrayLike, predicted: ArrayLike) -> float:
    """Return the share of pairs predicted right."""
    gold, predicted = _checked(gold, predicted)
    return float(np.mean(gold == predicted))


def confusion(gold: ArrayLike, predicted: ArrayLike, labels: Sequence[str]) -> NDArray[np.int64]:
    """Return counts with gold labels as rows and predicted ones as columns, both in the order of ``labels``."""
    gold, predicted = _checked(gold, predicted)
    order = np.argsort(np.asarray(labels))
    known = np.asarray(labels)[order]
    rows, columns = np.searchsorted(known, gold), np.searchsorted(known, predicted)
    for words, places in ((gold, rows), (predicted, columns)):
        strange = words[known[np.minimum(places, len(known) - 1)] != words]
        if len(strange):
            raise InputError(f"label {str(strange[0])!r} is not one of {', '.join(labels)}")
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
    gold, predicted = _checked(gold, predicted)
    return float(np.mean([np.mean(predicted[gold == label] == label) for label in np.unique(gold)]))


def accuracy_score(gold: ArrayLike, predicted: ArrayLike, *, level: float = 0.95) -> Score:
    """Return the accuracy with its Wilson interval."""
    gold, predicted = _checked(gold, predicted)
    right = int(np.sum(gold == predicted))
    return Score(right / len(gold), wilson(right, len(gold), level=level), len(gold))


def wilson(successes: int, n: int, *, level: float = 0.95) -> Interval:
    """Return Wilson's score interval for a share (Wilson 1927), without continuity correction."""
    from scipy.stats import binomtest

    _check_level(level)
    if not 0 <= successes <= n or n == 0:
        raise InputError(f"{successes} of {n} is not a share")
    interval = binomtest(successes, n).proportion_ci(level, method="wilson")
    return Interval(float(interval.low), float(interval.high), level)


def bootstrap(
    metric: Metric,
    gold: ArrayLike,
    predicted: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Score:
    """Return any metric with its percentile bootstrap interval (Efron 1979).

    With ``groups``, whole groups are drawn, as pairs that share a premise are not independent.
    """
    gold, predicted = _checked(gold, predicted)
    _check_level(level)
    values = [metric(gold[rows], predicted[rows]) for rows in _resamples(len(gold), groups, resamples, seed)]
    return Score(metric(gold, predicted), _percentiles(np.array(values), level), len(gold))


def mcnemar(gold: ArrayLike, first: ArrayLike, second: ArrayLike) -> PairedTest:
    """Test the accuracies of two systems on the same pairs with McNemar's exact test (McNemar 1947)."""
    from scipy.stats import binomtest

    gold_array, one = _checked(gold, first)
    _, other = _checked(gold, second)
    only_first = int(np.sum((one == gold_array) & (other != gold_array)))
    only_second = int(np.sum((one != gold_array) & (other == gold_array)))
    discordant = only_first + only_second
    p_value = float(binomtest(only_first, discordant).pvalue) if discordant else 1.0
    return PairedTest((only_first - only_second) / len(gold_array), p_value)


def paired_bootstrap(
    metric: Metric,
    gold: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> PairedTest:
    """Test the difference of any metric by drawing the same pairs for both systems.

    The p-value is two-sided: twice the smaller share of resamples on one side of zero, never below
    one in ``resamples`` + 1.
    """
    gold_array, one = _checked(gold, first)
    _, other = _checked(gold, second)
    _check_level(level)
    drawn = np.array(
        [
            metric(gold_array[rows], one[rows]) - metric(gold_array[rows], other[rows])
            for rows in _resamples(len(gold_array), groups, resamples, seed)
        ]
    )
    tail = min(int(np.sum(drawn <= 0)), int(np.sum(drawn >= 0)))
    p_value = min(1.0, 2 * (tail + 1) / (resamples + 1))
    difference = metric(gold_array, one) - metric(gold_array, other)
    return PairedTest(difference, p_value, _percentiles(drawn, level))


def permutation_test(
    metric: Metric,
    gold: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> PairedTest:
    """Test by approximate randomisation: swap the two systems' answers pair by pair (Noreen 1989)."""
    gold_array, one = _checked(gold, first)
    _, other = _checked(gold, second)
    difference = metric(gold_array, one) - metric(gold_array, other)
    random = np.random.RandomState(seed)
    extreme = 0
    for _ in range(resamples):
        swap = random.randint(0, 2, len(gold_array)).astype(bool)
        mixed, rest = np.where(swap, other, one), np.where(swap, one, other)
        extreme += abs(metric(gold_array, mixed) - metric(gold_array, rest)) >= abs(difference) - 1e-12
    return PairedTest(difference, (extreme + 1) / (resamples + 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for the family-wise error rate (Holm 1979)."""
    order = np.argsort(p_values, kind="stable")
    ranked = np.asarray(p_values, dtype=float)[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(ranked), 1.0)
    return [float(value) for value in adjusted]


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for the false-discovery rate (Benjamini and Hochberg 1995)."""
    from scipy.stats import false_discovery_control

    return [float(value) for value in false_discovery_control(p_values)] if len(p_values) else []


def p_in_words(p_value: float) -> str:
    """Return a p-value as it is printed: ``p = 0.012``, or ``p < 0.001``."""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def _checked(gold: ArrayLike, predicted: ArrayLike) -> tuple[NDArray[np.str_], NDArray[np.str_]]:
    gold_array, predicted_array = np.asarray(gold, dtype=np.str_), np.asarray(predicted, dtype=np.str_)
    if gold_array.shape != predicted_array.shape or gold_array.ndim != 1:
        raise InputError(f"{gold_array.size} gold labels cannot be held against {predicted_array.size} predictions")
    if not len(gold_array):
        raise InputError("there are no labels to score")
    if "-" in gold_array:
        raise InputError("pairs without a gold label ('-') cannot be scored; leave them out first")
    return gold_array, predicted_array


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise InputError(f"confidence level {level} is not between 0 and 1")


def _resamples(n: int, groups: ArrayLike | None, resamples: int, seed: int) -> list[NDArray[np.int64]]:
    random = np.random.RandomState(seed)
    if groups is None:
        return [random.randint(0, n, n) for _ in range(resamples)]
    members = np.unique(np.asarray(groups), return_inverse=True)[1]
    if len(members) != n:
        raise InputError(f"{len(members)} groups cannot be held against {n} pairs")
    order = np.argsort(members, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(members))[:-1])
    return [np.concatenate([rows[i] for i in random.randint(0, len(rows), len(rows))]) for _ in range(resamples)]


def _percentiles(values: NDArray[np.float64], level: float) -> Interval:
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level)
