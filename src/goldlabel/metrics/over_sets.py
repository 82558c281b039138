"""Figures over several datasets: the mean that weighs each alike, and whether two systems differ on it.

Each dataset has its own hits per pair and its own units. Pairs are drawn within each dataset, and datasets are taken as
they are: nothing here is about datasets that might have been chosen instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from goldlabel.errors import InputError
from goldlabel.metrics.bootstrap import Spread
from goldlabel.metrics.estimate import Estimate, check_level, effective_number, share, unit_numbers
from goldlabel.metrics.paired import PairedTest
from goldlabel.seeds import random_state

Units = Sequence[ArrayLike | None]
"""The units of each dataset's pairs; ``None`` where each pair is one."""

RESAMPLES = 10_000
"""So many that a p-value of one comparison can stay small when it is corrected for a hundred."""
_AT_ONCE = 2_000_000


def mean_over_sets(hits: Sequence[ArrayLike], units: Units | None = None, *, level: float = 0.95) -> Estimate:
    """Return the mean of the datasets' shares of hits, each of which weighs the same.

    The interval comes from those of the shares by the method of variance estimates recovery (Zou and Donner 2008), as
    that of ``difference`` does. A hit may be the share of several runs that are right on a pair.
    """
    check_level(level)
    return mean_of_shares([share(own, units=keys, level=level) for own, keys in _each(hits, units)])


def mean_of_shares(shares: Sequence[Estimate]) -> Estimate:
    """Return the mean of shares over different datasets; it has an interval where all of them have one."""
    level = shares[0].level
    sets, method = len(shares), f"from the intervals of {len(shares)} datasets"
    n, count = sum(figure.n for figure in shares), sum(figure.units for figure in shares)
    values = np.array([figure.defined for figure in shares])
    value = float(values.mean())
    ends = [figure.interval for figure in shares if figure.interval is not None]
    if len(ends) < sets:
        return Estimate.without_interval(value, level=level, n=n, units=count, method=method)
    low, high = np.array(ends).T
    below, above = np.linalg.norm(values - low) / sets, np.linalg.norm(high - values) / sets
    return Estimate(value, value - float(below), value + float(above), level, n, count, method)


def paired_bootstrap_over_sets(
    first: Sequence[ArrayLike],
    second: Sequence[ArrayLike],
    units: Units | None = None,
    *,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    seed: int = 0,
) -> PairedTest:
    """Test whether two systems' means over the same datasets differ: ``compare_over_sets`` of two."""
    if len(first) != len(second):
        raise InputError(f"a mean over {len(first)} datasets cannot be held against one over {len(second)}")
    for number, (own, other) in enumerate(zip(first, second, strict=True), start=1):
        if np.shape(own) != np.shape(other):
            raise InputError(f"dataset {number}: {np.size(own)} hits cannot be held against {np.size(other)}")
    both = [np.column_stack([own, other]) for own, other in zip(first, second, strict=True)]
    return compare_over_sets(both, units, resamples=resamples, level=level, seed=seed)[0, 1]


def compare_over_sets(
    hits: Sequence[ArrayLike],
    units: Units | None = None,
    *,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    seed: int = 0,
) -> dict[tuple[int, int], PairedTest]:
    """Test the means over datasets of every two systems; ``hits`` has a column for each system.

    Units are drawn within each dataset, the same ones for all systems, one fewer than there are, so that resamples
    spread as much as the mean does (Rao and Wu 1988). Quantiles are Student's, with Satterthwaite's (1946) degrees of
    freedom. The p-value goes with the interval. Where a dataset has a single unit, there is no interval, and the
    p-value is 1.
    """
    check_level(level)
    sums = [_by_unit(own, keys) for own, keys in _each(hits, units)]
    means = np.mean([part[:, 1:].sum(axis=0) / part[:, 0].sum() for part in sums], axis=0)
    several = all(len(part) > 1 for part in sums)
    drawn = _draw_means(sums, resamples, seed) if several else np.empty((0, len(means)))
    n, count = int(sum(part[:, 0].sum() for part in sums)), sum(len(part) for part in sums)
    method = f"bootstrap over units within {len(sums)} datasets"
    tests = {}
    for a, b in combinations(range(len(means)), 2):
        freedom = _freedom([(part[:, 0], part[:, a + 1] - part[:, b + 1]) for part in sums]) if several else None
        spread, values = Spread(freedom or 1.0), drawn[:, a] - drawn[:, b]
        # Whole numbers that cancel out leave a remainder when they are divided.
        values[np.abs(values) < 1e-12] = 0.0
        low, high = (spread.interval(values, level) if freedom else None) or (None, None)
        gap = Estimate(float(means[a] - means[b]), low, high, level, n, count, method)
        tests[a, b] = PairedTest(gap, spread.p_value(values) if freedom else 1.0)
    return tests


def _each(hits: Sequence[ArrayLike], units: Units | None) -> list[tuple[ArrayLike, ArrayLike | None]]:
    if not len(hits):
        raise InputError("there are no datasets to take a mean over")
    if units is not None and len(units) != len(hits):
        raise InputError(f"the units of {len(units)} datasets cannot be held against the hits of {len(hits)}")
    for number, own in enumerate(hits, start=1):
        if not np.size(own):
            raise InputError(f"dataset {number} of {len(hits)} has no pairs; a mean over datasets needs some of each")
    return list(zip(hits, units if units is not None else [None] * len(hits), strict=True))


def _by_unit(hits: ArrayLike, units: ArrayLike | None) -> NDArray[np.float64]:
    """Return for each unit its pairs and each system's hits."""
    matrix = np.asarray(hits, dtype=np.float64)
    numbers = unit_numbers(units, len(matrix))
    columns = [np.bincount(numbers), *(np.bincount(numbers, weights=column) for column in matrix.T)]
    return np.stack(columns, axis=1).astype(np.float64)


def _draw_means(sums: Sequence[NDArray[np.float64]], resamples: int, seed: int) -> NDArray[np.float64]:
    """Return each system's mean over datasets on every resample."""
    if resamples < 1:
        raise InputError(f"{resamples} resamples cannot be drawn")
    random = random_state(seed)
    means = np.zeros((resamples, sums[0].shape[1] - 1))
    for part in sums:
        kinds, kind, counts = np.unique(part.round(9), axis=0, return_inverse=True, return_counts=True)
        step = max(1, _AT_ONCE // len(kinds))
        for start in range(0, resamples, step):
            rows = slice(start, min(start + step, resamples))
            totals = _draw_kinds(kind.ravel(), counts, rows.stop - rows.start, random) @ kinds
            means[rows] += totals[:, 1:] / totals[:, :1] / len(sums)
    return means


def _draw_kinds(
    kind: NDArray[np.int64], counts: NDArray[np.int64], resamples: int, random: np.random.RandomState
) -> NDArray[np.int64]:
    """Draw one unit fewer than there are; return how often each kind of unit is drawn, a row per resample."""
    if 3 * len(counts) < len(kind):
        return random.multinomial(len(kind) - 1, counts / len(kind), resamples)
    # Where few units are alike, they are quicker drawn one by one.
    drawn = (kind[random.randint(0, len(kind), len(kind) - 1)] for _ in range(resamples))
    return np.stack([np.bincount(row, minlength=len(counts)) for row in drawn])


def _freedom(parts: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]) -> float | None:
    """Return the degrees of freedom of a mean over datasets, from each one's units: their sizes and their sums."""
    variances, freedoms = [], []
    for sizes, sums in parts:
        residual = sums - sums.sum() / sizes.sum() * sizes
        variances.append(len(sizes) / (len(sizes) - 1) * float((residual**2).sum()) / float(sizes.sum()) ** 2)
        freedoms.append(max(effective_number(sizes) - 1, 1.0))
    total = sum(variances)
    if total < 1e-24:
        return None
    return total**2 / sum(variance**2 / own for variance, own in zip(variances, freedoms, strict=True))
