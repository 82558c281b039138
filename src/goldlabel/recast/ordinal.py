"""An ordinal mixed model: what annotators mean, apart from how they use the scale.

The cumulative link (McCullagh 1980) with effects of items and annotators, both random: with categories 0, 1, 2,

    P(answer <= k | item i, annotator a) = logistic(c_ak - m_i),   c_a1 = c_a0 + exp(g_a),

so every annotator has two cut points of their own. ``m``, ``c_a0`` and ``g`` are normal; their variances are
estimated along with them by Laplace's approximation: Fisher scoring for the effects, EM for the variances. No
annotator is dropped, and one who always answers alike moves no item far.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

CATEGORIES = 3
SWEEPS = 500
TOLERANCE = 1e-4
_FLOOR = 1e-10


@dataclass(frozen=True, kw_only=True)
class OrdinalModel:
    """Where items and annotators' cut points lie on one scale."""

    items: Floats
    low: Floats
    log_gap: Floats
    item_sd: float
    low_sd: float
    gap_sd: float
    sweeps: int

    def shares(self) -> Floats:
        """Return, for each item, how many of all annotators would be expected to give each answer."""
        from scipy.special import expit

        total = np.zeros((len(self.items), CATEGORIES))
        for low, log_gap in zip(self.low, self.log_gap, strict=True):
            below, within = expit(low - self.items), expit(low + np.exp(log_gap) - self.items)
            total += np.column_stack([below, within - below, 1 - within])
        return total / len(self.low)

    def classes(self) -> Indices:
        """Return the majority's answer to each item, as all annotators would be expected to give it."""
        return np.asarray(self.shares().argmax(axis=1), dtype=np.int64)


def fit_ordinal(item: Indices, annotator: Indices, answer: Indices) -> OrdinalModel:
    """Fit the model to answers 0, 1, 2; items and annotators are numbered from 0 without gaps."""
    fit = _Fit(item, annotator, answer)
    sweeps = 1
    while fit.sweep() > TOLERANCE and sweeps < SWEEPS:
        sweeps += 1
    return OrdinalModel(
        items=fit.place,
        low=fit.low,
        log_gap=fit.log_gap,
        item_sd=float(np.sqrt(fit.item_var)),
        low_sd=float(np.sqrt(fit.low_var)),
        gap_sd=float(np.sqrt(fit.gap_var)),
        sweeps=sweeps,
    )


class _Fit:
    """The state of the fit: items given annotators, annotators given items, and their variances, in turn."""

    def __init__(self, item: Indices, annotator: Indices, answer: Indices) -> None:
        self.item, self.annotator, self.answer = item, annotator, answer
        items, annotators = int(item.max()) + 1, int(annotator.max()) + 1
        self.place = np.zeros(items)
        self.low, self.log_gap = np.full(annotators, -1.0), np.full(annotators, np.log(2.0))
        self.item_var, self.low_var, self.gap_var = 4.0, 1.0, 0.25
        self._rows = np.arange(len(answer))

    def sweep(self) -> float:
        """Improve everything once; return the largest step of an annotator."""
        self._move_items()
        return self._move_annotators()

    def _move_items(self) -> None:
        chance, by_low, by_high, _ = self._slopes()
        slope = by_low + by_high
        information = self._by_item((slope**2 / chance).sum(axis=0)) + 1 / self.item_var
        gradient = -self._by_item(self._given(slope) / self._given(chance)) - self.place / self.item_var
        self.place = self.place + np.clip(gradient / information, -1, 1)
        self.item_var = _variance(self.place, 1 / information)

    def _move_annotators(self) -> float:
        chance, by_low, by_high, gap = self._slopes()
        own = self._given(chance)
        first, second = by_low + by_high, by_high * gap
        off_low, off_gap = self.low - self.low.mean(), self.log_gap - self.log_gap.mean()
        to_low = self._by_annotator(self._given(first) / own) - off_low / self.low_var
        to_gap = self._by_annotator(self._given(second) / own) - off_gap / self.gap_var
        a = self._by_annotator((first**2 / chance).sum(axis=0)) + 1 / self.low_var
        b = self._by_annotator((second**2 / chance).sum(axis=0)) + 1 / self.gap_var
        c = self._by_annotator((first * second / chance).sum(axis=0))
        determinant = a * b - c**2
        low_step, gap_step = (b * to_low - c * to_gap) / determinant, (a * to_gap - c * to_low) / determinant
        self.low = self.low + np.clip(low_step, -1, 1)
        self.log_gap = self.log_gap + np.clip(gap_step, -0.5, 0.5)
        self.low_var = _variance(self.low - self.low.mean(), b / determinant)
        self.gap_var = _variance(self.log_gap - self.log_gap.mean(), a / determinant)
        return float(max(np.abs(low_step).max(), np.abs(gap_step).max()))

    def _slopes(self) -> tuple[Floats, Floats, Floats, Floats]:
        return _slopes(self.place[self.item], self.low[self.annotator], self.log_gap[self.annotator])

    def _given(self, by_answer: Floats) -> Floats:
        return np.asarray(by_answer[self.answer, self._rows])

    def _by_item(self, values: Floats) -> Floats:
        return np.asarray(np.bincount(self.item, values, len(self.place)), dtype=np.float64)

    def _by_annotator(self, values: Floats) -> Floats:
        return np.asarray(np.bincount(self.annotator, values, len(self.low)), dtype=np.float64)


def _slopes(place: Floats, low: Floats, log_gap: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return each answer's probability, its slopes along the low and the high cut point, and the gap between them."""
    from scipy.special import expit

    gap = np.exp(log_gap)
    below, within = expit(low - place), expit(low + gap - place)
    chance = np.maximum(np.stack([below, within - below, 1 - within]), _FLOOR)
    at_low, at_high, none = below * (1 - below), within * (1 - within), np.zeros_like(below)
    return chance, np.stack([at_low, -at_low, none]), np.stack([none, at_high, -at_high]), gap


def _variance(effects: Floats, uncertainty: Floats) -> float:
    # A variance of zero would freeze the effects where they are.
    return max(float((effects**2 + uncertainty).mean()), 1e-6)
