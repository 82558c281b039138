from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn import metrics as reference

from goldlabel import metrics
from goldlabel.errors import InputError

LABELS = ["contradiction", "entailment", "neutral"]
answers = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=60)


@given(answers)
def test_scores_agree_with_scikit_learn(rows: list[tuple[str, str]]) -> None:
    gold, predicted = map(list, zip(*rows, strict=True))
    seen = sorted({*gold, *predicted})
    assert metrics.accuracy(gold, predicted) == pytest.approx(reference.accuracy_score(gold, predicted))
    assert metrics.macro_f1(gold, predicted, LABELS) == pytest.approx(
        reference.f1_score(gold, predicted, average="macro", labels=seen, zero_division=0)
    )
    recalls = reference.recall_score(gold, predicted, average=None, labels=sorted(set(gold)), zero_division=0)
    assert metrics.balanced_accuracy(gold, predicted) == pytest.approx(np.mean(recalls))
    shuffled = LABELS[::-1]
    expected = reference.confusion_matrix(gold, predicted, labels=shuffled)
    assert metrics.confusion(gold, predicted, shuffled).tolist() == expected.tolist()


def test_f1_of_a_label_that_never_occurs_is_undefined() -> None:
    assert metrics.f1_per_label(["neutral"], ["neutral"], LABELS) == {
        "contradiction": None,
        "entailment": None,
        "neutral": 1.0,
    }


def test_wilson_known_answer() -> None:
    # Newcombe (1998), Statistics in Medicine 17, table I: 81 of 263.
    interval = metrics.wilson(81, 263)
    assert (round(interval.low, 4), round(interval.high, 4)) == (0.2553, 0.3662)


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_share(share: tuple[int, int]) -> None:
    interval = metrics.wilson(*share)
    assert 0 <= interval.low <= share[0] / share[1] <= interval.high <= 1


def test_accuracy_score_carries_interval_and_size() -> None:
    score = metrics.accuracy_score(["a", "b", "a", "a"], ["a", "b", "b", "a"])
    assert (score.value, score.n) == (0.75, 4)
    assert score.interval == metrics.wilson(3, 4)


def test_bootstrap_is_seeded_and_covers() -> None:
    random = np.random.RandomState(3)
    gold = random.choice(LABELS, 400)
    predicted = np.where(random.rand(400) < 0.7, gold, "neutral")
    first = metrics.bootstrap(metrics.accuracy, gold, predicted, seed=5, resamples=400)
    assert first == metrics.bootstrap(metrics.accuracy, gold, predicted, seed=5, resamples=400)
    wilson = metrics.accuracy_score(gold, predicted).interval
    assert first.interval.low == pytest.approx(wilson.low, abs=0.02)
    assert first.interval.high == pytest.approx(wilson.high, abs=0.02)


def test_groups_widen_the_interval_when_their_members_agree() -> None:
    gold = np.repeat(["a"] * 50, 8)
    predicted = np.repeat(np.random.RandomState(0).choice(["a", "b"], 50), 8)
    alone = metrics.bootstrap(metrics.accuracy, gold, predicted, resamples=300).interval
    grouped = metrics.bootstrap(
        metrics.accuracy, gold, predicted, resamples=300, groups=np.repeat(np.arange(50), 8)
    ).interval
    assert grouped.high - grouped.low > 2 * (alone.high - alone.low)


def test_mcnemar_is_the_binomial_test_on_discordant_pairs() -> None:
    gold = ["a"] * 20
    first = ["a"] * 15 + ["b"] * 5
    second = ["a"] * 5 + ["b"] * 13 + ["a"] * 2
    test = metrics.mcnemar(gold, first, second)
    assert test.difference == pytest.approx(8 / 20)
    assert test.p_value == pytest.approx(binomtest(10, 12).pvalue)
    assert metrics.mcnemar(gold, first, first).p_value == 1.0


def test_paired_tests_find_a_difference_and_none() -> None:
    random = np.random.RandomState(1)
    gold = random.choice(LABELS, 300)
    strong = np.where(random.rand(300) < 0.9, gold, "x")
    weak = np.where(random.rand(300) < 0.6, gold, "x")
    for test in (
        metrics.paired_bootstrap(metrics.accuracy, gold, strong, weak, resamples=300),
        metrics.permutation_test(metrics.accuracy, gold, strong, weak, resamples=300),
    ):
        assert test.difference > 0.2
        assert test.p_value < 0.02
    same = metrics.paired_bootstrap(metrics.accuracy, gold, strong, strong, resamples=50)
    assert (same.difference, same.p_value) == (0, 1.0)
    assert metrics.permutation_test(metrics.accuracy, gold, strong, strong, resamples=50).p_value == 1.0


def test_adjustments_known_answers() -> None:
    p = [0.01, 0.04, 0.03, 0.005]
    assert metrics.holm(p) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert metrics.benjamini_hochberg(p) == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert metrics.holm([]) == []
    assert metrics.benjamini_hochberg([]) == []


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        ([], [], "no labels"),
        (["a"], ["a", "b"], "1 gold labels cannot be held against 2"),
        (["a", "-"], ["a", "a"], "without a gold label"),
    ],
)
def test_what_cannot_be_scored_is_refused(gold: list[str], predicted: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        metrics.accuracy(gold, predicted)


def test_strange_labels_levels_and_shares_are_refused() -> None:
    with pytest.raises(InputError, match="'zebra' is not one of"):
        metrics.confusion(["zebra"], ["neutral"], LABELS)
    with pytest.raises(InputError, match="confidence level 95"):
        metrics.wilson(1, 2, level=95)
    with pytest.raises(InputError, match="3 of 2"):
        metrics.wilson(3, 2)
    with pytest.raises(InputError, match="1 groups"):
        metrics.bootstrap(metrics.accuracy, ["a", "b"], ["a", "b"], groups=[1])
