"""What changed between two benches: paired, by units, and corrected for many comparisons."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from goldlabel.evaluate.changes import compare_answers
from goldlabel.metrics import holm, paired_bootstrap_over_sets, swap_test

RANDOM = np.random.RandomState(0)
FIRST, SECOND = RANDOM.rand(2, 90) < [[0.5], [0.7]]
UNITS = np.arange(90) // 3


def answers(right: np.ndarray, name: str = "gulls", model: str = "linear") -> pl.DataFrame:
    rows = {"id": [f"{number}" for number in range(len(right))], "unit": UNITS[: len(right)]}
    fixed = [pl.lit(value).alias(column) for column, value in (("set", name), ("label", "neutral"), ("model", model))]
    return pl.DataFrame({**rows, "right": right.astype(float)}).with_columns(fixed)


def test_a_change_is_the_paired_test_by_units() -> None:
    both = [
        pl.concat([answers(FIRST), answers(SECOND, "terns")]),
        pl.concat([answers(SECOND), answers(FIRST, "terns")]),
    ]
    mean, gulls, terns = compare_answers(both[0], both[1].sample(fraction=1, shuffle=True, seed=1), ("gulls", "terns"))
    by_set = {change.dataset: change for change in (gulls, terns)}
    expected = swap_test(SECOND, FIRST, units=UNITS)
    assert by_set["gulls"].difference.value == pytest.approx(expected.difference.value)
    assert by_set["gulls"].difference.interval == pytest.approx(expected.difference.interval)
    assert by_set["gulls"].p_value == pytest.approx(expected.p_value)
    assert by_set["terns"].difference.value == pytest.approx(-expected.difference.defined)
    assert [own.adjusted for own in (gulls, terns)] == pytest.approx(holm([gulls.p_value, terns.p_value]))
    assert mean.dataset is None
    drawn = paired_bootstrap_over_sets([SECOND, FIRST], [FIRST, SECOND], [UNITS, UNITS])
    assert mean.difference.value == pytest.approx(drawn.difference.value, abs=1e-12)


def test_pairs_of_a_unit_are_no_more_evidence_than_one() -> None:
    once = swap_test(SECOND[::3], FIRST[::3])
    tripled = compare_answers(answers(np.repeat(FIRST[::3], 3)), answers(np.repeat(SECOND[::3], 3)))[0]
    assert tripled.p_value == pytest.approx(once.p_value)


def test_only_the_pairs_of_both_with_the_same_label_are_compared() -> None:
    before = answers(FIRST).with_columns(label=pl.when(pl.col("id") == "0").then(pl.lit("-")).otherwise("label"))
    (change,) = compare_answers(before, answers(SECOND[:60]), ("gulls", "terns"))
    assert (change.dataset, change.difference.n) == ("gulls", 59)
    assert compare_answers(answers(FIRST, model="a"), answers(FIRST, model="b")) == []
    same = compare_answers(answers(FIRST), answers(FIRST), ("gulls",))
    assert [(own.difference.value, own.p_value, own.adjusted) for own in same] == [(0.0, 1.0, 1.0)] * 2
