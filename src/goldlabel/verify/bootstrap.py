"""Intervals by drawing pairs with replacement (Efron 1979), at the cost of counting, not of drawing rows.

Every figure here is a function of sums over pairs. Pairs with the same votes add the same terms, so a resample
is a multinomial draw of how often each distinct pattern occurs, and its figures come from one matrix product.

A share of 0 or 100 per cent is the same on every resample, which would make it look certain; its interval is
Wilson's over the pairs instead. Any other figure that does not vary has no interval.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.metrics import wilson
from goldlabel.verify.gold import check_share

CELLS_PER_BATCH = 4_000_000
DEFINED_SHARE = 0.95
"""An interval is given only where this share of the resamples has a value."""

Terms = NDArray[np.float64]


@dataclass(frozen=True)
class Statistic:
    """A figure: its terms per pattern of votes, and how the sums of the terms become the figure (NaN: undefined)."""

    terms: Terms
    of_sums: Callable[[Terms], Terms]
    is_share: bool = False


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval; ``None`` where it is undefined."""

    value: float | None
    interval: tuple[float, float] | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {"value": self.value, "interval": list(self.interval) if self.interval else None}


def share(numerator: NDArray[Any], denominator: NDArray[Any]) -> Statistic:
    """Return the statistic of 100 times a sum over a sum: a share in per cent."""
    return Statistic(np.stack([numerator, denominator], axis=1).astype(np.float64), _percent, is_share=True)


def estimates(
    statistics: Mapping[str, Statistic],
    weights: NDArray[np.int64],
    *,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, Estimate]:
    """Return each statistic with its percentile interval; ``weights`` say how many pairs have each pattern."""
    check_share("interval level", level)
    values = of_weights(statistics, weights[None, :])
    drawn = replicates(statistics, weights, resamples=resamples, seed=seed)
    found = {}
    for name, statistic in statistics.items():
        value = float(values[name][0])
        at_edge = statistic.is_share and resamples and value in (0.0, 100.0)
        interval = _wilson(statistic, weights, value, level) if at_edge else percentiles(drawn[name], level)
        found[name] = Estimate(None if np.isnan(value) else value, interval)
    return found


def replicates(
    statistics: Mapping[str, Statistic], weights: NDArray[np.int64], *, resamples: int, seed: int
) -> dict[str, Terms]:
    """Return each statistic on ``resamples`` draws of the pairs."""
    if resamples < 0:
        raise InputError(f"{resamples} resamples cannot be drawn")
    random = np.random.RandomState(seed)
    batch = max(1, CELLS_PER_BATCH // max(1, len(weights)))
    sizes = [min(batch, resamples - start) for start in range(0, resamples, batch)] if weights.sum() else []
    parts = [of_weights(statistics, _draw(random, weights, size)) for size in sizes]
    return {name: np.concatenate([part[name] for part in parts] or [np.empty(0)]) for name in statistics}


def of_weights(statistics: Mapping[str, Statistic], weights: NDArray[np.int64]) -> dict[str, Terms]:
    """Return each statistic for every row of weights."""
    terms = np.concatenate([statistic.terms for statistic in statistics.values()], axis=1)
    sums = weights.astype(np.float64) @ terms
    ends = np.cumsum([statistic.terms.shape[1] for statistic in statistics.values()])
    parts: Sequence[Terms] = np.split(sums, ends[:-1], axis=1)
    return {name: statistic.of_sums(part) for (name, statistic), part in zip(statistics.items(), parts, strict=True)}


def percentiles(values: Terms, level: float) -> tuple[float, float] | None:
    """Return the percentile interval, or ``None`` where too few resamples have a value or all have the same."""
    defined = values[~np.isnan(values)]
    if not len(values) or len(defined) < DEFINED_SHARE * len(values):
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return (float(low), float(high)) if high - low > 1e-12 else None


def _wilson(statistic: Statistic, weights: NDArray[np.int64], value: float, level: float) -> tuple[float, float]:
    pairs = int(weights[statistic.terms[:, 1] > 0].sum())
    interval = wilson(pairs if value else 0, pairs, level=level)
    return 100 * interval.low, 100 * interval.high


def _draw(random: np.random.RandomState, weights: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    total = int(weights.sum())
    if 8 * len(weights) < total:
        return random.multinomial(total, weights / total, size)
    # Hardly a pattern occurs twice: drawing pairs is cheaper than a binomial for each pattern.
    pattern = np.repeat(np.arange(len(weights)), weights)
    drawn = [np.bincount(pattern[random.randint(0, total, total)], minlength=len(weights)) for _ in range(size)]
    return np.stack(drawn)


def _percent(sums: Terms) -> Terms:
    return 100 * divided(sums[:, 0], sums[:, 1])


def divided(numerator: Terms, denominator: Terms) -> Terms:
    """Divide; by nothing is NaN, without a warning."""
    undefined = np.full(len(numerator), np.nan)
    return np.asarray(np.divide(numerator, denominator, out=undefined, where=denominator != 0))
