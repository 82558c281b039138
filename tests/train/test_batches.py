"""The plan of batches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldlabel.train.batches import plan_batches

LENGTHS = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 20)), min_size=1, max_size=300)


def _sides(lengths: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    premise, hypothesis = np.array(lengths, dtype=np.int64).T
    return premise, hypothesis


@settings(max_examples=60, deadline=None)
@given(LENGTHS, st.integers(1, 32), st.one_of(st.none(), st.integers(1, 400)), st.integers(0, 5), st.integers(1, 9))
def test_every_row_once_and_the_budget_kept(
    lengths: list[tuple[int, int]], pairs: int, tokens: int | None, seed: int, epoch: int
) -> None:
    premise, hypothesis = _sides(lengths)
    plan = plan_batches([premise, hypothesis], pairs=pairs, tokens=tokens, seed=(seed, epoch))
    assert sorted(np.concatenate(plan).tolist()) == list(range(len(lengths)))
    for batch in plan:
        padded = len(batch) * int(premise[batch].max() + hypothesis[batch].max())
        # A pair that is longer than the budget is a batch of its own.
        assert len(batch) == 1 if tokens is not None and padded > tokens else True
        assert tokens is not None or len(batch) <= pairs
    again = plan_batches([premise, hypothesis], pairs=pairs, tokens=tokens, seed=(seed, epoch))
    assert [batch.tolist() for batch in again] == [batch.tolist() for batch in plan]


@pytest.mark.parametrize("tokens", [None, 500])
def test_another_epoch_and_another_seed_give_other_batches(tokens: int | None) -> None:
    random = np.random.RandomState(0)
    premise, hypothesis = random.randint(1, 30, 400), random.randint(1, 15, 400)
    plans = [
        [sorted(batch.tolist()) for batch in plan_batches([premise, hypothesis], pairs=16, tokens=tokens, seed=seed)]
        for seed in ((0, 1), (0, 2), (1, 1))
    ]
    for plan, other in ((plans[0], plans[1]), (plans[0], plans[2])):
        assert plan != other
        assert len([batch for batch in plan if batch in other]) < len(plan) / 2


def test_batches_are_of_nearly_equal_length() -> None:
    random = np.random.RandomState(0)
    premise, hypothesis = random.randint(1, 60, 2_000), random.randint(1, 30, 2_000)
    plan = plan_batches([premise, hypothesis], pairs=32, tokens=None, seed=(0, 1))
    filled = sum(int((premise[batch] + hypothesis[batch]).sum()) for batch in plan)
    padded = sum(len(batch) * int(premise[batch].max() + hypothesis[batch].max()) for batch in plan)
    by_chance = sum(
        len(rows) * int(premise[rows].max() + hypothesis[rows].max())
        for rows in np.array_split(random.permutation(2_000), len(plan))
    )
    assert filled / padded > 0.7 > filled / by_chance
