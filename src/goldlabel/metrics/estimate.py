"""``Estimate``: a figure with its uncertainty, and the closed forms for shares and means.

A share's interval is Wilson's (1927). Where pairs come in units, the number of pairs is divided by the design
effect, the ratio of the variance between units to that of independent pairs, and Student's t takes the place of the
normal quantile (Korn and Graubard 1998 for the idea, Dean and Pagano 2015 for Wilson's form of it). A mean's
interval is its linearised counterpart (Liang and Zeger 1986). Degrees of freedom come from the effective number of
units, (Σ size)² / Σ size², so that one huge unit among many small ones counts for what it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from goldlabel.errors import InputError
from goldlabel.metrics.distributions import normal_bound, student_bound, student_tail

_NOTHING = 1e-12


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval, the pairs and units behind it, and how the interval was made.

    ``value`` is ``None`` where the figure is undefined, ``low`` and ``high`` where it has no interval.
    """

    value: float | None
    low: float | None
    high: float | None
    level: float
    n: int
    units: int
    method: str

    @classmethod
    def without_interval(cls, value: float | None, *, level: float, n: int, units: int, method: str) -> Estimate:
        """Return a figure whose uncertainty cannot be told, or which is itself undefined."""
        return cls(value, None, None, level, n, units, method)

    @property
    def defined(self) -> float:
        """The value, where it must have one."""
        if self.value is None:
            raise InputError("the figure is undefined: there is nothing behind it")
        return self.value

    @property
    def interval(self) -> tuple[float, float] | None:
        """The ends of the interval, or ``None``."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def percent(self) -> Estimate:
        """Return a share in per cent."""
        value = None if self.value is None else 100 * self.value
        low, high = (None, None) if self.interval is None else (100 * self.interval[0], 100 * self.interval[1])
        return replace(self, value=value, low=low, high=high)

    def __neg__(self) -> Estimate:
        """Return the figure with the other sign."""
        value, low, high = (None if end is None else -end for end in (self.value, self.high, self.low))
        return replace(self, value=value, low=low, high=high)

    def text(self, places: int = 1) -> str:
        """Return the figure as pages print it: ``81.2 (79.0 to 83.1)``."""
        if self.value is None:
            return "–"
        between = f" ({self.low:.{places}f} to {self.high:.{places}f})" if self.interval else ""
        return f"{self.value:.{places}f}{between}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "value": self.value,
            "interval": list(self.interval) if self.interval else None,
            "level": self.level,
            "n": self.n,
            "units": self.units,
            "method": self.method,
        }

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Estimate:
        """Return the figure that ``to_dict`` told of."""
        low, high = document["interval"] or (None, None)
        return cls(document["value"], low, high, *(document[name] for name in ("level", "n", "units", "method")))


def wilson(successes: int, n: int, *, level: float = 0.95) -> Estimate:
    """Return a share of independent pairs with Wilson's score interval, without continuity correction."""
    check_level(level)
    if not 0 <= successes <= n or n == 0:
        raise InputError(f"{successes} of {n} is not a share")
    low, high = _wilson_interval(successes / n, n, _normal_quantile(level))
    return Estimate(successes / n, low, high, level, n, n, "Wilson")


def share_of(value: float, n: int, *, level: float = 0.95) -> Estimate:
    """Return a share that is known only to some places, such as a printed one, with Wilson's interval."""
    check_level(level)
    if not 0 <= value <= 1 or n < 1:
        raise InputError(f"{value} of {n} pairs is not a share")
    low, high = _wilson_interval(value, n, _normal_quantile(level))
    return Estimate(value, low, high, level, n, n, "Wilson")


def share(
    hits: ArrayLike,
    of: ArrayLike | None = None,
    *,
    units: ArrayLike | None = None,
    level: float = 0.95,
    inflation: float = 1.0,
) -> Estimate:
    """Return the sum of ``hits`` over the sum of ``of``, each given per pair; ``of`` is one where it is left out.

    ``inflation`` multiplies the variance, where units are not independent either.

    A hit may be a fraction, such as the share of several runs that are right on a pair; such hits vary less than right
    and wrong do, so they are taken by unit even where each pair is one.

    At 0 and 1, and where all units have the same share, nothing tells how units vary: the units then count as if
    each were one pair.
    """
    check_level(level)
    numerator = np.asarray(hits, dtype=np.float64)
    denominator = np.ones(len(numerator)) if of is None else np.asarray(of, dtype=np.float64)
    n = int((denominator > 0).sum())
    hit, size = _by_unit(units, numerator, denominator)
    hit, size = hit[size > 0], size[size > 0]
    total, count = size.sum(), len(size)
    if not count:
        return Estimate.without_interval(None, level=level, n=0, units=0, method="Wilson")
    value = float(hit.sum() / total)
    if (size == 1).all() and ((hit == 0) | (hit == 1)).all():
        low, high = _wilson_interval(value, count / inflation, _normal_quantile(level))
        return Estimate(value, low, high, level, n, count, "Wilson")
    method = "Wilson, by unit"
    residual = hit - value * size
    if count == 1:
        return Estimate.without_interval(value, level=level, n=n, units=count, method=method)
    if np.abs(residual).max() < _NOTHING * size.max():
        low, high = _wilson_interval(value, count / inflation, _normal_quantile(level))
    else:
        variance = inflation * count / (count - 1) * float((residual**2).sum()) / float(total) ** 2
        quantile = _student_quantile(level, effective_number(size) - 1)
        low, high = _wilson_interval(value, value * (1 - value) / variance, quantile)
    return Estimate(value, low, high, level, n, count, method)


def mean(values: ArrayLike, *, units: ArrayLike | None = None, level: float = 0.95, inflation: float = 1.0) -> Estimate:
    """Return a mean over pairs with Student's interval, its variance taken between units, times ``inflation``."""
    check_level(level)
    numbers = np.asarray(values, dtype=np.float64)
    method = "Student's t, by unit"
    if not len(numbers):
        return Estimate.without_interval(None, level=level, n=0, units=0, method=method)
    value, error, count, freedom = _mean_and_error(numbers, units, inflation)
    if error is None:
        return Estimate.without_interval(value, level=level, n=len(numbers), units=count, method=method)
    half = _student_quantile(level, freedom) * error
    return Estimate(value, value - half, value + half, level, len(numbers), count, method)


def mean_test(
    values: ArrayLike, *, units: ArrayLike | None = None, alternative: str = "two-sided", inflation: float = 1.0
) -> float | None:
    """Return the p-value of a mean of zero, two-sided or against a ``greater`` one; ``None`` where it is undefined."""
    numbers = np.asarray(values, dtype=np.float64)
    value, error, _, freedom = _mean_and_error(numbers, units, inflation)
    if error is None:
        return None
    if alternative == "greater":
        return student_tail(value / error, freedom)
    return 2 * student_tail(abs(value) / error, freedom)


def difference(first: Estimate, second: Estimate) -> Estimate:
    """Return the first figure less the second, of sets that have no pair in common.

    The interval comes from the two by the method of variance estimates recovery (Newcombe 1998, method 10; Zou and
    Donner 2008).
    """
    n, units, method = first.n + second.n, first.units + second.units, "from both intervals"
    if first.value is None or second.value is None:
        return Estimate.without_interval(None, level=first.level, n=n, units=units, method=method)
    value = first.value - second.value
    if first.interval is None or second.interval is None:
        return Estimate.without_interval(value, level=first.level, n=n, units=units, method=method)
    below = float(np.hypot(first.value - first.interval[0], second.interval[1] - second.value))
    above = float(np.hypot(first.interval[1] - first.value, second.value - second.interval[0]))
    return Estimate(value, value - below, value + above, first.level, n, units, method)


def check_level(level: float) -> None:
    """Refuse what is no confidence level."""
    if not 0 < level < 1:
        raise InputError(f"confidence level {level} is not between 0 and 1")


def effective_number(sizes: NDArray[np.float64]) -> float:
    """Return how many units of equal size would weigh as much as these."""
    return float(sizes.sum() ** 2 / (sizes**2).sum())


def unit_numbers(units: ArrayLike | None, pairs: int) -> NDArray[np.int64]:
    """Number the units from 0 on; without any, each pair is its own."""
    if units is None:
        return np.arange(pairs)
    keys = np.asarray(units)
    if len(keys) != pairs:
        raise InputError(f"{len(keys)} units cannot be held against {pairs} pairs")
    if keys.dtype.kind in "iu" and pairs and keys.min() >= 0 and keys.max() < 4 * pairs:
        # Numbers without wide gaps need no sorting.
        numbers: NDArray[np.int64] = np.cumsum(np.bincount(keys) > 0)[keys] - 1
        return numbers
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)


def _by_unit(units: ArrayLike | None, *columns: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    if units is None:
        return list(columns)
    numbers = unit_numbers(units, len(columns[0]))
    return [np.bincount(numbers, weights=column).astype(np.float64) for column in columns]


def _mean_and_error(
    numbers: NDArray[np.float64], units: ArrayLike | None, inflation: float
) -> tuple[float, float | None, int, float]:
    value = float(numbers.mean())
    residual, size = _by_unit(units, numbers - value, np.ones(len(numbers)))
    count = len(size)
    if count < 2 or np.abs(residual).max() < _NOTHING:
        return value, None, count, 0.0
    error = float(np.sqrt(inflation * count / (count - 1) * (residual**2).sum()) / len(numbers))
    return value, error, count, effective_number(size) - 1


def _wilson_interval(value: float, n: float, quantile: float) -> tuple[float, float]:
    weight = quantile**2 / n
    centre = (value + weight / 2) / (1 + weight)
    half = math.sqrt(value * (1 - value) * weight + weight**2 / 4) / (1 + weight)
    # Rounding must not put the share itself outside.
    return max(0.0, min(centre - half, value)), min(1.0, max(centre + half, value))


def _normal_quantile(level: float) -> float:
    return normal_bound((1 - level) / 2)


def _student_quantile(level: float, freedom: float) -> float:
    return student_bound((1 - level) / 2, max(freedom, 1.0))
