"""Calibration: how often intervals hold the truth and tests reject it, on simulated data.

Each room's ``test_calibration.py`` has a function that simulates and returns ``Rate``s; its tests run a few hundred
simulations, ``benchmarks/calibration.py`` runs the same functions longer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from goldlabel.metrics import Estimate


@dataclass(frozen=True)
class Design:
    """How pairs come: so many units of a size, whose members have a share of their variance in common."""

    units: int
    size: int
    common: float

    def __str__(self) -> str:
        return f"{self.units} × {self.size}" + (f", {self.common:.0%} in common" if self.common else "")

    @property
    def unit(self) -> NDArray[np.int64]:
        """The unit of each pair."""
        return np.repeat(np.arange(self.units), self.size)

    def chances(self, share: float, random: np.random.RandomState) -> NDArray[np.float64]:
        """Return each unit's own chance of a hit: beta-distributed around ``share``."""
        if not self.common:
            return np.full(self.units, share)
        scale = (1 - self.common) / self.common
        return random.beta(share * scale, (1 - share) * scale, self.units)

    def hits(self, share: float, random: np.random.RandomState) -> NDArray[np.bool_]:
        """Draw a hit or a miss for each pair."""
        return random.rand(self.units * self.size) < self.chances(share, random)[self.unit]


DESIGNS = (Design(600, 1, 0.0), Design(300, 3, 0.3), Design(60, 10, 0.9))


@dataclass
class Rate:
    """In how many of the runs an interval held the truth, or a test at 0.05 rejected it."""

    figure: str
    design: Design | str
    kind: str
    hits: int = 0
    runs: int = 0

    @property
    def share(self) -> float:
        """The share of runs."""
        return self.hits / self.runs

    def cover(self, estimate: Estimate, truth: float) -> None:
        """Count an interval; one that does not exist holds nothing."""
        interval = estimate.interval
        self.runs += 1
        self.hits += interval is not None and interval[0] <= truth <= interval[1]

    def reject(self, p_value: float) -> None:
        """Count a test."""
        self.runs += 1
        self.hits += p_value <= 0.05


def coverage(figure: str, design: Design | str) -> Rate:
    """Begin to count intervals."""
    return Rate(figure, design, "coverage")


def rejection(figure: str, design: Design | str) -> Rate:
    """Begin to count tests."""
    return Rate(figure, design, "rejection")


def faults(rates: Iterable[Rate], *, chance: float = 1.0) -> list[str]:
    """Name the intervals at 95 % that do not cover 93 to 97 %, and the tests at 0.05 that do not reject 3 to 7 %.

    With few runs, ``chance`` below 1 names only those that a true rate within these bounds would give more rarely.
    """
    allowed = {"coverage": (0.93, 0.97), "rejection": (0.03, 0.07)}
    return [
        f"{rate.kind} of {rate.figure} on {rate.design}: {rate.share:.3f} of {rate.runs} runs"
        for rate in rates
        if not _allowed(rate, *allowed[rate.kind], chance)
    ]


def _allowed(rate: Rate, low: float, high: float, chance: float) -> bool:
    few, many = binom.cdf(rate.hits, rate.runs, low), binom.sf(rate.hits - 1, rate.runs, high)
    return low <= rate.share <= high or (chance < 1 and min(few, many) >= chance)
