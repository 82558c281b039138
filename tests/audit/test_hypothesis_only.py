from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from goldlabel.audit import hypothesis_only as blind
from goldlabel.audit.corpus import read_corpus
from goldlabel.audit.hypothesis_only import BOTH_TAUGHT, OutOfFold, assign_folds, cross_validate, judge
from goldlabel.audit.logistic import fit_models, hashed_ngrams
from goldlabel.errors import InputError, UnknownNameError
from goldlabel.pairs import Pairs
from goldlabel.pairs.units import units_of
from tests.audit.conftest import make_pairs

LABELS = ("contradiction", "entailment", "neutral")


def test_units_are_those_of_splits() -> None:
    pairs = make_pairs(
        {"premise": "A dog.", "hypothesis": "h", "label": "neutral", "group": "1"},
        {"premise": "b", "hypothesis": "h", "label": "neutral", "group": "1"},
        {"premise": "b", "hypothesis": "h", "label": "neutral", "group": "2"},
        {"premise": "a  DOG!", "hypothesis": "h", "label": "neutral", "group": None},
        {"premise": "c", "hypothesis": "h", "label": "neutral", "group": None},
        {"premise": "C?", "hypothesis": "h", "label": "neutral", "group": None},
        {"premise": "d", "hypothesis": "h", "label": "neutral", "group": None},
    )
    units, theirs = read_corpus(pairs).units, units_of(pairs.collect())
    assert np.array_equal(units[:, None] == units, theirs[:, None] == theirs)
    assert len(set(units)) == 3


@given(st.lists(st.integers(0, 30), min_size=10, max_size=80), st.integers(2, 6), st.integers(0, 99))
def test_no_unit_is_in_two_folds(units: list[int], folds: int, seed: int) -> None:
    numbers = np.array(units)
    if len(np.unique(numbers)) < folds:
        with pytest.raises(InputError, match="too few"):
            assign_folds(numbers, folds, seed=seed)
        return
    fold = assign_folds(numbers, folds, seed=seed)
    assert all(len(set(fold[numbers == unit])) == 1 for unit in units)
    sizes = np.bincount([fold[numbers == unit][0] for unit in set(units)], minlength=folds)
    assert sizes.max() - sizes.min() <= 1


def test_one_fold_is_refused() -> None:
    with pytest.raises(InputError, match="2 or more"):
        assign_folds(np.arange(10), 1)


def test_judging_by_hand() -> None:
    labels = np.array([0, 0, 1, 2, 2, 2], dtype=np.int8)
    said = np.array([0, 1, 1, 2, 2, 0])
    folds = np.array([0, 1, 2, 0, 1, 1])
    found = OutOfFold(np.arange(6), labels, np.arange(6), folds, np.eye(3, dtype=np.float32)[said])
    figures = judge(found, LABELS)
    assert figures is not None
    assert figures.accuracy.value == pytest.approx(4 / 6)
    assert (figures.majority.value, figures.majority_label) == (pytest.approx(2 / 6), "neutral")
    # Neutral leads outside of folds 0 and 2; outside of fold 1 all are equal, and the first, contradiction, is said.
    assert figures.gain.value == pytest.approx(2 / 6)
    differences = np.array([1, -1, 1, 0, 1, 0]) - 2 / 6
    variety = (1 - 3 * (1 / 3) ** 2) / (2 / 3)
    error = np.sqrt((1 + BOTH_TAUGHT * variety) * (differences**2).sum() * 6 / 5) / 6
    assert figures.gain.interval is not None
    low, high = figures.gain.interval
    assert (high - low) / 2 == pytest.approx(t.isf(0.025, 5) * error, rel=1e-6)
    assert figures.p_value == pytest.approx(t.sf(2 / 6 / error, 5))
    assert figures.by_label["neutral"].value == pytest.approx(2 / 3)
    assert judge(found, LABELS, rows=np.zeros(6, dtype=bool)) is None
    alone = judge(found, LABELS, rows=np.arange(6) == 2)
    assert alone is not None
    assert alone.gain.interval is None
    assert alone.p_value is None


def test_the_fit_is_that_of_logistic_regression(planted: Pairs) -> None:
    from sklearn.linear_model import LogisticRegression

    corpus = read_corpus(planted)
    matrix = hashed_ngrams(corpus.words)
    trained_on = np.ones((len(corpus), 2), dtype=bool)
    trained_on[::4, 1] = False
    models = fit_models(matrix, corpus.labels, 3, trained_on)
    for number, rows in enumerate(trained_on.T):
        theirs = LogisticRegression(C=0.1, max_iter=500).fit(matrix[rows], corpus.labels[rows])
        ours = models.predict(matrix, np.full(len(corpus), number))
        assert np.abs(ours - theirs.predict_proba(matrix)).mean() < 0.02
        assert (ours.argmax(axis=1) == theirs.predict(matrix)).mean() > 0.95


def test_every_pair_is_judged_out_of_fold_and_a_plant_is_found(planted: Pairs) -> None:
    corpus = read_corpus(planted)
    found = cross_validate(corpus.words, corpus.labels, corpus.units, 3)
    assert len(found.rows) == 300
    assert np.allclose(found.probabilities.sum(axis=1), 1, atol=1e-5)
    figures = judge(found, LABELS)
    assert figures is not None
    assert figures.significant
    assert (figures.accuracy.value or 0) > 0.45
    again = cross_validate(corpus.words, corpus.labels, corpus.units, 3)
    assert np.array_equal(found.probabilities, again.probabilities)


def test_the_hard_subset_is_what_was_labelled_wrongly(planted: Pairs) -> None:
    corpus = read_corpus(planted)
    found = cross_validate(corpus.words, corpus.labels, corpus.units, 3)
    hard = blind.hard_subset(planted, found).collect()
    wrong = found.rows[found.predicted != found.labels]
    assert hard["id"].to_list() == planted.collect()["id"].gather(wrong).to_list()
    assert hard.columns == planted.collect().columns


def test_the_curve_grows_with_the_training_size(planted: Pairs) -> None:
    corpus = read_corpus(planted)
    points = blind.learning_curve(corpus.words, corpus.labels, corpus.units, 3)
    sizes = [point.pairs for point in points]
    assert sizes == sorted(sizes)
    assert sizes[-1] == 240
    assert (points[-1].accuracy.value or 0) > 0.4


def test_any_trainable_model_goes_without_the_premise(planted: Pairs) -> None:
    corpus = read_corpus(planted)
    linear = judge(blind.cross_validate_model(planted, corpus, "linear"), LABELS)
    majority = judge(blind.cross_validate_model(planted, corpus, "majority"), LABELS)
    assert linear is not None
    assert majority is not None
    assert (linear.gain.value or 0) > 0.1
    assert (majority.gain.value or 0) <= 0
    with pytest.raises(UnknownNameError, match="no model"):
        blind.cross_validate_model(planted, corpus, "linaer")
