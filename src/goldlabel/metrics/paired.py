"""Two systems on the same pairs: the difference with its interval, and how surprising it would be by chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from goldlabel.errors import InputError
from goldlabel.metrics.bootstrap import METHOD, Spread, drawn_rows, percentile_interval
from goldlabel.metrics.distributions import binomial, convolve
from goldlabel.metrics.estimate import Estimate, mean, unit_numbers
from goldlabel.metrics.scores import Metric, checked
from goldlabel.seeds import random_state

MOST_RUNS = 1000
"""Hits are shares of at most so many runs; of more, the exact distribution would take too long."""


@dataclass(frozen=True)
class PairedTest:
    """The first system's figure less the second's, and the two-sided p-value of no difference."""

    difference: Estimate
    p_value: float


def mcnemar(
    gold: ArrayLike, first: ArrayLike, second: ArrayLike, *, units: ArrayLike | None = None, level: float = 0.95
) -> PairedTest:
    """Test the accuracies of two systems by McNemar's exact test (1947) with the mid-p-value (Fagerland et al. 2013).

    If the systems are alike, all answers of a unit could as well be swapped. The exact distribution of the
    difference over all such swaps is that of a sum of independent signs, one per unit; where units are single
    pairs, that is McNemar's. The exact test without mid-p rejects too rarely.
    """
    gold_labels, first_labels = checked(gold, first)
    _, second_labels = checked(gold, second)
    return swap_test(first_labels == gold_labels, second_labels == gold_labels, units=units, level=level)


def swap_test(
    first: ArrayLike, second: ArrayLike, *, units: ArrayLike | None = None, level: float = 0.95
) -> PairedTest:
    """Test two systems' hits per pair by all swaps of whole units, as ``mcnemar`` does.

    A hit may be the share of a system's runs that are right on the pair. All runs of a system are swapped together, so
    that the pairs are the sample and the runs are taken as they are: the test tells whether these runs would differ on
    other pairs, not whether other runs would.
    """
    first_hits, second_hits = (np.asarray(hits, dtype=np.float64) for hits in (first, second))
    if first_hits.shape != second_hits.shape or first_hits.ndim != 1 or not len(first_hits):
        raise InputError(f"hits on {first_hits.size} pairs cannot be held against hits on {second_hits.size}")
    runs = _common_runs(np.concatenate([first_hits, second_hits]))
    hits = first_hits - second_hits
    by_unit = np.bincount(unit_numbers(units, len(hits)), weights=runs * hits).round().astype(np.int64)
    return PairedTest(mean(hits, units=units, level=level), _sign_test(by_unit))


def paired_bootstrap(
    metric: Metric,
    gold: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    units: ArrayLike | None = None,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> PairedTest:
    """Test the difference of any metric by drawing the same units for both systems.

    The p-value is the one that goes with the interval: twice the smaller share of resamples on one side of zero,
    widened for few units, and never below one in ``resamples`` + 1.
    """
    gold_labels, first_labels = checked(gold, first)
    _, second_labels = checked(gold, second)
    numbers = unit_numbers(units, len(gold_labels))
    drawn = np.array(
        [
            metric(gold_labels[rows], first_labels[rows]) - metric(gold_labels[rows], second_labels[rows])
            for rows in drawn_rows(numbers, resamples, seed)
        ]
    )
    value = metric(gold_labels, first_labels) - metric(gold_labels, second_labels)
    sizes = np.bincount(numbers)
    low, high = percentile_interval(drawn, sizes, level) or (None, None)
    difference = Estimate(value, low, high, level, len(gold_labels), len(sizes), METHOD)
    return PairedTest(difference, Spread.of_units(sizes).p_value(drawn))


def permutation_test(
    metric: Metric,
    gold: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    units: ArrayLike | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> PairedTest:
    """Test by approximate randomisation: swap the two systems' answers unit by unit (Noreen 1989)."""
    gold_labels, first_labels = checked(gold, first)
    _, second_labels = checked(gold, second)
    numbers = unit_numbers(units, len(gold_labels))
    count = int(numbers.max()) + 1
    value = metric(gold_labels, first_labels) - metric(gold_labels, second_labels)
    random = random_state(seed)
    extreme = 0
    for _ in range(resamples):
        swap = random.randint(0, 2, count).astype(bool)[numbers]
        mixed, rest = np.where(swap, second_labels, first_labels), np.where(swap, first_labels, second_labels)
        extreme += abs(metric(gold_labels, mixed) - metric(gold_labels, rest)) >= abs(value) - 1e-12
    difference = Estimate.without_interval(value, level=0.95, n=len(numbers), units=count, method="randomisation")
    return PairedTest(difference, (extreme + 1) / (resamples + 1))


def _common_runs(hits: NDArray[np.float64]) -> int:
    """Return the least number of runs whose shares the hits can be."""
    values = np.unique(hits)
    for runs in range(1, MOST_RUNS + 1):
        if np.abs(runs * values - (runs * values).round()).max() < 1e-6:
            return runs
    raise InputError(f"the hits are not the shares of at most {MOST_RUNS:,} runs that are right on a pair")


def _sign_test(sums: NDArray[np.int64]) -> float:
    """Return the two-sided mid-p-value of a sum whose terms could each have had the other sign."""
    sizes, counts = np.unique(np.abs(sums[sums != 0]), return_counts=True)
    if not len(sizes):
        return 1.0
    chances = np.ones(1)
    for size, count in zip(sizes, counts, strict=True):
        spread = np.zeros(2 * size * count + 1)
        spread[:: 2 * size] = binomial(count, 0.5)
        chances = convolve(chances, spread)
    reach = (len(chances) - 1) // 2
    distance = np.abs(np.arange(-reach, reach + 1))
    observed = abs(int(sums.sum()))
    tail = chances[distance > observed].sum() + chances[distance == observed].sum() / 2
    return float(np.clip(tail, 0.0, 1.0))
