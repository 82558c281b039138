"""Two plus one: two verifiers, and a third where they differ (Nie et al. 2020, section 2.1).

The label that two of the verifiers agree on stands: it verifies the author's label or overrules it. Where all
three differ, or two abstain, the pair is discarded; where a verifier is still missing, it is pending and keeps the
label it has. Verifiers after the third play no part.
"""

from __future__ import annotations

import numpy as np

from goldlabel.errors import InputError
from goldlabel.verify.gold import GoldLabels
from goldlabel.verify.votes import Marks, Votes, marked

OUTCOMES = ("verified", "overruled", "discarded", "pending")


def two_plus_one(votes: Votes) -> GoldLabels:
    """Return the label two verifiers agree on; ``details`` count the outcomes and the third verifiers asked."""
    if not votes.author.any():
        raise InputError("two-plus-one needs the author's label; say where it is: the first vote, or the label")
    first, second, third = _verifiers(votes)
    asked, asked_twice, asked_thrice = (marked(answer) for answer in (first, second, third))
    split = asked_twice & ~marked(first & second)
    pending = ~asked_twice | (split & ~asked_thrice)
    marks = np.where(split[:, None], third & (first | second), first & second)
    marks[:, len(votes.space) :] = False
    settled, as_meant = marked(marks), marked(marks & votes.author)
    outcomes = (as_meant, settled & ~as_meant, ~settled & ~pending, pending)
    details = {
        "outcomes": {name: int((pairs & asked).sum()) for name, pairs in zip(OUTCOMES, outcomes, strict=True)},
        "third_verifiers": int((split & asked_thrice).sum()),
    }
    scores = marks[:, : len(votes.space)].astype(np.float64)
    return GoldLabels("two-plus-one", marks, scores, details, pending)


def _verifiers(votes: Votes) -> tuple[Marks, Marks, Marks]:
    """Return the first three answers of each pair that are not the author's."""
    row, answer = votes.row[~votes.by_author], votes.answer[~votes.by_author]
    counts = np.bincount(row, minlength=len(votes.pairs))
    place = np.arange(len(row)) - (np.cumsum(counts) - counts)[row]
    marks = np.zeros((3, len(votes.pairs), len(votes.answers)), dtype=np.bool_)
    early = place < 3
    marks[place[early], row[early], answer[early]] = True
    return marks[0], marks[1], marks[2]
