"""How many more votes a pair needs: stop as soon as the leading label is sure enough, or nothing can change.

A pair's votes are draws from the shares in which people would label it, and those shares are drawn from a
symmetric Dirichlet distribution. The leading label is sure when the posterior probability that it has the
largest share reaches the wanted confidence. The concentration of the prior is best fitted to votes of the same
kind (``fit_prior``): where people mostly agree, two equal votes say more than where they often do not.

Voting also stops where the votes left cannot change the majority any more. Abstentions use up a vote and tell
nothing about the label.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.pairs.result import Result
from goldlabel.seeds import random_state
from goldlabel.verify.gold import check_share
from goldlabel.verify.majority import leading
from goldlabel.verify.votes import Marks, Votes

NODES = 64
WEAK_PRIOR = 0.5


@dataclass(frozen=True, kw_only=True)
class StoppingRule:
    """When to stop asking for votes on a pair: at ``confidence``, or at ``most`` votes in all."""

    confidence: float = 0.95
    most: int = 5
    prior: float = WEAK_PRIOR

    def __post_init__(self) -> None:
        check_share("confidence", self.confidence)
        if self.most < 1 or self.prior <= 0:
            raise InputError(
                f"at most {self.most} votes and a prior of {self.prior} make no rule; both must be positive"
            )

    def stops(self, counts: NDArray[np.int32], labels: int) -> NDArray[np.bool_]:
        """Say for each pair's counts of answers whether to stop."""
        patterns, place = _patterns(counts, labels)
        return np.array([self._stops(*pattern) for pattern in patterns], dtype=np.bool_)[place]

    def expected_votes(self, counts: NDArray[np.int32], labels: int) -> NDArray[np.float64]:
        """Return how many more votes each pair is expected to take, by the posterior of its next votes."""
        patterns, place = _patterns(counts, labels)
        expect = self._expectation()
        return np.array([expect(*pattern) for pattern in patterns], dtype=np.float64)[place]

    def _stops(self, votes: tuple[int, ...], cast: int) -> bool:
        left = self.most - cast
        half = self.most // 2
        fixed = votes[0] > half or votes[0] + left <= half
        return left <= 0 or fixed or leading_probability(votes, self.prior) >= self.confidence

    def _expectation(self) -> Callable[[tuple[int, ...], int], float]:
        @cache
        def expect(votes: tuple[int, ...], cast: int) -> float:
            if self._stops(votes, cast):
                return 0.0
            total = sum(votes) + len(votes) * self.prior
            return 1.0 + sum(
                (vote + self.prior) / total * expect(_added(votes, place), cast + 1) for place, vote in enumerate(votes)
            )

        return expect


@dataclass(frozen=True, repr=False)
class VotePlan(Result):
    """Which pairs need more votes, and how many are expected to be enough."""

    rule: StoppingRule
    pairs: pl.DataFrame

    @property
    def title(self) -> str:
        """How many pairs are open and what they are expected to cost."""
        waiting = self.pairs.filter(pl.col("more_votes") > 0)
        return (
            f"{len(waiting):,} of {len(self.pairs):,} pairs need more votes for a confidence of "
            f"{self.rule.confidence:g}: {waiting['more_votes'].sum():,.0f} are expected to do"
        )

    @property
    def table(self) -> pl.DataFrame:
        """Pairs by their votes so far."""
        keys = ["votes", "probability", "more_votes"]
        return self.pairs.group_by(keys).agg(pl.len().alias("pairs")).sort("pairs", "votes", descending=[True, False])

    def to_dict(self) -> dict[str, Any]:
        """Return the totals."""
        needed = self.pairs["more_votes"]
        return {
            "confidence": self.rule.confidence,
            "most": self.rule.most,
            "prior": self.rule.prior,
            "pairs": len(self.pairs),
            "pairs_in_need": int((needed > 0).sum()),
            "votes_expected": float(needed.sum()),
        }


def plan_votes(votes: Votes, rule: StoppingRule | None = None) -> VotePlan:
    """Say for each pair how many more votes it is expected to need; by default up to ten, with a fitted prior."""
    labels = len(votes.space)
    voted = np.flatnonzero(votes.total > 0)
    counts = votes.counts[voted]
    rule = rule or StoppingRule(most=10, prior=fit_prior(counts[:, :labels]))
    patterns, place = _patterns(counts, labels)
    probability = np.array([leading_probability(pattern[0], rule.prior) for pattern in patterns])
    shown = np.array(["-".join(map(str, pattern[0])) for pattern in patterns], dtype=object)
    frame = pl.DataFrame(
        {
            "id": votes.ids[voted],
            "votes": pl.Series(shown[place], dtype=pl.String),
            "probability": probability[place],
            "more_votes": rule.expected_votes(counts, labels),
        }
    )
    return VotePlan(rule, frame.sort("more_votes", descending=True, maintain_order=True))


@dataclass(frozen=True, repr=False)
class Simulation(Result):
    """What a rule would have cost and decided on votes that were cast, beside a fixed number of votes."""

    rule: StoppingRule
    pairs: int
    fixed: int
    already: int
    votes: float
    same_as_fixed: float
    right: float
    fixed_right: float

    @property
    def saving(self) -> float:
        """The share of votes saved, not counting those that were there already, in per cent."""
        return 100 * (1 - (self.votes - self.already) / (self.fixed - self.already))

    @property
    def title(self) -> str:
        """What was simulated."""
        return f"{self.pairs:,} pairs, stopped at a confidence of {self.rule.confidence:g}"

    @property
    def table(self) -> pl.DataFrame:
        """The figures, one row."""
        return pl.DataFrame([self.to_dict()])

    def to_dict(self) -> dict[str, Any]:
        """Return votes per pair, the saving, and the shares of pairs decided alike and right, in per cent."""
        return {
            "confidence": self.rule.confidence,
            "most": self.rule.most,
            "prior": self.rule.prior,
            "pairs": self.pairs,
            "votes_per_pair": self.votes - self.already,
            "fixed_votes_per_pair": self.fixed - self.already,
            "saving": self.saving,
            "same_as_fixed": self.same_as_fixed,
            "right": self.right,
            "fixed_right": self.fixed_right,
        }


def simulate(
    votes: Votes, rule: StoppingRule, *, fixed: int = 5, already: int = 1, repeats: int = 10, seed: int = 0
) -> Simulation:
    """Draw each pair's votes in random order, the author's first, until the rule stops.

    Right is the label that all votes of a pair together lead to; ``fixed`` votes decide by majority. The first
    ``already`` votes (the author's) are there anyway. Pairs with too few votes are left out.
    """
    labels, need = len(votes.space), max(fixed, rule.most)
    chosen = np.flatnonzero(votes.total >= need)
    if not len(chosen) or not 0 <= already < fixed:
        raise InputError(f"no pair has the {need} votes that the simulation draws, {already} of them there already")
    truth = leading(votes.counts[chosen], labels, quorum=1)
    random = random_state(seed)
    outcomes = []
    for _ in range(repeats):
        drawn = _shuffled(votes, need, random)
        usual = leading(_counted(drawn[:, :fixed], len(votes.answers)), labels)
        used, label = _run(rule, drawn, labels, len(votes.answers), max(already, 1))
        alike = [(label == usual), (label == truth), (usual == truth)]
        outcomes.append([used.mean(), *(marks.all(axis=1).mean() for marks in alike)])
    cost, *shares = np.mean(outcomes, axis=0).tolist()
    return Simulation(rule, len(chosen), fixed, already, cost, *(100 * share for share in shares))


def leading_probability(votes: tuple[int, ...], prior: float) -> float:
    """Return the posterior probability that the label with the most votes has the largest share.

    With independent gamma variables for a Dirichlet's parts, it is the mean over the leading one of the
    probability that all others are smaller, by Gauss-Legendre quadrature over its quantiles.
    """
    return _leading_probability(tuple(sorted(votes, reverse=True)), prior)


@cache
def _leading_probability(votes: tuple[int, ...], prior: float) -> float:
    from scipy.special import gammainc, gammaincinv

    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    points = gammaincinv(votes[0] + prior, (nodes + 1) / 2)
    below = np.prod([gammainc(vote + prior, points) for vote in votes[1:]], axis=0)
    return float((weights * below).sum() / 2)


def fit_prior(counts: NDArray[np.integer]) -> float:
    """Return the concentration of the symmetric Dirichlet prior under which the counts are most likely."""
    from scipy.special import gammaln

    labels = counts.shape[1]
    distinct, place = _patterns(counts[counts.sum(axis=1) >= 2], labels)
    if not distinct:
        return WEAK_PRIOR
    patterns, weights = np.array([votes for votes, _ in distinct]), np.bincount(place)
    total = patterns.sum(axis=1)

    def loss(log_prior: float) -> float:
        prior = np.exp(log_prior)
        each = gammaln(labels * prior) - gammaln(labels * prior + total)
        each += (gammaln(patterns + prior) - gammaln(prior)).sum(axis=1)
        return -float((weights * each).sum())

    return math.exp(_least(loss, math.log(0.01), math.log(10)))


def _least(loss: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function with one valley is least, by golden-section search (Kiefer 1953)."""
    ratio = (math.sqrt(5) - 1) / 2
    inner = [high - ratio * (high - low), low + ratio * (high - low)]
    losses = [loss(place) for place in inner]
    while high - low > 1e-6:
        if losses[0] < losses[1]:
            high = inner[1]
            inner = [high - ratio * (high - low), inner[0]]
            losses = [loss(inner[0]), losses[0]]
        else:
            low = inner[0]
            inner = [inner[1], low + ratio * (high - low)]
            losses = [losses[1], loss(inner[1])]
    return (low + high) / 2


def _patterns(counts: NDArray[np.integer], labels: int) -> tuple[list[tuple[tuple[int, ...], int]], NDArray[np.int64]]:
    """Return the distinct label counts, largest first, each with the votes cast, and each row's place among them."""
    ordered = -np.sort(-counts[:, :labels], axis=1)
    rows = pl.DataFrame(np.column_stack([ordered, counts.sum(axis=1)]))
    distinct = rows.unique(maintain_order=True).with_row_index("place")
    place = rows.join(distinct, on=rows.columns, how="left", maintain_order="left")["place"].to_numpy()
    return [(tuple(row[1:-1]), row[-1]) for row in distinct.iter_rows()], place.astype(np.int64)


def _added(votes: tuple[int, ...], place: int) -> tuple[int, ...]:
    more = list(votes)
    more[place] += 1
    return tuple(sorted(more, reverse=True))


def _shuffled(votes: Votes, width: int, random: np.random.RandomState) -> NDArray[np.int64]:
    """Return ``width`` answers of each pair that has so many, in random order, the author's first."""
    keys = np.where(votes.by_author, -1.0, random.random_sample(len(votes.row)))
    order = np.lexsort((keys, votes.row))
    place = np.arange(len(order)) - (np.cumsum(votes.total) - votes.total)[votes.row]
    drawn = (place < width) & (votes.total >= width)[votes.row]
    return votes.answer[order][drawn].reshape(-1, width)


def _counted(drawn: NDArray[np.int64], answers: int) -> NDArray[np.int32]:
    return np.stack([(drawn == answer).sum(axis=1) for answer in range(answers)], axis=1).astype(np.int32)


def _run(
    rule: StoppingRule, drawn: NDArray[np.int64], labels: int, answers: int, start: int
) -> tuple[NDArray[np.int64], Marks]:
    """Cast the drawn votes one by one until the rule stops; return the votes used and the label decided on."""
    used = np.full(len(drawn), rule.most)
    decided = np.zeros((len(drawn), answers), dtype=np.bool_)
    waiting = np.arange(len(drawn))
    for cast in range(start, rule.most + 1):
        counts = _counted(drawn[waiting, :cast], answers)
        done = rule.stops(counts, labels)
        finished = waiting[done]
        used[finished] = cast
        decided[finished] = leading(counts[done], labels)
        waiting = waiting[~done]
    return used, decided
