"""Methods that crowd-kit does well, behind the same contract: GLAD, Wawa and Zero-Based Skill.

GLAD (Whitehill et al. 2009): each annotator has an ability and each pair a difficulty, found by EM; what it gives are
probabilities of the labels. Wawa (worker agreement with aggregate) and Zero-Based Skill weigh votes by how often their
annotator agrees with the majority, once or until the weights settle; what they give are shares of the weight.
Abstentions are left out. A label that ties with another is none, where crowd-kit takes the first of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goldlabel.registry import import_extra
from goldlabel.verify.gold import GoldLabels, most_probable
from goldlabel.verify.votes import Votes


def _aggregate(
    votes: Votes,
    *,
    confidence: float = 0.0,
    method: str,
    aggregator: str,
    learned: Callable[[Any], dict[str, Any]],
    posterior: bool,
) -> GoldLabels:
    """Return the label of each pair that crowd-kit's ``aggregator`` finds most probable."""
    votes.require_annotators(method)
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
        fitted = getattr(crowdkit, aggregator)().fit(table)
        # crowd-kit's own prediction from skills asks scikit-learn for something that it no longer answers.
        found = fitted.probas_ if posterior else crowdkit.MajorityVote().fit_predict_proba(table, fitted.skills_)
    scores: NDArray[np.float64] = np.zeros((len(votes.pairs), labels))
    scores[np.ix_(found.index.to_numpy(), found.columns.to_numpy())] = found.to_numpy()
    voted = np.bincount(votes.row[kept], minlength=len(votes.pairs)) > 0
    marks = most_probable(scores, voted, confidence, len(votes.answers))
    return GoldLabels(method, marks, scores, learned(fitted), posterior=posterior)


def _abilities(fitted: Any) -> dict[str, Any]:
    return {"ability": {str(name): float(value) for name, value in fitted.alphas_.items()}}


def _skills(fitted: Any) -> dict[str, Any]:
    return {"weights": {str(name): float(value) for name, value in fitted.skills_.items()}}


glad = partial(_aggregate, method="glad", aggregator="GLAD", learned=_abilities, posterior=True)
wawa = partial(_aggregate, method="wawa", aggregator="Wawa", learned=_skills, posterior=False)
zbs = partial(_aggregate, method="zbs", aggregator="ZeroBasedSkill", learned=_skills, posterior=False)
