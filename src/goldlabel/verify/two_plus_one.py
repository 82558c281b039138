"""Two plus one: two verifiers, and a third where they differ (Nie et al. 2020, section 2.1).

The label that two of the verifiers agree on stands: it verifies the author's label or overrules it. Where all
three differ, or two abstain, the pair is discarded; where a verifier is still missing, it is pending. Verifiers
after the third play no part.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.verify.gold import Gold
from goldlabel.verify.votes import NONE, Votes

OUTCOMES = ("verified", "overruled", "discarded", "pending")


def two_plus_one(votes: Votes) -> Gold:
    """Return the label two verifiers agree on; ``details`` count the outcomes and the third verifiers asked."""
    if (votes.author == NONE).all():
        raise InputError("two-plus-one needs the author's label; say where it is: the first vote, or the label")
    first, second, third = _verifiers(votes).T
    split = (first != second) & (second != NONE)
    agreed = np.where(split, np.where((third == first) | (third == second), third, NONE), first)
    pending = (second == NONE) | (split & (third == NONE))
    settled = ~pending & (agreed != NONE) & (agreed < len(votes.space))
    answer = np.where(settled, agreed, NONE).astype(np.int8)
    outcome = np.select([pending, ~settled, answer == votes.author], [3, 2, 0], 1)
    asked = np.bincount(votes.pair[~votes.by_author], minlength=len(votes.ids)) > 0
    counted = np.bincount(outcome[asked], minlength=len(OUTCOMES))
    scores = (answer[:, None] == np.arange(len(votes.space))).astype(np.float64)
    details = {
        "outcomes": dict(zip(OUTCOMES, counted.tolist(), strict=True)),
        "third_verifiers": int((split & (third != NONE)).sum()),
    }
    return Gold("two-plus-one", answer, scores, details)


def _verifiers(votes: Votes) -> NDArray[np.int8]:
    """Return the first three answers of each pair that are not the author's."""
    pair, answer = votes.pair[~votes.by_author], votes.answer[~votes.by_author]
    counts = np.bincount(pair, minlength=len(votes.ids))
    place = np.arange(len(pair)) - (np.cumsum(counts) - counts)[pair]
    matrix = np.full((len(votes.ids), 3), NONE, dtype=np.int8)
    early = place < 3
    matrix[pair[early], place[early]] = answer[early]
    return matrix
