from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics as reference

from goldlabel import metrics
from goldlabel.errors import InputError
from goldlabel.metrics import distributions

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
    assert score == metrics.wilson(3, 4)


def test_bootstrap_is_seeded_and_agrees_with_wilson() -> None:
    random = np.random.RandomState(3)
    gold = random.choice(LABELS, 400)
    predicted = np.where(random.rand(400) < 0.7, gold, "neutral")
    first = metrics.bootstrap(metrics.accuracy, gold, predicted, seed=5, resamples=400)
    assert first == metrics.bootstrap(metrics.accuracy, gold, predicted, seed=5, resamples=400)
    wilson = metrics.accuracy_score(gold, predicted)
    assert first.interval == pytest.approx(wilson.interval, abs=0.02)


def test_units_widen_every_interval_when_their_members_agree() -> None:
    gold = np.repeat(["a"] * 50, 8)
    predicted = np.repeat(np.random.RandomState(0).choice(["a", "b"], 50), 8)
    units = np.repeat(np.arange(50), 8)
    for alone, by_unit in (
        (
            metrics.bootstrap(metrics.accuracy, gold, predicted, resamples=300),
            metrics.bootstrap(metrics.accuracy, gold, predicted, resamples=300, units=units),
        ),
        (metrics.accuracy_score(gold, predicted), metrics.accuracy_score(gold, predicted, units=units)),
        (metrics.mean(gold == predicted), metrics.mean(gold == predicted, units=units)),
    ):
        assert by_unit.high - by_unit.low > 2 * (alone.high - alone.low)
        assert (alone.n, alone.units, by_unit.n, by_unit.units) == (400, 400, 400, 50)


def test_eight_copies_of_every_pair_tell_as_much_as_one() -> None:
    hits = np.random.RandomState(2).rand(60) < 0.6
    units = np.repeat(np.arange(60), 8)
    copied = metrics.share(np.repeat(hits, 8), units=units)
    assert copied.interval == pytest.approx(metrics.share(hits).interval, abs=0.006)  # t in the place of z
    one_sum = metrics.Statistic(hits[:, None].astype(float), lambda sums: sums[:, 0] / 60)
    many_sums = metrics.Statistic(np.repeat(hits, 8)[:, None] / 8, lambda sums: sums[:, 0] / 60)
    assert (
        metrics.bootstrap_sums({"share": many_sums}, units=units)["share"].interval
        == metrics.bootstrap_sums({"share": one_sum})["share"].interval
    )


def test_shares_at_the_edge_rest_on_the_number_of_units() -> None:
    sure = metrics.share([1] * 30, units=np.repeat(np.arange(10), 3))
    assert sure.interval == metrics.wilson(10, 10).interval
    alike = metrics.share([1, 0, 0] * 10, units=np.repeat(np.arange(10), 3))
    assert alike.low < 1 / 3 < alike.high
    assert metrics.share([1, 0], units=[4, 4]).interval is None
    assert metrics.share([0], [0]).value is None


def test_one_huge_unit_counts_for_what_it_is() -> None:
    hits = np.concatenate([np.ones(900), np.zeros(100)])
    units = np.concatenate([np.zeros(900), np.arange(1, 101)])
    assert metrics.share(hits, units=units).low < 0.1


def test_differences_of_figures_known_answer() -> None:
    # Newcombe (1998), Statistics in Medicine 17, table II (a), method 10: 56 of 70 and 48 of 80.
    gap = metrics.difference(metrics.wilson(56, 70), metrics.wilson(48, 80))
    assert [round(number, 4) for number in (gap.value, gap.low, gap.high)] == [0.2, 0.0524, 0.3339]


def test_mcnemar_known_answer() -> None:
    # Fagerland, Lydersen and Laake (2013), table 2: 1 and 7 discordant pairs of 21; exact 0.0703, mid-p 0.0391.
    gold = ["a"] * 21
    first = ["a"] * 8 + ["b"] * 13
    second = ["a"] + ["b"] * 7 + ["a"] + ["b"] * 12
    test = metrics.mcnemar(gold, first, second)
    assert test.difference.value == pytest.approx(6 / 21)
    assert test.p_value == pytest.approx(0.0391, abs=5e-5)
    assert metrics.mcnemar(gold, first, first).p_value == 1.0


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=12))
def test_mcnemar_over_units_counts_every_swap(sums: list[int]) -> None:
    """The exact p-value against all swaps, one by one."""
    first = [label for total in sums for label in ("a" * max(total, 0) + "b" * max(-total, 0)).ljust(4, "b")]
    second = [label for total in sums for label in ("b" * max(total, 0) + "a" * max(-total, 0)).ljust(4, "b")]
    p_value = metrics.mcnemar(["a"] * len(first), first, second, units=np.repeat(np.arange(len(sums)), 4)).p_value
    swapped = [
        abs(sum(s * t for s, t in zip(sums, signs, strict=True))) for signs in product((1, -1), repeat=len(sums))
    ]
    observed = abs(sum(sums))
    expected = (sum(s > observed for s in swapped) + sum(s == observed for s in swapped) / 2) / len(swapped)
    assert p_value == pytest.approx(1.0 if not any(sums) else expected)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=10))
def test_swaps_of_several_runs_are_counted_one_by_one(right: list[tuple[int, int]]) -> None:
    """Three runs of one system and two of another: hits in thirds and halves."""
    first, second = (np.array(runs) / total for runs, total in zip(zip(*right, strict=True), (3, 2), strict=True))
    test = metrics.swap_test(first, second)
    sums = [2 * a - 3 * b for a, b in right]
    swapped = [abs(np.dot(sums, signs)) for signs in product((1, -1), repeat=len(sums))]
    expected = np.mean([(value > abs(sum(sums))) + (value == abs(sum(sums))) / 2 for value in swapped])
    assert test.p_value == pytest.approx(1.0 if not any(sums) else expected)
    assert test.difference.value == pytest.approx(sum(sums) / 6 / len(sums))


def test_one_run_is_swapped_as_mcnemar_does() -> None:
    random = np.random.RandomState(4)
    gold, units = np.full(90, "a"), np.repeat(np.arange(30), 3)
    first, second = (random.choice(["a", "b"], 90) for _ in range(2))
    assert metrics.swap_test(first == gold, second == gold, units=units) == metrics.mcnemar(
        gold, first, second, units=units
    )


def test_hits_that_are_shares_of_runs_vary_less_than_right_and_wrong() -> None:
    random = np.random.RandomState(5)
    hits = (random.rand(8, 400) < 0.6).mean(axis=0)
    several, plain = metrics.share(hits), metrics.wilson(240, 400)
    assert several.high - several.low < 0.5 * (plain.high - plain.low)


def test_a_mean_over_datasets_weighs_each_alike() -> None:
    small, large = np.array([1, 1, 1, 0]), np.array([0] * 60 + [1] * 40)
    both = metrics.mean_over_sets([small, large])
    assert both.value == pytest.approx((0.75 + 0.4) / 2)
    assert (both.n, both.units, both.method) == (104, 104, "from the intervals of 2 datasets")
    first, second = metrics.wilson(3, 4), metrics.wilson(40, 100)
    # Zou and Donner (2008): the distances of the ends add up as variances do.
    below = np.hypot(0.75 - first.low, 0.4 - second.low) / 2
    above = np.hypot(first.high - 0.75, second.high - 0.4) / 2
    assert both.interval == pytest.approx((both.value - below, both.value + above))
    units = np.repeat(np.arange(20), 5)
    alone = metrics.mean_over_sets([large], [units])
    assert alone.interval == pytest.approx(metrics.share(large, units=units).interval)
    assert metrics.mean_over_sets([large, [1, 0]], [None, [7, 7]]).interval is None


def test_two_systems_over_datasets() -> None:
    random = np.random.RandomState(6)
    units = [np.repeat(np.arange(50), 4), None]
    sizes = (200, 900)
    weak = [random.rand(size) < 0.5 for size in sizes]
    strong = [hits | (random.rand(len(hits)) < 0.3) for hits in weak]
    test = metrics.paired_bootstrap_over_sets(strong, weak, units, seed=3)
    gaps = [metrics.mean(a.astype(float) - b, units=u) for a, b, u in zip(strong, weak, units, strict=True)]
    assert test.difference.value == pytest.approx(np.mean([gap.value for gap in gaps]))
    # The same variance as of the two means, each of which counts half.
    half = np.hypot(*(gap.high - gap.value for gap in gaps)) / 2
    assert test.difference.high - test.difference.low == pytest.approx(2 * half, rel=0.05)
    assert test.p_value < 0.001
    assert test == metrics.paired_bootstrap_over_sets(strong, weak, units, seed=3)
    opposite = metrics.paired_bootstrap_over_sets(weak, strong, units, seed=3)
    assert opposite.difference.interval == pytest.approx((-test.difference.high, -test.difference.low), abs=0.003)
    same = metrics.paired_bootstrap_over_sets(weak, weak, units)
    assert (same.difference.value, same.difference.interval, same.p_value) == (0, None, 1.0)
    single = metrics.paired_bootstrap_over_sets([*strong, [1, 1]], [*weak, [0, 0]], [*units, [3, 3]])
    assert (single.difference.interval, single.p_value) == (None, 1.0)


def test_all_systems_are_compared_on_the_same_resamples() -> None:
    random = np.random.RandomState(7)
    hits = [(random.rand(80, 3) < (0.5, 0.6, 0.9)).astype(float), (random.rand(60, 3) < 0.5).astype(float)]
    tests = metrics.compare_over_sets(hits, resamples=300)
    assert list(tests) == [(0, 1), (0, 2), (1, 2)]
    gap = {key: test.difference.value for key, test in tests.items()}
    assert gap[0, 2] == pytest.approx(gap[0, 1] + gap[1, 2])
    assert tests[0, 2].p_value < tests[0, 1].p_value


def test_what_cannot_be_compared_over_datasets_is_refused() -> None:
    for call, message in (
        (lambda: metrics.mean_over_sets([]), "no datasets"),
        (lambda: metrics.mean_over_sets([[1], []]), "dataset 2 of 2 has no pairs"),
        (lambda: metrics.mean_over_sets([[1]], [None, None]), "units of 2 datasets"),
        (lambda: metrics.paired_bootstrap_over_sets([[1]], [[1], [0]]), "1 datasets cannot be held against one over 2"),
        (lambda: metrics.paired_bootstrap_over_sets([[1]], [[1, 0]]), "dataset 1: 1 hits cannot be held against 2"),
        (lambda: metrics.compare_over_sets([[[1, 0], [0, 1]]], resamples=0), "0 resamples"),
        (lambda: metrics.swap_test([1], [1, 0]), "hits on 1 pairs"),
        (lambda: metrics.swap_test([0.5**0.5], [1]), "not the shares of at most 1,000 runs"),
        (lambda: metrics.swap_test([float("nan")], [1]), "not the shares"),
    ):
        with pytest.raises(InputError, match=message):
            call()


def test_paired_tests_find_a_difference_and_none() -> None:
    random = np.random.RandomState(1)
    gold = random.choice(LABELS, 300)
    strong = np.where(random.rand(300) < 0.9, gold, "x")
    weak = np.where(random.rand(300) < 0.6, gold, "x")
    for test in (
        metrics.paired_bootstrap(metrics.accuracy, gold, strong, weak, resamples=300),
        metrics.permutation_test(metrics.accuracy, gold, strong, weak, resamples=300),
    ):
        assert test.difference.value > 0.2
        assert test.p_value < 0.02
    same = metrics.paired_bootstrap(metrics.accuracy, gold, strong, strong, resamples=50)
    assert (same.difference.value, same.difference.interval, same.p_value) == (0, None, 1.0)
    assert metrics.permutation_test(metrics.accuracy, gold, strong, strong, resamples=50).p_value == 1.0


def test_adjustments_known_answers() -> None:
    p = [0.01, 0.04, 0.03, 0.005]
    assert metrics.holm(p) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert metrics.benjamini_hochberg(p) == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert metrics.holm([]) == []
    assert metrics.benjamini_hochberg([]) == []
    many = np.random.RandomState(3).rand(500) ** 3
    assert metrics.benjamini_hochberg(many) == pytest.approx(stats.false_discovery_control(many), rel=1e-12)


@pytest.mark.parametrize("value", [-40.0, -2.5, 0.0, 0.3, 4.0, 37.0, np.inf])
def test_tails_and_bounds_are_those_of_scipy(value: float) -> None:
    assert distributions.normal_tail(value) == pytest.approx(stats.norm.sf(value), rel=1e-12)
    for freedom in (1, 2.5, 30, 1e6):
        assert distributions.student_tail(value, freedom) == pytest.approx(stats.t.sf(value, freedom), rel=1e-9)
    for tail in (1e-9, 0.025, 0.5, 0.9):
        assert distributions.normal_bound(tail) == pytest.approx(stats.norm.isf(tail), rel=1e-12)
        assert distributions.student_bound(tail, 3.5) == pytest.approx(stats.t.isf(tail, 3.5), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("trials", "chance"), [(1, 0.5), (7, 0.0), (7, 1.0), (40, 0.37), (5000, 0.5)])
def test_binomial_chances_are_those_of_scipy(trials: int, chance: float) -> None:
    expected = stats.binom.pmf(np.arange(trials + 1), trials, chance)
    assert distributions.binomial(trials, chance) == pytest.approx(expected, rel=1e-9, abs=1e-300)
    for successes in (0, 1, trials // 2, trials):
        tail = distributions.binomial_tail(successes, trials, chance)
        assert tail == pytest.approx(stats.binom.sf(successes - 1, trials, chance), rel=1e-9)


def test_long_sequences_are_convolved_as_short_ones_are() -> None:
    first, second = (np.random.RandomState(seed).rand(length) for seed, length in ((1, 3000), (2, 1500)))
    assert distributions.convolve(first, second) == pytest.approx(np.convolve(first, second), rel=1e-9)


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
    with pytest.raises(InputError, match="1 units"):
        metrics.bootstrap(metrics.accuracy, ["a", "b"], ["a", "b"], units=[1])


def test_a_gap_of_independent_parts_is_that_of_the_textbook() -> None:
    hits = np.array([1] * 80 + [0] * 20 + [1] * 90 + [0] * 60)
    first = np.arange(250) < 100
    result = metrics.gap(hits, [first, ~first])
    assert result.value.value == pytest.approx(0.2)
    error = np.sqrt((0.8 * 0.2 / 100 + 0.6 * 0.4 / 150) * 250 / 249)
    assert result.value.high is not None
    assert result.value.high - 0.2 == pytest.approx(1.97 * error, rel=0.002)
    assert (result.value.n, result.value.units) == (250, 250)


def test_a_gap_within_units_is_surer_than_one_between_them() -> None:
    """Where each unit has a pair in both parts and units differ much, the gap within them is told apart."""
    random = np.random.RandomState(0)
    easy = random.rand(200) < 0.5
    helped = random.rand(200) < 0.15
    hits = np.concatenate([easy | helped, easy])
    parts = [np.arange(400) < 200, np.arange(400) >= 200]
    units = np.tile(np.arange(200), 2)
    within, apart = (metrics.gap(hits, parts, units=unit) for unit in (units, None))
    assert within.value.value == apart.value.value
    assert within.p_value < 0.001 < apart.p_value


def test_there_is_no_gap_where_each_unit_has_the_same_in_both_parts() -> None:
    hits, units = np.repeat([1, 0, 1, 1, 0] * 8, 2), np.repeat(np.arange(40), 2)
    result = metrics.gap(hits, [np.arange(80) % 2 == 0, np.arange(80) % 2 == 1], units=units)
    assert (result.value.value, result.p_value) == (0.0, 1.0)


def test_a_small_part_without_a_failure_is_not_taken_for_sure() -> None:
    hits = np.concatenate([np.ones(10), np.tile([1, 1, 1, 1, 0], 400)])
    small = np.arange(len(hits)) < 10
    result = metrics.gap(hits, [small, ~small])
    assert result.value.value == pytest.approx(0.2)
    assert result.p_value > 0.05, "ten of ten happen one time in nine"
    surely = metrics.gap(small, [small, ~small])
    assert (surely.value.value, surely.value.high) == (1.0, 1.0), "no gap is wider"


def test_a_gap_of_gaps_is_a_sum_of_shares() -> None:
    hits = np.array([1, 1, 1, 0] * 10 + [1, 0, 0, 0] * 10 + [1, 1, 0, 0] * 10 + [1, 1, 1, 1] * 10)
    parts = [np.arange(160) // 40 == number for number in range(4)]
    assert metrics.gap(hits, parts, [1, -1, -1, 1]).value.value == pytest.approx(0.75 - 0.25 - 0.5 + 1.0)
    with pytest.raises(InputError, match="without pairs"):
        metrics.gap(hits, [parts[0], np.zeros(160, dtype=bool)])
