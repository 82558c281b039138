"""Soft labels: how close a model's probabilities are to the votes of many people, as in ChaosNLI.

Nie et al. (2020), "What can we learn from collective human opinions on NLI data?", hold a model's distribution q
against the votes' p by the Jensen–Shannon distance, √(½ KL(p‖m) + ½ KL(q‖m)) with m = ½ (p + q), and by KL(p‖q);
logarithms are natural. Both are means over pairs.

Where a model gives a label that people voted for no probability at all, KL(p‖q) is infinite. As in the authors'
program, probabilities below 1e-15 are raised to that and the rest renormalised; how many pairs that concerns is told,
as a single one adds up to 34.5 to the sum. The distance is finite without it.

Votes for no label are left out, and so are pairs with few votes left, which are no distribution, and those to which
the model has no answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.messages import many
from goldlabel.metrics import Estimate, in_percent, mean, share
from goldlabel.pairs import Result
from goldlabel.pairs.gold import GoldPairs

FEWEST_VOTES = 5
SMALLEST = 1e-15
"""What a probability of zero is raised to in KL."""


@dataclass(frozen=True, repr=False)
class SoftLabels(Result):
    """A model beside the votes of many people."""

    dataset: str
    distance: Estimate
    """The Jensen–Shannon distance, from 0 to √ln 2 = 0.83."""
    divergence: Estimate
    """KL of the votes to the model, in nats."""
    accuracy: Estimate
    """The share of pairs on which the model's label has the most votes; where k labels tie, each counts 1/k."""
    votes: float
    """The mean number of votes for a label."""
    raised: int
    """Pairs that have votes for a label to which the model gives no probability."""
    few_votes: int
    """Pairs left out as they have too few votes for a label."""
    unanswered: int
    """Other pairs left out as the model has no answer."""

    @property
    def title(self) -> str:
        """On how much this rests."""
        return f"{self.dataset}: {many(self.distance.n, 'pair')} with {self.votes:.1f} votes each"

    @property
    def table(self) -> pl.DataFrame:
        """The figures with their intervals."""
        return pl.DataFrame(
            {
                "figure": ["Jensen–Shannon distance", "KL", "accuracy against the most votes"],
                "value": [self.distance.text(3), self.divergence.text(3), in_percent(self.accuracy)],
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "dataset": self.dataset,
            "distance": self.distance.to_dict(),
            "divergence": self.divergence.to_dict(),
            "accuracy": self.accuracy.to_dict(),
            "votes": self.votes,
            "raised": self.raised,
            "few_votes": self.few_votes,
            "unanswered": self.unanswered,
        }


def score_soft_labels(
    gold: GoldPairs, probabilities: NDArray[np.float64], *, fewest_votes: int = FEWEST_VOTES, level: float = 0.95
) -> SoftLabels:
    """Hold a model's probabilities, over the labels of ``gold``, against the votes of its pairs."""
    if "votes" not in gold.frame.columns:
        raise InputError(f"{gold.name}: its votes were not read; take them along with the pairs")
    counts = count_votes(gold)
    enough = counts.sum(axis=1) >= max(fewest_votes, 1)
    answered = ~np.isnan(probabilities).any(axis=1)
    rows = enough & answered
    if not rows.any():
        raise InputError(f"{gold.name}: no pair has an answer and at least {fewest_votes} votes for a label")
    votes, answers, units = counts[rows], probabilities[rows], gold.units[rows]
    people = votes / votes.sum(axis=1, keepdims=True)
    most = votes == votes.max(axis=1, keepdims=True)
    chosen = most[np.arange(len(votes)), answers.argmax(axis=1)]
    return SoftLabels(
        dataset=gold.name,
        distance=mean(jensen_shannon(people, answers), units=units, level=level),
        divergence=mean(kullback_leibler(people, _raised(answers)), units=units, level=level),
        accuracy=share(chosen / most.sum(axis=1), units=units, level=level),
        votes=float(votes.sum(axis=1).mean()),
        raised=int(((answers < SMALLEST) & (votes > 0)).any(axis=1).sum()),
        few_votes=int((~enough).sum()),
        unanswered=int((enough & ~answered).sum()),
    )


def count_votes(gold: GoldPairs) -> NDArray[np.int64]:
    """Return how many votes each label of the space has, a row per pair; votes for no label count for none."""
    votes = gold.frame["votes"]
    return np.stack([votes.list.count_matches(label).to_numpy() for label in gold.space.labels], axis=1).astype(
        np.int64
    )


def jensen_shannon(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Jensen–Shannon distance of each row."""
    middle = (first + second) / 2
    halves = (kullback_leibler(first, middle) + kullback_leibler(second, middle)) / 2
    # Rounding can take it below zero where the rows are the same.
    return np.asarray(np.sqrt(np.maximum(halves, 0.0)))


def kullback_leibler(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Kullback–Leibler divergence of each row, in nats."""
    from scipy.special import rel_entr

    return np.asarray(rel_entr(first, second).sum(axis=1))


def _raised(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    raised = np.maximum(probabilities, SMALLEST)
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
