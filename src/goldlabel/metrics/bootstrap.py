"""The bootstrap: any figure with an interval, by drawing whole units with replacement (Efron 1979).

The interval is the percentile one, widened for few units as Student's interval is (Hesterberg 2015, section 5.3):
the quantiles taken are those at which the normal distribution reaches Student's bound for the effective number of
units. One resample is held at a time, as how often each unit is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from goldlabel.errors import InputError
from goldlabel.metrics.distributions import normal_bound, normal_tail, student_bound, student_tail
from goldlabel.metrics.estimate import Estimate, check_level, effective_number, unit_numbers
from goldlabel.metrics.scores import checked
from goldlabel.seeds import random_state

if TYPE_CHECKING:
    from goldlabel.metrics.scores import Metric

METHOD = "bootstrap over units"
DEFINED_SHARE = 0.95
"""An interval is given only where this share of the resamples has a value."""

Terms = NDArray[np.float64]


@dataclass(frozen=True)
class Statistic:
    """A figure made of sums: its terms, a row per pair, and how sums of the terms become it (NaN: undefined).

    ``of_sums`` takes a row of sums for each resample.
    """

    terms: Terms
    of_sums: Callable[[Terms], Terms]


def bootstrap(
    metric: Metric,
    gold: ArrayLike,
    predicted: ArrayLike,
    *,
    units: ArrayLike | None = None,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """Return any metric of gold and predicted labels with its interval."""
    gold, predicted = checked(gold, predicted)
    numbers = unit_numbers(units, len(gold))
    values = [metric(gold[rows], predicted[rows]) for rows in drawn_rows(numbers, resamples, seed)]
    low, high = percentile_interval(np.array(values), np.bincount(numbers), level) or (None, None)
    return Estimate(metric(gold, predicted), low, high, level, len(gold), int(numbers.max()) + 1, METHOD)


def bootstrap_sums(
    statistics: Mapping[str, Statistic],
    *,
    units: ArrayLike | None = None,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, Estimate]:
    """Return figures made of sums over the same pairs with their intervals, all on the same resamples."""
    pairs = len(next(iter(statistics.values())).terms) if statistics else 0
    numbers = unit_numbers(units, pairs)
    sizes = np.bincount(numbers)
    drawn = _replicates(statistics, numbers, resamples, seed)
    estimates = {}
    for name, statistic in statistics.items():
        value = float(statistic.of_sums(statistic.terms.sum(axis=0, keepdims=True))[0])
        low, high = percentile_interval(drawn[name], sizes, level) or (None, None)
        defined = None if np.isnan(value) else value
        estimates[name] = Estimate(defined, low, high, level, pairs, len(sizes), METHOD)
    return estimates


def _replicates(
    statistics: Mapping[str, Statistic], units: NDArray[np.int64], resamples: int, seed: int
) -> dict[str, Terms]:
    """Return each figure on every resample."""
    if not len(units):
        return {name: np.empty(0) for name in statistics}
    parts = [statistic.terms for statistic in statistics.values()]
    sums = drawn_sums(np.concatenate(parts, axis=1), units, resamples, seed)
    ends = np.cumsum([part.shape[1] for part in parts])
    pieces = np.split(sums, ends[:-1], axis=1)
    return {name: statistic.of_sums(piece) for (name, statistic), piece in zip(statistics.items(), pieces, strict=True)}


def drawn_sums(terms: Terms, units: NDArray[np.int64], resamples: int, seed: int) -> Terms:
    """Return the sums of terms, a row per pair, on every resample; ``units`` are numbers from 0 on."""
    by_unit = np.stack([np.bincount(units, weights=column) for column in terms.T], axis=1)
    sums = np.array([counts @ by_unit for counts in _draws(len(by_unit), resamples, seed)])
    return sums.reshape(-1, by_unit.shape[1])


def drawn_rows(units: NDArray[np.int64], resamples: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Yield the rows of each resample, one resample at a time; ``units`` are numbers from 0 on."""
    rows = np.arange(len(units))
    for counts in _draws(int(units.max()) + 1, resamples, seed):
        yield np.repeat(rows, counts[units])


def percentile_interval(values: Terms, sizes: ArrayLike, level: float) -> tuple[float, float] | None:
    """Return the interval of a figure from its resamples, given the sizes of the units that were drawn.

    There is none where too few resamples have a value, or all the same.
    """
    check_level(level)
    if not len(values) or effective_number(np.asarray(sizes, dtype=np.float64)) < 2:
        return None
    return Spread.of_units(sizes).interval(values, level)


@dataclass(frozen=True)
class Spread:
    """How resamples of a figure spread beside the figure itself.

    ``freedom`` are the degrees of freedom of its variance; ``narrowness`` is by how much resamples spread too little.
    """

    freedom: float
    narrowness: float = 1.0

    @classmethod
    def of_units(cls, sizes: ArrayLike) -> Spread:
        """Return the spread of resamples of as many units as there are."""
        number = max(effective_number(np.asarray(sizes, dtype=np.float64)), 2.0)
        return cls(number - 1, float(np.sqrt((number - 1) / number)))

    def interval(self, values: Terms, level: float) -> tuple[float, float] | None:
        """Return the interval of a figure; none where too few resamples have a value, or all the same."""
        defined = values[~np.isnan(values)]
        if len(defined) < max(DEFINED_SHARE * len(values), 1):
            return None
        tail = float(normal_tail(student_bound((1 - level) / 2, self.freedom) / self.narrowness))
        # The k-th of B resamples stands at k / (B + 1): with few resamples, other rules give too narrow an interval.
        low, high = np.quantile(defined, [tail, 1 - tail], method="weibull")
        return (float(low), float(high)) if high - low > 1e-12 else None

    def p_value(self, values: Terms) -> float:
        """Return the two-sided p-value of a figure of zero that goes with the interval."""
        ties = float((values == 0).sum()) / 2
        tail = min(float((values < 0).sum()), float((values > 0).sum())) + ties
        bound = normal_bound((tail + 0.5) / (len(values) + 1)) * self.narrowness
        return min(1.0, 2 * student_tail(bound, self.freedom))


def divided(numerator: Terms, denominator: Terms) -> Terms:
    """Divide; by nothing is NaN, without a warning."""
    undefined = np.full(len(numerator), np.nan)
    return np.asarray(np.divide(numerator, denominator, out=undefined, where=denominator != 0))


def _draws(units: int, resamples: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Yield how often each unit is drawn, a resample at a time."""
    if resamples < 0:
        raise InputError(f"{resamples} resamples cannot be drawn")
    random = random_state(seed)
    for _ in range(resamples):
        yield np.bincount(random.randint(0, units, units), minlength=units)
