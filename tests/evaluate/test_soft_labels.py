"""Models beside the votes of many people."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.spatial import distance
from scipy.stats import entropy

from goldlabel.errors import InputError
from goldlabel.evaluate.answers import judged_pairs
from goldlabel.evaluate.soft_labels import score_soft_labels
from goldlabel.pairs.gold import GoldPairs
from tests.calibration import Design, coverage, faults
from tests.evaluate.samples import make_pairs

LETTERS = {"e": "entailment", "n": "neutral", "c": "contradiction", "?": "unrelated"}


def voted(*ballots: str, per_premise: int = 1) -> GoldPairs:
    votes = [[LETTERS[letter] for letter in ballot] for ballot in ballots]
    pairs = make_pairs(["neutral"] * len(votes), votes=votes, per_premise=per_premise)
    return judged_pairs(pairs, also=["votes"])


def test_figures_agree_with_scipy_as_the_authors_used_it() -> None:
    gold = voted("e" * 76 + "n" * 20 + "c" * 4, "c" * 60 + "n" * 40, "n" * 100)
    answers = np.array([[0.70, 0.16, 0.14], [0.5, 0.2, 0.3], [0.1, 0.1, 0.8]])  # contradiction, entailment, neutral
    people = np.array([[0.04, 0.76, 0.20], [0.6, 0.0, 0.4], [0.0, 0.0, 1.0]])
    result = score_soft_labels(gold, answers)
    both = list(zip(people, answers, strict=True))
    assert result.distance.value == pytest.approx(np.mean([distance.jensenshannon(p, q) for p, q in both]))
    assert result.divergence.value == pytest.approx(np.mean([entropy(p, q) for p, q in both]))
    assert result.accuracy.value == pytest.approx(2 / 3)
    assert (result.votes, result.raised, result.few_votes, result.unanswered) == (100, 0, 0, 0)


def test_the_ends_of_the_scales() -> None:
    gold = voted("eeeee", "nnnnn")
    same = score_soft_labels(gold, np.array([[0.0, 1, 0], [0, 0, 1]]))
    assert (same.distance.value, same.divergence.value, same.raised) == (0, pytest.approx(0), 0)
    opposite = score_soft_labels(gold, np.array([[1.0, 0, 0], [1, 0, 0]]))
    assert opposite.distance.value == pytest.approx(math.sqrt(math.log(2)))
    assert opposite.divergence.value == pytest.approx(-math.log(1e-15))
    assert opposite.raised == 2


def test_zero_where_nobody_voted_is_no_trouble() -> None:
    result = score_soft_labels(voted("eeenn"), np.array([[0.0, 0.6, 0.4]]))
    assert (result.raised, result.divergence.value) == (0, pytest.approx(0))


def test_votes_for_no_label_few_votes_and_no_answers_are_left_out_and_counted() -> None:
    gold = voted("eeeen?????", "ee???", "nnnnn", "")
    answers = np.array([[0.0, 0.8, 0.2], [0.2, 0.3, 0.5], [np.nan] * 3, [np.nan] * 3])
    result = score_soft_labels(gold, answers)
    assert (result.distance.n, result.votes, result.few_votes, result.unanswered) == (1, 5, 2, 1)
    assert result.distance.value == pytest.approx(0)
    assert score_soft_labels(gold, answers, fewest_votes=2).few_votes == 1
    with pytest.raises(InputError, match="no pair has an answer and at least 11 votes for a label"):
        score_soft_labels(gold, answers, fewest_votes=11)
    with pytest.raises(InputError, match="its votes were not read"):
        score_soft_labels(judged_pairs(make_pairs(["neutral"])), answers[:1])


def test_tied_votes_share_the_hit() -> None:
    gold = voted("eeeennnn")
    for answer, value in (([0.1, 0.8, 0.1], 0.5), ([0.1, 0.1, 0.8], 0.5), ([0.8, 0.1, 0.1], 0.0)):
        assert score_soft_labels(gold, np.array([answer])).accuracy.value == value


def test_title_table_and_dictionary() -> None:
    result = score_soft_labels(voted("eeeee", "eennn"), np.full((2, 3), 1 / 3))
    assert result.title == "birds: 2 pairs with 5.0 votes each"
    assert result.table["figure"].to_list()[1] == "KL"
    assert json.loads(json.dumps(result.to_dict()))["distance"]["n"] == 2


def test_intervals_take_units_together() -> None:
    """Premises on which people are divided, and a model that never is."""
    design, random = Design(60, 5, 0.9), np.random.RandomState(22)
    answers = np.tile([0.05, 0.9, 0.05], (300, 1))
    sure, torn = (score_soft_labels(voted(ballot), answers[:1]).distance.value for ballot in ("eeeee", "eeenn"))
    rate = coverage("Jensen–Shannon distance", design)
    for _ in range(150):
        ballots = np.where(design.hits(0.6, random), "eeeee", "eeenn")
        rate.cover(score_soft_labels(voted(*ballots, per_premise=5), answers).distance, 0.6 * sure + 0.4 * torn)
    assert faults([rate], chance=0.01) == []
