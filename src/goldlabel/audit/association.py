"""Which features go with which label, where pairs of one unit are not independent.

A feature is a yes or no per pair. Of the ``n`` pairs that carry it, a share has the label; the question is whether
that share is above the label's share ``p`` among all pairs. The statistic is that of the table of two by two, one
label against the others, as a signed root, and divided by the root of the design effect (Rao and Scott 1981; with one
degree of freedom their first-order correction is the whole of it):

    z = sign * sqrt(min(G, X²) / deff),    deff = V / (p (1 - p) N x (1 - x)),

with G of the likelihood ratio and Pearson's X². The two agree where counts are large. Elsewhere X² is too sure of rare
labels and G of frequent ones, so the smaller is taken. Here
``x`` is the share of the ``N`` pairs that carry the feature, and ``V`` the variance of the score, the sum of
(carries - x)(has label - p) over pairs. A unit of one pair adds to it what the null says; a larger one the square of
its own sum (Liang and Zeger 1986). So where every unit is one pair, deff is 1 and this is the plain test. And since
the square of a sum over ``m`` units is at most ``m`` times the sum of squares, |z| is at most the root of ``m``: a word
of three premises is never significant, however many pairs carry it. (Robust score tests err towards silence where
units are few: Guo et al. 2005.)

Moments of carriers over units are counted once, and serve every null: see ``competency``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from goldlabel.metrics.distributions import normal_tail

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROWS_PER_BLOCK = 100_000
_NOTHING = 1e-9


@dataclass(frozen=True)
class Clusters:
    """The labels of pairs, those of one unit side by side, and what units do to sums over them."""

    labels: NDArray[np.int8]
    units: Ints
    """Numbers from 0 on, in order."""
    totals: Ints
    """Pairs per label."""
    alone: NDArray[np.bool_]
    """Which pairs are a unit by themselves."""
    pull: Floats
    """For each pair and label, its residual times the sum of residuals over its unit; 0 where it is alone."""
    spread: Floats
    """For each label, the sum over the larger units of their squared sums of residuals."""

    @property
    def shares(self) -> Floats:
        """Return the share of each label."""
        shares: Floats = self.totals / self.totals.sum()
        return shares

    def blocks(self, rows: int = ROWS_PER_BLOCK) -> Iterator[tuple[int, int]]:
        """Yield the first and last pair of stretches that cut no unit apart."""
        start = 0
        while start < len(self.labels):
            end = int(np.searchsorted(self.units, self.units[min(start + rows, len(self.units)) - 1], side="right"))
            yield start, end
            start = end


@dataclass(frozen=True)
class Moments:
    """Sums over the units of some features' carriers, a row per feature.

    ``a`` below is the number of a unit's carriers that have the label, ``n`` that of all its carriers; sums go over
    the units of several pairs.
    """

    counts: Ints
    """Carriers per label, in all units."""
    alone: Floats
    """Carriers that are a unit by themselves."""
    squares: Floats
    """For each label, the sum of a²."""
    products: Floats
    """For each label, the sum of a n."""
    pull: Floats
    """For each label, the sum of ``Clusters.pull`` over the carriers."""

    def __len__(self) -> int:
        return len(self.counts)

    def select(self, features: Ints) -> Moments:
        """Return the moments of some of the features."""
        return Moments(*(getattr(self, name)[features] for name in _MOMENTS))

    def squared(self, expected: Floats) -> Floats:
        """Return for each label the sum over larger units of (a - n times its expected share)²."""
        sizes = self.products.sum(axis=1, keepdims=True)
        squared: Floats = self.squares - 2 * expected * self.products + expected**2 * sizes
        return squared


_MOMENTS = tuple(Moments.__dataclass_fields__)


def make_clusters(labels: NDArray[np.int8], units: Ints, classes: int) -> Clusters:
    """Take pairs whose units lie side by side."""
    starts = np.concatenate([np.ones(min(1, len(units)), dtype=bool), units[1:] != units[:-1]])
    numbers = np.cumsum(starts) - 1
    sizes = np.bincount(numbers)
    alone = (sizes == 1)[numbers]
    totals = np.bincount(labels, minlength=classes)
    pull, spread = np.zeros((len(labels), classes)), np.zeros(classes)
    if not alone.all():
        for code, share in enumerate(totals / totals.sum()):
            residuals = (labels == code) - share
            sums = np.bincount(numbers, weights=residuals)
            pull[:, code] = np.where(alone, 0.0, residuals * sums[numbers])
            spread[code] = float((sums[sizes > 1] ** 2).sum())
    return Clusters(labels, numbers, totals, alone, pull, spread)


def no_moments(counts: Ints, alone: Floats) -> Moments:
    """Return the moments of features none of whose carriers are in a larger unit, so far."""
    nothing = np.zeros(counts.shape)
    return Moments(counts, alone, nothing, nothing.copy(), nothing.copy())


def add_carriers(moments: Moments, clusters: Clusters, features: Ints, pairs: Ints) -> None:
    """Add carriers in larger units: each a feature and a pair, in order of both and each once.

    Most units have one carrier of a feature; only the others need their sums.
    """
    size, classes = moments.counts.shape
    labels = clusters.labels[pairs]
    for code in range(classes):
        moments.pull[:, code] += np.bincount(features, weights=clusters.pull[pairs, code], minlength=size)
    single = np.bincount(features * classes + labels, minlength=size * classes).reshape(size, classes)
    moments.squares[:] += single
    moments.products[:] += single
    units = clusters.units[pairs]
    like_last = np.zeros(len(pairs) + 1, dtype=bool)
    like_last[1:-1] = (features[1:] == features[:-1]) & (units[1:] == units[:-1])
    several = np.flatnonzero(like_last[:-1] | like_last[1:])
    if not len(several):
        return
    cell = np.cumsum(~like_last[several]) - 1
    cells = int(cell[-1]) + 1
    counts = np.bincount(cell * classes + labels[several], minlength=cells * classes).reshape(cells, classes)
    owner = np.empty(cells, dtype=np.int64)
    owner[cell] = features[several]
    sizes = counts.sum(axis=1)
    for code in range(classes):
        a = counts[:, code]
        moments.squares[:, code] += np.bincount(owner, weights=a * (a - 1), minlength=size)
        moments.products[:, code] += np.bincount(owner, weights=a * (sizes - 1), minlength=size)


def moments_of(carried: NDArray[np.bool_], clusters: Clusters) -> Moments:
    """Return the moments of one feature from the pairs that carry it."""
    classes = len(clusters.totals)
    counts = np.bincount(clusters.labels[carried], minlength=classes)[None]
    moments = no_moments(counts, np.array([float((carried & clusters.alone).sum())]))
    pairs = np.flatnonzero(carried & ~clusters.alone)
    if len(pairs):
        add_carriers(moments, clusters, np.zeros(len(pairs), dtype=np.int64), pairs)
    return moments


def concatenate(parts: list[Moments], classes: int) -> Moments:
    """Return the moments of all features of several sets."""
    empty = no_moments(np.empty((0, classes), dtype=np.int64), np.empty(0))
    return Moments(*(np.concatenate([getattr(part, name) for part in (empty, *parts)]) for name in _MOMENTS))


def association(moments: Moments, clusters: Clusters) -> Floats:
    """Return z for each feature and label; 0 where nothing can be told."""
    shares, pairs = clusters.shares, len(clusters.labels)
    carriers = moments.counts.sum(axis=1, keepdims=True)
    carried = carriers / pairs
    singles = float(clusters.alone.sum())
    alone = moments.alone[:, None]
    plain = shares * (1 - shares)
    variance = plain * (alone * (1 - carried) ** 2 + (singles - alone) * carried**2)
    variance += moments.squared(shares) - 2 * carried * moments.pull + carried**2 * clusters.spread
    independent = plain * pairs * carried * (1 - carried)
    score = moments.counts - carriers * shares
    known = (variance > _NOTHING * independent) & (independent > 0)
    pearson = np.divide(score**2, independent, out=np.zeros(score.shape), where=known)
    squared = np.minimum(pearson, _deviance(moments.counts, carriers, clusters.totals))
    z: Floats = np.sign(score) * np.sqrt(
        np.divide(squared * independent, variance, out=np.zeros(score.shape), where=known)
    )
    return z


def p_values(z: Floats, clusters: Clusters) -> Floats:
    """Return for each feature the p-value that any label is above its share, with Bonferroni's factor for labels."""
    tails: Floats = normal_tail(z.max(axis=1, initial=-np.inf))
    return np.minimum(1.0, int((clusters.totals > 0).sum()) * tails)


def _deviance(counts: Ints, carriers: Ints, totals: Ints) -> Floats:
    """Return G of the table of two by two: carriers and others, with the label and without."""
    pairs = totals.sum()
    tables = (
        (counts, carriers * (totals / pairs)),
        (carriers - counts, carriers * (1 - totals / pairs)),
        (totals - counts, (pairs - carriers) * (totals / pairs)),
        ((pairs - carriers) - (totals - counts), (pairs - carriers) * (1 - totals / pairs)),
    )
    deviance = np.zeros(counts.shape)
    for seen, expected in tables:
        ratio = np.divide(seen, expected, out=np.ones(counts.shape), where=(seen > 0) & (expected > 0))
        deviance += 2 * seen * np.log(ratio)
    return np.maximum(deviance, 0.0)
