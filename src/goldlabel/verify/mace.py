"""MACE (Hovy et al. 2013): an annotator either knows the label or answers by a habit of their own.

Chosen over GLAD because its updates are closed-form and need no step size, because a competence and a habit per
annotator are what a requester acts on (a habit shows the spammer who always clicks one button), and because
GLAD's difficulty per pair is hardly determined by five votes. Variational training with the paper's priors:
Beta(0.5, 0.5) on competence, Dirichlet(10) on habits (section 3.3 and the released program).

Different from both: the start is the same for all annotators and labels instead of the best of random restarts,
so that the result depends on nothing but the votes. Abstentions are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from goldlabel.verify.gold import GoldLabels, most_probable
from goldlabel.verify.votes import Votes

COMPETENCE_PRIOR = 0.5
HABIT_PRIOR = 10.0


def mace(votes: Votes, *, confidence: float = 0.0, iterations: int = 50, tolerance: float = 1e-6) -> GoldLabels:
    """Return the most probable label of each pair, if it is as probable as ``confidence``.

    ``details`` hold each annotator's competence: the share of votes they cast because they knew.
    """
    votes.require_annotators("mace")
    labels, people = len(votes.space), len(votes.annotators)
    kept = votes.answer < labels
    pair, answer, annotator = votes.row[kept], votes.answer[kept], votes.annotator[kept]
    cast = _Cast(pair, answer, annotator, len(votes.pairs), people, labels)
    voted = np.bincount(pair, minlength=len(votes.pairs)) > 0
    knowing, guessing, habit = np.full(people, 0.5), np.full(people, 0.5), np.full((people, labels), 1 / labels)
    probabilities = cast.posterior(knowing, guessing, habit)
    steps, moved = 0, np.inf
    while steps < iterations and moved >= tolerance:
        steps += 1
        knowing, guessing, habit = cast.parameters(probabilities, knowing, guessing, habit)
        updated = cast.posterior(knowing, guessing, habit)
        moved = float(np.abs(updated - probabilities)[voted].max())
        probabilities = updated
    probabilities = np.where(voted[:, None], probabilities, 0.0)
    competence = knowing / (knowing + guessing)
    details = {"competence": dict(zip(votes.annotators, competence.tolist(), strict=True)), "iterations": steps}
    marks = most_probable(probabilities, voted, confidence, len(votes.answers))
    return GoldLabels("mace", marks, probabilities, details, posterior=True)


@dataclass(frozen=True)
class _Cast:
    """The votes for a label, and the two steps of training over them."""

    pair: NDArray[np.int64]
    answer: NDArray[np.int64]
    annotator: NDArray[np.int64]
    pairs: int
    people: int
    labels: int

    def posterior(
        self, knowing: NDArray[np.float64], guessing: NDArray[np.float64], habit: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return P(true label | votes) under a uniform prior."""
        by_habit = guessing[self.annotator] * habit[self.annotator, self.answer]
        cell = self.pair * self.labels + self.answer
        # Every vote is as likely by habit under each label; what tells them apart is who may have known.
        gain = np.log(by_habit + knowing[self.annotator]) - np.log(by_habit)
        scores = np.bincount(cell, gain, self.pairs * self.labels).reshape(self.pairs, self.labels)
        likelihood = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(likelihood / likelihood.sum(axis=1, keepdims=True))

    def parameters(
        self,
        probabilities: NDArray[np.float64],
        knowing: NDArray[np.float64],
        guessing: NDArray[np.float64],
        habit: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the variational weights of knowing, of guessing, and of each habit."""
        by_habit = guessing[self.annotator] * habit[self.annotator, self.answer]
        by_knowledge = knowing[self.annotator]
        knew = probabilities[self.pair, self.answer] * by_knowledge / (by_habit + by_knowledge)
        known = np.bincount(self.annotator, knew, self.people)
        cell = self.annotator * self.labels + self.answer
        habits = np.bincount(cell, 1 - knew, self.people * self.labels).reshape(self.people, self.labels)
        known_or_not = np.column_stack([known, habits.sum(axis=1)])
        states = _expected(np.asarray(known_or_not + COMPETENCE_PRIOR, dtype=np.float64))
        return states[:, 0], states[:, 1], _expected(np.asarray(habits + HABIT_PRIOR, dtype=np.float64))


def _expected(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return exp(E[log p]) of a Dirichlet in each row."""
    from scipy.special import digamma

    return np.asarray(np.exp(digamma(counts) - digamma(counts.sum(axis=1, keepdims=True))))
