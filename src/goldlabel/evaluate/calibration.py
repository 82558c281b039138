"""Calibration: is a model right as often as it is sure?

A model's confidence is the probability of its label. Pairs are put into bins by it, of equal width or of equally many
pairs, and each bin's accuracy is held against its mean confidence (a reliability diagram). The expected calibration
error is the mean distance of the two, weighted by pairs (Guo et al. 2017, equation 3). The Brier score is the mean over
pairs of Σ (p − y)² over labels (Brier 1950).

The error is biased: chance alone puts accuracies beside confidences, so that a calibrated model has an error, too,
and all the more the fewer pairs a bin has. Beside the plain figure stands one without what chance explains. From each
bin's squared distance its variance is taken, which leaves that square unbiased (Kumar et al. 2019), and the roots of
what is left are summed. The interval asks which errors could have given the plain figure, with chance as the bootstrap
over units has it. That depends on how the error lies in the bins: for the lower end all of it lies in one of them, to
which chance adds most, for the upper end in all alike, to which it adds least. So the interval is valid for any model,
and somewhat wide: at 95 % it holds the truth in 95 to 100 % of simulations.

Pairs to which a model has no answer have no confidence; they are left out and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.messages import many
from goldlabel.metrics import Estimate, check_level, in_percent, mean, percent, share
from goldlabel.metrics.bootstrap import Spread, drawn_sums
from goldlabel.metrics.distributions import normal_bound, student_bound
from goldlabel.metrics.estimate import unit_numbers
from goldlabel.pairs import Result
from goldlabel.pairs.gold import GoldPairs

BINS = 15
"""As many as Guo et al. take."""
_STEPS = 30

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ReliabilityBin:
    """Pairs on which a model is about as sure."""

    low: float
    high: float
    confidence: Estimate
    """The mean."""
    accuracy: Estimate

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "low": self.low,
            "high": self.high,
            "confidence": self.confidence.to_dict(),
            "accuracy": self.accuracy.to_dict(),
        }


@dataclass(frozen=True)
class Reliability:
    """The calibration error by one way to make bins."""

    bins: Sequence[ReliabilityBin]
    """Those that have pairs."""
    error: Estimate
    """The expected calibration error as it is published, which chance makes larger; so it has no interval."""
    debiased: Estimate
    """The error without what chance explains."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "error": self.error.to_dict(),
            "debiased": self.debiased.to_dict(),
            "bins": [own.to_dict() for own in self.bins],
        }


@dataclass(frozen=True, repr=False)
class Calibration(Result):
    """How far a model can be taken at its word."""

    dataset: str
    accuracy: Estimate
    confidence: Estimate
    brier: Estimate
    equal_width: Reliability
    equal_mass: Reliability
    unanswered: int

    @property
    def title(self) -> str:
        """Whether the model is too sure or not sure enough."""
        sure, right = percent(self.confidence.defined), percent(self.accuracy.defined)
        return f"{self.dataset}: {sure} sure and {right} right on {many(self.accuracy.n, 'pair')}"

    @property
    def table(self) -> pl.DataFrame:
        """The bins of equal width; shares in per cent."""
        rows = [
            {
                "confidence from": percent(own.low),
                "to": percent(own.high),
                "mean": in_percent(own.confidence),
                "accuracy": in_percent(own.accuracy),
                "pairs": own.accuracy.n,
            }
            for own in self.equal_width.bins
        ]
        return pl.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "dataset": self.dataset,
            "accuracy": self.accuracy.to_dict(),
            "confidence": self.confidence.to_dict(),
            "brier": self.brier.to_dict(),
            "equal_width": self.equal_width.to_dict(),
            "equal_mass": self.equal_mass.to_dict(),
            "unanswered": self.unanswered,
        }


def measure_calibration(
    gold: GoldPairs,
    probabilities: Floats,
    *,
    bins: int = BINS,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Calibration:
    """Measure how a model's probabilities, over the labels of ``gold``, go with how often it is right."""
    check_level(level)
    if bins < 1:
        raise InputError(f"{bins} bins cannot be made; give a number from 1 on")
    answered = ~np.isnan(probabilities).any(axis=1)
    if not answered.any():
        raise InputError(f"{gold.name}: without any answer there is no calibration")
    answers, units = probabilities[answered], gold.units[answered]
    truth = gold.frame["label"].to_numpy()[answered][:, None] == np.array(gold.space.labels)
    confidence = answers.max(axis=1)
    hits = truth[np.arange(len(answers)), answers.argmax(axis=1)].astype(np.float64)
    even = np.linspace(0, 1, bins + 1)
    # Of a confidence that many pairs have, all fall into one bin.
    quantiles = np.unique(np.quantile(confidence, even))
    drawn: dict[str, Any] = {"units": units, "level": level, "resamples": resamples, "seed": seed}
    return Calibration(
        dataset=gold.name,
        accuracy=share(hits, units=units, level=level),
        confidence=mean(confidence, units=units, level=level),
        brier=mean(((answers - truth) ** 2).sum(axis=1), units=units, level=level),
        equal_width=measure_reliability(confidence, hits, even, **drawn),
        equal_mass=measure_reliability(confidence, hits, quantiles, **drawn),
        unanswered=int((~answered).sum()),
    )


def measure_reliability(
    confidence: Floats,
    hits: Floats,
    edges: Floats,
    *,
    units: NDArray[np.int64],
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Reliability:
    """Measure the calibration error with bins between ``edges``; each holds its upper edge, as in Guo et al."""
    places = np.clip(np.searchsorted(edges, confidence) - 1, 0, max(len(edges) - 2, 0))
    numbers, width = np.unique(places, return_inverse=True)
    reliability_bins = []
    for own, place in enumerate(numbers):
        rows = width == own
        reliability_bins.append(
            ReliabilityBin(
                float(edges[place]),
                float(edges[min(place + 1, len(edges) - 1)]),
                mean(confidence[rows], units=units[rows], level=level),
                share(hits[rows], units=units[rows], level=level),
            )
        )
    terms = np.zeros((len(hits), len(numbers) + 1))
    terms[np.arange(len(hits)), width] = hits - confidence
    terms[:, -1] = 1
    gaps, chance = _gaps(terms, units, level, resamples, seed)
    plain = float(np.abs(gaps).sum())
    size = {"level": level, "n": len(hits), "units": len(np.unique(units))}
    return Reliability(
        reliability_bins,
        Estimate.without_interval(plain, **size, method="as published"),  # type: ignore[arg-type]
        _debiased(gaps, chance, size),
    )


def _gaps(
    terms: Floats, units: NDArray[np.int64], level: float, resamples: int, seed: int
) -> tuple[Floats, Floats | None]:
    """Return each bin's accuracy less its confidence, times its share of pairs, and how chance moves these.

    The last term counts pairs. With a single unit nothing is known of chance.
    """
    numbers = unit_numbers(units, len(terms))
    sums = terms.sum(axis=0)
    gaps = sums[:-1] / sums[-1]
    if numbers.max() == 0:
        return gaps, None
    drawn = drawn_sums(terms, numbers, resamples, seed)
    spread = Spread.of_units(np.bincount(numbers))
    # As wide as Student's interval is beside the normal one, so that quantiles can be taken as they are.
    factor = student_bound((1 - level) / 2, spread.freedom) / normal_bound((1 - level) / 2) / spread.narrowness
    return gaps, factor * (drawn[:, :-1] / drawn[:, -1:] - gaps)


def _debiased(gaps: Floats, chance: Floats | None, size: dict[str, Any]) -> Estimate:
    method = "bootstrap over units, for any shape of the error"
    if chance is None:
        return Estimate.without_interval(None, **size, method=method)
    spread = chance.std(axis=0)
    value = float(np.sqrt(np.maximum(gaps**2 - spread**2, 0)).sum())
    if not spread.any():
        return Estimate.without_interval(value, **size, method=method)
    tail = (1 - size["level"]) / 2
    one_bin = (np.arange(len(gaps)) == np.abs(gaps).argmax()).astype(np.float64)
    low = _error_behind(gaps, one_bin, chance, 1 - tail)
    high = _error_behind(gaps, spread / spread.sum(), chance, tail)
    return Estimate(value, min(low, value), max(high, value), method=method, **size)


def _error_behind(gaps: Floats, shape: Floats, chance: Floats, quantile: float) -> float:
    """Return the error of a shape, given by the bins' parts of it, whose plain figure has this quantile where it is."""
    plain = np.abs(gaps).sum()
    low, high = 0.0, 2.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if np.quantile(np.abs(middle * shape + chance).sum(axis=1), quantile) < plain:
            low = middle
        else:
            high = middle
    return low
