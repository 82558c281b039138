"""Does a model answer as one that never reads the premise?

Two models that are both good agree because both are right. What counts is agreement beyond that. If, given the gold
label, the two answered independently, they would agree with the chance

    e = Σ_g P(g) Σ_l P(a = l | g) P(b = l | g),

and the *excess* is the share of pairs they agree on less that. Its interval takes the shares in ``e`` as estimated
from the same pairs: linearised, a pair of gold label g with the answers a and b adds

    1[a = b] - P(b = a | g) - P(a = b | g) + Σ_l P(a = l | g) P(b = l | g).

*Easy* pairs are those that the hypothesis-only model gets right, *hard* ones those that it gets wrong, as in SNLI-hard
(Gururangan et al. 2018).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goldlabel.metrics import Estimate, Gap, gap, mean, mean_test, share
from goldlabel.pairs.gold import GoldPairs


@dataclass(frozen=True)
class Kinship:
    """How far a model's answers are those of a hypothesis-only model."""

    blind: Estimate
    """The accuracy of the hypothesis-only model."""
    agreement: Estimate
    excess: Gap
    """The agreement beyond what the gold labels explain."""
    easy: Estimate
    hard: Estimate
    gap: Gap | None
    """The accuracy on easy pairs less that on hard ones; None where there are not both."""

    @property
    def related(self) -> bool:
        """Whether they agree more than the gold labels explain, at the level of the intervals."""
        return (self.excess.value.value or 0) > 0 and self.excess.p_value <= 1 - self.excess.value.level

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        figures = {"accuracy": self.blind, "agreement": self.agreement, "easy": self.easy, "hard": self.hard}
        return {name: figure.to_dict() for name, figure in figures.items()} | {
            "excess": self.excess.to_dict(),
            "gap": self.gap and self.gap.to_dict(),
        }


def measure_kinship(
    gold: GoldPairs, answers: NDArray[np.str_], blind: NDArray[np.str_], *, level: float = 0.95
) -> Kinship:
    """Hold a model's answers against those of a hypothesis-only model to the same pairs."""
    true, units = gold.frame["label"].to_numpy(), gold.units
    hits, easy = answers == true, blind == true
    terms = _excess_terms(true, answers, blind)
    excess = Gap(mean(terms, units=units, level=level), _p_value(terms, units))

    def accuracy(rows: NDArray[np.bool_]) -> Estimate:
        return share(hits[rows], units=units[rows], level=level)

    both = easy.any() and not easy.all()
    return Kinship(
        blind=share(easy, units=units, level=level),
        agreement=share(answers == blind, units=units, level=level),
        excess=excess,
        easy=accuracy(easy),
        hard=accuracy(~easy),
        gap=gap(hits, [easy, ~easy], units=units, level=level) if both else None,
    )


def _p_value(terms: NDArray[np.float64], units: NDArray[np.int64]) -> float:
    p_value = mean_test(terms, units=units)
    return 1.0 if p_value is None else p_value  # nothing varies where one of the two always says the same


def _excess_terms(true: NDArray[np.str_], first: NDArray[np.str_], second: NDArray[np.str_]) -> NDArray[np.float64]:
    terms: NDArray[np.float64] = (first == second).astype(np.float64)
    words = np.unique(np.concatenate([first, second]))
    for label in np.unique(true):
        rows = true == label
        shares = [
            {word: float((answers[rows] == word).mean()) for word in words.tolist()} for answers in (first, second)
        ]
        expected = sum(shares[0][word] * shares[1][word] for word in words.tolist())
        of_second = np.array([shares[1][word] for word in first[rows].tolist()])
        of_first = np.array([shares[0][word] for word in second[rows].tolist()])
        terms[rows] += expected - of_second - of_first
    return terms
