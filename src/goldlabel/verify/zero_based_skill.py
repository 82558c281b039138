"""Zero-Based Skill, as in crowd-kit: annotators' skills and the majority weighted by them, in turns.

All annotators begin with the skill of a guess, 1 / labels. In each of 100 turns the label with most weight is found,
and each skill moves towards its annotator's share of votes equal to it, at first all the way, and half as far after
every twenty turns. Tied pairs play no part in a turn and have no gold label, where crowd-kit takes the first label;
where nothing is tied, both are the same. Abstentions are left out. What it gives as probabilities are the labels'
shares of the weight.
"""

from __future__ import annotations

import numpy as np

from goldlabel.verify.gold import GoldLabels, most_probable
from goldlabel.verify.votes import Votes
from goldlabel.verify.weighted_majority import LabelVotes

TURNS, STEP, SHORTER_EVERY, SHORTER_BY = 100, 1.0, 20, 0.5
ABOVE_CHANCE = 1e-5
"""Added to the skill of a guess at the start, as crowd-kit does."""


def zero_based_skill(votes: Votes, *, confidence: float = 0.0) -> GoldLabels:
    """Return the label with most of the weight; ``details`` hold each annotator's skill."""
    votes.require_annotators("zbs")
    cast, answers = LabelVotes.of(votes), len(votes.answers)
    skills = np.full(cast.people, 1 / max(len(np.unique(cast.answer)), 1) + ABOVE_CHANCE)
    step = STEP
    for turn in range(1, TURNS + 1):
        step *= SHORTER_BY if turn % SHORTER_EVERY == 0 else 1
        shares, voted = cast.shares(skills)
        agreement = cast.agreement(most_probable(shares, voted, 0.0, answers), skills)
        skills = skills + step * (agreement - skills)
    shares, voted = cast.shares(skills)
    marks = most_probable(shares, voted, confidence, answers)
    return GoldLabels(
        "zbs", marks, shares, {"skills": dict(zip(votes.annotators, skills.tolist(), strict=True))}, posterior=True
    )
