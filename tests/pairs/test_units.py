"""Units: the group, else the premise as duplicates compare it."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from goldlabel.pairs.units import units_of


def frame(*rows: tuple[str | None, str]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"group": pl.String, "premise": pl.String}, orient="row")


def together(pairs: pl.DataFrame) -> list[list[int]]:
    units = units_of(pairs)
    return [np.flatnonzero(units == unit).tolist() for unit in np.unique(units)]


def test_premises_are_compared_after_normalisation() -> None:
    pairs = frame(
        (None, "A heron stands."), (None, "a  HERON stands"), (None, "A heron sits."), (None, "…"), (None, "!")
    )
    assert sorted(together(pairs)) == [[0, 1], [2], [3], [4]]


def test_a_group_holds_several_premises_and_a_premise_joins_groups() -> None:
    pairs = frame(("g1", "one"), ("g1", "two"), ("g2", "Two."), ("g3", "three"), (None, "THREE"), (None, "four"))
    assert sorted(together(pairs)) == [[0, 1, 2], [3, 4], [5]]


def test_groups_are_names_and_not_normalised() -> None:
    assert sorted(together(frame(("1-23", "one"), ("12-3", "two"), ("A", "three"), ("a", "four")))) == [
        [0],
        [1],
        [2],
        [3],
    ]


@given(
    st.lists(st.tuples(st.sampled_from([None, "a", "b", "c"]), st.sampled_from("uvwxyz")), min_size=1, max_size=30),
    st.randoms(use_true_random=False),
)
def test_row_order_plays_no_part_and_nothing_shared_is_apart(rows: list[tuple[str | None, str]], random) -> None:
    units = units_of(frame(*rows))
    order = list(range(len(rows)))
    random.shuffle(order)
    assert units_of(frame(*(rows[place] for place in order))).tolist() == units[order].tolist()
    assert sorted(set(units)) == list(range(units.max() + 1))
    for column in (0, 1):
        for value in {row[column] for row in rows} - {None}:
            assert len({unit for row, unit in zip(rows, units, strict=True) if row[column] == value}) == 1
