"""Wawa, worker agreement with aggregate, as in crowd-kit: the label with most of the weight.

The plain majority, then each annotator's share of votes equal to it as the weight of their votes, then the label with
most weight. Where crowd-kit takes the first of tied labels there is no majority and no gold label, so that neither
hangs on the order of labels; where nothing is tied, both are the same. Abstentions are left out. What it gives as
probabilities are the labels' shares of the weight. ``weighted-majority`` asks for more than half of it instead.
"""

from __future__ import annotations

import numpy as np

from goldlabel.verify.gold import GoldLabels, most_probable
from goldlabel.verify.majority import leading
from goldlabel.verify.votes import Votes
from goldlabel.verify.weighted_majority import LabelVotes


def wawa(votes: Votes, *, confidence: float = 0.0) -> GoldLabels:
    """Return the label with most of the weight; ``details`` hold each annotator's."""
    votes.require_annotators("wawa")
    cast = LabelVotes.of(votes)
    skills = cast.agreement(leading(votes.counts[:, : cast.labels], cast.labels, quorum=1), np.zeros(cast.people))
    shares, voted = cast.shares(skills)
    marks = most_probable(shares, voted, confidence, len(votes.answers))
    return GoldLabels(
        "wawa", marks, shares, {"skills": dict(zip(votes.annotators, skills.tolist(), strict=True))}, posterior=True
    )
