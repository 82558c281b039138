"""Weak slices: where a model is worse than elsewhere, found by search and corrected for it.

Tried are all slices and all conjunctions of two that have enough units on both sides. The accuracy on a slice less that
on the other pairs is tested by units. Of its two variances, that under no difference and that of the two accuracies as
they are, the larger counts: in a short slice the first is too small where the model is mostly right, the second where
it is mostly wrong. p-values are two-sided and corrected by Holm (1979) for every slice tried, so that a model that is
equally good everywhere is said to have a weak slice in at most 5 % of cases. Intervals hold for all slices tried at
once (Bonferroni), and so for those that were selected, too.

One weak slice makes many that overlap it look weak. The most significant is reported first; another one only if it is
weak, after the same correction, among the pairs outside all slices reported before it, and a conjunction only if it is
so within each of its two slices that is weak as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.evaluate.slices import Floats, Rows, Slice
from goldlabel.metrics import Estimate, check_level, holm, in_percent, in_points, share
from goldlabel.metrics.estimate import effective_number, unit_numbers
from goldlabel.pairs import Result
from goldlabel.pairs.gold import GoldPairs

FEWEST_UNITS = 50

Units = NDArray[np.int64]


@dataclass(frozen=True)
class WeakSlice:
    """A slice, or the conjunction of two, on which a model is worse than elsewhere."""

    slices: tuple[Slice, ...]
    accuracy: Estimate
    difference: Estimate
    """The accuracy less that on all other pairs."""
    p_value: float
    adjusted: float
    """The p-value, corrected for all slices tried."""

    @property
    def name(self) -> str:
        """What the pairs have in common."""
        return " and ".join(own.name for own in self.slices)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; accuracies are from 0 to 1."""
        return {
            "name": self.name,
            "kinds": [own.kind for own in self.slices],
            "accuracy": self.accuracy.to_dict(),
            "difference": self.difference.to_dict(),
            "p_value": self.p_value,
            "adjusted": self.adjusted,
        }


@dataclass(frozen=True, repr=False)
class WeakSlices(Result):
    """Where a model is worse than elsewhere."""

    dataset: str
    whole: Estimate
    found: Sequence[WeakSlice]
    """The most significant first."""
    tried: int
    """How many slices were looked at."""

    @property
    def title(self) -> str:
        """How many were found among how many."""
        return (
            f"{self.dataset}: {len(self.found)} of {self.tried:,} slices are weaker than the rest; "
            f"{in_percent(self.whole)} on all {self.whole.n:,} pairs"
        )

    @property
    def table(self) -> pl.DataFrame:
        """Accuracies and differences in per cent, one row per slice."""
        rows = [
            {
                "slice": own.name,
                "accuracy": in_percent(own.accuracy),
                "difference": in_points(own.difference),
                "p (Holm)": own.adjusted,
                "pairs": own.accuracy.n,
            }
            for own in self.found
        ]
        schema = {name: pl.String() for name in ("slice", "accuracy", "difference")}
        return pl.DataFrame(rows, schema={**schema, "p (Holm)": pl.Float64(), "pairs": pl.Int64()})

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; accuracies are from 0 to 1."""
        return {
            "dataset": self.dataset,
            "whole": self.whole.to_dict(),
            "found": [own.to_dict() for own in self.found],
            "tried": self.tried,
        }


def find_weak_slices(
    gold: GoldPairs,
    hits: Floats,
    slices: Sequence[Slice],
    *,
    fewest_units: int = FEWEST_UNITS,
    level: float = 0.95,
) -> WeakSlices:
    """Find where a model is worse than elsewhere, from its hits on all pairs, or the shares of runs that are right.

    Of a slice and of the pairs outside it at least ``fewest_units`` units are asked for.
    """
    check_level(level)
    if len(hits) != len(gold):
        raise InputError(f"{gold.name}: {len(hits):,} hits do not go with {len(gold):,} pairs")
    if fewest_units < 2:
        raise InputError(f"a slice of {fewest_units} units tells nothing of chance; ask for 2 or more")
    right, units = np.asarray(hits, dtype=np.float64), unit_numbers(gold.units, len(gold))
    whole = share(right, units=units, level=level)
    tried = list(_tried(slices, units, fewest_units))
    answers = _Answers.of(right, units)
    contrasts = [answers.contrast(rows) for _, rows in tried]
    adjusted = holm([contrast.p_value for contrast in contrasts])
    single = 1 - (1 - level) / max(len(tried), 1)
    together = f", for {len(tried):,} slices at once"
    weak = [contrast.gap < 0 and p <= 1 - level for contrast, p in zip(contrasts, adjusted, strict=True)]
    weak_alone = [parts[0] for (parts, _), is_weak in zip(tried, weak, strict=True) if is_weak and len(parts) == 1]
    found: list[WeakSlice] = []
    left = np.ones(len(gold), dtype=np.bool_)
    for place in sorted(np.flatnonzero(weak), key=lambda place: contrasts[place].p_value):
        (parts, rows), contrast = tried[place], contrasts[place]
        wider = [own.rows for own in parts if len(parts) > 1 and own in weak_alone]
        if not all(_weak_within(right, units, rows, among, fewest_units, 1 - single) for among in (left, *wider)):
            continue
        accuracy = share(right[rows], units=units[rows], level=single)
        half, method = contrast.half_width(single), "Student's t, by unit" + together
        low, high = max(contrast.gap - half, -1.0), min(contrast.gap + half, 1.0)
        difference = Estimate(contrast.gap, low, high, level, whole.n, whole.units, method)
        accuracy = replace(accuracy, level=level, method=accuracy.method + together)
        found.append(WeakSlice(parts, accuracy, difference, contrast.p_value, adjusted[place]))
        left &= ~rows
    return WeakSlices(gold.name, whole, found, len(tried))


@dataclass(frozen=True)
class _Contrast:
    """A slice's accuracy less that of the other pairs."""

    gap: float
    error: float
    freedom: float

    @property
    def p_value(self) -> float:
        from scipy.special import stdtr

        return float(2 * stdtr(self.freedom, -abs(self.gap) / self.error)) if self.error else 1.0

    def half_width(self, level: float) -> float:
        from scipy.special import stdtrit

        return float(stdtrit(self.freedom, (1 + level) / 2) * self.error)


def _tried(slices: Sequence[Slice], units: Units, fewest_units: int) -> Iterator[tuple[tuple[Slice, ...], Rows]]:
    def enough(rows: Rows) -> bool:
        return _count_units(units, rows) >= fewest_units

    large = [own for own in slices if enough(own.rows)]
    for own in large:
        if enough(~own.rows):
            yield (own,), own.rows
    for first, second in combinations(large, 2):
        rows = first.rows & second.rows
        # What is the same as one of the two was tried already.
        if rows.sum() < min(first.rows.sum(), second.rows.sum()) and enough(rows) and enough(~rows):
            yield (first, second), rows


@dataclass(frozen=True)
class _Answers:
    """Hits less their mean, with the sums of all units, of which a slice takes its part."""

    surplus: Floats
    units: Units
    sums: Floats
    sizes: Floats

    @classmethod
    def of(cls, hits: Floats, units: Units) -> _Answers:
        """Sum up hits by unit."""
        surplus, numbers = hits - hits.mean(), unit_numbers(units, len(hits))
        sums = np.bincount(numbers, weights=surplus).astype(np.float64)
        return cls(surplus, numbers, sums, np.bincount(numbers).astype(np.float64))

    def contrast(self, rows: Rows) -> _Contrast:
        """Hold a slice against the other pairs."""
        own, count = self.units[rows], len(self.sizes)
        sums = np.bincount(own, weights=self.surplus[rows], minlength=count).astype(np.float64)
        sizes = np.bincount(own, minlength=count).astype(np.float64)
        other_sums, other_sizes = self.sums - sums, self.sizes - sizes
        inside, outside = sizes.sum(), other_sizes.sum()
        mean, other_mean = sums.sum() / inside, other_sums.sum() / outside
        # What each unit adds to the difference, if both sides were as good as all pairs, and if each is as it is.
        alike = sums / inside - other_sums / outside
        apart = alike - mean * sizes / inside + other_mean * other_sizes / outside
        fewest = min(np.count_nonzero(sizes), np.count_nonzero(other_sizes))
        error = np.sqrt(fewest / (fewest - 1) * max((alike**2).sum(), (apart**2).sum()))
        freedom = min(effective_number(sizes), effective_number(other_sizes)) - 1
        return _Contrast(float(mean - other_mean), float(error), max(freedom, 1.0))


def _count_units(units: Units, rows: Rows) -> int:
    return int(np.count_nonzero(np.bincount(units[rows])))


def _weak_within(hits: Floats, units: Units, rows: Rows, among: Rows, fewest_units: int, chance: float) -> bool:
    """Return whether a slice is weak among some of the pairs."""
    if any(_count_units(units, side & among) < fewest_units for side in (rows, ~rows)):
        return False
    contrast = _Answers.of(hits[among], units[among]).contrast(rows[among])
    return contrast.gap < 0 and contrast.p_value <= chance
