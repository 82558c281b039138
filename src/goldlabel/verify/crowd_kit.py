"""GLAD (Whitehill et al. 2009) as crowd-kit does it, behind the same contract.

Each annotator has an ability and each pair a difficulty, found by EM; what it gives are probabilities of the labels.
Abstentions are left out. A label that ties with another is none, where crowd-kit takes the first of them.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from goldlabel.registry import import_extra
from goldlabel.verify.gold import GoldLabels, most_probable
from goldlabel.verify.votes import Votes


def glad(votes: Votes, *, confidence: float = 0.0) -> GoldLabels:
    """Return the label of each pair that GLAD finds most probable."""
    votes.require_annotators("glad")
    crowdkit = import_extra("crowdkit.aggregation", "crowd")
    pandas = import_extra("pandas", "crowd")
    labels = len(votes.space)
    kept = votes.answer < labels
    table = pandas.DataFrame(
        {
            "task": votes.row[kept],
            "worker": np.array(votes.annotators, dtype=object)[votes.annotator[kept]],
            "label": votes.answer[kept],
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # between crowd-kit and the version of pandas
        fitted = crowdkit.GLAD().fit(table)
    found = fitted.probas_
    scores: NDArray[np.float64] = np.zeros((len(votes.pairs), labels))
    scores[np.ix_(found.index.to_numpy(), found.columns.to_numpy())] = found.to_numpy()
    voted = np.bincount(votes.row[kept], minlength=len(votes.pairs)) > 0
    marks = most_probable(scores, voted, confidence, len(votes.answers))
    learned = {"ability": {str(name): float(value) for name, value in fitted.alphas_.items()}}
    return GoldLabels("glad", marks, scores, learned, posterior=True)
