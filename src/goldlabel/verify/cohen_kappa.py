"""Cohen's kappa between two annotators, and its mean over all who share pairs (Cohen 1960).

The mean is weighted by the number of pairs that two annotators share; those who share fewer than ``least`` are
left out, as kappa on a handful of pairs is noise. Abstentions are answers like any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from goldlabel.errors import InputError
from goldlabel.metrics import Estimate, percentile_interval
from goldlabel.seeds import random_state
from goldlabel.verify.votes import Votes

BLOCKS = 200
COUPLES_PER_BATCH = 500
LEAST_SHARED = 10
METHOD = "bootstrap over blocks of units"


def cohen_kappa(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return kappa of two annotators' answers to the same pairs; ``None`` where both gave one and the same."""
    ours, theirs = np.asarray(first, dtype=np.str_), np.asarray(second, dtype=np.str_)
    if ours.shape != theirs.shape or ours.ndim != 1:
        raise InputError(f"{ours.size} answers cannot be held against {theirs.size}")
    if not len(ours):
        return None
    words, codes = np.unique(np.concatenate([ours, theirs]), return_inverse=True)
    left, right = codes[: len(ours)], codes[len(ours) :]
    margins = [np.bincount(side, minlength=len(words)) for side in (left, right)]
    value = _kappa(np.concatenate([[(left == right).sum()], *margins]).astype(np.float64)[None, :, None])[0, 0]
    return None if np.isnan(value) else float(value)


@dataclass(frozen=True)
class Joint:
    """Every two votes of different annotators on the same pair, the first annotator in order first."""

    pair: NDArray[np.int32]
    unit: NDArray[np.int32]
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    first_answer: NDArray[np.int16]
    second_answer: NDArray[np.int16]

    def only(self, chosen: NDArray[np.bool_]) -> Joint:
        """Keep the votes on chosen pairs."""
        rows = chosen[self.pair]
        return Joint(*(getattr(self, column.name)[rows] for column in fields(self)))


def joint_votes(votes: Votes) -> Joint:
    """Return every two votes on the same pair by annotators who are known."""
    signed, unit = votes.signed, votes.units.astype(np.int32)
    pair, person = signed.row.astype(np.int32), signed.annotator.astype(np.int32)
    answer = signed.answer.astype(np.int16)
    lefts, rights = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.int32)]
    for distance in range(1, int(votes.total.max(initial=1))):
        left = np.flatnonzero(pair[distance:] == pair[:-distance]).astype(np.int32)
        lefts.append(left)
        rights.append(left + distance)
    left, right = np.concatenate(lefts), np.concatenate(rights)
    different = person[left] != person[right]
    left, right = left[different], right[different]
    swapped = person[left] > person[right]
    first, second = np.where(swapped, right, left), np.where(swapped, left, right)
    return Joint(pair[first], unit[pair[first]], person[first], person[second], answer[first], answer[second])


def pairwise_cohen(votes: Votes, *, least: int = LEAST_SHARED) -> pl.DataFrame:
    """Return kappa for each two annotators who share ``least`` pairs or more."""
    votes.require_annotators("pairwise Cohen's kappa")
    rows: list[dict[str, object]] = []
    for couples, sums in _sums(joint_votes(votes), len(votes.annotators), None, least):
        values, shared = _kappa(sums)[:, 0], _shared(sums)[:, 0]
        for couple, value, count in zip(couples, values, shared, strict=True):
            rows.append(
                {
                    "first": votes.annotators[couple // len(votes.annotators)],
                    "second": votes.annotators[couple % len(votes.annotators)],
                    "pairs": int(count),
                    "cohen_kappa": None if np.isnan(value) else float(value),
                }
            )
    schema = {"first": pl.String, "second": pl.String, "pairs": pl.Int64, "cohen_kappa": pl.Float64}
    return pl.DataFrame(rows, schema=schema)


def mean_cohen(
    joint: Joint, people: int, *, least: int = LEAST_SHARED, resamples: int = 1000, level: float = 0.95, seed: int = 0
) -> Estimate:
    """Return the mean kappa over annotators, with an interval from drawing blocks of units.

    Up to ``BLOCKS`` units are blocks of their own; more are dealt into that many blocks at random, which
    leaves the variance as it is and keeps the work independent of the number of units.
    """
    random = random_state(seed)
    pairs, units = len(np.unique(joint.pair)), len(np.unique(joint.unit))
    block = _blocks(joint.unit, random)
    count = int(block.max(initial=-1)) + 1
    if not count:
        return Estimate.without_interval(None, level=level, n=0, units=0, method=METHOD)
    # The first column of weights is the data itself, the others are resamples.
    drawn = random.multinomial(count, np.full(count, 1 / count), resamples).T if resamples else np.empty((count, 0))
    weights = np.column_stack([np.ones(count), drawn])
    total, shares = np.zeros(weights.shape[1]), np.zeros(weights.shape[1])
    for _, sums in _sums(joint, people, block, least):
        flat = np.asarray(sums.reshape(-1, count) @ weights, dtype=np.float64)
        weighted = flat.reshape(*sums.shape[:2], -1)
        kappa, shared = _kappa(weighted), _shared(weighted)
        defined = ~np.isnan(kappa)
        total += np.where(defined, kappa * shared, 0.0).sum(axis=0)
        shares += np.where(defined, shared, 0.0).sum(axis=0)
    means = np.divide(total, shares, out=np.full(len(total), np.nan), where=shares > 0)
    value = None if np.isnan(means[0]) else float(means[0])
    low, high = percentile_interval(means[1:], np.bincount(block), level) or (None, None)
    return Estimate(value, low, high, level, pairs, units, METHOD)


def _blocks(unit: NDArray[np.int32], random: np.random.RandomState) -> NDArray[np.int32]:
    distinct, place = np.unique(unit, return_inverse=True)
    order = random.permutation(len(distinct)).astype(np.int32)
    return (order % BLOCKS)[place].astype(np.int32)


def _sums(
    joint: Joint, people: int, block: NDArray[np.int32] | None, least: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Yield couples of annotators, a batch at a time, with what kappa is made of: couple × term × block.

    The terms are the pairs on which both agree, then the first one's answers, then the second one's.
    """
    couples, place, shared = np.unique(
        joint.first.astype(np.int64) * people + joint.second, return_inverse=True, return_counts=True
    )
    frequent = shared >= least
    among = np.flatnonzero(frequent[place])
    order = among[np.argsort(place[among], kind="stable")]
    kept, rank = np.flatnonzero(frequent), np.cumsum(frequent) - 1
    ends = np.searchsorted(rank[place[order]], np.arange(len(kept) + 1))
    answers = int(max(joint.first_answer.max(initial=0), joint.second_answer.max(initial=0))) + 1
    width = 1 + 2 * answers
    blocks = 1 if block is None else int(block.max(initial=0)) + 1
    for start in range(0, len(kept), COUPLES_PER_BATCH):
        stop = min(start + COUPLES_PER_BATCH, len(kept))
        rows = order[ends[start] : ends[stop]]
        base, column = (rank[place[rows]] - start) * width, 0 if block is None else block[rows]
        left, right = joint.first_answer[rows], joint.second_answer[rows]
        counted = np.zeros((stop - start) * width * blocks)
        for term, weight in ((0, left == right), (1 + left, None), (1 + answers + right, None)):
            counted += np.bincount((base + term) * blocks + column, weight, len(counted))
        yield couples[kept[start:stop]], counted.reshape(stop - start, width, blocks)


def _shared(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    answers = sums.shape[1] // 2
    return np.asarray(sums[:, 1 : 1 + answers].sum(axis=1))


def _kappa(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return kappa from sums couple × term × column; NaN where chance agreement is certain."""
    answers = sums.shape[1] // 2
    total = _shared(sums)
    by_chance = (sums[:, 1 : 1 + answers] * sums[:, 1 + answers :]).sum(axis=1)
    room = total**2 - by_chance
    undefined = np.full(total.shape, np.nan)
    return np.asarray(np.divide(sums[:, 0] * total - by_chance, room, out=undefined, where=room > 1e-9))
