"""Gaps: how much more often something holds in one part of the pairs than in another, where parts share units.

That accuracy is higher here than there is a difference of two shares; that the difference is larger here than there is
one of four. Pairs of one unit often lie in several parts (one premise has a hypothesis of each label), so the shares
are not independent and their variances do not add. Linearised, the gap is the mean of a term for each pair,

    t = g + w (y - m) N / n,

with ``g`` the gap, ``w``, ``m`` and ``n`` the weight, share and size of the part that the pair of value ``y`` lies in,
and ``N`` pairs in all; the variance of that mean is taken between units (Liang and Zeger 1986). In a small part where
all answers are right nothing varies though another sample would: a part's variance is never taken to be less than that
of independent pairs with two more hits and two more misses (Agresti and Coull 1998). Degrees of freedom are those
of Welch and Satterthwaite, so that a small part is not taken for as sure as a large one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from goldlabel.errors import InputError
from goldlabel.metrics.distributions import student_bound, student_tail
from goldlabel.metrics.estimate import Estimate, check_level, effective_number, unit_numbers

METHOD = "linearised, by unit"
_NOTHING = 1e-18


@dataclass(frozen=True)
class Gap:
    """A difference of shares, and the two-sided p-value of none."""

    value: Estimate
    p_value: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return self.value.to_dict() | {"p_value": self.p_value}


def gap(
    hits: ArrayLike,
    parts: Sequence[NDArray[np.bool_]],
    weights: Sequence[float] = (1, -1),
    *,
    units: ArrayLike | None = None,
    level: float = 0.95,
) -> Gap:
    """Return the sum of the parts' shares of hits, each times its weight; the parts have no pair in common."""
    check_level(level)
    numbers = np.asarray(hits, dtype=np.float64)
    unit = unit_numbers(units, len(numbers))
    if not all(part.any() for part in parts):
        raise InputError("a part without pairs has no share to compare")
    terms, value, missing, spread = np.zeros(len(numbers)), 0.0, 0.0, 0.0
    for part, weight in zip(parts, weights, strict=True):
        count, sizes = int(part.sum()), np.bincount(unit[part])
        share = float(numbers[part].mean())
        own = weight * (numbers[part] - share) / count
        value += weight * share
        terms[part] += own
        smoothed = (numbers[part].sum() + 2) / (count + 4)
        least = weight**2 * smoothed * (1 - smoothed) / (count + 4)
        between = _variance(np.bincount(unit[part], weights=own), int((sizes > 0).sum()))
        missing += max(least - between, 0.0)
        freedom = max(effective_number(sizes.astype(np.float64)) - 1, 1.0)
        spread += max(between, least) ** 2 / freedom
    covered = np.any(parts, axis=0)
    count = len(np.unique(unit[covered]))
    # Where every unit has the same in each part, what varies cancels out.
    variance = max(_variance(np.bincount(unit, weights=terms), count) + missing, _NOTHING)
    freedom = max(variance**2 / spread, 1.0)
    half = student_bound((1 - level) / 2, freedom) * math.sqrt(variance)
    p_value = 2 * student_tail(abs(value) / math.sqrt(variance), freedom)
    lowest, highest = (sum(bound(weight, 0.0) for weight in weights) for bound in (min, max))
    low, high = max(value - half, lowest), min(value + half, highest)
    estimate = Estimate(value, low, high, level, int(covered.sum()), count, METHOD)
    return Gap(estimate, p_value)


def _variance(sums: NDArray[Any], units: int) -> float:
    """Return the variance of a sum from its sums over units."""
    return float((sums**2).sum()) * units / max(units - 1, 1)
